// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! L010 missing-required-text: an override's required conditions are in the file

use super::{Check, Rule, Sink};
use crate::citation::{joined, squeeze};
use crate::head::comments;
use crate::text::Text;
use crate::view::{State, View};

pub(super) static RULE: Rule = Rule {
    id: "L010",
    name: "missing-required-text",
    what: "an override's required conditions are in the file",
    why: "Some licences must travel in the source file itself, word by word; a pointer to a folder does not satisfy them.",
    mend: "Copy the override's `required_text` into a comment of the file. Wrapping and comment marks are free, words are not.",
    example: r#"# override: required_text = "Redistributions of source code must retain ..."
// SPDX-License-Identifier: BSD-3-Clause
fn f() {}                                      <- L010"#,
    check: Check::File(check),
};

fn check(view: &View<'_>, sink: &mut Sink) {
    let Some(required) = view.override_().and_then(|entry| entry.required_text.as_deref()) else { return };
    if !view.must_speak() || view.is_silent() {
        return;
    }
    let required = squeeze(required);
    if view.words().contains(&required) {
        return;
    }
    // Not at the head: any comment of the file will do.
    if let State::Text(style) = view.state
        && let Ok(bytes) = view.tree.all(view.path)
        && let Some(text) = Text::new(&bytes)
        && joined(&comments(&text.bytes, style)).0.contains(&required)
    {
        return;
    }
    let start: String = required.chars().take(60).collect();
    let message = format!("the text that must travel in this file is missing or altered: \"{start}...\"");
    sink.error(view.top(), message, "copy the override's required text into a comment, word by word");
}
