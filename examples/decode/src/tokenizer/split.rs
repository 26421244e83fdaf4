// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Words: the patterns by which models cut text before any merge, as scanners.
//!
//! A pattern is known by its name in GGUF files and by its regular expression in `tokenizer.json`. Another one is refused:
//! a text cut otherwise has other tokens.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};
use serde_json::Value;

/// How a text is cut into words.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Split {
    /// GPT-2: contractions, and letters, numbers or other characters with at most one space before them.
    #[default]
    Gpt2,
    /// SmolLM: every digit alone, the text between them as GPT-2.
    Digits,
    /// Llama 3: letters with one character of any other kind before them, up to three digits, line ends with what precedes.
    Llama3,
    /// Qwen 2: as Llama 3 with every digit alone.
    Qwen2,
}

/// Names in GGUF files.
const NAMES: [(&str, Split); 6] = [
    ("gpt-2", Split::Gpt2),
    ("smollm", Split::Digits),
    ("llama-bpe", Split::Llama3),
    ("llama3", Split::Llama3),
    ("llama-v3", Split::Llama3),
    ("qwen2", Split::Qwen2),
];

const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const QWEN2: &str =
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

impl Split {
    pub(super) fn of_gguf(name: &str) -> Option<Split> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, split)| *split)
    }

    pub(super) fn gguf_names() -> String {
        NAMES.map(|(name, _)| format!("{name:?}")).join(", ")
    }

    /// The pattern that a `pre_tokenizer` is, if it is one of these.
    pub(super) fn of_json(value: &Value) -> Option<Split> {
        let is_bytes = |value: &Value, cuts: bool| {
            value["type"] == "ByteLevel"
                && value["add_prefix_space"] == false
                && value["use_regex"].as_bool().unwrap_or(true) == cuts
        };
        if is_bytes(value, true) {
            return Some(Split::Gpt2);
        }
        let [first, second] = value["pretokenizers"].as_array()?.as_slice() else { return None };
        if value["type"] != "Sequence" {
            return None;
        }
        if first["type"] == "Digits" && first["individual_digits"] == true && is_bytes(second, true) {
            return Some(Split::Digits);
        }
        let cuts = first["type"] == "Split" && first["behavior"] == "Isolated" && first["invert"] == false;
        if !cuts || !is_bytes(second, false) {
            return None;
        }
        match first["pattern"]["Regex"].as_str()? {
            LLAMA3 => Some(Split::Llama3),
            QWEN2 => Some(Split::Qwen2),
            _ => None,
        }
    }

    pub(super) fn json_names() -> String {
        "ByteLevel, alone or after Digits, or after a Split by the pattern of Llama 3 or Qwen 2".to_owned()
    }

    /// Whether a word that is a token is not merged from its bytes.
    pub(super) fn whole_words(self) -> bool {
        self == Split::Llama3
    }

    /// Whether a text begins with a special token where the file does not say.
    pub(super) fn adds_begin(self) -> bool {
        self == Split::Llama3
    }

    /// The words of a text, one after the other.
    pub fn words(self, text: &str) -> Vec<&str> {
        let mut words = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            // Digits are cut out first, so that nothing looks past them.
            let fragment = match self {
                Split::Digits => match rest.find(char::is_numeric) {
                    Some(0) => rest.chars().next().map_or(rest.len(), char::len_utf8),
                    Some(at) => at,
                    None => rest.len(),
                },
                _ => rest.len(),
            };
            let (mut inside, after) = rest.split_at(fragment);
            while !inside.is_empty() {
                let length = match self {
                    Split::Gpt2 | Split::Digits => gpt2(inside),
                    Split::Llama3 => llama3(inside, 3),
                    Split::Qwen2 => llama3(inside, 1),
                };
                let (word, next) = inside.split_at(length);
                words.push(word);
                inside = next;
            }
            rest = after;
        }
        words
    }
}

/// General category L.
static LETTERS: LazyLock<Vec<(char, char)>> = LazyLock::new(|| {
    let parsed = regex_syntax::parse(r"\p{L}").expect("the table of general categories is compiled in");
    match parsed.into_kind() {
        HirKind::Class(Class::Unicode(class)) => class.ranges().iter().map(|r| (r.start(), r.end())).collect(),
        other => unreachable!("a general category is a class of characters, not {other:?}"),
    }
});

fn is_letter(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphabetic();
    }
    let after = LETTERS.partition_point(|(first, _)| *first <= c);
    after > 0 && c <= LETTERS[after - 1].1
}

