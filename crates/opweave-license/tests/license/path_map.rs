// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A path map as projects that port kernels have: five folders of ports of four projects with their expressions, one
//! file with extra text of the BSD licence, three native exceptions; and every way to get it wrong.

use opweave_license::tree::Memory;

use crate::lab::{brief, run};

/// One bucket, for tests that need any.
pub(crate) const BUCKET: &str = "[[bucket]]
name = \"widget\"
paths = [\"ports/**\"]
project = \"Widget\"
url = \"https://example.org/owner/widget\"
expression = \"MIT\"
copyright = \"Copyright (c) 2025 Widget Authors\"
";

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

const BSD: &str = "Redistribution and use in source and binary forms, with or without modification, are permitted provided that the following conditions are met: redistributions of source code must retain the above copyright notice.";

/// name, folder, project, URL, expression, copyright, upstream path, extension.
type Port =
    (&'static str, &'static str, &'static str, &'static str, &'static str, &'static str, &'static str, &'static str);

const PORTS: [Port; 5] = [
    (
        "deepgemm",
        "kernels/deepgemm",
        "DeepGEMM",
        "https://github.com/deepseek-ai/DeepGEMM",
        "Apache-2.0 AND MIT",
        "Copyright (c) 2025 DeepSeek",
        "deep_gemm/include/deep_gemm/impls/fp8_gemm.cuh",
        "py",
    ),
    (
        "flashmla",
        "kernels/flashmla",
        "FlashMLA",
        "https://github.com/deepseek-ai/FlashMLA",
        "Apache-2.0 AND MIT",
        "Copyright (c) 2025 DeepSeek",
        "csrc/sm90/decode/dense.cu",
        "cu",
    ),
    (
        "flash-attention",
        "kernels/attention",
        "flash-attention",
        "https://github.com/Dao-AILab/flash-attention",
        "Apache-2.0 AND BSD-3-Clause",
        "Copyright (c) 2022, Tri Dao",
        "hopper/flash_fwd_kernel.h",
        "cuh",
    ),
    (
        "flashinfer-norm",
        "kernels/norm",
        "FlashInfer",
        "https://github.com/flashinfer-ai/flashinfer",
        "Apache-2.0",
        "Copyright (c) 2024 by FlashInfer team",
        "include/flashinfer/norm.cuh",
        "rs",
    ),
    (
        "flashinfer-sampling",
        "kernels/sampling",
        "FlashInfer",
        "https://github.com/flashinfer-ai/flashinfer",
        "Apache-2.0",
        "Copyright (c) 2024 by FlashInfer team",
        "include/flashinfer/sampling.cuh",
        "cpp",
    ),
];

const EXCEPTIONS: [&str; 3] = ["kernels/deepgemm/__init__.py", "kernels/attention/table.rs", "kernels/norm/mod.rs"];

fn mark(path: &str) -> &'static str {
    if path.ends_with(".py") { "#" } else { "//" }
}

fn native(path: &str) -> String {
    let mark = mark(path);
    format!("{mark} SPDX-License-Identifier: Apache-2.0\n{mark} Copyright 2026 The authors\n")
}

fn port(path: &str, (_, _, project, url, expression, copyright, source, _): Port) -> String {
    let mark = mark(path);
    format!(
        "{mark} This file is a native port of code from {project}\n{mark} ({url} @ {COMMIT}), {copyright}\n{mark} SPDX-License-Identifier: {expression}\n{mark} Copyright 2026 The authors\n{mark} Source: {source}\n"
    )
}

fn path((_, folder, .., extension): Port) -> String {
    format!("{folder}/kernel.{extension}")
}

