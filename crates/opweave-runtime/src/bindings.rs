// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Bindings: what initialize published.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use opweave_contract::Operator;
use opweave_device::Platform;
use opweave_registry::{Considered, ExecutionMode, FrozenRegistry, Prepared, Record};
use opweave_tensor::DeviceId;

use crate::config::Resolved;
use crate::initialize::{PrepareCall, fixed, prepare};
use crate::{
    ConfigError, DynRequest, Environment, InitializeError, LoadedProfile, Overrides, PlanCache, Request, Selection,
    Winner,
};

/// What a binding is found by.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct BindingKey {
    /// The device.
    pub device: DeviceId,
    /// The operation.
    pub operation: &'static str,
    /// The problem's facts; `None` for an operation that was asked for by name.
    pub problem: Option<String>,
    /// The execution mode.
    pub mode: ExecutionMode,
}

/// One binding. A model may keep what it prepared for the life of a graph.
#[derive(Clone)]
pub struct Binding {
    key: BindingKey,
    implementation: Option<(String, Winner, Vec<Considered>)>,
    request: Option<DynRequest>,
    prepared: Option<Arc<dyn Any + Send + Sync>>,
}

impl Binding {
    pub(crate) fn by_name(key: BindingKey, s: &Selection<'_>) -> Self {
        let implementation = Some((s.row.spec().name.clone(), s.winner.clone(), s.considered.clone()));
        Binding { key, implementation, request: None, prepared: None }
    }

    pub(crate) fn by_request(key: BindingKey, request: &DynRequest, prepared: Arc<dyn Any + Send + Sync>) -> Self {
        Binding { key, implementation: None, request: Some(request.clone()), prepared: Some(prepared) }
    }

    /// What it is found by.
    pub fn key(&self) -> &BindingKey {
        &self.key
    }

    /// The row that an operation asked for by name is fixed to, why, and every row that was looked at. `None` for a
    /// request: its prepared operator has a record for each bucket.
    pub fn implementation(&self) -> Option<(&str, &Winner, &[Considered])> {
        self.implementation.as_ref().map(|(name, winner, considered)| (name.as_str(), winner, considered.as_slice()))
    }

    /// The request, where it came from one.
    pub fn request(&self) -> Option<&DynRequest> {
        self.request.as_ref()
    }

    /// The prepared operator of a request, if it is one of `O`.
    pub fn prepared<O: Operator>(&self) -> Option<Arc<Prepared<O>>> {
        Arc::clone(self.prepared.as_ref()?).downcast().ok()
    }
}

impl std::fmt::Debug for Binding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "binding {:?}", self.key)
    }
}

type Table<O> = HashMap<(DeviceId, <O as Operator>::Problem), Arc<Prepared<O>>>;

/// Prepared operators by operator type, device and problem.
#[derive(Default)]
pub(crate) struct Tables(RwLock<HashMap<TypeId, Box<dyn Any + Send + Sync>>>);

impl Tables {
    /// Keeps `prepared`, unless another thread was faster: then its operator is the one that everybody gets.
    pub(crate) fn insert<O: Operator>(&self, device: DeviceId, prepared: Arc<Prepared<O>>) -> Arc<Prepared<O>> {
        let mut tables = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let table = tables.entry(TypeId::of::<O>()).or_insert_with(|| Box::new(Table::<O>::new()));
        match table.downcast_mut::<Table<O>>() {
            Some(table) => Arc::clone(table.entry((device, *prepared.problem())).or_insert(prepared)),
            None => prepared,
        }
    }

    fn get<O: Operator>(&self, device: DeviceId, problem: &O::Problem) -> Option<Arc<Prepared<O>>> {
        let tables = self.0.read().unwrap_or_else(PoisonError::into_inner);
        tables.get(&TypeId::of::<O>())?.downcast_ref::<Table<O>>()?.get(&(device, *problem)).cloned()
    }

    /// The facts of everything prepared for `O` on `device`.
    fn problems<O: Operator>(&self, device: DeviceId) -> Vec<String> {
        let tables = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let table = tables.get(&TypeId::of::<O>()).and_then(|t| t.downcast_ref::<Table<O>>());
        let on_device = table.into_iter().flatten().filter(|((d, _), _)| *d == device);
        on_device.map(|((_, problem), _)| O::all_facts(problem).to_string()).collect()
    }
}

/// A public operator function that was called too early, for too much, or for something else.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// Before initialize.
    #[error("{operation} was called before initialize")]
    NotInitialized {
        /// The operation.
        operation: &'static str,
    },
    /// An operation that initialize was not asked for.
    #[error("{operation} on {device} is outside what initialize was asked for: {asked}", asked = .asked.join(", "))]
    Outside {
        /// The operation.
        operation: &'static str,
        /// The device.
        device: DeviceId,
        /// What was asked for, as `operation on device`.
        asked: Vec<String>,
    },
    /// A problem that was not prepared.
    #[error("{operation} on {device} was not prepared for [{problem}]; nearest prepared: {nearest}", nearest = shown(.nearest))]
    NotPrepared {
        /// The operation.
        operation: &'static str,
        /// The device.
        device: DeviceId,
        /// The problem's facts.
        problem: String,
        /// The facts of the nearest prepared problems, nearest first.
        nearest: Vec<String>,
    },
}

fn shown(problems: &[String]) -> String {
    match problems {
        [] => "none".to_owned(),
        some => some.iter().map(|p| format!("[{p}]")).collect::<Vec<_>>().join(", "),
    }
}

