// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A rank's end of the star.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use crate::error::RanksError;
use crate::frame::{Frame, GREETING, Hello, PROTOCOL, SAY_LIMIT, Until, ended, frame_limit, read, write};
use crate::hub::{Hub, Setup};
use crate::{Rank, Ranks};

/// What the hub gets beyond a deadline, so that its word on who is late arrives before a rank gives up on the hub.
const GRACE: Duration = Duration::from_secs(10);
/// How long one attempt to connect may take, and how long a rank waits until the next.
const ATTEMPT: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(25);

/// A rank of a run that has begun. Without [`Member::leave`] the others take it for lost.
pub struct Member {
    rank: usize,
    size: usize,
    limit: Duration,
    stream: TcpStream,
    /// Why there is nothing left to say.
    over: Option<RanksError>,
    hub: Option<Hub>,
}

impl std::fmt::Debug for Member {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rank {} of {}", self.rank, self.size)
    }
}

/// Meets the other ranks: rank 0 listens, all connect to it. Every wait, also those of later exchanges, ends after `limit`.
///
/// # Errors
/// [`RanksError`]: no address, a port in use, ranks that do not come, or are of another run, version or size.
pub fn join(rank: &Rank, limit: Duration) -> Result<Member, RanksError> {
    let addresses = resolve(rank)?;
    let mut hub = None;
    if rank.rank == 0 {
        let setup = Setup { size: rank.size, run: rank.run.clone(), limit };
        let (started, at) = Hub::start(&listening(&addresses), setup)
            .map_err(|e| RanksError::Listen { address: place(rank), reason: e.to_string() })?;
        tracing::info!("rank 0 listens on {at}");
        hub = Some(started);
    }
    enter(rank, &addresses, hub, limit)
}

fn place(rank: &Rank) -> String {
    format!("{}:{}", rank.address, rank.port)
}

/// Connects to the hub, which is of this process for rank 0.
pub(crate) fn enter(
    rank: &Rank,
    addresses: &[SocketAddr],
    hub: Option<Hub>,
    limit: Duration,
) -> Result<Member, RanksError> {
    match meet(rank, addresses, limit, || hub.as_ref().is_some_and(Hub::is_over)) {
        Ok(stream) => Ok(Member { rank: rank.rank, size: rank.size, limit, stream, over: None, hub }),
        // The others are to hear of it before this process ends. The run may have ended before rank 0 itself came to the door:
        // then that is what there is to say, and not that nobody listens.
        Err(error) => match (hub.and_then(Hub::wait), error) {
            (Some(ending), RanksError::Unreachable { .. }) => Err(RanksError::Ended(ending)),
            (_, error) => Err(error),
        },
    }
}

fn resolve(rank: &Rank) -> Result<Vec<SocketAddr>, RanksError> {
    let unknown = |reason: String| RanksError::Address { address: rank.address.clone(), reason };
    let found: Vec<SocketAddr> =
        (rank.address.as_str(), rank.port).to_socket_addrs().map_err(|e| unknown(e.to_string()))?.collect();
    if found.is_empty() { Err(unknown("it has no address".to_owned())) } else { Ok(found) }
}

/// Where rank 0 listens: on the loopback alone if that is what it is called by, since no other host can come. A name may
/// mean another address here than elsewhere, so it stands for all of them.
fn listening(addresses: &[SocketAddr]) -> Vec<SocketAddr> {
    if addresses.iter().all(|address| address.ip().is_loopback()) {
        return addresses.to_vec();
    }
    addresses
        .iter()
        .map(|address| match address.ip() {
            IpAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, address.port())),
            IpAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, address.port())),
        })
        .collect()
}

/// Connects, says who this is, and waits until all are there. What is not rank 0 may listen there for a while: attempts go
/// on until the limit, or until the hub of this process is gone.
fn meet(
    rank: &Rank,
    addresses: &[SocketAddr],
    limit: Duration,
    is_over: impl Fn() -> bool,
) -> Result<TcpStream, RanksError> {
    let end = Instant::now() + limit;
    loop {
        for address in addresses {
            let failure = match attempt(rank, address, end) {
                Ok((stream, Frame::Welcome)) => return Ok(stream),
                Ok((_, Frame::Ended(ending))) => return Err(RanksError::Ended(ending)),
                Ok(_) => "what answers there is no rank 0".to_owned(),
                Err(error) => match error.kind() {
                    io::ErrorKind::InvalidData => format!("what answers there is no rank 0 ({error})"),
                    io::ErrorKind::UnexpectedEof => "what listens there turned this rank away".to_owned(),
                    io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => "no answer".to_owned(),
                    _ => error.to_string(),
                },
            };
            if Instant::now() >= end || is_over() {
                return Err(RanksError::Unreachable { address: place(rank), limit, reason: failure });
            }
        }
        std::thread::sleep(PAUSE.min(end.saturating_duration_since(Instant::now())));
    }
}

fn attempt(rank: &Rank, address: &SocketAddr, end: Instant) -> io::Result<(TcpStream, Frame)> {
    let left = end.saturating_duration_since(Instant::now());
    let mut stream = TcpStream::connect_timeout(address, left.clamp(PAUSE, ATTEMPT))?;
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(GRACE))?;
    let hello = Hello {
        greeting: GREETING.to_owned(),
        protocol: PROTOCOL,
        run: rank.run.clone(),
        rank: rank.rank,
        size: rank.size,
    };
    write(&mut stream, &hello)?;
    let frame = read(&mut Until { stream: &stream, end: end + GRACE }, frame_limit(1))?;
    Ok((stream, frame))
}

impl Member {
    /// Ends this rank's part of a run that went to its end. Rank 0 stays until all have left.
    pub fn leave(mut self) {
        if self.over.is_none() {
            // Whoever is gone cannot be told.
            let _ = write(&mut self.stream, &Frame::Leave);
        }
        self.close();
    }

    fn close(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Write);
        if let Some(hub) = self.hub.take() {
            hub.wait();
        }
    }

    fn tell(&mut self, topic: &str, text: &str) -> Result<Vec<String>, RanksError> {
        if text.len() > SAY_LIMIT {
            let (topic, bytes) = (topic.to_owned(), text.len());
            return Err(RanksError::TooLong { topic, bytes, limit: SAY_LIMIT });
        }
        let broken = |reason: String| RanksError::Broken { topic: topic.to_owned(), reason };
        let sent = write(&mut self.stream, &Frame::Say { topic: topic.to_owned(), text: text.to_owned() });
        // Also when sending failed: why the run is over may have arrived.
        let end = Instant::now() + if sent.is_ok() { self.limit + GRACE } else { Duration::from_millis(100) };
        let heard = read(&mut Until { stream: &self.stream, end }, frame_limit(self.size));
        match (heard, sent) {
            (Ok(Frame::All { texts }), Ok(())) if texts.len() == self.size => Ok(texts),
            (Ok(Frame::Ended(ending)), _) => Err(RanksError::Ended(ending)),
            (Ok(_), _) => Err(broken("it sent what does not belong here".to_owned())),
            (Err(_), Err(error)) | (Err(error), Ok(())) => Err(broken(ended(&error))),
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.close();
    }
}

impl Ranks for Member {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn exchange(&mut self, topic: &str, text: &str) -> Result<Vec<String>, RanksError> {
        if let Some(error) = &self.over {
            return Err(error.clone());
        }
        let outcome = self.tell(topic, text);
        self.over = outcome.as_ref().err().cloned();
        outcome
    }
}
