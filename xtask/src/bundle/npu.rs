// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! What a machine with an Ascend card and without Rust needs: the binary, the Ascend C kernels, workloads, the page that says what
//! to do, and a script that does it and packs what to send back. And the trial of all that on the double of CANN.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use opweave_kernels_npu::{KERNELS, source_hash, sources};

use super::{copy, files, fresh, put, write};
use crate::kernels::npu;
use crate::process::Program;

/// The script of the bundle.
const SCRIPT: &str = include_str!("npu.sh");

/// Where the bundle goes unless told otherwise, and the archive beside it.
const FOLDER: &str = "target/bundle-npu";

/// Builds the binary, and images where a CANN toolkit is found, and writes the bundle as a folder and as an archive.
///
/// # Errors
/// If something does not build, or a file cannot be written.
pub(super) fn run(root: &Path, out: Option<PathBuf>) -> Result<PathBuf> {
    let out = out.unwrap_or_else(|| root.join(FOLDER));
    let fresh = fresh(&out)?;
    super::binary(root, &fresh)?;
    let images = npu::build(root, &fresh.join("kernels-npu"))?;
    let package = root.join(npu::PACKAGE);
    for folder in sources::FOLDERS {
        files(&package.join(folder), &fresh.join("sources").join(folder))?;
    }
    copy(&package.join("build.sh"), &fresh.join("sources/build.sh"))?;
    write(&fresh.join("sources/hash"), source_hash())?;
    for kernel in KERNELS {
        let workload = format!("{}/{}.toml", kernel.family, kernel.stem);
        let to = fresh.join("suites").join(kernel.family);
        fs::create_dir_all(&to).with_context(|| format!("failed to create {}", to.display()))?;
        copy(&root.join("suites").join(&workload), &fresh.join("suites").join(&workload))?;
    }
    copy(&root.join("docs/npu.md"), &fresh.join("npu.md"))?;
    write(&fresh.join("run.sh"), SCRIPT)?;
    put(&fresh, &out)?;
    let archive = out.with_extension("tar.gz");
    let (parent, name) = (out.parent().unwrap_or(root), out.file_name().unwrap_or_default());
    Program::new("tar", parent).arg("-czf").arg(&archive).arg(name).run()?;
    let there =
        if images { "with images" } else { "without images: there is no CANN toolkit here, they are built there" };
    println!(
        "bundle: {}, {there}\nthere: tar -xzf, cd {}, sh run.sh RESULTS",
        archive.display(),
        name.to_string_lossy()
    );
    Ok(archive)
}

/// Unpacks the bundle elsewhere and runs its script with the double in the place of CANN, whose compiler compiles for this
/// processor: every step passes, and the archive holds what is to be sent back. And once without a device.
///
/// # Errors
/// If it does not.
pub(crate) fn trial(root: &Path) -> Result<()> {
    let folder = tempfile::tempdir().context("failed to create a folder")?;
    let archive = run(root, Some(folder.path().join("made")))?;
    Program::new("tar", folder.path())
        .arg("-xzf")
        .arg(&archive)
        .args("--one-top-level=there --strip-components=1")
        .run()?;
    let (there, home) = (folder.path().join("there"), folder.path().join("cann"));
    toolkit(root, &home)?;

    let script = |home: &Path, results: &str| {
        // What is not here must not come from the machine that this runs on.
        let script = Program::new("sh", &there).arg("run.sh").arg(folder.path().join(results));
        let script = script.env("OPWEAVE_BENCH", "--rounds 1 --iterations 2 --tier smoke");
        let script = script.env("OPWEAVE_EMULATION", root.join(npu::PACKAGE).join("tests/emulation"));
        script.env("ASCEND_HOME_PATH", home).env("ASCEND_TOOLKIT_HOME", "").env("HOME", folder.path())
    };
    script(&home, "results").run()?;
    judge(folder.path())?;

    // No device: the script ends there, says so, and packs what it has.
    let code = script(&home, "none").env("OPWEAVE_DOUBLE_DEVICES", "0").code()?;
    ensure!(code == 1, "without a device the script ended with {code}, expected 1");
    let names = names(folder.path(), "none")?;
    let wanted = ["01-machine.txt", "02-devices.txt", "02-devices.log", "summary.txt"].map(str::to_owned);
    ensure!(names == wanted.into(), "without a device the archive holds {names:?}");
    println!("bundle: the script passes every step on the double, and packs what each came to");
    Ok(())
}

/// The double, as a toolkit: libraries, and a compiler that is none.
fn toolkit(root: &Path, home: &Path) -> Result<()> {
    let double = root.join("tests/npu-double");
    Program::new("sh", root).arg(double.join("build.sh")).arg(home).run()?;
    let bin = home.join("bin");
    fs::create_dir_all(&bin).with_context(|| format!("failed to create {}", bin.display()))?;
    for name in ["bisheng", "ld.lld"] {
        copy(&double.join("bisheng"), &bin.join(name))?;
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).context("failed to set a mode")?;
    }
    Ok(())
}

/// The files in the archive of results.
fn names(folder: &Path, results: &str) -> Result<BTreeSet<String>> {
    let list = Program::new("tar", folder).arg("-tzf").arg(format!("{results}.tar.gz")).read()?;
    let name = |line: &str| line.strip_prefix(results).map(|name| name.trim_matches('/').to_owned());
    Ok(list.lines().filter_map(name).filter(|name| !name.is_empty()).collect())
}

/// Looks into the archive of a run in which every step passed.
fn judge(folder: &Path) -> Result<()> {
    let names = names(folder, "results")?;
    let logs: Vec<&String> = names.iter().filter(|name| name.ends_with(".log")).collect();
    ensure!(logs.is_empty(), "steps that passed have no log of the vendor's: {logs:?}");
    let mut reports: Vec<String> = vec!["bench".to_owned()];
    for solution in ["aclnn", "ascendc"] {
        for operation in ["fused_add_rms_norm", "rms_norm", "silu_and_mul"] {
            reports.extend(["eager", "graph"].map(|mode| format!("{solution}-{operation}-{mode}")));
        }
    }
    reports.extend(
        ["ascendc-dynamic_quant-graph", "ascendc-rotary_embedding-eager", "aclnn-softmax-graph"].map(str::to_owned),
    );
    for report in reports {
        let name = format!("{report}.json");
        ensure!(names.contains(&name), "the archive holds no {name}: {names:?}");
        let path = folder.join("results").join(&name);
        let text = fs::read_to_string(&path).with_context(|| format!("failed to read {}", path.display()))?;
        let json: serde_json::Value = serde_json::from_str(&text).with_context(|| format!("failed to read {name}"))?;
        if report != "bench" && json["status"] != "passed" {
            bail!("{name} says {}", json["status"]);
        }
        ensure!(names.iter().any(|name| name.ends_with(&format!("-{report}.txt"))), "no step {report}: {names:?}");
    }
    let summary = fs::read_to_string(folder.join("results/summary.txt")).context("failed to read the summary")?;
    ensure!(summary.ends_with("steps that failed: 0\n"), "the summary says:\n{summary}");
    Ok(())
}
