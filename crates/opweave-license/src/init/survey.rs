// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a tree says about its licences before there is a policy.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use crate::expr::Expr;
use crate::fix::foreign;
use crate::head;
use crate::policy::is_license_name;
use crate::style;
use crate::template;
use crate::text::Text;
use crate::tree::{Kind, Tree};
use crate::view::{TAG, is_copyright, is_own_copyright};

/// Bytes of a file that are read.
const READ: usize = 16 * 1024;

/// Folders by which projects keep licence texts.
const FOLDERS: [&str; 2] = ["LICENSES", "licenses"];

/// Licences that are looked for among the texts, the usual ones first.
const USUAL: [&str; 14] = [
    "MIT",
    "Apache-2.0",
    "BSD-3-Clause",
    "BSD-2-Clause",
    "ISC",
    "Zlib",
    "MPL-2.0",
    "BSL-1.0",
    "Unlicense",
    "0BSD",
    "GPL-3.0-only",
    "GPL-2.0-only",
    "LGPL-3.0-only",
    "LGPL-2.1-only",
];

/// What was seen.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub files: usize,
    /// How often each valid expression stands in a header.
    pub expressions: BTreeMap<String, usize>,
    /// How often each copyright line does.
    pub copyrights: BTreeMap<String, usize>,
    /// The same with `{year}` in place of years.
    pub undated: BTreeMap<String, usize>,
    /// Whether the copyright line comes first, by count.
    pub copyright_first: (usize, usize),
    /// Files without any header.
    pub silent: usize,
    /// What cannot hold a comment, by glob, and one example.
    pub mute: BTreeMap<String, (usize, String)>,
    /// Folders that hold a head of somebody else's: one example file and its words.
    pub foreign: BTreeMap<String, (usize, String, String)>,
    /// Licence files and the licence whose text they are.
    pub texts: Vec<(String, Option<&'static str>, String)>,
    /// The folder of licence texts.
    pub folder: Option<&'static str>,
    /// Expressions of manifests.
    pub manifests: BTreeSet<String>,
}

/// What one file's head says.
struct Said {
    path: String,
    expression: Option<String>,
    copyrights: Vec<String>,
    foreign: Option<String>,
}

pub(super) fn take(tree: &dyn Tree) -> io::Result<Survey> {
    let mut survey = Survey::default();
    let mut said = Vec::new();
    let mut buffer = Vec::new();
    for entry in tree.entries()?.into_iter().filter(|entry| entry.kind == Kind::File) {
        survey.files += 1;
        let path = entry.path;
        let name = path.rsplit('/').next().unwrap_or(&path);
        let folder = FOLDERS.into_iter().find(|folder| path.starts_with(&format!("{folder}/")));
        survey.folder = survey.folder.or(folder);
        if folder.is_some() || is_license_name(name) {
            let text = tree.all(&path)?;
            let digest = crate::rules::hex(&text);
            survey.texts.push((path, identify(&String::from_utf8_lossy(&text)), digest));
            continue;
        }
        if matches!(name, "Cargo.toml" | "pyproject.toml" | "package.json") {
            survey.manifests.extend(stated(tree, &path));
        }
        if tree.read(&path, READ, &mut buffer).is_err() || buffer.is_empty() {
            continue;
        }
        let text = Text::new(&buffer);
        let style = text.as_ref().and_then(|text| style::of(&path, &text.bytes, &BTreeMap::new()));
        let (Some(text), Some(style)) = (text, style) else {
            let glob = mute_glob(&path, name);
            survey.mute.entry(glob).or_insert((0, path.clone())).0 += 1;
            continue;
        };
        let head = head::read(&text.bytes, style);
        let tag = head.lines.iter().position(|line| line.text.starts_with(TAG));
        let holder = head.lines.iter().position(|line| is_copyright(&line.text));
        if let (Some(tag), Some(holder)) = (tag, holder) {
            if holder < tag { survey.copyright_first.0 += 1 } else { survey.copyright_first.1 += 1 }
        }
        let expression = tag.and_then(|at| Expr::parse(head.lines[at].text[TAG.len()..].trim()).ok());
        let copyrights: Vec<String> =
            head.lines.iter().filter(|line| is_copyright(&line.text)).map(|line| line.text.clone()).collect();
        let foreign = if tag.is_some() { None } else { foreign(&text.bytes, style) };
        survey.silent += usize::from(tag.is_none() && copyrights.is_empty());
        said.push(Said { path, expression: expression.map(|e| e.to_string()), copyrights, foreign });
    }
    for file in &said {
        if let Some(expression) = &file.expression {
            *survey.expressions.entry(expression.clone()).or_default() += 1;
        }
        for line in &file.copyrights {
            *survey.copyrights.entry(line.clone()).or_default() += 1;
            *survey.undated.entry(undated(line)).or_default() += 1;
        }
    }
    survey.strangers(&said);
    Ok(survey)
}

