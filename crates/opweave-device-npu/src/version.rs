// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Versions of CANN.

use std::fmt;

/// A version as CANN writes it: `8.0.0`, `8.2.RC1`, `8.3.RC1.alpha002`. Its first two numbers count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Version {
    major: u32,
    minor: u32,
    text: String,
}

/// Text that is no version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no version of CANN; expected two numbers with a point, such as 8.2.RC1")]
pub struct VersionError {
    /// The text.
    pub text: String,
}

impl Version {
    /// The oldest version that the rows have been written for.
    pub const OLDEST: &'static str = "8.0";

    /// Reads a version.
    ///
    /// # Errors
    /// [`VersionError`].
    pub fn parse(text: &str) -> Result<Self, VersionError> {
        let text = text.trim();
        let fail = || VersionError { text: text.to_owned() };
        let mut parts = text.split('.');
        let mut number = || parts.next().and_then(|part| part.parse().ok()).ok_or_else(fail);
        Ok(Version { major: number()?, minor: number()?, text: text.to_owned() })
    }

    /// Whether it is this version or a newer one, by the first two numbers.
    pub fn is_at_least(&self, other: &Version) -> bool {
        (self.major, self.minor) >= (other.major, other.minor)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared_by_two_numbers() {
        let version = |text| Version::parse(text).expect("a version");
        assert!(version("8.0.RC3").is_at_least(&version(Version::OLDEST)));
        assert!(version("8.10.0").is_at_least(&version("8.2")));
        assert!(version("9.0").is_at_least(&version("8.5.1")));
        assert!(!version("7.3.0").is_at_least(&version("8.0")));
        assert_eq!(version(" 8.2.RC1.alpha002\n").to_string(), "8.2.RC1.alpha002");
    }

    #[test]
    fn what_is_no_version_is_refused_with_its_text() {
        for text in ["", "8", "eight.0", "8.", "8.RC1"] {
            assert_eq!(Version::parse(text).unwrap_err().text, text);
        }
    }
}
