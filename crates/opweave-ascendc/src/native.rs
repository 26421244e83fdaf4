// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The rows of native kernels: one row for each operator, out of its launcher.

use std::marker::PhantomData;
use std::sync::Arc;

use opweave_contract::Operator;
use opweave_device::{Architecture, DeviceKey, DeviceKind, LaunchError, StreamRef};
use opweave_device_npu::{Binary, Context, Function};
use opweave_kernels_npu::{Image, ImageError, Images};
use opweave_registry::{
    Bucket, Kernel, KernelSpec, Needs, Plan, PlanMetadata, PrepareContext, PrepareError, Registry, RegistryError,
    Reject, Workspace,
};
use opweave_tensor::DType;

/// The rank of native kernels.
const PRIORITY: i32 = 300;

/// An operator that has a native kernel: its launcher.
pub(crate) trait Native: Operator {
    /// How rows of the problem are cut: what is known before tensors are.
    type Tiling: Copy + Send + Sync + 'static;
    /// The arguments of the kernel in their order, and its tiling.
    type Call: Copy;

    /// What the kernel cannot do of what the contract asks.
    fn needs() -> Needs {
        Needs::default()
    }

    /// The dtype of activations, which names the entry.
    fn dtype(problem: &Self::Problem) -> DType;

    /// The tiling of a problem; what it says of tensors is filled in by each call.
    fn tiling(problem: &Self::Problem) -> Self::Tiling;

    /// The arguments of a call and how many units of work cores may share; none where there is nothing to do.
    fn call(tiling: &Self::Tiling, args: &Self::Args, stream: StreamRef<'_>) -> Option<(Self::Call, u64)>;
}

struct NativeKernel<O> {
    spec: KernelSpec,
    images: Arc<Images>,
    operator: PhantomData<fn() -> O>,
}

struct NativePlan<O: Native> {
    tiling: O::Tiling,
    function: Function,
    /// Vector cores of the device.
    cores: u64,
    metadata: PlanMetadata,
}

impl<O: Native> Kernel<O> for NativeKernel<O> {
    fn spec(&self) -> &KernelSpec {
        &self.spec
    }

    /// Machine code of one chip on another is no error of the runtime before it is launched.
    fn residual(&self, _: &O::Problem, _: Bucket, key: &DeviceKey) -> Result<(), Reject> {
        let chips = self.images.chips();
        let runs = matches!(key.architecture(), Architecture::Named(chip) if chips.contains(chip));
        let reason = || format!("it is for {}, not for {key}", chips.join(", "));
        runs.then_some(()).ok_or_else(|| Reject::Image { kernel: O::NAME.to_owned(), reason: reason() })
    }

    fn prepare(&self, problem: &O::Problem, cx: &PrepareContext<'_>) -> Result<Arc<dyn Plan<O>>, PrepareError> {
        let image = self.images.image(O::NAME).map_err(|error| PrepareError::Refused {
            kernel: self.spec.name.clone(),
            reason: refusal(O::NAME, &error),
        })?;
        let context = Context::primary(cx.device)?;
        let binary = Binary::load(&context, &image.path)?;
        let function = binary.function(&format!("opweave_{}_{}", O::NAME, O::dtype(problem).name()))?;
        let cores = u64::from(context.info().multiprocessors.unwrap_or(1)).max(1);
        let metadata = metadata(O::NAME, &image, self.images.compiler(), cores);
        Ok(Arc::new(NativePlan::<O> { tiling: O::tiling(problem), function, cores, metadata }))
    }
}

/// Why an image is of no use, as an answer of selection.
fn refusal(stem: &str, error: &ImageError) -> Reject {
    match error {
        ImageError::NotBuilt { .. } => {
            Reject::NotBuilt { kernel: stem.to_owned(), build: "cargo xtask kernels npu build" }
        }
        error => Reject::Image { kernel: stem.to_owned(), reason: format!("failed to {error}") },
    }
}

/// What a report says of a plan out of this image: whether it was emulated is in the compiler's name.
fn metadata(stem: &str, image: &Image, compiler: &str, cores: u64) -> PlanMetadata {
    let named = [("image.compiler", compiler.to_owned()), ("cores", cores.to_string())];
    PlanMetadata {
        image: Some(format!("{stem} sha256:{}", image.sha256)),
        launch: named.map(|(name, value)| (name.to_owned(), value)).into(),
        ..PlanMetadata::default()
    }
}

impl<O: Native> Plan<O> for NativePlan<O> {
    fn metadata(&self) -> PlanMetadata {
        self.metadata.clone()
    }

    unsafe fn enqueue(&self, args: &O::Args, _: Workspace, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        let Some((call, units)) = O::call(&self.tiling, args, stream) else { return Ok(()) };
        // Every block takes its share of whatever units there are.
        let blocks = units.min(self.cores) as u32;
        // SAFETY: `Call` is the kernel's arguments in their order by the definition of `Native`; what they point to is valid by
        // the clauses of `Plan::enqueue`.
        unsafe { self.function.launch(blocks, &call, None, stream) }
    }
}

/// Registers the row of an operator, `npu.ascendc.<op>`. Where its image cannot be used, the row is listed as unavailable with
/// the reason. Nothing but the index is read here; the image itself is read and checked when a plan is made.
pub(crate) fn register<O: Native>(
    registry: &mut Registry,
    images: &Result<Arc<Images>, ImageError>,
) -> Result<(), RegistryError> {
    let spec = KernelSpec {
        binding: "ascendc".to_owned(),
        priority: PRIORITY,
        needs: O::needs(),
        ..KernelSpec::new(format!("npu.ascendc.{}", O::NAME), "ascendc", DeviceKind::Npu, O::CONTRACTS)
    };
    let images = match images.as_ref().map(|images| (images, images.facts(O::NAME))) {
        Ok((images, Ok(_))) => Arc::clone(images),
        Ok((_, Err(error))) => return registry.register_unavailable::<O>(spec, refusal(O::NAME, &error)),
        Err(error) => return registry.register_unavailable::<O>(spec, refusal(O::NAME, error)),
    };
    drop(registry.register::<O, _>(Arc::new(NativeKernel::<O> { spec, images, operator: PhantomData }))?);
    Ok(())
}
