// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! D08, D10, D18: what a header is.

use crate::lab::{POLICY, brief, expression, native, one, run, tree};

#[test]
fn d08_stray_bytes_utf16_and_binary_files() {
    let latin = b"// SPDX-License-Identifier: MIT\n// Copyright 2026 Us\n// caf\xe9\n";
    assert_eq!(one("a.rs", latin), [""; 0]);
    assert_eq!(expression("b.c", b"// caf\xe9\n// SPDX-License-Identifier: MIT\n").as_deref(), Some("MIT"));
    for little in [true, false] {
        let text = format!("\u{feff}{}int x;\n", native("//"));
        let units = text.encode_utf16();
        let bytes: Vec<u8> = if little {
            units.flat_map(u16::to_le_bytes).collect()
        } else {
            units.flat_map(u16::to_be_bytes).collect()
        };
        assert_eq!(one("a.cpp", &bytes), [""; 0], "little end first: {little}");
    }
    // Binary is what holds a NUL near its start: it needs a sidecar, whatever its name is.
    let mut big = vec![b'x'; 5 << 20];
    big[100] = 0;
    assert_eq!(one("weights.cpp", &big), ["L016 weights.cpp:1:1"]);
    // A NUL far behind the head changes nothing.
    let mut late = native("//").into_bytes();
    late.resize(5 << 20, b'x');
    late.push(0);
    assert_eq!(one("a.cpp", &late), [""; 0]);
}

#[test]
fn d10_tags_in_strings_templates_and_tests_are_text() {
    let code = "const T: &str = \"// SPDX-License-Identifier: Apache-2.0\\n\";\n";
    assert_eq!(expression("a.rs", format!("{}{code}", native("//")).as_bytes()).as_deref(), Some("MIT"));
    assert_eq!(one("a.rs", format!("{}{code}", native("//")).as_bytes()), [""; 0]);
    let workflow = format!(
        "{}on: push\njobs:\n  a:\n    # SPDX-License-Identifier: ISC\n    run: echo 'SPDX-License-Identifier: ISC'\n",
        native("#")
    );
    assert_eq!(one("w.yml", workflow.as_bytes()), [""; 0]);
    // Prose about a tag is no tag.
    let prose = format!("{}// Write `SPDX-License-Identifier: ISC` first.\n", native("//"));
    assert_eq!(one("a.rs", prose.as_bytes()), [""; 0]);
    let raw = format!("{}\nconst T: &str = r#\"\n// SPDX-License-Identifier: ISC\n\"#;\n", native("//"));
    assert_eq!(one("a.rs", raw.as_bytes()), [""; 0]);
}

#[test]
fn d18_one_answer_or_a_finding() {
    assert_eq!(
        one("a.rs", b"// SPDX-License-Identifier: MIT\n// SPDX-License-Identifier: Apache-2.0\n"),
        ["L002 a.rs:2:29"]
    );
    let twice = format!("{}// SPDX-License-Identifier: MIT\n", native("//"));
    assert_eq!(one("a.rs", twice.as_bytes()), ["L002 a.rs:3:29"]);
    let header = native("//");
    let sidecar =
        |text: &'static [u8]| brief(&run(POLICY, &tree(&[("a.rs", header.as_bytes()), ("a.rs.license", text)])));
    assert_eq!(sidecar(b"SPDX-License-Identifier: ISC\n"), ["L002 a.rs.license:1:26"]);
    assert_eq!(sidecar(b"SPDX-License-Identifier: MIT\n"), [""; 0]);
    // An IDE's template holds an escaped tag in an attribute: that is data, and the template has a header of its own.
    let template = "<?xml version=\"1.0\"?>\n<!--\nSPDX-License-Identifier: MIT\nCopyright 2026 Us\n-->\n<component><option value=\"SPDX-License-Identifier: ISC&#10;\" /></component>\n";
    assert_eq!(one("t.xml", template.as_bytes()), [""; 0]);
}

#[test]
fn a_sidecar_without_its_file_is_a_file() {
    assert_eq!(
        one("gone.bin.license", b"SPDX-License-Identifier: MIT\nCopyright 2026 Us\n"),
        ["L016 gone.bin.license:1:1"]
    );
}

#[test]
fn a_header_longer_than_what_is_read_at_first_is_read_on() {
    let padding = "// words words words words words words words\n".repeat(400);
    let late = format!("{padding}// SPDX-License-Identifier: ISC\n");
    assert!(padding.len() > 16_000);
    assert_eq!(expression("a.rs", late.as_bytes()).as_deref(), Some("ISC"));
    let closed = format!("/*\n{padding}*/\n// SPDX-License-Identifier: ISC\nint x;\n");
    assert_eq!(expression("a.c", closed.as_bytes()).as_deref(), Some("ISC"));
}
