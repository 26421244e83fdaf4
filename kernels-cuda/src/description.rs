// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a kernel is, beside its source: one file that declaration, needs, build, licence and documents read.

use serde::Deserialize;

use crate::DescriptionError;

/// Targets that the build knows: machine code for one capability, or PTX for a capability and all later ones.
pub(crate) const TARGETS: [&str; 4] = ["sm_80", "sm_90a", "sm_100a", "compute_80"];
const DTYPES: [&str; 3] = ["f32", "f16", "bf16"];
const VERSION: u32 = 1;

/// A kernel's description, `FAMILY/STEM.toml` beside `FAMILY/STEM.cu`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Version of the format.
    pub schema_version: u32,
    /// Name of the source and of the image, unique among all families.
    pub stem: String,
    /// The folder, which is the operators' family.
    pub family: String,
    /// Operators that the kernel serves.
    pub operators: Vec<String>,
    /// What it computes.
    pub summary: String,
    /// dtypes of activations that there are entries for.
    pub dtypes: Vec<String>,
    /// What the image holds.
    pub targets: Vec<String>,
    /// Targets whose code waits by itself for the launch before: only there may a launch be a dependent one.
    pub dependent_launch: Vec<String>,
    /// Targets whose code shares a row between the blocks of a cluster: only there may blocks be launched in clusters.
    #[serde(default)]
    pub clusters: Vec<String>,
    /// The entries' only parameter.
    pub parameters: Parameters,
    /// Where the code comes from.
    pub provenance: Provenance,
    /// The entries of each dtype.
    #[serde(rename = "variant")]
    pub variants: Vec<Variant>,
}

/// The struct that every entry takes by value.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Its name.
    #[serde(rename = "struct")]
    pub name: String,
    /// The header that defines it, from the package's root.
    pub header: String,
    /// Its size, which that header asserts.
    pub bytes: usize,
}

/// Licence and origin of the code.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// SPDX expression.
    pub licence: String,
    /// What it was written for or taken from.
    pub origin: String,
}

/// Who shares a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Team {
    /// `blockDim.x` lanes of a warp, a power of two up to 32; a block holds `blockDim.y` rows.
    Lanes,
    /// A whole block, of a multiple of 32 threads.
    Block,
}

/// An entry that exists for each dtype.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// End of the entry's name.
    pub suffix: String,
    /// Who shares a row.
    pub team: Team,
    /// Vectors of 16 bytes of a row that each thread keeps in registers; 0: none are kept, and any width will do.
    pub vectors_per_thread: usize,
    /// The most threads of a block.
    pub max_block: usize,
    /// Whether speed depends on it: then it must not spill registers.
    pub hot: bool,
}

/// An entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Its symbol.
    pub name: String,
    /// dtype of the activations.
    pub dtype: &'a str,
    /// How it goes about it.
    pub variant: &'a Variant,
}

impl Description {
    /// Reads a description.
    ///
    /// # Errors
    /// If the text is not TOML with exactly these fields, or a value is outside its legal set.
    pub fn parse(text: &str) -> Result<Description, DescriptionError> {
        let description: Description = toml::from_str(text)?;
        match description.problem() {
            None => Ok(description),
            Some(why) => Err(DescriptionError::Meaning { stem: description.stem, why }),
        }
    }

    /// The source, from the package's root.
    #[must_use]
    pub fn source(&self) -> String {
        format!("{}/{}.cu", self.family, self.stem)
    }

