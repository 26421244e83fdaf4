// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! Every check that a change must pass, in the order of their price: what fails fast runs first.
//!
//! The tests come last, so that a log ends with the test runner's own summary.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::process::Program;
use crate::{bundle, features, format, kernels, license, markdown, model, new, odd_shapes, opweave, package, tidy};

/// Which steps to run.
#[derive(Args)]
pub(crate) struct Options {
    /// Run this step alone (may be given several times)
    #[arg(long, value_name = "STEP")]
    only: Vec<String>,
    /// Leave this step out (may be given several times)
    #[arg(long, value_name = "STEP")]
    skip: Vec<String>,
    /// Print the steps and run none
    #[arg(long)]
    list: bool,
}

struct Step {
    name: &'static str,
    what: &'static str,
    run: fn(&Path) -> Result<()>,
}

const STEPS: &[Step] = &[
    Step { name: "fmt", what: "the code is formatted", run: format::check },
    Step { name: "tidy", what: "the source tree keeps its rules", run: tidy::run },
    Step { name: "license", what: "licences of dependencies and packages", run: license::run },
    Step { name: "clippy", what: "no warning in any target", run: clippy },
    Step { name: "docs", what: "the documentation builds without a warning", run: docs },
    Step { name: "kernels", what: "the CUDA kernels compile, fit and do not spill", run: kernels::build_and_check },
    Step { name: "features", what: "each crate alone, with no, each and all features", run: features::run },
    Step { name: "package", what: "each crate packs and builds from its package", run: package::run },
    Step { name: "scaffold", what: "what cargo xtask new writes builds and runs", run: new::trial::run },
    Step { name: "outside", what: "a crate outside the workspace adds an operator and a solution", run: outside },
    Step { name: "main-job", what: "the README's first command, in short form", run: main_job },
    Step {
        name: "real",
        what: "a real model: operators on its tensors, and the text that the example decodes",
        run: real,
    },
    Step { name: "npu", what: "what an Ascend machine gets, on the double of CANN", run: bundle::npu::trial },
    Step { name: "valgrind", what: "the odd shapes of the CPU kernels", run: odd_shapes::run },
    Step { name: "test", what: "the README's second command: all tests", run: test },
];

/// Runs the chosen steps.
///
/// # Errors
/// At the first step that fails, or if a step's name is unknown.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    for name in options.only.iter().chain(&options.skip) {
        if STEPS.iter().all(|step| step.name != name) {
            let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
            bail!("unknown step {name:?}: known are {}", names.join(", "));
        }
    }
    let chosen = STEPS.iter().filter(|step| {
        let named = |list: &[String]| list.iter().any(|name| name == step.name);
        (options.only.is_empty() || named(&options.only)) && !named(&options.skip)
    });
    if options.list {
        chosen.for_each(|step| println!("{:<12} {}", step.name, step.what));
        return Ok(());
    }
    let mut times: Vec<(&str, Duration)> = Vec::new();
    for step in chosen {
        eprintln!("\n=== {}: {}", step.name, step.what);
        let start = Instant::now();
        let outcome = (step.run)(root);
        times.push((step.name, start.elapsed()));
        if let Err(error) = outcome {
            summary(&times, false);
            return Err(error.context(format!("step {} failed", step.name)));
        }
    }
    summary(&times, true);
    Ok(())
}

/// Prints what ran on standard error, so that standard output still ends as the last step left it.
fn summary(times: &[(&str, Duration)], good: bool) {
    eprintln!();
    for (index, (name, time)) in times.iter().enumerate() {
        let failed = !good && index + 1 == times.len();
        eprintln!("{} {name:<12} {:>7.1} s", if failed { "FAILED" } else { "ok    " }, time.as_secs_f64());
    }
    let total: Duration = times.iter().map(|(_, time)| time).sum();
    eprintln!("{} steps in {:.1} s", times.len(), total.as_secs_f64());
}

fn clippy(root: &Path) -> Result<()> {
    Program::cargo(root).args("clippy --locked --workspace --all-targets -- -D warnings").run()
}

fn docs(root: &Path) -> Result<()> {
    Program::cargo(root).env("RUSTDOCFLAGS", "-D warnings").args("doc --locked --no-deps --workspace").run()
}

fn outside(root: &Path) -> Result<()> {
    let folder = root.join("tests/outside");
    // The versions that everything else is tested with; cargo takes out what the crate does not need.
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).context("failed to copy Cargo.lock")?;
    Program::cargo(&folder).args("test --quiet").run()
}

/// Arguments that make the main job short: every case is validated and timed, but with few samples.
const SHORT: &str = "--rounds 1 --iterations 2";

fn main_job(root: &Path) -> Result<()> {
    let command = readme_commands(root)?.0;
    shell(root, &format!("{command} {SHORT}")).run()
}

fn real(root: &Path) -> Result<()> {
    let model = model::run(root, None)?;
    let tensors = model.join("model.safetensors");
    // Every operator on some of it, and then the norms of just this width.
    for choice in ["--tier smoke", "--label *576*"] {
        let program = opweave::release(root).args("numerics --grade real").args(choice).arg("--tensors").arg(&tensors);
        program.env("OPWEAVE_MODEL_DIR", &model).run()?;
    }
    model::judge(root, &model)?;
    let decode = Program::cargo(root).args("test --locked --release --quiet --package opweave-decode --test real");
    decode.env("OPWEAVE_MODEL_DIR", &model).run()
}

fn test(root: &Path) -> Result<()> {
    shell(root, &readme_commands(root)?.1).run()
}

/// The README's two commands: the main job and the tests.
fn readme_commands(root: &Path) -> Result<(String, String)> {
    let text = fs::read_to_string(root.join("README.md")).context("failed to read README.md")?;
    match markdown::commands(&text, "sh")[..] {
        [main_job, test, ..] => Ok((main_job.to_owned(), test.to_owned())),
        ref found => bail!("README.md shows {} commands in sh blocks, wanted the main job and the tests", found.len()),
    }
}

fn shell(root: &Path, command: &str) -> Program {
    Program::new("sh", root).args("-c").arg(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_names_are_unique_and_the_tests_come_last() {
        let mut names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        assert_eq!(names.last(), Some(&"test"));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), STEPS.len());
    }

    #[test]
    fn the_script_ends_with_the_readme_s_test_command() {
        let root = crate::workspace::root().unwrap();
        let command = readme_commands(&root).unwrap().1;
        let script = fs::read_to_string(root.join(".ci/run")).unwrap();
        assert_eq!(script.lines().last(), Some(command.as_str()));
    }

    #[test]
    fn an_unknown_step_is_an_error_that_lists_the_known() {
        let options = Options { only: vec!["tests".into()], skip: vec![], list: true };
        let error = run(Path::new("."), &options).unwrap_err().to_string();
        assert!(error.contains("unknown step \"tests\"") && error.contains("fmt, tidy"), "{error}");
    }
}
