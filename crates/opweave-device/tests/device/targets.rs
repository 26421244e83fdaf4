// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Case B05: which image runs on which device, as a table.

use opweave_device::{Capability, ImageTarget};

const DEVICES: [(u8, u8); 10] = [(8, 0), (8, 6), (8, 9), (9, 0), (10, 0), (10, 3), (11, 0), (12, 0), (12, 1), (13, 0)];

#[test]
fn b05_images_run_where_the_table_says() {
    // One column for each of DEVICES.
    let table: &[(&str, [bool; 10])] = &[
        ("sm_80", [true, true, true, false, false, false, false, false, false, false]),
        ("sm_86", [false, true, true, false, false, false, false, false, false, false]),
        ("sm_90", [false, false, false, true, false, false, false, false, false, false]),
        ("sm_90a", [false, false, false, true, false, false, false, false, false, false]),
        ("sm_100", [false, false, false, false, true, true, false, false, false, false]),
        ("sm_100a", [false, false, false, false, true, false, false, false, false, false]),
        ("sm_100f", [false, false, false, false, true, true, false, false, false, false]),
        ("sm_103f", [false, false, false, false, false, true, false, false, false, false]),
        ("sm_120f", [false, false, false, false, false, false, false, true, true, false]),
        ("sm_121a", [false, false, false, false, false, false, false, false, true, false]),
        ("compute_80", [true, true, true, true, true, true, true, true, true, true]),
        ("compute_90", [false, false, false, true, true, true, true, true, true, true]),
        ("compute_103", [false, false, false, false, false, true, true, true, true, true]),
    ];
    for (text, expected) in table {
        let target: ImageTarget = text.parse().unwrap();
        assert_eq!(target.to_string(), *text);
        for ((major, minor), runs) in DEVICES.into_iter().zip(expected) {
            assert_eq!(target.runs_on(Capability { major, minor }), *runs, "{text} on {major}.{minor}");
        }
    }
}

#[test]
fn b05_a_bare_number_is_refused_with_the_right_spelling() {
    let cases = [
        ("10", "write sm_100 or compute_100"),
        ("100", "write sm_100 or compute_100"),
        ("10.0", "write sm_100 or compute_100"),
        ("9", "write sm_90 or compute_90"),
        ("90", "write sm_90 or compute_90"),
        ("9.0", "write sm_90 or compute_90"),
        ("103", "write sm_103 or compute_103"),
        ("50", "write sm_50 or compute_50"),
        ("sm_9", "did you mean sm_90?"),
        ("sm_9a", "did you mean sm_90a?"),
        ("sm_10", "did you mean sm_100?"),
        ("sm_12a", "did you mean sm_120a?"),
        ("compute_10", "did you mean compute_100?"),
    ];
    for (text, hint) in cases {
        let error = text.parse::<ImageTarget>().unwrap_err().to_string();
        assert!(error.contains(&format!("`{text}` is not understood")) && error.contains(hint), "{text}: {error}");
    }
}

#[test]
fn other_text_is_refused() {
    for text in [
        "",
        "sm_",
        "sm_x",
        "sm_90b",
        "SM_90",
        "gfx_942",
        "compute_90a",
        "sm_9.0",
        "hopper",
        "sm_-90",
        "sm_+90",
        "sm_9x0",
        "sm_99999",
    ] {
        let error = text.parse::<ImageTarget>().unwrap_err().to_string();
        assert!(error.contains("expected sm_90") || error.contains("did you mean"), "{text}: {error}");
    }
}

#[test]
fn the_hint_is_itself_understood() {
    for number in 1..=130_u16 {
        let Err(error) = number.to_string().parse::<ImageTarget>() else { panic!("{number} was understood") };
        let words: Vec<&str> = error.hint.split(' ').filter(|w| w.contains('_')).collect();
        for word in words.into_iter().filter(|_| number >= 5) {
            assert!(word.parse::<ImageTarget>().is_ok(), "{number}: {word}");
        }
    }
}
