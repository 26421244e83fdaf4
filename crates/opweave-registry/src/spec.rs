// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a row says of itself.

use std::fmt;
use std::str::FromStr;

use opweave_contract::{OpContract, Operator};
use opweave_tensor::DeviceKind;

use crate::Needs;

/// How calls reach a device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum ExecutionMode {
    /// Each call is launched.
    Eager,
    /// Calls are captured and replayed: a CUDA graph, an ACLGraph, or recorded calls on the host.
    Graph,
}

impl ExecutionMode {
    /// The name used in reports and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            ExecutionMode::Eager => "eager",
            ExecutionMode::Graph => "graph",
        }
    }
}

impl fmt::Display for ExecutionMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Text that is no execution mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("execution mode `{0}` is unknown; expected eager or graph")]
pub struct ParseModeError(pub String);

impl FromStr for ExecutionMode {
    type Err = ParseModeError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "eager" => Ok(ExecutionMode::Eager),
            "graph" => Ok(ExecutionMode::Graph),
            _ => Err(ParseModeError(text.to_owned())),
        }
    }
}

/// What a row says of itself. The name is never parsed for meaning.
#[derive(Clone, Debug)]
pub struct KernelSpec {
    /// Unique, such as `cpu.native.rms_norm.avx2`.
    pub name: String,
    /// The contracts that it fulfils: numerical modes of one operation.
    pub contracts: Vec<&'static OpContract>,
    /// The kind of device that it runs on.
    pub device: DeviceKind,
    /// The execution modes that it can be used in.
    pub modes: Vec<ExecutionMode>,
    /// The solution that it belongs to, such as `native`.
    pub solution: String,
    /// Which of the solution's kernels it is, where there are several.
    pub variant: Option<String>,
    /// How the kernel is reached: `rust`, `cuda`, `cublaslt`, `aclnn`.
    pub binding: String,
    /// Its rank among eligible rows, unless the kernel computes one. Higher wins.
    pub priority: i32,
    /// The same inputs give the same bits.
    pub deterministic: bool,
    /// A row's bits do not depend on the other rows of its batch.
    pub batch_invariant: bool,
    /// Where it applies.
    pub needs: Needs,
}

/// A spec that cannot be registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("spec of `{name}`: field `{field}` is {value}; expected {expected}")]
pub struct SpecError {
    /// The row.
    pub name: String,
    /// The field.
    pub field: &'static str,
    /// Its value.
    pub value: String,
    /// What is legal.
    pub expected: &'static str,
}

impl KernelSpec {
    /// A spec with the usual defaults: both modes, `rust`, priority 0, deterministic and batch-invariant, no needs.
    pub fn new(
        name: impl Into<String>,
        solution: impl Into<String>,
        device: DeviceKind,
        contracts: &[&'static OpContract],
    ) -> Self {
        KernelSpec {
            name: name.into(),
            contracts: contracts.to_vec(),
            device,
            modes: vec![ExecutionMode::Eager, ExecutionMode::Graph],
            solution: solution.into(),
            variant: None,
            binding: "rust".to_owned(),
            priority: 0,
            deterministic: true,
            batch_invariant: true,
            needs: Needs::default(),
        }
    }

    /// Checks each field of a row of operator `O`.
    ///
    /// # Errors
    /// [`SpecError`] with the field named.
    pub fn validate<O: Operator>(&self) -> Result<(), SpecError> {
        let error = |field, value: String, expected| Err(SpecError { name: self.name.clone(), field, value, expected });
        let word = |text: &str| {
            !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
        };
        if !word(&self.name) {
            return error("name", format!("`{}`", self.name), "letters, digits, `.`, `_` and `-`, and not empty");
        }
        if !word(&self.solution) {
            return error(
                "solution",
                format!("`{}`", self.solution),
                "letters, digits, `.`, `_` and `-`, and not empty",
            );
        }
        if let Some(variant) = self.variant.as_ref().filter(|v| !word(v)) {
            return error("variant", format!("`{variant}`"), "letters, digits, `.`, `_` and `-`, or none");
        }
        if !word(&self.binding) {
            return error("binding", format!("`{}`", self.binding), "letters, digits, `.`, `_` and `-`, and not empty");
        }
        if self.modes.is_empty() {
            return error("execution_modes", "empty".to_owned(), "eager, graph or both");
        }
        if (1..self.modes.len()).any(|i| self.modes[..i].contains(&self.modes[i])) {
            return error("execution_modes", format!("{:?}", self.modes), "each mode once");
        }
        if self.contracts.is_empty() {
            return error("contracts", "empty".to_owned(), "at least one contract of the operation");
        }
        if (1..self.contracts.len()).any(|i| self.contracts[..i].contains(&self.contracts[i])) {
            return error("contracts", "a contract twice".to_owned(), "each contract once");
        }
        for contract in &self.contracts {
            if contract.operation != O::NAME || !O::CONTRACTS.contains(contract) {
                return error(
                    "contracts",
                    contract.label(),
                    "contracts that the operation declares, equal in every field",
                );
            }
        }
        if let Some(name) = self.needs.unknown_name(O::signature()) {
            return error("needs", format!("about `{name}`"), "conditions on facts and tensors of the operation");
        }
        Ok(())
    }
}
