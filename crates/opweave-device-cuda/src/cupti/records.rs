// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Taking the records of a device's kernels.

use std::alloc::{Layout, alloc, dealloc};
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use opweave_device::{Activity, DeviceError, KernelSpan};
use opweave_tensor::DeviceId;

use super::{Cupti, SUCCESS};
use crate::driver::Opaque;

/// `CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL`: kernels as they run, not one after the other.
const CONCURRENT_KERNEL: u32 = 10;
/// `CUPTI_ACTIVITY_KIND_KERNEL`, which some versions still write.
const KERNEL: u32 = 3;
/// `CUPTI_ACTIVITY_FLAG_FLUSH_FORCED`: buffers that are not full are handed over too.
const FORCED: u32 = 1;
/// `CUPTI_ERROR_MAX_LIMIT_REACHED`: the buffer has no further record.
const NO_MORE: c_int = 12;

/// Where a kernel's record has its fields, in bytes: kind, begin, end, device.
const KIND: usize = 0;
const START: usize = 16;
const END: usize = 24;
const DEVICE: usize = 40;

/// A buffer: some thousand records, aligned as the library asks for.
const BUFFER: Layout = match Layout::from_size_align(1 << 20, 8) {
    Ok(layout) => layout,
    Err(_) => unreachable!(),
};

/// What the library has handed over. It calls plain functions, so there is one of this in the process.
struct Collected {
    /// The library that records are being taken from.
    cupti: Option<&'static Cupti>,
    spans: Vec<(u32, KernelSpan)>,
    dropped: usize,
    /// Records without times.
    untimed: usize,
}

static COLLECTED: Mutex<Collected> = Mutex::new(Collected { cupti: None, spans: Vec::new(), dropped: 0, untimed: 0 });

fn collected() -> MutexGuard<'static, Collected> {
    COLLECTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The records of one device's kernels, kept while this lives. One in a process: the library has one set of them.
#[derive(Debug)]
pub struct CudaActivity {
    cupti: &'static Cupti,
    device: DeviceId,
}

impl CudaActivity {
    /// Has the records kept from now on.
    ///
    /// # Errors
    /// [`DeviceError`]: no CUPTI, records that are being taken already, or what the library says.
    pub fn start(device: DeviceId) -> Result<Self, DeviceError> {
        CudaActivity::with(Cupti::library()?, device)
    }

    pub(super) fn with(cupti: &'static Cupti, device: DeviceId) -> Result<Self, DeviceError> {
        {
            let mut collected = collected();
            if collected.cupti.is_some() {
                let what = "activity records are being taken already, once in a process is the most".to_owned();
                return Err(DeviceError::State { device, what });
            }
            *collected = Collected { cupti: Some(cupti), spans: Vec::new(), dropped: 0, untimed: 0 };
        }
        // From here on dropping it undoes what was done. The library calls back, so the lock is free by now.
        let activity = CudaActivity { cupti, device };
        // SAFETY: both functions stay, and may be called from any thread.
        activity.check(unsafe { (cupti.register_callbacks)(requested, completed) })?;
        // SAFETY: a kind of the library's.
        activity.check(unsafe { (cupti.enable)(CONCURRENT_KERNEL) })?;
        Ok(activity)
    }

    fn check(&self, status: c_int) -> Result<(), DeviceError> {
        self.cupti.check(self.device, status)
    }
}

impl Activity for CudaActivity {
    fn take(&self) -> Result<Vec<KernelSpan>, DeviceError> {
        // SAFETY: a flag of the library's; it calls `completed` before it returns.
        self.check(unsafe { (self.cupti.flush)(FORCED) })?;
        let mut collected = collected();
        let (dropped, untimed) = (std::mem::take(&mut collected.dropped), std::mem::take(&mut collected.untimed));
        let all = std::mem::take(&mut collected.spans);
        drop(collected);
        if dropped + untimed > 0 {
            let what = format!("of the kernels' records {dropped} were dropped and {untimed} have no times");
            return Err(DeviceError::State { device: self.device, what });
        }
        let ours = all.into_iter().filter(|(device, _)| *device == u32::from(self.device.index));
        let mut spans: Vec<KernelSpan> = ours.map(|(_, span)| span).collect();
        spans.sort_by_key(|span| span.start_ns);
        Ok(spans)
    }
}

