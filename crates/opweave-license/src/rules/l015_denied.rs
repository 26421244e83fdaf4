// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! L015 denied: the expression is satisfied by the allow-list

use super::{Check, Rule, Sink};
use crate::view::View;

pub(super) static RULE: Rule = Rule {
    id: "L015",
    name: "denied",
    what: "the expression is satisfied by the allow-list",
    why: "The list is closed: what nobody decided about is denied. An OR is satisfied by either side, an AND by both, a pair with an exception only by the same pair.",
    mend: "Do not use the code, or add the licence to `allow` after deciding that its terms can be kept.",
    example: r#"allow = ["MIT", "Apache-2.0"]
// SPDX-License-Identifier: MIT OR GPL-3.0-only    <- clean: MIT
// SPDX-License-Identifier: MIT AND GPL-3.0-only   <- L015"#,
    check: Check::File(check),
};

fn check(view: &View<'_>, sink: &mut Sink) {
    let Some(expression) = view.valid().filter(|expression| !expression.satisfied_by(&view.policy.allow)) else {
        return;
    };
    let place = view.tags.first().map_or_else(|| view.top(), |tag| tag.place.clone());
    let allowed: Vec<String> = view.policy.allow.iter().map(ToString::to_string).collect();
    let help = format!("allowed are {}", allowed.join(", "));
    sink.error(place, format!("licence {expression} is not allowed"), help);
}