    /// The entries, `opweave_STEM_DTYPE_SUFFIX`.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry<'_>> {
        let pairs = self.dtypes.iter().flat_map(|dtype| self.variants.iter().map(move |variant| (dtype, variant)));
        pairs.map(|(dtype, variant)| Entry { name: self.symbol(dtype, &variant.suffix), dtype, variant }).collect()
    }

    /// The symbol of an entry.
    #[must_use]
    pub fn symbol(&self, dtype: &str, suffix: &str) -> String {
        format!("opweave_{}_{dtype}_{suffix}", self.stem)
    }

    fn problem(&self) -> Option<String> {
        if self.schema_version != VERSION {
            return Some(format!("schema_version {}, wanted {VERSION}", self.schema_version));
        }
        let is_name = |text: &str| {
            !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        };
        for (field, text) in [("stem", &self.stem), ("family", &self.family)] {
            if !is_name(text) {
                return Some(format!("{field} {text:?} is not of a-z, 0-9 and _"));
            }
        }
        let lists: [(&str, &[String], &[&str]); 4] = [
            ("dtypes", &self.dtypes, &DTYPES),
            ("targets", &self.targets, &TARGETS),
            ("dependent_launch", &self.dependent_launch, &TARGETS),
            ("clusters", &self.clusters, &TARGETS),
        ];
        for (field, values, legal) in lists {
            if let Some(value) = values.iter().find(|value| !legal.contains(&value.as_str())) {
                return Some(format!("{field} holds {value:?}, known are {}", legal.join(", ")));
            }
        }
        if self.operators.is_empty() || self.dtypes.is_empty() || self.targets.is_empty() || self.variants.is_empty() {
            return Some("operators, dtypes, targets and variants must not be empty".into());
        }
        for (field, values) in [("dependent_launch", &self.dependent_launch), ("clusters", &self.clusters)] {
            if let Some(target) = values.iter().find(|target| !self.targets.contains(target)) {
                return Some(format!("{field} holds {target:?}, which is no target of the image"));
            }
        }
        self.variants.iter().enumerate().find_map(|(at, variant)| {
            let suffix = &variant.suffix;
            if !is_name(suffix) || self.variants[..at].iter().any(|other| other.suffix == *suffix) {
                return Some(format!("variant suffix {suffix:?} is no name, or not the only one"));
            }
            let legal = variant.max_block.is_multiple_of(32) && (32..=1024).contains(&variant.max_block);
            (!legal).then(|| {
                format!("variant {suffix}: max_block {}, wanted a multiple of 32 up to 1024", variant.max_block)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
schema_version = 1
stem = "twice"
family = "examples"
operators = ["twice"]
summary = "out = 2 * input"
dtypes = ["f32", "bf16"]
targets = ["sm_90a", "compute_80"]
dependent_launch = ["sm_90a"]
[parameters]
struct = "TwiceParams"
header = "include/opweave/twice_params.cuh"
bytes = 24
[provenance]
licence = "Apache-2.0"
origin = "written for opweave"
[[variant]]
suffix = "v1"
team = "block"
vectors_per_thread = 1
max_block = 256
hot = true
[[variant]]
suffix = "loop"
team = "lanes"
vectors_per_thread = 0
max_block = 1024
hot = false
"#;

    #[test]
    fn entries_are_dtypes_times_variants() {
        let description = Description::parse(GOOD).unwrap();
        let names: Vec<String> = description.entries().into_iter().map(|entry| entry.name).collect();
        assert_eq!(
            names,
            ["opweave_twice_f32_v1", "opweave_twice_f32_loop", "opweave_twice_bf16_v1", "opweave_twice_bf16_loop"]
        );
        assert_eq!(description.source(), "examples/twice.cu");
    }

    #[test]
    fn what_is_wrong_is_said_with_the_legal_set() {
        for (from, to, wanted) in [
            ("schema_version = 1", "schema_version = 2", "schema_version 2, wanted 1"),
            ("stem = \"twice\"", "stem = \"../twice\"", "stem \"../twice\" is not of a-z"),
            ("\"bf16\"", "\"f64\"", "dtypes holds \"f64\", known are f32, f16, bf16"),
            ("\"compute_80\"", "\"sm_90\"", "targets holds \"sm_90\", known are sm_80, sm_90a"),
            ("dependent_launch = [\"sm_90a\"]", "dependent_launch = [\"sm_80\"]", "which is no target of the image"),
            (
                "[parameters]",
                "clusters = [\"sm_100a\"]\n[parameters]",
                "clusters holds \"sm_100a\", which is no target of the image",
            ),
            ("suffix = \"loop\"", "suffix = \"v1\"", "variant suffix \"v1\""),
            ("max_block = 256", "max_block = 250", "max_block 250, wanted a multiple of 32"),
            ("operators = [\"twice\"]", "operators = []", "must not be empty"),
            ("hot = true", "hot = true\ncold = false", "unknown field `cold`"),
            ("team = \"block\"", "team = \"grid\"", "unknown variant `grid`"),
            ("bytes = 24", "", "missing field `bytes`"),
        ] {
            assert!(GOOD.contains(from), "{from}");
            let error = Description::parse(&GOOD.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(error.contains(wanted), "{to}: {error}");
        }
    }
}
