#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The opweave authors
"""Writes `tests/data/tiny.json`: what the oracle says of a tiny model whose weights follow from their names.

The tests make the same weights in Rust. With `--check`, compares instead of writing (numbers to 1e-4, tokens exactly).
"""

import argparse
import json
import pathlib
import sys

import numpy as np

from llama import Llama, judged

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests/data/tiny.json"

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_act": "silu",
    "hidden_size": 96,
    "intermediate_size": 160,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "vocab_size": 320,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "max_position_embeddings": 256,
    "tie_word_embeddings": False,
    "eos_token_id": 1,
}


def shape_of(name):
    c = CONFIG
    hidden, inner = c["hidden_size"], c["intermediate_size"]
    queries, keys = (c[k] * c["head_dim"] for k in ("num_attention_heads", "num_key_value_heads"))
    return {
        "embed_tokens": (c["vocab_size"], hidden),
        "lm_head": (c["vocab_size"], hidden),
        "q_proj": (queries, hidden),
        "k_proj": (keys, hidden),
        "v_proj": (keys, hidden),
        "o_proj": (hidden, queries),
        "gate_proj": (inner, hidden),
        "up_proj": (inner, hidden),
        "down_proj": (hidden, inner),
    }.get(name.split(".")[-2], (hidden,))


def weight(name):
    """The upper 24 bits of SplitMix64, counted from the name's FNV-1a hash, on (-1/4, 1/4); scales of norms around 1."""
    seed = 0xCBF29CE484222325
    for byte in name.encode():
        seed = (seed ^ byte) * 0x100000001B3 % 2**64
    shape = shape_of(name)
    with np.errstate(over="ignore"):
        count = np.arange(1, np.prod(shape) + 1, dtype=np.uint64)
        z = np.uint64(seed) + count * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    values = ((z >> np.uint64(40)).astype(np.float64) * 2.0**-25 - 0.25).astype(np.float32)
    return (values if len(shape) > 1 else values + np.float32(1)).reshape(shape)


# One token, a few, past the end of pages of 16, and the bytes of characters of several bytes.
PROMPTS = {
    "one": [1],
    "short": [72, 101, 108, 108, 111],
    "page": [(7 * at * at + 3 * at + 5) % 320 for at in range(16)],
    "long": [(31 * at * at + 11 * at + 2) % 320 for at in range(37)],
    "multi-byte": list("é日🦀".encode()),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true")
    prompts = [{"name": name, "tokens": tokens} for name, tokens in PROMPTS.items()]
    found = {"config": CONFIG, **judged(Llama(CONFIG, weight), prompts, 8)}
    if not parser.parse_args().check:
        OUT.parent.mkdir(exist_ok=True)
        OUT.write_text(json.dumps(found, separators=(",", ":")).replace('{"name"', '\n{"name"') + "\n")
        return
    known = json.loads(OUT.read_text())
    for ours, theirs in zip(found["cases"], known["cases"], strict=True):
        if ours["tokens"] != theirs["tokens"] or ours["greedy"] != theirs["greedy"]:
            sys.exit(f"{OUT}: tokens of {ours['name']} differ")
        if not np.allclose(ours["logits"], theirs["logits"], rtol=1e-4, atol=1e-4):
            sys.exit(f"{OUT}: logits of {ours['name']} differ")


if __name__ == "__main__":
    main()
