// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a run is asked to do: the options of `opweave numerics`, as a value.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::input::{DEFAULT_SEED, Grade};

macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $error:ident, $what:literal: $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$variant_doc])* $variant,)* }

        impl $name {
            /// Every value, in declaration order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The word used in reports and on the command line.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        #[doc = concat!("A word that is no ", $what, ".")]
        #[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
        #[error("{what} `{0}` is unknown; expected one of {list}", what = $what, list = [$($word),*].join(", "))]
        pub struct $error(pub String);

        impl FromStr for $name {
            type Err = $error;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $name::ALL.iter().copied().find(|v| v.name() == text).ok_or_else(|| $error(text.to_owned()))
            }
        }
    };
}

words! {
    /// How calls reach the device.
    Mode, ParseModeError, "mode":
    /// One enqueue at a time.
    Eager = "eager",
    /// Captured once, replayed after the inputs changed in place.
    Graph = "graph",
}

words! {
    /// How much of a suite runs. Each tier contains those before it.
    Tier, ParseTierError, "tier":
    /// A few cases: does it work at all.
    Smoke = "smoke",
    /// What every change is held to: at most 3 s per operator on two cores.
    Default = "default",
    /// Everything, the large cases included.
    Full = "full",
}

/// The options of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Operations by name; empty for all that have a suite.
    pub operations: Vec<String>,
    /// The device, as `cpu` or `cuda:0`.
    pub device: String,
    /// Execution mode.
    pub mode: Mode,
    /// One implementation by full name, or a solution (`native`, `cpu.native`); none for every implementation that is
    /// available on the device.
    pub implementation: Option<String>,
    /// A glob over case labels (`*` and `?`); none for all.
    pub label: Option<String>,
    /// The largest tier that runs.
    pub tier: Tier,
    /// The seed of the inputs.
    pub seed: u64,
    /// Their grade, where a case does not ask for one of its own.
    pub grade: Grade,
    /// The safetensors file of grade `real`.
    pub tensors: Option<PathBuf>,
    /// Runs of each case that must agree bit for bit where the implementation is deterministic; at least 1.
    pub repeat: u32,
    /// Whether rows are also run alone and compared with themselves in the batch, where the implementation claims it.
    pub batch_invariance: bool,
    /// What the report says about the source revision, instead of asking git.
    pub revision: Option<String>,
    /// What it says about the compiler on the path, instead of asking it.
    pub rustc: Option<String>,
    /// Where the JSON report goes; the Markdown report gets the same name with `.md`. None writes nothing.
    pub output: Option<PathBuf>,
    /// Arguments of the suites themselves, as `name=value`.
    pub suite_arguments: Vec<(String, String)>,
    /// Milliseconds after which a case is given up; checked between calls.
    pub case_limit_ms: u64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            operations: Vec::new(),
            device: "cpu".to_owned(),
            mode: Mode::Eager,
            implementation: None,
            label: None,
            tier: Tier::Default,
            seed: DEFAULT_SEED,
            grade: Grade::Normal,
            tensors: None,
            repeat: 1,
            batch_invariance: false,
            revision: None,
            rustc: None,
            output: None,
            suite_arguments: Vec::new(),
            case_limit_ms: 60_000,
        }
    }
}

impl Config {
    /// The command line that asks for the same on one case: what a report prints beside it.
    pub fn command_for(&self, operation: &str, label: &str, implementation: Option<&str>) -> String {
        let mut words = vec!["opweave".to_owned(), "numerics".to_owned()];
        let mut option = |name: &str, value: &str| words.extend([format!("--{name}"), quoted(value)]);
        option("operation", operation);
        option("label", label);
        option("device", &self.device);
        if let Some(implementation) = implementation.or(self.implementation.as_deref()) {
            option("implementation", implementation);
        }
        self.push_common(&mut option);
        option("tier", Tier::Full.name());
        if self.batch_invariance {
            words.push("--batch-invariance".to_owned());
        }
        words.join(" ")
    }

    /// The command line of the whole run.
    pub fn command(&self) -> String {
        let mut words = vec!["opweave".to_owned(), "numerics".to_owned()];
        let mut option = |name: &str, value: &str| words.extend([format!("--{name}"), quoted(value)]);
        self.operations.iter().for_each(|operation| option("operation", operation));
        option("device", &self.device);
        if let Some(implementation) = &self.implementation {
            option("implementation", implementation);
        }
        if let Some(label) = &self.label {
            option("label", label);
        }
        self.push_common(&mut option);
        option("tier", self.tier.name());
        if self.batch_invariance {
            words.push("--batch-invariance".to_owned());
        }
        words.join(" ")
    }

    fn push_common(&self, option: &mut impl FnMut(&str, &str)) {
        option("mode", self.mode.name());
        option("seed", &self.seed.to_string());
        option("grade", self.grade.name());
        if let Some(tensors) = &self.tensors {
            option("tensors", &tensors.display().to_string());
        }
        if self.repeat != 1 {
            option("repeat", &self.repeat.to_string());
        }
        for (name, value) in &self.suite_arguments {
            option(&name.replace('_', "-"), value);
        }
    }
}

/// A word as a POSIX shell reads it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_round_trip_and_unknown_ones_list_the_known() {
        for &mode in Mode::ALL {
            assert_eq!(mode.name().parse(), Ok(mode));
        }
        for &tier in Tier::ALL {
            assert_eq!(tier.name().parse(), Ok(tier));
        }
        assert!(Tier::Smoke < Tier::Default && Tier::Default < Tier::Full);
        let error = "fast".parse::<Tier>().unwrap_err().to_string();
        assert_eq!(error, "tier `fast` is unknown; expected one of smoke, default, full");
    }

    #[test]
    fn the_command_of_a_case_names_everything_that_decides_its_numbers() {
        let config = Config {
            grade: Grade::Real,
            tensors: Some("a model/x.safetensors".into()),
            repeat: 3,
            batch_invariance: true,
            suite_arguments: vec![("hidden_size".into(), "77".into())],
            ..Config::default()
        };
        assert_eq!(
            config.command_for("rms_norm", "t4_h77_bf16", Some("cpu.native.rms_norm.avx2")),
            "opweave numerics --operation rms_norm --label t4_h77_bf16 --device cpu \
             --implementation cpu.native.rms_norm.avx2 --mode eager --seed 5309 --grade real \
             --tensors 'a model/x.safetensors' --repeat 3 --hidden-size 77 --tier full --batch-invariance"
        );
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
