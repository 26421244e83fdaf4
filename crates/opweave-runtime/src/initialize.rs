// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Initialize: discover, register, freeze, select, prepare, publish.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use opweave_contract::{DynProblem, Operator, ProblemError};
use opweave_device::{DeviceKey, Platform};
use opweave_registry::{
    Bucket, CatalogError, ExecutionMode, FrozenRegistry, PrepareContext, PrepareError, Prepared, PreparedError, Record,
    RegistryError,
};
use opweave_tensor::DeviceId;

use crate::bindings::{Binding, BindingKey, Bindings, Parts, Tables};
use crate::config::Resolved;
use crate::{
    ConfigError, DynRequest, LoadedProfile, Override, OverrideError, OverrideSource, Overrides, PlanCache, Query,
    Selection, SelectionError, digest, select,
};

/// Why nothing was published.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InitializeError {
    /// The runtime was initialised with another configuration.
    #[error(
        "the runtime was already initialised with another configuration ({difference}); start a new worker for this one"
    )]
    Conflict {
        /// What differs.
        difference: String,
    },
    /// The configuration asks for nothing or for something that does not exist.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// An override cannot be followed.
    #[error(transparent)]
    Override(#[from] OverrideError),
    /// A problem that no call could satisfy.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// A device that is not there.
    #[error("device {device} cannot be used: {reason}")]
    Device {
        /// The device.
        device: DeviceId,
        /// Why not.
        reason: String,
    },
    /// A solution that is installed failed to load.
    #[error("solution {solution} failed to register: {source}")]
    Solution {
        /// The solution.
        solution: String,
        /// What it said.
        source: RegistryError,
    },
    /// Declarations that contradict each other.
    #[error("the catalog is inconsistent: {0}")]
    Declaration(#[from] RegistryError),
    /// Declarations and registrations that disagree.
    #[error("the catalog is inconsistent: {0}")]
    Catalog(#[from] CatalogError),
    /// Operations or requests for which no row applies: all of them.
    #[error("{}", list(.0))]
    Selection(Vec<SelectionError>),
    /// A plan that cannot be made.
    #[error("{kernel} cannot be prepared for [{problem}] on {device}: {source}")]
    Prepare {
        /// The row.
        kernel: String,
        /// The problem's facts.
        problem: String,
        /// The device.
        device: DeviceId,
        /// What the kernel said.
        source: PrepareError,
    },
    /// Plans that do not go together.
    #[error(transparent)]
    Prepared(#[from] PreparedError),
}

fn list(errors: &[SelectionError]) -> String {
    errors.iter().map(SelectionError::to_string).collect::<Vec<_>>().join("\n")
}

/// Everything that preparing one request needs.
pub(crate) struct PrepareCall<'a> {
    pub(crate) registry: &'a FrozenRegistry,
    pub(crate) device: DeviceId,
    pub(crate) key: &'a DeviceKey,
    pub(crate) mode: ExecutionMode,
    pub(crate) overriding: Option<&'a Override>,
    pub(crate) profile: Option<&'a LoadedProfile>,
    pub(crate) request: &'a DynRequest,
    pub(crate) plans: &'a PlanCache,
    pub(crate) synchronise: bool,
}

impl PrepareCall<'_> {
    fn select(&self, bucket: Bucket) -> Result<Selection<'_>, SelectionError>
    where
        Self: Sized,
    {
        let query = Query {
            operation: self.request.problem.operation(),
            problem: Some(&self.request.problem),
            bucket,
            key: self.key,
            mode: self.mode,
            demands: self.request.demands,
            overriding: self.overriding,
            profile: self.profile,
        };
        select(self.registry, &query)
    }
}

/// Prepares requests of one operator without naming its type.
pub(crate) trait Prepares: Send + Sync {
    fn prepare(&self, call: &PrepareCall<'_>) -> Result<Arc<dyn Any + Send + Sync>, InitializeError>;
    fn publish(&self, tables: &Tables, device: DeviceId, prepared: &Arc<dyn Any + Send + Sync>);
    fn validate(&self, problem: &DynProblem) -> Result<(), ProblemError>;
}

/// Selects and prepares a plan for every bucket of a request.
pub(crate) fn prepare<O: Operator>(call: &PrepareCall<'_>) -> Result<Arc<Prepared<O>>, InitializeError> {
    let problem = call.request.problem.get::<O>().ok_or_else(|| ProblemError::Syntax {
        operation: O::NAME,
        text: call.request.problem.to_string(),
        expected: "a problem of this operator",
    })?;
    O::validate(problem)?;
    // Every bucket is selected before the first plan is made, so that an error lists all that have no row.
    let (mut selections, mut refused) = (Vec::new(), Vec::new());
    for bucket in call.request.buckets.iter() {
        match call.select(bucket) {
            Ok(selection) => selections.push((bucket, selection)),
            Err(e) => refused.push(e),
        }
    }
    if !refused.is_empty() {
        return Err(InitializeError::Selection(refused));
    }
    let mut plans = Vec::new();
    for (bucket, selection) in selections {
        let spec = selection.row.spec().clone();
        let failed = |source| InitializeError::Prepare {
            kernel: spec.name.clone(),
            problem: call.request.problem.facts().to_string(),
            device: call.device,
            source,
        };
        let kernel = selection
            .row
            .kernel::<O>()
            .ok_or_else(|| RegistryError::Undeclared { name: spec.name.clone(), operation: O::NAME.to_owned() })?;
        let context = PrepareContext { device: call.device, key: call.key, bucket, communicator: None };
        let plan = call.plans.plan(&*kernel, problem, &context).map_err(failed)?;
        let because = selection.winner.to_string();
        plans.push((plan, Record { bucket, spec, considered: selection.considered, because }));
    }
    let generation = call.registry.generation();
    let buckets = call.request.buckets.clone();
    let prepared = Prepared::new(*problem, call.device, call.key.clone(), call.mode, generation, buckets, plans)?;
    Ok(Arc::new(prepared.synchronising(call.synchronise)))
}

/// Selects and prepares everything that `config` asks for.
pub(crate) fn publish(
    registry: Arc<FrozenRegistry>,
    platform: Platform,
    config: &Resolved,
) -> Result<Bindings, InitializeError> {
    let all: Vec<&str> = registry.operations().map(|o| o.operation).collect();
    let overrides = Overrides::resolve(&config.overrides, &config.environment, &config.asked(), &all)?;
    for (operation, value) in overrides.iter() {
        value.check(&registry, operation)?;
    }
    let mut notes = overrides.notes().to_vec();
    let profile = accept_profile(config, &registry, &platform, &mut notes);
    let plans = PlanCache::default();
    let tables = Tables::default();
    let mut bindings = BTreeMap::new();
    let mut refused = Vec::new();
    for &device in &config.devices {
        let Some(info) = platform.device(device) else {
            let reason = platform.refusal(device).unwrap_or_default();
            return Err(InitializeError::Device { device, reason });
        };
        let mode = config.mode_on(info);
        for operation in &config.operations {
            let query = Query {
                operation,
                problem: None,
                bucket: Bucket::ALL,
                key: &info.key,
                mode,
                demands: config.demands,
                overriding: overrides.get(operation),
                profile: profile.as_ref(),
            };
            match select(&registry, &query) {
                Ok(s) => {
                    let key = BindingKey { device, operation: s.row.operation(), problem: None, mode };
                    bindings.insert(key.clone(), Binding::by_name(key, &s));
                }
                Err(e) => refused.push(e),
            }
        }
        for request in &config.requests {
            let call = PrepareCall {
                registry: &registry,
                device,
                key: &info.key,
                mode,
                overriding: overrides.get(request.problem.operation()),
                profile: profile.as_ref(),
                request,
                plans: &plans,
                synchronise: config.environment.synchronises(),
            };
            match request.prepares.prepare(&call) {
                Ok(prepared) => {
                    let problem = Some(request.problem.facts().to_string());
                    let key = BindingKey { device, operation: request.problem.operation(), problem, mode };
                    request.prepares.publish(&tables, device, &prepared);
                    bindings.insert(key.clone(), Binding::by_request(key, request, prepared));
                }
                Err(InitializeError::Selection(errors)) => refused.extend(errors),
                Err(other) => return Err(other),
            }
        }
    }
    if !refused.is_empty() {
        return Err(InitializeError::Selection(refused));
    }
    let parts = Parts { registry, platform, config: config.clone(), overrides, profile, plans, tables, notes };
    Ok(Bindings::new(parts, bindings))
}

/// The profile, if its digest matches; a remark and a warning if not.
fn accept_profile(
    config: &Resolved,
    registry: &FrozenRegistry,
    platform: &Platform,
    notes: &mut Vec<String>,
) -> Option<LoadedProfile> {
    match config.profile.clone()?.accept(&digest(registry, platform)) {
        Ok(profile) => Some(profile),
        Err(stale) => {
            tracing::warn!("{stale}");
            notes.push(stale.to_string());
            None
        }
    }
}

/// The override that fixes a row which was chosen by name.
pub(crate) fn fixed(row: &str) -> Override {
    Override { value: row.to_owned(), source: OverrideSource::Initialize }
}
