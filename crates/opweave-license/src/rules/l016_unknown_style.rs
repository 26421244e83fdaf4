// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! L016 unknown-style: a file whose comments are not known has a sidecar or an annotation

use super::{Check, Rule, Sink};
use crate::view::{State, View};

pub(super) static RULE: Rule = Rule {
    id: "L016",
    name: "unknown-style",
    what: "a file whose comments are not known has a sidecar or an annotation",
    why: "A lint that skips what it does not know is trusted for what it never saw.",
    mend: "Put the header into a sidecar `FILE.license`, cover the files by an `[[annotate]]` glob, or name the comment style of the extension under `[styles]`.",
    example: r#"weights.bin                                    <- L016
weights.bin + weights.bin.license              <- clean"#,
    check: Check::File(check),
};

fn check(view: &View<'_>, sink: &mut Sink) {
    if !view.is_silent() {
        return;
    }
    let message = match view.state {
        State::Binary => "a binary file without a sidecar or annotation".to_owned(),
        State::Unknown => {
            let name = view.path.rsplit('/').next().unwrap_or(view.path);
            let kind = name.rsplit_once('.').map_or(name, |(_, extension)| extension);
            format!("no comment style is known for {kind:?}, and no sidecar or annotation speaks for the file")
        }
        _ => return,
    };
    let help = format!("add {}.license, an [[annotate]] glob, or the style under [styles]", view.path);
    sink.error(crate::finding::Place::whole(view.path), message, help);
}
