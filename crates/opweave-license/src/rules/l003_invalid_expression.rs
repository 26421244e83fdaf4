// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! L003 invalid-expression: the expression follows the SPDX grammar and names ids of the list

use super::{Check, Rule, Sink};
use crate::view::View;

pub(super) static RULE: Rule = Rule {
    id: "L003",
    name: "invalid-expression",
    what: "the expression follows the SPDX grammar and names ids of the list",
    why: "A misspelt id is no licence. A deprecated one says too little: `GPL-2.0` leaves open whether later versions may be chosen.",
    mend: "Write the id as the SPDX list spells it, operators in capitals, `OR` instead of a slash, and the successor of a deprecated id. Terms that the list does not have are `LicenseRef-NAME`, with a text under the licence folder.",
    example: r#"// SPDX-License-Identifier: MIT/Apache-2.0     <- L003: write MIT OR Apache-2.0
// SPDX-License-Identifier: GPL-2.0            <- L003: its successor is GPL-2.0-only"#,
    check: Check::File(check),
};

fn check(view: &View<'_>, sink: &mut Sink) {
    let (Some(Err(error)), Some(tag)) = (&view.expression, view.tags.first()) else { return };
    let mut place = tag.place.clone();
    let before = tag.value.get(..error.offset).map_or(0, |text| text.chars().count());
    place.column += u32::try_from(before).unwrap_or(0);
    place.length = u32::try_from(error.length).unwrap_or(1).min(place.length.max(1));
    let help = "write an SPDX expression: ids of the list or LicenseRef-..., joined by AND, OR, WITH and parentheses";
    sink.error(place, format!("invalid licence expression {:?}: {}", error.text, error.reason), help);
}
