// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A tiny model whose weights follow from their names, in every format that the program reads.

pub(crate) mod files;
pub(crate) mod quantise;

use opweave_decode::checkpoint::{Config, Convention, Weight};

/// `tests/data/tiny.json`: what the oracle says of the model.
pub(crate) fn oracle() -> serde_json::Value {
    serde_json::from_str(include_str!("../data/tiny.json")).unwrap()
}

/// The model's `config.json`.
pub(crate) fn config_json() -> Vec<u8> {
    oracle()["config"].to_string().into_bytes()
}

/// The model's configuration, as the test knows it.
pub(crate) fn config() -> Config {
    Config {
        vocab_size: 320,
        hidden_size: 96,
        intermediate_size: 160,
        num_layers: 3,
        num_heads: 4,
        num_kv_heads: 2,
        head_dim: 64,
        rms_norm_eps: 1e-5,
        rope_theta: 10_000.0,
        rope_stretch: opweave_decode::checkpoint::Stretch::None,
        max_positions: 256,
        tied: false,
    }
}

/// A weight's numbers: the upper 24 bits of SplitMix64, counted from the FNV-1a hash of its name in Transformers, on
/// (-1/4, 1/4); scales of norms around 1.
pub(crate) fn values(weight: Weight) -> Vec<f32> {
    let shape = weight.shape(&config());
    let name = weight.name(Convention::Transformers);
    let hash = |seed: u64, byte: u8| (seed ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    let seed = name.bytes().fold(0xcbf2_9ce4_8422_2325, hash);
    let around = if shape.len() == 1 { 1.0 } else { 0.0 };
    (1..=shape.iter().product::<usize>() as u64)
        .map(|count| {
            let mut z = seed.wrapping_add(count.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^= z >> 31;
            ((z >> 40) as f64 * 2.0_f64.powi(-25) - 0.25) as f32 + around
        })
        .collect()
}
