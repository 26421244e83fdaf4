// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The process-wide runtime: a thin convenience over one [`Runtime`] value.

use std::sync::{Arc, OnceLock};

use crate::{Bindings, Config, InitializeError, Runtime, StateError};

static RUNTIME: OnceLock<Runtime> = OnceLock::new();
static BINDINGS: OnceLock<Arc<Bindings>> = OnceLock::new();

/// The process-wide runtime, made by `make` if there is none yet.
pub fn install(make: impl FnOnce() -> Runtime) -> &'static Runtime {
    RUNTIME.get_or_init(make)
}

/// Initialises the process-wide runtime, made by `make` if there is none yet.
///
/// # Errors
/// As [`Runtime::initialize`].
pub fn initialize(make: impl FnOnce() -> Runtime, config: &Config) -> Result<Arc<Bindings>, InitializeError> {
    let bindings = install(make).initialize(config)?;
    Ok(Arc::clone(BINDINGS.get_or_init(|| bindings)))
}

/// The bindings of the process-wide runtime, for a public operator function.
///
/// # Errors
/// [`StateError::NotInitialized`] naming `operation`.
#[inline]
pub fn bindings(operation: &'static str) -> Result<&'static Arc<Bindings>, StateError> {
    BINDINGS.get().ok_or(StateError::NotInitialized { operation })
}
