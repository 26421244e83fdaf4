// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Ranks as threads of one process, over the loopback: what brings a run to its end, and what must not.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::thread::spawn;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use crate::frame::{Frame, GREETING, HELLO_LIMIT, Hello, PROTOCOL, frame_limit, read, write};
use crate::hub::{Hub, Setup};
use crate::member::enter;
use crate::{Ending, Member, Rank, Ranks, RanksError, SAY_LIMIT, join};

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(400);

/// Ranks of a run of `size` at a port that was free a moment ago.
fn world(size: usize) -> Vec<Rank> {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let one = |rank| Rank { rank, size, local_rank: rank, address: "127.0.0.1".into(), port, run: "t".into() };
    (0..size).map(one).collect()
}

/// Runs `body` as each rank that `ranks` names, and answers what they came to, in their order.
fn run<T: Send + 'static>(
    ranks: Vec<Rank>,
    limit: Duration,
    body: impl Fn(Result<Member, RanksError>) -> T + Clone + Send + 'static,
) -> Vec<T> {
    let start = |rank: Rank| {
        let body = body.clone();
        spawn(move || body(join(&rank, limit)))
    };
    let threads: Vec<_> = ranks.into_iter().map(start).collect();
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

fn missing(error: &RanksError) -> (Vec<usize>, &str) {
    match error {
        RanksError::Ended(Ending::Missing { ranks, topic, .. }) => (ranks.clone(), topic),
        other => panic!("{other}"),
    }
}

#[test]
fn every_rank_hears_what_all_told_in_the_order_of_ranks() {
    for size in [2, 3, 5] {
        let heard = run(world(size), LONG, |member| {
            let mut member = member.unwrap();
            let mine = format!("\u{1}\"{}", member.rank());
            let first = member.exchange("first", &mine).unwrap();
            let big = member.exchange("second", &"\u{2}".repeat(SAY_LIMIT)).unwrap();
            assert!(big.iter().all(|text| text.len() == SAY_LIMIT));
            assert_eq!(member.size(), big.len());
            member.leave();
            first
        });
        let expected: Vec<String> = (0..size).map(|rank| format!("\u{1}\"{rank}")).collect();
        assert!(heard.iter().all(|texts| *texts == expected), "{heard:?}");
    }
}

#[test]
fn a_rank_that_never_arrives_is_named_to_all_within_the_deadline() {
    let mut ranks = world(4);
    ranks.remove(2);
    let start = Instant::now();
    for error in run(ranks, SHORT, |member| member.unwrap_err()) {
        assert_eq!(missing(&error), (vec![2], "rendezvous"));
        assert_eq!(error.to_string(), "wait for rank 2 at `rendezvous`: no word within 0.4 s");
    }
    assert!(start.elapsed() < LONG);
    // Without rank 0 there is nobody to say so.
    let errors = run(world(3).split_off(1), SHORT, |member| member.unwrap_err());
    assert!(errors.iter().all(|e| matches!(e, RanksError::Unreachable { .. })), "{errors:?}");
}

#[test]
fn a_silent_rank_is_named_and_learns_it_whichever_rank_it_is() {
    for silent in 0..3 {
        let errors = run(world(3), SHORT, move |member| {
            let mut member = member.unwrap();
            if member.rank() == silent {
                std::thread::sleep(3 * SHORT);
            }
            member.exchange("case 7", "").unwrap_err()
        });
        assert!(errors.iter().all(|e| missing(e) == (vec![silent], "case 7")), "{errors:?}");
    }
}

#[test]
fn a_lost_rank_is_noticed_at_once_whichever_rank_it_is() {
    for lost in 0..3 {
        let start = Instant::now();
        let errors = run(world(3), LONG, move |member| {
            let mut member = member.unwrap();
            member.exchange("a", "").unwrap();
            if member.rank() == lost {
                return None;
            }
            let error = member.exchange("b", "").unwrap_err();
            assert_eq!(member.exchange("c", "").unwrap_err(), error, "the run stays over");
            Some(error)
        });
        for error in errors.into_iter().flatten() {
            assert!(matches!(error, RanksError::Ended(Ending::Lost { rank, .. }) if rank == lost), "{error}");
        }
        assert!(start.elapsed() < LONG / 2);
    }
}

#[test]
fn ranks_out_of_step_and_ranks_that_leave_early_end_the_run() {
    let errors = run(world(2), LONG, |member| {
        let mut member = member.unwrap();
        let topic = format!("case {}", member.rank());
        member.exchange(&topic, "").unwrap_err()
    });
    for error in &errors {
        assert!(matches!(error, RanksError::Ended(Ending::Apart { .. })), "{error}");
        assert!(error.to_string().contains("case 0") && error.to_string().contains("case 1"), "{error}");
    }
    let errors = run(world(2), LONG, |member| {
        let mut member = member.unwrap();
        if member.rank() == 1 {
            member.leave();
            return None;
        }
        // Past the moment at which the other has left.
        std::thread::sleep(SHORT);
        Some(member.exchange("more", "").unwrap_err())
    });
    assert!(errors[0].as_ref().is_some_and(|e| e.to_string().contains("the end")), "{errors:?}");
}

#[test]
fn more_than_a_message_holds_is_refused_here_and_does_not_hang_others() {
    let errors = run(world(2), LONG, |member| {
        let mut member = member.unwrap();
        let text = "x".repeat(if member.rank() == 1 { SAY_LIMIT + 1 } else { 1 });
        member.exchange("big", &text).unwrap_err()
    });
    assert!(matches!(errors[0], RanksError::Ended(Ending::Lost { rank: 1, .. })), "{}", errors[0]);
    assert!(matches!(errors[1], RanksError::TooLong { .. }), "{}", errors[1]);
}

#[test]
fn a_rank_of_another_version_size_or_of_the_same_number_ends_the_run_of_all() {
    let hello = |rank, size, protocol| Hello { greeting: GREETING.into(), protocol, run: "t".into(), rank, size };
    let cases = [
        (hello(1, 2, PROTOCOL + 1), "version 2 of this protocol, rank 0 speaks 1"),
        (hello(1, 3, PROTOCOL), "it says that there are 3 ranks, rank 0 says 2"),
        (hello(2, 2, PROTOCOL), "there are ranks 0 to 1"),
        (hello(0, 2, PROTOCOL), "two processes say that they are this rank"),
    ];
    for (hello, text) in cases {
        let ranks = world(2);
        let port = ranks[0].port;
        let first = spawn(move || join(&ranks[0], LONG).unwrap_err());
        let mut other = connect(port);
        if hello.rank == 0 {
            // Rank 0 itself is to be the first of the two.
            std::thread::sleep(SHORT);
        }
        write(&mut other, &hello).unwrap();
        let Frame::Ended(told) = read(&mut other, frame_limit(1)).unwrap() else { panic!("{text}") };
        assert!(told.to_string().contains(text), "{told}");
        assert_eq!(first.join().unwrap(), RanksError::Ended(told));
    }
}

#[test]
fn rank_0_learns_how_its_run_ended_before_it_came_to_its_own_door() {
    let rank = world(2).remove(0);
    let address = SocketAddr::from(([127, 0, 0, 1], rank.port));
    let (hub, _) = Hub::start(&[address], Setup { size: 2, run: "t".into(), limit: LONG }).unwrap();
    let mut other = connect(rank.port);
    write(&mut other, &Hello { greeting: GREETING.into(), protocol: PROTOCOL, run: "t".into(), rank: 1, size: 3 })
        .unwrap();
    let Frame::Ended(told) = read(&mut other, frame_limit(1)).unwrap() else { panic!("a world of another size") };
    while !hub.is_over() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let start = Instant::now();
    assert_eq!(enter(&rank, &[address], Some(hub), LONG).unwrap_err(), RanksError::Ended(told));
    assert!(start.elapsed() < LONG);
}

fn connect(port: u16) -> TcpStream {
    let start = Instant::now();
    loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(stream) => return stream,
            Err(error) => assert!(start.elapsed() < LONG, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn strays_and_hostile_connections_neither_end_nor_hold_up_a_run() {
    let ranks = world(2);
    let port = ranks[0].port;
    let (done, finished) = channel();
    let first = ranks[0].clone();
    let rank0 = spawn(move || {
        let mut member = join(&first, LONG).unwrap();
        let heard = member.exchange("x", "0").unwrap();
        done.send(()).unwrap();
        member.leave();
        heard
    });
    let hello = |run: &str, greeting: &str| {
        let mut bytes = Vec::new();
        let (greeting, run) = (greeting.to_owned(), run.to_owned());
        write(&mut bytes, &Hello { greeting, protocol: 99, run, rank: 1, size: 2 }).unwrap();
        bytes
    };
    let nested = "[".repeat(900);
    let mut deep = (nested.len() as u32).to_le_bytes().to_vec();
    deep.extend(nested.bytes());
    let hostile: Vec<Vec<u8>> = vec![
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        vec![0xff; 4096],
        u32::MAX.to_le_bytes().to_vec(),
        vec![0; 4],
        b"\x04\0\0\0nul".to_vec(),
        b"\x04\0\0\0null".to_vec(),
        deep,
        hello("another run", GREETING),
        hello("t", "another program"),
        (HELLO_LIMIT as u32).to_le_bytes().to_vec(),
        Vec::new(),
    ];
    let mut kept = Vec::new();
    for bytes in hostile {
        let mut stream = connect(port);
        // Whoever was turned away already cannot be written to.
        let _ = stream.write_all(&bytes);
        kept.push(stream);
    }
    // Silent ones beyond what the door holds at a time: until they have had their time, nobody else comes in.
    kept.extend((0..100).map(|_| connect(port)));
    let second = ranks[1].clone();
    let heard = spawn(move || {
        let mut member = join(&second, LONG).unwrap();
        let heard = member.exchange("x", "1").unwrap();
        member.leave();
        heard
    });
    finished.recv_timeout(LONG).unwrap();
    assert_eq!(
        (rank0.join().unwrap(), heard.join().unwrap()),
        (vec!["0".into(), "1".into()], vec!["0".into(), "1".into()])
    );
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "the door is closed while a run is on");
}

#[test]
fn a_rank_that_sends_nonsense_later_is_lost_and_named() {
    for bytes in [&b"\xff\xff\xff\xff"[..], b"\x02\0\0\0{}", b"\x09\0\0\0\"Welcome\""] {
        let ranks = world(2);
        let first = ranks[0].clone();
        let rank0 = spawn(move || join(&first, LONG).unwrap().exchange("x", "").unwrap_err());
        let mut other = connect(ranks[1].port);
        let hello = Hello { greeting: GREETING.into(), protocol: PROTOCOL, run: "t".into(), rank: 1, size: 2 };
        write(&mut other, &hello).unwrap();
        assert_eq!(read::<Frame>(&mut other, frame_limit(1)).unwrap(), Frame::Welcome);
        other.write_all(bytes).unwrap();
        let error = rank0.join().unwrap();
        assert!(matches!(error, RanksError::Ended(Ending::Lost { rank: 1, .. })), "{error}");
    }
}

#[test]
fn a_port_in_use_is_said_and_who_listens_there_is_not_taken_for_rank_0() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut ranks = world(2);
    ranks.iter_mut().for_each(|rank| rank.port = taken.local_addr().unwrap().port());
    let error = join(&ranks[0], LONG).unwrap_err();
    assert!(matches!(error, RanksError::Listen { .. }), "{error}");
    assert!(error.to_string().contains("MASTER_PORT must name a port that is free"), "{error}");
    // A server of another kind, which answers everyone.
    spawn(move || {
        for stream in taken.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.write_all(b"220 mail.example ready\r\n");
            let _ = stream.read(&mut [0; 1024]);
        }
    });
    let error = join(&ranks[1], SHORT).unwrap_err();
    assert!(matches!(&error, RanksError::Unreachable { reason, .. } if reason.contains("no rank 0")), "{error}");
    let nowhere = Rank { address: "no.such.host.invalid".into(), ..ranks[1].clone() };
    let error = join(&nowhere, SHORT).unwrap_err();
    assert!(matches!(&error, RanksError::Address { .. }) && error.to_string().contains("no.such.host"), "{error}");
}

proptest! {
    #[test]
    fn no_bytes_are_more_than_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300), size in 0u32..400) {
        let framed: Vec<u8> = size.to_le_bytes().into_iter().chain(bytes.iter().copied()).collect();
        for bytes in [&bytes, &framed] {
            let _ = read::<Hello>(&mut &bytes[..], HELLO_LIMIT);
            let _ = read::<Frame>(&mut &bytes[..], frame_limit(2));
        }
    }

    #[test]
    fn messages_survive_and_their_beginnings_do_not(topic in ".{0,20}", text in ".{0,200}") {
        let frame = Frame::Say { topic, text };
        let mut bytes = Vec::new();
        write(&mut bytes, &frame).unwrap();
        prop_assert_eq!(read::<Frame>(&mut &bytes[..], frame_limit(1)).unwrap(), frame);
        for cut in 0..bytes.len() {
            prop_assert!(read::<Frame>(&mut &bytes[..cut], frame_limit(1)).is_err());
        }
    }
}
