#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The opweave authors
"""What 8-bit activations do to the logits of a model: the oracle with coded inputs, beside the oracle, and beside llama.cpp.

    python codes.py FOLDER [--llama]

reads what `llama.py` reads. Inputs of products are coded as the input mode `i8_block32` has them: blocks of 32, a scale each. The
products are coded all at once, one kind of them at a time, and one layer at a time. `--llama` asks llama.cpp, which codes its inputs
too, for the same logits (the Python package `llama-cpp-python`). Distances are relative, of all logits of a position.
"""

import argparse
import json
import pathlib

import numpy as np

import llama

BLOCK = 32
KINDS = {"queries, keys, values": ("q", "k", "v"), "back from attention": ("o",), "gate, up": ("gate", "up"), "down": ("down",), "logits": ()}


def code(x):
    blocks = x.reshape(*x.shape[:-1], -1, BLOCK)
    scale = np.abs(blocks).max(axis=-1, keepdims=True) / np.float32(127)
    scale[scale == 0] = 1
    return (np.clip(np.rint(blocks / scale), -127, 127) * scale).reshape(x.shape)


class Coded:
    """A weight whose products code their input."""

    __array_ufunc__ = None

    def __init__(self, weight, seen):
        self.weight, self.seen = weight, seen
        self.T = self

    def __rmatmul__(self, x):
        self.seen.append(x)
        return code(x) @ self.weight.T


def coded(model, kinds, layers=None):
    """The model with some of its products coded, and a list that takes their inputs."""
    other, seen = llama.Llama.__new__(llama.Llama), []
    other.__dict__.update(model.__dict__)
    names = [name for kind in kinds for name in KINDS[kind]]
    other.weights = [
        {name: Coded(w, seen) if name in names and (layers is None or at in layers) else w for name, w in layer.items()}
        for at, layer in enumerate(model.weights)
    ]
    if "logits" in kinds:
        other.head = Coded(model.head, seen)
    return other, seen


def apart(found, wanted):
    return np.concatenate(
        [np.linalg.norm(a - b, axis=-1) / np.linalg.norm(b, axis=-1) for a, b in zip(found, wanted)]
    )


def show(name, distances):
    middle, most = np.median(distances), distances.max()
    print(f"{name:<44} median {middle:.3f}, 9 of 10 below {np.quantile(distances, 0.9):.3f}, most {most:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--llama", action="store_true")
    options = parser.parse_args()
    folder = options.folder
    config = json.loads((folder / "config.json").read_text())
    model = llama.Llama(config, llama.gguf(folder / "model.gguf", config))
    texts = [prompt["tokens"] for prompt in json.loads((folder / "prompts.json").read_text())]
    wanted = [model.forward(tokens) for tokens in texts]
    everything = coded(model, KINDS)[0]
    all_coded = [everything.forward(tokens) for tokens in texts]
    show("all products coded", apart(all_coded, wanted))
    if options.llama:
        from llama_cpp import Llama

        theirs = Llama(str(folder / "model.gguf"), n_ctx=512, n_batch=512, logits_all=True, verbose=False)
        said = []
        for tokens in texts:
            theirs.reset()
            theirs.eval(tokens)
            said.append(np.array(theirs.scores[: len(tokens)], np.float32))
        show("llama.cpp", apart(said, wanted))
        show("llama.cpp, from all products coded", apart(said, all_coded))
    for kind in KINDS:
        other, seen = coded(model, [kind])
        show(f"only {kind}", apart([other.forward(tokens) for tokens in texts], wanted))
        error = np.concatenate([np.linalg.norm(code(x) - x, axis=-1) / np.linalg.norm(x, axis=-1) for x in seen])
        print(f"{'':<4}inputs themselves: median {np.median(error):.4f}, most {error.max():.4f}")
    short = texts[2:3]
    for layer in range(len(model.weights)):
        other = coded(model, KINDS, {layer})[0]
        other.head = model.head
        show(f"only layer {layer}, the third prompt", apart([other.forward(t) for t in short], wanted[2:3]))


if __name__ == "__main__":
    main()