impl Drop for CudaActivity {
    fn drop(&mut self) {
        // SAFETY: a kind and a flag of the library's. What it refuses now, nobody waits for.
        unsafe { (self.cupti.disable)(CONCURRENT_KERNEL) };
        // SAFETY: as above.
        unsafe { (self.cupti.flush)(FORCED) };
        *collected() = Collected { cupti: None, spans: Vec::new(), dropped: 0, untimed: 0 };
    }
}

/// Gives the library a buffer for records.
///
/// # Safety
/// - Called by the library, with three places to write to.
unsafe extern "C" fn requested(buffer: *mut *mut u8, size: *mut usize, records: *mut usize) {
    // SAFETY: the layout is not of size 0.
    let memory = unsafe { alloc(BUFFER) };
    // SAFETY: the library passes places to write to. A null buffer is one that it drops records for, and says so.
    unsafe { *buffer = memory };
    // SAFETY: as above.
    unsafe { *size = if memory.is_null() { 0 } else { BUFFER.size() } };
    // SAFETY: as above.
    unsafe { *records = 0 };
}

/// Takes a buffer back and what it holds.
///
/// # Safety
/// - Called by the library, with a buffer that [`requested`] gave it and that it no longer uses.
unsafe extern "C" fn completed(context: Opaque, stream: u32, buffer: *mut u8, _: usize, valid: usize) {
    let mut collected = collected();
    let Some(cupti) = collected.cupti else {
        if !buffer.is_null() {
            // SAFETY: it came from `requested`, which made it so.
            unsafe { dealloc(buffer, BUFFER) };
        }
        return;
    };
    if !buffer.is_null() && valid > 0 {
        read(cupti, buffer, valid, &mut collected);
    }
    let mut dropped = 0;
    // SAFETY: writes one number.
    if unsafe { (cupti.dropped_records)(context, stream, &raw mut dropped) } == SUCCESS {
        collected.dropped += dropped;
    }
    if !buffer.is_null() {
        // SAFETY: it came from `requested`, which made it so, and the library is done with it.
        unsafe { dealloc(buffer, BUFFER) };
    }
}

/// Goes through the records of a buffer, of which the first `valid` bytes are written.
fn read(cupti: &Cupti, buffer: *mut u8, valid: usize, collected: &mut Collected) {
    let mut record: *mut c_void = std::ptr::null_mut();
    loop {
        // SAFETY: a buffer that the library filled, and null or the record before.
        let status = unsafe { (cupti.next_record)(buffer, valid, &raw mut record) };
        if status != SUCCESS || record.is_null() {
            // A buffer that ends in any other way than at its end has lost what follows.
            collected.dropped += usize::from(status != NO_MORE);
            return;
        }
        let record = record.cast::<u8>();
        // SAFETY: every record begins with its kind.
        let kind = unsafe { record.add(KIND).cast::<u32>().read_unaligned() };
        if kind != CONCURRENT_KERNEL && kind != KERNEL {
            continue;
        }
        // SAFETY: a kernel's record has these fields at these places.
        let [start_ns, end_ns] = [START, END].map(|place| unsafe { record.add(place).cast::<u64>().read_unaligned() });
        // SAFETY: as above.
        let device = unsafe { record.add(DEVICE).cast::<u32>().read_unaligned() };
        if start_ns == 0 || end_ns < start_ns {
            collected.untimed += 1;
        } else {
            collected.spans.push((device, KernelSpan { start_ns, end_ns }));
        }
    }
}
