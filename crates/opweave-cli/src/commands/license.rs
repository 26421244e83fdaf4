// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `opweave license`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use opweave_license::finding::Severity;
use opweave_license::fix::{Fixed, fix};
use opweave_license::format;
use opweave_license::init::propose;
use opweave_license::lint::{LintError, Report, Scope, lint};
use opweave_license::policy::{FILE, Policy};
use opweave_license::rules::{RULES, find};
use opweave_license::selftest;
use opweave_license::walk::Disk;

use crate::args::{Format, LicenseArgs, LicenseCommand};
use crate::exit::{Exit, Failure};
use crate::names::unknown;
use crate::output::{Output, Tone};

/// Lints, fixes, explains, tests itself or proposes a policy.
pub(crate) fn run(args: &LicenseArgs, out: &mut Output) -> Result<Exit, Failure> {
    if let Some(LicenseCommand::Init { config, force, stdout }) = &args.command {
        return init(config, *force, *stdout, out);
    }
    if let Some(rule) = &args.explain {
        let found = find(rule).ok_or_else(|| {
            let ids: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
            unknown("rule", rule, &ids)
        })?;
        out.line(format::explain(found).trim_end())?;
        return Ok(Exit::Good);
    }
    let place = locate(args.config.as_deref())?;
    if args.self_test {
        return self_test(place.as_ref(), out);
    }
    let Some((root, mut policy)) = place else {
        return Err(Failure::usage(format_args!(
            "there is no {FILE} here or in a folder above\n`opweave license init` proposes one"
        )));
    };
    let disk = Disk::new(&root);
    let scope = scope(args, &root, &disk)?;
    let mut report = lint(&mut policy, &disk, RULES, &scope).map_err(failure)?;
    if args.fix {
        let fixed = fix(&policy, &root, &report.findings);
        if !fixed.added.is_empty() {
            report = lint(&mut policy, &disk, RULES, &scope).map_err(failure)?;
        }
        say_fixed(&fixed);
    }
    write(args.format, &report, &policy, &root, out)?;
    Ok(if report.is_clean() { Exit::Good } else { Exit::Bad })
}

fn failure(error: LintError) -> Failure {
    match error {
        LintError::Policy(error) => Failure::usage(format_args!("failed to {error}")),
        LintError::Tree(_) => Failure::Broken(anyhow::anyhow!("failed to {error}")),
    }
}

/// The policy and its folder. Without `--config` it is looked for here and in the folders above; the self-test can do
/// without one.
fn locate(config: Option<&Path>) -> Result<Option<(PathBuf, Policy)>, Failure> {
    let path = match config {
        Some(path) => path.to_path_buf(),
        None => {
            let here = std::env::current_dir()?;
            match here.ancestors().map(|folder| folder.join(FILE)).find(|path| path.is_file()) {
                Some(path) => path,
                None => return Ok(None),
            }
        }
    };
    let text = fs::read_to_string(&path)
        .map_err(|error| Failure::usage(format_args!("failed to read the policy {}: {error}", path.display())))?;
    let name = path.file_name().map_or_else(|| FILE.to_owned(), |name| name.to_string_lossy().into_owned());
    let policy = Policy::parse(&name, &text).map_err(|error| failure(error.into()))?;
    let root = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let root = root.canonicalize()?;
    Ok(Some((root, policy)))
}

fn scope(args: &LicenseArgs, root: &Path, disk: &Disk) -> Result<Scope, Failure> {
    if let Some(revision) = &args.changed {
        return disk.changed(revision).map(Scope::Changed).map_err(|error| Failure::usage(format_args!("{error}")));
    }
    if args.paths.is_empty() {
        return Ok(Scope::All);
    }
    let mut paths = Vec::new();
    for path in &args.paths {
        let absolute = std::path::absolute(path)?;
        // A link is linted as itself, so only its folder is resolved.
        let folder = absolute.parent().and_then(|folder| folder.canonicalize().ok());
        let resolved = match (folder, absolute.file_name()) {
            (Some(folder), Some(name)) if path.file_name().is_some() => folder.join(name),
            _ => absolute.canonicalize().unwrap_or(absolute),
        };
        if fs::symlink_metadata(&resolved).is_err() {
            return Err(Failure::usage(format_args!("there is no file or folder {}", path.display())));
        }
        let Ok(relative) = resolved.strip_prefix(root) else {
            let message = format!("{} lies outside of the policy's folder {}", path.display(), root.display());
            return Err(Failure::usage(message));
        };
        paths.push(relative.to_string_lossy().replace('\\', "/"));
    }
    Ok(Scope::Paths(paths))
}

