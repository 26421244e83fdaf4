// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `--explain L006`: what, why, how to mend, example.

use crate::rules::Rule;

/// The rule's page.
#[must_use]
pub fn explain(rule: &Rule) -> String {
    let capital = |text: &str| {
        let mut characters = text.chars();
        characters.next().map(|first| first.to_uppercase().chain(characters).collect::<String>()).unwrap_or_default()
    };
    let example: Vec<String> = rule.example.lines().map(|line| format!("    {line}").trim_end().to_owned()).collect();
    let what = capital(rule.what) + ".";
    let [what, why, mend] = [what.as_str(), rule.why, rule.mend].map(wrapped);
    let example = example.join("\n");
    format!(
        "{} {}\n\nWhat     {what}\n\nWhy      {why}\n\nMend     {mend}\n\nExample\n\n{example}\n",
        rule.id, rule.name
    )
}

/// Lines of at most 88 characters, the second and later ones below the first.
fn wrapped(text: &str) -> String {
    let mut out = String::new();
    let mut width = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > 88 {
            out.push_str("\n         ");
            width = 0;
        } else if width > 0 {
            out.push(' ');
            width += 1;
        }
        out.push_str(word);
        width += length;
    }
    out
}
