// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! L009 missing-source-path: the upstream path is named in the head comments or the first documentation

use super::{Check, Rule, Sink};
use crate::policy::Bucket;
use crate::view::View;

pub(super) static RULE: Rule = Rule {
    id: "L009",
    name: "missing-source-path",
    what: "the upstream path is named in the head comments or the first documentation",
    why: "A project has thousands of files. The path says which one was ported, so that a reviewer can lay both side by side.",
    mend: "Name the path as it is in the upstream repository, from its root: `csrc/kernels/norm.cu`. A file that comes from several names them all.",
    example: r#"//! Port of `norm.cu`.                          <- L009: from which folder?
//! Port of `csrc/kernels/norm.cu`.             <- clean"#,
    check: Check::File(check),
};

fn check(view: &View<'_>, sink: &mut Sink) {
    let Some(bucket) = view.port() else { return };
    let words: Vec<&str> =
        view.head.lines.iter().chain(&view.head.doc).flat_map(|line| line.text.split_whitespace()).collect();
    let paths: Vec<&str> = words.iter().filter_map(|word| path(word)).filter(|path| *path != view.path).collect();
    let names = |source: &Bucket| match &source.sources {
        Some(globs) => paths.iter().any(|path| globs.is_match(path)),
        None => paths.iter().any(|path| path.contains('/')),
    };
    let cited = |other: &&Bucket| {
        // Without a list of paths one cannot tell whose a path is.
        other.sources.is_some() && view.citations.iter().any(|c| c.project.as_deref() == Some(&other.project))
    };
    let others = view.policy.buckets.iter().filter(|other| other.name != bucket.name).filter(cited);
    for source in std::iter::once(bucket).chain(others).filter(|source| !names(source)) {
        let message = match (&source.sources, paths.iter().find(|path| path.contains('/'))) {
            (Some(_), Some(path)) => format!("{path} is no path that the policy knows of {}", source.project),
            _ => format!("no file of {} is named as the source", source.project),
        };
        let help = format!("name the file by its whole path in {}, such as `csrc/kernels/norm.cu`", source.project);
        sink.error(view.top(), message, help);
    }
}

/// The word as the path of a file, if it is one.
fn path(word: &str) -> Option<&str> {
    let word = word.trim_start_matches(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '_' | '/')));
    // `a/b.cu:12-40` names lines of a file.
    let word = word.split([':', '#']).next()?.trim_end_matches(|c: char| !(c.is_alphanumeric() || c == '+'));
    let inexact = |c: char| !(c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | '+' | '@'));
    if word.contains(inexact) || word.split('/').any(|part| matches!(part, "" | "." | ".." | "...")) {
        return None;
    }
    let (stem, extension) = word.rsplit('/').next()?.rsplit_once('.')?;
    let plausible = !stem.is_empty()
        && (1..=6).contains(&extension.len())
        && extension.starts_with(|c: char| c.is_ascii_alphabetic())
        && extension.chars().all(|c| c.is_ascii_alphanumeric() || c == '+');
    plausible.then_some(word)
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn only_words_that_can_be_a_file_are_paths() {
        for (word, wanted) in [
            ("`csrc/a/b.cuh`,", Some("csrc/a/b.cuh")),
            ("(csrc/b.cu:12-40)", Some("csrc/b.cu")),
            ("norm.cu", Some("norm.cu")),
            ("`a/b.cu`.", Some("a/b.cu")),
            (".github/x.yml", Some(".github/x.yml")),
            ("a/b.cu.", Some("a/b.cu")),
            ("csrc/*.cu", None),
            (".../b.cu", None),
            ("../b.cu", None),
            ("/abs/b.cu", None),
            ("and/or", None),
            ("v2.0", None),
            ("https://host/a/b.cu", None),
        ] {
            assert_eq!(path(word), wanted, "{word}");
        }
    }
}
