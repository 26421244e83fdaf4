// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The alphabet in which vocabularies write bytes: printable ones stand for themselves, the others follow from U+0100 on.

/// Whether a byte stands for itself.
fn stands_for_itself(byte: u8) -> bool {
    matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff)
}

/// The character of a byte.
pub(super) fn shown(byte: u8) -> char {
    if stands_for_itself(byte) {
        return byte.into();
    }
    let place = (0..byte).filter(|b| !stands_for_itself(*b)).count() as u32;
    // At most 68 such bytes: no surrogate is near.
    char::from_u32(0x100 + place).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The byte of a character.
fn byte(c: char) -> Option<u8> {
    match u8::try_from(u32::from(c)) {
        Ok(byte) => stands_for_itself(byte).then_some(byte),
        Err(_) => (0..=u8::MAX).filter(|b| !stands_for_itself(*b)).nth((u32::from(c).checked_sub(0x100)?) as usize),
    }
}

/// The bytes of a token's text; characters outside the alphabet stand for themselves.
pub(super) fn bytes(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for c in text.chars() {
        match byte(c) {
            Some(byte) => out.push(byte),
            None => out.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_a_character_of_its_own() {
        let all: std::collections::HashSet<char> = (0..=u8::MAX).map(shown).collect();
        assert_eq!(all.len(), 256);
        for b in 0..=u8::MAX {
            assert_eq!(byte(shown(b)), Some(b));
        }
        assert_eq!((shown(b' '), shown(b'\n'), shown(0xad)), ('Ġ', 'Ċ', 'Ń'));
        assert_eq!(bytes("Ġa"), b" a");
    }
}
