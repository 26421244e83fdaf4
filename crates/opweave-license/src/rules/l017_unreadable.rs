// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! L017 unreadable: every file can be read

use super::{Check, Rule, Sink};
use crate::view::{State, View};

pub(super) static RULE: Rule = Rule {
    id: "L017",
    name: "unreadable",
    what: "every file can be read",
    why: "What was not read was not checked, and must not look as if it was.",
    mend: "Mend the permissions or the link, or ignore the file in git or in the policy.",
    example: "ln -s gone.cu kernel.cu                        <- L017: the target does not exist",
    check: Check::File(check),
};

fn check(view: &View<'_>, sink: &mut Sink) {
    if let State::Unreadable(error) = &view.state {
        let place = crate::finding::Place::whole(view.path);
        sink.error(place, format!("the file cannot be read: {error}"), "mend its permissions or its link");
    }
}
