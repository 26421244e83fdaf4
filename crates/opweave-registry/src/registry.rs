// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The registry: open, then frozen, once.

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::Arc;

use opweave_contract::{ImplementationDecl, OperationDecl, Operator, Role};

use crate::frozen::Typed;
use crate::{FrozenRegistry, Kernel, KernelSpec, Reject, Row, SpecError};

/// A registration or declaration that was refused. The registry is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// The registry is frozen.
    #[error("the registry is frozen: `{name}` came too late; register before `freeze`")]
    Frozen {
        /// What was to be registered or declared.
        name: String,
    },
    /// Rows cannot be selected before the registry is frozen.
    #[error("the registry is still open: freeze it before selecting or preparing")]
    Open,
    /// The name is taken.
    #[error("`{name}` is already registered, at {first}; again at {second}")]
    Duplicate {
        /// The name.
        name: String,
        /// Where it was registered first.
        first: String,
        /// Where the second registration is.
        second: String,
    },
    /// The spec is not legal.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The operation was not declared.
    #[error("operation `{operation}` of `{name}` is not declared")]
    Undeclared {
        /// The row.
        name: String,
        /// The operation.
        operation: String,
    },
    /// Two operations of one name.
    #[error("operation `{operation}` is declared twice")]
    OperationTwice {
        /// The operation.
        operation: String,
    },
    /// Two operations whose override variables are the same.
    #[error("operations `{first}` and `{second}` would share the override variable {variable}")]
    Collision {
        /// The operation declared first.
        first: String,
        /// The other one.
        second: String,
        /// The variable.
        variable: String,
    },
    /// A contract that disagrees with its operator's signature.
    #[error("contract {contract} says {field} is {contract_says}; the signature says {signature_says}")]
    Disagreement {
        /// The contract.
        contract: String,
        /// `mutates`, `aliases` or `operation`.
        field: &'static str,
        /// What the contract says.
        contract_says: String,
        /// What the signature says.
        signature_says: String,
    },
}

/// The environment variable that overrides selection of an operation (rule O1).
pub fn override_variable(operation: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    format!("OPWEAVE_OVERRIDE_{}", operation.chars().map(word).collect::<String>())
}

/// Where solutions register their rows. Open until [`Registry::freeze`].
#[derive(Debug, Default)]
pub struct Registry {
    operations: BTreeMap<&'static str, OperationDecl>,
    declared: BTreeMap<&'static str, (&'static str, ImplementationDecl)>,
    rows: BTreeMap<String, Row>,
    solutions: Vec<String>,
    generation: u64,
    frozen: Option<Arc<FrozenRegistry>>,
}

impl Registry {
    /// An open registry that knows nothing.
    pub fn new() -> Self {
        Registry::default()
    }

    /// How many registrations have succeeded.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Declares operations together with the rows that exist for them.
    ///
    /// # Errors
    /// [`RegistryError::Frozen`], [`RegistryError::OperationTwice`], [`RegistryError::Collision`],
    /// [`RegistryError::Disagreement`] when mutation or aliasing is declared twice and differs, or
    /// [`RegistryError::Duplicate`] for a row declared twice. On error nothing of `operations` is declared.
    #[track_caller]
    pub fn declare(&mut self, operations: &[OperationDecl]) -> Result<(), RegistryError> {
        let mut staged = self.operations.clone();
        let mut rows = self.declared.clone();
        for operation in operations {
            self.open(operation.operation)?;
            check_declaration(&staged, operation)?;
            staged.insert(operation.operation, *operation);
            stage_rows(&mut rows, operation.operation, operation.implementations)?;
        }
        (self.operations, self.declared) = (staged, rows);
        Ok(())
    }

    /// Declares rows of an operation that is already declared: for solutions outside the crate of the operation.
    ///
    /// # Errors
    /// [`RegistryError::Frozen`], [`RegistryError::Undeclared`] for an unknown operation, [`RegistryError::Duplicate`]
    /// for a row declared twice.
    pub fn declare_rows(
        &mut self,
        operation: &str,
        implementations: &[ImplementationDecl],
    ) -> Result<(), RegistryError> {
        self.open(operation)?;
        let Some((&operation, _)) = self.operations.get_key_value(operation) else {
            let name = implementations.first().map_or_else(String::new, |i| i.name.to_owned());
            return Err(RegistryError::Undeclared { name, operation: operation.to_owned() });
        };
        let mut rows = self.declared.clone();
        stage_rows(&mut rows, operation, implementations)?;
        self.declared = rows;
        Ok(())
    }

    /// Says that a solution is part of this build, by its device-qualified name such as `cuda.native`, even if it
    /// registers no row: its declared rows must then all be registered.
    ///
    /// # Errors
    /// [`RegistryError::Frozen`].
    pub fn solution(&mut self, name: &str) -> Result<(), RegistryError> {
        self.open(name)?;
        if !self.solutions.iter().any(|s| s == name) {
            self.solutions.push(name.to_owned());
        }
        Ok(())
    }

