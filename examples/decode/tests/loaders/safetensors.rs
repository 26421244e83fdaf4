// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Safetensors, alone and in folders.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use opweave_decode::checkpoint::{Checkpoint, Convention, Encoding, Weight};
use serde_json::{Value, json};

use crate::support::files::{safetensors, tokenizer_json, with_header};
use crate::support::{config, config_json, quantise, values};

fn open(bytes: Vec<u8>) -> Result<Checkpoint, String> {
    Checkpoint::from_safetensors(&config_json(), Box::new(Cursor::new(bytes))).map_err(|defect| defect.to_string())
}

#[test]
fn every_weight_is_what_was_written() {
    for encoding in [Encoding::F32, Encoding::F16, Encoding::Bf16] {
        let mut checkpoint = open(safetensors(encoding)).unwrap();
        assert_eq!((checkpoint.config(), checkpoint.convention()), (&config(), Convention::Transformers));
        assert_eq!(checkpoint.end(), [1]);
        for weight in Weight::all(&config()) {
            let tensor = checkpoint.read(weight).unwrap();
            assert_eq!((&tensor.shape, tensor.encoding), (&weight.shape(&config()), encoding));
            assert!(tensor.bytes == quantise::encode(encoding, &values(weight)), "{weight:?}");
        }
    }
}

#[test]
fn what_is_wrong_is_said() {
    let file = safetensors(Encoding::F32);
    let length = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&file[8..8 + length]).unwrap();
    let data = &file[8 + length..];
    let changed = |name: &str, key: &str, value: Value| {
        let mut header = header.clone();
        header[name][key] = value;
        open(with_header(&header, data))
    };
    let renamed = {
        let mut header = header.clone();
        let entry = header.as_object_mut().unwrap().remove("model.norm.weight").unwrap();
        header["model.nrom.weight"] = entry;
        open(with_header(&header, data))
    };
    let bias = {
        let mut header = header.clone();
        header["model.layers.0.self_attn.q_proj.bias"] = json!({"dtype": "F32", "shape": [0], "data_offsets": [0, 0]});
        open(with_header(&header, data))
    };
    let norm = "model.norm.weight";
    let table = [
        (open(vec![]), "needs 8 bytes, 0 are left"),
        (open(1_u64.to_le_bytes().to_vec()), "needs 1 bytes, 0 are left"),
        (open(u64::MAX.to_le_bytes().to_vec()), "the header's length is 18446744073709551615, expected at most"),
        (open(with_header(&json!([]), &[])), "the safetensors header: invalid type"),
        (open(with_header(&header, &data[..data.len() - 1])), "bytes, "),
        (
            changed(norm, "dtype", json!("I64")),
            "the dtype of tensor model.norm.weight is I64, expected one of F32, F16",
        ),
        (changed(norm, "dtype", json!("Q9")), "the safetensors header: "),
        (
            changed(norm, "shape", json!([95])),
            "the bytes of tensor model.norm.weight is 384, expected what its shape [95]",
        ),
        (changed(norm, "shape", json!([u64::MAX, 4])), "expected what its shape"),
        (changed(norm, "shape", json!([-1])), "the safetensors header: "),
        (changed(norm, "data_offsets", json!([384, 0])), "is 384..0, expected a forward range"),
        (changed(norm, "shape", json!([4, 24])), "has shape [4, 24], the configuration asks for [96]"),
        (renamed, "there is no tensor model.norm.weight"),
        (bias, "tensor model.layers.0.self_attn.q_proj.bias is no part of a Llama model"),
    ];
    for (found, wanted) in table {
        let found = found.err().unwrap_or_else(|| panic!("nothing is wrong, wanted {wanted:?}"));
        assert!(found.contains(wanted), "{found:?} does not say {wanted:?}");
    }
}

/// Writes the tiny model as a folder.
fn folder(at: &Path) {
    fs::write(at.join("config.json"), config_json()).unwrap();
    fs::write(at.join("model.safetensors"), safetensors(Encoding::F32)).unwrap();
    fs::write(at.join("tokenizer.json"), tokenizer_json().to_string()).unwrap();
}

#[test]
fn folders_are_opened_whole_and_errors_name_the_file() {
    let at = tempfile::tempdir().unwrap();
    folder(at.path());
    let mut checkpoint = Checkpoint::open(at.path()).unwrap();
    assert_eq!(checkpoint.tokenizer().unwrap().encode("The", true).unwrap().len(), 1);
    for weight in Weight::all(&config()) {
        assert!(checkpoint.read(weight).unwrap().to_f32() == values(weight));
    }
    let said = |file: &str, text: &[u8]| {
        let kept = fs::read(at.path().join(file)).ok();
        fs::write(at.path().join(file), text).unwrap();
        let said = Checkpoint::open(at.path()).err().map_or("nothing".into(), |e| e.to_string());
        match kept {
            Some(kept) => fs::write(at.path().join(file), kept).unwrap(),
            None => fs::remove_file(at.path().join(file)).unwrap(),
        }
        said
    };
    let table = [
        ("config.json", "{", "config.json: EOF"),
        ("tokenizer.json", "{}", "tokenizer.json: tokenizer.json: missing field"),
        ("model.safetensors", "", "model.safetensors: the safetensors header needs 8 bytes"),
        (
            "model.safetensors.index.json",
            r#"{"weight_map": {"a": "../x"}}"#,
            "\"../x\", expected a name within the folder",
        ),
        ("model.safetensors.index.json", r#"{"weight_map": {"a": "gone"}}"#, "gone: "),
    ];
    for (file, text, wanted) in table {
        let found = said(file, text.as_bytes());
        assert!(found.contains(wanted) && found.starts_with("load "), "{found:?} does not say {wanted:?}");
    }
    assert!(Checkpoint::open(&at.path().join("none")).err().unwrap().to_string().contains("none"));
}

#[test]
fn models_in_several_files_are_one() {
    let at = tempfile::tempdir().unwrap();
    folder(at.path());
    fs::remove_file(at.path().join("model.safetensors")).unwrap();
    let (mut map, mut parts) = (serde_json::Map::new(), [json!({}), json!({})]);
    let mut data = [Vec::new(), Vec::new()];
    for (count, weight) in Weight::all(&config()).enumerate() {
        let (part, name) = (count % 2, weight.name(Convention::Transformers));
        let begin = data[part].len();
        data[part].extend(quantise::encode(Encoding::F32, &values(weight)));
        let end = data[part].len();
        parts[part][&name] = json!({"dtype": "F32", "shape": weight.shape(&config()), "data_offsets": [begin, end]});
        map.insert(name, json!(format!("part-{part}.safetensors")));
    }
    for part in 0..2 {
        let bytes = with_header(&parts[part], &data[part]);
        fs::write(at.path().join(format!("part-{part}.safetensors")), bytes).unwrap();
    }
    fs::write(at.path().join("model.safetensors.index.json"), json!({"weight_map": map}).to_string()).unwrap();
    let mut checkpoint = Checkpoint::open(at.path()).unwrap();
    for weight in Weight::all(&config()) {
        assert!(checkpoint.read(weight).unwrap().to_f32() == values(weight));
    }
}
