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
    format!(
        "{} {}\n\nWhat     {}.\n\nWhy      {}\n\nMend     {}\n\nExample\n\n{}\n",
        rule.id,
        rule.name,
        capital(rule.what),
        rule.why,
        rule.mend,
        example.join("\n")
    )
}
