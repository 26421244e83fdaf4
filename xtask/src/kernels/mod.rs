// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! The CUDA kernels: compiled ahead of time, what changed alone, into images with an index.
//!
//! What an image is made of and what its index says belongs to `opweave-kernels-cuda`, which is used here without its images.

mod check;
mod compile;
mod emulate;
mod headers;
pub(crate) mod npu;
mod ptxas;
mod report;
mod state;
mod toolkit;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::{fs, thread};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use opweave_kernels_cuda::sources::{self, Sources};
use opweave_kernels_cuda::{Description, Index, SCHEMA_VERSION};

use report::Report;
use state::{State, Wanted};
use toolkit::Toolkit;

/// What to do with the CUDA kernels.
#[derive(Subcommand)]
pub(crate) enum Kernels {
    /// Compile the kernels whose sources, flags or compiler changed
    Build(BuildOptions),
    /// List the kernels, their images, and what each needs
    List(Output),
    /// Fail on images that are missing, stale, too large, or spill where they must not; compiles nothing
    Check(Output),
    /// Run the kernels on this processor, without a GPU, against their definitions
    Emulate,
    /// The Ascend C kernels
    #[command(subcommand)]
    Npu(npu::Npu),
    /// Remove the images
    Clean {
        /// Remove the fetched toolkit as well
        #[arg(long)]
        toolkit: bool,
    },
}

/// How to build.
#[derive(Args)]
pub(crate) struct BuildOptions {
    /// Compile for this target alone (may be given several times); such images do not pass the check
    #[arg(long, value_name = "TARGET")]
    target: Vec<String>,
    /// Compilers that run at once [default: one per core]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    output: Output,
}

/// How to say it.
#[derive(Args)]
pub(crate) struct Output {
    /// Print JSON; the schema is docs/schemas/kernel-report.schema.json
    #[arg(long)]
    json: bool,
}

/// Where the package has its images.
pub(crate) const IMAGES: &str = "kernels-cuda/images";

/// The package of kernels: its folder and what it says of itself.
struct Package {
    root: PathBuf,
    kernels: Vec<Kernel>,
}

/// One kernel as it stands in the tree.
struct Kernel {
    description: Description,
    sources: Sources,
}

impl Package {
    fn read(workspace: &Path) -> Result<Package> {
        let root = workspace.join("kernels-cuda");
        let mut kernels = Vec::new();
        for source in sources::kernels(&root).with_context(|| format!("failed to read {}", root.display()))? {
            let path = root.join(&source).with_extension("toml");
            let text = fs::read_to_string(&path).with_context(|| format!("{source} has no description beside it"))?;
            let description = Description::parse(&text).with_context(|| format!("failed in {}", path.display()))?;
            if description.source() != source {
                bail!("{} describes {}", path.display(), description.source());
            }
            let sources =
                Sources::of(&root, &source).with_context(|| format!("failed to read what {source} includes"))?;
            kernels.push(Kernel { description, sources });
        }
        Ok(Package { root, kernels })
    }

    fn images(&self) -> PathBuf {
        self.root.join("images")
    }

    /// The index as it stands. One that is absent, of another version or unreadable is none: everything is then stale.
    fn index(&self) -> Index {
        let text = fs::read_to_string(self.images().join("index.json")).unwrap_or_default();
        let none = Index { schema_version: SCHEMA_VERSION, images: Vec::new() };
        Index::parse(&text, IMAGES).unwrap_or(none)
    }

    /// Whether each kernel's image is what it should be, for all its targets or for `targets`.
    fn states(&self, index: &Index, targets: &[String], compiler: Option<&str>) -> Vec<State> {
        let state = |kernel: &Kernel| {
            let facts = index.image(&kernel.description.stem);
            let file = facts.and_then(|facts| fs::read(self.images().join(&facts.file)).ok());
            let targets = if targets.is_empty() { &kernel.description.targets } else { targets };
            let wanted = Wanted { source_hash: &kernel.sources.hash, targets, compiler };
            State::of(facts, file.map(|bytes| sources::sha256(&bytes)).as_deref(), &wanted)
        };
        self.kernels.iter().map(state).collect()
    }
}

