// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `decode`: text from a model.

mod cli {
    pub(crate) mod args;
    pub(crate) mod report;
}

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Parser;
use opweave_decode::checkpoint::Checkpoint;
use opweave_decode::engine::{Engine, Wanted, Work};
use opweave_decode::tokenizer::TextStream;

use cli::args::Args;
use cli::report::{Report, Stage};

/// What shells expect of a program that was interrupted.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(false) => ExitCode::SUCCESS,
        Ok(true) => ExitCode::from(INTERRUPTED),
        Err(error) => {
            eprintln!("error: failed to {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether it was interrupted.
fn run(args: &Args) -> Result<bool> {
    let begin = Instant::now();
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed)).context("wait for Ctrl-C")?;
    let mut checkpoint = Checkpoint::open(&args.model)?;
    let prompt = prompt(args, &checkpoint)?;
    let tokenizer = checkpoint.tokenizer().cloned();
    let end = checkpoint.end().to_vec();
    let options = args.options(prompt.len(), checkpoint.config().max_positions);
    let mut engine = Engine::new(&mut checkpoint, &options)?;
    drop(checkpoint);
    let load = begin.elapsed();
    if args.explain && !args.json {
        eprint!("{}", engine.kernels().text());
    }

    let policy = args.policy();
    let begin = Instant::now();
    engine.clock().reset();
    for chunk in prompt.chunks(options.chunk) {
        engine.forward(&[Work { sequence: 0, tokens: chunk }], Wanted::Last)?;
        if stop.load(Ordering::Relaxed) {
            return Ok(true);
        }
    }
    let mut token = engine.sample(1, policy, 0)?[0];
    let prefill = Stage::new(prompt.len(), begin.elapsed(), engine.clock());

    let mut tokens = Vec::with_capacity(args.tokens);
    let (mut stream, mut text) = (TextStream::default(), String::new());
    let room = options.context - prompt.len();
    let mut passes = 0;
    let begin = Instant::now();
    engine.clock().reset();
    while tokens.len() < args.tokens && !stop.load(Ordering::Relaxed) {
        if end.contains(&token) && !args.ignore_end {
            break;
        }
        tokens.push(token);
        if let Some(tokenizer) = &tokenizer {
            let shown = text.len();
            stream.push(tokenizer.bytes(token)?, &mut text);
            show(args, &text[shown..])?;
        }
        if tokens.len() == args.tokens || passes == room {
            break;
        }
        engine.forward(&[Work { sequence: 0, tokens: &[token] }], Wanted::Last)?;
        passes += 1;
        token = engine.sample(1, policy, passes as u64)?[0];
    }
    let decode = Stage::new(passes, begin.elapsed(), engine.clock());
    let shown = text.len();
    stream.finish(&mut text);
    show(args, &text[shown..])?;

    let mut report = Report::new(&engine, load, [prefill, decode], tokens, text);
    report.interrupted = stop.load(Ordering::Relaxed);
    if args.json {
        report.kernels = args.explain.then(|| engine.kernels());
        println!("{}", serde_json::to_string_pretty(&report).context("write the report")?);
    } else {
        show(args, "\n")?;
        eprint!("{}", report.summary());
    }
    Ok(report.interrupted)
}

/// The tokens to continue.
fn prompt(args: &Args, checkpoint: &Checkpoint) -> Result<Vec<u32>> {
    let vocab_size = checkpoint.config().vocab_size as u64;
    if let Some(count) = args.prompt_tokens {
        // Anything does, as long as it is always the same and no token stands out.
        return Ok((0..count as u64).map(|at| ((at * 7919 + 17) % vocab_size) as u32).collect());
    }
    let Some(tokenizer) = checkpoint.tokenizer() else {
        bail!("encode the prompt: the model has no tokeniser; --prompt-tokens decodes without one");
    };
    let mut tokens: Vec<u32> = tokenizer.begin().into_iter().collect();
    tokens.extend(tokenizer.encode(&args.text(), true)?);
    if tokens.is_empty() {
        // Something must be there to continue: the end of another text.
        match checkpoint.end().first() {
            Some(end) => tokens.push(*end),
            None => bail!("continue an empty prompt: the model names no token that begins or ends a text"),
        }
    }
    Ok(tokens)
}

/// Streams text, if that is wanted.
fn show(args: &Args, text: &str) -> Result<()> {
    if args.json || text.is_empty() {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("write the text")
}
