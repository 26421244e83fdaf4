// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! What a solution must not own, and what a build script must not do.
//!
//! A solution is a guest in an engine: threads, memory, files and the environment are the engine's. A build script runs
//! on machines that have no compiler for accelerators, so it starts no program at all.

use super::Finding;
use super::arrows::solutions;
use super::tree::Tree;

/// Paths in code that mean ownership of what is the engine's.
const OWNING: [(&str, &str); 7] = [
    ("thread::spawn", "starts a thread; threads come with the stream"),
    ("thread::Builder", "starts a thread; threads come with the stream"),
    ("thread::scope", "starts threads; threads come with the stream"),
    ("std::alloc", "allocates by itself; buffers are the caller's"),
    ("GlobalAlloc", "is an allocator; buffers are the caller's"),
    ("std::env::var", "reads the environment; configuration is read at `initialize`"),
    ("std::fs", "touches files; what a kernel needs comes with its crate"),
];

/// Checks the solutions that the table of `architecture` names, and every build script.
pub(crate) fn check(tree: &Tree, architecture: &str) -> Vec<Finding> {
    let solutions = solutions(architecture);
    let mut findings = Vec::new();
    for file in tree.rust() {
        let source = file.source();
        let mut search = |word: &str, message: String| {
            for (at, _) in source.code.match_indices(word).filter(|(at, _)| !source.is_test(*at)) {
                findings.push(Finding::new(&file.path, source.line_of(at) + 1, message.clone()));
            }
        };
        if file.package().is_some_and(|name| solutions.iter().any(|solution| solution == name)) {
            for (word, why) in OWNING {
                search(word, format!("a solution that {why}"));
            }
        }
        if file.path.ends_with("/build.rs") || file.path == "build.rs" {
            for word in ["Command", "cc::", "cmake::", "bindgen::"] {
                search(word, format!("a build script that runs a program ({word})"));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree_of;
    use super::*;

    const TABLE: &str = "\
| crate | one responsibility | may depend on |
| --- | --- | --- |
| `opweave-runtime` | choice | - |
| `opweave-cpu` | kernels | - |
| `opweave` | facade | `opweave-runtime`, `opweave-cpu` |
";

    fn found(path: &str, text: &str) -> Vec<String> {
        check(&tree_of(&[(path, text)]), TABLE).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn a_solution_that_owns_what_is_the_engines_is_found() {
        let path = "crates/opweave-cpu/src/lib.rs";
        assert!(found(path, "fn a() { std::thread::spawn(|| {}); }")[0].contains("starts a thread"));
        assert!(found(path, "use std::alloc::alloc;")[0].contains("allocates by itself"));
        assert!(found(path, "fn a() { std::env::var(\"X\"); }")[0].contains("reads the environment"));
        assert!(found(path, "use std::fs::File;")[0].contains("touches files"));
        assert!(found(path, "#[cfg(test)]\nmod t { use std::thread::spawn; }").is_empty());
        assert!(found("crates/opweave-runtime/src/lib.rs", "use std::fs::File;").is_empty(), "no solution");
    }

    #[test]
    fn a_build_script_that_runs_a_compiler_is_found() {
        let path = "crates/opweave-runtime/build.rs";
        assert!(found(path, "fn main() { std::process::Command::new(\"nvcc\"); }")[0].contains("runs a program"));
        assert!(found(path, "fn main() { cc::Build::new(); }")[0].contains("runs a program"));
        assert!(found(path, "fn main() { println!(\"cargo::rerun-if-changed=build.rs\"); }").is_empty());
    }
}
