// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What only the tree can say about a policy: files that it names exist, and no file is in two buckets.

use super::{Policy, PolicyError};
use crate::tree::{Entry, Tree};

/// Marks a required text that is still a file's name.
pub(super) const FROM_FILE: &str = "\u{1}file:";

impl Policy {
    /// Reads the texts that the policy keeps in files, and checks the files that it names.
    ///
    /// # Errors
    /// If a named file does not exist or a file lies in two buckets.
    pub fn attach(&mut self, tree: &dyn Tree, entries: &[Entry]) -> Result<(), PolicyError> {
        for bucket in &self.buckets {
            if let Some(text) = bucket.texts.iter().find(|text| !tree.exists(text)) {
                let message = format!("bucket {:?} names the licence text {text}, which does not exist", bucket.name);
                return Err(self.error(bucket.at, message));
            }
        }
        let mut recorded = self.texts.iter().chain(self.buckets.iter().flat_map(|bucket| &bucket.required_files));
        if let Some(file) = recorded.find(|file| !tree.exists(&file.path)) {
            return Err(self.error(file.at, format!("a digest is recorded for {}, which does not exist", file.path)));
        }
        if let Some(file) = self.map.iter().find(|file| !tree.exists(&file.value)) {
            let message = format!("the map is to stand in {}, which does not exist", file.value);
            return Err(self.error(file.at, message));
        }
        for index in 0..self.overrides.len() {
            let entry = &self.overrides[index];
            let Some(path) = entry.required_text.as_deref().and_then(|text| text.strip_prefix(FROM_FILE)) else {
                continue;
            };
            let bytes = tree
                .all(path)
                .map_err(|error| self.error(entry.at, format!("the required text {path} cannot be read: {error}")))?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            self.overrides[index].required_text = Some(text);
        }
        for entry in entries {
            if let [first, second, ..] = self.buckets_of(&entry.path)[..] {
                let (first, second) = (&self.buckets[first], &self.buckets[second]);
                let message = format!(
                    "{} lies in the buckets {:?} and {:?}; a file has one origin",
                    entry.path, first.name, second.name
                );
                return Err(self.error(second.at, message));
            }
        }
        Ok(())
    }

    fn error(&self, at: super::At, message: String) -> PolicyError {
        PolicyError {
            file: self.source.name.clone(),
            line: at.line,
            column: at.column,
            message,
            excerpt: self.source.line(at.line).to_owned(),
        }
    }
}