/// What was fixed goes to standard error, so that the report stays one format.
fn say_fixed(fixed: &Fixed) {
    for path in &fixed.added {
        eprintln!("added the header to {path}");
    }
    for (path, refusal) in &fixed.refused {
        eprintln!("not fixed: {path}: {refusal}");
    }
}

fn write(wanted: Format, report: &Report, policy: &Policy, root: &Path, out: &mut Output) -> Result<(), Failure> {
    match wanted {
        Format::Json => out.json(&format::json(report, policy.name())),
        Format::Sarif => {
            let folder = format!(
                "file://{}/",
                root.to_string_lossy().replace('\\', "/").replace('%', "%25").replace(' ', "%20")
            );
            out.json(&format::sarif(&report.findings, Some(&folder)))
        }
        Format::Github => out.text(&format::github(&report.findings)),
        Format::Human => {
            out.text(&format::human(&report.findings, out.color()))?;
            let summary = summary(report);
            let tone = if report.is_clean() { Tone::Good } else { Tone::Bad };
            let summary = out.tone(tone, &summary);
            out.line(summary)
        }
    }
}

fn summary(report: &Report) -> String {
    let files: BTreeSet<&str> = report.findings.iter().map(|finding| finding.path.as_str()).collect();
    let warnings = report.findings.iter().filter(|finding| finding.severity == Severity::Warning).count();
    let errors = report.findings.len() - warnings;
    if report.findings.is_empty() {
        return format!("license: {} files, no findings", report.files);
    }
    let mut text = format!("license: {} files, {errors} findings", report.files);
    if warnings > 0 {
        text.push_str(&format!(" and {warnings} warnings"));
    }
    format!("{text} in {} of them; `opweave license --explain RULE` says why and how to mend", files.len())
}

fn self_test(place: Option<&(PathBuf, Policy)>, out: &mut Output) -> Result<Exit, Failure> {
    let outcome = selftest::run(place.map(|(_, policy)| policy), RULES);
    for failure in &outcome.failures {
        out.line(format_args!("{}: {}", failure.name, failure.message))?;
    }
    let own = place.map_or(0, |(_, policy)| policy.cases.len());
    let built_in = outcome.cases - own.min(outcome.cases);
    let count = format!("{} rules, {built_in} built-in cases, {own} cases of the policy", RULES.len());
    if outcome.failures.is_empty() {
        let word = out.tone(Tone::Good, "self-test passed");
        out.line(format_args!("{word}: {count}"))?;
        return Ok(Exit::Good);
    }
    let word = out.tone(Tone::Bad, "self-test failed");
    out.line(format_args!("{word}: {count}, {} failures", outcome.failures.len()))?;
    Ok(Exit::Bad)
}

fn init(config: &Path, force: bool, stdout: bool, out: &mut Output) -> Result<Exit, Failure> {
    let folder = config.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let proposal = propose(&Disk::new(folder))?;
    if stdout {
        out.text(&proposal.text)?;
        return Ok(Exit::Good);
    }
    if config.exists() && !force {
        return Err(Failure::usage(format_args!(
            "{} exists; --force replaces it, --stdout prints the proposal",
            config.display()
        )));
    }
    fs::write(config, &proposal.text)?;
    out.line(format_args!("wrote {} after looking at {} files", config.display(), proposal.files))?;
    out.line(format_args!("{} lines need a decision: they are marked HUMAN", proposal.questions))?;
    Ok(Exit::Good)
}
