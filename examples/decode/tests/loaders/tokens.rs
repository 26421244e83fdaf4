// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Tokens against those of the Python package `tokenizers`: `oracle/tokens.py` wrote them.

use opweave_decode::checkpoint::Encoding;
use opweave_decode::tokenizer::{TextStream, TokenError, Tokenizer};
use serde_json::{Value, json};

use crate::open;
use crate::support::config_json;
use crate::support::files::{gguf, safetensors, tokenizer_json, vocabulary};

fn golden() -> Value {
    serde_json::from_str(include_str!("../data/tokens.json")).unwrap()
}

fn from_gguf(pattern: &str) -> Tokenizer {
    let mut file = gguf(Encoding::Q4_0, true);
    for (key, value) in vocabulary(pattern) {
        file = file.set(&key, value);
    }
    open(file.bytes()).unwrap().tokenizer().unwrap().clone()
}

fn from_json(change: impl FnOnce(&mut Value)) -> Result<Tokenizer, String> {
    let at = tempfile::tempdir().unwrap();
    let mut json = tokenizer_json();
    change(&mut json);
    let put = |name: &str, bytes: &[u8]| std::fs::write(at.path().join(name), bytes).unwrap();
    put("config.json", &config_json());
    put("model.safetensors", &safetensors(Encoding::Bf16));
    put("tokenizer.json", json.to_string().as_bytes());
    let checkpoint = opweave_decode::checkpoint::Checkpoint::open(at.path()).map_err(|e| e.to_string())?;
    Ok(checkpoint.tokenizer().unwrap().clone())
}

fn agree(tokenizer: &Tokenizer, case: &Value, name: &str) {
    let golden = golden();
    for (text, tokens) in golden["texts"].as_array().unwrap().iter().zip(case["tokens"].as_array().unwrap()) {
        let text = text.as_str().unwrap();
        let found = tokenizer.encode(text, true).unwrap();
        assert_eq!(json!(found), *tokens, "{text:?} by {name}");
        // And back, piece by piece.
        let (mut stream, mut back) = (TextStream::default(), String::new());
        found.iter().for_each(|token| stream.push(tokenizer.bytes(*token).unwrap(), &mut back));
        stream.finish(&mut back);
        assert_eq!(back, text, "by {name}");
    }
}

#[test]
fn tokens_are_those_of_the_reference() {
    let golden = golden();
    let cases = golden["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 4);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        agree(&from_gguf(name), case, name);
        let pattern = case["pre_tokenizer"].clone();
        agree(&from_json(|json| json["pre_tokenizer"] = pattern).unwrap(), case, name);
    }
}

#[test]
fn older_files_write_merges_as_one_text() {
    let join = |json: &mut Value| {
        for pair in json["model"]["merges"].as_array_mut().unwrap() {
            *pair = json!(format!("{} {}", pair[0].as_str().unwrap(), pair[1].as_str().unwrap()));
        }
    };
    agree(&from_json(join).unwrap(), &golden()["cases"][1], "joined merges");
}

#[test]
fn special_texts_are_tokens_only_where_asked_for() {
    let tokenizer = from_gguf("smollm");
    assert_eq!(tokenizer.encode("<|end|>", true).unwrap(), [1]);
    let plain = tokenizer.encode("<|end|>", false).unwrap();
    assert!(plain.len() > 1 && !plain.contains(&1));
    assert_eq!((tokenizer.special("<|user|>"), tokenizer.special("user"), tokenizer.begin()), (Some(2), None, None));
    assert_eq!(tokenizer.end(), [1]);
}

#[test]
fn tokens_and_bytes_outside_the_vocabulary_are_errors() {
    let tokenizer = from_gguf("smollm");
    assert_eq!(tokenizer.bytes(320), Err(TokenError::Outside { token: 320, vocab_size: 320 }));
    let poor = from_json(|json| {
        json["model"]["vocab"].as_object_mut().unwrap().remove("z");
    });
    assert_eq!(poor.unwrap().encode("az", true), Err(TokenError::Byte { byte: b'z' }));
}

#[test]
fn what_is_wrong_with_a_vocabulary_is_said() {
    type Change = fn(&mut Value);
    let table: [(Change, &str); 7] = [
        (|json| json["model"]["type"] = json!("Unigram"), "the tokeniser is \"Unigram\", expected \"BPE\" on bytes"),
        (|json| json["model"]["byte_fallback"] = json!(true), "\"BPE with byte_fallback\""),
        (|json| json["normalizer"] = json!({"type": "NFC"}), "the tokeniser's normalizer is"),
        (|json| json["pre_tokenizer"] = json!({"type": "Whitespace"}), "the tokeniser's pattern is"),
        (
            |json| json["model"]["vocab"]["new"] = json!(4_000_000_000_u32),
            "token \"new\" is 4000000000, expected below 320",
        ),
        (|json| json["model"]["vocab"]["new"] = json!(7), "expected one text"),
        (|json| json["added_tokens"][0]["lstrip"] = json!(true), "takes nothing of its neighbours"),
    ];
    for (change, wanted) in table {
        let found = from_json(change).err().unwrap_or_else(|| panic!("nothing is wrong, wanted {wanted:?}"));
        assert!(found.contains(wanted), "{found:?} does not say {wanted:?}");
    }
}
