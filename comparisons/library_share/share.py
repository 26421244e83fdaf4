#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The opweave authors
"""Says where the main thread of the example engine is while it decodes: in kernels, in the library around them, or in the engine.

    cargo build --release -p opweave-decode
    python comparisons/library_share/share.py .model/model.gguf

Wants `perf` (Debian: linux-perf); a clock of software is enough, so it runs in virtual machines. Samples are told apart by the
function that they fall into. What a compiler put into a caller counts as its caller's: calls of the library that became part of
`Engine::forward` count as the engine's. So the library's share lies between its own functions' and theirs with all of the engine's.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import tempfile

# The first that is found in a name decides. Launchers of `opweave_cpu` are around kernels, not in them.
PLACES = [
    ("the library around kernels", r"opweave_cpu::(native|ops|faults)|opweave_(runtime|registry|contract|tensor|reference)::"),
    ("the pool: handing out, waiting", r"opweave_device::cpu::pool"),
    ("kernels", r"opweave_cpu::"),
    ("the engine", r"opweave_decode::|^decode::"),
    ("the library around kernels", r"opweave(_device)?::"),
]


def place(name, module):
    for where, pattern in PLACES:
        if re.search(pattern, name):
            return where
    return f"elsewhere: {module}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("model")
    parser.add_argument("--decode", default="target/release/decode")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=1000)
    parser.add_argument("--delay", type=int, default=4000, help="milliseconds for loading, which are not sampled")
    parser.add_argument("--frequency", type=int, default=2000, help="samples a second")
    parser.add_argument("--names", type=int, default=12, help="how many functions outside of kernels to name")
    options, more = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        samples = pathlib.Path(folder) / "samples"
        record = ["perf", "record", "--event", "cpu-clock", "--freq", str(options.frequency), "--delay", str(options.delay)]
        run = [options.decode, "--model", options.model, "--threads", str(options.threads), "--ignore-end", "--json"]
        run += ["--prompt-tokens", "16", "--tokens", str(options.tokens), *(more or ["--quantised-activations"])]
        subprocess.run([*record, "--output", samples, "--", *run], check=True, capture_output=True)
        script = ["perf", "script", "--input", samples, "--fields", "pid,tid,ip,sym,dso"]
        text = subprocess.run(script, check=True, capture_output=True, text=True).stdout
    found, names = collections.Counter(), collections.Counter()
    for line in text.splitlines():
        parts = re.match(r"\s*(\d+)/(\d+)\s+[0-9a-f]+ (.*) \(([^()]*)\)$", line)
        if not parts or parts[1] != parts[2]:
            continue
        where = place(parts[3], pathlib.Path(parts[4]).name)
        found[where] += 1
        if where != "kernels":
            names[where, parts[3][:110]] += 1
    total = found.total()
    print(f"{total} samples of the main thread")
    for where, count in found.most_common():
        print(f"{100 * count / total:7.2f} %  {where}")
    for (where, name), count in names.most_common(options.names):
        print(f"{100 * count / total:7.2f} %  {where}: {name}")


if __name__ == "__main__":
    main()
