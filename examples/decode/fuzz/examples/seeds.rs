// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Writes a corpus to begin with: a small file of each kind that the loaders accept.

use std::error::Error;
use std::fs;
use std::io::Cursor;
use std::path::Path;

use half::{bf16, f16};
use opweave_decode::CONFIG;
use opweave_decode::checkpoint::{Checkpoint, Config, Convention, Encoding, Weight};

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let put = |target: &str, name: &str, bytes: &[u8]| {
        let folder = root.join(target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(name), bytes)
    };
    let file = safetensors();
    let checkpoint = Checkpoint::from_safetensors(CONFIG.as_bytes(), Box::new(Cursor::new(file.clone())))?;
    put("safetensors", "tied", &file)?;
    put("config", "tied", &[CONFIG.as_bytes(), &[0], &file].concat())?;
    for encoding in Encoding::ALL {
        let bytes = gguf(checkpoint.config(), encoding);
        Checkpoint::from_gguf(Box::new(Cursor::new(bytes.clone())))?;
        put("gguf", encoding.name(), &bytes)?;
    }
    let tokenizer = TOKENIZER.as_bytes();
    opweave_decode::tokenizer_of(tokenizer, 1024).ok_or("the tokeniser of the seeds is refused")?;
    put("tokenizer", "bpe", &[tokenizer, b"\0ab <|end|> b"].concat())?;
    Ok(())
}

const TOKENIZER: &str = r#"{"added_tokens": [{"id": 2, "content": "<|end|>"}], "normalizer": null,
"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true}, "post_processor": {"type": "Sequence",
"processors": [{"single": [{"SpecialToken": {"id": "<|end|>"}}]}]}, "model": {"type": "BPE", "unk_token": "<|end|>",
"vocab": {"a": 3, "b": 4, "ab": 5, "\u0120": 6, "\u0120b": 7}, "merges": ["a b", ["\u0120", "b"]]}}"#;

/// The tensors of the configuration, all halves.
fn safetensors() -> Vec<u8> {
    let config = config();
    let (mut header, mut at) = (serde_json::Map::new(), 0);
    for weight in Weight::all(&config) {
        let shape = weight.shape(&config);
        let end = at + 2 * shape.iter().product::<usize>();
        let entry = serde_json::json!({"dtype": "F16", "shape": shape, "data_offsets": [at, end]});
        header.insert(weight.name(Convention::Transformers), entry);
        at = end;
    }
    let header = serde_json::Value::Object(header).to_string();
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &vec![0x3c; at]].concat()
}

/// What [`CONFIG`] says, as far as shapes go.
fn config() -> Config {
    Config {
        vocab_size: 8,
        hidden_size: 32,
        intermediate_size: 32,
        num_layers: 1,
        num_heads: 2,
        num_kv_heads: 1,
        head_dim: 16,
        rms_norm_eps: 1e-5,
        rope_theta: 10_000.0,
        rope_stretch: opweave_decode::checkpoint::Stretch::None,
        max_positions: 64,
        tied: true,
    }
}

/// The same model as GGUF, matrices in an encoding.
fn gguf(config: &Config, encoding: Encoding) -> Vec<u8> {
    let text = |out: &mut Vec<u8>, text: &str| {
        out.extend((text.len() as u64).to_le_bytes());
        out.extend(text.as_bytes());
    };
    let mut meta: Vec<(&str, u32, Vec<u8>)> = Vec::new();
    let of_text = |value: &str| {
        let mut out = Vec::new();
        text(&mut out, value);
        out
    };
    let list = |kind: u32, items: &[Vec<u8>]| {
        [&kind.to_le_bytes()[..], &(items.len() as u64).to_le_bytes(), &items.concat()].concat()
    };
    meta.push(("general.architecture", 8, of_text("llama")));
    for (key, value) in [
        ("llama.block_count", config.num_layers),
        ("llama.context_length", config.max_positions),
        ("llama.embedding_length", config.hidden_size),
        ("llama.feed_forward_length", config.intermediate_size),
        ("llama.attention.head_count", config.num_heads),
        ("llama.attention.head_count_kv", config.num_kv_heads),
        ("llama.attention.key_length", config.head_dim),
        ("llama.vocab_size", config.vocab_size),
        ("tokenizer.ggml.eos_token_id", 2),
        ("tokenizer.ggml.bos_token_id", 1),
    ] {
        meta.push((key, 4, (value as u32).to_le_bytes().to_vec()));
    }
    meta.push(("llama.attention.layer_norm_rms_epsilon", 6, config.rms_norm_eps.to_le_bytes().to_vec()));
    meta.push(("llama.rope.freq_base", 6, 10_000.0_f32.to_le_bytes().to_vec()));
    meta.push(("tokenizer.ggml.model", 8, of_text("gpt2")));
    meta.push(("tokenizer.ggml.pre", 8, of_text("smollm")));
    meta.push(("tokenizer.ggml.add_bos_token", 7, vec![1]));
    let tokens = ["<|unk|>", "<|begin|>", "<|end|>", "a", "b", "ab", "\u{120}", "\u{120}b"].map(of_text);
    meta.push(("tokenizer.ggml.tokens", 9, list(8, &tokens)));
    meta.push(("tokenizer.ggml.token_type", 9, list(5, &[2, 3, 3, 1, 1, 1, 1, 1].map(|k: i32| k.to_le_bytes().to_vec()))));
    meta.push(("tokenizer.ggml.merges", 9, list(8, &["a b", "\u{120} b"].map(of_text))));

    let weights: Vec<Weight> = Weight::all(config).collect();
    let mut out = b"GGUF\x03\0\0\0".to_vec();
    out.extend((weights.len() as u64).to_le_bytes());
    out.extend((meta.len() as u64).to_le_bytes());
    for (key, kind, value) in meta {
        text(&mut out, key);
        out.extend(kind.to_le_bytes());
        out.extend(value);
    }
    let mut data = Vec::new();
    for weight in weights {
        let shape = weight.shape(config);
        let (encoding, kind) = if shape.len() == 1 { (Encoding::F32, 0) } else { (encoding, number(encoding)) };
        text(&mut out, &weight.name(Convention::Gguf));
        out.extend((shape.len() as u32).to_le_bytes());
        shape.iter().rev().for_each(|size| out.extend((*size as u64).to_le_bytes()));
        out.extend(kind.to_le_bytes());
        out.extend((data.len() as u64).to_le_bytes());
        data.extend(filled(encoding, shape.iter().product()));
        data.resize(data.len().next_multiple_of(32), 0);
    }
    out.resize(out.len().next_multiple_of(32), 0);
    [out, data].concat()
}

fn number(encoding: Encoding) -> u32 {
    match encoding {
        Encoding::F32 => 0,
        Encoding::F16 => 1,
        Encoding::Q4_0 => 2,
        Encoding::Q4_1 => 3,
        Encoding::Q8_0 => 8,
        Encoding::Bf16 => 30,
    }
}

/// So many ones, or blocks that look like them.
fn filled(encoding: Encoding, count: usize) -> Vec<u8> {
    match encoding {
        Encoding::F32 => 1.0_f32.to_le_bytes().repeat(count),
        Encoding::F16 => f16::ONE.to_le_bytes().repeat(count),
        Encoding::Bf16 => bf16::ONE.to_le_bytes().repeat(count),
        blocks => {
            let (columns, bytes) = blocks.block();
            vec![0x3c; count / columns * bytes]
        }
    }
}
