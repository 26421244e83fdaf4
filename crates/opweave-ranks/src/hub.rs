// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The middle of the star: a thread in rank 0's process to which every rank is connected, rank 0 too.
//!
//! It passes on what all ranks told once all have, and ends the run for all as soon as one is lost, late or astray. Being a
//! thread of its own it sees a dead rank while the others still compute, and it knows of each rank, also of rank 0, whether
//! that one or another is late.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::Ending;
use crate::accept::door;
use crate::frame::{Frame, ended, frame_limit, read, write};

/// How long a rank may take to accept what it is sent.
const SENDING: Duration = Duration::from_secs(5);
/// How long ranks may take to close their end of a run that is over.
const CLOSING: Duration = Duration::from_secs(2);

/// What a rendezvous is for.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) size: usize,
    pub(crate) run: String,
    /// The deadline of every wait.
    pub(crate) limit: Duration,
}

/// What the threads that listen report.
pub(crate) enum Event {
    /// A process that is a rank.
    Joined { rank: usize, stream: TcpStream },
    /// A process that claims to be one and cannot.
    Unfit { rank: usize, why: String, stream: Option<TcpStream> },
    /// A rank's message.
    Heard { rank: usize, frame: Frame },
    /// A rank's connection ended, or says nothing sensible.
    Gone { rank: usize, why: String },
}

/// The running thread.
pub(crate) struct Hub(JoinHandle<Option<Ending>>);

impl Hub {
    /// Listens on `addresses`, the first that can be had, and serves one run.
    pub(crate) fn start(addresses: &[SocketAddr], setup: Setup) -> io::Result<(Hub, SocketAddr)> {
        let listener = bind(addresses)?;
        listener.set_nonblocking(true)?;
        let at = listener.local_addr()?;
        let thread = std::thread::Builder::new().name("ranks-hub".to_owned()).spawn(move || serve(listener, &setup))?;
        Ok((Hub(thread), at))
    }

    /// Waits until every rank was told how the run ended, and answers that if it ended early.
    pub(crate) fn wait(self) -> Option<Ending> {
        // A hub that panicked has closed all connections, which is all that anybody waits for.
        self.0.join().ok().flatten()
    }

    /// Whether there is nobody to connect to any more.
    pub(crate) fn is_over(&self) -> bool {
        self.0.is_finished()
    }
}

/// The first address that this host has. A port in use is an error and no reason to take the next: ranks would find whoever
/// uses it.
fn bind(addresses: &[SocketAddr]) -> io::Result<TcpListener> {
    let mut refused = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses {
        match TcpListener::bind(address) {
            Err(error) if error.kind() != io::ErrorKind::AddrInUse => refused = error,
            bound => return bound,
        }
    }
    Err(refused)
}

/// One rank as the hub has it.
#[derive(Default)]
struct Seat {
    stream: Option<TcpStream>,
    said: Option<(String, String)>,
    left: bool,
}

struct Table {
    seats: Vec<Seat>,
    inbox: Receiver<Event>,
    limit: Duration,
}

fn serve(listener: TcpListener, setup: &Setup) -> Option<Ending> {
    let (events, inbox) = channel();
    let seats = (0..setup.size).map(|_| Seat::default()).collect();
    let mut table = Table { seats, inbox, limit: setup.limit };
    let closed = Arc::new(AtomicBool::new(false));
    let gathered = std::thread::scope(|scope| {
        let _close = Close(&closed);
        scope.spawn(|| door(&listener, setup, &events, &closed));
        table.gather(&events)
    });
    drop(listener);
    // Only readers report from now on, so their end is the end of the inbox.
    drop(events);
    let ending = gathered.and_then(|()| table.pass_on()).err();
    if let Some(ending) = &ending {
        table.end(ending);
    }
    for stream in table.seats.iter().filter_map(|seat| seat.stream.as_ref()) {
        let _ = stream.shutdown(Shutdown::Both);
    }
    ending
}

/// Closes the door, however the scope is left.
struct Close<'a>(&'a AtomicBool);

