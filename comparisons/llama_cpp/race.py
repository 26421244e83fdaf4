#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The opweave authors
"""Races the example engine against llama.cpp: the same GGUF file, the same threads, turns in one run.

    cargo build --release -p opweave-decode
    python comparisons/llama_cpp/race.py .model/model.gguf

Wants the Python packages `llama-cpp-python` and `numpy`. Both decode the same made-up tokens, so that what is timed does not depend
on what is said: a prompt, and then one token after the other. Beside them the memory is read, on as many threads.
"""

import argparse
import json
import statistics
import subprocess
import sys
import threading
import time

import numpy as np


def ours(options, prompt, tokens, more):
    command = [options.decode, "--model", options.model, "--threads", str(options.threads), "--json", "--ignore-end"]
    command += ["--prompt-tokens", str(prompt), "--tokens", str(tokens + 1), *more]
    report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    stage = report["decode" if tokens else "prefill"]
    return stage["tokens_per_second"], report["bytes_per_token"]


class Theirs:
    def __init__(self, options):
        from llama_cpp import Llama

        threads = options.threads
        self.model = Llama(
            options.model, n_ctx=1024, n_batch=512, n_threads=threads, n_threads_batch=threads, verbose=False
        )

    def rate(self, prompt, tokens):
        vocabulary = self.model.n_vocab()
        text = [(at * 7919 + 17) % vocabulary for at in range(prompt)]
        self.model.reset()
        begin = time.perf_counter()
        self.model.eval(text)
        if not tokens:
            return prompt / (time.perf_counter() - begin)
        begin = time.perf_counter()
        for at in range(tokens):
            self.model.eval([text[at % prompt]])
        return tokens / (time.perf_counter() - begin)


def bandwidth(threads, size=192 << 20):
    """Bytes read per second by as many threads, each through memory of its own."""
    parts = [np.ones(size // 8, np.int64) for _ in range(threads)]
    work = [threading.Thread(target=part.max) for part in parts]
    begin = time.perf_counter()
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    return threads * size / (time.perf_counter() - begin)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("model")
    parser.add_argument("--decode", default="target/release/decode")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    theirs = Theirs(options)
    forms = {
        "stored": [],
        "stored, quantised activations": ["--quantised-activations"],
        "bf16": ["--weights", "bf16"],
        "f32": ["--weights", "f32"],
    }
    found, weights = {}, {}
    keep = lambda name, value: found.setdefault(name, []).append(value)
    for _ in range(options.rounds):
        keep("read, GB/s", bandwidth(options.threads) / 1e9)
        for what, prompt, tokens in (("prefill of 512", 512, 0), ("decode", 16, 64)):
            for form, more in forms.items():
                rate, weights[form] = ours(options, prompt, tokens, more)
                keep(f"{what}, {form}", rate)
            keep(f"{what}, llama.cpp", theirs.rate(prompt, tokens))
    read = statistics.median(found["read, GB/s"])
    for name, values in found.items():
        middle = statistics.median(values)
        line = f"{name:<46} {middle:>8.1f}  ({min(values):.1f} to {max(values):.1f})"
        what, _, form = name.partition(", ")
        if form in forms:
            ratio = middle / statistics.median(found[f"{what}, llama.cpp"])
            line += f"  {ratio:.2f} of llama.cpp"
            if what == "decode":
                line += f", {middle * weights[form] / read / 1e9:.2f} of reading {weights[form] / 1e6:.0f} MB a token"
        print(line)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
