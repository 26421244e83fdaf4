// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! L018 symlink-outside: a symbolic link stays within the repository

use super::{Check, Rule, Sink};
use crate::view::{State, View};

pub(super) static RULE: Rule = Rule {
    id: "L018",
    name: "symlink-outside",
    what: "a symbolic link stays within the repository",
    why: "What lies outside is on one machine only, under terms that nobody here can see.",
    mend: "Copy the file with its provenance, or link to something in the repository by a relative path.",
    example: "ln -s /opt/sdk/kernel.cu kernel.cu             <- L018",
    check: Check::File(check),
};

fn check(view: &View<'_>, sink: &mut Sink) {
    if let State::Outside(target) = &view.state {
        let place = crate::finding::Place::whole(view.path);
        let message = format!("the link leads out of the repository, to {target}");
        sink.error(place, message, "link to something inside by a relative path");
    }
}
