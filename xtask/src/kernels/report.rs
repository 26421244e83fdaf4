// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! What the commands say, for people and for machines.

use anyhow::{Context, Result};
use opweave_kernels_cuda::Index;
use serde::Serialize;

use super::{Package, check};

/// What `build`, `list` and `check` write with `--json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Report {
    /// Version of this format.
    pub schema_version: u32,
    /// Bytes of all images.
    pub bytes: u64,
    /// The most bytes that the check lets pass.
    pub largest_bytes: u64,
    /// Every kernel of the tree.
    pub images: Vec<Image>,
    /// What the check found; empty for other commands.
    pub findings: Vec<String>,
}

/// One kernel and its image.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Image {
    /// Name of the source and the image.
    pub stem: String,
    /// The operators' family.
    pub family: String,
    /// `fresh`, `missing`, or why it is stale.
    pub state: String,
    /// Its size; 0 if there is none.
    pub bytes: u64,
    /// Entries of the source.
    pub entries: usize,
    /// The most registers of a thread among them, on any target.
    pub registers: u32,
    /// Spilled bytes of all entries on all targets.
    pub spilled_bytes: u32,
}

impl Report {
    pub(crate) fn new(package: &Package, index: &Index, compiler: Option<&str>, findings: Vec<String>) -> Report {
        let states = package.states(index, &[], compiler);
        let image = |(kernel, state): (&super::Kernel, &super::State)| {
            let facts = index.image(&kernel.description.stem);
            let kernels = facts.map(|facts| facts.kernels.as_slice()).unwrap_or_default();
            Image {
                stem: kernel.description.stem.clone(),
                family: kernel.description.family.clone(),
                state: state.text().to_owned(),
                bytes: facts.map_or(0, |facts| facts.bytes),
                entries: kernel.description.entries().len(),
                registers: kernels.iter().map(|kernel| kernel.registers).max().unwrap_or(0),
                spilled_bytes: kernels.iter().map(|kernel| kernel.spill_store_bytes + kernel.spill_load_bytes).sum(),
            }
        };
        let images: Vec<Image> = package.kernels.iter().zip(&states).map(image).collect();
        let bytes = images.iter().map(|image| image.bytes).sum();
        Report { schema_version: 1, bytes, largest_bytes: check::LARGEST, images, findings }
    }

    /// Prints it as JSON, or as `text` does.
    pub(crate) fn print(&self, json: bool, text: impl FnOnce(&Report)) -> Result<()> {
        if json {
            println!("{}", serde_json::to_string_pretty(self).context("failed to write JSON")?);
        } else {
            text(self);
        }
        Ok(())
    }

    /// All images' size against the limit.
    pub(crate) fn size(&self) -> String {
        let mb = |bytes: u64| bytes as f64 / 1e6;
        format!("{:.2} MB of {:.0} MB", mb(self.bytes), mb(self.largest_bytes))
    }
}

/// A line for each kernel, and below it one for each entry, with the registers on each target.
pub(crate) fn table(report: &Report, index: &Index) -> String {
    let mut lines = vec![format!("{:<40} {:>8} {:>8} {:>8}  {}", "kernel", "KB", "regs", "spills", "state")];
    for image in &report.images {
        lines.push(format!(
            "{:<40} {:>8} {:>8} {:>8}  {}",
            image.stem,
            image.bytes / 1000,
            image.registers,
            image.spilled_bytes,
            image.state
        ));
        let Some(facts) = index.image(&image.stem) else { continue };
        for entries in facts.kernels.chunk_by(|a, b| a.name == b.name) {
            let registers: Vec<String> = entries.iter().map(|e| format!("{} {}", e.target, e.registers)).collect();
            let shared = entries.iter().map(|entry| entry.shared_bytes).max().unwrap_or(0);
            lines.push(format!("  {:<38} {} registers, {shared} bytes shared", entries[0].name, registers.join(", ")));
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_is_committed() {
        let path = crate::workspace::root().unwrap().join("docs/schemas/kernel-report.schema.json");
        let now = serde_json::to_string_pretty(&schemars::schema_for!(Report)).unwrap() + "\n";
        if std::env::var_os("OPWEAVE_UPDATE_SCHEMAS").is_some() {
            std::fs::write(&path, &now).unwrap();
        }
        assert!(
            std::fs::read_to_string(&path).unwrap_or_default() == now,
            "{} differs from the types: run this test once with OPWEAVE_UPDATE_SCHEMAS=1 and review the diff",
            path.display()
        );
    }

    #[test]
    fn every_kernel_of_the_tree_is_reported() {
        let package = Package::read(&crate::workspace::root().unwrap()).unwrap();
        let index = Index { schema_version: 1, images: vec![] };
        let report = Report::new(&package, &index, None, vec![]);
        assert!(report.images.iter().any(|image| image.stem == "layer_norm" && image.entries > 3));
        let table = table(&report, &index);
        assert!(table.contains("layer_norm") && table.contains("missing"), "{table}");
    }
}
