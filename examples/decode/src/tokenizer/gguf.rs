// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The vocabulary in a GGUF file's metadata.

use super::{MOST_TOKENS, Parts, Split, Tokenizer};
use crate::checkpoint::Defect;
use crate::checkpoint::gguf::Metadata;

/// Token types of the format.
const CONTROL: i64 = 3;
const USER_DEFINED: i64 = 4;

/// Reads the vocabulary, if the file has one.
pub(crate) fn from_gguf(metadata: &Metadata, vocab_size: usize) -> Result<Option<Tokenizer>, Defect> {
    let key = |name: &str| format!("tokenizer.ggml.{name}");
    let missing = |name: &str| Defect::missing(format!("metadata key tokenizer.ggml.{name}"));
    let Some(model) = metadata.text(&key("model"))? else { return Ok(None) };
    if model != "gpt2" {
        return Err(Defect::unknown("the tokeniser", format!("{model:?}"), "\"gpt2\" (byte-level BPE)"));
    }
    let name = metadata.text(&key("pre"))?.unwrap_or("default");
    let split = Split::of_gguf(name)
        .ok_or_else(|| Defect::unknown("the tokeniser's pattern", format!("{name:?}"), Split::gguf_names()))?;
    let tokens = metadata.texts(&key("tokens"))?.ok_or_else(|| missing("tokens"))?;
    if tokens.len() > MOST_TOKENS {
        return Err(Defect::unknown("the number of tokens", tokens.len(), format!("at most {MOST_TOKENS}")));
    }
    let kinds = metadata.integers(&key("token_type"))?.unwrap_or_default();
    let is_special = |(_, kind): &(usize, &i64)| matches!(**kind, CONTROL | USER_DEFINED);
    let special = kinds.iter().enumerate().filter(is_special).map(|(token, _)| token as u32).collect();
    let mut merges = Vec::new();
    for merge in metadata.texts(&key("merges"))?.ok_or_else(|| missing("merges"))? {
        let pair = merge.split_once(' ');
        let (left, right) = pair.ok_or_else(|| Defect::unknown("a merge", format!("{merge:?}"), "two texts"))?;
        merges.push((left.to_owned(), right.to_owned()));
    }
    let token = |name: &str| -> Result<Option<u32>, Defect> {
        let key = key(name);
        let found = metadata.size(&key)?;
        let legal = || format!("below {}", tokens.len());
        found.map(|found| u32::try_from(found).map_err(|_| Defect::unknown(key, found, legal()))).transpose()
    };
    let adds_begin = metadata.flag(&key("add_bos_token"))?.unwrap_or(split.adds_begin());
    let parts = Parts {
        special,
        merges,
        whole_words: split.whole_words(),
        split,
        unknown: token("unknown_token_id")?,
        begin: token("bos_token_id")?.filter(|_| adds_begin),
        end: token("eos_token_id")?.into_iter().chain(token("eot_token_id")?).collect(),
        tokens: tokens.into_iter().map(|text| Some(text.to_owned())).collect(),
    };
    parts.build(vocab_size).map(Some)
}
