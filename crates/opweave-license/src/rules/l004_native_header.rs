// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! L004 native-header: a native file has exactly the native header

use super::{Check, Rule, Sink};
use crate::finding::Place;
use crate::policy::Class;
use crate::view::{TAG, View, is_own_copyright};

pub(super) static RULE: Rule = Rule {
    id: "L004",
    name: "native-header",
    what: "a native file has exactly the native header",
    why: "One header for all own files makes a foreign one stand out: another licence, another holder or a porting sentence in a native file is code from elsewhere that was never declared.",
    mend: "Write the two lines of the policy's `[native]` first in the file, one below the other. Code from elsewhere belongs into a bucket, a file with other terms gets an `[[override]]`.",
    example: r#"// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 Somebody Else                <- L004"#,
    check: Check::File(check),
};

fn check(view: &View<'_>, sink: &mut Sink) {
    let applies = view.class == Class::Native && view.annotation.is_none() && view.override_().is_none();
    if !applies || !view.must_speak() || view.valid().is_none() {
        return;
    }
    if let Some((place, message)) = fault(view) {
        let lines = crate::fix::header(&view.policy.native).join("` and `");
        sink.error(place, message, format!("the native header is `{lines}`"));
    }
}

/// The first way in which the head is not the native one.
fn fault(view: &View<'_>) -> Option<(Place, String)> {
    let native = &view.policy.native;
    if let Some(citation) = view.citations.first() {
        let line = &view.head.lines[citation.line];
        return Some((view.place(line), "a native file that says it is a port".into()));
    }
    let tag = view.tags.first()?;
    if tag.value != native.text {
        return Some((tag.place.clone(), format!("licence {} in a native file, not {}", tag.value, native.text)));
    }
    let own = |text: &str| is_own_copyright(text, &native.copyright);
    if let Some((_, line)) = view.copyrights().find(|(_, line)| !own(&line.text)) {
        return Some((view.place(line), format!("copyright line {:?} in a native file", line.text)));
    }
    let lines = &view.head.lines;
    let Some(at) = lines.iter().position(|line| own(&line.text)) else {
        return Some((view.top(), format!("the copyright line `{}` is missing", native.copyright)));
    };
    if lines.iter().skip(at + 1).any(|line| own(&line.text)) {
        return Some((view.place(&lines[at]), "the copyright line stands twice".into()));
    }
    let tagged = lines.iter().position(|line| line.text.starts_with(TAG))?;
    let (first, second) = if native.copyright_first { (at, tagged) } else { (tagged, at) };
    if lines[..first.min(second)].iter().any(|line| !line.text.is_empty()) {
        return Some((view.top(), "the header does not come first".into()));
    }
    let adjacent = lines[second].line.checked_sub(lines[first].line) == Some(1);
    (!adjacent).then(|| (view.place(&lines[second]), "the header's lines are not one below the other in order".into()))
}
