// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Host memory with an alignment.

use std::alloc::{Layout, alloc, dealloc};
use std::any::Any;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};
use std::thread::available_parallelism;

use opweave_tensor::{DType, DeviceId, Element};

use crate::buffer::{check_range, through_the_host};
use crate::{Buffer, DeviceError};

/// The size of a huge page where there are any; blocks from this size on are aligned to it.
const HUGE_PAGE: usize = 2 << 20;
/// Blocks from this size on are zeroed by several threads, and by at most so many.
const SHARED: usize = 2 * HUGE_PAGE;
const MOST_THREADS: usize = 8;

/// A zeroed block of host memory. Large blocks lie in huge pages where the system has them to give, which kernels that stream
/// are faster on (docs/performance/normalization.md).
#[derive(Debug)]
pub struct HostBuffer {
    data: NonNull<u8>,
    layout: Layout,
    bytes: usize,
}

// SAFETY: the block is owned and freed once; access goes through `&self` / `&mut self` or through raw pointers whose users
// answer for races themselves.
unsafe impl Send for HostBuffer {}
// SAFETY: as for Send: `&self` reads.
unsafe impl Sync for HostBuffer {}

impl HostBuffer {
    /// `bytes` zeroed bytes aligned to `align`, in the name of `device`.
    ///
    /// # Errors
    /// [`DeviceError::Allocation`] for an alignment that is no power of two, or when memory is out.
    pub fn new(device: DeviceId, bytes: usize, align: usize) -> Result<Self, DeviceError> {
        let fail = |reason: &str| DeviceError::Allocation { device, bytes, align, reason: reason.to_owned() };
        // A block of no bytes still gets an address of its own.
        let aligned = |align| {
            Layout::from_size_align(bytes.max(1), align)
                .map_err(|_| fail("the alignment is no power of two or the size overflows"))
        };
        let mut layout = aligned(align)?;
        if bytes >= HUGE_PAGE {
            layout = aligned(align.max(HUGE_PAGE))?;
        }
        // SAFETY: the layout's size is not zero.
        let data = NonNull::new(unsafe { alloc(layout) }).ok_or_else(|| fail("out of memory"))?;
        if bytes >= HUGE_PAGE {
            ask_for_huge_pages(data, bytes);
        }
        // SAFETY: the block has this many bytes.
        zero(unsafe { std::slice::from_raw_parts_mut(data.as_ptr().cast(), layout.size()) });
        Ok(HostBuffer { data, layout, bytes })
    }

    /// The block as elements; none for a type that not every byte pattern is a value of, or that wants another alignment. What is
    /// left over at the end is no element.
    pub fn elements<T: Element>(&self) -> Option<&[T]> {
        let count = self.count_of::<T>()?;
        // SAFETY: so many elements lie in the block, which is aligned and initialised; whoever writes through `data` meanwhile
        // answers for it.
        Some(unsafe { std::slice::from_raw_parts(self.data.as_ptr().cast(), count) })
    }

    /// As [`HostBuffer::elements`], to write.
    pub fn elements_mut<T: Element>(&mut self) -> Option<&mut [T]> {
        let count = self.count_of::<T>()?;
        // SAFETY: as in `elements`, and the borrow is exclusive.
        Some(unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr().cast(), count) })
    }

    fn count_of<T: Element>(&self) -> Option<usize> {
        let legal = T::DTYPE != DType::Bool && self.layout.align() >= align_of::<T>();
        legal.then_some(self.bytes / size_of::<T>())
    }
}

/// Asks the system to back the block at `data`, which starts a huge page and was not touched yet, with huge pages.
fn ask_for_huge_pages(data: NonNull<u8>, bytes: usize) {
    #[cfg(target_os = "linux")]
    // SAFETY: the range is part of one allocation of ours; the advice changes no byte of it. A refusal leaves small pages.
    unsafe {
        libc::madvise(data.as_ptr().cast(), bytes / HUGE_PAGE * HUGE_PAGE, libc::MADV_HUGEPAGE);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (data, bytes);
}

/// Zeroes a block, a large one by several threads: the system clears each page as it is touched, in a virtual machine after
/// the host has found it one, and one thread waits for that at a small part of the rate of memory. Whoever is ready takes the
/// next page, as those that were in use a moment ago cost a part of what others do.
fn zero(block: &mut [MaybeUninit<u8>]) {
    let threads = match block.len() {
        ..SHARED => 1,
        _ => available_parallelism().map_or(1, usize::from).min(MOST_THREADS),
    };
    let pages = Mutex::new(block.chunks_mut(HUGE_PAGE));
    let next = || pages.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some(page) = next() {
            // SAFETY: the bytes are borrowed exclusively, and any byte is a value of theirs.
            unsafe { page.as_mut_ptr().write_bytes(0, page.len()) }
        }
    };
    std::thread::scope(|scope| {
        (1..threads).for_each(|_| drop(scope.spawn(work)));
        work();
    });
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout, freed here only.
        unsafe { dealloc(self.data.as_ptr(), self.layout) }
    }
}

