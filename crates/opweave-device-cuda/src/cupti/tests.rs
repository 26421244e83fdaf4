// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A CUPTI that this test compiles: it hands over records that the test wrote, and refuses what it is told to.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use opweave_device::{Activity, KernelSpan};
use opweave_tensor::DeviceId;

use super::*;

/// The library has one set of records in a process, and so have these tests.
static ALONE: Mutex<()> = Mutex::new(());

const DEVICE: DeviceId = DeviceId::new(opweave_tensor::DeviceKind::Cuda, 1);

const DOUBLE: &str = r#"
#include <stddef.h>
#include <stdint.h>
#include <string.h>
typedef struct { uint32_t kind; char a[12]; uint64_t start, end, c; uint32_t device; char rest[172]; } Record;
static void (*requested)(uint8_t**, size_t*, size_t*);
static void (*completed)(void*, uint32_t, uint8_t*, size_t, size_t);
static Record kept[5000];
static size_t count, dropped, bad_end;
static int enabled, refuse;
void double_add(uint32_t kind, uint64_t start, uint64_t end, uint32_t device) {
  if (!enabled) return;
  Record r = {kind, {0}, start, end, 0, device, {0}};
  kept[count++] = r;
}
void double_drop(size_t n) { dropped = n; }
void double_end_badly(void) { bad_end = 1; }
void double_refuse(int status) { refuse = status; }
int double_enabled(void) { return enabled; }
int cuptiActivityRegisterCallbacks(void* r, void* c) { requested = r; completed = c; return 0; }
int cuptiActivityEnable(uint32_t kind) { if (refuse) return refuse; enabled = kind == 10; return 0; }
int cuptiActivityDisable(uint32_t kind) { enabled = 0; return 0; }
int cuptiActivityFlushAll(uint32_t flag) {
  if (flag != 1) return 1;
  for (size_t at = 0; at < count || dropped;) {
    uint8_t* buffer; size_t size, most;
    requested(&buffer, &size, &most);
    size_t fit = size / sizeof(Record), n = count - at < fit ? count - at : fit;
    memcpy(buffer, kept + at, n * sizeof(Record));
    at += n;
    completed(NULL, 0, buffer, size, n * sizeof(Record));
  }
  count = 0;
  return 0;
}
int cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, void** record) {
  uint8_t* next = *record ? (uint8_t*)*record + sizeof(Record) : buffer;
  if (next >= buffer + valid) { size_t bad = bad_end; bad_end = 0; return bad ? 1 : 12; }
  *record = next;
  return 0;
}
int cuptiActivityGetNumDroppedRecords(void* c, uint32_t s, size_t* n) { *n = dropped; dropped = 0; return 0; }
int cuptiGetResultString(int status, const char** text) { *text = "CUPTI_ERROR_DOUBLE"; return status == 999; }
"#;

fn compiled(directory: &Path, source: &str) -> PathBuf {
    let (c, library) = (directory.join("cupti.c"), directory.join("libcupti.so.13"));
    std::fs::write(&c, source).expect("the test's directory can be written");
    let compiler = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&c).status();
    assert!(compiler.expect("a C compiler, which linking Rust takes as well").success());
    library
}

/// The double, which stays loaded as the library would.
fn double() -> (&'static Cupti, &'static libloading::Library) {
    let directory = tempfile::tempdir().expect("there is a place for temporary files");
    let file = compiled(directory.path(), DOUBLE);
    let cupti = Box::leak(Box::new(Cupti::open(&file).expect("the double has every symbol")));
    // SAFETY: the double has no initialisers.
    let library = unsafe { libloading::Library::new(&file) }.expect("it was just loaded");
    (cupti, Box::leak(Box::new(library)))
}

fn add(library: &libloading::Library, kind: u32, start: u64, end: u64, device: u32) {
    // SAFETY: the function of the double above.
    let add = unsafe { library.get::<unsafe extern "C" fn(u32, u64, u64, u32)>(b"double_add\0") }.expect("it is there");
    // SAFETY: plain numbers.
    unsafe { add(kind, start, end, device) };
}

