#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The opweave authors
"""A Llama model in NumPy, in f32, written from the architecture's definition: the judge of the engine's logits.

It shares no code and no formula's form with the engine: attention is a whole matrix with a mask, the rotation is a product
of complex numbers, and there are no pages. `Llama.forward` yields the logits of every position; `greedy` continues a text.

    python llama.py FOLDER

reads `model.gguf` or else `model.safetensors`, `config.json` and `prompts.json`, a list of `{"name", "tokens"}`, and writes to
`oracle.json` for each prompt the logits of every position (those of every `stride`-th token, and the norm of all) and 64 greedy
tokens, or `count` of them.
"""

import argparse
import json
import pathlib
import struct

import numpy as np

GREEDY = 64


class Llama:
    def __init__(self, config, weight):
        """`weight(name)` gives a tensor by its name in Transformers, as an f32 array."""
        self.layers = config["num_hidden_layers"]
        self.heads = config["num_attention_heads"]
        self.kv_heads = config.get("num_key_value_heads") or self.heads
        self.width = config.get("head_dim") or config["hidden_size"] // self.heads
        self.eps = np.float32(config["rms_norm_eps"])
        pairs = np.arange(0, self.width, 2, dtype=np.float64) / self.width
        self.frequencies = config["rope_theta"] ** -pairs
        self.embedding = weight("model.embed_tokens.weight")
        tied = config.get("tie_word_embeddings", False)
        self.head = self.embedding if tied else weight("lm_head.weight")
        self.norm = weight("model.norm.weight")
        names = {
            "n1": "input_layernorm",
            "q": "self_attn.q_proj",
            "k": "self_attn.k_proj",
            "v": "self_attn.v_proj",
            "o": "self_attn.o_proj",
            "n2": "post_attention_layernorm",
            "gate": "mlp.gate_proj",
            "up": "mlp.up_proj",
            "down": "mlp.down_proj",
        }
        self.weights = [
            {short: weight(f"model.layers.{layer}.{long}.weight") for short, long in names.items()}
            for layer in range(self.layers)
        ]

    def rms_norm(self, x, scale):
        return x / np.sqrt(np.mean(np.square(x), axis=-1, keepdims=True) + self.eps) * scale

    def rotate(self, x, positions):
        """Feature i and i + width / 2 of a head are one complex number, turned by its frequency times the position."""
        half = self.width // 2
        turn = np.exp(1j * np.outer(positions, self.frequencies))[:, None, :]
        z = (x[..., :half] + 1j * x[..., half:]) * turn
        return np.concatenate([z.real, z.imag], axis=-1).astype(np.float32)

    def forward(self, tokens, past=None):
        """Logits of every token's position. `past`, a list, is extended by keys and values and lets a text go on."""
        past = [] if past is None else past
        if not past:
            past.extend([None, None] for _ in range(self.layers))
        begin = 0 if past[0][0] is None else len(past[0][0])
        count = len(tokens)
        positions = np.arange(begin, begin + count)
        x = self.embedding[np.asarray(tokens)]
        for w, state in zip(self.weights, past):
            h = self.rms_norm(x, w["n1"])
            q = self.rotate((h @ w["q"].T).reshape(count, self.heads, self.width), positions)
            k = self.rotate((h @ w["k"].T).reshape(count, self.kv_heads, self.width), positions)
            v = (h @ w["v"].T).reshape(count, self.kv_heads, self.width)
            for place, new in enumerate((k, v)):
                state[place] = new if state[place] is None else np.concatenate([state[place], new])
            k, v = (np.repeat(part, self.heads // self.kv_heads, axis=1) for part in state)
            scores = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(np.float32(self.width))
            future = np.arange(begin + count)[None, :] > positions[:, None]
            scores = np.where(future[None], np.float32(-np.inf), scores)
            scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
            scores /= scores.sum(axis=-1, keepdims=True)
            mixed = np.einsum("hqk,khd->qhd", scores, v).reshape(count, self.heads * self.width)
            x = x + mixed @ w["o"].T
            h = self.rms_norm(x, w["n2"])
            gate, up = h @ w["gate"].T, h @ w["up"].T
            x = x + (gate / (1 + np.exp(-gate)) * up) @ w["down"].T
        return self.rms_norm(x, self.norm) @ self.head.T

    def greedy(self, tokens, count=GREEDY):
        """The next tokens, each the likeliest, and how far the runner-up was at the closest."""
        past, out, closest = [], [], np.inf
        logits = self.forward(tokens, past)[-1]
        while True:
            best = int(np.argmax(logits))
            second, first = np.partition(logits, -2)[-2:]
            closest = min(closest, float((first - second) / np.linalg.norm(logits) * np.sqrt(logits.size)))
            out.append(best)
            if len(out) == count:
                return out, closest
            logits = self.forward([best], past)[-1]


def judged(model, prompts, stride):
    """What the tests compare with."""
    cases = []
    for prompt in prompts:
        logits = model.forward(prompt["tokens"])
        greedy, closest = model.greedy(prompt["tokens"], prompt.get("count", GREEDY))
        cases.append(
            {
                **prompt,
                "logits": [[float(f"{v:.7g}") for v in row[::stride]] for row in logits],
                "norms": [float(f"{np.linalg.norm(row):.7g}") for row in logits],
                "greedy": greedy,
                "closest": float(f"{closest:.3g}"),
            }
        )
    return {"stride": stride, "cases": cases}


def safetensors(path):
    """The tensors of a file as f32, by name, read when asked for."""
    data = np.memmap(path, np.uint8, "r")
    (length,) = struct.unpack("<Q", data[:8].tobytes())
    entries = json.loads(data[8 : 8 + length].tobytes())

    def weight(name):
        entry = entries[name]
        begin, end = (8 + length + at for at in entry["data_offsets"])
        dtype = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}[entry["dtype"]]
        values = data[begin:end].view(dtype)
        if entry["dtype"] == "BF16":
            values = (values.astype(np.uint32) << 16).view(np.float32)
        return values.astype(np.float32).reshape(entry["shape"])

    return weight


def gguf(path, config):
    """The same of a GGUF file, dequantised, with the rows of queries and keys put back into the order of halves."""
    from gguf import GGUFReader, dequantize

    tensors = {tensor.name: tensor for tensor in GGUFReader(path).tensors}
    short = {
        "input_layernorm": "attn_norm",
        "q_proj": "attn_q",
        "k_proj": "attn_k",
        "v_proj": "attn_v",
        "o_proj": "attn_output",
        "post_attention_layernorm": "ffn_norm",
        "gate_proj": "ffn_gate",
        "up_proj": "ffn_up",
        "down_proj": "ffn_down",
        "embed_tokens": "token_embd",
        "norm": "output_norm",
        "lm_head": "output",
    }

    def weight(name):
        parts = name.split(".")
        ours = f"{short[parts[-2]]}.weight"
        tensor = tensors[f"blk.{parts[2]}.{ours}" if parts[1] == "layers" else ours]
        values = dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        if parts[-2] in ("q_proj", "k_proj"):
            half, columns = config["head_dim"] // 2, values.shape[1]
            values = values.reshape(-1, half, 2, columns).swapaxes(1, 2).reshape(-1, columns)
        return values

    return weight


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--stride", type=int, default=97)
    options = parser.parse_args()
    folder = options.folder
    config = json.loads((folder / "config.json").read_text())
    if (folder / "model.gguf").exists():
        weight = gguf(folder / "model.gguf", config)
    else:
        weight = safetensors(folder / "model.safetensors")
    prompts = json.loads((folder / "prompts.json").read_text())
    found = judged(Llama(config, weight), prompts, options.stride)
    (folder / "oracle.json").write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
