// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The tiny model as a GGUF file and as safetensors, written from the formats' definitions.

use opweave_decode::checkpoint::{Convention, Encoding, PerLayer, Weight};
use serde_json::Value;

use super::quantise::encode;
use super::{config, values};

/// A metadata value.
#[derive(Clone)]
pub(crate) enum Meta {
    U32(u32),
    F32(f32),
    Bool(bool),
    Text(String),
    Texts(Vec<String>),
    Integers(Vec<i32>),
}

/// A tensor: name, shape with rows first, type, bytes.
pub(crate) type Stored = (String, Vec<u64>, u32, Vec<u8>);

/// A GGUF file in parts, each of which a test may change.
#[derive(Clone)]
pub(crate) struct Gguf {
    pub(crate) version: u32,
    pub(crate) meta: Vec<(String, Meta)>,
    pub(crate) tensors: Vec<Stored>,
    pub(crate) alignment: usize,
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u64).to_le_bytes());
    out.extend(text.as_bytes());
}

impl Gguf {
    /// The file's bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = b"GGUF".to_vec();
        out.extend(self.version.to_le_bytes());
        out.extend((self.tensors.len() as u64).to_le_bytes());
        out.extend((self.meta.len() as u64).to_le_bytes());
        for (key, value) in &self.meta {
            text(&mut out, key);
            meta(&mut out, value);
        }
        let aligned = |at: usize| at.next_multiple_of(self.alignment);
        let mut offset = 0;
        for (name, shape, kind, bytes) in &self.tensors {
            text(&mut out, name);
            out.extend((shape.len() as u32).to_le_bytes());
            shape.iter().rev().for_each(|size| out.extend(size.to_le_bytes()));
            out.extend(kind.to_le_bytes());
            out.extend((offset as u64).to_le_bytes());
            offset = aligned(offset + bytes.len());
        }
        for (.., bytes) in &self.tensors {
            out.resize(aligned(out.len()), 0);
            out.extend(bytes);
        }
        out
    }

    /// Changes or adds a metadata value.
    pub(crate) fn set(mut self, key: &str, value: Meta) -> Self {
        self = self.without(key);
        self.meta.push((key.to_owned(), value));
        self
    }

    /// Leaves a metadata value out.
    pub(crate) fn without(mut self, key: &str) -> Self {
        self.meta.retain(|(known, _)| known != key);
        self
    }
}

fn meta(out: &mut Vec<u8>, value: &Meta) {
    let mut put = |kind: u32, bytes: &[u8]| {
        out.extend(kind.to_le_bytes());
        out.extend(bytes);
    };
    match value {
        Meta::U32(v) => put(4, &v.to_le_bytes()),
        Meta::F32(v) => put(6, &v.to_le_bytes()),
        Meta::Bool(v) => put(7, &[u8::from(*v)]),
        Meta::Text(v) => {
            put(8, &[]);
            text(out, v);
        }
        Meta::Texts(list) => {
            put(9, &8_u32.to_le_bytes());
            out.extend((list.len() as u64).to_le_bytes());
            list.iter().for_each(|v| text(out, v));
        }
        Meta::Integers(list) => {
            put(9, &5_u32.to_le_bytes());
            out.extend((list.len() as u64).to_le_bytes());
            list.iter().for_each(|v| out.extend(v.to_le_bytes()));
        }
    }
}

/// The number of an encoding in GGUF.
pub(crate) fn gguf_type(encoding: Encoding) -> u32 {
    match encoding {
        Encoding::F32 => 0,
        Encoding::F16 => 1,
        Encoding::Q4_0 => 2,
        Encoding::Q4_1 => 3,
        Encoding::Q8_0 => 8,
        Encoding::Bf16 => 30,
    }
}

