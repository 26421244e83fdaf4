// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Runtimes: which solutions there are, and the one set of bindings that came of them.

use std::sync::{Arc, Mutex, PoisonError};

use opweave_contract::OperationDecl;
use opweave_device::{Backend, Platform};
use opweave_registry::{FrozenRegistry, Registry, RegistryError, collect_catalog};

use crate::config::Resolved;
use crate::initialize::publish;
use crate::{Bindings, Config, Environment, InitializeError};

/// A solution: how it registers its rows, and how its devices are found.
#[derive(Clone, Copy)]
pub struct Solution {
    /// Its device-qualified name, such as `cpu.native`.
    pub name: &'static str,
    /// Registers its rows. A missing library makes rows unavailable and is no error; one that is there and fails is.
    pub register: fn(&mut Registry) -> Result<(), RegistryError>,
    /// Finds its devices without creating a context.
    pub probe: fn() -> Backend,
}

impl std::fmt::Debug for Solution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "solution {}", self.name)
    }
}

/// Puts a runtime together: declarations and solutions, in the order in which they are given.
pub struct RuntimeBuilder {
    declarations: Vec<&'static [OperationDecl]>,
    solutions: Vec<Solution>,
    environment: Box<dyn Fn() -> Environment + Send + Sync>,
    platform: Option<Platform>,
}

impl RuntimeBuilder {
    /// Adds declarations of operations.
    #[must_use]
    pub fn declare(mut self, operations: &'static [OperationDecl]) -> Self {
        self.declarations.push(operations);
        self
    }

    /// Adds a solution.
    #[must_use]
    pub fn solution(mut self, solution: Solution) -> Self {
        self.solutions.push(solution);
        self
    }

    /// Replaces the process's environment: for programs that state theirs, and for tests.
    #[must_use]
    pub fn environment(mut self, read: impl Fn() -> Environment + Send + Sync + 'static) -> Self {
        self.environment = Box::new(read);
        self
    }

    /// Replaces what the solutions' probes find.
    #[must_use]
    pub fn platform(mut self, platform: Platform) -> Self {
        self.platform = Some(platform);
        self
    }

    /// The runtime. Nothing is loaded yet.
    pub fn build(self) -> Runtime {
        Runtime { parts: self, state: Mutex::default() }
    }
}

#[derive(Default)]
struct State {
    registry: Option<Arc<FrozenRegistry>>,
    published: Option<(Resolved, Arc<Bindings>)>,
}

/// A runtime. Several may live side by side; each is initialised once.
pub struct Runtime {
    parts: RuntimeBuilder,
    state: Mutex<State>,
}

impl Runtime {
    /// A builder that reads the process's environment and probes with its solutions.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder {
            declarations: Vec::new(),
            solutions: Vec::new(),
            environment: Box::new(Environment::read),
            platform: None,
        }
    }

    /// The operations that exist, in byte order. Pure data: nothing is loaded.
    pub fn operations(&self) -> Vec<&'static str> {
        let mut all: Vec<&str> = self.parts.declarations.iter().flat_map(|d| d.iter().map(|o| o.operation)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The declaration of an operation.
    pub fn operation(&self, name: &str) -> Option<&'static OperationDecl> {
        self.parts.declarations.iter().flat_map(|d| d.iter()).find(|o| o.operation == name)
    }

    /// What the machine offers, asked of every solution's probe. Creates no device context.
    pub fn platform(&self) -> Platform {
        match &self.parts.platform {
            Some(platform) => platform.clone(),
            None => Platform::new(self.parts.solutions.iter().map(|s| (s.probe)()).collect()),
        }
    }

    /// The environment as it is now.
    pub fn environment(&self) -> Environment {
        (self.parts.environment)()
    }

    /// The frozen registry: every solution registered, in the written order. Made once.
    ///
    /// # Errors
    /// [`InitializeError::Declaration`], [`InitializeError::Solution`] or [`InitializeError::Catalog`]; a later attempt
    /// starts afresh.
    pub fn registry(&self) -> Result<Arc<FrozenRegistry>, InitializeError> {
        self.registry_in(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn registry_in(&self, state: &mut State) -> Result<Arc<FrozenRegistry>, InitializeError> {
        if let Some(registry) = &state.registry {
            return Ok(Arc::clone(registry));
        }
        let mut registry = Registry::new();
        for operations in &self.parts.declarations {
            registry.declare(operations)?;
        }
        for solution in &self.parts.solutions {
            let failed = |source| InitializeError::Solution { solution: solution.name.to_owned(), source };
            registry.solution(solution.name).map_err(failed)?;
            (solution.register)(&mut registry).map_err(failed)?;
        }
        let frozen = registry.freeze();
        collect_catalog(&frozen)?;
        state.registry = Some(Arc::clone(&frozen));
        Ok(frozen)
    }

    /// Selects and prepares everything that `config` asks for, and publishes it: all or nothing.
    ///
    /// The same configuration again, after resolving defaults, order and duplicates, gives the identical bindings. Of
    /// several threads, one does the work and the others wait for it.
    ///
    /// # Errors
    /// [`InitializeError`]; a conflict with an earlier configuration is found before anything else.
    pub fn initialize(&self, config: &Config) -> Result<Arc<Bindings>, InitializeError> {
        let all = self.operations();
        let resolved = config.resolve(&all, self.environment());
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((earlier, bindings)) = &state.published {
            if earlier.same(&resolved, bindings.platform()) {
                return Ok(Arc::clone(bindings));
            }
            return Err(InitializeError::Conflict { difference: earlier.difference(&resolved) });
        }
        resolved.check(&all)?;
        for request in &resolved.requests {
            request.prepares.validate(&request.problem)?;
        }
        let registry = self.registry_in(&mut state)?;
        let bindings = Arc::new(publish(registry, self.platform(), &resolved)?);
        tracing::info!(bindings = bindings.iter().count(), "initialised");
        state.published = Some((resolved, Arc::clone(&bindings)));
        Ok(bindings)
    }

    /// What an earlier initialize published.
    pub fn bindings(&self) -> Option<Arc<Bindings>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.published.as_ref().map(|(_, bindings)| Arc::clone(bindings))
    }
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "runtime of {:?}", self.parts.solutions)
    }
}