fn tell<T>(library: &libloading::Library, name: &str, value: T) {
    let symbol = format!("{name}\0");
    // SAFETY: a function of the double above that takes one number.
    let tell = unsafe { library.get::<unsafe extern "C" fn(T)>(symbol.as_bytes()) }.expect("it is there");
    // SAFETY: a plain number.
    unsafe { tell(value) };
}

#[test]
fn kernels_of_this_device_are_taken_once_and_in_order() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (cupti, library) = double();
    add(library, 10, 1, 2, 1); // before anybody asked for records
    let activity = CudaActivity::with(cupti, DEVICE).unwrap();
    assert_eq!(activity.take().unwrap(), []);
    add(library, 10, 500, 900, 1);
    add(library, 1, 100, 700, 1); // a copy
    add(library, 3, 100, 300, 1);
    add(library, 10, 50, 60, 0); // another device
    let span = |start_ns, end_ns| KernelSpan { start_ns, end_ns };
    assert_eq!(activity.take().unwrap(), [span(100, 300), span(500, 900)]);
    assert_eq!(activity.take().unwrap(), []);
    // More than a buffer holds.
    (0..4900).for_each(|i| add(library, 10, 1000 + i, 1001 + i, 1));
    assert_eq!(activity.take().unwrap().len(), 4900);
    drop(activity);
    add(library, 10, 5, 6, 1);
    assert_eq!(CudaActivity::with(cupti, DEVICE).unwrap().take().unwrap(), []);
}

#[test]
fn records_that_are_missing_or_have_no_times_are_an_error() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (cupti, library) = double();
    let activity = CudaActivity::with(cupti, DEVICE).unwrap();
    let said = || activity.take().unwrap_err().to_string();
    add(library, 10, 0, 0, 1);
    assert!(said().contains("0 were dropped and 1 have no times"));
    add(library, 10, 9, 8, 1);
    assert!(said().contains("1 have no times"));
    tell(library, "double_drop", 7_usize);
    assert!(said().contains("7 were dropped"));
    add(library, 10, 1, 2, 1);
    tell(library, "double_end_badly", 0_u32);
    assert!(said().contains("1 were dropped"));
    assert_eq!(activity.take().unwrap(), [], "an error is told once");
}

#[test]
fn records_are_taken_once_in_a_process_and_a_refusal_leaves_nothing_taken() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (cupti, library) = double();
    let first = CudaActivity::with(cupti, DEVICE).unwrap();
    let error = CudaActivity::with(cupti, DEVICE).unwrap_err();
    assert!(error.to_string().contains("are being taken already"), "{error}");
    drop(first);
    tell(library, "double_refuse", 15_i32);
    match CudaActivity::with(cupti, DEVICE).unwrap_err() {
        DeviceError::Driver { code: 15, message, .. } => assert_eq!(message, "CUPTI: CUPTI_ERROR_DOUBLE"),
        other => panic!("{other}"),
    }
    tell(library, "double_refuse", 999_i32);
    let error = CudaActivity::with(cupti, DEVICE).unwrap_err();
    assert!(error.to_string().contains("does not explain"), "{error}");
    tell(library, "double_refuse", 0_i32);
    assert!(CudaActivity::with(cupti, DEVICE).is_ok());
}

#[test]
fn a_library_that_is_missing_or_too_old_is_named() {
    let directory = tempfile::tempdir().expect("there is a place for temporary files");
    let absent = Cupti::open(directory.path().join("libcupti.so.13")).map(|_| ()).unwrap_err();
    assert!(
        matches!(missing(absent), DeviceError::MissingLibrary { library, .. } if library.ends_with("libcupti.so.13"))
    );
    for symbol in Cupti::SYMBOLS {
        let old = compiled(directory.path(), &DOUBLE.replace(symbol, "other"));
        let error = missing(Cupti::open(&old).map(|_| ()).unwrap_err());
        assert!(matches!(&error, DeviceError::MissingSymbol { symbol: named, .. } if named == symbol), "{error}");
    }
    std::fs::write(directory.path().join("text"), "no library").unwrap();
    let broken = Cupti::open(directory.path().join("text")).map(|_| ()).unwrap_err();
    assert!(matches!(broken, LoadError::Broken { .. }) && broken.to_string().contains("does not load"));
}
