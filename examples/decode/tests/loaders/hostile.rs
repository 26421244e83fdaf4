// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Files that were cut, changed or made to hurt: an answer, no panic, and no allocation that the file does not justify.

use std::io::Cursor;
use std::sync::LazyLock;

use opweave_decode::checkpoint::{Checkpoint, Encoding, Weight};
use proptest::prelude::*;

use crate::support::config_json;
use crate::support::files::{Gguf, gguf, safetensors, with_header};
use crate::watch::watched;

/// Opens it and reads every weight that the configuration names; whether all went well does not matter.
fn survive(length: usize, open: impl FnOnce() -> Option<Checkpoint>) {
    let run = || {
        if let Some(mut checkpoint) = open() {
            for weight in Weight::all(&checkpoint.config().clone()) {
                let _ = checkpoint.read(weight).map(|tensor| tensor.to_f32());
            }
            if let Some(tokenizer) = checkpoint.tokenizer() {
                let _ = tokenizer.encode("The <|end|> 12 é🦀", true);
            }
        }
    };
    let ((), largest) = watched(run);
    // A byte of the file may become a value of the metadata, and a list grows by doubling.
    assert!(largest <= 128 * length + (1 << 16), "{largest} bytes at once for a file of {length}");
}

fn survive_gguf(bytes: Vec<u8>) {
    survive(bytes.len(), || Checkpoint::from_gguf(Box::new(Cursor::new(bytes))).ok());
}

/// The tiny model's header with the data of its first tensors: small, so that many changes can be tried.
fn small() -> Vec<u8> {
    static FILE: LazyLock<Vec<u8>> = LazyLock::new(|| gguf(Encoding::Q4_1, true).bytes()[..40_000].to_vec());
    FILE.clone()
}

fn small_safetensors() -> Vec<u8> {
    static FILE: LazyLock<Vec<u8>> = LazyLock::new(|| safetensors(Encoding::Bf16));
    FILE.clone()
}

/// Values that lengths, counts and types turn into.
fn evil() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(u64::MAX),
        Just(i64::MAX as u64),
        Just(1 << 40),
        Just(1 << 32),
        Just(u64::from(u32::MAX)),
        Just(0),
        0_u64..1000,
        any::<u64>()
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_gguf_files_are_answered(changes in prop::collection::vec((0_usize..12_000, any::<u8>()), 1..8)) {
        let mut bytes = small();
        changes.into_iter().for_each(|(at, byte)| bytes[at] = byte);
        survive_gguf(bytes);
    }

    #[test]
    fn gguf_files_with_evil_numbers_are_answered(at in 0_usize..12_000, value in evil(), wide in any::<bool>()) {
        let mut bytes = small();
        let value = value.to_le_bytes();
        let value = if wide { &value[..] } else { &value[..4] };
        bytes[at..at + value.len()].copy_from_slice(value);
        survive_gguf(bytes);
    }

    #[test]
    fn cut_gguf_files_are_refused(length in 0_usize..40_000) {
        let mut bytes = small();
        bytes.truncate(length);
        prop_assert!(Checkpoint::from_gguf(Box::new(Cursor::new(bytes.clone()))).is_err());
        survive_gguf(bytes);
    }

    #[test]
    fn noise_is_refused(noise in prop::collection::vec(any::<u8>(), 0..400)) {
        survive_gguf([&b"GGUF\x03\0\0\0"[..], &noise].concat());
        let read = || Checkpoint::from_safetensors(&config_json(), Box::new(Cursor::new(noise.clone()))).ok();
        survive(noise.len(), read);
    }

    #[test]
    fn changed_safetensors_are_answered(changes in prop::collection::vec((0_usize..3_000, any::<u8>()), 1..6)) {
        let mut bytes = small_safetensors();
        changes.into_iter().for_each(|(at, byte)| bytes[at] = byte);
        survive(bytes.len(), || Checkpoint::from_safetensors(&config_json(), Box::new(Cursor::new(bytes))).ok());
    }

    #[test]
    fn changed_configurations_are_answered(changes in prop::collection::vec((0_usize..300, any::<u8>()), 1..6)) {
        let (mut config, bytes) = (config_json(), small_safetensors());
        for (at, byte) in changes {
            let at = at % config.len();
            config[at] = byte;
        }
        survive(bytes.len(), || Checkpoint::from_safetensors(&config, Box::new(Cursor::new(bytes))).ok());
    }
}

#[test]
fn lengths_beyond_the_file_reserve_nothing() {
    let header = |tensors: u64, values: u64, rest: &[u8]| {
        let counts = [tensors.to_le_bytes(), values.to_le_bytes()].concat();
        [&b"GGUF\x03\0\0\0"[..], &counts, rest].concat()
    };
    let long = (1_u64 << 60).to_le_bytes();
    let mut list = [&1_u64.to_le_bytes()[..], b"k", &9_u32.to_le_bytes(), &0_u32.to_le_bytes()].concat();
    list.extend(long);
    for bytes in [header(u64::MAX, 0, &[]), header(0, u64::MAX, &[]), header(0, 1, &long), header(0, 1, &list)] {
        let (answer, largest) = watched(|| Checkpoint::from_gguf(Box::new(Cursor::new(bytes))).is_err());
        assert!(answer && largest < 20_000, "{largest}");
    }
    let claim =
        serde_json::json!({"w": {"dtype": "F32", "shape": [1_u64 << 40, 1 << 20], "data_offsets": [0, 1_u64 << 62]}});
    let bytes = with_header(&claim, &[]);
    let (answer, largest) =
        watched(|| Checkpoint::from_safetensors(&config_json(), Box::new(Cursor::new(bytes))).is_err());
    assert!(answer && largest < 20_000, "{largest}");
}

#[test]
fn a_token_beyond_the_table_reserves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut config: serde_json::Value = serde_json::from_slice(&config_json()).unwrap();
    config["vocab_size"] = (1 << 24).into();
    let tokenizer = serde_json::json!({"model": {"type": "BPE", "vocab": {"a": (1 << 24) - 1}, "merges": []}, "added_tokens": [],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true}});
    std::fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
    std::fs::write(folder.path().join("tokenizer.json"), tokenizer.to_string()).unwrap();
    std::fs::write(folder.path().join("model.safetensors"), small_safetensors()).unwrap();
    let (refusal, largest) = watched(|| Checkpoint::open(folder.path()).err().map(|error| error.to_string()));
    let refusal = refusal.unwrap();
    assert!(refusal.contains("model.embed_tokens.weight has shape [320, 96]"), "{refusal}");
    assert!(largest < 1 << 20, "{largest}");
}

#[test]
fn an_empty_file_of_tensors_has_none_of_them() {
    let empty = Gguf { tensors: Vec::new(), ..gguf(Encoding::F32, true) };
    assert_eq!(crate::refusal(empty.bytes()), "there is no tensor token_embd.weight");
}
