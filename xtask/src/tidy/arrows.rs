// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! Crate arrows: the table of `docs/architecture.md` against what `cargo metadata` says.
//!
//! "May depend on" means the named crates and whatever those may depend on. Normal and build dependencies count.
//! Dev-dependencies do not: they are never part of what a user builds, and a test may well drive a crate through one
//! that lies above it.

use std::collections::{BTreeMap, BTreeSet};

use crate::markdown::{Row, code_words, table};

use super::{ARCHITECTURE, Finding};

/// Header of the arrow table.
const HEADER: [&str; 3] = ["crate", "one responsibility", "may depend on"];

/// Crates that measure and never serve; nothing else but the command line may reach them.
const MEASURES: [&str; 4] = ["opweave-ranks", "opweave-numerics", "opweave-bench", "opweave-suite"];

/// The one crate that is neither serving nor measuring: it holds everything.
const BINARY: &str = "opweave-cli";

/// The facade, which names the solutions.
const FACADE: &str = "opweave";

/// Normal and build dependencies inside the workspace, by crate.
pub(crate) type Graph = BTreeMap<String, BTreeSet<String>>;

/// The table, read: direct arrows by crate, and the crates that do not exist yet.
struct Allowed {
    arrows: Graph,
    later: BTreeSet<String>,
    lines: BTreeMap<String, usize>,
}

/// Compares the table in `architecture` with `graph`.
pub(crate) fn check(architecture: &str, graph: &Graph) -> Vec<Finding> {
    let Some(rows) = table(architecture, &HEADER) else {
        return vec![Finding::new(ARCHITECTURE, 0, format!("no table with the columns {}", HEADER.join(" | ")))];
    };
    let (allowed, mut findings) = read(&rows);
    let at = |name: &str| allowed.lines.get(name).copied().unwrap_or(0);
    for (name, used) in graph {
        if !allowed.arrows.contains_key(name) {
            findings.push(Finding::new(ARCHITECTURE, 0, format!("crate {name} has no row in the arrow table")));
            continue;
        }
        if allowed.later.contains(name) {
            findings.push(Finding::new(ARCHITECTURE, at(name), format!("crate {name} exists but its row says later")));
        }
        let may = closure(&allowed.arrows, name);
        for target in used.difference(&may) {
            let legal = if may.is_empty() { "no opweave crate".into() } else { join(&may) };
            let message = format!("{name} depends on {target}, but may depend on {legal} only");
            findings.push(Finding::new(ARCHITECTURE, at(name), message));
        }
    }
    for name in allowed.arrows.keys() {
        if !graph.contains_key(name) && !allowed.later.contains(name) {
            let message = format!("crate {name} has a row but does not exist; mark the row *later*");
            findings.push(Finding::new(ARCHITECTURE, at(name), message));
        }
    }
    let named = named_solutions(&allowed.arrows);
    // Both the table and the tree: a later edit of the table must not open the way either.
    for arrows in [&allowed.arrows, graph] {
        findings.extend(serving(arrows, &at));
        findings.extend(strangers(arrows, &named, &at));
    }
    findings.dedup();
    findings
}

fn read(rows: &[Row]) -> (Allowed, Vec<Finding>) {
    let mut allowed = Allowed { arrows: Graph::new(), later: BTreeSet::new(), lines: BTreeMap::new() };
    let mut findings = Vec::new();
    let mut problem = |row: &Row, message: String| findings.push(Finding::new(ARCHITECTURE, row.line, message));
    for row in rows {
        let [first, job, may] = row.cells.as_slice() else {
            problem(row, format!("row has {} cells, not 3", row.cells.len()));
            continue;
        };
        let [name] = code_words(first)[..] else {
            problem(row, format!("first cell {first:?} must name one crate between backticks"));
            continue;
        };
        if job.is_empty() {
            problem(row, format!("crate {name} states no responsibility"));
        }
        let targets: BTreeSet<String> = code_words(may).into_iter().map(str::to_owned).collect();
        if targets.is_empty() && may != "-" {
            problem(row, format!("{name} may depend on {may:?}: name crates between backticks, or write -"));
        }
        if allowed.arrows.insert(name.to_owned(), targets).is_some() {
            problem(row, format!("crate {name} has two rows"));
        }
        allowed.lines.insert(name.to_owned(), row.line);
        if first.contains("*later*") {
            allowed.later.insert(name.to_owned());
        }
    }
    let names: BTreeSet<&String> = allowed.arrows.keys().collect();
    for (name, targets) in &allowed.arrows {
        for target in targets.iter().filter(|target| !names.contains(target)) {
            let message = format!("{name} may depend on {target}, which has no row");
            findings.push(Finding::new(ARCHITECTURE, allowed.lines[name], message));
        }
        if closure(&allowed.arrows, name).contains(name) {
            findings.push(Finding::new(
                ARCHITECTURE,
                allowed.lines[name],
                format!("{name} may depend on itself: a cycle"),
            ));
        }
    }
    (allowed, findings)
}

/// Everything that `name` reaches.
fn closure(arrows: &Graph, name: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = vec![name];
    while let Some(next) = open.pop() {
        for target in arrows.get(next).into_iter().flatten() {
            if reached.insert(target.clone()) {
                open.push(target);
            }
        }
    }
    reached
}

fn serving(arrows: &Graph, at: &dyn Fn(&str) -> usize) -> Vec<Finding> {
    let serves = |name: &&String| name.as_str() != BINARY && !MEASURES.contains(&name.as_str());
    let mut findings = Vec::new();
    for name in arrows.keys().filter(serves) {
        for target in closure(arrows, name).iter().filter(|target| MEASURES.contains(&target.as_str())) {
            findings.push(Finding::new(
                ARCHITECTURE,
                at(name),
                format!("{name} serves a model and must not reach {target}"),
            ));
        }
    }
    findings
}

