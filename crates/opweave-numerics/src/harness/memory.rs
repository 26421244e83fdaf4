// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Images on a device.

use opweave_device::{Buffer, Device};
use opweave_registry::{Region, Regions, Workspace};

use super::CaseError;
use crate::host::{ALIGNMENT, HostTensor};

/// The memory of one tensor on a device, as large as its image.
pub(super) fn allocate(device: &dyn Device, tensor: &HostTensor) -> Result<Box<dyn Buffer>, CaseError> {
    Ok(device.allocate(tensor.image().len(), ALIGNMENT)?)
}

/// Copies the image to the device: elements and guard bands.
pub(super) fn upload(tensor: &HostTensor, buffer: &mut dyn Buffer) -> Result<(), CaseError> {
    for (from, to) in tensor.ranges() {
        buffer.write(from, &tensor.image()[from..to])?;
    }
    Ok(())
}

/// The same bytes in memory of their own.
pub(super) fn copy(device: &dyn Device, source: Option<&dyn Buffer>) -> Result<Option<Box<dyn Buffer>>, CaseError> {
    let Some(source) = source else { return Ok(None) };
    let mut buffer = device.allocate(source.bytes(), ALIGNMENT)?;
    buffer.copy_from(source)?;
    Ok(Some(buffer))
}

/// Copies the image of a tensor laid out as `like` from the device.
pub(super) fn download(like: &HostTensor, buffer: &dyn Buffer) -> Result<HostTensor, CaseError> {
    let mut tensor = HostTensor::blank(like)?;
    for (from, to) in like.ranges() {
        buffer.read(from, &mut tensor.image_mut()[from..to])?;
    }
    Ok(tensor)
}

/// Workspace that a harness owns. A region of no bytes has no memory: most plans want none, and an allocation takes a driver
/// longer than a small call.
pub(super) struct Lent {
    scratch: Option<Box<dyn Buffer>>,
    zeroed: Option<Box<dyn Buffer>>,
    regions: Regions,
}

impl Lent {
    pub(super) fn new(device: &dyn Device, regions: Regions) -> Result<Lent, CaseError> {
        let block = |region: Region| (region.bytes > 0).then(|| device.allocate(region.bytes, region.align.max(1)));
        let (scratch, mut zeroed) = (block(regions.scratch).transpose()?, block(regions.zeroed).transpose()?);
        if let Some(zeroed) = &mut zeroed {
            zeroed.write(0, &vec![0; regions.zeroed.bytes])?;
        }
        Ok(Lent { scratch, zeroed, regions })
    }

    pub(super) fn workspace(&self) -> Workspace {
        let address =
            |block: &Option<Box<dyn Buffer>>| block.as_ref().map_or(std::ptr::null_mut(), |block| block.data());
        Workspace {
            scratch: (address(&self.scratch), self.regions.scratch.bytes),
            zeroed: (address(&self.zeroed), self.regions.zeroed.bytes),
        }
    }

    /// Fills scratch with a pattern: a plan must not count on what is in it.
    pub(super) fn soil(&mut self) -> Result<(), CaseError> {
        if let Some(scratch) = &mut self.scratch {
            scratch.write(0, &vec![0xa5; self.regions.scratch.bytes])?;
        }
        Ok(())
    }

    /// Whether the zeroed region is zero again.
    pub(super) fn is_clean(&self) -> Result<bool, CaseError> {
        let mut bytes = vec![0; self.regions.zeroed.bytes];
        if let Some(zeroed) = &self.zeroed {
            zeroed.read(0, &mut bytes)?;
        }
        Ok(bytes.iter().all(|&b| b == 0))
    }
}
