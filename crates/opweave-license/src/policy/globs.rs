// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Globs over paths with forward slashes, relative to the policy's folder.

use globset::{Candidate, Glob, GlobBuilder, GlobSet, GlobSetBuilder};

/// What a glob may be, for messages.
pub(crate) const LEGAL: &str = "a path relative to the policy with forward slashes, in which `*` and `?` match within a \
     folder, `**` across folders, `[ab]` one of several characters and `{a,b}` one of several words";

/// Several globs, matched at once.
#[derive(Clone, Debug)]
pub struct Globs {
    set: GlobSet,
}

impl Globs {
    /// Reads globs; the error holds the index of the wrong one and the reason.
    ///
    /// # Errors
    /// If a glob is no relative path or its grammar is wrong.
    pub fn new<'a>(globs: impl IntoIterator<Item = &'a str>) -> Result<Self, (usize, String)> {
        let mut builder = GlobSetBuilder::new();
        for (index, text) in globs.into_iter().enumerate() {
            builder.add(one(text).map_err(|reason| (index, reason))?);
        }
        let set = builder.build().map_err(|error| (0, error.kind().to_string()))?;
        Ok(Self { set })
    }

    /// Whether any of them matches.
    #[must_use]
    pub fn is_match(&self, path: &str) -> bool {
        self.set.is_match(path)
    }

    /// Indices of those that match, in order.
    #[must_use]
    pub fn matching(&self, path: &str) -> Vec<usize> {
        if self.set.is_empty() { Vec::new() } else { self.set.matches_candidate(&Candidate::new(path)) }
    }
}

fn one(text: &str) -> Result<Glob, String> {
    let reason = if text.is_empty() {
        "it is empty"
    } else if text.starts_with('/') || text.get(1..2) == Some(":") {
        "it is absolute"
    } else if text.contains('\\') {
        "it holds a backslash"
    } else if text.split('/').any(|part| part == ".." || part == ".") {
        "it holds `.` or `..`"
    } else {
        return GlobBuilder::new(text)
            .literal_separator(true)
            .backslash_escape(false)
            .build()
            .map_err(|error| error.kind().to_string());
    };
    Err(reason.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stay_within_a_folder_unless_there_are_two() {
        let globs = Globs::new(["a/*.cu", "b/**", "**/x.{h,hpp}"]).unwrap();
        for (path, wanted) in
            [("a/k.cu", &[0][..]), ("a/b/k.cu", &[]), ("b/c/d.e", &[1]), ("b/x.h", &[1, 2]), ("x.hpp", &[2])]
        {
            assert_eq!(globs.matching(path), wanted, "{path}");
        }
    }

    #[test]
    fn wrong_globs_are_refused() {
        for bad in ["", "/a", "../a", "a\\b", "a/[", "a/{b", "C:/x", "./a"] {
            assert!(Globs::new(["ok", bad]).is_err_and(|(index, _)| index == 1), "{bad}");
        }
    }
}
