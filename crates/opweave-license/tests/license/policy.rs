// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Wrong policies: each is refused with file, line and what would be legal.

use opweave_license::lint::{LintError, Scope, lint};
use opweave_license::policy::Policy;
use opweave_license::rules::RULES;
use opweave_license::tree::Memory;

use crate::lab::{POLICY, native, tree};
use crate::path_map::BUCKET;

/// The error of a policy that the text alone refuses.
fn error(text: &str) -> (u32, String) {
    let error = Policy::parse("license.toml", text).expect_err(text);
    assert!(error.to_string().starts_with(&format!("read the policy license.toml:{}:", error.line)), "{error}");
    assert_eq!(error.excerpt, text.lines().nth(error.line as usize - 1).unwrap_or_default(), "{error}");
    (error.line, error.message)
}

#[test]
fn wrong_keys_and_values_show_their_line_and_the_legal_set() {
    let with = |text: &str| format!("{POLICY}{text}");
    let bucket = |from: &str, to: &str| {
        assert!(BUCKET.contains(from), "{from}");
        with(&BUCKET.replace(from, to))
    };
    let cases: Vec<(String, u32, &str)> = vec![
        (with("[nativ]\n"), 6, "expected one of"),
        (POLICY.replace("allow", "allowed"), 2, "expected one of"),
        (POLICY.replace("copyright =", "holder ="), 5, "expected one of `expression`, `copyright`"),
        (bucket("project", "projekt"), 9, "`project`"),
        (bucket("copyright = \"Copyright (c) 2025 Widget Authors\"\n", ""), 6, "missing field `copyright`"),
        (POLICY.replace("schema_version = 1", "schema_version = 2"), 1, "schema_version is 1"),
        (POLICY.replace("schema_version = 1\n", ""), 1, "missing field `schema_version`"),
        (POLICY.replace("= 1", "= \"1\""), 1, "expected"),
        (with("x = = 1"), 6, ""),
        (bucket("ports/**", "ports/["), 8, "legal is a path relative to the policy"),
        (bucket("ports/**", "/ports/**"), 8, "absolute"),
        (bucket("ports/**", "../ports/**"), 8, "`..`"),
        (
            with("ignore = [\"a\\\\b\"]\n")
                .replace("[native]\n", "")
                .replace("expression = \"MIT\"\ncopyright = \"Copyright 2026 Us\"\n", "")
                + "[native]\nexpression = \"MIT\"\ncopyright = \"Us\"\n",
            3,
            "backslash",
        ),
        (POLICY.replace("expression = \"MIT\"", "expression = \"MIT OR\""), 4, "legal are ids of the SPDX list"),
        (bucket("expression = \"MIT\"", "expression = \"GPL-2.0\""), 11, "GPL-2.0-only"),
        (POLICY.replace("\"Apache-2.0\"]", "\"Apache 2\"]"), 2, "legal are ids"),
        (POLICY.replace("\"Apache-2.0\"]", "\"MIT OR ISC\"]"), 2, "single licences"),
        (POLICY.replace("Copyright 2026 Us", "Copyright {year} Us"), 5, "needs `year`"),
        (POLICY.replace("Copyright 2026 Us", ""), 5, "one line"),
        (
            POLICY.replace("copyright = \"Copyright 2026 Us\"", "copyright = \"Copyright {year} Us\"\nyear = 26"),
            6,
            "1900 to 2199",
        ),
        (bucket("https://example.org/owner/widget", "http://example.org/x"), 10, "starts with https://"),
        (bucket("owner/widget", "owner/widget.git"), 10, "neither / nor .git"),
        (bucket("name = \"widget\"", "name = \"\""), 7, "a name is wanted"),
        (with(&BUCKET.repeat(2)), 14, "names are unique"),
        (with("[styles]\nfoo = \"lisp\"\n"), 7, "known are c, rust, hash"),
        (with("[texts]\n\"licenses/MIT.txt\" = \"abc\"\n"), 7, "64 lower-case hexadecimal digits"),
        (with("[[exception]]\npath = \"a.rs\"\nreason = \" \"\n"), 8, "why a native file"),
        (with("[[exception]]\npath = \"a/*.rs\"\nreason = \"x\"\n"), 7, "no wildcard"),
        (
            with(
                "[[override]]\npath = \"a.rs\"\nexpression = \"MIT\"\nrequired_text = \"x\"\nrequired_text_file = \"y\"\n",
            ),
            10,
            "exclude each other",
        ),
        (with("[[case]]\nname = \"x\"\npath = \"a.rs\"\ntext = \"\"\nexpect = [\"L021\"]\n"), 10, "L001 to L020"),
        (format!("port_citation = \"From {{project}}\"\n{POLICY}"), 1, "legal is a text with {project}"),
        (with("[[annotate]]\npaths = [\"*.json\"]\nexpression = \"mit\"\ncopyright = \"x\"\n"), 8, "spelt MIT"),
        (with("[map]\nfiles = [\"/LICENSE\"]\n"), 7, "one path relative to the policy"),
    ];
    for (text, line, wanted) in cases {
        let (at, message) = error(&text);
        assert_eq!(at, line, "{message}\n{text}");
        assert!(message.contains(wanted), "{message:?} does not say {wanted:?}");
    }
}

#[test]
fn what_the_tree_does_not_have_is_refused_too() {
    let files = native("//");
    let tree: Memory = tree(&[("ports/a.rs", files.as_bytes())]);
    let second = BUCKET.replace("\"widget\"", "\"other\"").replace("ports/**", "**/a.rs");
    for (text, line, wanted) in [
        (
            BUCKET.to_owned() + "texts = [\"licenses/MIT.txt\"]\n",
            6,
            "names the licence text licenses/MIT.txt, which does not exist",
        ),
        (format!("[texts]\n\"licenses/MIT.txt\" = \"{}\"\n", "0".repeat(64)), 7, "does not exist"),
        (
            format!("{BUCKET}required_files = [{{ path = \"AUTHORS\", sha256 = \"{}\" }}]\n", "0".repeat(64)),
            13,
            "AUTHORS, which does not exist",
        ),
        ("[map]\nfiles = [\"LICENSE\"]\n".to_owned(), 7, "LICENSE, which does not exist"),
        (
            "[[override]]\npath = \"ports/a.rs\"\nexpression = \"MIT\"\nrequired_text_file = \"bsd.txt\"\n".to_owned(),
            9,
            "bsd.txt cannot be read",
        ),
        (format!("{BUCKET}{second}"), 13, "\"widget\" and \"other\"; a file has one origin"),
    ] {
        let mut policy = Policy::parse("license.toml", &format!("{POLICY}{text}")).unwrap();
        let Err(LintError::Policy(error)) = lint(&mut policy, &tree, RULES, &Scope::All) else { panic!("{text}") };
        assert_eq!(error.line, line, "{error}");
        assert!(error.message.contains(wanted), "{error}");
    }
}
