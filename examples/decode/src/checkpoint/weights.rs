// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The tensors of a Llama model: what each is for, its names, and its shape.

use super::{Config, Defect, Store, Tensor};

/// Whose conventions a file follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Convention {
    /// llama.cpp: short names; rows of the query and key matrices in the order of interleaved rotary pairs.
    Gguf,
    /// Transformers: long names; rotary halves.
    Transformers,
}

/// A tensor outside the layers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Global {
    /// A row for each token.
    Embedding,
    /// Scale of the last norm.
    Norm,
    /// From the residual stream to logits.
    Head,
}

/// A tensor of each layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PerLayer {
    /// Scale of the norm before attention.
    AttentionNorm,
    /// Query projection.
    Query,
    /// Key projection.
    Key,
    /// Value projection.
    Value,
    /// Back from attention.
    Output,
    /// Scale of the norm before the MLP.
    MlpNorm,
    /// The half of the MLP that goes through the activation.
    Gate,
    /// The other half.
    Up,
    /// Back from the MLP.
    Down,
}

/// Which tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weight {
    /// One of the model.
    Global(Global),
    /// One of a layer.
    Layer(usize, PerLayer),
}

const PER_LAYER: [PerLayer; 9] = [
    PerLayer::AttentionNorm,
    PerLayer::Query,
    PerLayer::Key,
    PerLayer::Value,
    PerLayer::Output,
    PerLayer::MlpNorm,
    PerLayer::Gate,
    PerLayer::Up,
    PerLayer::Down,
];

impl Weight {
    /// Every tensor of a model of that configuration.
    pub fn all(config: &Config) -> impl Iterator<Item = Weight> {
        let globals = [Global::Embedding, Global::Norm].into_iter().chain((!config.tied).then_some(Global::Head));
        let layers = (0..config.num_layers).flat_map(|layer| PER_LAYER.map(|tensor| Weight::Layer(layer, tensor)));
        globals.map(Weight::Global).chain(layers)
    }

    /// Its name in files of a convention.
    pub fn name(self, convention: Convention) -> String {
        let gguf = convention == Convention::Gguf;
        let (layer, short, long) = match self {
            Weight::Global(Global::Embedding) => (None, "token_embd", "model.embed_tokens"),
            Weight::Global(Global::Norm) => (None, "output_norm", "model.norm"),
            Weight::Global(Global::Head) => (None, "output", "lm_head"),
            Weight::Layer(layer, tensor) => {
                let (short, long) = match tensor {
                    PerLayer::AttentionNorm => ("attn_norm", "input_layernorm"),
                    PerLayer::Query => ("attn_q", "self_attn.q_proj"),
                    PerLayer::Key => ("attn_k", "self_attn.k_proj"),
                    PerLayer::Value => ("attn_v", "self_attn.v_proj"),
                    PerLayer::Output => ("attn_output", "self_attn.o_proj"),
                    PerLayer::MlpNorm => ("ffn_norm", "post_attention_layernorm"),
                    PerLayer::Gate => ("ffn_gate", "mlp.gate_proj"),
                    PerLayer::Up => ("ffn_up", "mlp.up_proj"),
                    PerLayer::Down => ("ffn_down", "mlp.down_proj"),
                };
                (Some(layer), short, long)
            }
        };
        match (layer, gguf) {
            (None, true) => format!("{short}.weight"),
            (None, false) => format!("{long}.weight"),
            (Some(layer), true) => format!("blk.{layer}.{short}.weight"),
            (Some(layer), false) => format!("model.layers.{layer}.{long}.weight"),
        }
    }

