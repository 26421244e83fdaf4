// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Arbitrary bytes: never a panic, never a byte changed outside of the header, never twice.

use opweave_license::expr::Expr;
use opweave_license::fix::with_header;
use opweave_license::format;
use opweave_license::lint::{Scope, lint};
use opweave_license::policy::Policy;
use opweave_license::rules::RULES;
use opweave_license::template;
use opweave_license::tree::Memory;
use proptest::prelude::*;

use crate::lab::POLICY;
use crate::path_map::BUCKET;

/// Files of every style, in and out of a bucket.
const PATHS: &[&str] = &[
    "a.rs",
    "a.c",
    "a.py",
    "a.sh",
    "a.xml",
    "a.html",
    "a.md",
    "a.css",
    "a.php",
    "a.bat",
    "a.sql",
    "a.lua",
    "a.hs",
    "a.S",
    "a.ini",
    "a.jl",
    "a.ml",
    "a.tex",
    "a.ps1",
    "Dockerfile",
    "CMakeLists.txt",
    "a.json",
    "tool",
    "a.j2",
    "a.rst",
    "ports/a.cu",
    "ports/a.py",
    "ports/a.rs",
    "Cargo.toml",
    "pyproject.toml",
    "package.json",
    "a.license",
];

/// Words that mean something to the lint.
const WORDS: &[&str] = &[
    "SPDX-License-Identifier:",
    " MIT",
    " (MIT OR",
    "Copyright 2026 Us",
    "Copyright (c) ",
    "This file is a CUDA port of code from ",
    "Widget",
    "(https://example.org/owner/widget",
    " @ ",
    "0123456789abcdef0123456789abcdef01234567",
    "), ",
    "//",
    "/*",
    "*/",
    "/**",
    "#",
    "#!",
    "#![",
    "<!--",
    "-->",
    "<?xml",
    "?>",
    "<!DOCTYPE",
    "[",
    "]>",
    "\"\"\"",
    "'''",
    "---\n",
    "# -*- coding: x -*-",
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "{-",
    "(*",
    "#[[",
    "]]",
    "@echo off",
    "@charset \"u\";",
    "<?php",
    "# syntax=",
    "\u{feff}",
    "caf\u{e9}",
    "[package]\n",
    "license = \"MIT\"\n",
    "{\"name\":1}",
];

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        4 => proptest::sample::select(WORDS).prop_map(|word| word.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..6),
    ];
    let text = proptest::collection::vec(word, 0..24).prop_map(|words| words.concat());
    let wide = text.clone().prop_map(|text| {
        let text = format!("\u{feff}{}", String::from_utf8_lossy(&text));
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    });
    let marked = text.clone().prop_map(|text| [b"\xef\xbb\xbf".to_vec(), text].concat());
    prop_oneof![6 => text, 1 => wide, 1 => marked, 1 => proptest::collection::vec(any::<u8>(), 0..200)]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_a_run_panic(path in proptest::sample::select(PATHS), raw in bytes()) {
        let mut policy = Policy::parse("license.toml", &format!("{POLICY}{BUCKET}")).unwrap();
        let mut tree = Memory::default();
        tree.file(path, raw);
        let report = lint(&mut policy, &tree, RULES, &Scope::All).unwrap();
        // Whatever was found can be written, and its places are places.
        for finding in &report.findings {
            prop_assert!(finding.line >= 1 && finding.column >= 1);
        }
        let text = format::human(&report.findings, true) + &format::github(&report.findings);
        prop_assert!(text.len() < 1 << 20);
        prop_assert!(format::sarif(&report.findings, None)["runs"][0]["results"].is_array());
    }

    #[test]
    fn a_fix_adds_and_changes_nothing(path in proptest::sample::select(PATHS), raw in bytes()) {
        let policy = Policy::parse("license.toml", &format!("{POLICY}{BUCKET}")).unwrap();
        let Ok(Some(after)) = with_header(&policy, path, &raw) else { return Ok(()) };
        prop_assert!(!path.starts_with("ports/"));
        // The old bytes are a beginning and an end of the new ones, with only the header between.
        let same = raw.iter().zip(&after).take_while(|(a, b)| a == b).count();
        let rest = raw.len() - same;
        let tail = raw.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count();
        prop_assert!(tail >= rest, "{raw:?} became {after:?}");
        prop_assert_eq!(with_header(&policy, path, &after), Ok(None));
        // The lint agrees that the header stands.
        let mut policy = Policy::parse("license.toml", POLICY).unwrap();
        let mut tree = Memory::default();
        tree.file(path, after);
        let report = lint(&mut policy, &tree, RULES, &Scope::All).unwrap();
        let about: Vec<_> = report.findings.iter().filter(|f| matches!(f.rule, "L001" | "L002" | "L003")).collect();
        prop_assert!(about.is_empty(), "{about:#?}");
    }

    #[test]
    fn no_text_makes_the_expression_reader_panic(text in "[()A-Za-z0-9.+/ -]{0,80}|(MIT|AND|OR|WITH|\\(|\\)|GPL-2.0|\\+| |LicenseRef-|LLVM-exception){0,30}") {
        if let Ok(expr) = Expr::parse(&text) {
            // What was read is read again as the same.
            let again = Expr::parse(expr.normal()).unwrap();
            prop_assert_eq!(expr.normal(), again.normal());
            prop_assert!(expr.same_as(&again));
        }
    }

    #[test]
    fn no_policy_makes_the_reader_panic(text in "[\\[\\]a-z_=\" \n*{}/0-9.]{0,200}") {
        let _ = Policy::parse("license.toml", &text);
        let _ = Policy::parse("license.toml", &format!("{POLICY}{text}"));
    }

    #[test]
    fn no_text_makes_the_template_matcher_panic(text in "(neither|the|name|of|nor|names|shall|be|liable|<|>|[a-z]|\n|1\\. |MIT License| ){0,60}") {
        for id in ["MIT", "BSD-3-Clause"] {
            let _ = template::matches(id, template::known(id).unwrap(), &text);
        }
    }
}
