// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! For review tools: SARIF 2.1.0.

use serde_json::{Value, json};

use crate::finding::{Finding, Severity};
use crate::rules::RULES;

/// The findings as one SARIF run. `folder` is the policy's folder as a URI with a final slash, if that is known.
#[must_use]
pub fn sarif(findings: &[Finding], folder: Option<&str>) -> Value {
    let rules: Vec<Value> = RULES
        .iter()
        .map(|rule| {
            json!({
                "id": rule.id,
                "name": pascal(rule.name),
                "shortDescription": { "text": rule.what },
                "fullDescription": { "text": rule.why },
                "help": { "text": format!("{}\n\n{}", rule.mend, rule.example) },
                "defaultConfiguration": { "level": "error" },
            })
        })
        .collect();
    let results: Vec<Value> = findings.iter().map(result).collect();
    let mut run = json!({
        "tool": { "driver": {
            "name": "opweave license",
            "version": env!("CARGO_PKG_VERSION"),
            "informationUri": "https://github.com/opweave/opweave",
            "rules": rules,
        } },
        "columnKind": "unicodeCodePoints",
        "results": results,
    });
    if let Some(folder) = folder {
        run["originalUriBaseIds"] = json!({ "ROOT": { "uri": folder } });
    }
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    })
}

fn result(finding: &Finding) -> Value {
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut region = json!({ "startLine": finding.line, "startColumn": finding.column });
    if finding.length > 0 {
        region["endColumn"] = json!(finding.column + finding.length);
    }
    if let Some(excerpt) = &finding.excerpt {
        region["snippet"] = json!({ "text": excerpt });
    }
    json!({
        "ruleId": finding.rule,
        "ruleIndex": RULES.iter().position(|rule| rule.id == finding.rule),
        "level": level,
        "message": { "text": format!("{}\n{}", finding.message, finding.help) },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": uri(&finding.path), "uriBaseId": "ROOT" },
            "region": region,
        } }],
    })
}

fn pascal(name: &str) -> String {
    let capital = |word: &str| {
        let mut characters = word.chars();
        characters.next().map(|first| first.to_uppercase().chain(characters).collect::<String>()).unwrap_or_default()
    };
    name.split('-').map(capital).collect()
}

/// A path as a relative URI reference: what is neither letter, digit nor one of a few marks is percent-encoded.
fn uri(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~!$&'()*+,;=@".contains(&byte);
    path.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}
