// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! Where `unsafe` may stand, and what must stand beside it.
//!
//! The table in `docs/architecture.md` names the crates, examples by their folder: `any` may hold unsafe code of every kind, `calls` may declare
//! unsafe functions and hold unsafe blocks of one statement each, `markers` may say that a type is `Send` or `Sync`, and
//! a crate without a row holds none. Test code may use unsafe everywhere, since calling an unsafe function is the only
//! way to test it, but explains itself like any other.

use std::collections::BTreeMap;

use crate::markdown::{code_words, table};

use super::source::{Source, matching};
use super::tree::Tree;
use super::{ARCHITECTURE, Finding};

const HEADER: [&str; 3] = ["crate", "unsafe", "why"];

/// Programs outside the workspace that call kernels as a user would.
const USERS: &str = "comparisons/";

/// What one crate may hold.
#[derive(Clone, Copy, Default)]
struct Policy {
    any: bool,
    calls: bool,
    markers: bool,
}

impl Policy {
    /// Reads a cell such as `calls, markers`.
    fn parse(cell: &str) -> Result<Policy, String> {
        let mut policy = Policy::default();
        for word in cell.split(',').map(str::trim) {
            match word {
                "any" => policy.any = true,
                "calls" => policy.calls = true,
                "markers" => policy.markers = true,
                _ => return Err(format!("unsafe policy {word:?}: expected any, calls or markers")),
            }
        }
        Ok(policy)
    }

    /// Why such a use may not stand in the crate.
    fn refuses(self, used: Use) -> Option<&'static str> {
        match used {
            _ if self.any => None,
            Use::Block { statements } if self.calls && statements > 1 => {
                Some("an unsafe block of several statements in a crate that may only call")
            }
            Use::Block { .. } | Use::Function | Use::Other if self.calls => None,
            Use::Impl { marker: true } if self.markers => None,
            Use::Impl { .. } => Some("unsafe impl in a crate that may hold none"),
            _ => Some("unsafe in a crate that may hold none"),
        }
    }
}

/// Checks every Rust file of the tree against the table in `architecture`.
pub(crate) fn check(tree: &Tree, architecture: &str) -> Vec<Finding> {
    let (policy, mut findings) = read(architecture);
    for file in tree.rust() {
        let source = file.source();
        let policy = file.package().and_then(|name| policy.get(name)).copied().unwrap_or_default();
        for at in source.words("unsafe") {
            let line = source.line_of(at) + 1;
            let mut problem = |message: &str| findings.push(Finding::new(&file.path, line, message.to_owned()));
            let use_ = classify(&source.code, at);
            if use_ == Use::Attribute {
                continue;
            }
            if !source.is_test(at)
                && !file.path.starts_with(USERS)
                && let Some(why) = policy.refuses(use_)
            {
                problem(why);
            }
            match use_ {
                Use::Block { .. } | Use::Impl { .. } if !explained(&source, line - 1) => {
                    problem("unsafe without a SAFETY comment that names the clause it discharges");
                }
                Use::Function if !source.is_test(at) && !documented(&source, at) => {
                    problem("unsafe fn without a # Safety section");
                }
                _ => {}
            }
        }
    }
    findings
}