/// The solutions: the crates that the facade's row names besides the runtime.
pub(crate) fn solutions(architecture: &str) -> Vec<String> {
    let rows = table(architecture, &HEADER).unwrap_or_default();
    named_solutions(&read(&rows).0.arrows)
}

fn named_solutions(table: &Graph) -> Vec<String> {
    table.get(FACADE).into_iter().flatten().filter(|name| *name != "opweave-runtime").cloned().collect()
}

/// No solution may know another.
fn strangers(arrows: &Graph, solutions: &[String], at: &dyn Fn(&str) -> usize) -> Vec<Finding> {
    let mut findings = Vec::new();
    for name in solutions {
        for other in closure(arrows, name).iter().filter(|other| solutions.contains(other)) {
            findings.push(Finding::new(ARCHITECTURE, at(name), format!("solution {name} knows the solution {other}")));
        }
    }
    findings
}

fn join(names: &BTreeSet<String>) -> String {
    names.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
| crate | one responsibility | may depend on |
| --- | --- | --- |
| `opweave-tensor` | views | - |
| `opweave-registry` | rows | `opweave-tensor` |
| `opweave-runtime` | choice | `opweave-registry` |
| `opweave-cpu` | kernels | `opweave-registry` |
| `opweave-cuda` *later* | kernels | `opweave-registry` |
| `opweave-numerics` | proof | `opweave-runtime` |
| `opweave-bench` | price | `opweave-numerics` |
| `opweave` | facade | `opweave-runtime`, `opweave-cpu`, `opweave-cuda` |
| `opweave-cli` | binary | `opweave`, `opweave-bench` |
";

    fn graph(change: &[(&str, &str)]) -> Graph {
        let mut graph = Graph::new();
        for (name, targets) in [
            ("opweave-tensor", ""),
            ("opweave-registry", "opweave-tensor"),
            ("opweave-runtime", "opweave-registry"),
            ("opweave-cpu", "opweave-registry opweave-tensor"),
            ("opweave-numerics", "opweave-runtime"),
            ("opweave-bench", "opweave-numerics"),
            ("opweave", "opweave-runtime opweave-cpu"),
            ("opweave-cli", "opweave opweave-bench opweave-tensor"),
        ] {
            graph.insert(name.into(), targets.split_whitespace().map(str::to_owned).collect());
        }
        for (name, target) in change {
            graph.entry((*name).into()).or_default().insert((*target).into());
        }
        graph
    }

    fn messages(table: &str, graph: &Graph) -> Vec<String> {
        check(table, graph).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn a_tree_that_keeps_to_the_table_is_clean() {
        assert_eq!(messages(TABLE, &graph(&[])), Vec::<String>::new());
    }

    #[test]
    fn an_arrow_that_is_not_allowed_is_found() {
        let found = messages(TABLE, &graph(&[("opweave-tensor", "opweave-registry")]));
        assert!(
            found
                .iter()
                .any(|m| m.contains("opweave-tensor depends on opweave-registry, but may depend on no opweave crate")),
            "{found:?}"
        );
    }

    #[test]
    fn a_crate_without_a_row_and_a_row_without_a_crate_are_found() {
        let mut extra = graph(&[]);
        extra.insert("opweave-new".into(), BTreeSet::new());
        extra.remove("opweave-cpu");
        extra.insert("opweave-cuda".into(), BTreeSet::new());
        let found = messages(TABLE, &extra);
        for wanted in [
            "opweave-new has no row",
            "opweave-cpu has a row but does not exist",
            "opweave-cuda exists but its row says later",
        ] {
            assert!(found.iter().any(|m| m.contains(wanted)), "{wanted}: {found:?}");
        }
    }

    #[test]
    fn serving_crates_never_reach_measuring_ones_even_if_the_table_says_so() {
        let table = TABLE.replace("| facade | `opweave-runtime`", "| facade | `opweave-numerics`, `opweave-runtime`");
        let found = messages(&table, &graph(&[("opweave", "opweave-numerics")]));
        assert!(
            found.iter().any(|m| m.contains("opweave serves a model and must not reach opweave-numerics")),
            "{found:?}"
        );
    }

    #[test]
    fn a_solution_that_knows_another_is_found() {
        let table = TABLE.replace(
            "| kernels | `opweave-registry` |\n| `opweave-cuda`",
            "| kernels | `opweave-registry`, `opweave-cuda` |\n| `opweave-cuda`",
        );
        let found = messages(&table, &graph(&[]));
        assert!(found.iter().any(|m| m.contains("solution opweave-cpu knows the solution opweave-cuda")), "{found:?}");
    }

    #[test]
    fn a_table_that_cannot_be_read_is_a_finding() {
        assert!(messages("no table", &graph(&[]))[0].contains("no table with the columns"));
        let cycle = TABLE.replace("| views | - |", "| views | `opweave-registry` |");
        assert!(messages(&cycle, &graph(&[])).iter().any(|m| m.contains("a cycle")));
        let vague = TABLE.replace("| views | - |", "| views | nothing much |");
        assert!(messages(&vague, &graph(&[])).iter().any(|m| m.contains("between backticks, or write -")));
        let unknown = TABLE.replace("| views | - |", "| views | `opweave-x` |");
        assert!(messages(&unknown, &graph(&[])).iter().any(|m| m.contains("which has no row")));
    }
}
