// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The rows of native kernels: one row for each operator, out of its launcher.

use std::marker::PhantomData;
use std::sync::Arc;

use opweave_contract::Operator;
use opweave_device::{DeviceError, DeviceKind, ImageTarget, LaunchError, StreamRef};
use opweave_device_cuda::{Context, Launch, Module};
use opweave_kernels_cuda::{Description, ImageError, ImageFacts, Images};
use opweave_registry::{
    Kernel, KernelSpec, Needs, Plan, PlanMetadata, PrepareContext, PrepareError, Registry, RegistryError, Reject,
    Workspace,
};
use opweave_tensor::DType;

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
    /// Whether it shares rows between the blocks of a cluster.
    pub(crate) clusters: bool,
}

impl LoadedImage<'_> {
    /// The entry of `dtype` with this suffix.
    pub(crate) fn launch(&self, dtype: DType, suffix: &str) -> Result<Launch, DeviceError> {
        let symbol = self.description.symbol(dtype.name(), suffix);
        Ok(Launch::new(self.module.function(&symbol)?, self.dependent))
    }

    /// The most blocks of `threads` threads that may be launched as a cluster of this entry; 1 where there are no clusters.
    pub(crate) fn largest_cluster(&self, entry: &Launch, threads: u64) -> Result<u64, DeviceError> {
        if self.clusters { Ok(u64::from(entry.largest_cluster(threads as u32)?)) } else { Ok(1) }
    }

    /// Multiprocessors of the device.
    pub(crate) fn multiprocessors(&self) -> u64 {
        u64::from(self.context.info().multiprocessors.unwrap_or(1)).max(1)
    }

    /// Bytes of the second-level cache; without end where the driver does not say.
    pub(crate) fn cache(&self) -> u64 {
        self.context.level_two_cache().unwrap_or(u64::MAX)
    }
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
    metadata: PlanMetadata,
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
        let runs = |those: &[String]| runs_one_of(those, &self.targets, cx);
        let (dependent, clusters) = (runs(&self.description.dependent_launch), runs(&self.description.clusters));
        let loaded = LoadedImage { module, context, description: &self.description, dependent, clusters };
        let prepared = O::prepare(problem, &loaded)?;
        Ok(Arc::new(NativePlan::<O> { problem: *problem, prepared, metadata: metadata(image.facts(), dependent) }))
    }
}

/// Whether the code that the driver takes is of one of `those` targets: machine code for this device, which the image has. PTX
/// and the code of other targets have none of what descriptions say of single targets.
fn runs_one_of(those: &[String], built: &[ImageTarget], cx: &PrepareContext<'_>) -> bool {
    let Some(capability) = cx.key.capability() else { return false };
    let one = |target: &&ImageTarget| those.contains(&target.to_string());
    built.iter().filter(one).any(|target| target.runs_on(capability))
}

/// That there is no image.
fn not_built(stem: &str) -> Reject {
    Reject::NotBuilt { kernel: stem.to_owned(), build: "cargo xtask kernels build" }
}

/// Why an image is of no use, as an answer of selection.
fn refusal(stem: &str, error: &ImageError) -> Reject {
    match error {
        ImageError::NotBuilt { .. } => not_built(stem),
        error => Reject::Image { kernel: stem.to_owned(), reason: format!("failed to {error}") },
    }
}

/// What a report says of a plan out of this image.
fn metadata(facts: &ImageFacts, dependent: bool) -> PlanMetadata {
    let named = [
        ("image.source_hash", facts.source_hash.clone()),
        ("image.compiler", facts.compiler.clone()),
        ("image.targets", facts.targets.join(" ")),
        ("dependent_launch", dependent.to_string()),
    ];
    PlanMetadata {
        image: Some(format!("{} sha256:{}", facts.stem, facts.sha256)),
        launch: named.map(|(name, value)| (name.to_owned(), value)).into(),
        ..PlanMetadata::default()
    }
}

impl<O: Native> Plan<O> for NativePlan<O> {
    fn metadata(&self) -> PlanMetadata {
        self.metadata.clone()
    }

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
        Ok(None) => return registry.register_unavailable::<O>(spec, not_built(O::STEM)),
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
