// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! L007 wrong-citation: project and URL of a citation are those of a bucket, the file's own among them

use super::{Check, Rule, Sink};
use crate::view::View;

pub(super) static RULE: Rule = Rule {
    id: "L007",
    name: "wrong-citation",
    what: "project and URL of a citation are those of a bucket, the file's own among them",
    why: "A file in the folder of one project that cites another is in the wrong folder, or its header was copied without thought; either way its terms are in doubt.",
    mend: "Write the bucket's project and URL exactly. Code of several projects cites each, and each is a bucket of the policy.",
    example: r#"# bucket flashmla: https://host/owner/FlashMLA
// ... port of code from FlashMLA
// (http://host/owner/flashmla.git @ ...)      <- L007: not the canonical URL"#,
    check: Check::File(check),
};

fn check(view: &View<'_>, sink: &mut Sink) {
    let Some(bucket) = view.port() else { return };
    let mut own = false;
    for citation in &view.citations {
        let (project, url) = (citation.project.as_deref(), citation.url.as_deref());
        let meant = |bucket: &crate::policy::Bucket| project == Some(&*bucket.project) || url == Some(&*bucket.url);
        own |= meant(bucket);
        // What is missing is L006's.
        let (Some(project), Some(url)) = (project, url) else { continue };
        if view.policy.buckets.iter().any(|known| known.project == project && known.url == url) {
            continue;
        }
        let right = view.policy.buckets.iter().find(|known| meant(known)).unwrap_or(bucket);
        let place = view.place(&view.head.lines[citation.line]);
        own |= !view.policy.buckets.iter().any(meant);
        let message = format!("the citation says {project} ({url}), which is no source of the policy");
        sink.error(
            place,
            message,
            format!("write {} ({}), or declare the source as a bucket", right.project, right.url),
        );
    }
    if let Some(first) = view.citations.first().filter(|first| !own && first.project.is_some() && first.url.is_some()) {
        let place = view.place(&view.head.lines[first.line]);
        let message = format!("a file of bucket {:?} that does not cite {}", bucket.name, bucket.project);
        sink.error(place, message, format!("cite {} ({}) too, or move the file", bucket.project, bucket.url));
    }
}
