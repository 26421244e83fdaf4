// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The rows of native kernels: one row for each operator, out of its launcher.

use std::marker::PhantomData;
use std::sync::Arc;

use opweave_contract::Operator;
use opweave_device::{DeviceError, DeviceKind, ImageTarget, LaunchError, StreamRef};
use opweave_device_cuda::{Context, Module};
use opweave_kernels_cuda::{Description, Image};
use opweave_registry::{
    Kernel, KernelSpec, Needs, Plan, PrepareContext, PrepareError, Registry, RegistryError, Reject, Workspace,
};

/// The rank of native kernels.
const PRIORITY: i32 = 300;

/// An operator that has a native kernel: its launcher.
pub(crate) trait Native: Operator {
    /// The stem of the kernel's source, description and image.
    const STEM: &'static str;
    /// What a plan holds: the kernels that calls of the problem may need.
    type Prepared: Send + Sync + 'static;

    /// Finds the kernels.
    fn prepare(problem: &Self::Problem, image: &LoadedImage<'_>) -> Result<Self::Prepared, DeviceError>;

    /// Launches one call.
    ///
    /// # Safety
    /// - As [`Plan::enqueue`]: `args` passed the check for `problem`, and the memory behind them is valid and not touched
    ///   by others until the work has finished.
    unsafe fn launch(
        problem: &Self::Problem,
        args: &Self::Args,
        prepared: &Self::Prepared,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError>;
}

/// An image on its device, with its description.
pub(crate) struct LoadedImage<'a> {
    pub(crate) module: Module,
    pub(crate) context: Arc<Context>,
    pub(crate) description: &'a Description,
    /// Whether the code that runs on the device waits by itself for the launch before it.
    pub(crate) dependent: bool,
}

struct NativeKernel<O> {
    spec: KernelSpec,
    image: Image,
    description: Arc<Description>,
    operator: PhantomData<fn() -> O>,
}

struct NativePlan<O: Native> {
    problem: O::Problem,
    prepared: O::Prepared,
}

impl<O: Native> Kernel<O> for NativeKernel<O> {
    fn spec(&self) -> &KernelSpec {
        &self.spec
    }

    fn prepare(&self, problem: &O::Problem, cx: &PrepareContext<'_>) -> Result<Arc<dyn Plan<O>>, PrepareError> {
        let context = Context::primary(cx.device)?;
        let module = Module::load(&context, O::STEM, self.image.bytes())?;
        let dependent = waits(&self.description, cx);
        let loaded = LoadedImage { module, context, description: &self.description, dependent };
        let prepared = O::prepare(problem, &loaded)?;
        Ok(Arc::new(NativePlan::<O> { problem: *problem, prepared }))
    }
}

/// Whether the driver takes code of a target that waits: machine code of one that does, and not PTX of one that does not.
fn waits(description: &Description, cx: &PrepareContext<'_>) -> bool {
    let Some(capability) = cx.key.capability() else { return false };
    description.dependent_launch.iter().filter_map(|t| t.parse::<ImageTarget>().ok()).any(|t| t.runs_on(capability))
}

impl<O: Native> Plan<O> for NativePlan<O> {
    unsafe fn enqueue(&self, args: &O::Args, _: Workspace, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        // SAFETY: the clauses of `Plan::enqueue` are those of `Native::launch`.
        unsafe { O::launch(&self.problem, args, &self.prepared, stream) }
    }
}

/// Registers the row of an operator, `cuda.native.<op>`. Where the image was not built, the row is listed as unavailable.
pub(crate) fn register<O: Native>(registry: &mut Registry) -> Result<(), RegistryError> {
    let spec = KernelSpec {
        binding: "cuda".to_owned(),
        priority: PRIORITY,
        ..KernelSpec::new(format!("cuda.native.{}", O::NAME), "native", DeviceKind::Cuda, O::CONTRACTS)
    };
    match find(O::STEM) {
        Some((description, image)) => {
            let targets: Vec<ImageTarget> = image.facts().targets.iter().filter_map(|t| t.parse().ok()).collect();
            let spec = KernelSpec { needs: Needs::default().images(&targets), ..spec };
            let kernel = NativeKernel::<O> { spec, image, description: Arc::new(description), operator: PhantomData };
            drop(registry.register::<O, _>(Arc::new(kernel))?);
            Ok(())
        }
        None => registry.register_unavailable::<O>(spec, Reject::NotBuilt { kernel: O::STEM.to_owned() }),
    }
}

/// A description with its image; `None` where there is no image of these sources.
pub(crate) fn find(stem: &str) -> Option<(Description, Image)> {
    let description = opweave_kernels_cuda::description(stem).ok().flatten()?;
    let image = opweave_kernels_cuda::images().and_then(|images| images.image(stem)).ok()?;
    Some((description, image))
}
