// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The cache of plans: thirty layers with one problem share one plan.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use opweave_contract::Operator;
use opweave_registry::{Bucket, Kernel, Plan, PrepareContext, PrepareError};
use opweave_tensor::DeviceId;

type Key = (String, String, Bucket, DeviceId);

/// Plans by row, problem, bucket and device.
#[derive(Default)]
pub struct PlanCache {
    plans: Mutex<HashMap<Key, Arc<dyn Any + Send + Sync>>>,
}

impl PlanCache {
    /// The plan of a kernel for a problem, made now or earlier. Plans for a communicator are not kept: it is the
    /// caller's, and may end before the cache.
    ///
    /// # Errors
    /// [`PrepareError`] of the kernel; nothing is kept then.
    pub fn plan<O: Operator>(
        &self,
        kernel: &dyn Kernel<O>,
        problem: &O::Problem,
        context: &PrepareContext<'_>,
    ) -> Result<Arc<dyn Plan<O>>, PrepareError> {
        if context.communicator.is_some() {
            return kernel.prepare(problem, context);
        }
        let facts = O::all_facts(problem).to_string();
        let key: Key = (kernel.spec().name.clone(), facts, context.bucket, context.device);
        // Held while a plan is made, so that two threads that ask for one plan get one.
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plan) = plans.get(&key).and_then(|any| any.downcast_ref::<Arc<dyn Plan<O>>>()) {
            return Ok(Arc::clone(plan));
        }
        let plan = kernel.prepare(problem, context)?;
        plans.insert(key, Arc::new(Arc::clone(&plan)));
        Ok(plan)
    }

    /// How many plans it holds.
    pub fn len(&self) -> usize {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl std::fmt::Debug for PlanCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cache of {} plans", self.len())
    }
}