/// Neither space, letter nor number.
fn is_other(c: char) -> bool {
    !c.is_whitespace() && !is_letter(c) && !c.is_numeric()
}

/// Bytes at the beginning of `text` whose characters are all so.
fn run(text: &str, is: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is(c)).unwrap_or(text.len())
}

/// An apostrophe and the ending of a contraction.
fn contraction(text: &str, any_case: bool) -> Option<usize> {
    let rest = text.strip_prefix('\'')?;
    ["s", "t", "re", "ve", "m", "ll", "d"].into_iter().find_map(|ending| {
        let mut chars = rest.chars();
        let mut length = 1;
        for wanted in ending.chars() {
            let c = chars.next()?;
            // The long s is an s in another case.
            let same = c == wanted || (any_case && (c.eq_ignore_ascii_case(&wanted) || (c == 'ſ' && wanted == 's')));
            if !same {
                return None;
            }
            length += c.len_utf8();
        }
        Some(length)
    })
}

/// White space: all of it at the end of the text, else all but the last character, which belongs to what follows; one
/// character if it is alone.
fn spaces(text: &str) -> usize {
    let all = run(text, char::is_whitespace);
    if all == text.len() {
        return all;
    }
    let last = text[..all].chars().next_back().map_or(0, char::len_utf8);
    if all > last { all - last } else { all }
}

/// Length of the first word by the pattern of GPT-2:
/// `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`.
fn gpt2(text: &str) -> usize {
    if let Some(length) = contraction(text, false) {
        return length;
    }
    let space = usize::from(text.starts_with(' '));
    let rest = &text[space..];
    for length in [run(rest, is_letter), run(rest, char::is_numeric), run(rest, is_other)] {
        if length > 0 {
            return space + length;
        }
    }
    spaces(text)
}

/// Length of the first word by the pattern of Llama 3, with at most `digits` digits in a word.
fn llama3(text: &str, digits: usize) -> usize {
    if let Some(length) = contraction(text, true) {
        return length;
    }
    let Some(first) = text.chars().next() else { return 0 };
    let before =
        if matches!(first, '\r' | '\n') || is_letter(first) || first.is_numeric() { 0 } else { first.len_utf8() };
    let letters = run(&text[before..], is_letter);
    if letters > 0 {
        return before + letters;
    }
    if first.is_numeric() {
        return text.chars().take(digits).take_while(|c| c.is_numeric()).map(char::len_utf8).sum();
    }
    let space = usize::from(first == ' ');
    let others = run(&text[space..], is_other);
    if others > 0 {
        let end = space + others;
        return end + run(&text[end..], |c| matches!(c, '\r' | '\n'));
    }
    let all = run(text, char::is_whitespace);
    match text[..all].rfind(['\r', '\n']) {
        Some(last) => last + 1,
        None => spaces(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_gpt2() {
        let words = |text| Split::Gpt2.words(text);
        assert_eq!(words("Hello  world's 1234"), ["Hello", " ", " world", "'s", " 1234"]);
        assert_eq!(words("a\n\n b  "), ["a", "\n\n", " b", "  "]);
        assert_eq!(words("'S  ?!x"), ["'", "S", " ", " ?!", "x"]);
        // A mark of Devanagari is no letter, a circled letter neither.
        assert_eq!(words("हि\u{24d0}"), ["ह", "ि\u{24d0}"]);
        assert!(words("").is_empty());
    }

    #[test]
    fn digits_stand_alone_and_nothing_looks_past_them() {
        assert_eq!(Split::Digits.words("in  2024²"), ["in", "  ", "2", "0", "2", "4", "²"]);
    }

    #[test]
    fn words_of_llama3_and_qwen2() {
        let words = |text| Split::Llama3.words(text);
        assert_eq!(words("it'S 12345 (ok)\n\n  x"), ["it", "'S", " ", "123", "45", " (", "ok", ")\n\n", " ", " x"]);
        assert_eq!(words("a \n \n b\t"), ["a", " \n \n", " b", "\t"]);
        assert_eq!(words("\u{3000}x"), ["\u{3000}x"]);
        assert_eq!(words("'ſ'"), ["'ſ", "'"]);
        assert_eq!(Split::Qwen2.words("x 12"), ["x", " ", "1", "2"]);
    }

    #[test]
    fn words_are_the_text() {
        let text = "Ünïcödé  \r\n\t1²३ ‘x’ '' \u{a0}\u{a0} 🦀🦀 end ";
        for split in [Split::Gpt2, Split::Digits, Split::Llama3, Split::Qwen2] {
            assert_eq!(split.words(text).concat(), text);
        }
    }
}
