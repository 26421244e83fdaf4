// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! A Rust file seen as code: comments and the insides of literals blanked, test regions marked.
//!
//! Tidy's rules ask where a word stands as code. A full parser would lose the comments, which half of the rules are
//! about, and would not see into macro bodies; a lexer of comments and literals is enough for both.

/// One Rust source file, prepared for rules.
pub(crate) struct Source<'a> {
    /// The file as it is, by line.
    pub lines: Vec<&'a str>,
    /// The same text with comments and literal contents replaced by spaces; byte offsets and line breaks are kept.
    pub code: String,
    /// Byte offset at which each line starts.
    starts: Vec<usize>,
    /// Whether the line at this index belongs to test code.
    test: Vec<bool>,
}

impl<'a> Source<'a> {
    /// Lexes `text`. `all_test` marks the whole file as test code.
    pub(crate) fn new(text: &'a str, all_test: bool) -> Self {
        let code = blank(text);
        let starts: Vec<usize> = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let lines: Vec<&str> = text.split('\n').collect();
        let mut source = Source { test: vec![all_test; lines.len()], lines, code, starts };
        if !all_test {
            for (from, to) in source.test_regions() {
                let (first, last) = (source.line_of(from), source.line_of(to));
                source.test[first..=last].fill(true);
            }
        }
        source
    }

    /// Index (from 0) of the line that holds byte `at`.
    pub(crate) fn line_of(&self, at: usize) -> usize {
        self.starts.partition_point(|&start| start <= at) - 1
    }

    /// Whether byte `at` lies in test code.
    pub(crate) fn is_test(&self, at: usize) -> bool {
        self.test[self.line_of(at)]
    }

    /// The code of one line, blanked as `code` is.
    pub(crate) fn code_line(&self, line: usize) -> &str {
        let end = self.starts.get(line + 1).map_or(self.code.len(), |&next| next - 1);
        &self.code[self.starts[line]..end]
    }