/// The tiny model with its matrices in `encoding` and vectors in f32. `paired`: with the rows of query and key matrices in the
/// order of interleaved pairs, as the format wants them.
pub(crate) fn gguf(encoding: Encoding, paired: bool) -> Gguf {
    let config = config();
    let mut tensors = Vec::new();
    for weight in Weight::all(&config) {
        let shape: Vec<u64> = weight.shape(&config).iter().map(|size| *size as u64).collect();
        let mut numbers = values(weight);
        if paired && matches!(weight, Weight::Layer(_, PerLayer::Query | PerLayer::Key)) {
            numbers = pairs_from_halves(&numbers, config.head_dim, config.hidden_size);
        }
        let encoding = if shape.len() == 1 { Encoding::F32 } else { encoding };
        tensors.push((weight.name(Convention::Gguf), shape, gguf_type(encoding), encode(encoding, &numbers)));
    }
    let number = |key: &str, v: usize| (format!("llama.{key}"), Meta::U32(v as u32));
    let mut meta = vec![
        ("general.architecture".to_owned(), Meta::Text("llama".into())),
        number("block_count", config.num_layers),
        number("context_length", config.max_positions),
        number("embedding_length", config.hidden_size),
        number("feed_forward_length", config.intermediate_size),
        number("attention.head_count", config.num_heads),
        number("attention.head_count_kv", config.num_kv_heads),
        number("attention.key_length", config.head_dim),
        number("vocab_size", config.vocab_size),
        ("llama.attention.layer_norm_rms_epsilon".to_owned(), Meta::F32(config.rms_norm_eps)),
        ("llama.rope.freq_base".to_owned(), Meta::F32(config.rope_theta as f32)),
    ];
    meta.extend(vocabulary("smollm"));
    Gguf { version: 3, meta, tensors, alignment: 32 }
}

/// Feature `i` and `i + head_dim / 2` become neighbours `2i` and `2i + 1`.
fn pairs_from_halves(rows: &[f32], head_dim: usize, width: usize) -> Vec<f32> {
    let half = head_dim / 2;
    let heads = rows.chunks(head_dim * width);
    let place = |row: usize| row / 2 + (row % 2) * half;
    heads.flat_map(|head| (0..head_dim).flat_map(move |row| &head[place(row) * width..][..width])).copied().collect()
}

/// The tiny vocabulary's document.
pub(crate) fn tokenizer_json() -> Value {
    serde_json::from_str(include_str!("../data/tokenizer.json")).unwrap()
}

/// The tiny vocabulary as metadata.
pub(crate) fn vocabulary(pattern: &str) -> Vec<(String, Meta)> {
    let json = tokenizer_json();
    let mut tokens = vec![String::new(); 320];
    for (text, token) in json["model"]["vocab"].as_object().unwrap() {
        tokens[token.as_u64().unwrap() as usize] = text.clone();
    }
    let text = |v: &Value| v.as_str().unwrap().to_owned();
    let merges = json["model"]["merges"].as_array().unwrap();
    let merges = merges.iter().map(|pair| format!("{} {}", text(&pair[0]), text(&pair[1]))).collect();
    let kinds = (0..320).map(|token| if token < 4 { 3 } else { 1 }).collect();
    let named = |key: &str, value| (format!("tokenizer.ggml.{key}"), value);
    vec![
        named("model", Meta::Text("gpt2".into())),
        named("pre", Meta::Text(pattern.into())),
        named("tokens", Meta::Texts(tokens)),
        named("token_type", Meta::Integers(kinds)),
        named("merges", Meta::Texts(merges)),
        named("eos_token_id", Meta::U32(1)),
        named("add_bos_token", Meta::Bool(false)),
    ]
}

/// The tiny model as a safetensors file.
pub(crate) fn safetensors(encoding: Encoding) -> Vec<u8> {
    let config = config();
    let tag = match encoding {
        Encoding::F32 => "F32",
        Encoding::F16 => "F16",
        Encoding::Bf16 => "BF16",
        other => panic!("{other:?} has no place in safetensors"),
    };
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for weight in Weight::all(&config) {
        let begin = data.len();
        data.extend(encode(encoding, &values(weight)));
        let entry =
            serde_json::json!({"dtype": tag, "shape": weight.shape(&config), "data_offsets": [begin, data.len()]});
        header.insert(weight.name(Convention::Transformers), entry);
    }
    with_header(&Value::Object(header), &data)
}

/// A safetensors file of a header and data.
pub(crate) fn with_header(header: &Value, data: &[u8]) -> Vec<u8> {
    let text = header.to_string();
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes(), data].concat()
}
