// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The rows of the vendor's operators.

use std::marker::PhantomData;
use std::sync::Arc;

use opweave_contract::{OpContract, Operator};
use opweave_device::DeviceKind;
use opweave_device_npu::{Cann, LoadError, Version};
use opweave_registry::{
    Kernel, KernelSpec, Needs, PackedLayout, Plan, PrepareContext, PrepareError, Registry, RegistryError, Reject,
};
use opweave_tensor::RawTensor;

use crate::operation::Operation;
use crate::plan::VendorPlan;
use crate::program::Program;

/// The rank of the vendor's operators: below kernels of opweave's own.
const PRIORITY: i32 = 100;

/// What the row of an operator says.
pub(crate) struct Row {
    /// The contract that the vendor's operators fulfil.
    pub(crate) contract: &'static OpContract,
    /// Where they apply, as the vendor documents it.
    pub(crate) needs: Needs,
    /// Whether the vendor documents that the same inputs give the same bits.
    pub(crate) deterministic: bool,
}

impl Row {
    /// A row of an operator that is documented to be deterministic.
    pub(crate) fn new(contract: &'static OpContract, needs: Needs) -> Row {
        Row { contract, needs, deterministic: true }
    }
}

/// An operator that the vendor's operators can do.
pub(crate) trait Vendor: Operator {
    /// Everything that a program may call.
    const OPERATIONS: &'static [&'static Operation];

    /// The row.
    fn row() -> Row;

    /// The operators of one call. Pure, and the same for equal shapes, strides and scalars.
    fn program(problem: &Self::Problem, args: &Self::Args, program: &mut Program);

    /// The layout of the packed weight, where a plan wants one.
    fn layout(_problem: &Self::Problem) -> Option<PackedLayout> {
        None
    }

    /// The operators that pack `source`, a weight as the problem describes it, to the address of `target`.
    fn pack(_problem: &Self::Problem, _source: &RawTensor, _target: &RawTensor, _program: &mut Program) {}
}

struct VendorKernel<O> {
    spec: KernelSpec,
    operator: PhantomData<fn() -> O>,
}

impl<O: Vendor> Kernel<O> for VendorKernel<O> {
    fn spec(&self) -> &KernelSpec {
        &self.spec
    }

    fn prepare(&self, problem: &O::Problem, cx: &PrepareContext<'_>) -> Result<Arc<dyn Plan<O>>, PrepareError> {
        Ok(Arc::new(VendorPlan::<O>::new(problem, cx)?))
    }
}

/// Registers the row of an operator, `npu.aclnn.<op>`. Where CANN is not installed the row is there, for selection can be asked
/// about machines that are elsewhere; where it is, and lacks an operator or is no good, the row is unavailable for that reason.
pub(crate) fn register<O: Vendor>(
    registry: &mut Registry,
    cann: &Result<&'static Cann, LoadError>,
) -> Result<(), RegistryError> {
    let row = O::row();
    let spec = KernelSpec {
        binding: "aclnn".to_owned(),
        priority: PRIORITY,
        needs: row.needs.library("CANN", Version::OLDEST),
        deterministic: row.deterministic,
        // Documented of no operator on these devices.
        batch_invariant: false,
        ..KernelSpec::new(format!("npu.aclnn.{}", O::NAME), "aclnn", DeviceKind::Npu, &[row.contract])
    };
    if let Some(reason) = unavailable(O::OPERATIONS, cann) {
        return registry.register_unavailable::<O>(spec, reason);
    }
    drop(registry.register::<O, _>(Arc::new(VendorKernel::<O> { spec, operator: PhantomData }))?);
    Ok(())
}

/// Why the installed libraries cannot serve these operators; nothing where none are installed.
fn unavailable(operations: &[&'static Operation], cann: &Result<&'static Cann, LoadError>) -> Option<Reject> {
    let cann = match cann {
        Ok(cann) => cann,
        Err(LoadError::Absent { .. }) => return None,
        Err(error) => return Some(reject(error)),
    };
    if let Err(error) = cann.meta() {
        return Some(reject(&error));
    }
    operations.iter().find_map(|operation| operation.find(cann).err()).map(|error| reject(&error))
}

fn reject(error: &LoadError) -> Reject {
    match error {
        LoadError::Symbol(missing) => {
            Reject::MissingSymbol { library: missing.library.clone(), symbol: missing.symbol.clone() }
        }
        LoadError::Version { has, needs } => {
            Reject::Version { library: "CANN".to_owned(), needs: needs.clone(), has: has.clone() }
        }
        LoadError::Absent { library, .. } | LoadError::Broken { library, .. } => {
            Reject::MissingLibrary { library: library.clone(), reason: error.to_string() }
        }
    }
}
