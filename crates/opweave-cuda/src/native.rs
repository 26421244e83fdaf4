// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The rows of native kernels: one row for each operator, out of its launcher.

use std::marker::PhantomData;
use std::sync::Arc;

use opweave_contract::Operator;
use opweave_device::{DeviceError, DeviceKind, ImageTarget, LaunchError, StreamRef};
use opweave_device_cuda::{Context, Module};
use opweave_kernels_cuda::{Description, ImageError, Images};
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
    images: Arc<Images>,
    description: Description,
    /// The targets that the image was built for.
    targets: Vec<ImageTarget>,
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
        let image = self.images.image(O::STEM).map_err(|error| PrepareError::Refused {
            kernel: self.spec.name.clone(),
            reason: refusal(O::STEM, &error),
        })?;
        let context = Context::primary(cx.device)?;
        let module = Module::load(&context, O::STEM, image.bytes())?;
        let dependent = waits(&self.description, &self.targets, cx);
        let loaded = LoadedImage { module, context, description: &self.description, dependent };
        let prepared = O::prepare(problem, &loaded)?;
        Ok(Arc::new(NativePlan::<O> { problem: *problem, prepared }))
    }
}

/// Whether the code that the driver takes waits for the launch before it: machine code for this device, of a target that
/// waits and that the image has. PTX and the code of other targets do not wait.
fn waits(description: &Description, built: &[ImageTarget], cx: &PrepareContext<'_>) -> bool {
    let Some(capability) = cx.key.capability() else { return false };
    let waiting = |target: &&ImageTarget| description.dependent_launch.contains(&target.to_string());
    built.iter().filter(waiting).any(|target| target.runs_on(capability))
}

/// Why an image is of no use, as an answer of selection.
fn refusal(stem: &str, error: &ImageError) -> Reject {
    match error {
        ImageError::NotBuilt { .. } => Reject::NotBuilt { kernel: stem.to_owned() },
        error => Reject::Image { kernel: stem.to_owned(), reason: format!("failed to {error}") },
    }
}

impl<O: Native> Plan<O> for NativePlan<O> {
    unsafe fn enqueue(&self, args: &O::Args, _: Workspace, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        // SAFETY: the clauses of `Plan::enqueue` are those of `Native::launch`.
        unsafe { O::launch(&self.problem, args, &self.prepared, stream) }
    }
}

/// Registers the row of an operator, `cuda.native.<op>`. Where its image cannot be used, the row is listed as unavailable
/// with the reason. Nothing but the index is read here; the image itself is read and checked when a plan is made.
pub(crate) fn register<O: Native>(
    registry: &mut Registry,
    images: &Result<Arc<Images>, ImageError>,
) -> Result<(), RegistryError> {
    let spec = KernelSpec {
        binding: "cuda".to_owned(),
        priority: PRIORITY,
        ..KernelSpec::new(format!("cuda.native.{}", O::NAME), "native", DeviceKind::Cuda, O::CONTRACTS)
    };
    let (images, facts) = match images.as_ref().map(|images| (images, images.facts(O::STEM))) {
        Ok((images, Ok(facts))) => (Arc::clone(images), facts),
        Ok((_, Err(error))) => return registry.register_unavailable::<O>(spec, refusal(O::STEM, &error)),
        Err(error) => return registry.register_unavailable::<O>(spec, refusal(O::STEM, error)),
    };
    let description = match opweave_kernels_cuda::description(O::STEM) {
        Ok(Some(description)) => description,
        Ok(None) => return registry.register_unavailable::<O>(spec, Reject::NotBuilt { kernel: O::STEM.to_owned() }),
        Err(error) => {
            let reason = format!("failed to {error}");
            return registry.register_unavailable::<O>(spec, Reject::Image { kernel: O::STEM.to_owned(), reason });
        }
    };
    let targets: Vec<ImageTarget> = facts.targets.iter().filter_map(|target| target.parse().ok()).collect();
    let spec = KernelSpec { needs: Needs::default().images(&targets), ..spec };
    let kernel = NativeKernel::<O> { spec, images, description, targets, operator: PhantomData };
    drop(registry.register::<O, _>(Arc::new(kernel))?);
    Ok(())
}
