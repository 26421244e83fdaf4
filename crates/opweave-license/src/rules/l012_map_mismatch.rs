// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! L012 map-mismatch: the third-party map in LICENSE, NOTICE and README agrees with the buckets and the tree

use super::{Check, Rule, Sink, Whole};
use crate::map::{self, Row};

pub(super) static RULE: Rule = Rule {
    id: "L012",
    name: "map-mismatch",
    what: "the third-party map in LICENSE, NOTICE and README agrees with the buckets and the tree",
    why: "Whoever receives the project reads these files, not the policy. A map with a folder too few hides a licence; one with a folder too many sends its reader looking.",
    mend: "Give each file of `[map]` one block of rows `path | project | URL | expression` between the two marks, a row for each bucket's glob and each override.",
    example: r#"third-party map: begin
kernels/deepgemm/** | DeepGEMM | https://host/owner/DeepGEMM | MIT AND Apache-2.0
third-party map: end"#,
    check: Check::Tree(check),
};

fn check(whole: &Whole<'_>, sink: &mut Sink) {
    let wanted = map::wanted(whole.policy);
    for file in &whole.policy.map {
        let path = file.value.as_str();
        let bytes = whole.tree.all(path).unwrap_or_default();
        let rows = match map::read(path, &String::from_utf8_lossy(&bytes)) {
            Ok(rows) => rows,
            Err((place, message)) => {
                let help = format!("put the rows between lines with `{}` and `{}`", map::BEGIN, map::END);
                sink.error(place, message, help);
                continue;
            }
        };
        for row in &rows {
            let help = "change the map or the policy; both must say the same";
            let same_path = |other: &&Row| other.path == row.path;
            if rows.iter().find(same_path).is_some_and(|first| first.place != row.place) {
                sink.error(row.place.clone(), format!("a second row for {}", row.path), "keep one");
            } else if let Some(right) = wanted.iter().find(same_path) {
                if let Some(message) = row.differs(right) {
                    sink.error(row.place.clone(), message, help);
                }
            } else {
                let message = format!("a row for {}, which is no bucket's glob and no override", row.path);
                sink.error(row.place.clone(), message, help);
            }
        }
        for missing in wanted.iter().filter(|right| rows.iter().all(|row| row.path != right.path)) {
            let message = format!("the map has no row for {}", missing.path);
            sink.error(crate::finding::Place::whole(path), message, format!("add `{}`", missing.text()));
        }
    }
}