impl Survey {
    /// The most frequent key; among equals the first.
    pub(super) fn most(counts: &BTreeMap<String, usize>) -> Option<&str> {
        let best = counts.values().max()?;
        counts.iter().find(|(_, count)| *count == best).map(|(key, _)| key.as_str())
    }

    /// Folders with heads that differ from the most frequent one, or that speak of an origin.
    fn strangers(&mut self, said: &[Said]) {
        let expression = Self::most(&self.expressions).map(str::to_owned);
        let holder = Self::most(&self.undated).map(str::to_owned);
        for file in said {
            let other_terms = file.expression.as_ref().filter(|own| Some(*own) != expression.as_ref());
            let other_holder = file.copyrights.iter().find(|line| Some(undated(line)) != holder);
            let Some(words) = file.foreign.as_ref().or(other_terms).or(other_holder) else { continue };
            let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let entry = self.foreign.entry(folder.to_owned()).or_insert((0, file.path.clone(), words.clone()));
            entry.0 += 1;
        }
    }
}

/// A copyright line with `{year}` in place of its years.
pub(super) fn undated(line: &str) -> String {
    let is_year = |c: char| c.is_ascii_digit() || matches!(c, '-' | ',' | ' ' | '\u{2013}');
    let Some(from) = line.find(|c: char| c.is_ascii_digit()) else { return line.to_owned() };
    let run = line[from..].find(|c: char| !is_year(c)).map_or(line.len(), |to| from + to);
    let to = line[..run].rfind(|c: char| c.is_ascii_digit()).map_or(run, |at| at + 1);
    let pattern = format!("{}{{year}}{}", &line[..from], &line[to..]);
    if is_own_copyright(line, &pattern) { pattern } else { line.to_owned() }
}

/// The glob of files like this one: by extension, or by folder where there is none.
fn mute_glob(path: &str, name: &str) -> String {
    let plain = |text: &str| text.chars().map(|c| if "[]{}*?\\".contains(c) { '?' } else { c }).collect::<String>();
    match name.rsplit_once('.') {
        Some(("", _)) => format!("**/{}", plain(name)),
        Some((_, extension)) => format!("**/*.{}", plain(extension)),
        None => plain(path).rsplit_once('/').map_or_else(|| plain(name), |(folder, _)| format!("{folder}/*")),
    }
}

/// Which licence a text is, if it is one of the usual ones.
fn identify(text: &str) -> Option<&'static str> {
    USUAL.into_iter().find(|id| template::known(id).is_some_and(|known| template::matches(id, known, text).is_ok()))
}

/// The licence that a manifest states.
fn stated(tree: &dyn Tree, path: &str) -> Option<String> {
    let text = String::from_utf8(tree.all(path).ok()?).ok()?;
    let stated = if path.ends_with(".json") {
        serde_json::from_str::<serde_json::Value>(&text).ok()?.get("license")?.as_str()?.to_owned()
    } else {
        let table: toml::Table = text.parse().ok()?;
        let package =
            table.get("package").or_else(|| table.get("project")).or_else(|| table.get("workspace")?.get("package"))?;
        package.get("license")?.as_str()?.to_owned()
    };
    let stated = stated.replace('/', " OR ");
    Expr::parse(&stated).ok().map(|expression| expression.to_string())
}
