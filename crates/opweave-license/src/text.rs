// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A file's bytes as text: byte order marks, UTF-16, and what counts as binary.
//!
//! Work is done on bytes, so that one stray Latin-1 letter hides nothing. Only UTF-16 is decoded, since its tags are no
//! ASCII bytes. A file is *binary* if it is not UTF-16 with a byte order mark and holds a NUL among its first 8000
//! bytes, which is git's rule.

use std::borrow::Cow;

/// Bytes that are looked at for a NUL.
const PROBE: usize = 8000;

/// How a file's characters are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// ASCII, UTF-8, or any other superset of ASCII.
    Bytes,
    /// UTF-16, little end first.
    Utf16Le,
    /// UTF-16, big end first.
    Utf16Be,
}

/// The text of a file, or of its beginning.
#[derive(Clone, Debug)]
pub struct Text<'a> {
    /// The characters after the byte order mark: the file's own bytes, or UTF-8 decoded from UTF-16.
    pub bytes: Cow<'a, [u8]>,
    /// How they are stored.
    pub encoding: Encoding,
    /// Length of the byte order mark.
    pub mark: usize,
}

impl<'a> Text<'a> {
    /// Reads `raw`; `None` if it is binary.
    #[must_use]
    pub fn new(raw: &'a [u8]) -> Option<Self> {
        let (encoding, mark) = match raw {
            // UTF-32 with a byte order mark starts like UTF-16 and is none.
            [0xff, 0xfe, 0, 0, ..] => return None,
            [0xff, 0xfe, ..] => (Encoding::Utf16Le, 2),
            [0xfe, 0xff, ..] => (Encoding::Utf16Be, 2),
            [0xef, 0xbb, 0xbf, ..] => (Encoding::Bytes, 3),
            _ => (Encoding::Bytes, 0),
        };
        let rest = &raw[mark..];
        let unit: fn([u8; 2]) -> u16 = match encoding {
            Encoding::Bytes if rest[..rest.len().min(PROBE)].contains(&0) => return None,
            Encoding::Bytes => return Some(Self { bytes: Cow::Borrowed(rest), encoding, mark }),
            Encoding::Utf16Le => u16::from_le_bytes,
            Encoding::Utf16Be => u16::from_be_bytes,
        };
        let units = rest.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        let text: String = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        Some(Self { bytes: Cow::Owned(text.into_bytes()), encoding, mark })
    }

    /// The offset in the file of the byte at `offset` of the text.
    #[must_use]
    pub fn raw_offset(&self, offset: usize) -> usize {
        match self.encoding {
            Encoding::Bytes => self.mark + offset,
            Encoding::Utf16Le | Encoding::Utf16Be => {
                // A lone surrogate was one unit and became one replacement character, which is one unit too.
                let units: usize = String::from_utf8_lossy(&self.bytes[..offset]).chars().map(char::len_utf16).sum();
                self.mark + 2 * units
            }
        }
    }

    /// Text as the file would store it.
    #[must_use]
    pub fn encode(&self, text: &str) -> Vec<u8> {
        match self.encoding {
            Encoding::Bytes => text.as_bytes().to_vec(),
            Encoding::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Encoding::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        }
    }

    /// The line break that most lines of the text end with; a line feed if there is none.
    #[must_use]
    pub fn line_break(&self) -> &'static str {
        let (mut feeds, mut pairs, mut returns) = (0_usize, 0_usize, 0_usize);
        let mut bytes = self.bytes.iter().copied().peekable();
        while let Some(byte) = bytes.next() {
            match byte {
                b'\n' => feeds += 1,
                b'\r' if bytes.peek() == Some(&b'\n') => {
                    bytes.next();
                    pairs += 1;
                }
                b'\r' => returns += 1,
                _ => {}
            }
        }
        if pairs > feeds && pairs >= returns {
            "\r\n"
        } else if returns > feeds {
            "\r"
        } else {
            "\n"
        }
    }
}

/// Where the line that starts at `from` ends, and where the next one starts.
pub(crate) fn line_end(bytes: &[u8], from: usize) -> (usize, usize) {
    match bytes[from..].iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
        None => (bytes.len(), bytes.len()),
        Some(at) => {
            let end = from + at;
            let pair = bytes[end] == b'\r' && bytes.get(end + 1) == Some(&b'\n');
            (end, end + 1 + usize::from(pair))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf16_is_decoded_and_offsets_lead_back() {
        let text = "a\u{e9}\u{1f600}b";
        for (mark, units) in [
            ([0xff, 0xfe], text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>()),
            ([0xfe, 0xff], text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>()),
        ] {
            let raw = [&mark[..], &units].concat();
            let read = Text::new(&raw).unwrap();
            assert_eq!(read.bytes, text.as_bytes());
            assert_eq!(read.raw_offset(text.find('b').unwrap()), raw.len() - 2);
            assert_eq!(read.encode(text), units);
        }
    }

    #[test]
    fn a_nul_makes_a_file_binary_and_a_stray_letter_does_not() {
        assert!(Text::new(b"\0asm").is_none());
        assert!(Text::new(&[0xff, 0xfe, 0, 0, b'a', 0, 0, 0]).is_none());
        assert_eq!(Text::new(b"caf\xe9\n").unwrap().bytes, &b"caf\xe9\n"[..]);
        assert_eq!(Text::new(b"\xef\xbb\xbfx").unwrap().bytes, &b"x"[..]);
    }

    #[test]
    fn the_majority_decides_the_line_break() {
        for (text, wanted) in
            [("a\r\nb\nc\n", "\n"), ("a\r\nb\r\nc\n", "\r\n"), ("a\rb\r", "\r"), ("", "\n"), ("a\r\nb\n", "\n")]
        {
            assert_eq!(Text::new(text.as_bytes()).unwrap().line_break(), wanted, "{text:?}");
        }
    }
}
