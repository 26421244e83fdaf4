#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The opweave authors
"""What `torch.compile` makes of the same functions, for each shape by itself."""
import os

from dialogue import Built, serve

# What was compiled once is found again in a later run.
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", os.path.join(os.environ.get("OPWEAVE_BENCH_CACHE_DIR", "."), "inductor"))


def build(case):
    import operators
    import torch

    call = operators.build(case)
    torch._dynamo.reset()
    return Built(torch.compile(call, dynamic=False, fullgraph=True), [])


def provenance():
    import operators
    import triton

    return f"{operators.provenance()}, triton {triton.__version__}"


if __name__ == "__main__":
    serve("torch.compile", provenance, build)
