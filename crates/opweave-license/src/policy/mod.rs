// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The policy: which files are native, which are ports of what, and what each must say.

mod check;
mod error;
mod globs;
mod load;
mod raw;

use std::collections::BTreeMap;
use std::sync::Arc;

use spdx::Licensee;

pub use error::{At, PolicyError, Source};
pub use globs::Globs;

use crate::citation::Shape;
use crate::expr::Expr;
use crate::style::Style;

/// Name of the policy file.
pub const FILE: &str = "license.toml";

/// A checked policy.
#[derive(Debug)]
pub struct Policy {
    /// Its text, for messages that point into it.
    pub source: Source,
    /// The header of native files.
    pub native: Native,
    /// Licences that may appear.
    pub allow: Vec<Licensee>,
    /// Files that are not looked at.
    pub ignore: Globs,
    /// Folder of the licence texts.
    pub licenses_dir: String,
    /// The shape of a port's citation.
    pub shape: Shape,
    /// Files that hold the third-party map.
    pub map: Vec<Located<String>>,
    /// SHA-256 of licence texts by path.
    pub texts: Vec<Recorded>,
    /// Comment styles by extension or file name, beside the built-in ones.
    pub styles: BTreeMap<String, &'static Style>,
    /// Ports.
    pub buckets: Vec<Bucket>,
    /// Single files with other terms.
    pub overrides: Vec<Override>,
    /// Native files inside a bucket.
    pub exceptions: Vec<Exception>,
    /// Headers of files that cannot hold one.
    pub annotations: Vec<Annotation>,
    /// The policy's own cases for the self-test.
    pub cases: Vec<Case>,
    /// All globs of all buckets; `bucket_of` says whose each is.
    pub(crate) bucket_globs: Globs,
    pub(crate) bucket_of: Vec<usize>,
    pub(crate) annotation_globs: Globs,
    pub(crate) annotation_of: Vec<usize>,
}

/// A value and where the policy says it.
#[derive(Clone, Debug)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Where.
    pub at: At,
}

/// The native header.
#[derive(Debug)]
pub struct Native {
    /// Its expression.
    pub expression: Expr,
    /// The expression as it is written.
    pub text: String,
    /// The copyright line, with `{year}` where any year or range may stand.
    pub copyright: String,
    /// Whether the copyright line comes first.
    pub copyright_first: bool,
    /// The year that a new header gets.
    pub year: i64,
}

/// A folder of ports.
#[derive(Debug)]
pub struct Bucket {
    /// Name, for messages.
    pub name: String,
    /// Globs of its files.
    pub paths: Vec<Located<String>>,
    /// Upstream project.
    pub project: String,
    /// Its canonical URL.
    pub url: String,
    /// Expression that its files carry.
    pub expression: Expr,
    /// Upstream copyright lines, all of which a port keeps.
    pub copyright: Vec<String>,
    /// Globs of upstream paths, if they are known.
    pub sources: Option<Globs>,
    /// Licence texts that travel with it.
    pub texts: Vec<String>,
    /// Files that must be kept as they are.
    pub required_files: Vec<Recorded>,
    /// Where the policy declares it.
    pub at: At,
}

/// A file and its recorded digest.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Path.
    pub path: String,
    /// SHA-256 in lower-case hexadecimal digits.
    pub sha256: String,
    /// Where the policy records it.
    pub at: At,
}

/// One file with other terms.
#[derive(Debug)]
pub struct Override {
    /// Path.
    pub path: String,
    /// Expression.
    pub expression: Expr,
    /// Text that must stand in its comments.
    pub required_text: Option<String>,
    /// Where.
    pub at: At,
}

/// A native file inside a bucket.
#[derive(Debug)]
pub struct Exception {
    /// Path.
    pub path: String,
    /// Why it is there.
    pub reason: String,
    /// Where.
    pub at: At,
}

/// A header from outside the file.
#[derive(Debug)]
pub struct Annotation {
    /// Globs.
    pub paths: Vec<Located<String>>,
    /// Expression.
    pub expression: Arc<Expr>,
    /// Copyright line.
    pub copyright: String,
}

/// One row of the policy's table: this text at this path trips exactly these rules.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name, printed when it fails.
    pub name: String,
    /// Path that the text would have.
    pub path: String,
    /// Content.
    pub text: String,
    /// Rule ids, exactly.
    pub expect: Vec<String>,
}

/// What a file is to the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Class {
    /// Written here.
    Native,
    /// A port: index of its bucket.
    Port(usize),
}

impl Policy {
    /// What the file at `path` is.
    #[must_use]
    pub fn class(&self, path: &str) -> Class {
        if self.exceptions.iter().any(|exception| exception.path == path) {
            return Class::Native;
        }
        self.buckets_of(path).first().map_or(Class::Native, |bucket| Class::Port(*bucket))
    }

    /// The buckets that a path lies in; more than one is a contradiction.
    #[must_use]
    pub fn buckets_of(&self, path: &str) -> Vec<usize> {
        let mut buckets: Vec<usize> =
            self.bucket_globs.matching(path).into_iter().map(|glob| self.bucket_of[glob]).collect();
        buckets.dedup();
        buckets
    }

    /// The override of a path.
    #[must_use]
    pub fn override_of(&self, path: &str) -> Option<&Override> {
        self.overrides.iter().find(|entry| entry.path == path)
    }

    /// The last annotation that covers a path.
    #[must_use]
    pub fn annotation(&self, path: &str) -> Option<&Annotation> {
        let last = self.annotation_globs.matching(path).into_iter().next_back()?;
        Some(&self.annotations[self.annotation_of[last]])
    }

    /// Whether the file is a licence text, a notice or the like, which carries no header of its own.
    #[must_use]
    pub fn is_license_file(&self, path: &str) -> bool {
        let inside = path.strip_prefix(&self.licenses_dir).is_some_and(|rest| rest.starts_with('/'));
        let required = self.buckets.iter().flat_map(|bucket| &bucket.required_files).any(|file| file.path == path);
        inside || required || is_license_name(path.rsplit('/').next().unwrap_or(path))
    }

    /// The policy's own name, to point at it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.source.name
    }
}

/// Names by which projects keep their licences: `LICENSE`, `LICENSE-MIT`, `COPYING.txt`, `NOTICE`.
#[must_use]
pub fn is_license_name(name: &str) -> bool {
    let stems = ["LICENSE", "LICENCE", "COPYING", "UNLICENSE", "NOTICE", "COPYRIGHT", "AUTHORS", "LICENSES"];
    stems.iter().any(|stem| {
        let Some(rest) = name.strip_prefix(stem) else { return false };
        let extension = rest.rsplit_once('.').map_or("", |(_, extension)| extension);
        let text = matches!(extension, "" | "txt" | "md" | "rst" | "html")
            || extension.contains(|c: char| !c.is_ascii_lowercase());
        rest.is_empty() || (text && rest.starts_with(['-', '.', '_']))
    })
}

#[cfg(test)]
mod tests {
    use super::is_license_name;

    #[test]
    fn licence_files_are_known_by_name_and_code_is_none() {
        for name in ["LICENSE", "LICENSE-MIT", "LICENSE.txt", "COPYING.LESSER", "NOTICE", "LICENSE-APACHE-2.0.md"] {
            assert!(is_license_name(name), "{name}");
        }
        for name in ["license.rs", "LICENSE.rs", "LICENSE_check.py", "license.toml", "NOTICES", "LICENSEE"] {
            assert!(!is_license_name(name), "{name}");
        }
    }
}
