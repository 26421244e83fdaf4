// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! GGUF files.

use opweave_decode::checkpoint::{Convention, Encoding, PerLayer, Stretch, Weight};

use crate::support::files::{Gguf, Meta, Stored, gguf};
use crate::support::{config, quantise, values};
use crate::{open, refusal};

#[test]
fn every_weight_is_what_was_written() {
    for encoding in Encoding::ALL {
        let mut checkpoint = open(gguf(encoding, true).bytes()).unwrap();
        assert_eq!((checkpoint.config(), checkpoint.convention()), (&config(), Convention::Gguf));
        for weight in Weight::all(&config()) {
            let tensor = checkpoint.read(weight).unwrap();
            let shape = weight.shape(&config());
            let encoding = if shape.len() == 1 { Encoding::F32 } else { encoding };
            assert_eq!((&tensor.shape, tensor.encoding), (&shape, encoding), "{weight:?}");
            let bytes = quantise::encode(encoding, &values(weight));
            assert!(tensor.bytes == bytes, "{weight:?} in {encoding:?}");
            // A step of q4_0 is a seventh of a quarter, and half of it is lost.
            let close = |(a, b): (&f32, &f32)| (a - b).abs() <= 0.25 / 13.0;
            assert!(tensor.to_f32().iter().zip(&values(weight)).all(close), "{weight:?} in {encoding:?}");
        }
    }
}

#[test]
fn rows_of_queries_and_keys_come_in_the_order_of_halves() {
    let query = Weight::Layer(1, PerLayer::Query);
    let read = |paired| open(gguf(Encoding::F32, paired).bytes()).unwrap().read(query).unwrap().to_f32();
    assert!(read(true) == values(query));
    assert!(read(false) != values(query), "a file without the format's order is another model");
}

#[test]
fn versions_alignments_and_absent_keys() {
    let file = gguf(Encoding::F32, true);
    assert!(open(Gguf { version: 2, ..file.clone() }.bytes()).is_ok());
    let aligned = Gguf { alignment: 256, ..file.clone() }.set("general.alignment", Meta::U32(256));
    assert!(
        open(aligned.bytes()).unwrap().read(Weight::Layer(2, PerLayer::Down)).unwrap().to_f32()
            == values(Weight::Layer(2, PerLayer::Down))
    );
    let without = file.clone().without("llama.rope.freq_base").without("llama.vocab_size");
    assert_eq!(open(without.bytes()).unwrap().config(), &config());
    let tied =
        Gguf { tensors: file.tensors.iter().filter(|t| t.0 != "output.weight").cloned().collect(), ..file.clone() };
    assert!(open(tied.bytes()).unwrap().config().tied);
    let silent = file.without("tokenizer.ggml.model");
    assert!(open(silent.bytes()).unwrap().tokenizer().is_none());
}

#[test]
fn rotary_scaling_is_read_or_refused() {
    let file = gguf(Encoding::F32, true);
    let kind = |name: &str| file.clone().set("llama.rope.scaling.type", Meta::Text(name.into()));
    let linear = kind("linear").set("llama.rope.scaling.factor", Meta::F32(4.0));
    assert_eq!(open(linear.bytes()).unwrap().config().rope_stretch, Stretch::Linear(4.0));
    assert!(refusal(kind("linear").bytes()).contains("no metadata key llama.rope.scaling.factor"));
    assert!(
        refusal(kind("yarn").bytes()).contains("llama.rope.scaling.type is \"yarn\", expected \"none\" or \"linear\"")
    );
    let factors = |count: usize| {
        let mut file = file.clone();
        let bytes = (0..count).flat_map(|at| (1.0 + at as f32).to_le_bytes()).collect();
        file.tensors.push(("rope_freqs.weight".into(), vec![count as u64], 0, bytes));
        file.bytes()
    };
    let Stretch::Factors(found) = open(factors(32)).unwrap().config().rope_stretch.clone() else {
        panic!("no factors")
    };
    assert_eq!((found.len(), found[31]), (32, 32.0));
    assert!(refusal(factors(31)).contains("the number of rotary factors is 31, expected 32"));
}

