#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The opweave authors
"""PyTorch, one kernel after another."""
from dialogue import Built, serve


def build(case):
    import operators

    return Built(operators.build(case), [])


def provenance():
    import operators

    return operators.provenance()


if __name__ == "__main__":
    serve("torch.eager", provenance, build)
