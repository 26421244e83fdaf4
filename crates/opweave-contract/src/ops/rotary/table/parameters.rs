// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Scalings from the words of a model's configuration.

use super::error::check;
use super::{Llama3, RotaryScaling, RotaryTableError, Yarn};
use crate::nearest;

/// The scalings and the parameters that each has, as configurations call them.
const KINDS: &[(&str, &[&str])] = &[
    ("plain", &[]),
    ("default", &[]),
    ("linear", &["factor"]),
    ("ntk", &["factor"]),
    ("dynamic", &["factor", "original_max_position_embeddings", "sequence_length"]),
    ("llama3", &["factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"]),
    (
        "yarn",
        &[
            "factor",
            "original_max_position_embeddings",
            "beta_fast",
            "beta_slow",
            "attention_factor",
            "mscale",
            "mscale_all_dim",
            "truncate",
        ],
    ),
];

/// The parameters given for one scaling.
struct Given<'a> {
    kind: &'static str,
    values: &'a [(&'a str, f64)],
}

impl Given<'_> {
    fn get(&self, name: &str) -> Option<f64> {
        self.values.iter().rev().find(|(given, _)| *given == name).map(|&(_, value)| value)
    }

    fn need(&self, name: &'static str) -> Result<f64, RotaryTableError> {
        self.get(name).ok_or(RotaryTableError::Missing { kind: self.kind, name })
    }

    /// A count: a whole number that f64 holds exactly.
    fn count(&self, name: &'static str) -> Result<usize, RotaryTableError> {
        let value = self.need(name)?;
        let whole = (0.0..=9e15).contains(&value) && value.fract() == 0.0;
        check(name, value, whole, || "a whole number, >= 0".to_owned())?;
        Ok(value as usize)
    }
}

impl RotaryScaling {
    /// The scaling of a configuration: its `rope_type` and its parameters by their names there. Flags are 0 or 1.
    ///
    /// A scaling that is not known is an error, and so is a parameter that the scaling would not use: taken for plain, a model
    /// runs and is wrong past its original context only.
    ///
    /// # Errors
    /// [`RotaryTableError`]; ranges are checked when the table is built.
    pub fn from_parameters(kind: &str, parameters: &[(&str, f64)]) -> Result<RotaryScaling, RotaryTableError> {
        let Some(&(kind, known)) = KINDS.iter().find(|(name, _)| *name == kind) else {
            let names = || KINDS.iter().map(|(name, _)| *name);
            let hint = nearest(kind, names()).map_or_else(String::new, |n| format!("; did you mean `{n}`?"));
            return Err(RotaryTableError::Kind {
                name: kind.to_owned(),
                known: names().collect::<Vec<_>>().join(", "),
                hint,
            });
        };
        if let Some((name, _)) = parameters.iter().find(|(name, _)| !known.contains(name)) {
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(RotaryTableError::Unknown { kind, name: (*name).to_owned(), known });
        }
        let given = Given { kind, values: parameters };
        let original = || given.count("original_max_position_embeddings");
        Ok(match kind {
            "linear" => RotaryScaling::Linear { factor: given.need("factor")? },
            "ntk" => RotaryScaling::Ntk { factor: given.need("factor")? },
            "dynamic" => RotaryScaling::DynamicNtk {
                factor: given.need("factor")?,
                original_max_position: original()?,
                sequence_length: given.count("sequence_length")?,
            },
            "llama3" => RotaryScaling::Llama3(Llama3 {
                factor: given.need("factor")?,
                low_freq_factor: given.need("low_freq_factor")?,
                high_freq_factor: given.need("high_freq_factor")?,
                original_max_position: original()?,
            }),
            "yarn" => {
                let paper = Yarn::new(given.need("factor")?, original()?);
                let truncate = given.get("truncate").unwrap_or(1.0);
                check("truncate", truncate, truncate == 0.0 || truncate == 1.0, || "0 or 1".to_owned())?;
                RotaryScaling::Yarn(Yarn {
                    beta_fast: given.get("beta_fast").unwrap_or(paper.beta_fast),
                    beta_slow: given.get("beta_slow").unwrap_or(paper.beta_slow),
                    attention_factor: given.get("attention_factor"),
                    mscale: given.get("mscale"),
                    mscale_all_dim: given.get("mscale_all_dim"),
                    truncate: truncate == 1.0,
                    ..paper
                })
            }
            _ => RotaryScaling::Plain,
        })
    }
}
