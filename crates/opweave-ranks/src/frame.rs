// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Messages on a connection: four bytes of length, then that many of JSON.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::Ending;

/// Version of everything in this file. Two processes that differ in it do not run together.
pub(crate) const PROTOCOL: u32 = 1;

/// What a process of this program says first.
pub(crate) const GREETING: &str = "opweave ranks";

/// Bytes of text that one rank may tell in one exchange.
pub const SAY_LIMIT: usize = 64 << 10;

/// Bytes of a first message. Whoever sends more is none of us.
pub(crate) const HELLO_LIMIT: usize = 1 << 10;

/// Bytes of a message that carries `texts` texts: JSON may write a character as six.
pub(crate) const fn frame_limit(texts: usize) -> usize {
    (6 * SAY_LIMIT + 1024) * texts + 1024
}

/// The first message of a process. Later versions keep these names, so that versions can be told apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) greeting: String,
    pub(crate) protocol: u32,
    /// What sets the runs of a launcher apart.
    pub(crate) run: String,
    pub(crate) rank: usize,
    pub(crate) size: usize,
}

/// Every message after the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Frame {
    /// All ranks are here.
    Welcome,
    /// What a rank tells the others.
    Say { topic: String, text: String },
    /// What all told, in the order of ranks.
    All { texts: Vec<String> },
    /// The run is over for all.
    Ended(Ending),
    /// The rank is done.
    Leave,
}

/// Writes one message at once.
pub(crate) fn write<T: Serialize>(stream: &mut impl Write, message: &T) -> io::Result<()> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message).map_err(io::Error::from)?;
    let length = u32::try_from(bytes.len() - 4).map_err(|_| invalid("a message of 4 GiB".to_owned()))?;
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    stream.write_all(&bytes)
}

/// Reads one message of at most `limit` bytes. Memory grows with what arrives, not with what is announced.
pub(crate) fn read<T: for<'de> Deserialize<'de>>(stream: &mut impl Read, limit: usize) -> io::Result<T> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > limit {
        return Err(invalid(format!("a message of {length} bytes, where {limit} are the most")));
    }
    let mut bytes = Vec::new();
    stream.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    serde_json::from_slice(&bytes).map_err(|error| invalid(format!("a message that means nothing ({error})")))
}

fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// How a connection ended, in words.
pub(crate) fn ended(error: &io::Error) -> String {
    use io::ErrorKind::{
        BrokenPipe, ConnectionAborted, ConnectionReset, InvalidData, TimedOut, UnexpectedEof, WouldBlock,
    };
    match error.kind() {
        UnexpectedEof | ConnectionReset | ConnectionAborted | BrokenPipe => "its connection ended".to_owned(),
        TimedOut | WouldBlock => "it did not answer in time".to_owned(),
        InvalidData => format!("it sent {error}"),
        _ => error.to_string(),
    }
}

/// Reads from a connection up to a moment, however the bytes trickle in.
pub(crate) struct Until<'a> {
    pub(crate) stream: &'a TcpStream,
    pub(crate) end: Instant,
}

impl Read for Until<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        // A timeout below the clock's resolution would mean none.
        self.stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        (&*self.stream).read(buffer)
    }
}
