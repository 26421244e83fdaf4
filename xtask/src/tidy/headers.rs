// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! The two header lines of every source file.

use super::Finding;
use super::tree::Tree;

/// The header's lines without their comment mark.
pub(crate) const HEADER: [&str; 2] = ["SPDX-License-Identifier: Apache-2.0", "Copyright 2026 The opweave authors"];

/// The comment mark of a source file, or `None` for what carries no header: prose, data, snapshots.
fn comment_mark(path: &str, text: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("rs" | "cu" | "cuh" | "h" | "cpp") => Some("//"),
        Some("py" | "toml" | "sh" | "yml" | "yaml") => Some("#"),
        _ if text.starts_with("#!") => Some("#"),
        _ => None,
    }
}

/// Checks every source file of the tree.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| !file.link) {
        let Some(mark) = comment_mark(&file.path, &file.text) else { continue };
        // A script's first line belongs to the kernel; `#![..]` of Rust does not start a script.
        let script = file.text.starts_with("#!") && mark == "#";
        let mut lines = file.text.lines().skip(usize::from(script));
        for wanted in HEADER.map(|line| format!("{mark} {line}")) {
            if lines.next() != Some(wanted.as_str()) {
                findings.push(Finding::new(&file.path, 1, format!("header line missing or altered: {wanted:?}")));
                break;
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree_of;
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        check(&tree_of(&[(path, text)])).len()
    }

    #[test]
    fn a_missing_or_altered_header_is_found() {
        let slashes = HEADER.map(|line| format!("// {line}\n")).concat();
        let hashes = HEADER.map(|line| format!("# {line}\n")).concat();
        assert_eq!(found("a.rs", &format!("{slashes}fn a() {{}}\n")), 0);
        assert_eq!(found("a.rs", "fn a() {}\n"), 1);
        assert_eq!(found("a.rs", &slashes.replace("Apache-2.0", "MIT")), 1);
        assert_eq!(found("a.rs", &slashes.replace("2026", "2025")), 1);
        assert_eq!(found("a.rs", &format!("#![no_std]\n{slashes}")), 1, "before anything else");
        assert_eq!(found("a.toml", &hashes), 0);
        assert_eq!(found("a.toml", &slashes), 1);
        assert_eq!(found("run", &format!("#!/usr/bin/env bash\n{hashes}")), 0);
        assert_eq!(found("run", "#!/usr/bin/env bash\nset -e\n"), 1);
        assert_eq!(found("README.md", "# x\n") + found("a.snap", "x") + found("a.json", "{}"), 0);
    }
}
