// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What all operators of a model share: threads, and one prepared operator for each problem.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use candle_core::{Error, Result};
use opweave::{Config, DeviceId, HostStream, Operator, Prepared, Request, host_stream, runtime};

type Cache = HashMap<(TypeId, String), Arc<dyn Any + Send + Sync>>;

/// The threads that the operators run on, and what was prepared for them. Cheap to clone.
#[derive(Clone)]
pub struct Session {
    stream: Arc<HostStream>,
    prepared: Arc<Mutex<Cache>>,
}

impl Session {
    /// A session on `threads` threads, the calling one included; 0 for as many as the machine has.
    ///
    /// # Errors
    /// When the system refuses to start them.
    pub fn new(threads: usize) -> Result<Self> {
        let stream = host_stream(threads).map_err(Error::wrap)?;
        Ok(Session { stream: Arc::new(stream), prepared: Arc::default() })
    }

    /// The operator for `problem`, selected and prepared at the first request and shared from then on.
    pub(crate) fn prepare<O: Operator>(&self, problem: O::Problem) -> Result<Arc<Prepared<O>>> {
        let request = Request::<O>::new(problem);
        let config = Config::new().request(request);
        let key = (TypeId::of::<O>(), format!("{problem:?}"));
        let mut cache = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = cache.get(&key).and_then(|any| Arc::clone(any).downcast::<Prepared<O>>().ok()) {
            return Ok(found);
        }
        let bindings = runtime().initialize(&config).map_err(Error::wrap)?;
        let prepared = bindings.prepared::<O>(DeviceId::CPU, &problem).map_err(Error::wrap)?;
        cache.insert(key, Arc::clone(&prepared) as Arc<dyn Any + Send + Sync>);
        Ok(prepared)
    }

    pub(crate) fn stream(&self) -> &HostStream {
        &self.stream
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Session on {} threads", self.stream.pool().threads())
    }
}

/// An operator made ready, and the session that it runs in.
#[derive(Debug)]
pub(crate) struct Ready<O: Operator> {
    pub(crate) op: Arc<Prepared<O>>,
    pub(crate) session: Session,
}

impl<O: Operator> Ready<O> {
    pub(crate) fn new(session: &Session, problem: O::Problem) -> Result<Self> {
        Ok(Ready { op: session.prepare::<O>(problem)?, session: session.clone() })
    }

    /// The full name of the row that was chosen.
    pub(crate) fn kernel(&self) -> &str {
        // One bucket, since none were asked for.
        &self.op.records()[0].spec.name
    }
}

impl<O: Operator> Clone for Ready<O> {
    fn clone(&self) -> Self {
        Ready { op: Arc::clone(&self.op), session: self.session.clone() }
    }
}

/// The dtype by opweave's name, or an error that lists those which activations have.
pub(crate) fn dtype(of: candle_core::DType) -> Result<opweave::DType> {
    match of {
        candle_core::DType::F32 => Ok(opweave::DType::F32),
        candle_core::DType::F16 => Ok(opweave::DType::F16),
        candle_core::DType::BF16 => Ok(opweave::DType::BF16),
        other => Err(refused(other)),
    }
}

/// A dtype that activations do not have.
pub(crate) fn refused(other: candle_core::DType) -> Error {
    Error::msg(format!("dtype {} is none of f32, f16, bf16", other.as_str()))
}

/// Calls `$call::<T>($arguments)` with the element type of a storage, or fails with [`refused`].
macro_rules! by_dtype {
    ($storage:expr, $call:ident($($argument:expr),* $(,)?)) => {
        match $storage {
            candle_core::CpuStorage::F32(_) => $call::<f32>($($argument),*),
            candle_core::CpuStorage::F16(_) => $call::<half::f16>($($argument),*),
            candle_core::CpuStorage::BF16(_) => $call::<half::bf16>($($argument),*),
            other => Err($crate::session::refused(candle_core::backend::BackendStorage::dtype(other))),
        }
    };
}
pub(crate) use by_dtype;

#[cfg(test)]
mod tests {
    use opweave::ops::{RmsNorm, RmsNormProblem};

    use super::*;

    #[test]
    fn one_problem_is_prepared_once_for_a_session() -> Result<()> {
        let session = Session::new(1)?;
        let problem = |width| RmsNormProblem::new(width, opweave::DType::F32);
        let first = session.prepare::<RmsNorm>(problem(64))?;
        assert!(Arc::ptr_eq(&first, &session.clone().prepare::<RmsNorm>(problem(64))?));
        assert!(!Arc::ptr_eq(&first, &session.prepare::<RmsNorm>(problem(65))?));
        assert_eq!(format!("{session:?}"), "Session on 1 threads");
        Ok(())
    }
}
