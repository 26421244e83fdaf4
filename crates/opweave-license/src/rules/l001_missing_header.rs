// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! L001 missing-header: every file has a header, a sidecar or an annotation

use super::{Check, Rule, Sink};
use crate::view::{State, View};

pub(super) static RULE: Rule = Rule {
    id: "L001",
    name: "missing-header",
    what: "every file has a header, a sidecar or an annotation",
    why: "A file without terms gives nobody the right to use it, and whoever copies it away takes no terms along.",
    mend: "`opweave license --fix` adds the native header to native files. A port needs its citation first. What cannot hold a comment gets a sidecar `FILE.license` or an `[[annotate]]` glob in the policy.",
    example: r#"fn main() {}                                   <- L001

// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The authors
fn main() {}                                   <- clean"#,
    check: Check::File(check),
};

fn check(view: &View<'_>, sink: &mut Sink) {
    let State::Text(style) = view.state else { return };
    if !view.is_silent() {
        return;
    }
    let help =
        match (view.bucket(), crate::fix::foreign(view.text(), style).filter(|_| view.path != view.policy.name())) {
            (Some(bucket), _) => {
                let cited = view.policy.shape.example(&bucket.project, &bucket.url, &bucket.copyright[0]);
                format!("this is a port: begin with {cited:?}, then the SPDX line and your own copyright line")
            }
            (None, Some(words)) => format!(
                "the head says {words:?}: find out whose code this is; give it an SPDX line, or declare it as a port"
            ),
            (None, None) => "add the native header, or run `opweave license --fix`".to_owned(),
        };
    sink.error(view.top(), "the file has no licence header", help);
}
