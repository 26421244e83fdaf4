// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The policy file as it is written. Unknown keys are errors, and every value remembers where it stood.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

pub(super) type Text = Spanned<String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Raw {
    pub schema_version: Spanned<i64>,
    pub native: Native,
    pub allow: Vec<Text>,
    #[serde(default)]
    pub ignore: Vec<Text>,
    pub licenses_dir: Option<Text>,
    pub port_citation: Option<Text>,
    #[serde(default)]
    pub map: Map,
    #[serde(default)]
    pub texts: BTreeMap<String, Text>,
    #[serde(default)]
    pub styles: BTreeMap<String, Text>,
    #[serde(default, rename = "bucket")]
    pub buckets: Vec<Spanned<Bucket>>,
    #[serde(default, rename = "override")]
    pub overrides: Vec<Override>,
    #[serde(default, rename = "exception")]
    pub exceptions: Vec<Exception>,
    #[serde(default, rename = "annotate")]
    pub annotations: Vec<Annotate>,
    #[serde(default, rename = "case")]
    pub cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Native {
    pub expression: Text,
    pub copyright: Text,
    #[serde(default)]
    pub copyright_first: bool,
    pub year: Option<Spanned<i64>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct Map {
    #[serde(default)]
    pub files: Vec<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Bucket {
    pub name: Text,
    pub paths: Vec<Text>,
    pub project: Text,
    pub url: Text,
    pub expression: Text,
    pub copyright: OneOrMore,
    #[serde(default)]
    pub sources: Vec<Text>,
    #[serde(default)]
    pub texts: Vec<Text>,
    #[serde(default)]
    pub required_files: Vec<RequiredFile>,
}

/// One line or several.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum OneOrMore {
    One(String),
    More(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RequiredFile {
    pub path: Text,
    pub sha256: Text,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Override {
    pub path: Text,
    pub expression: Text,
    pub required_text: Option<Text>,
    pub required_text_file: Option<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Exception {
    pub path: Text,
    pub reason: Text,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Annotate {
    pub paths: Vec<Text>,
    pub expression: Text,
    pub copyright: Text,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    pub name: String,
    pub path: Text,
    pub text: String,
    pub expect: Vec<Text>,
}