fn policy() -> String {
    let mut text = String::from(
        "schema_version = 1\nallow = [\"Apache-2.0\", \"MIT\", \"BSD-3-Clause\"]\n[native]\nexpression = \"Apache-2.0\"\ncopyright = \"Copyright 2026 The authors\"\n[map]\nfiles = [\"LICENSE\"]\n",
    );
    for (name, folder, project, url, expression, copyright, ..) in PORTS {
        text += &format!(
            "[[bucket]]\nname = \"{name}\"\npaths = [\"{folder}/**\"]\nproject = \"{project}\"\nurl = \"{url}\"\nexpression = \"{expression}\"\ncopyright = \"{copyright}\"\n"
        );
    }
    text += &format!(
        "[[override]]\npath = \"kernels/deepgemm/scan.py\"\nexpression = \"Apache-2.0 AND BSD-3-Clause AND MIT\"\nrequired_text = \"{BSD}\"\n"
    );
    for path in EXCEPTIONS {
        text += &format!("[[exception]]\npath = \"{path}\"\nreason = \"lists what the folder holds\"\n");
    }
    text
}

fn extra() -> String {
    let port =
        port("kernels/deepgemm/scan.py", PORTS[0]).replace("Apache-2.0 AND MIT", "MIT AND Apache-2.0 AND BSD-3-Clause");
    let words: Vec<&str> = BSD.split(' ').collect();
    let wrapped: Vec<String> = words.chunks(9).map(|line| format!("#   {}\n", line.join(" "))).collect();
    format!("{port}#\n{}", wrapped.concat())
}

fn map() -> String {
    let mut rows = String::from("third-party map: begin\n");
    for (_, folder, project, url, expression, ..) in PORTS {
        rows += &format!("{folder}/** | {project} | {url} | {expression}\n");
    }
    rows + "kernels/deepgemm/scan.py | DeepGEMM | https://github.com/deepseek-ai/DeepGEMM | MIT AND BSD-3-Clause AND Apache-2.0\nthird-party map: end\n"
}

/// The tree as it should be.
fn good() -> Memory {
    let mut tree = Memory::default();
    for entry in PORTS {
        tree.file(&path(entry), port(&path(entry), entry));
    }
    tree.file("kernels/deepgemm/scan.py", extra());
    for path in EXCEPTIONS.into_iter().chain(["src/lib.rs"]) {
        tree.file(path, native(path));
    }
    tree.file("LICENSE", map());
    tree
}

fn found(tree: &Memory) -> Vec<String> {
    brief(&run(&policy(), tree))
}

#[test]
fn the_map_as_it_should_be_is_clean() {
    assert_eq!(found(&good()), [""; 0]);
}

#[test]
fn each_way_to_get_it_wrong_has_exact_findings() {
    let swap = |entry: Port, from: &str, to: &str| {
        let mut tree = good();
        let text = port(&path(entry), entry);
        assert!(text.contains(from), "{from}");
        tree.file(&path(entry), text.replace(from, to));
        found(&tree)
    };
    let [gemm, mla, attention, norm, sampling] = PORTS;
    let cases: Vec<(&str, Vec<String>, &[&str])> = vec![
        (
            "a term is dropped",
            swap(gemm, "Apache-2.0 AND MIT", "Apache-2.0"),
            &["L005 kernels/deepgemm/kernel.py:3:28"],
        ),
        (
            "AND became OR",
            swap(mla, "Apache-2.0 AND MIT", "Apache-2.0 OR MIT"),
            &["L005 kernels/flashmla/kernel.cu:3:29"],
        ),
        ("the order is another", swap(mla, "Apache-2.0 AND MIT", "MIT AND (Apache-2.0)"), &[]),
        ("a short commit", swap(gemm, COMMIT, &COMMIT[..8]), &["L006 kernels/deepgemm/kernel.py:1:3"]),
        ("a branch", swap(attention, COMMIT, "main"), &["L006 kernels/attention/kernel.cuh:1:4"]),
        ("a commit in capitals", swap(norm, COMMIT, &COMMIT.to_uppercase()), &["L006 kernels/norm/kernel.rs:1:4"]),
        ("no commit", swap(norm, &format!(" @ {COMMIT}"), ""), &["L006 kernels/norm/kernel.rs:1:4"]),
        ("another project's URL", swap(mla, "FlashMLA @", "DeepGEMM @"), &["L007 kernels/flashmla/kernel.cu:1:4"]),
        (
            "a URL that is not canonical",
            swap(
                sampling,
                "https://github.com/flashinfer-ai/flashinfer ",
                "https://github.com/flashinfer-ai/flashinfer.git ",
            ),
            &["L007 kernels/sampling/kernel.cpp:1:4"],
        ),
        (
            "another project",
            swap(attention, "from flash-attention", "from FlashAttention"),
            &["L007 kernels/attention/kernel.cuh:1:4"],
        ),
        ("another year", swap(attention, "2022, Tri Dao", "2023, Tri Dao"), &["L008 kernels/attention/kernel.cuh:1:4"]),
        (
            "no upstream copyright",
            swap(gemm, "), Copyright (c) 2025 DeepSeek", ")"),
            &["L008 kernels/deepgemm/kernel.py:1:3"],
        ),
        (
            "no path",
            swap(norm, "Source: include/flashinfer/norm.cuh", "Source: norm"),
            &["L009 kernels/norm/kernel.rs:1:4"],
        ),
        ("a bare name", swap(norm, "include/flashinfer/norm.cuh", "norm.cuh"), &["L009 kernels/norm/kernel.rs:1:4"]),
        (
            "no own copyright",
            swap(mla, "// Copyright 2026 The authors\n", ""),
            &["L019 kernels/flashmla/kernel.cu:1:4"],
        ),
        ("another holder", swap(mla, "2026 The authors", "2026 Others"), &["L019 kernels/flashmla/kernel.cu:1:4"]),
        (
            "a tag too many",
            swap(mla, "// Copyright 2026", "// SPDX-License-Identifier: MIT\n// Copyright 2026"),
            &["L002 kernels/flashmla/kernel.cu:4:29"],
        ),
        ("a misspelt licence", swap(attention, "BSD-3-Clause", "BSD3"), &["L003 kernels/attention/kernel.cuh:3:44"]),
    ];
    for (name, found, wanted) in cases {
        assert_eq!(found, wanted, "{name}");
    }
}

