// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! L019 port-own-copyright: a port carries the own copyright line after the upstream's

use super::{Check, Rule, Sink};
use crate::citation::squeeze;
use crate::view::{View, is_own_copyright};

pub(super) static RULE: Rule = Rule {
    id: "L019",
    name: "port-own-copyright",
    what: "a port carries the own copyright line after the upstream's",
    why: "A port is a work of two: what was added here needs its holder too, and the order says who came first.",
    mend: "End the head with the policy's own copyright line, below the citation.",
    example: r#"// This file is a CUDA port of code from ... Copyright (c) 2025 Owner
// SPDX-License-Identifier: MIT AND Apache-2.0
// Copyright 2026 The authors                  <- without it: L019"#,
    check: Check::File(check),
};

fn check(view: &View<'_>, sink: &mut Sink) {
    let Some(bucket) = view.port() else { return };
    let pattern = &view.policy.native.copyright;
    let lines = &view.head.lines;
    let own = lines.iter().rposition(|line| is_own_copyright(&line.text, pattern));
    let upstream = lines.iter().rposition(|line| {
        let text = squeeze(&line.text);
        bucket.copyright.iter().any(|line| text.contains(squeeze(line).trim_end_matches('.')))
    });
    let upstream = upstream.max(view.citations.last().map(|citation| citation.line));
    let help = format!("end the head with `{pattern}`");
    match own {
        None => sink.error(view.top(), format!("a port without the own copyright line `{pattern}`"), help),
        Some(own) if upstream.is_some_and(|upstream| own < upstream) => {
            sink.error(view.place(&lines[own]), "the own copyright line stands before the upstream's", help);
        }
        Some(_) => {}
    }
}
