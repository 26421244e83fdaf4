// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What initialize is asked for.

use std::collections::{BTreeMap, BTreeSet};

use opweave_contract::{DynProblem, nearest};
use opweave_device::{DeviceInfo, Platform};
use opweave_registry::ExecutionMode;
use opweave_tensor::DeviceId;

use crate::{Demands, DynRequest, Environment, Profile};

/// What initialize is asked for: devices, operations and requests, and how to choose.
///
/// With neither operations nor requests, the whole catalog is asked for. With requests alone, only they are.
#[derive(Clone, Debug, Default)]
pub struct Config {
    pub(crate) devices: Vec<DeviceId>,
    pub(crate) operations: Option<Vec<String>>,
    pub(crate) requests: Vec<DynRequest>,
    pub(crate) mode: Option<ExecutionMode>,
    pub(crate) overrides: BTreeMap<String, String>,
    pub(crate) demands: Demands,
    pub(crate) profile: Option<Profile>,
}

impl Config {
    /// The whole catalog on the CPU, in graph mode.
    pub fn new() -> Self {
        Config::default()
    }

    /// Adds a device. Without any, the CPU.
    #[must_use]
    pub fn device(mut self, device: DeviceId) -> Self {
        self.devices.push(device);
        self
    }

    /// Adds operations, given by name.
    #[must_use]
    pub fn operations<S: Into<String>>(mut self, operations: impl IntoIterator<Item = S>) -> Self {
        self.operations.get_or_insert_default().extend(operations.into_iter().map(Into::into));
        self
    }

    /// Adds a request.
    #[must_use]
    pub fn request(mut self, request: impl Into<DynRequest>) -> Self {
        self.requests.push(request.into());
        self
    }

    /// The execution mode; without it, the device's graph mode if it has one.
    #[must_use]
    pub fn mode(mut self, mode: ExecutionMode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Overrides selection of an operation by the name of a row or a solution.
    #[must_use]
    pub fn override_with(mut self, operation: impl Into<String>, value: impl Into<String>) -> Self {
        self.overrides.insert(operation.into(), value.into());
        self
    }

    /// Demands of operations given by name; a request has its own.
    #[must_use]
    pub fn demands(mut self, demands: Demands) -> Self {
        self.demands = demands;
        self
    }

    /// A measured profile.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self
    }

    /// The configuration with defaults, order and duplicates resolved.
    pub(crate) fn resolve(&self, all: &[&'static str], environment: Environment) -> Resolved {
        let devices: BTreeSet<DeviceId> = self.devices.iter().copied().collect();
        let devices = if devices.is_empty() { BTreeSet::from([DeviceId::CPU]) } else { devices };
        let operations: BTreeSet<String> = match &self.operations {
            Some(operations) => operations.iter().cloned().collect(),
            None if self.requests.is_empty() => all.iter().map(|op| (*op).to_owned()).collect(),
            None => BTreeSet::new(),
        };
        let mut requests: Vec<DynRequest> = Vec::new();
        for request in &self.requests {
            if !requests.contains(request) {
                requests.push(request.clone());
            }
        }
        let order = |r: &DynRequest| {
            let (operation, problem, buckets, demands) = r.identity();
            (operation, problem, format!("{buckets:?} {demands:?}"))
        };
        requests.sort_by_key(order);
        Resolved {
            devices,
            operations,
            requests,
            mode: self.mode,
            overrides: self.overrides.iter().map(|(op, value)| (op.clone(), value.trim().to_owned())).collect(),
            demands: self.demands,
            profile: self.profile.clone(),
            environment,
        }
    }
}

/// A configuration by which two calls of initialize are compared.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Resolved {
    pub(crate) devices: BTreeSet<DeviceId>,
    pub(crate) operations: BTreeSet<String>,
    pub(crate) requests: Vec<DynRequest>,
    pub(crate) mode: Option<ExecutionMode>,
    pub(crate) overrides: BTreeMap<String, String>,
    pub(crate) demands: Demands,
    pub(crate) profile: Option<Profile>,
    pub(crate) environment: Environment,
}

