#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The opweave authors
"""What the Python package `tokenizers` makes of some texts: the judge of the engine's tokeniser.

    python tokens.py [--check]          the tiny vocabulary, with every pattern: tests/data/{tokenizer,tokens}.json
    python tokens.py --of FOLDER        the vocabulary of FOLDER/tokenizer.json: FOLDER/{tokens,prompts}.json
"""

import argparse
import json
import pathlib
import sys

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

DATA = pathlib.Path(__file__).resolve().parent.parent / "tests/data"
SPECIAL = ["<|endoftext|>", "<|end|>", "<|user|>", "<|assistant|>"]

# What the tiny vocabulary's merges are learnt from.
CORPUS = [
    "The weaver weaves the thread over and under the other threads, and the cloth grows line by line.",
    "She wove 12 patterns in 2024; they're worn, and he's sold them all. I'll see what I've got.",
    "    for line in lines:\n        print(line)\n\n",
]

TEXTS = [
    "",
    " ",
    "a",
    "The cloth grows.",
    "  leading,  double   and trailing spaces  ",
    "line one\nline two\r\n\r\n\tindented\n",
    "it's they're I'll we'd I'm you've IT'S THEY'RE 'tis '' 's",
    "digits 1 23 456 7890 12345 3.14 1,000 ² ½ ३४",
    "punctuation... (really?) [yes]!!! --- #hash @at $5 100%",
    "émigré naïve Straße ŁÓDŹ Ελληνικά русский עברית العربية हिन्दी ไทย",
    "日本語の文章と中文句子，한국어 문장.",
    "🦀🦀 👩‍👩‍👧 ⓐ ∑∫ ™ \u00a0\u00a0nbsp \u3000wide \u200b zero",
    "x" * 70 + " " + "=" * 70 + " " * 40 + "\n" * 9 + "end",
    "<|user|>hi<|end|>\n<|assistant|><|end|><|endoftext|><|end",
    "fn main() {\n    println!(\"{}\", x_1 + y2);\n}\n",
    "mixedCASE snake_case kebab-case CamelCase2Words o'clock ſ'ſ",
]


# What the oracle continues.
PROMPTS = {
    "empty-ish": " ",
    "multi-byte": "Übersetzung: 日本語の「猫」は🐱 –",
    "short": "<|im_start|>user\nName three colours.<|im_end|>\n<|im_start|>assistant\n",
    "long": "Weaving is a method of textile production in which two distinct sets of yarns are interlaced at right angles to form a "
    "fabric or cloth. " * 3,
}


def by_regex(digits):
    pattern = (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|" + digits + r"| ?[^\s\p{L}\p{N}]+[\r\n]*|"
        r"\s*[\r\n]+|\s+(?!\S)|\s+"
    )
    from tokenizers import Regex

    split = pre_tokenizers.Split(Regex(pattern), "isolated", invert=False)
    return pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def patterns():
    plain = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    return {
        "gpt-2": plain,
        "smollm": pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), plain]),
        "llama-bpe": by_regex(r"\p{N}{1,3}"),
        "qwen2": by_regex(r"\p{N}"),
    }


def trained():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = patterns()["smollm"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=320, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def encoded(tokenizer):
    return [tokenizer.encode(text, add_special_tokens=False).ids for text in TEXTS]


def tiny():
    tokenizer = trained()
    files = {"tokenizer.json": json.dumps(json.loads(tokenizer.to_str()), separators=(",", ":"), sort_keys=True)}
    cases = []
    for name, pattern in patterns().items():
        tokenizer.pre_tokenizer = pattern
        pre = json.loads(tokenizer.to_str())["pre_tokenizer"]
        cases.append({"name": name, "pre_tokenizer": pre, "tokens": encoded(tokenizer)})
    files["tokens.json"] = json.dumps({"texts": TEXTS, "cases": cases}, separators=(",", ":"))
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--of", type=pathlib.Path)
    options = parser.parse_args()
    if options.of:
        tokenizer = Tokenizer.from_file(str(options.of / "tokenizer.json"))
        found = {"texts": TEXTS, "tokens": encoded(tokenizer)}
        (options.of / "tokens.json").write_text(json.dumps(found) + "\n")
        tokens = {name: tokenizer.encode(text, add_special_tokens=False).ids for name, text in PROMPTS.items()}
        # A token costs the oracle a tenth of a second: two texts are long.
        count = {"short": 64, "multi-byte": 64}
        prompts = [{"name": name, "tokens": ids, "count": count.get(name, 16)} for name, ids in tokens.items()]
        (options.of / "prompts.json").write_text(json.dumps(prompts) + "\n")
        return
    for name, text in tiny().items():
        if not options.check:
            (DATA / name).write_text(text + "\n")
        elif json.loads((DATA / name).read_text()) != json.loads(text):
            sys.exit(f"{DATA / name} differs: write it again without --check")


if __name__ == "__main__":
    main()
