# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The opweave authors
"""What the operators compute, in PyTorch's own words: what eager mode runs and `torch.compile` compiles.

Each function takes a case and returns a function of the inputs. Intermediate values are f32 where the contract's mode
says so, so that the comparator holds them to the same bounds as ours.
"""
import torch
import torch.nn.functional as F

from dialogue import Case, Refused


def _after(case: Case) -> bool:
    return case.fact("weight_multiply", "f32", "after_rounding") == "after_rounding"


def _weighted(normed, weight, dtype, after):
    """The weight on a normalised f32 value, before or after the rounding to `dtype`."""
    if weight is None:
        return normed.to(dtype)
    return normed.to(dtype) * weight.to(dtype) if after else (normed * weight.float()).to(dtype)


def _rms(x, epsilon):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon)


def rms_norm(case):
    epsilon, after = case.scalars["epsilon"], _after(case)

    def call(t):
        x, weight = t["input"], t.get("weight")
        if not after and (weight is None or weight.dtype == x.dtype):
            return {"out": F.rms_norm(x, x.shape[-1:], weight, epsilon)}
        return {"out": _weighted(_rms(x.float(), epsilon), weight, x.dtype, after)}

    return call


def gemma_rms_norm(case):
    epsilon, after = case.scalars["epsilon"], _after(case)

    def call(t):
        x = t["input"]
        normed = _rms(x.float(), epsilon)
        normed = normed.to(x.dtype).float() if after else normed
        return {"out": (normed * (1 + t["weight"].float())).to(x.dtype)}

    return call


def _added(case, t):
    """The sum as it is stored, and as the norm sees it."""
    if case.fact("sum", "unrounded", "rounded") == "rounded":
        stored = t["input"] + t["residual"]
        return stored, stored.float()
    seen = t["input"].float() + t["residual"].float()
    return seen.to(t["residual"].dtype), seen


def fused_add_rms_norm(case):
    epsilon, after = case.scalars["epsilon"], _after(case)

    def call(t):
        stored, seen = _added(case, t)
        return {"residual": stored, "out": _weighted(_rms(seen, epsilon), t.get("weight"), stored.dtype, after)}

    return call


def fused_add_gemma_rms_norm(case):
    epsilon, after = case.scalars["epsilon"], _after(case)

    def call(t):
        stored, seen = _added(case, t)
        normed = _rms(seen, epsilon)
        normed = normed.to(stored.dtype).float() if after else normed
        return {"residual": stored, "out": (normed * (1 + t["weight"].float())).to(stored.dtype)}

    return call


def layer_norm(case):
    epsilon = case.scalars["epsilon"]
    return lambda t: {"out": F.layer_norm(t["input"], t["input"].shape[-1:], t.get("weight"), t.get("bias"), epsilon)}


def l2_norm(case):
    case.fact("form", "rsqrt_sum_eps")
    epsilon = case.scalars["epsilon"]

    def call(t):
        x = t["input"].float()
        return {"out": (x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + epsilon)).to(t["input"].dtype)}

    return call


def rms_norm_gated(case):
    epsilon, after = case.scalars["epsilon"], _after(case)
    if after:
        raise Refused("rms_norm_gated after rounding")
    gate = {"silu": F.silu, "sigmoid": torch.sigmoid}[case.fact("gate", "silu", "sigmoid")]
    first = case.fact("order", "norm_then_gate", "gate_then_norm") == "norm_then_gate"
    groups = int(case.problem["groups"])

    def call(t):
        x, factor = t["input"].float(), gate(t["z"].float())
        x = x if first else x * factor
        y = _rms(x.unflatten(-1, (groups, -1)), epsilon).flatten(-2)
        y = y if t.get("weight") is None else y * t["weight"].float()
        return {"out": (y * factor if first else y).to(t["input"].dtype)}

    return call


def _gated(activation):
    def build(case):
        rounded = case.fact("activation_product", "f32", "rounded_activation") == "rounded_activation"

        def call(t):
            gate, up = (t["input"], t["up"]) if "up" in t else t["input"].chunk(2, -1)
            if rounded:
                return {"out": activation(gate) * up}
            return {"out": (activation(gate.float()) * up.float()).to(gate.dtype)}

        return call

    return build


silu_and_mul = _gated(F.silu)
gelu_and_mul = _gated(F.gelu)
gelu_tanh_and_mul = _gated(lambda x: F.gelu(x, approximate="tanh"))


def _softmax(function):
    def build(case):
        temperature = case.scalars["temperature"]
        wide = case.problem["out_dtype"] == "f32"

        def call(t):
            x = t["input"] if temperature == 1 else t["input"].float() / temperature
            if wide:
                return {"out": function(x, -1, dtype=torch.float32)}
            return {"out": function(x, -1).to(t["input"].dtype)}

        return call

    return build


softmax = _softmax(torch.softmax)
log_softmax = _softmax(torch.log_softmax)


def codes(case):
    """dtype and largest magnitudes of the codes."""
    name = case.fact("output_dtype", "f8e4m3", "f8e5m2", "i8")
    if name == "i8":
        largest = int(case.problem["i8_range"])
        return torch.int8, -largest, 127
    dtype = {"f8e4m3": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2}[name]
    return dtype, -torch.finfo(dtype).max, torch.finfo(dtype).max


def _quantised(x, scale, dtype, low, high):
    quotient = x / scale
    quotient = quotient.round() if dtype == torch.int8 else quotient
    return quotient.clamp(low, high).to(dtype)


