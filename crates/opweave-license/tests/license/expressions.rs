// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! D11, D12, D14, D15, D22: expressions, in files and in the policy's list.

use opweave_license::expr::Expr;
use opweave_license::finding::Severity;
use spdx::Licensee;

use crate::lab::{brief, run, tree};

#[test]
fn d11_each_wrong_expression_is_one_finding_with_a_place() {
    let deep = format!("{}MIT", "(".repeat(5000));
    let balanced = format!("{}MIT{}", "(".repeat(1500), ")".repeat(1500));
    for (text, column) in [
        ("MIT OR BSD AND", 36),
        ("(MIT", 29),
        ("MIT)", 32),
        ("MIT Apache-2.0", 33),
        ("()", 30),
        ("", 28),
        ("MIT OR", 0),
        ("OR MIT", 29),
        ("Apache-2.0 WITH MIT", 45),
        ("MIT WITH", 0),
        (&deep, 0),
    ] {
        let file = format!("// SPDX-License-Identifier: {text}\n// Copyright 2026 Us\n");
        let found = run(crate::lab::POLICY, &tree(&[("a.rs", file.as_bytes())]));
        assert_eq!(found.len(), 1, "{text}: {found:#?}");
        assert_eq!((found[0].rule, found[0].line), ("L003", 1), "{text}");
        // The copyright is still counted: nothing says that it is missing.
        if column > 0 {
            assert_eq!(found[0].column, column, "{text}: {}", found[0].message);
        }
    }
    assert!(Expr::parse(&balanced).is_ok_and(|expr| expr.normal() == "MIT"));
}

#[test]
fn d12_and_binds_tighter_than_or() {
    let allow: Vec<Licensee> = ["MIT", "Apache-2.0"].map(|id| Licensee::parse(id).unwrap()).to_vec();
    for (text, wanted) in [
        ("MIT OR GPL-3.0-only AND BSD-3-Clause", true),
        ("(MIT OR GPL-3.0-only) AND BSD-3-Clause", false),
        ("MIT AND GPL-3.0-only", false),
        ("Apache-2.0 WITH LLVM-exception", false),
        ("Apache-2.0+", true),
        ("LicenseRef-Proprietary", false),
    ] {
        assert_eq!(Expr::parse(text).unwrap().satisfied_by(&allow), wanted, "{text}");
    }
    let pair = [Licensee::parse("Apache-2.0 WITH LLVM-exception").unwrap()];
    assert!(Expr::parse("Apache-2.0 WITH LLVM-exception").unwrap().satisfied_by(&pair));
    assert!(!Expr::parse("Apache-2.0").unwrap().satisfied_by(&pair));
}

#[test]
fn d14_deprecated_ids_are_named_with_their_successor() {
    for (text, successor) in [
        ("GPL-2.0+", "GPL-2.0-or-later"),
        ("GPL-2.0", "GPL-2.0-only"),
        ("LGPL-2.1", "LGPL-2.1-only"),
        ("GPL-2.0-with-classpath-exception", "GPL-2.0-only WITH Classpath-exception-2.0"),
    ] {
        let reason = Expr::parse(text).unwrap_err().reason;
        assert!(reason.contains("deprecated") && reason.ends_with(successor), "{reason}");
    }
    assert!(Expr::parse("MPL-2.0+").is_ok() && Expr::parse("Apache-2.0+ OR MIT").is_ok());
}

