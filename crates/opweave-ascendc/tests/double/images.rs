// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Folders of images.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use opweave_kernels_npu::{Index, KERNELS};

/// The C++ compiler, if there is one: `CXX`, else `g++`.
fn compiler() -> Option<OsString> {
    let named = std::env::var_os("CXX").filter(|name| !name.is_empty());
    let compiler = named.unwrap_or_else(|| "g++".into());
    Command::new(&compiler).arg("--version").output().is_ok_and(|output| output.status.success()).then_some(compiler)
}

/// Compiles every kernel for this processor, two at a time; none where there is no compiler.
pub(crate) fn emulated() -> Option<tempfile::TempDir> {
    let compiler = compiler()?;
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels-npu/tests/emulation/build.sh");
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(kernel) = KERNELS.get(next.fetch_add(1, Ordering::Relaxed)) {
            let name = format!("{}/{}", kernel.family, kernel.stem);
            let target = folder.path().join(format!("{}.o", kernel.stem));
            let mut command = Command::new("sh");
            command.arg(&script).arg("kernel").arg(&name).arg(target).env("CXX", &compiler);
            let output = command.output().unwrap();
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    Index::write(folder.path(), "emulated").unwrap();
    Some(folder)
}

/// Images that nobody loads: what selection looks at is the index.
pub(crate) fn nominal() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for kernel in KERNELS {
        std::fs::write(folder.path().join(format!("{}.o", kernel.stem)), kernel.stem).unwrap();
    }
    Index::write(folder.path(), "nobody").unwrap();
    folder
}
