// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The environment, read once at initialize.

use std::collections::{BTreeMap, BTreeSet};

/// Synchronise after each launch, to find out which call fails.
pub const SYNC_VARIABLE: &str = "OPWEAVE_SYNC";

/// The prefix of variables that override selection.
pub(crate) const OVERRIDE_PREFIX: &str = "OPWEAVE_OVERRIDE_";

/// The variables that a runtime looks at.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<String, String>,
}

impl Environment {
    /// The variables of this process as they are now. A value that is no Unicode is read with replacement characters.
    pub fn read() -> Self {
        let text = |v: std::ffi::OsString| v.to_string_lossy().into_owned();
        std::env::vars_os().map(|(name, value)| (text(name), text(value))).collect()
    }

    /// Whether calls synchronise after each launch.
    pub fn synchronises(&self) -> bool {
        self.variables.get(SYNC_VARIABLE).is_some_and(|v| !matches!(v.trim(), "" | "0" | "false"))
    }

    /// The override variables and their values, in order of the names.
    pub fn overrides(&self) -> impl Iterator<Item = (&str, &str)> {
        let ours = self.variables.iter().filter(|(name, _)| name.starts_with(OVERRIDE_PREFIX));
        ours.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// What differs in `now`, a line for each variable.
    pub fn changes(&self, now: &Environment) -> Vec<String> {
        let names: BTreeSet<&String> = self.variables.keys().chain(now.variables.keys()).collect();
        let shown = |value: Option<&String>| value.map_or_else(|| "unset".to_owned(), |v| format!("`{v}`"));
        let differing = names.into_iter().filter(|name| self.variables.get(*name) != now.variables.get(*name));
        let line = |name: &String| {
            let (before, after) = (shown(self.variables.get(name)), shown(now.variables.get(name)));
            format!("{name} was {before} at initialize and is {after} now; what was read at initialize is in force")
        };
        differing.map(line).collect()
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        let ours = variables.into_iter().filter(|(name, _)| name == SYNC_VARIABLE || name.starts_with(OVERRIDE_PREFIX));
        Environment { variables: ours.collect() }
    }
}