#[test]
fn d15_the_old_slash_is_wrong_in_a_tag_and_a_warning_in_a_manifest() {
    for text in ["MIT/Apache-2.0", "MIT / Apache-2.0"] {
        let file = format!("// SPDX-License-Identifier: {text}\n// Copyright 2026 Us\n");
        let found = run(crate::lab::POLICY, &tree(&[("a.rs", file.as_bytes())]));
        assert_eq!(brief(&found).len(), 1, "{text}");
        assert!(found[0].message.contains("OR"), "{}", found[0].message);
        let policy = "schema_version = 1\nallow = [\"MIT\", \"Apache-2.0\"]\n[native]\nexpression = \"MIT OR Apache-2.0\"\ncopyright = \"Copyright 2026 Us\"\n";
        let manifest = format!(
            "# SPDX-License-Identifier: MIT OR Apache-2.0\n# Copyright 2026 Us\n[package]\nname = \"x\"\nlicense = \"{text}\"\n"
        );
        let found = run(policy, &tree(&[("Cargo.toml", manifest.as_bytes()), ("LICENSE", b"x")]));
        assert_eq!(brief(&found), ["L013 Cargo.toml:5:1"], "{text}");
        assert_eq!(found[0].severity, Severity::Warning);
        // Manifest and headers must agree whatever the spelling.
        let other = manifest.replace(text, "MIT/ISC");
        let found = run(policy, &tree(&[("Cargo.toml", other.as_bytes()), ("LICENSE", b"x")]));
        assert_eq!(found.iter().filter(|finding| finding.severity == Severity::Error).count(), 1);
    }
}

#[test]
fn d22_the_list_is_closed() {
    let policy = "schema_version = 1\nallow = [\"MIT\"]\n[native]\nexpression = \"MIT\"\ncopyright = \"Copyright 2026 Us\"\n[[override]]\npath = \"a.rs\"\nexpression = \"EXPR\"\n";
    for (text, wanted) in [
        ("GPL-2.0-only", &["L015"][..]),
        ("LicenseRef-Proprietary", &["L015"]),
        ("NOASSERTION", &["L003"]),
        ("MIT", &[]),
    ] {
        // The policy itself refuses what is no licence; the file then stands under the native terms.
        let policy = if text == "NOASSERTION" { crate::lab::POLICY.to_owned() } else { policy.replace("EXPR", text) };
        let file = format!("// SPDX-License-Identifier: {text}\n// Copyright 2026 Us\n");
        let found = run(&policy, &tree(&[("a.rs", file.as_bytes())]));
        assert_eq!(found.iter().map(|finding| finding.rule).collect::<Vec<_>>(), wanted, "{text}");
    }
    // A reference that is listed needs its text.
    let listed =
        policy.replace("[\"MIT\"]", "[\"MIT\", \"LicenseRef-Proprietary\"]").replace("EXPR", "LicenseRef-Proprietary");
    let tree = tree(&[("a.rs", b"// SPDX-License-Identifier: LicenseRef-Proprietary\n// Copyright 2026 Us\n")]);
    let mut policy = opweave_license::policy::Policy::parse("license.toml", &listed).unwrap();
    let report = opweave_license::lint::lint(
        &mut policy,
        &tree,
        opweave_license::rules::RULES,
        &opweave_license::lint::Scope::All,
    )
    .unwrap();
    assert!(
        report.findings.iter().any(|f| f.rule == "L011" && f.message.contains("LicenseRef-Proprietary")),
        "{report:#?}"
    );
}

#[test]
fn d22_no_licence_is_a_finding_and_an_inherited_one_is_read() {
    let head = "# SPDX-License-Identifier: MIT\n# Copyright 2026 Us\n";
    let root = format!("{head}[workspace]\n[workspace.package]\nlicense = \"MIT\"\n");
    let inherits = format!("{head}[package]\nname = \"a\"\nlicense.workspace = true\n");
    let table = format!("{head}[package]\nname = \"a\"\nlicense = {{ workspace = true }}\n");
    let silent = format!("{head}[package]\nname = \"b\"\n");
    let tree = tree(&[
        ("Cargo.toml", root.as_bytes()),
        ("a/Cargo.toml", inherits.as_bytes()),
        ("a/LICENSE", b"x"),
        ("b/Cargo.toml", silent.as_bytes()),
        ("b/LICENSE", b"x"),
        ("c/Cargo.toml", table.as_bytes()),
        ("c/LICENSE", b"x"),
    ]);
    let found = run(crate::lab::POLICY, &tree);
    assert_eq!(brief(&found), ["L013 b/Cargo.toml:1:1"]);
    assert!(found[0].message.contains("states no licence"));
}
