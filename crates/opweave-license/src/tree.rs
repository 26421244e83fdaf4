// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What is linted, as a trait: a folder on disk, or a few files in memory.
//!
//! The self-test and the rules' tests run on memory, so that a file that cannot be read or a link that leaves the
//! repository needs no special machine.

use std::collections::BTreeMap;
use std::io;

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A symbolic link and the text of its target.
    Link(String),
}

/// One file or link of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Path relative to the root, with forward slashes.
    pub path: String,
    /// File or link.
    pub kind: Kind,
}

/// A tree of files.
pub trait Tree: Sync {
    /// Every file and link that belongs to the tree, sorted by path.
    ///
    /// # Errors
    /// If a folder cannot be listed.
    fn entries(&self) -> io::Result<Vec<Entry>>;

    /// Reads up to `limit` bytes of a file into `into`, which is emptied first; says whether that was all of it.
    ///
    /// # Errors
    /// If the file cannot be read.
    fn read(&self, path: &str, limit: usize, into: &mut Vec<u8>) -> io::Result<bool>;

    /// Whether there is something at `path`, listed or not.
    fn exists(&self, path: &str) -> bool;

    /// The whole of a file.
    ///
    /// # Errors
    /// If the file cannot be read.
    fn all(&self, path: &str) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read(path, usize::MAX, &mut bytes)?;
        Ok(bytes)
    }
}

/// A tree in memory.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    nodes: BTreeMap<String, Node>,
}

#[derive(Clone, Debug)]
enum Node {
    File(Vec<u8>),
    Link(String),
    Locked,
}

impl Memory {
    /// Adds a file.
    pub fn file(&mut self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.nodes.insert(path.to_owned(), Node::File(bytes.into()));
    }

    /// Adds a link.
    pub fn link(&mut self, path: &str, target: &str) {
        self.nodes.insert(path.to_owned(), Node::Link(target.to_owned()));
    }

    /// Adds a file that cannot be read.
    pub fn locked(&mut self, path: &str) {
        self.nodes.insert(path.to_owned(), Node::Locked);
    }

    /// Takes a file out.
    pub fn remove(&mut self, path: &str) {
        self.nodes.remove(path);
    }
}

impl Tree for Memory {
    fn entries(&self) -> io::Result<Vec<Entry>> {
        let kind = |node: &Node| match node {
            Node::Link(target) => Kind::Link(target.clone()),
            Node::File(_) | Node::Locked => Kind::File,
        };
        Ok(self.nodes.iter().map(|(path, node)| Entry { path: path.clone(), kind: kind(node) }).collect())
    }

    fn read(&self, path: &str, limit: usize, into: &mut Vec<u8>) -> io::Result<bool> {
        into.clear();
        match self.nodes.get(path) {
            Some(Node::File(bytes)) => {
                into.extend_from_slice(&bytes[..bytes.len().min(limit)]);
                Ok(bytes.len() <= limit)
            }
            Some(Node::Link(target)) => self.read(&join(path, target).unwrap_or_default(), limit, into),
            Some(Node::Locked) => Err(io::ErrorKind::PermissionDenied.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn exists(&self, path: &str) -> bool {
        let below = format!("{path}/");
        self.nodes.contains_key(path)
            || self.nodes.range(below.clone()..).next().is_some_and(|(p, _)| p.starts_with(&below))
    }
}

/// Where a link at `path` with this target leads inside the tree; `None` if it leaves it.
///
/// The answer is by words alone: a link is judged by what it says, since what it finds differs by machine.
#[must_use]
pub fn join(path: &str, target: &str) -> Option<String> {
    let target = target.replace('\\', "/");
    if target.starts_with('/') || target.as_bytes().get(1) == Some(&b':') {
        return None;
    }
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_by_words() {
        for (path, target, wanted) in [
            ("a/b", "../LICENSE", Some("LICENSE")),
            ("a/b", "./c//d", Some("a/c/d")),
            ("a", "..", None),
            ("a/b", "../../x", None),
            ("a/b", "/etc/passwd", None),
            ("a/b", "C:\\x", None),
        ] {
            assert_eq!(join(path, target).as_deref(), wanted, "{path} -> {target}");
        }
    }

    #[test]
    fn a_read_says_whether_it_was_all() {
        let mut tree = Memory::default();
        tree.file("a", "12345");
        tree.link("d/l", "../a");
        tree.locked("x");
        let mut bytes = Vec::new();
        assert!(!tree.read("a", 3, &mut bytes).unwrap());
        assert_eq!(bytes, b"123");
        assert!(tree.read("d/l", 5, &mut bytes).unwrap());
        assert!(tree.read("x", 5, &mut bytes).is_err() && tree.read("y", 5, &mut bytes).is_err());
        assert!(tree.exists("d") && tree.exists("a") && !tree.exists("b"));
    }
}