impl Drop for Close<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Table {
    /// Waits for all ranks.
    fn gather(&mut self, events: &Sender<Event>) -> Result<(), Ending> {
        let end = Instant::now() + self.limit;
        while self.seats.iter().any(|seat| seat.stream.is_none()) {
            match self.inbox.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(Event::Joined { rank, stream }) => self.seat(rank, stream, events)?,
                Ok(Event::Unfit { rank, why, stream }) => {
                    let ending = Ending::Unfit { rank, why };
                    // It has no seat, so it is told here.
                    let _ = stream.map(|mut stream| tell(&mut stream, &Frame::Ended(ending.clone())));
                    return Err(ending);
                }
                Ok(Event::Heard { rank, .. }) => {
                    return Err(Ending::Lost { rank, why: "it spoke too early".to_owned() });
                }
                Ok(Event::Gone { rank, why }) => return Err(Ending::Lost { rank, why }),
                Err(_) => return Err(self.missing(|seat| seat.stream.is_none(), "rendezvous")),
            }
        }
        self.tell_all(&Frame::Welcome)
    }

    fn seat(&mut self, rank: usize, stream: TcpStream, events: &Sender<Event>) -> Result<(), Ending> {
        let lost = |error: io::Error| Ending::Lost { rank, why: error.to_string() };
        if self.seats[rank].stream.is_some() {
            let ending = Ending::Unfit { rank, why: "two processes say that they are this rank".to_owned() };
            let mut stream = stream;
            let _ = tell(&mut stream, &Frame::Ended(ending.clone()));
            return Err(ending);
        }
        stream.set_write_timeout(Some(SENDING)).map_err(lost)?;
        let mut reading = stream.try_clone().map_err(lost)?;
        let events = events.clone();
        let listen = move || {
            loop {
                let heard = read(&mut reading, frame_limit(1));
                let over = heard.is_err();
                let event = match heard {
                    Ok(frame) => Event::Heard { rank, frame },
                    Err(error) => Event::Gone { rank, why: ended(&error) },
                };
                if events.send(event).is_err() || over {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("ranks-listen".to_owned()).spawn(listen).map_err(lost)?;
        self.seats[rank].stream = Some(stream);
        Ok(())
    }

    /// Passes on what ranks tell until all have left.
    fn pass_on(&mut self) -> Result<(), Ending> {
        // The first rank that waits, or has left, sets the deadline of the others.
        let mut end: Option<Instant> = None;
        loop {
            let event = match end {
                Some(end) => self.inbox.recv_timeout(end.saturating_duration_since(Instant::now())),
                None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match event {
                Ok(Event::Heard { rank, frame: Frame::Say { topic, text } }) => self.hear(rank, topic, text)?,
                Ok(Event::Heard { rank, frame: Frame::Leave }) => self.seats[rank].left = true,
                Ok(Event::Heard { rank, .. }) => {
                    return Err(Ending::Lost { rank, why: "it sent what only rank 0 may send".to_owned() });
                }
                Ok(Event::Gone { rank, .. }) if self.seats[rank].left => {}
                Ok(Event::Gone { rank, why }) => {
                    let why = if let Some(topic) = self.topic() { format!("{why} before `{topic}`") } else { why };
                    return Err(Ending::Lost { rank, why });
                }
                Ok(Event::Joined { .. } | Event::Unfit { .. }) => {}
                Err(_) => {
                    let topic = self.topic().unwrap_or("the end").to_owned();
                    return Err(self.missing(|seat| seat.said.is_none() && !seat.left, &topic));
                }
            }
            if self.seats.iter().all(|seat| seat.left) {
                return Ok(());
            }
            if self.seats.iter().all(|seat| seat.said.is_some()) {
                let texts = self.seats.iter_mut().filter_map(|seat| seat.said.take()).map(|(_, text)| text);
                let all = Frame::All { texts: texts.collect() };
                self.tell_all(&all)?;
                end = None;
            } else if end.is_none() && self.seats.iter().any(|seat| seat.said.is_some() || seat.left) {
                end = Some(Instant::now() + self.limit);
            }
        }
    }

    fn hear(&mut self, rank: usize, topic: String, text: String) -> Result<(), Ending> {
        if self.seats[rank].said.is_some() || self.seats[rank].left {
            return Err(Ending::Lost { rank, why: "it spoke out of turn".to_owned() });
        }
        if let Some(left) = self.seats.iter().position(|seat| seat.left) {
            return Err(Ending::Apart { rank, topic, others: format!("the end, where rank {left} is") });
        }
        if let Some(others) = self.topic().filter(|others| *others != topic) {
            return Err(Ending::Apart { rank, others: others.to_owned(), topic });
        }
        self.seats[rank].said = Some((topic, text));
        Ok(())
    }

    /// Where the ranks are that wait.
    fn topic(&self) -> Option<&str> {
        self.seats.iter().find_map(|seat| seat.said.as_ref()).map(|(topic, _)| topic.as_str())
    }

    fn missing(&self, is_missing: impl Fn(&Seat) -> bool, topic: &str) -> Ending {
        let ranks = (0..self.seats.len()).filter(|rank| is_missing(&self.seats[*rank])).collect();
        Ending::Missing { ranks, topic: topic.to_owned(), limit_ms: self.limit.as_millis() as u64 }
    }

    fn tell_all(&mut self, frame: &Frame) -> Result<(), Ending> {
        for (rank, seat) in self.seats.iter_mut().enumerate() {
            if let Some(stream) = &mut seat.stream {
                tell(stream, frame).map_err(|error| Ending::Lost { rank, why: ended(&error) })?;
            }
        }
        Ok(())
    }

    /// Tells every rank that is left how the run ended, and gives them time to hear it: a connection that is closed with
    /// unread bytes takes those on their way with it.
    fn end(&mut self, ending: &Ending) {
        for stream in self.seats.iter_mut().filter_map(|seat| seat.stream.as_mut()) {
            let _ = tell(stream, &Frame::Ended(ending.clone()));
            let _ = stream.shutdown(Shutdown::Write);
        }
        let end = Instant::now() + CLOSING;
        // The readers' channel ends with the last of them.
        while self.inbox.recv_timeout(end.saturating_duration_since(Instant::now())).is_ok() {}
    }
}

fn tell(stream: &mut TcpStream, frame: &Frame) -> io::Result<()> {
    write(stream, frame)
}
