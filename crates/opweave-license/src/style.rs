// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! How a file's language writes comments, and which file is of which language.

#[path = "style_table.rs"]
mod style_table;

use std::collections::BTreeMap;

pub use style_table::STYLES;

/// The comments of one language.
#[derive(Debug, PartialEq, Eq)]
pub struct Style {
    /// Name, as a policy writes it.
    pub name: &'static str,
    /// Marks that start a comment up to the end of the line. The first is what a header is written with.
    pub line: &'static [&'static str],
    /// Pairs that enclose a comment. The first is what a header is written with if there is no line mark.
    pub block: &'static [(&'static str, &'static str)],
    /// Whether enclosed comments nest.
    pub nested: bool,
    /// Marks of comments that are documentation, which is no header.
    pub docs: &'static [&'static str],
    /// What may or must stand above a header.
    pub opening: Opening,
}

/// What may or must stand above a header in a language, besides a script's first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// Nothing.
    None,
    /// Inner attributes look like a script's first line and are none.
    Rust,
    /// A coding line among the first two.
    Coding,
    /// An XML declaration, or a document type alone.
    Markup,
    /// Front matter between lines of three dashes.
    FrontMatter,
    /// Directives to the builder.
    Docker,
    /// `@charset`.
    Css,
    /// `<?php`.
    Php,
    /// `@echo off`, without which comments are printed.
    Batch,
}

/// The style that a policy names.
#[must_use]
pub fn named(name: &str) -> Option<&'static Style> {
    STYLES.iter().find(|style| style.name == name)
}

/// The style of the file at `path` that starts with `bytes`; `own` holds the policy's additions by extension or file
/// name. `None` where nothing is known.
#[must_use]
pub fn of(path: &str, bytes: &[u8], own: &BTreeMap<String, &'static Style>) -> Option<&'static Style> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = |name: &str| name.rsplit_once('.').map(|(_, extension)| extension.to_owned());
    if let Some(style) = own.get(name).or_else(|| own.get(&extension(name)?)) {
        return Some(style);
    }
    // What a file is shows in its content before its name: an XML declaration is one in a `.txt` too.
    if bytes.starts_with(b"<?xml") {
        return named("html");
    }
    by_name(name)
        .or_else(|| {
            // `config.h.in` is written like `config.h`.
            let (stem, last) = name.rsplit_once('.')?;
            ["in", "tmpl", "template", "tpl", "example", "sample", "orig"].contains(&last).then(|| by_name(stem))?
        })
        .or_else(|| by_script(bytes))
}

fn by_name(name: &str) -> Option<&'static Style> {
    if let Some((_, style)) = style_table::NAMES.iter().find(|(known, _)| *known == name) {
        return named(style);
    }
    let known = |wanted: &str| style_table::EXTENSIONS.iter().find(|(_, all)| all.contains(&wanted));
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    // Capitals matter for `.S`; elsewhere they are an accident.
    if let Some((style, _)) = known(extension).or_else(|| known(&extension.to_ascii_lowercase())) {
        return named(style);
    }
    // After the extensions: `constraints.cc` is no list of constraints.
    let starts = |stem: &str| name.starts_with(stem) && !name[stem.len()..].starts_with(char::is_alphanumeric);
    style_table::STEMS.iter().find(|(stem, _)| starts(stem)).and_then(|(_, style)| named(style))
}

fn by_script(bytes: &[u8]) -> Option<&'static Style> {
    let first = bytes.split(|byte| *byte == b'\n').next().filter(|line| line.starts_with(b"#!"))?;
    let line = String::from_utf8_lossy(first);
    let slashes = ["node", "deno", "bun", "rustx", "cargo"].iter().any(|name| line.contains(name));
    named(if slashes { "c" } else { "hash" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_kernel_code_has_a_style() {
        let own = BTreeMap::from([("foo".to_owned(), named("dash").unwrap())]);
        for (path, content, wanted) in [
            ("a/b.rs", "", Some("rust")),
            ("k.cu", "", Some("c")),
            ("k.cuh", "", Some("c")),
            ("k.ptx", "", Some("c")),
            ("k.cce", "", Some("c")),
            ("k.py", "", Some("python")),
            ("x.toml", "", Some("hash")),
            ("CMakeLists.txt", "", Some("cmake")),
            ("Dockerfile.cuda", "", Some("docker")),
            ("Makefile", "", Some("hash")),
            ("start.S", "", Some("assembly")),
            ("README.md", "", Some("markdown")),
            ("index.html", "", Some("html")),
            ("config.h.in", "", Some("c")),
            ("notes.txt", "", None),
            ("notes.txt", "<?xml version=\"1.0\"?>", Some("html")),
            ("tool", "#!/usr/bin/env python3\n", Some("hash")),
            ("tool", "#!/usr/bin/env node\n", Some("c")),
            ("a.foo", "", Some("dash")),
            ("data.json", "{}", None),
            ("A.CPP", "", Some("c")),
            ("constraints.cc", "", Some("c")),
            ("requirements-dev.txt", "", Some("hash")),
        ] {
            assert_eq!(of(path, content.as_bytes(), &own).map(|style| style.name), wanted, "{path} {content}");
        }
    }

    #[test]
    fn tables_name_styles_that_exist_and_no_extension_twice() {
        let styles = style_table::NAMES.iter().chain(style_table::STEMS).map(|(_, style)| *style);
        for name in styles.chain(style_table::EXTENSIONS.iter().map(|(style, _)| *style)) {
            assert!(named(name).is_some(), "{name}");
        }
        let mut all: Vec<&str> = style_table::EXTENSIONS.iter().flat_map(|(_, all)| all.iter().copied()).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        assert!(STYLES.iter().all(|style| !style.line.is_empty() || !style.block.is_empty()));
    }
}
