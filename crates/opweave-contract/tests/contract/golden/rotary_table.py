# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The opweave authors
"""Values of rotary tables with 40 digits, from the published definitions, sharing nothing with the library.

    python3 rotary_table.py > rotary_table.txt

A line is one of
    table NAME ROTARY_DIM BASE SCALING PARAMETERS, which are k=v joined by commas, or -; what follows belongs to it
    f PAIR VALUE            a frequency
    a VALUE                 the attention factor
    t POSITION PAIR COS SIN an entry of the table
"""

from mpmath import mp, mpf, pi, log, floor, ceil, cos, sin

mp.dps = 40


def wavelengths(d, base):
    return [2 * pi * mpf(base) ** (mpf(2 * i) / d) for i in range(d // 2)]


def linear(d, base, p):
    return [w * p["factor"] for w in wavelengths(d, base)], mpf(1)


def ntk(d, base, p):
    return wavelengths(d, mpf(base) * mpf(p["factor"]) ** (mpf(d) / (d - 2))), mpf(1)


def dynamic(d, base, p):
    old, length = p["original_max_position_embeddings"], p["sequence_length"]
    if length <= old:
        return wavelengths(d, base), mpf(1)
    alpha = mpf(p["factor"]) * length / old - (p["factor"] - 1)
    return wavelengths(d, mpf(base) * alpha ** (mpf(d) / (d - 2))), mpf(1)


def llama3(d, base, p):
    old = mpf(p["original_max_position_embeddings"])
    longest, shortest = old / p["low_freq_factor"], old / p["high_freq_factor"]
    out = []
    for w in wavelengths(d, base):
        if w > longest:
            out.append(w * p["factor"])
        elif w < shortest:
            out.append(w)
        else:
            s = (old / w - p["low_freq_factor"]) / (mpf(p["high_freq_factor"]) - p["low_freq_factor"])
            out.append(1 / ((1 - s) / (w * p["factor"]) + s / w))
    return out, mpf(1)


def yarn(d, base, p):
    old = mpf(p["original_max_position_embeddings"])

    def dimension(rotations):
        return d * log(old / (rotations * 2 * pi)) / (2 * log(mpf(base)))

    low, high = dimension(mpf(p.get("beta_fast", 32))), dimension(mpf(p.get("beta_slow", 1)))
    if p.get("truncate", 1):
        low, high = floor(low), ceil(high)
    low, high = max(low, mpf(0)), min(high, mpf(d - 1))
    if low == high:
        high += mpf(1) / 1000
    out = []
    for i, w in enumerate(wavelengths(d, base)):
        keep = 1 - min(max((i - low) / (high - low), mpf(0)), mpf(1))
        out.append(1 / ((1 - keep) / (w * p["factor"]) + keep / w))

    def mscale(m):
        return mpf(1) if p["factor"] <= 1 else mpf(m) * log(mpf(p["factor"])) / 10 + 1

    if "attention_factor" in p:
        factor = mpf(p["attention_factor"])
    elif "mscale" in p:
        factor = mscale(p["mscale"]) / mscale(p["mscale_all_dim"])
    else:
        factor = mscale(1)
    return out, factor


KINDS = {
    "plain": lambda d, base, p: (wavelengths(d, base), mpf(1)),
    "linear": linear,
    "ntk": ntk,
    "dynamic": dynamic,
    "llama3": llama3,
    "yarn": yarn,
}
ORIGINAL = "original_max_position_embeddings"
TABLES = [
    ("four", 4, 10000, "plain", {}),
    ("llama2", 128, 10000, "plain", {}),
    ("interpolated", 64, 10000, "linear", {"factor": 4}),
    ("ntk", 128, 10000, "ntk", {"factor": 8}),
    ("dynamic_short", 64, 10000, "dynamic", {"factor": 4, ORIGINAL: 2048, "sequence_length": 2000}),
    ("dynamic_long", 64, 10000, "dynamic", {"factor": 4, ORIGINAL: 2048, "sequence_length": 5000}),
    ("llama3_1", 128, 500000, "llama3", {"factor": 8, "low_freq_factor": 1, "high_freq_factor": 4, ORIGINAL: 8192}),
    ("llama3_2", 64, 500000, "llama3", {"factor": 32, "low_freq_factor": 1, "high_freq_factor": 4, ORIGINAL: 8192}),
    ("yarn", 128, 10000, "yarn", {"factor": 16, ORIGINAL: 4096}),
    ("yarn_mscale", 64, 10000, "yarn", {"factor": 16, ORIGINAL: 4096, "mscale": 1, "mscale_all_dim": 1}),
    ("yarn_deepseek", 64, 10000, "yarn", {"factor": 40, ORIGINAL: 4096, "mscale": 0.707, "mscale_all_dim": 1}),
    ("yarn_given", 64, 10000, "yarn", {"factor": 16, ORIGINAL: 4096, "attention_factor": 1}),
    ("yarn_gpt_oss", 64, 150000, "yarn", {"factor": 32, ORIGINAL: 4096, "truncate": 0}),
    ("yarn_betas", 96, 1000000, "yarn", {"factor": 4, ORIGINAL: 32768, "beta_fast": 20, "beta_slow": 2.5}),
    ("yarn_point", 8, 1000000, "yarn", {"factor": 4, ORIGINAL: 2}),
]

for name, d, base, kind, p in TABLES:
    waves, factor = KINDS[kind](d, base, p)
    head = f"{name} {d} {base} {kind} {','.join(f'{k}={v}' for k, v in p.items()) or '-'}"
    print(f"table {head}")
    print(f"a {mp.nstr(factor, 20)}")
    for i, w in enumerate(waves):
        print(f"f {i} {mp.nstr(2 * pi / w, 20)}")
    for position in (1, 4095, 131071):
        for i in sorted({0, d // 4, d // 2 - 1}):
            angle = position * 2 * pi / waves[i]
            print(f"t {position} {i} {mp.nstr(factor * cos(angle), 20)} {mp.nstr(factor * sin(angle), 20)}")
