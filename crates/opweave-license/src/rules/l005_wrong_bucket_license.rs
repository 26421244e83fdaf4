// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! L005 wrong-bucket-license: a port's expression is that of its bucket or override

use super::{Check, Rule, Sink};
use crate::view::View;

pub(super) static RULE: Rule = Rule {
    id: "L005",
    name: "wrong-bucket-license",
    what: "a port's expression is that of its bucket or override",
    why: "The upstream's terms do not change by porting. An expression that drops one of them misleads whoever ships the file.",
    mend: "Write the bucket's expression; order and parentheses are free. If upstream has other terms for this one file, declare an `[[override]]`.",
    example: r#"# bucket deepgemm: MIT AND Apache-2.0
// SPDX-License-Identifier: Apache-2.0         <- L005
// SPDX-License-Identifier: Apache-2.0 AND MIT <- clean"#,
    check: Check::File(check),
};

fn check(view: &View<'_>, sink: &mut Sink) {
    let Some(expression) = view.valid() else { return };
    let (wanted, whose) = match (view.override_(), view.bucket()) {
        (Some(entry), _) => (&entry.expression, "the override".to_owned()),
        (None, Some(bucket)) => (&bucket.expression, format!("bucket {:?}", bucket.name)),
        (None, None) => return,
    };
    if !expression.same_as(wanted) {
        let place = view.tags.first().map_or_else(|| view.top(), |tag| tag.place.clone());
        let message = format!("licence {expression} differs from {wanted}, which {whose} says");
        sink.error(place, message, format!("write `SPDX-License-Identifier: {wanted}`"));
    }
}