#[test]
fn wrong_places_texts_and_maps_have_exact_findings() {
    type Change = (&'static str, fn(&mut Memory), &'static [&'static str]);
    let changes: [Change; 9] = [
        (
            "a port without a header",
            |t| t.file("kernels/flashmla/new.cu", "__global__ void f() {}\n"),
            &["L001 kernels/flashmla/new.cu:1:1"],
        ),
        (
            "a native file in a bucket",
            |t| t.file("kernels/flashmla/new.cu", native("a.cu")),
            &[
                "L005 kernels/flashmla/new.cu:1:29",
                "L006 kernels/flashmla/new.cu:1:4",
                "L008 kernels/flashmla/new.cu:1:4",
                "L009 kernels/flashmla/new.cu:1:4",
            ],
        ),
        ("a port outside of its bucket", |t| t.file("src/mla.cu", port("a.cu", PORTS[1])), &["L004 src/mla.cu:1:4"]),
        (
            "a port in another's bucket",
            |t| t.file("kernels/flashmla/gemm.cu", port("a.cu", PORTS[0])),
            &["L007 kernels/flashmla/gemm.cu:1:4"],
        ),
        (
            "an exception that is a port",
            |t| t.file("kernels/norm/mod.rs", port("a.rs", PORTS[3])),
            &["L004 kernels/norm/mod.rs:1:4"],
        ),
        ("an exception that is gone", |t| t.remove("kernels/norm/mod.rs"), &["L014 license.toml:54:8"]),
        (
            "the extra text is altered",
            |t| t.file("kernels/deepgemm/scan.py", extra().replace("must retain", "should retain")),
            &["L010 kernels/deepgemm/scan.py:1:3"],
        ),
        (
            "the map has another licence",
            |t| t.file("LICENSE", map().replace("FlashMLA | Apache-2.0 AND MIT", "FlashMLA | MIT")),
            &["L012 LICENSE:3:1"],
        ),
        (
            "the map lacks a folder",
            |t| t.file("LICENSE", map().replace("kernels/norm/** |", "kernels/rope/** |")),
            &["L012 LICENSE:1:1", "L012 LICENSE:5:1"],
        ),
    ];
    for (name, change, wanted) in changes {
        let mut tree = good();
        change(&mut tree);
        let mut found = found(&tree);
        found.sort();
        assert_eq!(found, wanted, "{name}");
    }
}
