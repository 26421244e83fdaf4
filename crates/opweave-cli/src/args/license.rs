// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Arguments of `license`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// `opweave license`
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct LicenseArgs {
    #[command(subcommand)]
    pub(crate) command: Option<LicenseCommand>,
    /// Only findings in these files and folders
    pub(crate) paths: Vec<PathBuf>,
    /// The policy; its folder is what is linted [default: license.toml, here or in the nearest folder above]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// How to write the findings
    #[arg(long, value_enum, default_value_t = Format::Human, value_name = "FORMAT")]
    pub(crate) format: Format,
    /// Add the native header to native files without one
    #[arg(long, conflicts_with_all = ["self_test", "explain"])]
    pub(crate) fix: bool,
    /// Only findings in files that differ from a revision, and those about the tree as a whole
    #[arg(long, value_name = "REV", conflicts_with_all = ["paths", "self_test", "explain"])]
    pub(crate) changed: Option<String>,
    /// Check the rules themselves: the built-in table and the policy's cases
    #[arg(long, conflicts_with_all = ["paths", "explain"])]
    pub(crate) self_test: bool,
    /// Say what a rule wants, why, and how to mend a finding, by its id or name
    #[arg(long, value_name = "RULE")]
    pub(crate) explain: Option<String>,
}

/// Commands below `license`.
#[derive(Debug, Subcommand)]
pub(crate) enum LicenseCommand {
    /// Propose a policy from what the files say, and mark what needs a decision
    Init {
        /// Where to write it
        #[arg(long, value_name = "FILE", default_value = opweave_license::policy::FILE)]
        config: PathBuf,
        /// Replace a policy that is there
        #[arg(long)]
        force: bool,
        /// Print it instead
        #[arg(long, conflicts_with = "force")]
        stdout: bool,
    },
}

/// Formats of the findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text with source lines.
    Human,
    /// JSON; the schema is docs/schemas/license-report.schema.json.
    Json,
    /// SARIF 2.1.0.
    Sarif,
    /// Annotations of GitHub's workflows.
    Github,
}
