// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! Contract pages have their generated parts, and these are filled. Whether they are up to date is for the tests that know
//! the declarations.

use super::Finding;
use super::tree::Tree;

/// The parts: how each begins and ends, and what writes it.
const PARTS: [Part; 2] = [
    Part {
        begin: "<!-- generated from the declaration -->",
        end: "<!-- end -->",
        fill: "OPWEAVE_UPDATE_PAGES=1 cargo test -p opweave-contract --test contract pages",
    },
    Part {
        begin: "<!-- generated from the rows of cpu -->",
        end: "<!-- end of the rows of cpu -->",
        fill: "OPWEAVE_UPDATE_PAGES=1 cargo test -p opweave-cpu --test rows every_contract_page",
    },
];

struct Part {
    begin: &'static str,
    end: &'static str,
    fill: &'static str,
}

/// Checks every page of an operator.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        let Some(page) = file.path.strip_prefix("docs/contracts/").filter(|page| page.ends_with(".md")) else {
            continue;
        };
        for part in PARTS.iter().filter(|_| page != "README.md") {
            let line = file.text.lines().position(|line| line == part.begin).map_or(0, |at| at + 1);
            let inside = file.text.split_once(part.begin).and_then(|(_, rest)| rest.split_once(part.end));
            let message = match inside {
                Some((text, _)) if !text.trim().is_empty() => continue,
                Some(_) => format!("nothing stands below `{}`: {} fills it", part.begin, part.fill),
                None => format!("has no part between `{}` and `{}`, which {} fills", part.begin, part.end, part.fill),
            };
            findings.push(Finding::new(&file.path, line, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree_of;
    use super::*;

    #[test]
    fn an_empty_part_of_a_page_is_found_and_told_how_to_fill() {
        let [declaration, rows] = PARTS.map(|part| (part.begin, part.end));
        let page = |declared: &str| {
            let text = format!("# a\n{}\n{declared}{}\n\n{}\nrows\n{}\n", declaration.0, declaration.1, rows.0, rows.1);
            check(&tree_of(&[("docs/contracts/a.md", &text), ("docs/contracts/README.md", ""), ("docs/b.md", "")]))
        };
        assert!(page("facts\n").is_empty());
        let empty = page("\n");
        assert_eq!(empty.len(), 1);
        assert_eq!(
            empty[0].to_string(),
            "docs/contracts/a.md:2: nothing stands below `<!-- generated from the declaration -->`: \
             OPWEAVE_UPDATE_PAGES=1 cargo test -p opweave-contract --test contract pages fills it"
        );
    }

    #[test]
    fn a_page_without_its_parts_is_found() {
        let found = check(&tree_of(&[("docs/contracts/a.md", "# a\n<!-- generated from the declaration -->\n")]));
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|finding| finding.message.starts_with("has no part between")), "{found:?}");
    }
}
