// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Whether a text is that of a licence.
//!
//! The SPDX list's text is taken as a template: wrapping, case, punctuation and list marks do not matter, copyright
//! lines and names may vary, titles and appendices may be left out. Every other word must stand, in order.

/// Words that may stand where the template has a name.
const LONGEST_NAME: usize = 24;

/// The text of the SPDX list for an id of a licence or an exception.
#[must_use]
pub fn known(id: &str) -> Option<&'static str> {
    if let Some(license) = spdx::license_id(id).filter(|license| license.name == id) {
        return Some(license.text());
    }
    spdx::exception_id(id).filter(|exception| exception.name == id).map(spdx::ExceptionId::text)
}

#[derive(Debug, PartialEq, Eq)]
enum Part {
    Word(String),
    /// A name or a year.
    Name,
    /// Words that may be missing as a whole.
    Optional(Vec<String>),
}

/// Stretches of licences that name a holder between two fixed phrases.
const NAMES: [(&str, &str); 3] = [
    ("neither the name of", "nor the names of"),
    ("software is provided by", "as is"),
    ("in no event shall", "be liable"),
];

/// Phrases that the list marks as optional.
const OPTIONAL: [&str; 5] = [
    "including the next paragraph",
    "all rights reserved",
    "mit license",
    "isc license",
    "end of terms and conditions",
];

/// Compares a text with a template.
///
/// # Errors
/// The words around the first difference.
pub fn matches(id: &str, template: &str, text: &str) -> Result<(), String> {
    let parts = parts(id, template);
    let words = without_copyright(text);
    let mut furthest = (0, 0);
    // Whatever stands above the first fixed words is a title or a holder.
    let first = parts.iter().find_map(|part| if let Part::Word(word) = part { Some(word) } else { None });
    let starts = words.iter().enumerate().filter(|(_, word)| Some(&word.text) == first).map(|(at, _)| at).take(8);
    for start in starts.chain([0]) {
        if follow(&parts, &words[start..], start, &mut furthest) {
            return Ok(());
        }
    }
    let from = furthest.1.saturating_sub(4);
    let around =
        words[from.min(words.len())..].iter().take(9).map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    Err(around)
}

/// Follows the template; `furthest` remembers how many words agreed at most, and where that ended.
fn follow(parts: &[Part], words: &[Word], base: usize, furthest: &mut (usize, usize)) -> bool {
    let (mut part, mut word) = (0, 0);
    // Where to go on after a name that was taken too short.
    let mut again: Vec<(usize, usize)> = Vec::new();
    let mut steps = 0_usize;
    loop {
        *furthest = (*furthest).max((word, base + word));
        steps += 1;
        let stuck = match parts.get(part) {
            None => {
                // The end of the terms may be followed by advice, never by more terms.
                if word == words.len() {
                    return true;
                }
                true
            }
            Some(Part::Word(wanted)) if words.get(word).is_some_and(|found| found.text == *wanted) => {
                (part, word) = (part + 1, word + 1);
                false
            }
            // A number in front of a paragraph that the template does not have.
            Some(Part::Word(_)) if words.get(word).is_some_and(|found| found.mark) => {
                word += 1;
                false
            }
            Some(Part::Word(_)) => true,
            Some(Part::Name) => {
                let longest = (word + LONGEST_NAME).min(words.len());
                again.extend((word + 1..=longest).rev().map(|at| (part + 1, at)));
                part += 1;
                false
            }
            Some(Part::Optional(optional)) => {
                let rest = &words[word..];
                if rest.len() >= optional.len()
                    && rest.iter().zip(optional).all(|(found, wanted)| found.text == *wanted)
                {
                    again.push((part + 1, word));
                    word += optional.len();
                }
                part += 1;
                false
            }
        };
        if stuck {
            match again.pop() {
                // A text that is nothing but names would take for ever.
                Some(next) if steps < 2_000_000 => (part, word) = next,
                _ => return false,
            }
        }
    }
}

/// The template's parts.
fn parts(id: &str, template: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let bsd = id.starts_with("BSD-") || id.starts_with("HPND") || id == "Apache-1.1";
    let marked = without_copyright(template);
    let words: Vec<String> = marked.iter().map(|word| word.text.clone()).collect();
    let mut at = 0;
    while at < words.len() {
        let rest = &words[at..];
        let starts = |phrase: &str| {
            let phrase: Vec<&str> = phrase.split(' ').collect();
            (rest.len() >= phrase.len() && rest.iter().zip(&phrase).all(|(a, b)| a == b)).then_some(phrase.len())
        };
        if let Some((length, phrase)) = OPTIONAL.iter().find_map(|phrase| Some((starts(phrase)?, *phrase))) {
            // What follows the end of the terms is advice on how to apply them.
            let length = if phrase.starts_with("end of terms") { rest.len() } else { length };
            if length == rest.len() {
                let heading = phrase.split(' ').count();
                parts.push(Part::Optional(rest[..heading].to_vec()));
                parts.push(Part::Optional(rest[heading..].to_vec()));
            } else {
                parts.push(Part::Optional(rest[..length].to_vec()));
            }
            at += length;
            continue;
        }
        let name = NAMES.iter().filter(|_| bsd).find_map(|(open, close)| {
            let skipped = starts(open)?;
            let close: Vec<&str> = close.split(' ').collect();
            let end = rest[skipped..].windows(close.len()).position(|window| window == close)?;
            (end <= LONGEST_NAME).then_some((skipped, skipped + end))
        });
        if let Some((open, end)) = name {
            parts.extend(rest[..open].iter().cloned().map(Part::Word));
            parts.push(Part::Name);
            at += end;
            continue;
        }
        parts.push(match rest[0].as_str() {
            "\u{1}" => Part::Name,
            word if marked[at].mark => Part::Optional(vec![word.to_owned()]),
            word => Part::Word(word.to_owned()),
        });
        at += 1;
    }
    parts
}

