// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! L014 dead-policy: every bucket's glob, override, exception and annotation matches a file

use super::{Check, Rule, Sink, Whole};

pub(super) static RULE: Rule = Rule {
    id: "L014",
    name: "dead-policy",
    what: "every bucket's glob, override, exception and annotation matches a file",
    why: "An entry that matches nothing is a folder that was renamed: its files are now judged as native, silently.",
    mend: "Mend the path, or take the entry out.",
    example: r#"[[exception]]
path = "kernels/deepgemm/old.rs"               <- L014 if there is no such file in a bucket"#,
    check: Check::Tree(check),
};

fn check(whole: &Whole<'_>, sink: &mut Sink) {
    let policy = whole.policy;
    let mut dead =
        |at, message: String| sink.error(whole.policy_place(at), message, "mend the path, or take the entry out");
    let buckets = policy
        .buckets
        .iter()
        .flat_map(|bucket| bucket.paths.iter().map(move |glob| (glob, format!("glob of bucket {:?}", bucket.name))));
    let annotations =
        policy.annotations.iter().flat_map(|entry| &entry.paths).map(|glob| (glob, "annotation".to_owned()));
    let alive = whole.matched(&policy.bucket_globs);
    let dead_buckets = buckets.enumerate().filter(|(index, _)| !alive.contains(index));
    let annotated = whole.matched(&policy.annotation_globs);
    let dead_annotations = annotations.enumerate().filter(|(index, _)| !annotated.contains(index));
    for (_, (glob, what)) in dead_buckets.chain(dead_annotations) {
        dead(glob.at, format!("the {what} {:?} matches no file", glob.value));
    }
    for entry in &policy.overrides {
        if !whole.has(&entry.path) {
            dead(entry.at, format!("the override of {} matches no file", entry.path));
        }
    }
    for entry in &policy.exceptions {
        if !whole.has(&entry.path) {
            dead(entry.at, format!("the exception {} matches no file", entry.path));
        } else if policy.buckets_of(&entry.path).is_empty() {
            dead(entry.at, format!("the exception {} lies in no bucket", entry.path));
        }
    }
}
