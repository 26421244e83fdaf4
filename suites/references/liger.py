#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The opweave authors
"""Liger's Triton kernels."""
from dialogue import Built, Refused, serve


def _norm(case, offset):
    from liger_kernel.ops import rms_norm

    # In f32 throughout is what this library calls Gemma's way; Llama's rounds before the weight.
    way = {"f32": "gemma", "after_rounding": "llama"}[case.fact("weight_multiply", "f32", "after_rounding")]
    epsilon = case.scalars["epsilon"]
    return lambda t: {"out": rms_norm.rms_norm_forward(t["input"], t["weight"], epsilon, offset, way, True)[0]}


def _added(case, offset):
    from liger_kernel.ops import fused_add_rms_norm

    case.fact("sum", "rounded")
    way = {"f32": "gemma", "after_rounding": "llama"}[case.fact("weight_multiply", "f32", "after_rounding")]
    epsilon = case.scalars["epsilon"]

    def call(t):
        y, s, *_ = fused_add_rms_norm.fused_add_rms_norm_forward(
            t["input"], t["residual"], t["weight"], epsilon, offset, way
        )
        return {"out": y, "residual": s}

    return call


def _layer_norm(case):
    from liger_kernel.ops import layer_norm

    epsilon = case.scalars["epsilon"]
    return lambda t: {"out": layer_norm.layer_norm_forward(t["input"], t["weight"], t["bias"], epsilon)[0]}


def _silu(case):
    from liger_kernel.ops import swiglu

    if case.problem["halves"] == "packed":
        return lambda t: {"out": _tensor(swiglu.swiglu_fused_gate_up_forward(t["input"]))}
    return lambda t: {"out": _tensor(swiglu.swiglu_forward(t["input"], t["up"]))}


def _gelu(case):
    from liger_kernel.ops import geglu

    case.fact("halves", "separate")
    return lambda t: {"out": _tensor(geglu.geglu_forward(t["input"], t["up"]))}


def _softmax(case):
    from liger_kernel.ops import softmax

    if case.problem["out_dtype"] != case.problem["dtype"] or case.scalars["temperature"] != 1:
        raise Refused("softmax into another dtype or at a temperature")
    return lambda t: {"out": softmax._softmax_forward(t["input"])[0]}


def _tensor(found):
    """The output among what is kept for a backward pass."""
    return found[-1] if isinstance(found, tuple) else found


OPERATORS = {
    "rms_norm": lambda case: _norm(case, 0.0),
    "gemma_rms_norm": lambda case: _norm(case, 1.0),
    "fused_add_rms_norm": lambda case: _added(case, 0.0),
    "fused_add_gemma_rms_norm": lambda case: _added(case, 1.0),
    "layer_norm": _layer_norm,
    "silu_and_mul": _silu,
    "gelu_tanh_and_mul": _gelu,
    "softmax": _softmax,
}


def build(case):
    if case.operation not in OPERATORS:
        raise Refused(f"{case.operation} is not among Liger's operators")
    return Built(OPERATORS[case.operation](case), [])


def provenance():
    from importlib.metadata import version

    import operators
    import triton

    return f"liger-kernel {version('liger-kernel')}, triton {triton.__version__}, {operators.provenance()}"


if __name__ == "__main__":
    serve("liger", provenance, build)
