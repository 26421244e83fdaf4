// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! L020 altered-verbatim: licence texts and required files have their recorded SHA-256

use super::{Check, Rule, Sink, Whole};
use sha2::{Digest, Sha256};

pub(super) static RULE: Rule = Rule {
    id: "L020",
    name: "altered-verbatim",
    what: "licence texts and required files have their recorded SHA-256",
    why: "A text that must stay verbatim is edited by accident: a formatter, a line break, a year. The digest notices.",
    mend: "Restore the file. If the change is meant, record the new digest in the policy: `sha256sum FILE`.",
    example: r#"[texts]
"licenses/MIT.txt" = "0b28..."                 <- L020 if the file has another digest"#,
    check: Check::Tree(check),
};

fn check(whole: &Whole<'_>, sink: &mut Sink) {
    let policy = whole.policy;
    let required = policy.buckets.iter().flat_map(|bucket| &bucket.required_files);
    for file in policy.texts.iter().chain(required) {
        // That it exists was checked with the policy.
        let Ok(bytes) = whole.tree.all(&file.path) else { continue };
        let digest = hex(&bytes);
        if digest != file.sha256 {
            let message = format!("SHA-256 {digest} is not the recorded {}", file.sha256);
            let help = format!("restore the file, or record the new digest in {}", policy.name());
            sink.error(crate::finding::Place::whole(&file.path), message, help);
        }
    }
    let folder = format!("{}/", policy.licenses_dir);
    let recorded = |path: &str| policy.texts.iter().any(|file| file.path == path);
    for entry in whole.entries.iter().filter(|entry| entry.path.starts_with(&folder) && !recorded(&entry.path)) {
        let digest = whole.tree.all(&entry.path).map(|bytes| hex(&bytes)).unwrap_or_default();
        let message = format!("no digest is recorded for {}", entry.path);
        let help = format!("add `\"{}\" = \"{digest}\"` to [texts] of {}", entry.path, policy.name());
        sink.error(crate::finding::Place::whole(&entry.path), message, help);
    }
}

/// SHA-256 in lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
