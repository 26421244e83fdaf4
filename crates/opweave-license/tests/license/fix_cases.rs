// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! D02, D03, D04, D07, D19: where `--fix` puts a header, and what it leaves alone.

use std::fs;
use std::process::Command;

use opweave_license::fix::{Refusal, fix, with_header};
use opweave_license::lint::{Scope, lint};
use opweave_license::policy::Policy;
use opweave_license::rules::RULES;
use opweave_license::walk::Disk;

use crate::lab::{POLICY, native};

fn policy() -> Policy {
    Policy::parse("license.toml", POLICY).unwrap()
}

/// The fixed bytes; once more changes nothing.
fn fixed(path: &str, raw: &[u8]) -> Vec<u8> {
    let once = with_header(&policy(), path, raw).unwrap().expect("a header is added");
    assert_eq!(with_header(&policy(), path, &once), Ok(None), "{path}: twice is not once");
    once
}

fn refused(path: &str, raw: &[u8]) -> Refusal {
    with_header(&policy(), path, raw).expect_err(path)
}

#[test]
fn d02_inner_attributes_are_no_script() {
    let head = native("//");
    let attribute = "#![doc = r\"\nline two\n\"]\npub fn f(){}\n";
    assert_eq!(fixed("a.rs", attribute.as_bytes()), format!("{head}\n{attribute}").into_bytes());
    let plain = "#![no_std]\n//! crate doc\n";
    assert_eq!(fixed("a.rs", plain.as_bytes()), format!("{head}\n{plain}").into_bytes());
    let script = "#!/usr/bin/env run-cargo-script\nfn main() {}\n";
    assert_eq!(
        String::from_utf8(fixed("a.rs", script.as_bytes())).unwrap(),
        format!("#!/usr/bin/env run-cargo-script\n{head}\nfn main() {{}}\n")
    );
}

#[test]
fn d03_a_coding_line_stays_where_python_looks() {
    let raw = b"# -*- coding: latin-1 -*-\nx = \"caf\xe9\"\nprint(len(x))\n";
    let after = fixed("a.py", raw);
    assert!(after.starts_with(b"# -*- coding: latin-1 -*-\n# SPDX-License-Identifier"));
    assert!(after.ends_with(b"x = \"caf\xe9\"\nprint(len(x))\n"));
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [("before.py", &raw[..]), ("after.py", &after)] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        // Machines without python3 still check the bytes above.
        let Ok(output) = Command::new("python3").arg(&path).output() else { return };
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.stdout, b"4\n", "{name}");
    }
    let both = b"#!/usr/bin/env python\n# vim: set fileencoding=latin-1 :\nx = 1\n";
    assert!(fixed("a.py", both).starts_with(b"#!/usr/bin/env python\n# vim: set fileencoding=latin-1 :\n# SPDX"));
}

