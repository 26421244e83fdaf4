// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The process behind an external adapter: started when it is first needed, ended with the run, never waited for without a
//! limit.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;

use super::alone::Alone;
use super::dialogue::{Answer, Ask, VERSION};

/// Lines of standard error that are kept to explain an end.
const LAST_WORDS: usize = 8;
/// Time from a request to quit until the process is killed.
const GRACE: Duration = Duration::from_millis(500);

/// Why an adapter gives no answer that can be used.
#[derive(Debug, Error)]
pub(super) enum AdapterError {
    #[error("start {program}: {source}")]
    Start { program: String, source: std::io::Error },
    #[error("speak with {program}: it ended{words}")]
    Ended { program: String, words: String },
    #[error("wait for {program}: no answer within {seconds} s")]
    Late { program: String, seconds: u64 },
    #[error("understand {program}: {reason} in `{line}`")]
    Words { program: String, line: String, reason: String },
    #[error("{0}")]
    Failed(String),
}

/// A program that measures another library in turns with ours.
pub(in crate::run) struct Adapter {
    program: PathBuf,
    cache: PathBuf,
    limit: Duration,
    device: Alone,
    running: Option<Running>,
    pub(super) name: String,
    pub(super) provenance: String,
    /// What went wrong while it was timed.
    pub(in crate::run) trouble: Option<String>,
}

struct Running {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    last_words: Arc<Mutex<VecDeque<String>>>,
}

impl Adapter {
    /// An adapter that is not started yet. It finds in `OPWEAVE_BENCH_CACHE_DIR` a folder to keep what it compiles, sees no other
    /// GPU than `device`, and has `limit` for each answer.
    pub(in crate::run) fn new(program: &Path, cache: PathBuf, device: &str, limit: Duration) -> Self {
        let name = program.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        Adapter {
            program: program.to_owned(),
            cache,
            limit,
            device: Alone::with(device),
            running: None,
            name,
            provenance: String::new(),
            trouble: None,
        }
    }

    /// What the program calls the device that it is to measure on.
    pub(super) fn device(&self) -> String {
        self.device.name.clone()
    }

    fn program(&self) -> String {
        self.program.display().to_string()
    }

    /// Says something and hears the answer. After an error other than [`AdapterError::Failed`] the process is gone, and the
    /// next request starts another.
    pub(super) fn ask(&mut self, ask: &Ask<'_>) -> Result<Answer, AdapterError> {
        let answer = self.exchange(ask);
        match answer {
            Ok(Answer::Failed { reason }) => Err(AdapterError::Failed(reason)),
            Ok(answer) => Ok(answer),
            Err(error) => {
                self.running = None;
                Err(error)
            }
        }
    }

    /// Starts the program, which says who it is.
    pub(super) fn greet(&mut self) -> Result<(), AdapterError> {
        self.running = Some(self.start()?);
        let unfit = match self.hear() {
            Ok(Answer::Hello { dialogue: VERSION, name, provenance }) => {
                (self.name, self.provenance) = (name, provenance);
                return Ok(());
            }
            Ok(Answer::Hello { dialogue, .. }) => {
                let reason = format!("it speaks version {dialogue} of the dialogue, wanted {VERSION}");
                AdapterError::Words { program: self.program(), line: "hello".to_owned(), reason }
            }
            Ok(Answer::Failed { reason }) => AdapterError::Failed(reason),
            Ok(other) => self.unexpected(&other),
            Err(error) => error,
        };
        self.running = None;
        Err(unfit)
    }

    fn exchange(&mut self, ask: &Ask<'_>) -> Result<Answer, AdapterError> {
        if self.running.is_none() {
            self.greet()?;
        }
        let line = serde_json::to_string(ask).map_err(|e| AdapterError::Failed(e.to_string()))?;
        let ended = |running: &mut Running| writeln!(running.stdin, "{line}").and_then(|()| running.stdin.flush());
        if self.running.as_mut().is_none_or(|running| ended(running).is_err()) {
            return Err(self.ended());
        }
        self.hear()
    }

    pub(super) fn unexpected(&self, answer: &Answer) -> AdapterError {
        AdapterError::Words {
            program: self.program(),
            line: format!("{answer:?}"),
            reason: "an answer to another question".to_owned(),
        }
    }

    fn hear(&mut self) -> Result<Answer, AdapterError> {
        let Some(running) = &self.running else { return Err(self.ended()) };
        match running.lines.recv_timeout(self.limit) {
            Ok(line) => serde_json::from_str(&line).map_err(|e| AdapterError::Words {
                program: self.program(),
                line: line.chars().take(200).collect(),
                reason: e.to_string(),
            }),
            Err(RecvTimeoutError::Timeout) => {
                Err(AdapterError::Late { program: self.program(), seconds: self.limit.as_secs() })
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
        }
    }

    /// The error of a process that is gone, with what it said last.
    fn ended(&self) -> AdapterError {
        let words = self.running.as_ref().map_or_else(String::new, |running| {
            // Its last lines may still be on their way.
            thread::sleep(Duration::from_millis(50));
            let kept = running.last_words.lock().unwrap_or_else(PoisonError::into_inner);
            kept.iter().map(|line| format!("; {line}")).collect()
        });
        AdapterError::Ended { program: self.program(), words }
    }

    fn start(&self) -> Result<Running, AdapterError> {
        let failed = |source| AdapterError::Start { program: self.program(), source };
        let mut command = match self.program.extension() {
            Some(extension) if extension == "py" => {
                let mut python = Command::new("python3");
                python.arg(&self.program);
                python
            }
            _ => Command::new(&self.program),
        };
        std::fs::create_dir_all(&self.cache).map_err(failed)?;
        command.env("OPWEAVE_BENCH_CACHE_DIR", &self.cache);
        self.device.show(&mut command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let missing = || failed(std::io::Error::other("a pipe is missing"));
        let (stdin, stdout, stderr) = match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(stdin), Some(stdout), Some(stderr)) => (stdin, stdout, stderr),
            _ => return Err(missing()),
        };
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let last_words = Arc::new(Mutex::new(VecDeque::new()));
        let kept = Arc::clone(&last_words);
        thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                tracing::debug!(line, "an adapter's standard error");
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.push_back(line);
                if kept.len() > LAST_WORDS {
                    kept.pop_front();
                }
            }
        });
        Ok(Running { child, stdin, lines, last_words })
    }
}

impl Drop for Running {
    /// Nothing is left running: who does not quit when asked is killed.
    fn drop(&mut self) {
        let quit = serde_json::to_string(&Ask::Quit).unwrap_or_default();
        let _ = writeln!(self.stdin, "{quit}").and_then(|()| self.stdin.flush());
        let start = Instant::now();
        while start.elapsed() < GRACE {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
