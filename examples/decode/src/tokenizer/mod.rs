// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Byte-level BPE: text to tokens and back.
//!
//! A text is cut at special tokens, then into words by the model's pattern, and each word's bytes are merged pair by pair in
//! the order of the vocabulary's merges. Vocabularies come from GGUF metadata or from `tokenizer.json`.

mod alphabet;
mod bpe;
mod gguf;
mod json;
mod split;
mod stream;

use std::collections::HashMap;

use crate::checkpoint::Defect;

pub(crate) use self::gguf::from_gguf;
pub(crate) use self::json::from_json;
pub use self::split::Split;
pub use self::stream::TextStream;

/// No vocabulary is larger.
const MOST_TOKENS: usize = 1 << 24;

/// A text or token outside the vocabulary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// A byte that the vocabulary has no token for.
    #[error("encode byte {byte:#04x}: the vocabulary has no token for it and none for what is unknown")]
    Byte {
        /// The byte.
        byte: u8,
    },
    /// A token that there is not.
    #[error("decode token {token}: the vocabulary has {vocab_size} tokens")]
    Outside {
        /// The token.
        token: u32,
        /// Tokens that there are.
        vocab_size: usize,
    },
}

/// A vocabulary and its rules.
#[derive(Clone, Debug)]
pub struct Tokenizer {
    /// What each token stands for.
    tokens: Vec<Vec<u8>>,
    merges: HashMap<(u32, u32), bpe::Merge>,
    /// The token of each single byte.
    bytes: [Option<u32>; 256],
    /// Tokens by what they stand for, where whole words are looked up before any merge.
    words: Option<HashMap<Vec<u8>, u32>>,
    /// Special tokens, longest text first.
    special: Vec<(String, u32)>,
    split: Split,
    unknown: Option<u32>,
    begin: Option<u32>,
    end: Vec<u32>,
}

/// What a vocabulary is made from; [`Parts::build`] checks it.
#[derive(Default)]
pub(crate) struct Parts {
    /// The tokens in their order, in the alphabet of printable characters; `None` where a number has no token.
    pub(crate) tokens: Vec<Option<String>>,
    /// Tokens whose text stands for itself.
    pub(crate) special: Vec<u32>,
    /// Pairs of texts, in order.
    pub(crate) merges: Vec<(String, String)>,
    pub(crate) split: Split,
    pub(crate) whole_words: bool,
    pub(crate) unknown: Option<u32>,
    pub(crate) begin: Option<u32>,
    pub(crate) end: Vec<u32>,
}

impl Parts {
    /// The tokeniser for a model of `vocab_size` tokens.
    pub(crate) fn build(self, vocab_size: usize) -> Result<Tokenizer, Defect> {
        if self.tokens.len() > vocab_size {
            let legal = format!("at most the {vocab_size} of the model");
            return Err(Defect::unknown("the number of tokens", self.tokens.len(), legal));
        }
        let named = self.begin.iter().chain(&self.unknown).chain(&self.end).chain(&self.special);
        if let Some(token) = named.into_iter().find(|token| **token as usize >= self.tokens.len()) {
            return Err(Defect::unknown("a special token", token, format!("below {}", self.tokens.len())));
        }
        let mut by_text = HashMap::new();
        for (token, text) in self.tokens.iter().enumerate() {
            if let Some(text) = text {
                by_text.entry(text.as_str()).or_insert(token as u32);
            }
        }
        let mut bytes = [None; 256];
        for byte in 0..=u8::MAX {
            bytes[usize::from(byte)] = by_text.get(alphabet::shown(byte).to_string().as_str()).copied();
        }
        let token = |text: &str, rank: usize| {
            let found = by_text.get(text).copied();
            found.ok_or_else(|| {
                Defect::unknown(format!("merge {rank}"), format!("{text:?}"), "tokens of the vocabulary")
            })
        };
        let mut merges = HashMap::with_capacity(self.merges.len());
        for (rank, (left, right)) in self.merges.iter().enumerate() {
            let merge = bpe::Merge { rank: rank as u32, token: token(&format!("{left}{right}"), rank)? };
            merges.entry((token(left, rank)?, token(right, rank)?)).or_insert(merge);
        }
        let is_special: std::collections::HashSet<u32> = self.special.iter().copied().collect();
        let stands_for = |(token, text): (usize, &Option<String>)| match text {
            Some(text) if is_special.contains(&(token as u32)) => text.clone().into_bytes(),
            Some(text) => alphabet::bytes(text),
            None => Vec::new(),
        };
        let tokens: Vec<Vec<u8>> = self.tokens.iter().enumerate().map(stands_for).collect();
        let words = self.whole_words.then(|| {
            let plain = tokens.iter().enumerate().filter(|(token, _)| !is_special.contains(&(*token as u32)));
            plain.map(|(token, bytes)| (bytes.clone(), token as u32)).collect()
        });
        let text = |token: &u32| Some((self.tokens[*token as usize].clone()?, *token));
        let mut special: Vec<(String, u32)> = self.special.iter().filter_map(text).collect();
        special.retain(|(text, _)| !text.is_empty());
        special.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.cmp(b)));
        let Parts { split, unknown, begin, end, .. } = self;
        Ok(Tokenizer { tokens, merges, bytes, words, special, split, unknown, begin, end })
    }
}