#[test]
fn d04_declarations_stay_first_and_document_types_whole() {
    let block = "<!--\nSPDX-License-Identifier: MIT\nCopyright 2026 Us\n-->\n";
    for name in ["a.xml", "a.svg", "a.txt"] {
        let raw = "<?xml version=\"1.0\"?>\n<a/>\n";
        let after = String::from_utf8(fixed(name, raw.as_bytes())).unwrap();
        assert_eq!(after, format!("<?xml version=\"1.0\"?>\n{block}\n<a/>\n"), "{name}");
    }
    let doctype = "<?xml version=\"1.0\"?>\n<!DOCTYPE a\n  [<!ENTITY b \"c\">]>\n<a>&b;</a>\n";
    let after = String::from_utf8(fixed("a.xml", doctype.as_bytes())).unwrap();
    assert_eq!(after, format!("<?xml version=\"1.0\"?>\n{block}\n<!DOCTYPE a\n  [<!ENTITY b \"c\">]>\n<a>&b;</a>\n"));
    let html = "<!DOCTYPE html\n  PUBLIC \"x\">\n<p>\n";
    let after = String::from_utf8(fixed("a.html", html.as_bytes())).unwrap();
    assert_eq!(after, format!("<!DOCTYPE html\n  PUBLIC \"x\">\n{block}\n<p>\n"));
    let one_line = "<?xml version=\"1.0\"?><a/>";
    let after = fixed("a.xml", one_line.as_bytes());
    assert!(after.starts_with(b"<?xml version=\"1.0\"?>\n<!--") && after.ends_with(b"-->\n\n<a/>"));
    let script = "import sys, xml.dom.minidom\n[xml.dom.minidom.parse(p) for p in sys.argv[1:]]\n";
    let folder = tempfile::tempdir().unwrap();
    let paths = [("a.xml", doctype), ("b.xml", one_line)].map(|(name, raw)| {
        let path = folder.path().join(name);
        fs::write(&path, fixed(name, raw.as_bytes())).unwrap();
        path
    });
    if let Ok(output) = Command::new("python3").arg("-c").arg(script).args(&paths).output() {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn d07_every_original_byte_stays() {
    for (path, raw, newline) in [
        ("a.c", &b"int one;\r\nint a;\nint b;\n"[..], "\n"),
        ("a.c", b"// one\r\nint a;\nint b;\n", "\n"),
        ("a.c", b"int a;\r\nint b;\r\nint c;\n", "\r\n"),
        ("a.bat", b"echo 1\r\necho 2\r\n", "\r\n"),
        ("a.c", b"int a; // tail", "\n"),
        ("a.c", b"\n\nint a;", "\n"),
        ("a.py", b"x = 1\ry = 2\r", "\r"),
    ] {
        let after = fixed(path, raw);
        assert!(after.ends_with(raw), "{path} {raw:?}");
        let head = &after[..after.len() - raw.len()];
        let breaks = String::from_utf8(head.to_vec()).unwrap().replace(newline, "");
        assert!(!breaks.contains(['\r', '\n']), "{path}: the header's own line breaks: {head:?}");
    }
    // A byte order mark stays first, in whatever encoding.
    let marked = fixed("a.c", "\u{feff}int a;\n".as_bytes());
    assert!(marked.starts_with(b"\xef\xbb\xbf// SPDX") && marked.ends_with(b"int a;\n"));
    let wide: Vec<u8> = "\u{feff}int a;\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let after = fixed("a.c", &wide);
    assert!(after.starts_with(&wide[..2]) && after.ends_with(&wide[2..]));
    let units: Vec<u16> = after.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    assert!(String::from_utf16(&units).unwrap().contains("// SPDX-License-Identifier: MIT\r\n"));
    // `@echo off` first, or the comments are printed.
    assert!(fixed("a.bat", b"@echo off\r\ndir\r\n").starts_with(b"@echo off\r\nREM SPDX-License-Identifier"));
}

#[test]
fn d19_a_header_is_never_stacked() {
    let ours = native("//");
    for path in ["a.rs", "b.rs"] {
        assert_eq!(with_header(&policy(), path, ours.as_bytes()), Ok(None));
    }
    for raw in [
        "// Copyright 2019 Us\nint a;\n",
        "// SPDX-License-Identifier: Apache-2.0\n// Copyright 2026 Us\n",
        "// SPDX-License-Identifier: MIT\n// Copyright 2026 Someone Else\n",
        "// SPDX-License-Identifier: MIT\n",
        "/*\n * Copyright 2020 Us\n * Licensed under the Apache License, Version 2.0 (the \"License\");\n */\n",
    ] {
        assert_eq!(refused("a.c", raw.as_bytes()), Refusal::Header, "{raw}");
    }
    for raw in [
        "/*\n * Licensed under the Apache License, Version 2.0 (the \"License\");\n */\nint a;\n",
        "// Permission is hereby granted, free of charge\n",
        "# Adapted from the work of others\n",
        "// This file is a CUDA port of code from Widget\n",
        "#ifdef A\n# /* Copyright (C) 2001 Someone */\n#endif\n",
        "int a;\n// Distributed under the Boost Software License\n",
        "\"use strict\";\nf();\n// Copyright (c) Someone\n",
    ] {
        let path = if raw.starts_with("# ") { "a.py" } else { "a.c" };
        assert!(matches!(refused(path, raw.as_bytes()), Refusal::Foreign(_)), "{raw}");
    }
    // The policy holds such words by trade.
    assert!(fixed("license.toml", POLICY.as_bytes()).starts_with(b"# SPDX-License-Identifier: MIT\n"));
    assert_eq!(refused("a.json", b"{}"), Refusal::NoComment);
    assert_eq!(refused("a.c", b"a\0b"), Refusal::NoComment);
    assert_eq!(with_header(&policy(), "a.c", b""), Ok(None));
    let ports = Policy::parse("license.toml", &format!("{POLICY}{}", crate::path_map::BUCKET)).unwrap();
    assert_eq!(with_header(&ports, "ports/a.c", b"int a;\n"), Err(Refusal::Port));
}

#[test]
fn d19_on_disk_a_read_only_file_stays_and_a_mode_is_kept() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (name, mode) in [("run.sh", 0o755), ("locked.rs", 0o444), ("plain.rs", 0o640)] {
        fs::write(at(name), "x\n").unwrap();
        fs::set_permissions(at(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    let mut policy = policy();
    let disk = Disk::new(folder.path());
    let report = lint(&mut policy, &disk, RULES, &Scope::All).unwrap();
    let done = fix(&policy, folder.path(), &report.findings);
    assert_eq!(done.added, ["plain.rs", "run.sh"]);
    assert_eq!(done.refused, [("locked.rs".to_owned(), Refusal::ReadOnly)]);
    assert_eq!(fs::read(at("locked.rs")).unwrap(), b"x\n");
    let mode = |name: &str| fs::metadata(at(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("run.sh"), mode("plain.rs"), mode("locked.rs")), (0o755, 0o640, 0o444));
    assert_eq!(fs::read_to_string(at("run.sh")).unwrap(), format!("{}\nx\n", native("#")));
    // Nothing is left beside the files, and the second run finds nothing to do.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    let report = lint(&mut policy, &disk, RULES, &Scope::All).unwrap();
    assert!(fix(&policy, folder.path(), &report.findings).added.is_empty());
}
