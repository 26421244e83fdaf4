// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! L008 missing-upstream-copyright: the upstream copyright line is kept

use super::{Check, Rule, Sink};
use crate::citation::squeeze;
use crate::view::View;

pub(super) static RULE: Rule = Rule {
    id: "L008",
    name: "missing-upstream-copyright",
    what: "the upstream copyright line is kept",
    why: "Nearly every licence has this one condition. It is the first thing that a port loses.",
    mend: "Put the bucket's copyright line into the citation, as upstream writes it. With several sources, that of each.",
    example: r#"// ... (https://host/owner/project @ 0123...)  <- L008: nothing follows
// ... (https://host/owner/project @ 0123...), Copyright (c) 2025 Owner   <- clean"#,
    check: Check::File(check),
};

fn check(view: &View<'_>, sink: &mut Sink) {
    let Some(bucket) = view.port() else { return };
    let words = view.words();
    let cited = |bucket: &crate::policy::Bucket| {
        view.citations.iter().any(|citation| citation.project.as_deref() == Some(&bucket.project))
    };
    let others = view.policy.buckets.iter().filter(|other| other.name != bucket.name && cited(other));
    for source in std::iter::once(bucket).chain(others) {
        for line in source.copyright.iter().filter(|line| !words.contains(squeeze(line).trim_end_matches('.'))) {
            let citation = view.citations.iter().find(|c| c.project.as_deref() == Some(&source.project));
            let place = citation.map_or_else(|| view.top(), |c| view.place(&view.head.lines[c.line]));
            let message = format!("the copyright line of {} is not kept: {line:?}", source.project);
            sink.error(place, message, "put it behind the citation, as upstream writes it");
        }
    }
}