/// Runs the command in the workspace at `root`.
///
/// # Errors
/// If a kernel does not compile, there is no compiler, or a check fails.
pub(crate) fn run(root: &Path, command: &Kernels) -> Result<()> {
    match command {
        Kernels::Build(options) => build(root, options),
        Kernels::List(output) => list(root, output),
        Kernels::Check(output) => check(root, output),
        Kernels::Emulate => emulate::run(root),
        Kernels::Npu(command) => npu::run(root, command),
        Kernels::Clean { toolkit } => clean(root, *toolkit),
    }
}

/// All kernels for all targets, and the check of what came out.
///
/// # Errors
/// As for [`run`].
pub(crate) fn build_and_check(root: &Path) -> Result<()> {
    build(root, &BuildOptions { target: Vec::new(), jobs: None, output: Output { json: false } })?;
    check(root, &Output { json: false })?;
    emulate::run(root)?;
    npu::check(root)
}

fn build(root: &Path, options: &BuildOptions) -> Result<()> {
    let package = Package::read(root)?;
    for target in &options.target {
        let known = |kernel: &Kernel| kernel.description.targets.contains(target);
        if !package.kernels.iter().any(known) {
            let targets: Vec<&String> = package.kernels.iter().flat_map(|kernel| &kernel.description.targets).collect();
            let mut names: Vec<&str> = targets.into_iter().map(String::as_str).collect();
            names.sort_unstable();
            names.dedup();
            bail!("unknown target {target:?}: known are {}", names.join(", "));
        }
    }
    let toolkit = Toolkit::find_or_fetch(root)?;
    let states = package.states(&package.index(), &options.target, Some(&toolkit.version));
    let stale: Vec<&Kernel> = package
        .kernels
        .iter()
        .zip(&states)
        .filter(|(_, state)| **state != State::Fresh)
        .map(|(kernel, _)| kernel)
        .collect();
    let jobs = options.jobs.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    compile::all(&package, &toolkit, &stale, &options.target, jobs)?;
    let report = Report::new(&package, &package.index(), Some(&toolkit.version), Vec::new());
    report.print(options.output.json, |report| {
        println!("kernels: {} of {} compiled, {}", stale.len(), package.kernels.len(), report.size());
    })
}

fn list(root: &Path, output: &Output) -> Result<()> {
    let package = Package::read(root)?;
    let index = package.index();
    let report = Report::new(&package, &index, None, Vec::new());
    report.print(output.json, |report| {
        println!("{}", report::table(report, &index));
        println!("{}", report.size());
    })
}

/// Fails on images that a program built from this tree would not take, or should not have.
pub(crate) fn checked(root: &Path) -> Result<()> {
    check(root, &Output { json: false })
}

fn check(root: &Path, output: &Output) -> Result<()> {
    let package = Package::read(root)?;
    let index = package.index();
    // The compiler counts where there is one: without it, images are not stale for lack of it.
    let toolkit = Toolkit::find(root)?;
    let version = toolkit.as_ref().map(|toolkit| toolkit.version.as_str());
    let findings = check::findings(&package, &index, &package.states(&index, &[], version));
    let report = Report::new(&package, &index, version, findings);
    report.print(output.json, |report| {
        report.findings.iter().for_each(|finding| println!("{finding}"));
        println!("kernels: {} images, {}", report.images.len(), report.size());
    })?;
    match report.findings.len() {
        0 => Ok(()),
        found => bail!("the check of kernels has {found} findings; `cargo xtask kernels build` builds images"),
    }
}

fn clean(root: &Path, toolkit: bool) -> Result<()> {
    let mut folders = vec![root.join(IMAGES)];
    if toolkit {
        folders.push(root.join(toolkit::FOLDER));
    }
    for folder in folders {
        match fs::remove_dir_all(&folder) {
            Ok(()) => println!("removed {}", folder.display()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| format!("failed to remove {}", folder.display())),
        }
    }
    Ok(())
}