def _by_row(case):
    """Codes and scales of f32 rows."""
    case.fact("scale_format", "f32")
    dtype, low, high = codes(case)
    floor = case.scalars["scale_floor"]

    def quantise(x):
        scale = (x.abs().amax(-1, keepdim=True) / high).clamp(min=floor)
        # A row of zeros has scale 0 and codes of 0.
        divisor = torch.where(scale == 0, 1.0, scale)
        return _quantised(x, divisor, dtype, low, high), scale.squeeze(-1)

    return quantise


def dynamic_quant(case):
    quantise = _by_row(case)

    def call(t):
        out, scale = quantise(t["input"].float())
        return {"out": out, "scale": scale}

    return call


def quantize_per_tensor(case):
    dtype, low, high = codes(case)
    if case.problem["zero_point_dtype"] != "none":
        raise Refused("quantize_per_tensor with a zero point")
    return lambda t: {"out": _quantised(t["input"].float(), t["scale"], dtype, low, high)}


def _then_quantised(case, norm):
    """A norm and the quantisation of its rows: of what the norm would store, or of its f32 values."""
    quantise, after = _by_row(case), _after(case)
    composed = case.fact("mode", "composed", "f32") == "composed"

    def call(t):
        dtype = t["input"].dtype
        outputs, normed = norm(t)
        weight = t.get("weight")
        if composed:
            values = _weighted(normed, weight, dtype, after).float()
        else:
            normed = normed.to(dtype).float() if after else normed
            values = normed if weight is None else normed * weight.float()
        out, scale = quantise(values)
        return {**outputs, "out": out, "scale": scale}

    return call


def rms_norm_dynamic_quant(case):
    epsilon = case.scalars["epsilon"]
    return _then_quantised(case, lambda t: ({}, _rms(t["input"].float(), epsilon)))


def fused_add_rms_norm_dynamic_quant(case):
    epsilon = case.scalars["epsilon"]

    def norm(t):
        stored, seen = _added(case, t)
        return {"residual": stored}, _rms(seen, epsilon)

    return _then_quantised(case, norm)


def _turned(x, angles, style, rotary):
    """Heads `x` [tokens, heads, features], turned by the cosines and sines of their tokens."""
    cos, sin = (half.unsqueeze(1) for half in angles.float().chunk(2, -1))
    turning, rest = x[..., :rotary].float(), x[..., rotary:]
    if style == "neox":
        a, b = turning.chunk(2, -1)
        turned = torch.cat([a * cos - b * sin, b * cos + a * sin], -1)
    else:
        a, b = turning[..., ::2], turning[..., 1::2]
        turned = torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2)
    return torch.cat([turned.to(x.dtype), rest], -1) if rest.shape[-1] else turned.to(x.dtype)


def rotary_embedding(case):
    case.fact("products", "f32")
    style, rotary = case.problem["style"], int(case.problem["rotary_dim"])

    def call(t):
        angles = t["cos_sin_cache"][t["positions"]]
        return {name: _turned(t[name], angles, style, rotary) for name in ("q", "k") if name in t}

    return call


def fused_qk_norm_rope(case):
    case.fact("between", "f32")
    style, rotary, epsilon = case.problem["style"], int(case.problem["rotary_dim"]), case.scalars["epsilon"]
    heads = [int(case.problem[name]) for name in ("num_heads", "num_kv_heads", "num_value_heads")]

    def call(t):
        tokens, features = t["qkv"].shape[0], int(case.problem["head_dim"])
        q, k, v = t["qkv"].view(tokens, -1, features).split(heads, 1)
        angles = t["cos_sin_cache"][t["positions"]]

        def one(x, weight):
            y = _rms(x.float(), epsilon)
            y = y if weight is None else y * weight.float()
            return _turned(y, angles, style, rotary).to(x.dtype)

        turned = torch.cat([one(q, t.get("q_weight")), one(k, t.get("k_weight")), v], 1)
        return {"qkv": turned.view(tokens, -1)}

    return call


def embedding(case):
    if case.problem["shard_start"] != "0" or case.problem["shard_end"] != case.problem["vocab_size"]:
        raise Refused("embedding of a shard")
    return lambda t: {"out": F.embedding(t["ids"], t["table"])}


def reshape_paged_cache(case):
    case.fact("layout", "nhd")
    plain = case.fact("cache_format", "plain", "f8e4m3_per_tensor") == "plain"

    def call(t):
        slots, outputs = t["slot_mapping"], {}
        for name in ("k", "v"):
            cache, rows = t[f"{name}_cache"], t[name][: slots.shape[0]]
            if not plain:
                rows = (rows.float() / t[f"{name}_scale"]).clamp(-448, 448).to(torch.float8_e4m3fn)
                # There is no assignment by index of 8-bit floats: their bytes are moved.
                cache.view(torch.uint8).flatten(0, 1)[slots] = rows.view(torch.uint8)
            else:
                cache.flatten(0, 1)[slots] = rows
            outputs[f"{name}_cache"] = cache
        return outputs

    return call


def argmax(case):
    case.fact("nan", "last")
    valid = case.problem["valid_size"]
    index = {"i64": torch.int64, "i32": torch.int32}[case.fact("index_dtype", "i64", "i32")]

    def call(t):
        logits = t["logits"] if valid == "none" else t["logits"][:, : int(valid)]
        return {"out": logits.argmax(-1).to(index)}

    return call


def build(case):
    """The case as a function of its inputs."""
    found = globals().get(case.operation)
    if found is None or case.operation.startswith("_") or case.operation in ("build", "codes"):
        raise Refused(f"{case.operation} is not written in PyTorch here")
    return found(case)


def provenance():
    """The versions behind PyTorch's operators."""
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else f"{torch.get_num_threads()} CPU threads"
    return f"torch {torch.__version__}, CUDA {torch.version.cuda}, {device}"