impl Resolved {
    /// Whether two configurations ask for the same thing on `platform`, whose devices say what an execution mode that was
    /// left out means. A blank override is none.
    pub(crate) fn same(&self, other: &Resolved, platform: &Platform) -> bool {
        let plain = |config: &Resolved| {
            let mut config = config.clone();
            config.overrides.retain(|_, value| !value.is_empty());
            let modes: BTreeSet<ExecutionMode> =
                config.devices.iter().filter_map(|&d| platform.device(d)).map(|info| config.mode_on(info)).collect();
            if let (Some(&mode), 1) = (modes.first(), modes.len()) {
                config.mode = Some(mode);
            }
            config
        };
        plain(self) == plain(other)
    }

    /// The execution mode on a device: the one asked for, else its graph mode if it has one.
    pub(crate) fn mode_on(&self, info: &DeviceInfo) -> ExecutionMode {
        let default = if info.graphs { ExecutionMode::Graph } else { ExecutionMode::Eager };
        self.mode.unwrap_or(default)
    }

    /// Every operation that is asked for, by name or by a request.
    pub(crate) fn asked(&self) -> BTreeSet<String> {
        let requested = self.requests.iter().map(|r| r.problem().operation().to_owned());
        self.operations.iter().cloned().chain(requested).collect()
    }

    /// What differs in another configuration, in words.
    pub(crate) fn difference(&self, other: &Resolved) -> String {
        let mut parts: Vec<String> = Vec::new();
        let fields = [
            ("devices", self.devices == other.devices),
            ("operations", self.operations == other.operations),
            ("requests", self.requests == other.requests),
            ("mode", self.mode == other.mode),
            ("overrides", self.overrides == other.overrides),
            ("demands", self.demands == other.demands),
            ("profile", self.profile == other.profile),
        ];
        parts.extend(fields.iter().filter(|(_, same)| !same).map(|(name, _)| (*name).to_owned()));
        parts.extend(self.environment.changes(&other.environment));
        parts.join("; ")
    }

    /// Checks what can be checked before anything is loaded.
    pub(crate) fn check(&self, all: &[&'static str]) -> Result<(), ConfigError> {
        let known = || all.iter().map(|op| (*op).to_owned()).collect::<Vec<_>>();
        let asked = self.asked();
        if asked.is_empty() {
            return Err(ConfigError::Empty { known: known() });
        }
        if let Some(name) = asked.iter().find(|op| !all.contains(&op.as_str())) {
            let hint = nearest(name, all.iter().copied());
            let hint = hint.map_or_else(String::new, |h| format!("; did you mean `{h}`?"));
            return Err(ConfigError::Unknown { name: name.clone(), known: known(), hint });
        }
        // Equal requests were dropped before, so two that are left for one problem differ in what surrounds it.
        match self.requests.windows(2).find(|pair| pair[0].problem() == pair[1].problem()) {
            Some(pair) => Err(ConfigError::twice(pair[0].problem())),
            None => Ok(()),
        }
    }
}

/// A configuration that asks for nothing, or for something that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// An empty set of operations.
    #[error("the set of operations is empty; leave it out for all of {known}", known = .known.join(", "))]
    Empty {
        /// The operations there are.
        known: Vec<String>,
    },
    /// An operation that does not exist.
    #[error("operation `{name}` is unknown; expected one of {known}{hint}", known = .known.join(", "))]
    Unknown {
        /// The name given.
        name: String,
        /// The operations there are.
        known: Vec<String>,
        /// The nearest spelling, as a phrase, or empty.
        hint: String,
    },
    /// Two requests for one problem: it has one binding on each device.
    #[error(
        "{operation} is requested twice for [{problem}], with other buckets or demands; one problem has one binding"
    )]
    Twice {
        /// The operation.
        operation: &'static str,
        /// The problem's facts.
        problem: String,
    },
    /// A further problem for an operation that was not asked for by name.
    #[error("{operation} was not asked for by name on {device}, so no further problem can be prepared; by name there are {known}", known = if .known.is_empty() { "none".to_owned() } else { .known.join(", ") })]
    NotByName {
        /// The operation.
        operation: &'static str,
        /// The device.
        device: DeviceId,
        /// What was asked for by name there.
        known: Vec<String>,
    },
}

impl ConfigError {
    pub(crate) fn twice(problem: &DynProblem) -> Self {
        ConfigError::Twice { operation: problem.operation(), problem: problem.facts().to_string() }
    }
}
