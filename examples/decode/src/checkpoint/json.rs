// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `config.json` of a Llama checkpoint, in the keys of Transformers.

use serde::Deserialize;
use serde_json::Value;

use super::{Config, Defect, Stretch};

/// The keys that say what is computed. Others describe training, or software.
#[derive(Deserialize)]
struct Document {
    model_type: Option<String>,
    architectures: Option<Vec<String>>,
    vocab_size: usize,
    hidden_size: usize,
    intermediate_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    num_key_value_heads: Option<usize>,
    head_dim: Option<usize>,
    rms_norm_eps: f64,
    rope_theta: Option<f64>,
    rope_scaling: Option<Rope>,
    rope_parameters: Option<Rope>,
    max_position_embeddings: usize,
    #[serde(default)]
    tie_word_embeddings: bool,
    hidden_act: Option<String>,
    attention_bias: Option<bool>,
    mlp_bias: Option<bool>,
    bos_token_id: Option<Value>,
    eos_token_id: Option<Value>,
}

#[derive(Deserialize)]
struct Rope {
    #[serde(alias = "type")]
    rope_type: Option<String>,
    rope_theta: Option<f64>,
    factor: Option<f64>,
    low_freq_factor: Option<f64>,
    high_freq_factor: Option<f64>,
    original_max_position_embeddings: Option<usize>,
}

/// A configuration, and the tokens that it says begin and end a text.
pub(super) struct FromJson {
    pub(super) config: Config,
    pub(super) begin: Vec<u32>,
    pub(super) end: Vec<u32>,
}

/// Reads the document.
pub(super) fn read(text: &[u8]) -> Result<FromJson, Defect> {
    let parsed = serde_json::from_slice::<Document>(text);
    let json = parsed.map_err(|source| Defect::Json { what: "config.json".into(), source })?;
    let kind = json.model_type.as_deref().unwrap_or("none");
    let named = json.architectures.iter().flatten().all(|name| name == "LlamaForCausalLM");
    if kind != "llama" || !named {
        let found = format!("{kind:?}, {:?}", json.architectures.unwrap_or_default());
        return Err(Defect::unknown("the architecture", found, "\"llama\", [\"LlamaForCausalLM\"]"));
    }
    if let Some(other) = json.hidden_act.filter(|name| name != "silu") {
        return Err(Defect::unknown("hidden_act", format!("{other:?}"), "\"silu\""));
    }
    for (key, bias) in [("attention_bias", json.attention_bias), ("mlp_bias", json.mlp_bias)] {
        if bias == Some(true) {
            return Err(Defect::unknown(key, true, "false"));
        }
    }
    let heads = json.num_attention_heads;
    let head_dim = match json.head_dim {
        Some(size) => size,
        None if heads > 0 && json.hidden_size.is_multiple_of(heads) => json.hidden_size / heads,
        None => {
            let legal = format!("a divisor of the hidden size {}", json.hidden_size);
            return Err(Defect::unknown("num_attention_heads", heads, legal));
        }
    };
    let rope = json.rope_parameters.or(json.rope_scaling);
    let theta = rope.as_ref().and_then(|rope| rope.rope_theta).or(json.rope_theta);
    let config = Config {
        vocab_size: json.vocab_size,
        hidden_size: json.hidden_size,
        intermediate_size: json.intermediate_size,
        num_layers: json.num_hidden_layers,
        num_heads: heads,
        num_kv_heads: json.num_key_value_heads.unwrap_or(heads),
        head_dim,
        rms_norm_eps: json.rms_norm_eps as f32,
        rope_theta: theta.unwrap_or(10_000.0),
        rope_stretch: rope.map_or(Ok(Stretch::None), stretch)?,
        max_positions: json.max_position_embeddings,
        tied: json.tie_word_embeddings,
    };
    let begin = tokens("bos_token_id", json.bos_token_id)?;
    let end = tokens("eos_token_id", json.eos_token_id)?;
    Ok(FromJson { config: config.checked()?, begin, end })
}

/// An unknown kind is an error: a model run without its scaling is right for short texts only.
fn stretch(rope: Rope) -> Result<Stretch, Defect> {
    let need =
        |name: &str, value: Option<f64>| value.ok_or_else(|| Defect::missing(format!("{name} of the rotary scaling")));
    match rope.rope_type.as_deref() {
        None | Some("default") => Ok(Stretch::None),
        Some("linear") => Ok(Stretch::Linear(need("factor", rope.factor)?)),
        Some("llama3") => Ok(Stretch::Llama3 {
            factor: need("factor", rope.factor)?,
            low: need("low_freq_factor", rope.low_freq_factor)?,
            high: need("high_freq_factor", rope.high_freq_factor)?,
            original: rope
                .original_max_position_embeddings
                .ok_or_else(|| Defect::missing("original_max_position_embeddings of the rotary scaling"))?,
        }),
        Some(other) => {
            Err(Defect::unknown("the rotary scaling", format!("{other:?}"), "\"default\", \"linear\" or \"llama3\""))
        }
    }
}

/// One token, a list of tokens, or none.
fn tokens(key: &str, value: Option<Value>) -> Result<Vec<u32>, Defect> {
    let wrong = |found: &Value| Defect::unknown(key, found, "a token or a list of tokens");
    let one = |v: &Value| v.as_u64().and_then(|v| u32::try_from(v).ok()).ok_or_else(|| wrong(v));
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(list)) => list.iter().map(one).collect(),
        Some(other) => one(&other).map(|token| vec![token]),
    }
}