pub(crate) struct Parts {
    pub(crate) registry: Arc<FrozenRegistry>,
    pub(crate) platform: Platform,
    pub(crate) config: Resolved,
    pub(crate) overrides: Overrides,
    pub(crate) profile: Option<LoadedProfile>,
    pub(crate) plans: PlanCache,
    pub(crate) tables: Tables,
    pub(crate) notes: Vec<String>,
}

/// What initialize published: read-only, iterated in the order of the keys.
pub struct Bindings {
    parts: Parts,
    bindings: BTreeMap<BindingKey, Binding>,
}

impl Bindings {
    pub(crate) fn new(parts: Parts, bindings: BTreeMap<BindingKey, Binding>) -> Self {
        Bindings { parts, bindings }
    }

    /// All bindings in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = &Binding> {
        self.bindings.values()
    }

    /// One binding.
    pub fn get(&self, key: &BindingKey) -> Option<&Binding> {
        self.bindings.get(key)
    }

    /// The frozen registry that they were selected from.
    pub fn registry(&self) -> &Arc<FrozenRegistry> {
        &self.parts.registry
    }

    /// What the machine offered.
    pub fn platform(&self) -> &Platform {
        &self.parts.platform
    }

    /// The overrides in force.
    pub fn overrides(&self) -> &Overrides {
        &self.parts.overrides
    }

    /// The plans that were made.
    pub fn plans(&self) -> &PlanCache {
        &self.parts.plans
    }

    /// Remarks: overrides that are blank or outside what was asked for, a stale profile.
    pub fn notes(&self) -> &[String] {
        &self.parts.notes
    }

    /// What changed in the environment since initialize, and is not in force: a line for each variable.
    pub fn environment_changes(&self, now: &Environment) -> Vec<String> {
        self.parts.config.environment.changes(now)
    }

    /// The operator prepared for a problem on a device.
    ///
    /// # Errors
    /// [`StateError::Outside`] for an operation that was not asked for, [`StateError::NotPrepared`] naming the nearest
    /// prepared problems.
    pub fn prepared<O: Operator>(
        &self,
        device: DeviceId,
        problem: &O::Problem,
    ) -> Result<Arc<Prepared<O>>, StateError> {
        match self.parts.tables.get::<O>(device, problem) {
            Some(prepared) => Ok(prepared),
            None => Err(self.missing::<O>(device, problem)),
        }
    }

    #[cold]
    fn missing<O: Operator>(&self, device: DeviceId, problem: &O::Problem) -> StateError {
        if !self.bindings.keys().any(|k| k.device == device && k.operation == O::NAME) {
            let mut asked: Vec<String> =
                self.bindings.keys().map(|k| format!("{} on {}", k.operation, k.device)).collect();
            asked.dedup();
            return StateError::Outside { operation: O::NAME, device, asked };
        }
        let wanted = O::all_facts(problem).to_string();
        let differing = |facts: &String| {
            let has: Vec<&str> = facts.split(' ').collect();
            wanted.split(' ').filter(|f| !has.contains(f)).count()
        };
        let mut nearest = self.parts.tables.problems::<O>(device);
        nearest.sort_by_key(|facts| (differing(facts), facts.clone()));
        nearest.truncate(3);
        StateError::NotPrepared { operation: O::NAME, device, problem: wanted, nearest }
    }

    /// Prepares a further problem of an operation that was asked for by name, with the row that it is fixed to, and
    /// keeps it. Call it before the first call or capture. A problem that is prepared already is answered as it is.
    ///
    /// # Errors
    /// [`InitializeError::Config`] when the operation was not asked for by name, or the problem is prepared with other
    /// buckets or against the demands; errors of selection and preparation.
    pub fn prepare<O: Operator>(
        &self,
        device: DeviceId,
        request: Request<O>,
    ) -> Result<Arc<Prepared<O>>, InitializeError> {
        let request = request.erase();
        if let Some(prepared) = request.problem.get::<O>().and_then(|p| self.parts.tables.get::<O>(device, p)) {
            return if serves(&prepared, &request) {
                Ok(prepared)
            } else {
                Err(ConfigError::twice(&request.problem).into())
            };
        }
        let binding = self
            .bindings
            .values()
            .find(|b| b.key.device == device && b.key.operation == O::NAME && b.key.problem.is_none());
        let info = self.parts.platform.device(device);
        let (Some(binding), Some(info)) = (binding, info) else {
            let by_name = self.bindings.keys().filter(|k| k.device == device && k.problem.is_none());
            let known = by_name.map(|k| k.operation.to_owned()).collect();
            return Err(ConfigError::NotByName { operation: O::NAME, device, known }.into());
        };
        let row = binding.implementation.as_ref().map(|(name, ..)| fixed(name));
        let call = PrepareCall {
            registry: &self.parts.registry,
            device,
            key: &info.key,
            mode: binding.key.mode,
            overriding: row.as_ref(),
            profile: self.parts.profile.as_ref(),
            request: &request,
            plans: &self.parts.plans,
            synchronise: self.parts.config.environment.synchronises(),
        };
        let prepared = self.parts.tables.insert(device, prepare::<O>(&call)?);
        if serves(&prepared, &request) { Ok(prepared) } else { Err(ConfigError::twice(&request.problem).into()) }
    }
}

/// Whether a prepared operator has the buckets of a request and fulfils its demands.
fn serves<O: Operator>(prepared: &Prepared<O>, request: &DynRequest) -> bool {
    let demands = request.demands;
    let fulfils = |r: &Record| {
        (r.spec.deterministic || !demands.deterministic) && (r.spec.batch_invariant || !demands.batch_invariant)
    };
    prepared.records().iter().map(|r| r.bucket).eq(request.buckets.iter()) && prepared.records().iter().all(fulfils)
}

impl std::fmt::Debug for Bindings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.bindings.keys()).finish()
    }
}