    /// Offsets at which `word` stands as a whole word of code.
    pub(crate) fn words<'s>(&'s self, word: &'s str) -> impl Iterator<Item = usize> + 's {
        let bytes = self.code.as_bytes();
        self.code.match_indices(word).map(|(at, _)| at).filter(move |&at| {
            let before = at.checked_sub(1).map(|i| bytes[i]);
            let after = bytes.get(at + word.len()).copied();
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
    }

    /// Attributes as (offset of `#`, text between the brackets); inner attributes too.
    pub(crate) fn attributes(&self) -> Vec<(usize, &str)> {
        let mut found = Vec::new();
        let bytes = self.code.as_bytes();
        for (at, _) in self.code.match_indices('#') {
            let open = if bytes.get(at + 1) == Some(&b'!') { at + 2 } else { at + 1 };
            if bytes.get(open) != Some(&b'[') {
                continue;
            }
            if let Some(close) = matching(&self.code, open) {
                found.push((at, &self.code[open + 1..close]));
            }
        }
        found
    }

    /// Offset of the first byte of code at or after `at` that is neither white space nor an attribute.
    pub(crate) fn item_after(&self, mut at: usize) -> usize {
        let bytes = self.code.as_bytes();
        loop {
            while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
                at += 1;
            }
            if bytes.get(at) != Some(&b'#') {
                return at;
            }
            match self.code[at..].find('[').and_then(|open| matching(&self.code, at + open)) {
                Some(close) => at = close + 1,
                None => return bytes.len(),
            }
        }
    }

    /// Names of the modules declared as `#[cfg(test)] mod name;`, whose files are test code.
    pub(crate) fn test_modules(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for (at, text) in self.attributes() {
            if !is_test_attribute(text) {
                continue;
            }
            let item = self.item_after(at);
            let rest = self.code[item..].split([';', '{']).next().unwrap_or_default();
            let ends_in_semicolon = self.code[item + rest.len()..].starts_with(';');
            if let (true, Some((_, name))) = (ends_in_semicolon, rest.split_once("mod ")) {
                names.push(name.trim());
            }
        }
        names
    }

    /// Header text of every block that encloses byte `at`, outermost first.
    pub(crate) fn enclosing(&self, at: usize) -> Vec<&str> {
        let mut stack: Vec<&str> = Vec::new();
        let mut last = 0;
        for (i, byte) in self.code.bytes().enumerate().take(at) {
            match byte {
                b'{' => {
                    stack.push(&self.code[last..i]);
                    last = i + 1;
                }
                b'}' => {
                    stack.pop();
                    last = i + 1;
                }
                b';' => last = i + 1,
                _ => {}
            }
        }
        stack
    }

    fn test_regions(&self) -> Vec<(usize, usize)> {
        let mut regions = Vec::new();
        for (at, text) in self.attributes() {
            if !is_test_attribute(text) {
                continue;
            }
            let item = self.item_after(at);
            // The item ends at its block, or at a semicolon that comes before any block.
            let Some(end) = self.code[item..].find(['{', ';']).map(|offset| item + offset) else { continue };
            let end = if self.code[end..].starts_with('{') { matching(&self.code, end).unwrap_or(end) } else { end };
            regions.push((at, end));
        }
        regions
    }
}

/// Whether an attribute's text marks test code: `test`, `cfg(test)`, `cfg(all(test, ..))`, `proptest`, `bench`.
fn is_test_attribute(text: &str) -> bool {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let cfg_test = text
        .strip_prefix("cfg(all(")
        .or_else(|| text.strip_prefix("cfg("))
        .is_some_and(|inner| inner.split([',', ')']).any(|word| word == "test"));
    cfg_test || text == "test" || text.ends_with("::test")
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Offset of the bracket that closes the one at `open`, in text whose literals are blanked.
pub(crate) fn matching(code: &str, open: usize) -> Option<usize> {
    let bytes = code.as_bytes();
    let (up, down) = match bytes.get(open)? {
        b'{' => (b'{', b'}'),
        b'[' => (b'[', b']'),
        b'(' => (b'(', b')'),
        _ => return None,
    };
    let mut depth = 0usize;
    for (i, &byte) in bytes.iter().enumerate().skip(open) {
        if byte == up {
            depth += 1;
        } else if byte == down {
            depth -= 1;
            if depth == 0 {
                return Some(i);
            }
        }
    }
    None
}

/// Replaces comments and the insides of string and character literals by spaces, byte for byte.
fn blank(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut i = 0;
    while i < bytes.len() {
        let end = match bytes[i] {
            b'/' if bytes.get(i + 1) == Some(&b'/') => line_end(bytes, i),
            b'/' if bytes.get(i + 1) == Some(&b'*') => block_comment_end(bytes, i),
            b'"' => string_end(bytes, i),
            b'r' | b'b' | b'c' if !i.checked_sub(1).is_some_and(|p| is_word(bytes[p])) => prefixed_end(bytes, i),
            b'\'' => char_end(bytes, i),
            _ => i,
        };
        if end == i {
            i += 1;
            continue;
        }
        for byte in &mut out[i..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        i = end;
    }
    String::from_utf8(out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |n| from + n)
}

fn block_comment_end(bytes: &[u8], from: usize) -> usize {
    let (mut depth, mut i) = (1usize, from + 2);
    while i < bytes.len() && depth > 0 {
        match &bytes[i..bytes.len().min(i + 2)] {
            b"/*" => (depth, i) = (depth + 1, i + 2),
            b"*/" => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
    }
    i.min(bytes.len())
}

/// End of a string with escapes that opens at `from`.
fn string_end(bytes: &[u8], from: usize) -> usize {
    let mut i = from + 1;
    while i < bytes.len() {
        match bytes[i] {
            b'\\' => i += 2,
            b'"' => return i + 1,
            _ => i += 1,
        }
    }
    bytes.len()
}

/// End of a literal with a prefix (`r"`, `r#"`, `b"`, `br#"`, `b'`, `c"`), or `from` if none starts here.
fn prefixed_end(bytes: &[u8], from: usize) -> usize {
    let mut i = from + 1;
    let mut raw = bytes[from] == b'r';
    if !raw && bytes.get(i) == Some(&b'r') {
        raw = true;
        i += 1;
    }
    if !raw {
        return match bytes.get(i) {
            Some(b'"') => string_end(bytes, i),
            Some(b'\'') if bytes[from] == b'b' => char_end(bytes, i),
            _ => from,
        };
    }
    let hashes = bytes[i..].iter().take_while(|&&b| b == b'#').count();
    i += hashes;
    if bytes.get(i) != Some(&b'"') {
        return from;
    }
    i += 1;
    while i < bytes.len() {
        if bytes[i] == b'"' && bytes[i + 1..].iter().take(hashes).filter(|&&b| b == b'#').count() == hashes {
            return i + 1 + hashes;
        }
        i += 1;
    }
    bytes.len()
}

/// End of a character literal at `from`, or `from` if the quote starts a lifetime.
fn char_end(bytes: &[u8], from: usize) -> usize {
    match bytes.get(from + 1) {
        Some(b'\\') => {
            let mut i = from + 3;
            while i < bytes.len() && bytes[i] != b'\'' {
                i += 1;
            }
            (i + 1).min(bytes.len())
        }
        Some(_) => {
            // One character, of one to four bytes, and then the closing quote.
            (2..=5).find(|&n| bytes.get(from + n) == Some(&b'\'')).map_or(from, |n| {
                let inside = &bytes[from + 1..from + n];
                if std::str::from_utf8(inside).is_ok_and(|s| s.chars().count() == 1) { from + n + 1 } else { from }
            })
        }
        None => from,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked_and_offsets_kept() {
        let text = "let a = \"unsafe\"; // unsafe\nlet b = r#\"un\"safe\"#; /* a /* b */ unsafe */ let c = 'x';\nlet d: &'a str = b\"\\\"unsafe\";\n";
        let source = Source::new(text, false);
        assert_eq!(source.code.len(), text.len());
        assert!(!source.code.contains("unsafe"), "{}", source.code);
        assert!(source.code.contains("let c ="));
        assert!(source.code.contains("&'a str"), "a lifetime is no literal: {}", source.code);
        assert_eq!(source.line_of(text.find("let d").unwrap()), 2);
    }

    #[test]
    fn a_quote_character_does_not_open_a_string() {
        let source = Source::new("let q = '\"'; let e = '\\''; unsafe {}", false);
        assert_eq!(source.words("unsafe").count(), 1);
    }

    #[test]
    fn words_are_whole() {
        let source = Source::new("unsafe_code unsafe fn not_unsafe", false);
        assert_eq!(source.words("unsafe").collect::<Vec<_>>(), [12]);
    }

    #[test]
    fn test_regions_end_with_their_block() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n#[test]\n#[ignore]\nfn d() {\n}\nfn e() {}\n";
        let source = Source::new(text, false);
        let in_test: Vec<bool> =
            ["fn a", "fn b", "fn c", "fn d", "fn e"].iter().map(|f| source.is_test(text.find(f).unwrap())).collect();
        assert_eq!(in_test, [false, true, false, true, false]);
    }

    #[test]
    fn negated_cfg_is_not_test_code() {
        assert!(is_test_attribute("cfg(all(test, unix))"));
        assert!(!is_test_attribute("cfg(not(test))"));
        assert!(!is_test_attribute("cfg(feature = \"test\")"));
    }

    #[test]
    fn test_module_files_are_named() {
        let source = Source::new("#[cfg(test)]\nmod tests;\nmod other;\n#[cfg(test)] mod inline {}\n", false);
        assert_eq!(source.test_modules(), ["tests"]);
    }

    #[test]
    fn enclosing_headers_are_found() {
        let text = "impl A for B { fn x() { let y = 1; if y { HERE } } }";
        let source = Source::new(text, false);
        let headers: Vec<&str> = source.enclosing(text.find("HERE").unwrap()).iter().map(|h| h.trim()).collect();
        assert_eq!(headers, ["impl A for B", "fn x()", "if y"]);
    }
}
