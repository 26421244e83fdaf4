// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Which devices a compiled kernel image runs on.

use std::fmt;
use std::str::FromStr;

use crate::Capability;

/// What an image was compiled for, in NVIDIA's spelling.
///
/// The rules are those of the CUDA C++ programming guide on binary and PTX compatibility.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum ImageTarget {
    /// `sm_XY`: machine code for the same major with an equal or higher minor.
    Binary(Capability),
    /// `sm_XYa`: architecture-specific machine code, for exactly this capability.
    Specific(Capability),
    /// `sm_XYf`: family-specific machine code, for the same major with an equal or higher minor.
    Family(Capability),
    /// `compute_XY`: PTX, for this capability and every later one.
    Ptx(Capability),
}

impl ImageTarget {
    /// Whether the image runs on a device that reports `device`.
    pub fn runs_on(self, device: Capability) -> bool {
        match self {
            ImageTarget::Binary(c) | ImageTarget::Family(c) => device.major == c.major && device.minor >= c.minor,
            ImageTarget::Specific(c) => device == c,
            ImageTarget::Ptx(c) => device >= c,
        }
    }
}

impl fmt::Display for ImageTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (prefix, c, suffix) = match self {
            ImageTarget::Binary(c) => ("sm", c, ""),
            ImageTarget::Specific(c) => ("sm", c, "a"),
            ImageTarget::Family(c) => ("sm", c, "f"),
            ImageTarget::Ptx(c) => ("compute", c, ""),
        };
        write!(f, "{prefix}_{}{}{suffix}", c.major, c.minor)
    }
}

/// Text that is no image target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("image target `{text}` is not understood; {hint}")]
pub struct ParseTargetError {
    /// The offending text.
    pub text: String,
    /// What to write instead.
    pub hint: String,
}

impl FromStr for ImageTarget {
    type Err = ParseTargetError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let general = "expected sm_90, sm_90a, sm_100f or compute_90";
        let error = |hint: String| ParseTargetError { text: text.to_owned(), hint };
        let Some((prefix, number)) = text.split_once('_') else {
            return Err(error(match bare_capability(text) {
                Some(n) => format!("write sm_{n} or compute_{n}"),
                None => general.to_owned(),
            }));
        };
        let (digits, suffix) = match number.strip_suffix(['a', 'f']) {
            Some(digits) => (digits, &number[digits.len()..]),
            None => (number, ""),
        };
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(error(general.to_owned()));
        }
        // The last digit is the minor: 103 is 10.3. One digit alone, as in sm_9, names a major without its minor.
        let (major, minor) = digits.split_at(digits.len() - 1);
        if major.is_empty() {
            return Err(error(format!("the minor is missing; did you mean {prefix}_{digits}0{suffix}?")));
        }
        let parse = |part: &str| part.parse::<u8>().map_err(|_| error(general.to_owned()));
        let capability = Capability { major: parse(major)?, minor: parse(minor)? };
        if capability.major < 5 {
            let hint =
                format!("{capability} is older than any device in use; did you mean {prefix}_{digits}0{suffix}?");
            return Err(error(hint));
        }
        match (prefix, suffix) {
            ("sm", "") => Ok(ImageTarget::Binary(capability)),
            ("sm", "a") => Ok(ImageTarget::Specific(capability)),
            ("sm", "f") => Ok(ImageTarget::Family(capability)),
            ("compute", "") => Ok(ImageTarget::Ptx(capability)),
            _ => Err(error(general.to_owned())),
        }
    }
}

/// The digits of a target for a capability without its prefix: `9`, `10`, `90`, `100` and `10.0` name 9.0 or 10.0.
fn bare_capability(text: &str) -> Option<u16> {
    match text.split_once('.') {
        Some((major, minor)) if minor.len() == 1 => format!("{major}{minor}").parse().ok(),
        Some(_) => None,
        None => text.parse::<u16>().ok().map(|n| if n < 50 { n * 10 } else { n }),
    }
}
