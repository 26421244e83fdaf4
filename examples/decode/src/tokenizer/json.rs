// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The vocabulary in a `tokenizer.json`.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

use super::{MOST_TOKENS, Parts, Split, Tokenizer};
use crate::checkpoint::Defect;

#[derive(Deserialize)]
struct Document {
    model: Model,
    #[serde(default)]
    added_tokens: Vec<Added>,
    pre_tokenizer: Option<Value>,
    post_processor: Option<Value>,
    normalizer: Option<Value>,
}

#[derive(Deserialize)]
struct Model {
    #[serde(rename = "type")]
    kind: Option<String>,
    vocab: HashMap<String, u32>,
    merges: Vec<Pair>,
    unk_token: Option<String>,
    #[serde(default)]
    ignore_merges: bool,
    #[serde(default)]
    byte_fallback: bool,
}

/// A merge: `"a b"` in older files, `["a", "b"]` in newer ones.
#[derive(Deserialize)]
#[serde(untagged)]
enum Pair {
    Text(String),
    Two(String, String),
}

#[derive(Deserialize)]
struct Added {
    id: u32,
    content: String,
    #[serde(default)]
    lstrip: bool,
    #[serde(default)]
    rstrip: bool,
    #[serde(default)]
    single_word: bool,
}

/// Reads the vocabulary. `begin` and `end` are the configuration's tokens.
pub(crate) fn from_json(text: &[u8], vocab_size: usize, begin: &[u32], end: &[u32]) -> Result<Tokenizer, Defect> {
    let parsed = serde_json::from_slice::<Document>(text);
    let json = parsed.map_err(|source| Defect::Json { what: "tokenizer.json".into(), source })?;
    let kind = json.model.kind.as_deref().unwrap_or("BPE");
    if kind != "BPE" || json.model.byte_fallback {
        let found = if json.model.byte_fallback { "BPE with byte_fallback" } else { kind };
        return Err(Defect::unknown("the tokeniser", format!("{found:?}"), "\"BPE\" on bytes"));
    }
    if let Some(normalizer) = json.normalizer.filter(|value| !value.is_null()) {
        return Err(Defect::unknown("the tokeniser's normalizer", normalizer, "none"));
    }
    if let Some(added) = json.added_tokens.iter().find(|added| added.lstrip || added.rstrip || added.single_word) {
        let found = format!("{:?} with lstrip, rstrip or single_word", added.content);
        return Err(Defect::unknown("an added token", found, "one that takes nothing of its neighbours"));
    }
    let pattern = json.pre_tokenizer.unwrap_or(Value::Null);
    let split = Split::of_json(&pattern)
        .ok_or_else(|| Defect::unknown("the tokeniser's pattern", &pattern, Split::json_names()))?;
    let all = json.model.vocab.iter().map(|(text, token)| (text.as_str(), *token));
    let all = all.chain(json.added_tokens.iter().map(|added| (added.content.as_str(), added.id)));
    let mut tokens: Vec<Option<String>> = Vec::new();
    for (text, token) in all {
        let place = token as usize;
        if place >= vocab_size.min(MOST_TOKENS) {
            return Err(Defect::unknown(format!("token {text:?}"), token, format!("below {vocab_size}")));
        }
        if place >= tokens.len() {
            tokens.resize(place + 1, None);
        }
        match &tokens[place] {
            Some(other) if other != text => {
                return Err(Defect::unknown(format!("token {token}"), format!("{text:?} and {other:?}"), "one text"));
            }
            _ => tokens[place] = Some(text.to_owned()),
        }
    }
    let mut merges = Vec::with_capacity(json.model.merges.len());
    for pair in json.model.merges {
        merges.push(match pair {
            Pair::Two(left, right) => (left, right),
            Pair::Text(text) => match text.split_once(' ') {
                Some((left, right)) => (left.to_owned(), right.to_owned()),
                None => return Err(Defect::unknown("a merge", format!("{text:?}"), "two texts")),
            },
        });
    }
    let adds_begin = adds_begin(&json.post_processor.unwrap_or(Value::Null));
    let parts = Parts {
        special: json.added_tokens.iter().map(|added| added.id).collect(),
        merges,
        whole_words: json.model.ignore_merges,
        split,
        unknown: json.model.unk_token.and_then(|text| json.model.vocab.get(&text).copied()),
        begin: begin.first().copied().filter(|_| adds_begin),
        end: end.to_vec(),
        tokens,
    };
    parts.build(vocab_size)
}

/// Whether the template of a single text begins with a special token.
fn adds_begin(processor: &Value) -> bool {
    let here = processor["single"][0].get("SpecialToken").is_some();
    here || processor["processors"].as_array().is_some_and(|all| all.iter().any(adds_begin))
}
