// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! A name in the ways that code writes it.

use std::str::FromStr;

/// A name such as `rms_norm`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Name(String);

impl Name {
    /// `rms_norm`
    pub(crate) fn snake(&self) -> &str {
        &self.0
    }

    /// `RmsNorm`
    pub(crate) fn camel(&self) -> String {
        self.0
            .split('_')
            .map(|word| {
                let mut letters = word.chars();
                letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
            })
            .collect()
    }

    /// `RMS_NORM`
    pub(crate) fn upper(&self) -> String {
        self.0.to_ascii_uppercase()
    }

    /// `Rms norm`
    pub(crate) fn title(&self) -> String {
        let words = self.0.replace('_', " ");
        words[..1].to_ascii_uppercase() + &words[1..]
    }
}

impl FromStr for Name {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let legal = |word: &str| {
            word.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
                && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        };
        if text.starts_with(|c: char| c.is_ascii_lowercase()) && text.split('_').all(legal) {
            return Ok(Name(text.to_owned()));
        }
        Err("expected lower-case words joined by _, such as rms_norm".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_written_in_each_way() {
        let name: Name = "l2_norm_f8".parse().unwrap();
        assert_eq!(
            (name.camel(), name.upper(), name.title()),
            ("L2NormF8".into(), "L2_NORM_F8".into(), "L2 norm f8".into())
        );
        for bad in ["", "Rms", "rms-norm", "_a", "a__b", "2d", "a_", "a b"] {
            assert!(bad.parse::<Name>().is_err(), "{bad}");
        }
    }
}
