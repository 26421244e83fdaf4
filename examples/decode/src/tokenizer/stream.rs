// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Text as it comes: characters whose bytes are spread over several tokens are held back until they are whole.

/// Bytes in, whole characters out. Bytes that are no UTF-8 become U+FFFD, as soon as that is known.
#[derive(Default, Debug)]
pub struct TextStream {
    held: Vec<u8>,
}

impl TextStream {
    /// Appends the text that is whole after `bytes` to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut String) {
        self.held.extend_from_slice(bytes);
        let mut used = 0;
        for chunk in self.held.utf8_chunks() {
            out.push_str(chunk.valid());
            used += chunk.valid().len();
            let broken = chunk.invalid();
            // What is broken at the very end may be the beginning of a character.
            let may_continue = used + broken.len() == self.held.len() && begins_a_character(broken);
            if !broken.is_empty() && !may_continue {
                out.push(char::REPLACEMENT_CHARACTER);
                used += broken.len();
            }
        }
        self.held.drain(..used);
    }

    /// Appends what is left at the end.
    pub fn finish(&mut self, out: &mut String) {
        out.push_str(&String::from_utf8_lossy(&self.held));
        self.held.clear();
    }
}

/// Whether bytes, already known to be no character, could become one.
fn begins_a_character(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(parts: &[&[u8]]) -> Vec<String> {
        let mut stream = TextStream::default();
        let mut out: Vec<String> = Vec::new();
        for part in parts {
            let mut text = String::new();
            stream.push(part, &mut text);
            out.push(text);
        }
        let mut rest = String::new();
        stream.finish(&mut rest);
        out.push(rest);
        out
    }

    #[test]
    fn a_character_is_shown_once_it_is_whole() {
        let crab = "🦀".as_bytes();
        assert_eq!(pushed(&[b"a", &crab[..1], &crab[1..3], &crab[3..], b"b"]), ["a", "", "", "🦀", "b", ""]);
    }

    #[test]
    fn what_is_no_character_is_replaced() {
        assert_eq!(pushed(&[b"a\xffb"]), ["a\u{fffd}b", ""]);
        assert_eq!(pushed(&[b"\xf0\x9f", b"x"]), ["", "\u{fffd}x", ""]);
        assert_eq!(pushed(&[b"\xf0\x9f"]), ["", "\u{fffd}"]);
    }
}
