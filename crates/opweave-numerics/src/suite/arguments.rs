// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Command-line arguments that a suite adds to the shared ones.

use std::collections::BTreeMap;

use opweave_contract::nearest;

/// The names that `opweave numerics` and `opweave bench` give to their own options: no suite may take one.
pub const SHARED_ARGUMENTS: &[&str] = &[
    "operation",
    "device",
    "mode",
    "implementation",
    "label",
    "tier",
    "seed",
    "grade",
    "tensors",
    "repeat",
    "batch_invariance",
    "revision",
    "output",
    "timer",
    "rounds",
    "cooldown",
    "warmup_ms",
    "repeat_ms",
    "iterations",
    "baseline",
    "help",
    "verbose",
    "version",
    "list",
    "distributed",
    "rank_limit",
    "json",
    "threads",
];

/// What an argument's value must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgumentKind {
    /// A number of at least this much and at most that.
    Integer(u64, u64),
    /// One of these words.
    Words(&'static [&'static str]),
}

impl ArgumentKind {
    fn admits(self, value: &str) -> bool {
        match self {
            ArgumentKind::Integer(least, most) => value.parse().is_ok_and(|n: u64| (least..=most).contains(&n)),
            ArgumentKind::Words(words) => words.contains(&value),
        }
    }

    /// The legal values in words.
    pub fn legal(self) -> String {
        match self {
            ArgumentKind::Integer(least, most) => format!("an integer from {least} to {most}"),
            ArgumentKind::Words(words) => format!("one of {}", words.join(", ")),
        }
    }
}

/// One argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SuiteArgument {
    /// Its name, with underscores; the command line shows dashes.
    pub name: &'static str,
    /// What its value must be.
    pub kind: ArgumentKind,
    /// What it does.
    pub help: &'static str,
}

/// An argument that a suite does not have, or a value that it does not take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// None of the chosen suites has it.
    #[error("suite argument `{name}` is unknown; expected one of {known}{hint}")]
    Unknown {
        /// The name given.
        name: String,
        /// The names there are.
        known: String,
        /// The nearest spelling, as a phrase, or empty.
        hint: String,
    },
    /// The value is not legal.
    #[error("suite argument `{name}` cannot be `{value}`; expected {legal}")]
    Value {
        /// The argument.
        name: String,
        /// Its value.
        value: String,
        /// What is legal.
        legal: String,
    },
}

/// Values for one suite's arguments.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SuiteArguments(BTreeMap<&'static str, String>);

impl SuiteArguments {
    /// Takes the pairs that belong to `declared` and leaves the others to other suites.
    ///
    /// # Errors
    /// [`ArgumentError::Value`] for a value that is not legal.
    pub fn take(declared: &[SuiteArgument], pairs: &[(String, String)]) -> Result<SuiteArguments, ArgumentError> {
        let mut taken = BTreeMap::new();
        for (name, value) in pairs {
            let plain = name.replace('-', "_");
            let Some(argument) = declared.iter().find(|a| a.name == plain) else { continue };
            if !argument.kind.admits(value) {
                let (name, value, legal) = (name.clone(), value.clone(), argument.kind.legal());
                return Err(ArgumentError::Value { name, value, legal });
            }
            taken.insert(argument.name, value.clone());
        }
        Ok(SuiteArguments(taken))
    }

    /// Refuses pairs that none of the declared arguments takes.
    ///
    /// # Errors
    /// [`ArgumentError::Unknown`] with the nearest spelling.
    pub fn check_known(declared: &[SuiteArgument], pairs: &[(String, String)]) -> Result<(), ArgumentError> {
        let known: Vec<&str> = declared.iter().map(|a| a.name).collect();
        let Some((name, _)) = pairs.iter().find(|(name, _)| !known.contains(&name.replace('-', "_").as_str())) else {
            return Ok(());
        };
        let hint = nearest(name, known.iter().copied()).map_or_else(String::new, |n| format!("; did you mean `{n}`?"));
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Err(ArgumentError::Unknown { name: name.clone(), known, hint })
    }

    /// The value of an argument, if one was given.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The value of an integer argument, if one was given.
    pub fn integer(&self, name: &str) -> Option<usize> {
        self.get(name)?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECLARED: &[SuiteArgument] = &[
        SuiteArgument { name: "hidden_size", kind: ArgumentKind::Integer(1, 100), help: "" },
        SuiteArgument { name: "form", kind: ArgumentKind::Words(&["a", "b"]), help: "" },
    ];

    fn pair(name: &str, value: &str) -> Vec<(String, String)> {
        vec![(name.to_owned(), value.to_owned())]
    }

    #[test]
    fn values_are_checked_and_foreign_names_left_alone() {
        let taken = SuiteArguments::take(DECLARED, &pair("hidden-size", "77")).unwrap();
        assert_eq!((taken.integer("hidden_size"), taken.get("form")), (Some(77), None));
        assert_eq!(SuiteArguments::take(DECLARED, &pair("other", "1")).unwrap(), SuiteArguments::default());
        for (name, value) in [("hidden_size", "0"), ("hidden_size", "x"), ("hidden_size", "101"), ("form", "c")] {
            let error = SuiteArguments::take(DECLARED, &pair(name, value)).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains(&format!("`{value}`")), "{error}");
        }
    }

    #[test]
    fn unknown_names_get_the_nearest_spelling() {
        assert_eq!(SuiteArguments::check_known(DECLARED, &pair("form", "a")), Ok(()));
        let error = SuiteArguments::check_known(DECLARED, &pair("hiden_size", "3")).unwrap_err().to_string();
        assert!(error.contains("did you mean `hidden_size`"), "{error}");
    }
}