fn read(architecture: &str) -> (BTreeMap<String, Policy>, Vec<Finding>) {
    let Some(rows) = table(architecture, &HEADER) else {
        let message = format!("no table with the columns {}", HEADER.join(" | "));
        return (BTreeMap::new(), vec![Finding::new(ARCHITECTURE, 0, message)]);
    };
    let (mut policy, mut findings) = (BTreeMap::new(), Vec::new());
    for row in rows {
        let kind = match Policy::parse(row.cells.get(1).map_or("", String::as_str)) {
            Ok(kind) => kind,
            Err(message) => {
                findings.push(Finding::new(ARCHITECTURE, row.line, message));
                continue;
            }
        };
        if row.cells.get(2).is_none_or(String::is_empty) {
            findings.push(Finding::new(ARCHITECTURE, row.line, "an unsafe policy needs its reason".into()));
        }
        policy.extend(code_words(&row.cells[0]).into_iter().map(|name| (name.to_owned(), kind)));
    }
    (policy, findings)
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Use {
    /// `unsafe { .. }`, with the number of statements in it.
    Block { statements: usize },
    /// `unsafe fn name`, also with an ABI.
    Function,
    /// `unsafe impl`, and whether of `Send` or `Sync`.
    Impl { marker: bool },
    /// `unsafe trait`, `unsafe extern` blocks and function pointer types: nothing is discharged there.
    Other,
    /// `#[unsafe(..)]`.
    Attribute,
}

fn classify(code: &str, at: usize) -> Use {
    let rest = code[at + "unsafe".len()..].trim_start();
    let start = code.len() - rest.len();
    if rest.starts_with('(') {
        return Use::Attribute;
    }
    if rest.starts_with('{') {
        let end = matching(code, start).unwrap_or(code.len());
        let body = code[start + 1..end].trim();
        let ended = body.matches(';').count();
        return Use::Block { statements: ended + usize::from(!body.is_empty() && !body.ends_with(';')) };
    }
    if rest.starts_with("impl") {
        let header = rest.split('{').next().unwrap_or_default();
        return Use::Impl { marker: [" Send for ", " Sync for "].iter().any(|word| header.contains(word)) };
    }
    // Literals are blanked, so the ABI of an `unsafe extern "C" fn` has left only spaces.
    let rest = rest.strip_prefix("extern").unwrap_or(rest).trim_start();
    match rest.strip_prefix("fn") {
        Some(named) if named.trim_start().starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$') => {
            Use::Function
        }
        _ => Use::Other,
    }
}

/// Whether a comment with `SAFETY:` and words after it stands on the line, or above the statement that the line is
/// part of. `line` counts from 0.
fn explained(source: &Source<'_>, line: usize) -> bool {
    let says = |line: usize| {
        source.lines[line].split_once("//").is_some_and(|(_, comment)| {
            comment.split_once("SAFETY:").is_some_and(|(_, text)| text.split_whitespace().count() >= 2)
        })
    };
    if says(line) {
        return true;
    }
    let mut commented = false;
    for above in (0..line).rev() {
        let code = source.code_line(above).trim();
        let comment = code.is_empty() && source.lines[above].trim_start().starts_with("//");
        if comment {
            if says(above) {
                return true;
            }
            commented = true;
        } else if commented || source.lines[above].trim().is_empty() || ends_statement(code) {
            return false;
        }
    }
    false
}

/// Whether code that ends like this cannot be the head of the statement below it.
fn ends_statement(code: &str) -> bool {
    code.ends_with([';', '}', '{']) && !code.starts_with("#[")
}

