// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! From kernels to bindings.
//!
//! A [`Runtime`] knows which solutions there are. [`Runtime::initialize`] registers them, freezes the registry, selects a
//! row for everything that a [`Config`] asks for, prepares it and publishes [`Bindings`], all or nothing. [`select()`] is
//! the pure function in the middle: hardware is an argument, so [`explain()`] answers for machines that are not there.

mod bindings;
mod config;
mod environment;
mod explain;
mod initialize;
mod overrides;
mod plans;
mod process;
mod profile;
mod request;
mod runtime;
mod select;

pub use bindings::{Binding, BindingKey, Bindings, StateError};
pub use config::{Config, ConfigError};
pub use environment::{Environment, SYNC_VARIABLE};
pub use explain::{Explanation, explain};
pub use initialize::InitializeError;
pub use overrides::{Override, OverrideError, OverrideSource, Overrides};
pub use plans::PlanCache;
pub use process::{bindings, initialize, install};
pub use profile::{
    Entry, Evidence, LoadedProfile, PROFILE_FILE, Profile, ProfileError, SCHEMA_VERSION, Staleness, digest,
};
pub use request::{Demands, DynRequest, Request};
pub use runtime::{Runtime, RuntimeBuilder, Solution};
pub use select::{Query, Selection, SelectionError, Winner, select};
