// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! L006 missing-citation: a port names project, canonical URL and full commit of every source

use super::{Check, Rule, Sink};
use crate::citation::is_full_commit;
use crate::view::View;

pub(super) static RULE: Rule = Rule {
    id: "L006",
    name: "missing-citation",
    what: "a port names project, canonical URL and full commit of every source",
    why: "Without the commit nobody can compare the port with its origin, fetch its fixes or prove its terms. A short hash can come to mean two commits; a branch moves.",
    mend: "Add the sentence of the policy's `port_citation` to the head, once per source, with all 40 digits of the commit.",
    example: r#"// This file is a CUDA port of code from DeepGEMM
// (https://host/owner/DeepGEMM @ 559d79fb), Copyright (c) 2025 DeepSeek   <- L006: not 40 digits"#,
    check: Check::File(check),
};

fn check(view: &View<'_>, sink: &mut Sink) {
    let Some(bucket) = view.port() else { return };
    let example = view.policy.shape.example(&bucket.project, &bucket.url, &bucket.copyright[0]);
    if view.citations.is_empty() {
        let message = format!("a port (bucket {:?}) that cites no source", bucket.name);
        sink.error(view.top(), message, format!("begin with {example:?}"));
    }
    for citation in &view.citations {
        let place = view.place(&view.head.lines[citation.line]);
        let message = match (&citation.project, &citation.url, &citation.commit) {
            (None, ..) => "the citation names no project".to_owned(),
            (_, None, _) => "the citation names no URL".to_owned(),
            (.., None) => "the citation names no commit".to_owned(),
            (.., Some(commit)) if !is_full_commit(commit) => {
                format!("the citation's commit {commit:?} is not 40 lower-case hexadecimal digits")
            }
            _ => continue,
        };
        sink.error(place, message, format!("write {example:?}"));
    }
}