#[test]
fn what_is_wrong_is_said() {
    let file = || gguf(Encoding::F32, true);
    let number = |key: &str, v: u32| refusal(file().set(key, Meta::U32(v)).bytes());
    let named = |key: &str, v: &str| refusal(file().set(key, Meta::Text(v.into())).bytes());
    let version = |version| refusal(Gguf { version, ..file() }.bytes());
    let tensor = |at: usize, change: &dyn Fn(&mut Stored)| {
        let mut file = file();
        change(&mut file.tensors[at]);
        refusal(file.bytes())
    };
    let mut twice = file();
    twice.meta.push(twice.meta[1].clone());
    let table = [
        (refusal(b"GGML".to_vec()), "the magic number is [47, 47, 4d, 4c], expected GGUF"),
        (refusal(vec![]), "the magic number needs 4 bytes, 0 are left of the file"),
        (version(1), "the GGUF version is 1, expected 2 or 3, little-endian"),
        (version(3_u32.swap_bytes()), "the GGUF version is 3 in big-endian order, expected 2 or 3"),
        (named("general.architecture", "gemma"), "the architecture is \"gemma\", expected \"llama\""),
        (number("general.architecture", 7), "general.architecture is no text"),
        (refusal(file().without("general.architecture").bytes()), "there is no metadata key general.architecture"),
        (refusal(file().without("llama.block_count").bytes()), "there is no metadata key llama.block_count"),
        (named("llama.block_count", "3"), "llama.block_count is Text(\"3\"), expected an integer"),
        (number("llama.block_count", 4), "there is no tensor blk.3.attn_norm.weight"),
        (number("llama.block_count", 2), "tensor blk.2.attn_k.weight is no part of a Llama model"),
        (number("llama.block_count", 0), "the number of layers is 0, expected 1 to 16777216"),
        (number("llama.block_count", u32::MAX), "the number of layers is 4294967295, expected 1 to"),
        (number("llama.embedding_length", 95), "has shape [320, 96], the configuration asks for [320, 95]"),
        (number("llama.attention.head_count_kv", 3), "key-value heads is 3, expected a divisor of the 4 heads"),
        (number("llama.attention.head_count", 0), "the number of heads is 0"),
        (number("llama.attention.key_length", 63), "the head dimension is 63, expected an even number"),
        (number("llama.attention.value_length", 32), "llama.attention.value_length is 32, expected the head dimension"),
        (number("llama.rope.dimension_count", 32), "llama.rope.dimension_count is 32, expected the head dimension 64"),
        (number("llama.expert_count", 8), "llama.expert_count is 8, expected 0"),
        (number("general.alignment", 24), "general.alignment is 24, expected a power of two"),
        (refusal(twice.bytes()), "metadata key llama.block_count is there twice"),
        (tensor(3, &|t| t.2 = 14), "is q6_k, expected one of f32, f16, bf16, q4_0, q4_1, q8_0"),
        (tensor(3, &|t| t.2 = 77), "is number 77, expected one of"),
        (tensor(3, &|t| t.1 = vec![1; 5]), "is 5, expected at most 4"),
        (tensor(3, &|t| t.1 = vec![u64::MAX, 2]), "a size that memory can address"),
        (tensor(1, &|t| t.1 = vec![97]), "tensor output_norm.weight has shape [97], the configuration asks for [96]"),
        (tensor(1, &|t| t.0 = "output_nrom.weight".into()), "there is no tensor output_norm.weight"),
        (tensor(1, &|t| t.0 = "token_embd.weight".into()), "tensor token_embd.weight is there twice"),
        (named("tokenizer.ggml.model", "llama"), "the tokeniser is \"llama\", expected \"gpt2\""),
        (named("tokenizer.ggml.pre", "tekken"), "the tokeniser's pattern is \"tekken\", expected \"gpt-2\""),
        (number("tokenizer.ggml.eos_token_id", 320), "a special token is 320, expected below 320"),
        (named("tokenizer.ggml.merges", "a b"), "tokenizer.ggml.merges is no list"),
        (
            refusal(file().set("tokenizer.ggml.merges", Meta::Texts(vec!["ab".into()])).bytes()),
            "a merge is \"ab\", expected two texts",
        ),
        (
            refusal(file().set("tokenizer.ggml.merges", Meta::Texts(vec!["zz zz".into()])).bytes()),
            "merge 0 is \"zzzz\", expected tokens of the vocabulary",
        ),
    ];
    for (found, wanted) in table {
        assert!(found.contains(wanted), "{found:?} does not say {wanted:?}");
    }
}
