// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Batch invariance: the bits of a row do not depend on the rows beside it.

use std::sync::Arc;

use opweave_reference::Reference;

use super::instance::Instance;
use super::{CaseError, Fixture, How, Judgement};
use crate::host::HostTensor;
use crate::report::FindingKind;

/// Rows that are run alone.
const ALONE: usize = 4;

impl<O: Reference> Instance<O> {
    /// Runs rows alone, and all rows in reverse order: each must have the bits that it has in its batch.
    pub(super) fn batch_invariance(
        &mut self,
        how: &How<'_>,
        batch: &[Option<HostTensor>],
        judgement: &mut Judgement,
    ) -> Result<(), CaseError> {
        let tokens = self.fixture.case.dims.first().copied().unwrap_or(0);
        if tokens < 2 {
            return Ok(());
        }
        let mut orders: Vec<Vec<usize>> = (0..ALONE).map(|i| vec![i * (tokens - 1) / (ALONE - 1)]).collect();
        orders.dedup();
        orders.push((0..tokens).rev().collect());
        for order in orders {
            let Some(part) = self.fixture.of_tokens(&order)? else { return Ok(()) };
            let mut instance = Instance::new(Arc::new(part), Arc::clone(&self.common))?;
            let images = instance.run(judgement)?;
            if let Some((name, token)) = first_difference(&self.fixture, batch, &images, &order) {
                let how = if order.len() == 1 { "alone" } else { "in reverse order" };
                let text = format!("row {token} of `{name}` {how} differs from itself in the batch of {tokens}");
                judgement.find(FindingKind::BatchInvariance, text);
                return Ok(());
            }
            (how.watch)()?;
        }
        Ok(())
    }
}

/// The first output and token whose bits differ between the batch and the reordered part.
fn first_difference<O: Reference>(
    fixture: &Fixture<O>,
    batch: &[Option<HostTensor>],
    part: &[Option<HostTensor>],
    order: &[usize],
) -> Option<(&'static str, usize)> {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for (index, spec) in fixture.specs.tensors().enumerate().filter(|(_, s)| s.role.writes()) {
        let home = fixture.homes[index];
        let (Some(Some(whole)), Some(Some(some))) = (batch.get(home), part.get(home)) else { continue };
        if spec.dims.len() == 1 {
            whole.read_row(0, &mut a);
            some.read_row(0, &mut b);
            if let Some((_, &token)) = order.iter().enumerate().find(|&(place, &token)| a[token] != b[place]) {
                return Some((spec.name, token));
            }
            continue;
        }
        let each = some.layout().rows() / order.len().max(1);
        for (place, &token) in order.iter().enumerate() {
            for row in 0..each {
                whole.read_row(token * each + row, &mut a);
                some.read_row(place * each + row, &mut b);
                if a != b {
                    return Some((spec.name, token));
                }
            }
        }
    }
    None
}
