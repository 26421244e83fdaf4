// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A folder on disk as a tree: what git tracks, and what it does not ignore.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use ignore::{WalkBuilder, WalkState};

use crate::tree::{Entry, Kind, Tree};

/// A folder.
#[derive(Clone, Debug)]
pub struct Disk {
    root: PathBuf,
}

impl Disk {
    /// The tree under `root`.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Runs git here; `None` where there is no git or no repository.
    fn git(&self, arguments: &[&str]) -> Option<Vec<u8>> {
        let output = Command::new("git").arg("-C").arg(&self.root).args(arguments).output().ok()?;
        output.status.success().then_some(output.stdout)
    }

    /// Paths that git tracks, which may match an ignore pattern and still belong to the tree.
    fn tracked(&self) -> Vec<String> {
        names(self.git(&["ls-files", "-z", "--cached"]).unwrap_or_default())
    }

    /// Paths that differ from a revision, untracked ones too.
    ///
    /// # Errors
    /// If git does not know the revision, or this is no repository.
    pub fn changed(&self, revision: &str) -> Result<BTreeSet<String>, String> {
        let unknown = || format!("git knows no revision {revision:?} here");
        if revision.starts_with('-') {
            return Err(unknown());
        }
        let commit = format!("{revision}^{{commit}}");
        self.git(&["rev-parse", "--verify", "--quiet", &commit]).ok_or_else(unknown)?;
        // From the merge base, as a review would see it; without one, from the revision itself.
        let base = self.git(&["merge-base", revision, "HEAD"]).and_then(|bytes| String::from_utf8(bytes).ok());
        let base = base.as_deref().map_or(revision, str::trim);
        let changed =
            self.git(&["diff", "--name-only", "-z", "--relative", "--no-renames", base, "--"]).ok_or_else(unknown)?;
        let untracked = self.git(&["ls-files", "-z", "--others", "--exclude-standard"]).ok_or_else(unknown)?;
        Ok(names(changed).into_iter().chain(names(untracked)).collect())
    }

    fn entry(&self, path: &Path) -> Option<Entry> {
        let relative = path.strip_prefix(&self.root).ok()?;
        let name = relative.to_string_lossy().replace('\\', "/");
        let metadata = fs::symlink_metadata(path).ok()?;
        if metadata.file_type().is_symlink() {
            let target = fs::read_link(path).map(|target| target.to_string_lossy().into_owned()).unwrap_or_default();
            return Some(Entry { path: name, kind: Kind::Link(target) });
        }
        metadata.is_file().then_some(Entry { path: name, kind: Kind::File })
    }
}

fn names(bytes: Vec<u8>) -> Vec<String> {
    bytes
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect()
}

impl Tree for Disk {
    fn entries(&self) -> io::Result<Vec<Entry>> {
        // A folder inside another repository's work tree is linted like a repository of its own.
        let tracked = std::thread::scope(|scope| {
            let tracked = scope.spawn(|| self.tracked());
            let walked = walk(self);
            (tracked.join().unwrap_or_default(), walked)
        });
        let (tracked, walked) = tracked;
        let mut entries = walked?;
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        let missing = tracked.iter().filter(|path| entries.binary_search_by(|entry| entry.path.cmp(path)).is_err());
        // A deleted file is tracked still, a submodule is no file: neither becomes an entry.
        let more: Vec<Entry> = missing.filter_map(|path| self.entry(&self.root.join(path))).collect();
        entries.extend(more);
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        entries.dedup_by(|a, b| a.path == b.path);
        Ok(entries)
    }

    fn read(&self, path: &str, limit: usize, into: &mut Vec<u8>) -> io::Result<bool> {
        into.clear();
        let mut file = File::open(self.root.join(path))?;
        if limit == usize::MAX {
            file.read_to_end(into)?;
            return Ok(true);
        }
        // One byte more tells whether there is more.
        into.resize(limit + 1, 0);
        let mut filled = 0;
        while filled < into.len() {
            match file.read(&mut into[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        into.truncate(filled.min(limit));
        Ok(filled <= limit)
    }

    fn exists(&self, path: &str) -> bool {
        fs::symlink_metadata(self.root.join(path)).is_ok()
    }
}

/// Walks the folder on all cores. Hidden files belong to the tree; git's own folder and other repositories do not.
fn walk(disk: &Disk) -> io::Result<Vec<Entry>> {
    let root = disk.root.clone();
    let walker = WalkBuilder::new(&disk.root)
        .hidden(false)
        .ignore(false)
        .parents(true)
        .follow_links(false)
        .threads(std::thread::available_parallelism().map_or(1, usize::from))
        .filter_entry(move |entry| {
            let directory = entry.file_type().is_some_and(|kind| kind.is_dir());
            entry.depth() == 0
                || !directory
                || (entry.file_name() != ".git" && fs::symlink_metadata(entry.path().join(".git")).is_err())
        })
        .build_parallel();
    let found = Mutex::new(Vec::new());
    let failed = Mutex::new(None);
    walker.run(|| {
        let mut local = Local { found: &found, entries: Vec::new() };
        let (root, failed) = (&root, &failed);
        Box::new(move |result| {
            match result {
                Ok(entry) => {
                    let Some(kind) = entry.file_type() else { return WalkState::Continue };
                    let Ok(relative) = entry.path().strip_prefix(root) else { return WalkState::Continue };
                    // The file `.git` of a work tree is git's too.
                    if kind.is_dir() || (entry.depth() == 1 && entry.file_name() == ".git") {
                        return WalkState::Continue;
                    }
                    let path = relative.to_string_lossy().replace('\\', "/");
                    if kind.is_symlink() {
                        let target = fs::read_link(entry.path()).unwrap_or_default().to_string_lossy().into_owned();
                        local.entries.push(Entry { path, kind: Kind::Link(target) });
                    } else if kind.is_file() {
                        local.entries.push(Entry { path, kind: Kind::File });
                    }
                    WalkState::Continue
                }
                Err(error) => {
                    let mut failed = failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    *failed = Some(io::Error::other(error.to_string()));
                    WalkState::Quit
                }
            }
        })
    });
    match failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)),
    }
}

/// A worker's entries, handed over when it ends.
struct Local<'a> {
    found: &'a Mutex<Vec<Entry>>,
    entries: Vec<Entry>,
}

impl Drop for Local<'_> {
    fn drop(&mut self) {
        let mut found = self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        found.append(&mut self.entries);
    }
}