impl Buffer for HostBuffer {
    fn data(&self) -> *mut u8 {
        self.data.as_ptr()
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn write(&mut self, offset: usize, source: &[u8]) -> Result<(), DeviceError> {
        check_range(offset, source.len(), self.bytes)?;
        // SAFETY: the range was checked, and `source` cannot overlap memory that `&mut self` owns.
        unsafe { self.data.as_ptr().add(offset).copy_from_nonoverlapping(source.as_ptr(), source.len()) }
        Ok(())
    }

    fn read(&self, offset: usize, target: &mut [u8]) -> Result<(), DeviceError> {
        check_range(offset, target.len(), self.bytes)?;
        // SAFETY: the range was checked, and `target` is borrowed mutably, so it is other memory.
        unsafe { self.data.as_ptr().add(offset).copy_to_nonoverlapping(target.as_mut_ptr(), target.len()) }
        Ok(())
    }

    fn copy_from(&mut self, source: &dyn Buffer) -> Result<(), DeviceError> {
        let any: &dyn Any = source;
        match any.downcast_ref::<HostBuffer>() {
            // SAFETY: the buffer is all initialised bytes of an allocation that `source` owns while it is borrowed.
            Some(host) => self.write(0, unsafe { std::slice::from_raw_parts(host.data.as_ptr(), host.bytes) }),
            None => through_the_host(self, source),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_seen_as_elements_of_types_that_fit_it() {
        let mut buffer = HostBuffer::new(DeviceId::CPU, 11, 4).expect("there is memory");
        buffer.elements_mut::<f32>().expect("aligned")[1] = 1.5;
        assert_eq!(buffer.elements::<f32>(), Some(&[0.0, 1.5][..]));
        assert_eq!(buffer.elements::<u8>().map(|bytes| (bytes.len(), bytes[7])), Some((11, 0x3f)));
        assert!(buffer.elements::<bool>().is_none());
        let bytes = HostBuffer::new(DeviceId::CPU, 16, 1).expect("there is memory");
        assert!(bytes.elements::<u64>().is_none());
    }

    #[test]
    fn every_byte_of_a_block_is_zero_however_many_threads_it_takes() {
        // Dirty memory of these sizes is what the next block of the size may get.
        for bytes in [SHARED - 1, SHARED, SHARED + 1, 3 * SHARED + HUGE_PAGE + 5] {
            for _ in 0..2 {
                let mut buffer = HostBuffer::new(DeviceId::CPU, bytes, 64).expect("there is memory");
                let block = buffer.elements_mut::<u8>().expect("aligned");
                assert!(block.iter().all(|&byte| byte == 0), "{bytes}");
                block.fill(0xa5);
            }
        }
        // Memory that was written before, for certain.
        let mut block = vec![MaybeUninit::new(7); 2 * SHARED + 3];
        zero(&mut block);
        // SAFETY: all bytes were given a value.
        assert!(block.iter().all(|byte| unsafe { byte.assume_init() } == 0));
    }

    #[test]
    fn a_copy_is_of_all_bytes_by_either_way_and_refuses_what_is_larger() {
        /// Memory that knows no other, as another device's would.
        struct Far(HostBuffer);
        impl Buffer for Far {
            fn data(&self) -> *mut u8 {
                self.0.data()
            }
            fn bytes(&self) -> usize {
                self.0.bytes()
            }
            fn write(&mut self, offset: usize, source: &[u8]) -> Result<(), DeviceError> {
                self.0.write(offset, source)
            }
            fn read(&self, offset: usize, target: &mut [u8]) -> Result<(), DeviceError> {
                self.0.read(offset, target)
            }
        }
        // More than a part of a copy by way of the host, and no multiple of it.
        let bytes = (1 << 20) + 3;
        let host = |bytes| HostBuffer::new(DeviceId::CPU, bytes, 64).expect("there is memory");
        let mut source = host(bytes);
        for (at, byte) in source.elements_mut::<u8>().expect("aligned").iter_mut().enumerate() {
            *byte = (at % 251) as u8;
        }
        let (mut near, mut far, mut back) = (host(bytes + 1), Far(host(bytes)), host(bytes));
        near.copy_from(&source).expect("it is smaller");
        far.copy_from(&source).expect("it is as large");
        back.copy_from(&far).expect("it is as large");
        let seen = |buffer: &HostBuffer| buffer.elements::<u8>().map(|all| all[..bytes].to_vec());
        assert_eq!((seen(&near), seen(&back)), (seen(&source), seen(&source)));
        let mut small = host(bytes - 1);
        assert!(matches!(small.copy_from(&source), Err(DeviceError::OutOfBounds { .. })));
        assert!(matches!(small.copy_from(&far), Err(DeviceError::OutOfBounds { .. })));
        assert_eq!(small.elements::<u8>().map(|all| all.iter().all(|&byte| byte == 0)), Some(true));
    }
}
