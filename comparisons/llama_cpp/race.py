#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The opweave authors
"""Races the example engine against llama.cpp: the same GGUF file, the same threads, turns in one run.

    cargo build --release -p opweave-decode
    cargo build --release -p opweave-cpu --example read_speed
    python comparisons/llama_cpp/race.py .model/model.gguf

Wants the Python packages `llama-cpp-python` and `numpy`. Both decode the same made-up tokens, so that what is timed does not depend
on what is said: a prompt, and then one token after the other. Beside them the memory is read, on as many threads, by NumPy and by
the library's own kernel for it: the faster of the two is what rates are compared with. `--candle` lets candle's Llama run along,
which is built for this processor first: as cargo builds by default its kernels are scalar code. `--only-candle` wants no llama.cpp,
`--only-ours` neither: only reading is compared with then. `--text` compares what is said instead: greedy tokens of some prompts.
"""

import argparse
import json
import os
import pathlib
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


class Candle:
    """candle's Llama as a process that waits for commands."""

    def __init__(self, options):
        folder = pathlib.Path(__file__).parent.parent / "candle_llama"
        environment = {**os.environ, "RAYON_NUM_THREADS": str(options.threads), "RUSTFLAGS": "-C target-cpu=native"}
        build = ["cargo", "build", "--release", "--target-dir", "target/native"]
        subprocess.run(build, check=True, cwd=folder, env=environment)
        command = [folder / "target/native/release/candle-llama", options.model]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        assert self.process.stdout.readline() == "ready\n", "candle does not load the model"

    def rate(self, prompt, tokens):
        command = f"decode {prompt} {tokens}" if tokens else f"prefill {prompt}"
        print(command, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())


PROMPTS = [
    "Name three colours.",
    "What is the capital of France?",
    "Write a short poem about the sea.",
    "Explain why the sky is blue in two sentences.",
    "Count from one to ten.",
]


def compare_text(options):
    """Greedy tokens of both, up to the first that differs."""
    theirs = Theirs(options).model
    for prompt in PROMPTS:
        text = f"<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n"
        tokens = theirs.tokenize(text.encode(), add_bos=False, special=True)
        theirs.reset()
        theirs.eval(tokens)
        said = []
        for _ in range(options.tokens):
            logits = np.ctypeslib.as_array(theirs._ctx.get_logits(), shape=(theirs.n_vocab(),))
            best = np.argsort(logits)[-2:]
            said.append((int(best[1]), float(logits[best[1]] - logits[best[0]])))
            theirs.eval([said[-1][0]])
        for form, more in (("stored", []), ("quantised activations", ["--quantised-activations"])):
            command = [options.decode, "--model", options.model, "--threads", str(options.threads), "--json"]
            command += ["--chat", "--prompt", prompt, "--ignore-end", "--tokens", str(options.tokens), *more]
            report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            pairs = enumerate(zip(report["tokens"], said))
            apart = next(((at, margin) for at, (mine, (other, margin)) in pairs if mine != other), None)
            verdict = f"apart at token {apart[0]}, lead of llama.cpp's {apart[1]:.3f}" if apart else "the same"
            print(f"{prompt:<48} {form:<24} {verdict}", flush=True)


class Reading:
    """Bytes read per second by as many threads: by NumPy, each through memory of its own, and by the library."""

    def __init__(self, options, size=192 << 20):
        self.parts = [np.ones(size // 8, np.int64) for _ in range(options.threads)]
        command = [options.read, str(options.threads), str(options.threads * size >> 20)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n", "the library does not read"

    def numpy(self):
        work = [threading.Thread(target=part.max) for part in self.parts]
        begin = time.perf_counter()
        for thread in work:
            thread.start()
        for thread in work:
            thread.join()
        return sum(part.nbytes for part in self.parts) / (time.perf_counter() - begin)

    def library(self):
        print(file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("model")
    parser.add_argument("--decode", default="target/release/decode")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--candle", action="store_true")
    parser.add_argument("--only-candle", action="store_true", help="race candle alone, without llama-cpp-python")
    parser.add_argument("--only-ours", action="store_true", help="race nobody: reading alone is compared with")
    parser.add_argument("--read", default="target/release/examples/read_speed")
    parser.add_argument("--text", action="store_true")
    parser.add_argument("--tokens", type=int, default=64, help="of each text")
    parser.add_argument("--forms", default="stored,codes,bf16,f32", help="which of ours run")
    options = parser.parse_args()
    if options.text:
        compare_text(options)
        return
    others = {} if options.only_candle or options.only_ours else {"llama.cpp": Theirs(options)}
    if options.candle or options.only_candle:
        others["candle"] = Candle(options)
    forms = {
        "stored": [],
        "codes": ["--quantised-activations"],
        "bf16": ["--weights", "bf16"],
        "f32": ["--weights", "f32"],
    }
    forms = {form: forms[form] for form in options.forms.split(",")}
    reading = Reading(options)
    found, weights = {}, {}
    keep = lambda name, value: found.setdefault(name, []).append(value)
    for _ in range(options.rounds):
        for what, prompt, tokens in (("prefill of 512", 512, 0), ("decode", 16, 64)):
            for form, more in forms.items():
                # The machine's memory is faster in some minutes than in others: it is read beside everything that is timed.
                keep("read by NumPy, GB/s", statistics.median(reading.numpy() for _ in range(3)) / 1e9)
                keep("read by the library, GB/s", statistics.median(reading.library() for _ in range(3)) / 1e9)
                rate, weights[form] = ours(options, prompt, tokens, more)
                keep(f"{what}, {form}", rate)
            for name, other in others.items():
                keep(f"{what}, {name}", other.rate(prompt, tokens))
    read = max(statistics.median(found[f"read by {name}, GB/s"]) for name in ("NumPy", "the library"))
    for name, values in found.items():
        middle = statistics.median(values)
        line = f"{name:<46} {middle:>8.1f}  ({min(values):.1f} to {max(values):.1f})"
        what, _, form = name.partition(", ")
        if form in forms:
            for other in others:
                line += f"  {middle / statistics.median(found[f'{what}, {other}']):.2f} of {other}"
            if what == "decode":
                line += f", {middle * weights[form] / read / 1e9:.2f} of reading {weights[form] / 1e6:.0f} MB a token"
        print(line)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
