// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Why a row does not apply: an answer with numbers in it, not an error.

use opweave_contract::FactValue;
use opweave_device::{Capability, ImageTarget};
use opweave_tensor::{DType, DeviceKind};

use crate::ExecutionMode;

fn list<T: std::fmt::Display>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

/// Why a row does not apply.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Reject {
    /// It fulfils other contracts.
    #[error("fulfils {has}, not {asked}", has = .has.join(", "))]
    Contract {
        /// The contract asked for.
        asked: String,
        /// What the row fulfils.
        has: Vec<String>,
    },
    /// It runs on another kind of device.
    #[error("runs on {has}, not {asked}")]
    Device {
        /// The kind asked for.
        asked: DeviceKind,
        /// What the row runs on.
        has: DeviceKind,
    },
    /// It cannot be used in this execution mode.
    #[error("runs in mode {has}, not {asked}", has = list(.has))]
    Mode {
        /// The mode asked for.
        asked: ExecutionMode,
        /// What the row can do.
        has: Vec<ExecutionMode>,
    },
    /// Its solution is not part of this build.
    #[error("not compiled: this build lacks feature `{feature}`")]
    NotCompiled {
        /// The feature that would bring it.
        feature: String,
    },
    /// Its kernel image was not built.
    #[error("not built: no image of `{kernel}`; run `{build}`")]
    NotBuilt {
        /// The kernel.
        kernel: String,
        /// The command that builds it.
        build: &'static str,
    },
    /// Its kernel image is there and of no use: damaged, or built from other sources.
    #[error("the image of `{kernel}` cannot be used: {reason}")]
    Image {
        /// The kernel.
        kernel: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A library or driver is not installed.
    #[error("library `{library}` is missing: {reason}")]
    MissingLibrary {
        /// The library.
        library: String,
        /// What the loader said.
        reason: String,
    },
    /// A library that is installed lacks a function.
    #[error("unavailable: symbol `{symbol}` is not in library `{library}`")]
    MissingSymbol {
        /// The library.
        library: String,
        /// The function.
        symbol: String,
    },
    /// A library is too old.
    #[error("library `{library}` is {has}; needs {needs}")]
    Version {
        /// The library.
        library: String,
        /// The oldest that will do.
        needs: String,
        /// What is installed.
        has: String,
    },
    /// No image of the kernel runs on the device.
    #[error("images for {images} do not run on {device}", images = list(.images))]
    Target {
        /// What there are images for.
        images: Vec<ImageTarget>,
        /// What the device reports.
        device: Capability,
    },
    /// The device lacks an instruction set or the like.
    #[error("needs device feature {missing}; the device has {has}", missing = list(.missing), has = if .has.is_empty() { "none".to_owned() } else { list(.has) })]
    Feature {
        /// What is missing.
        missing: Vec<String>,
        /// What the device has.
        has: Vec<String>,
    },
    /// The combination of dtypes is not covered.
    #[error("{facts} = ({values}) is not covered; covers {covered}", facts = list(.facts), values = list(.values), covered = tuples(.covered))]
    DTypes {
        /// The facts that form the tuple.
        facts: Vec<&'static str>,
        /// Their values.
        values: Vec<FactValue>,
        /// The tuples that are covered; `None` stands for an absent tensor.
        covered: Vec<Vec<Option<DType>>>,
    },
    /// A fact is out of range, no multiple, or not in a set.
    #[error("{fact} = {value} is outside {domain}")]
    Dimension {
        /// The fact.
        fact: String,
        /// Its value.
        value: FactValue,
        /// What is covered, in words.
        domain: String,
    },
    /// Two facts do not relate as needed.
    #[error("{relation} does not hold for {left} and {right}")]
    Relation {
        /// The relation.
        relation: String,
        /// The left fact and its value.
        left: String,
        /// The right fact and its value.
        right: String,
    },
    /// The problem promises too little of a tensor.
    #[error("needs `{argument}` {needs}; the problem promises {has}")]
    Promise {
        /// The tensor.
        argument: &'static str,
        /// What is needed.
        needs: String,
        /// What is promised.
        has: String,
    },
    /// The device has too little of something.
    #[error("needs {needs} bytes of {resource}; the device has {has}")]
    Resource {
        /// Of what.
        resource: &'static str,
        /// How much is needed.
        needs: u64,
        /// How much there is.
        has: u64,
    },
    /// It is not deterministic or not batch-invariant, as demanded.
    #[error("is not {demand}, as demanded")]
    Determinism {
        /// The demand.
        demand: &'static str,
    },
    /// An override names another row.
    #[error("override `{value}` ({source_of}) names another")]
    Override {
        /// The value of the override.
        value: String,
        /// Where it came from.
        source_of: String,
    },
    /// A reason that data cannot express, from the kernel's residual function.
    #[error("{reason}")]
    Residual {
        /// The reason.
        reason: String,
    },
}

impl Reject {
    /// The kind of refusal as a word, for reports.
    pub const fn kind(&self) -> &'static str {
        match self {
            Reject::Contract { .. } => "contract",
            Reject::Device { .. } => "device",
            Reject::Mode { .. } => "mode",
            Reject::NotCompiled { .. } => "not_compiled",
            Reject::NotBuilt { .. } => "not_built",
            Reject::Image { .. } => "image",
            Reject::MissingLibrary { .. } => "missing_library",
            Reject::MissingSymbol { .. } => "missing_symbol",
            Reject::Version { .. } => "version",
            Reject::Target { .. } => "target",
            Reject::Feature { .. } => "feature",
            Reject::DTypes { .. } => "dtypes",
            Reject::Dimension { .. } => "dimension",
            Reject::Relation { .. } => "relation",
            Reject::Promise { .. } => "promise",
            Reject::Resource { .. } => "resource",
            Reject::Determinism { .. } => "determinism",
            Reject::Override { .. } => "override",
            Reject::Residual { .. } => "residual",
        }
    }

    /// Whether the row would be there on another machine or build: the reasons of availability.
    pub const fn is_availability(&self) -> bool {
        matches!(
            self,
            Reject::NotCompiled { .. }
                | Reject::NotBuilt { .. }
                | Reject::Image { .. }
                | Reject::MissingLibrary { .. }
                | Reject::MissingSymbol { .. }
                | Reject::Version { .. }
        )
    }
}

/// Dtype tuples in words: `(bf16, bf16), (f32, none)`.
pub(crate) fn tuples(covered: &[Vec<Option<DType>>]) -> String {
    let one = |t: &Vec<Option<DType>>| {
        let names: Vec<&str> = t.iter().map(|d| d.map_or("none", DType::name)).collect();
        format!("({})", names.join(", "))
    };
    covered.iter().map(one).collect::<Vec<_>>().join(", ")
}