/// A word of a text.
struct Word {
    text: String,
    /// Whether it may be the number or letter of a paragraph.
    mark: bool,
}

/// Words in lower case without punctuation and without lines that state a copyright; placeholders become one mark.
fn without_copyright(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    for line in text.lines() {
        let plain = line
            .trim_start_matches(|c: char| !c.is_alphanumeric() && c != '(' && c != '<' && c != '[' && c != '\u{a9}');
        if crate::view::is_copyright(plain)
            || plain.starts_with("Copyright (c) <")
            || plain.starts_with("Copyright <")
            || plain.starts_with("Copyright [")
        {
            // A licence that goes on behind its copyright on one line keeps what follows the first full stop.
            continue;
        }
        let mut place = false;
        let mut first = true;
        for word in line.split_whitespace() {
            // `<owner>` and `[name of owner]` stand for names; a URL between angles does not.
            let opens = word.starts_with(['<', '[']) && !word.starts_with("<http") && !word.starts_with("[]");
            if opens || place {
                if opens {
                    words.push(Word { text: "\u{1}".to_owned(), mark: false });
                }
                place = !word.contains(['>', ']']);
                first = false;
                continue;
            }
            let mark = first && is_list_mark(word);
            first = false;
            let word = word.to_lowercase().replace("https://", "http://");
            // A hyphen within a word is spelling: non-infringement, sub-license.
            for piece in word.split(['/', '\u{2013}', '\u{2014}']) {
                let piece: String = piece.chars().filter(|c| c.is_alphanumeric()).collect();
                if !piece.is_empty() {
                    words.push(Word { text: spelling(piece), mark });
                }
            }
        }
    }
    words
}

/// `1.`, `a)`, `(iv)` at the start of a line.
fn is_list_mark(word: &str) -> bool {
    let inner = word.trim_start_matches('(').trim_end_matches([')', '.', ':']);
    let short = inner.len() == 1 && inner.chars().all(char::is_alphanumeric);
    let number = inner.len() <= 2 && inner.chars().all(|c| c.is_ascii_digit());
    let roman = inner.len() <= 4 && inner.chars().all(|c| matches!(c, 'i' | 'v' | 'x'));
    !inner.is_empty() && word.ends_with([')', '.', ':']) && (short || number || roman)
}

/// Words that the matching guidelines hold equal.
fn spelling(word: String) -> String {
    match word.as_str() {
        "licence" => "license".into(),
        "licences" => "licenses".into(),
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(id: &str, text: &str) -> Result<(), String> {
        matches(id, known(id).unwrap(), text)
    }

    #[test]
    fn every_text_of_the_list_is_its_own() {
        for id in [
            "Apache-2.0",
            "MIT",
            "BSD-2-Clause",
            "BSD-3-Clause",
            "ISC",
            "Zlib",
            "MPL-2.0",
            "BSL-1.0",
            "LLVM-exception",
            "GPL-3.0-only",
            "Unlicense",
            "MIT-0",
            "Unicode-3.0",
            "0BSD",
            "LGPL-2.1-or-later",
            "CC0-1.0",
        ] {
            assert_eq!(verdict(id, known(id).unwrap()), Ok(()), "{id}");
        }
    }

    #[test]
    fn names_years_and_wrapping_vary() {
        let mit = known("MIT").unwrap().replace("<year> <copyright holders>", "2025 DeepSeek\nAll rights reserved.");
        assert_eq!(verdict("MIT", &mit), Ok(()));
        assert_eq!(verdict("MIT", &mit.replace("MIT License", "The MIT License (MIT)")), Ok(()));
        assert_eq!(verdict("MIT", &mit.replace('\n', "\r\n    ")), Ok(()));
        let bsd = known("BSD-3-Clause").unwrap();
        let named = bsd
            .replace("the copyright holder nor the names of its", "the University nor the names of its")
            .replace("THE COPYRIGHT HOLDERS AND CONTRIBUTORS \"AS IS\"", "THE AUTHOR ``AS IS''")
            .replace("1. ", "* ");
        assert_eq!(verdict("BSD-3-Clause", &named), Ok(()));
        let apache = known("Apache-2.0").unwrap();
        assert_eq!(verdict("Apache-2.0", apache.split("END OF TERMS").next().unwrap()), Ok(()));
        assert_eq!(verdict("Apache-2.0", apache.split("APPENDIX").next().unwrap()), Ok(()));
        // As the foundation publishes it: indented, wrapped, with headings of its own.
        assert_eq!(verdict("Apache-2.0", include_str!("../../../licenses/Apache-2.0.txt")), Ok(()));
    }

    #[test]
    fn terms_do_not_vary() {
        let mit = known("MIT").unwrap();
        assert!(
            verdict("MIT", &mit.replace("without restriction", "with restriction"))
                .unwrap_err()
                .contains("restriction")
        );
        assert!(verdict("MIT", &mit.replace("sublicense, and/or sell", "sublicense")).is_err());
        assert!(verdict("MIT", &format!("{mit}\nThe Software shall not be used for evil.\n")).is_err());
        assert!(verdict("BSD-3-Clause", known("BSD-2-Clause").unwrap()).is_err());
        assert!(verdict("BSD-2-Clause", known("BSD-3-Clause").unwrap()).is_err());
        assert!(verdict("Apache-2.0", "").is_err());
        assert!(verdict("Apache-2.0", mit).is_err());
    }
}