impl Tokenizer {
    /// Tokens of the vocabulary.
    pub fn vocab_size(&self) -> usize {
        self.tokens.len()
    }

    /// The token that a text begins with, if the vocabulary wants one.
    pub fn begin(&self) -> Option<u32> {
        self.begin
    }

    /// Tokens that end a text.
    pub fn end(&self) -> &[u32] {
        &self.end
    }

    /// The token of a special text.
    pub fn special(&self, text: &str) -> Option<u32> {
        self.special.iter().find(|(special, _)| special == text).map(|(_, token)| *token)
    }

    /// What a token stands for: bytes, since a character may be spread over several tokens.
    ///
    /// # Errors
    /// [`TokenError::Outside`].
    pub fn bytes(&self, token: u32) -> Result<&[u8], TokenError> {
        let vocab_size = self.tokens.len();
        self.tokens.get(token as usize).map(Vec::as_slice).ok_or(TokenError::Outside { token, vocab_size })
    }

    /// The tokens of a text. The texts of special tokens in it are those tokens if `special`, else plain text; the token that
    /// a text begins with is not added.
    ///
    /// # Errors
    /// [`TokenError::Byte`].
    pub fn encode(&self, text: &str, special: bool) -> Result<Vec<u32>, TokenError> {
        let mut out = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            // Leftmost first; of those that begin there, the longest.
            let found = if special {
                let places =
                    self.special.iter().filter_map(|(text, token)| Some((rest.find(text.as_str())?, text, *token)));
                places.min_by_key(|(at, text, _)| (*at, usize::MAX - text.len()))
            } else {
                None
            };
            let plain = found.map_or(rest.len(), |(at, ..)| at);
            for word in self.split.words(&rest[..plain]) {
                self.encode_word(word.as_bytes(), &mut out)?;
            }
            rest = &rest[plain..];
            if let Some((_, text, token)) = found {
                out.push(token);
                rest = &rest[text.len()..];
            }
        }
        Ok(out)
    }

    fn encode_word(&self, word: &[u8], out: &mut Vec<u32>) -> Result<(), TokenError> {
        if let Some(token) = self.words.as_ref().and_then(|words| words.get(word)) {
            out.push(*token);
            return Ok(());
        }
        let token = |byte: &u8| self.bytes[usize::from(*byte)].or(self.unknown).ok_or(TokenError::Byte { byte: *byte });
        let start: Vec<u32> = word.iter().map(token).collect::<Result<_, _>>()?;
        bpe::merge(&start, &self.merges, out);
        Ok(())
    }
}
