// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! L011 missing-license-text: every licence in an expression has its text in the licence folder, and it is that licence's text

use super::{Check, Rule, Sink, Whole};
use crate::finding::Place;
use crate::template;

pub(super) static RULE: Rule = Rule {
    id: "L011",
    name: "missing-license-text",
    what: "every licence in an expression has its text in the licence folder, and it is that licence's text",
    why: "An id is a name for a text; the text is what grants the rights. A text in which a term was changed is another licence under the same name.",
    mend: "Put the text as `licenses/ID.txt`, as the SPDX list has it. Names and years may be yours, terms may not.",
    example: "// SPDX-License-Identifier: BSD-3-Clause       <- L011 if licenses/BSD-3-Clause.txt is missing or has two clauses",
    check: Check::Tree(check),
};

fn check(whole: &Whole<'_>, sink: &mut Sink) {
    for (id, place) in whole.ids() {
        let path = format!("{}/{id}.txt", whole.policy.licenses_dir);
        let Ok(bytes) = whole.tree.all(&path) else {
            let message = format!("licence {id} has no text: {path} is missing");
            sink.error(place, message, format!("add the licence's text as {path}"));
            continue;
        };
        // The text of a LicenseRef is whatever its owner wrote.
        let Some(template) = template::known(&id) else { continue };
        if let Err(words) = template::matches(&id, template, &String::from_utf8_lossy(&bytes)) {
            let message = format!("the text is not that of {id}: it differs at {words:?}");
            sink.error(
                Place::whole(&path),
                message,
                "replace it by the text of the SPDX list; only names and years may vary",
            );
        }
    }
}