    /// Its shape, rows first.
    pub fn shape(self, c: &Config) -> Vec<usize> {
        match self {
            Weight::Global(Global::Embedding | Global::Head) => vec![c.vocab_size, c.hidden_size],
            Weight::Global(Global::Norm) => vec![c.hidden_size],
            Weight::Layer(_, tensor) => match tensor {
                PerLayer::AttentionNorm | PerLayer::MlpNorm => vec![c.hidden_size],
                PerLayer::Query => vec![c.query_size(), c.hidden_size],
                PerLayer::Key | PerLayer::Value => vec![c.kv_size(), c.hidden_size],
                PerLayer::Output => vec![c.hidden_size, c.query_size()],
                PerLayer::Gate | PerLayer::Up => vec![c.intermediate_size, c.hidden_size],
                PerLayer::Down => vec![c.hidden_size, c.intermediate_size],
            },
        }
    }

    /// Heads whose rows a GGUF file has in the order of interleaved pairs.
    fn paired_heads(self, config: &Config) -> Option<usize> {
        match self {
            Weight::Layer(_, PerLayer::Query) => Some(config.num_heads),
            Weight::Layer(_, PerLayer::Key) => Some(config.num_kv_heads),
            _ => None,
        }
    }
}

/// Tensors that may be there and are not read as weights: frequencies that follow from the configuration, or were read
/// with it.
fn is_extra(name: &str, convention: Convention, config: &Config) -> bool {
    match convention {
        Convention::Gguf => name == super::ROPE_FACTORS,
        Convention::Transformers => name.ends_with(".rotary_emb.inv_freq") || (config.tied && name == "lm_head.weight"),
    }
}

/// Compares every tensor of the store with the configuration, both ways.
pub(super) fn check(store: &Store, convention: Convention, config: &Config) -> Result<(), Defect> {
    let mut known = std::collections::HashSet::new();
    for weight in Weight::all(config) {
        let name = weight.name(convention);
        let entry = store.entry(&name).ok_or_else(|| Defect::missing(format!("tensor {name}")))?;
        let wanted = weight.shape(config);
        if entry.shape != wanted {
            return Err(Defect::Shape { name, found: entry.shape.clone(), wanted });
        }
        known.insert(name);
    }
    let foreign = |name: &&str| !known.contains(*name) && !is_extra(name, convention, config);
    match store.entries().map(|(name, _)| name).find(foreign) {
        Some(name) => Err(Defect::Foreign { name: name.to_owned() }),
        None => Ok(()),
    }
}

/// Reads a weight. Rows of query and key projections come in the order of rotary halves, whatever the file's is.
pub(super) fn read(
    store: &mut Store,
    convention: Convention,
    config: &Config,
    weight: Weight,
) -> Result<Tensor, Defect> {
    let mut tensor = store.read(&weight.name(convention))?;
    if convention == Convention::Gguf
        && let Some(heads) = weight.paired_heads(config)
    {
        tensor.bytes = halves_from_pairs(&tensor.bytes, heads, config.head_dim);
    }
    Ok(tensor)
}

/// Puts rows of interleaved pairs into the order of halves: GGUF stores features `i` and `i + head_dim / 2` of a head, which
/// rotate together, as neighbours `2i` and `2i + 1`.
fn halves_from_pairs(bytes: &[u8], heads: usize, head_dim: usize) -> Vec<u8> {
    let row = bytes.len() / (heads * head_dim);
    let mut out = Vec::with_capacity(bytes.len());
    for head in bytes.chunks_exact((row * head_dim).max(1)) {
        for side in 0..2 {
            for pair in 0..head_dim / 2 {
                let from = (2 * pair + side) * row;
                out.extend_from_slice(&head[from..from + row]);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_become_halves() {
        // Two heads of four features, rows of one byte.
        assert_eq!(halves_from_pairs(&[0, 2, 1, 3, 10, 12, 11, 13], 2, 4), [0, 1, 2, 3, 10, 11, 12, 13]);
        // Rows of two bytes.
        assert_eq!(halves_from_pairs(&[0, 0, 2, 2, 1, 1, 3, 3], 1, 4), [0, 0, 1, 1, 2, 2, 3, 3]);
    }
}
