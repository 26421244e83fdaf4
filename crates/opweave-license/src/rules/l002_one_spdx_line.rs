// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! L002 one-spdx-line: exactly one SPDX-License-Identifier stands in the comments at the file's head

use super::{Check, Rule, Sink};
use crate::view::{TAG, View};

pub(super) static RULE: Rule = Rule {
    id: "L002",
    name: "one-spdx-line",
    what: "exactly one SPDX-License-Identifier stands in the comments at the file's head",
    why: "Two lines leave open whether both hold or one of them; a copyright line without terms grants nothing.",
    mend: "Keep one line. If both licences hold, write one expression: `MIT AND Apache-2.0`. If either may be chosen: `MIT OR Apache-2.0`. A header and a sidecar may only repeat each other.",
    example: r#"// SPDX-License-Identifier: MIT
// SPDX-License-Identifier: Apache-2.0         <- L002, conflicting

// SPDX-License-Identifier: MIT AND Apache-2.0 <- clean"#,
    check: Check::File(check),
};

fn check(view: &View<'_>, sink: &mut Sink) {
    if !view.must_speak() || view.is_silent() || view.expression.is_some() {
        return;
    }
    let Some((first, rest)) = view.tags.split_first() else {
        let place = view.copyrights().next().map_or_else(|| view.top(), |(_, line)| view.place(line));
        sink.error(place, format!("a copyright line, but no `{TAG}` line"), "add the SPDX line to the header");
        return;
    };
    let Some(second) = rest.iter().find(|tag| tag.value != first.value).or(rest.first()) else { return };
    let (message, help) = if second.value == first.value {
        (format!("duplicate `{TAG}` line"), "keep one of them".to_owned())
    } else {
        let both = format!("({}) AND ({})", first.value, second.value);
        (
            format!("conflicting licences {:?} and {:?}", first.value, second.value),
            format!("keep one line; if both hold, write `{both}`"),
        )
    };
    sink.error(second.place.clone(), message, help);
}
