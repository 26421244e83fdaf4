// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The configuration in a GGUF file's metadata.

use super::value::Metadata;
use crate::checkpoint::{Config, Defect, Stretch};

const ARCHITECTURE: &str = "llama";

/// Reads the configuration. `tied` says that there is no output matrix; `factors` are those of the rotary frequencies.
///
/// # Errors
/// [`Defect`] for another architecture, a key that is missing, or a number outside its legal set.
pub fn config(metadata: &Metadata, tied: bool, factors: Option<Vec<f32>>) -> Result<Config, Defect> {
    let architecture = metadata.text("general.architecture")?.ok_or_else(|| missing("general.architecture"))?;
    if architecture != ARCHITECTURE {
        return Err(Defect::unknown("the architecture", format!("{architecture:?}"), format!("{ARCHITECTURE:?}")));
    }
    let key = |name: &str| format!("{ARCHITECTURE}.{name}");
    let maybe = |name: &str| metadata.size(&key(name));
    let size = |name: &str| maybe(name)?.ok_or_else(|| missing(&key(name)));
    if let Some(experts @ 1..) = maybe("expert_count")? {
        return Err(Defect::unknown(key("expert_count"), experts, "0: experts are another architecture"));
    }
    let hidden_size = size("embedding_length")?;
    let num_heads = size("attention.head_count")?;
    let head_dim = match maybe("attention.key_length")? {
        Some(length) => length,
        None if num_heads > 0 && hidden_size.is_multiple_of(num_heads) => hidden_size / num_heads,
        None => {
            let legal = format!("a divisor of the hidden size {hidden_size}");
            return Err(Defect::unknown(key("attention.head_count"), num_heads, legal));
        }
    };
    for (name, what) in [("rope.dimension_count", "rotary"), ("attention.value_length", "value")] {
        if let Some(found) = maybe(name)?.filter(|found| *found != head_dim) {
            let legal = format!("the head dimension {head_dim}: another {what} width is not supported");
            return Err(Defect::unknown(key(name), found, legal));
        }
    }
    let vocab_size = match maybe("vocab_size")? {
        Some(size) => size,
        None => metadata.texts("tokenizer.ggml.tokens")?.ok_or_else(|| missing(&key("vocab_size")))?.len(),
    };
    let epsilon = key("attention.layer_norm_rms_epsilon");
    Config {
        vocab_size,
        hidden_size,
        intermediate_size: size("feed_forward_length")?,
        num_layers: size("block_count")?,
        num_heads,
        num_kv_heads: maybe("attention.head_count_kv")?.unwrap_or(num_heads),
        head_dim,
        rms_norm_eps: metadata.number(&epsilon)?.ok_or_else(|| missing(&epsilon))? as f32,
        rope_theta: metadata.number(&key("rope.freq_base"))?.unwrap_or(10_000.0),
        rope_stretch: stretch(metadata, factors)?,
        max_positions: size("context_length")?,
        tied,
    }
    .checked()
}

fn stretch(metadata: &Metadata, factors: Option<Vec<f32>>) -> Result<Stretch, Defect> {
    let key = "llama.rope.scaling.type";
    let kind = metadata.text(key)?.unwrap_or("none");
    match (kind, factors) {
        ("none", None) => Ok(Stretch::None),
        ("none", Some(factors)) => Ok(Stretch::Factors(factors)),
        ("linear", None) => {
            let factor = "llama.rope.scaling.factor";
            Ok(Stretch::Linear(metadata.number(factor)?.ok_or_else(|| missing(factor))?))
        }
        (kind, None) => Err(Defect::unknown(key, format!("{kind:?}"), "\"none\" or \"linear\"")),
        (kind, Some(_)) => Err(Defect::unknown(key, format!("{kind:?} beside rope_freqs.weight"), "\"none\"")),
    }
}

fn missing(key: &str) -> Defect {
    Defect::missing(format!("metadata key {key}"))
}
