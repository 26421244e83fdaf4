// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The door of a rendezvous: who connects says which rank it is, or is turned away.
//!
//! Each first message is read by a thread of its own, so that one silent connection holds up nobody. The door closes once all
//! ranks are there: nothing listens while a run measures.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use crate::frame::{GREETING, HELLO_LIMIT, Hello, PROTOCOL, Until, read};
use crate::hub::{Event, Setup};

/// How long a connection may take to say who it is.
const PATIENCE: Duration = Duration::from_secs(3);
/// How often the door looks for connections.
const TICK: Duration = Duration::from_millis(5);
/// Connections beyond the size of the world that may be undecided at a time.
const STRAYS: usize = 64;

/// Lets ranks in until `closed`. Runs on a thread of its own.
pub(crate) fn door(listener: &TcpListener, setup: &Setup, events: &Sender<Event>, closed: &AtomicBool) {
    let undecided = Arc::new(AtomicUsize::new(0));
    while !closed.load(Ordering::Acquire) {
        match listener.accept() {
            Ok((stream, _)) if undecided.load(Ordering::Acquire) < setup.size + STRAYS => {
                undecided.fetch_add(1, Ordering::AcqRel);
                let (setup, events, undecided) = (setup.clone(), events.clone(), Arc::clone(&undecided));
                let greeted = move || {
                    // A rendezvous that is over listens to nobody.
                    let _ = greet(stream, &setup).map(|event| events.send(event));
                    undecided.fetch_sub(1, Ordering::AcqRel);
                };
                if let Err(error) = std::thread::Builder::new().name("ranks-greet".to_owned()).spawn(greeted) {
                    tracing::warn!("a connection was turned away: {error}");
                }
            }
            // More than anybody needs at once: this one is closed.
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(TICK),
            Err(error) => {
                tracing::debug!("accept: {error}");
                std::thread::sleep(TICK);
            }
        }
    }
}

/// Who a connection says it is; `None` for one that is none of this run.
fn greet(stream: TcpStream, setup: &Setup) -> Option<Event> {
    let hello = hear(&stream).inspect_err(|error| tracing::debug!("a stray connection: {error}")).ok()?;
    if hello.greeting != GREETING || hello.run != setup.run {
        tracing::debug!("a connection of another run");
        return None;
    }
    let rank = hello.rank;
    let unfit = |why: String| Some(Event::Unfit { rank, why, stream: stream.try_clone().ok() });
    if hello.protocol != PROTOCOL {
        return unfit(format!("it speaks version {} of this protocol, rank 0 speaks {PROTOCOL}", hello.protocol));
    }
    if hello.size != setup.size {
        return unfit(format!("it says that there are {} ranks, rank 0 says {}", hello.size, setup.size));
    }
    if rank >= setup.size {
        return unfit(format!("there are ranks 0 to {}", setup.size - 1));
    }
    Some(Event::Joined { rank, stream })
}

fn hear(stream: &TcpStream) -> io::Result<Hello> {
    // Accepted connections inherit the listener's mode on some systems.
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    let hello = read(&mut Until { stream, end: Instant::now() + PATIENCE }, HELLO_LIMIT)?;
    stream.set_read_timeout(None)?;
    Ok(hello)
}
