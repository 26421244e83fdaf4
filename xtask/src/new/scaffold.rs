// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! New files from templates, and the one-line edits that make them known.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// What one `cargo xtask new` writes.
#[derive(Default)]
pub(crate) struct Scaffold {
    /// Files that do not exist yet, with their text.
    pub files: Vec<(String, String)>,
    /// Links that do not exist yet, with what they point to.
    pub links: Vec<(String, String)>,
    /// Lines in files that do exist.
    pub edits: Vec<Edit>,
    /// What only a person can do.
    pub left: Vec<String>,
}

/// One line that goes into a file.
pub(crate) struct Edit {
    pub file: String,
    pub line: String,
    pub place: Place,
}

/// Where in the file.
pub(crate) enum Place {
    /// Among the lines that start with this text, in byte order.
    Among(&'static str),
    /// After the first line with this text.
    After(&'static str),
    /// Before the first line with `text`, from the first line with `after` on.
    Before { text: &'static str, after: &'static str },
    /// The last item of the list that the line with `head` begins and `];` ends.
    List { head: &'static str },
    /// In the first line that starts with `start`: `from` becomes what the edit's line says.
    Within { start: &'static str, from: &'static str },
}

impl Scaffold {
    /// Adds a file made of `template` by replacing each `{{key}}`.
    pub(crate) fn file(&mut self, path: String, template: &str, values: &[(&str, &str)]) -> Result<()> {
        let mut text = template.to_owned();
        for (key, value) in values {
            text = text.replace(&format!("{{{{{key}}}}}"), value);
        }
        if let Some(at) = text.find("{{") {
            bail!("the template of {path} has an unknown key: {}", text[at..].lines().next().unwrap_or_default());
        }
        self.files.push((path, text));
        Ok(())
    }

    /// Writes everything under `root` and says what was done and what is left. A file that exists, or a line without a
    /// place, stops it before it has written anything.
    pub(crate) fn write(&self, root: &Path) -> Result<()> {
        let new = self.files.iter().chain(&self.links);
        if let Some((path, _)) = new.clone().find(|(path, _)| root.join(path).exists()) {
            bail!("{path} exists; nothing was written");
        }
        let mut edited: Vec<(PathBuf, String)> = Vec::new();
        for edit in &self.edits {
            let path = root.join(&edit.file);
            let at = match edited.iter().position(|(known, _)| *known == path) {
                Some(at) => at,
                None => {
                    let text = fs::read_to_string(&path).with_context(|| format!("failed to read {}", edit.file))?;
                    edited.push((path, text));
                    edited.len() - 1
                }
            };
            edited[at].1 = edit.apply(&edited[at].1)?;
        }
        for (path, _) in new {
            fs::create_dir_all(root.join(path).parent().unwrap_or(root))?;
        }
        for (path, target) in &self.links {
            std::os::unix::fs::symlink(target, root.join(path)).with_context(|| format!("failed to link {path}"))?;
        }
        let files = self.files.iter().map(|(path, text)| (root.join(path), text));
        for (path, text) in files.chain(edited.iter().map(|(path, text)| (path.clone(), text))) {
            fs::write(&path, text).with_context(|| format!("failed to write {}", path.display()))?;
        }
        Ok(())
    }

    /// Says what was done and what is left.
    pub(crate) fn report(&self) {
        println!("new:");
        self.files.iter().chain(&self.links).for_each(|(path, _)| println!("  {path}"));
        println!("lines added:");
        self.edits.iter().for_each(|edit| println!("  {}: {}", edit.file, edit.line.trim()));
        println!("left to you:");
        self.left.iter().enumerate().for_each(|(at, text)| println!("  {}. {text}", at + 1));
    }
}

impl Edit {
    fn apply(&self, text: &str) -> Result<String> {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        if lines.contains(&self.line) {
            bail!("{} has the line {:?} already; nothing was written", self.file, self.line.trim());
        }
        if self.insert(&mut lines).is_none() {
            bail!("{} has no place for {:?}; nothing was written", self.file, self.line.trim());
        }
        Ok(lines.join("\n") + "\n")
    }

    fn insert(&self, lines: &mut Vec<String>) -> Option<()> {
        let with = |text: &str, from: usize| (from..lines.len()).find(|&at| lines[at].contains(text));
        match &self.place {
            Place::Among(prefix) => {
                // A line under an attribute, such as `mod tests;`, is no neighbour: the new one would take its place there.
                let known =
                    |at: &usize| lines[*at].starts_with(prefix) && !(*at > 0 && lines[*at - 1].starts_with("#["));
                let next = (0..lines.len()).filter(known).find(|&at| lines[at] > self.line);
                let last = (0..lines.len()).rev().find(known)?;
                // The last one may go on for several lines.
                let end = if lines[last].ends_with('{') { with(";", last)? } else { last };
                lines.insert(next.unwrap_or(end + 1), self.line.clone());
            }
            Place::After(text) => {
                let at = with(text, 0)?;
                lines.insert(at + 1, self.line.clone());
            }
            Place::Before { text, after } => {
                let at = with(text, with(after, 0)?)?;
                lines.insert(at, self.line.clone());
            }
            Place::List { head } => {
                let first = with(head, 0)?;
                let last = with("];", first)?;
                // All items may stand in one line: that of the head, or the one after it.
                if first == last || lines[last].contains('[') {
                    lines[last] = lines[last].replacen("];", &format!(", {}];", self.line), 1);
                } else {
                    lines.insert(last, format!("    {},", self.line));
                }
            }
            Place::Within { start, from } => {
                let at = (0..lines.len()).find(|&at| lines[at].starts_with(start) && lines[at].contains(from))?;
                lines[at] = lines[at].replacen(from, &self.line, 1);
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(line: &str, place: Place) -> Edit {
        Edit { file: "f".into(), line: line.into(), place }
    }

    #[test]
    fn a_line_finds_its_place_in_the_order() {
        let text = "//! x\n\nmod alpha;\nmod gamma;\n\nfn f() {}\n";
        let apply = |line| edit(line, Place::Among("mod ")).apply(text).unwrap();
        assert_eq!(apply("mod beta;"), "//! x\n\nmod alpha;\nmod beta;\nmod gamma;\n\nfn f() {}\n");
        assert_eq!(apply("mod zeta;"), "//! x\n\nmod alpha;\nmod gamma;\nmod zeta;\n\nfn f() {}\n");
        let tested = "mod gamma;\n\n#[cfg(test)]\nmod tests;\n";
        let apply = |line| edit(line, Place::Among("mod ")).apply(tested).unwrap();
        assert_eq!(apply("mod rotary;"), "mod gamma;\nmod rotary;\n\n#[cfg(test)]\nmod tests;\n");
        let uses = "pub use a::{\n    A,\n};\n\nfn f() {}\n";
        let added = edit("pub use b::B;", Place::Among("pub use ")).apply(uses).unwrap();
        assert_eq!(added, "pub use a::{\n    A,\n};\npub use b::B;\n\nfn f() {}\n");
    }

    #[test]
    fn a_line_finds_its_place_in_a_list_or_a_line() {
        let list = "const A: &[u8] = &[\n    1,\n];\nconst B: &[u8] = &[\n    2,\n];\n";
        let longer = list.replace("    2,\n", "    2,\n    3,\n");
        assert_eq!(edit("    3,", Place::Before { text: "];", after: "const B" }).apply(list).unwrap(), longer);
        assert_eq!(edit("3", Place::List { head: "const B" }).apply(list).unwrap(), longer);
        let short = "const A: &[u8] = &[1];\n";
        assert_eq!(edit("2", Place::List { head: "const A" }).apply(short).unwrap(), "const A: &[u8] = &[1, 2];\n");
        let broken = "const A: &[u8] =\n    &[1, 2];\n";
        let longer = "const A: &[u8] =\n    &[1, 2, 3];\n";
        assert_eq!(edit("3", Place::List { head: "const A" }).apply(broken).unwrap(), longer);
        let call = "m!(a);\n\nuse b;\n";
        assert_eq!(edit("mod c;", Place::After("m!(")).apply(call).unwrap(), "m!(a);\nmod c;\n\nuse b;\n");
        let row = Place::Within { start: "| `a`", from: "`b`" };
        assert_eq!(edit("`b`, `c`", row).apply("| `a` | `b` |\n").unwrap(), "| `a` | `b`, `c` |\n");
    }

    #[test]
    fn what_cannot_be_done_whole_is_not_begun() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("f"), "mod a;\n").unwrap();
        let mut scaffold = Scaffold::default();
        scaffold.file("new.rs".into(), "pub fn {{name}}() {}\n", &[("name", "b")]).unwrap();
        scaffold.edits.push(edit("use b;", Place::Among("use ")));
        assert!(scaffold.write(folder.path()).unwrap_err().to_string().contains("no place"));
        assert!(!folder.path().join("new.rs").exists());
        scaffold.edits[0] = edit("mod b;", Place::Among("mod "));
        scaffold.write(folder.path()).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("new.rs")).unwrap(), "pub fn b() {}\n");
        assert!(scaffold.write(folder.path()).unwrap_err().to_string().contains("new.rs exists"));
    }

    #[test]
    fn an_unknown_key_is_an_error() {
        let error = Scaffold::default().file("a".into(), "{{b}}", &[("c", "d")]).unwrap_err();
        assert!(error.to_string().contains("unknown key: {{b}}"));
    }
}