    /// Registers a kernel, which stays usable directly through the reference that comes back.
    ///
    /// # Errors
    /// [`RegistryError::Frozen`] before [`RegistryError::Duplicate`], [`RegistryError::Undeclared`],
    /// [`RegistryError::Spec`].
    #[track_caller]
    pub fn register<O: Operator, K: Kernel<O> + 'static>(&mut self, kernel: Arc<K>) -> Result<Arc<K>, RegistryError> {
        let erased: Arc<dyn Kernel<O>> = Arc::clone(&kernel) as Arc<dyn Kernel<O>>;
        self.insert::<O>(kernel.spec().clone(), Ok(Arc::new(Typed(erased))))?;
        Ok(kernel)
    }

    /// Registers a row that cannot run here, with the reason. It stays listed.
    ///
    /// # Errors
    /// As [`Registry::register`].
    #[track_caller]
    pub fn register_unavailable<O: Operator>(&mut self, spec: KernelSpec, reason: Reject) -> Result<(), RegistryError> {
        self.insert::<O>(spec, Err(reason))
    }

    #[track_caller]
    fn insert<O: Operator>(
        &mut self,
        spec: KernelSpec,
        kernel: Result<Arc<dyn crate::ErasedKernel>, Reject>,
    ) -> Result<(), RegistryError> {
        let origin = Location::caller();
        self.open(&spec.name)?;
        if let Some(first) = self.rows.get(&spec.name) {
            let (first, second) = (first.origin.to_string(), origin.to_string());
            return Err(RegistryError::Duplicate { name: spec.name, first, second });
        }
        let declared = self.operations.get(O::NAME);
        if declared.is_none_or(|d| d.operator.type_id() != std::any::TypeId::of::<O>()) {
            return Err(RegistryError::Undeclared { name: spec.name, operation: O::NAME.to_owned() });
        }
        spec.validate::<O>()?;
        tracing::debug!(row = %spec.name, available = kernel.is_ok(), "registered");
        let solution = format!("{}.{}", spec.device, spec.solution);
        if !self.solutions.contains(&solution) {
            self.solutions.push(solution);
        }
        self.rows.insert(spec.name.clone(), Row { spec, operation: O::NAME, origin, kernel });
        self.generation += 1;
        Ok(())
    }

    /// Freezes the registry and gives its snapshot. Idempotent; there is no way back.
    pub fn freeze(&mut self) -> Arc<FrozenRegistry> {
        let frozen = self.frozen.get_or_insert_with(|| {
            Arc::new(FrozenRegistry {
                operations: std::mem::take(&mut self.operations),
                declared: std::mem::take(&mut self.declared),
                rows: std::mem::take(&mut self.rows),
                solutions: std::mem::take(&mut self.solutions),
                generation: self.generation,
            })
        });
        Arc::clone(frozen)
    }

    /// The snapshot of a frozen registry.
    ///
    /// # Errors
    /// [`RegistryError::Open`] before [`Registry::freeze`].
    pub fn snapshot(&self) -> Result<Arc<FrozenRegistry>, RegistryError> {
        self.frozen.clone().ok_or(RegistryError::Open)
    }

    fn open(&self, name: &str) -> Result<(), RegistryError> {
        match self.frozen {
            Some(_) => Err(RegistryError::Frozen { name: name.to_owned() }),
            None => Ok(()),
        }
    }
}

/// Stages rows of `operation`, refusing a name that is there already.
fn stage_rows(
    rows: &mut BTreeMap<&'static str, (&'static str, ImplementationDecl)>,
    operation: &'static str,
    implementations: &[ImplementationDecl],
) -> Result<(), RegistryError> {
    for row in implementations {
        if let Some((first, _)) = rows.insert(row.name, (operation, *row)) {
            return Err(RegistryError::Duplicate {
                name: row.name.to_owned(),
                first: format!("the declaration of {first}"),
                second: format!("the declaration of {operation}"),
            });
        }
    }
    Ok(())
}

/// Checks a declaration against those before it and against itself.
fn check_declaration(
    before: &BTreeMap<&'static str, OperationDecl>,
    operation: &OperationDecl,
) -> Result<(), RegistryError> {
    let variable = override_variable(operation.operation);
    for &first in before.keys() {
        if first == operation.operation {
            return Err(RegistryError::OperationTwice { operation: first.to_owned() });
        }
        if override_variable(first) == variable {
            let second = operation.operation.to_owned();
            return Err(RegistryError::Collision { first: first.to_owned(), second, variable });
        }
    }
    let signature = operation.operator.signature();
    let mutated: Vec<&str> = signature.tensors.iter().filter(|t| t.role == Role::InOut).map(|t| t.name).collect();
    let aliased: Vec<(&str, &str)> =
        signature.tensors.iter().flat_map(|t| t.aliases.iter().map(|a| (t.name, *a))).collect();
    for contract in operation.contracts {
        let disagree = |field, contract_says: String, signature_says: String| {
            Err(RegistryError::Disagreement { contract: contract.label(), field, contract_says, signature_says })
        };
        if contract.operation != signature.operation || operation.operation != signature.operation {
            return disagree("operation", contract.operation.to_owned(), signature.operation.to_owned());
        }
        if contract.mutates != mutated.as_slice() {
            return disagree("mutates", format!("{:?}", contract.mutates), format!("{mutated:?}"));
        }
        if contract.aliases != aliased.as_slice() {
            return disagree("aliases", format!("{:?}", contract.aliases), format!("{aliased:?}"));
        }
    }
    Ok(())
}