/// Whether the function at `at` has a `# Safety` section, or implements a trait's function, which has it.
fn documented(source: &Source<'_>, at: usize) -> bool {
    let in_trait_impl = source.enclosing(at).iter().any(|header| {
        let header = header.trim_start();
        let header = header.rsplit(']').next().unwrap_or(header).trim_start();
        let header = header.strip_prefix("unsafe").unwrap_or(header).trim_start();
        header.starts_with("impl") && header.contains(" for ")
    });
    if in_trait_impl {
        return true;
    }
    let line = source.line_of(at);
    for above in (0..line).rev() {
        let text = source.lines[above].trim();
        if text.starts_with("///") && text.contains("# Safety") {
            return true;
        }
        let code = source.code_line(above).trim();
        let part_of_item =
            text.starts_with("//") || code.starts_with("#[") || code.starts_with(')') || code.ends_with([',', '(']);
        if !part_of_item {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree_of;
    use super::*;

    const TABLE: &str = "\
| crate | unsafe | why |
| --- | --- | --- |
| `opweave-cpu`, `opweave-tensor` | any | kernels and views |
| `opweave-registry` | calls | declares and calls enqueue |
| `opweave-bench` | calls, markers | a type of addresses |
| `examples/engine` | calls | an engine of its own memory |
";

    fn found(path: &str, text: &str) -> Vec<String> {
        check(&tree_of(&[(path, text)]), TABLE).into_iter().map(|finding| finding.message).collect()
    }

    const CPU: &str = "crates/opweave-cpu/src/lib.rs";

    #[test]
    fn unsafe_outside_the_named_crates_is_found() {
        let text = "// SAFETY: clause one.\nlet x = unsafe { f() };\n";
        assert_eq!(found("crates/opweave-runtime/src/lib.rs", text), ["unsafe in a crate that may hold none"]);
        assert_eq!(found("xtask/src/main.rs", text), ["unsafe in a crate that may hold none"]);
        assert!(found(CPU, text).is_empty());
        assert!(found("crates/opweave-runtime/tests/it.rs", text).is_empty());
        assert!(found("examples/engine/src/lib.rs", text).is_empty());
        assert_eq!(found("examples/other/src/lib.rs", text), ["unsafe in a crate that may hold none"]);
        assert!(found("comparisons/a/src/main.rs", text).is_empty());
        assert!(found("comparisons/a/src/main.rs", "let x = unsafe { f() };\n")[0].contains("SAFETY"));
    }

    #[test]
    fn a_calling_crate_may_call_and_no_more() {
        let path = "crates/opweave-registry/src/lib.rs";
        assert!(found(path, "// SAFETY: the caller's promise.\nlet r = unsafe { plan.enqueue(a) };\n").is_empty());
        let two = "// SAFETY: the caller's promise.\nlet r = unsafe { a(); b() };\n";
        assert!(found(path, two)[0].contains("several statements"));
        assert!(found(path, "// SAFETY: it is inert.\nunsafe impl Send for X {}\n")[0].contains("unsafe impl"));
        let marker = "crates/opweave-bench/src/lib.rs";
        assert!(found(marker, "// SAFETY: it is inert.\nunsafe impl<T> Send for X<T> {}\n").is_empty());
        assert!(
            found(marker, "// SAFETY: it is inert.\nunsafe impl GlobalAlloc for X {}\n")[0].contains("unsafe impl")
        );
    }

    #[test]
    fn an_unsafe_block_without_safety_is_found() {
        assert!(found(CPU, "let x = unsafe { f() };\n")[0].contains("without a SAFETY comment"));
        assert!(
            found(CPU, "// SAFETY:\nlet x = unsafe { f() };\n")[0].contains("without a SAFETY comment"),
            "empty words"
        );
        assert!(
            found(CPU, "// SAFETY: one two.\nf();\nlet x = unsafe { f() };\n")[0].contains("SAFETY"),
            "another statement's"
        );
        assert!(found("crates/opweave-cpu/tests/a.rs", "let x = unsafe { f() };\n")[0].contains("SAFETY"), "tests too");
    }

    #[test]
    fn a_safety_comment_reaches_over_its_own_statement() {
        assert!(found(CPU, "// SAFETY: clause A.\n// more words\nlet x =\n    unsafe { f() };\n").is_empty());
        assert!(found(CPU, "// SAFETY: clause A.\n#[cfg(unix)]\nunsafe impl Send for X {}\n").is_empty());
        assert!(found(CPU, "let x = unsafe { f() }; // SAFETY: clause A.\n").is_empty());
        assert!(found(CPU, "foo(unsafe {\n    // not this\n    f() });\n")[0].contains("SAFETY"));
    }

    #[test]
    fn an_unsafe_fn_without_a_safety_section_is_found() {
        assert!(found(CPU, "/// Does it.\npub unsafe fn f() {}\n")[0].contains("# Safety"));
        let good = "/// Does it.\n///\n/// # Safety\n/// - aligned\n#[inline]\n#[target_feature(enable = \"avx2\")]\npub unsafe fn f() {}\n";
        assert!(found(CPU, good).is_empty());
        assert!(found(CPU, "impl Plan for P {\n    unsafe fn f() {}\n}\n").is_empty(), "the trait has the section");
        assert!(found(CPU, "impl P {\n    unsafe fn f() {}\n}\n")[0].contains("# Safety"));
        assert!(found(CPU, "type F = unsafe fn(i32);\n#[unsafe(no_mangle)]\nfn g() {}\n").is_empty());
        assert!(found(CPU, "unsafe extern \"C\" fn f() {}\n")[0].contains("# Safety"));
    }

    #[test]
    fn words_in_comments_and_strings_do_not_count() {
        assert!(found("xtask/src/main.rs", "// unsafe { }\nlet s = \"unsafe { f() }\";\n").is_empty());
    }

    #[test]
    fn a_table_that_cannot_be_read_is_a_finding() {
        let tree = tree_of(&[]);
        assert!(check(&tree, "none")[0].message.contains("no table"));
        assert!(
            check(&tree, &TABLE.replace("| any |", "| some |"))[0].message.contains("expected any, calls or markers")
        );
        assert!(check(&tree, &TABLE.replace("kernels and views", ""))[0].message.contains("needs its reason"));
    }
}
