// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What goes wrong, one thing at a time: each gives an error that says what it was, and leaves nothing behind.

use std::collections::BTreeMap;

use opweave_device_npu::ErrorClass;

use crate::shared::{copied, double, without};
use crate::stage::meet;

#[test]
fn a_whole_life_gives_right_numbers_and_leaves_nothing() {
    let met = meet(double(), &[]);
    assert_eq!(met.said, "done");
    met.is_clean("nothing injected");
}

/// A function of the double's, the status that it fails with, and what the error must say besides the status.
const FAILURES: &[(&str, i32, &[&str])] = &[
    ("aclInit", 100_000, &["aclInit", "ACL_ERROR_INVALID_PARAM", "usage"]),
    ("aclInit", 507_008, &["aclInit", "internal"]),
    ("aclsysGetCANNVersion", 100_003, &[]),
    ("aclrtGetDeviceCount", 207_004, &["no device", "ACL_ERROR_RT_NO_DEVICE"]),
    ("aclrtGetDeviceCount", 507_000, &["broken", "ACL_ERROR_RT_INTERNAL_ERROR"]),
    ("aclrtGetSocName", 1, &["aclrtGetSocName"]),
    ("aclrtSetDevice", 107_001, &["ACL_ERROR_RT_INVALID_DEVICEID", "usage"]),
    ("aclrtSetDevice", 507_033, &["internal"]),
    ("aclrtGetCurrentContext", 107_000, &["aclrtGetCurrentContext"]),
    ("aclrtMalloc:1", 207_001, &["cannot allocate", "ACL_ERROR_RT_MEMORY_ALLOCATION", "resource"]),
    ("aclrtMalloc:4", 200_000, &["cannot allocate", "ACL_ERROR_BAD_ALLOC"]),
    ("aclrtMemset:2", 507_053, &["internal"]),
    ("aclrtMemcpy:1", 107_000, &["usage"]),
    ("aclrtMemcpy:3", 507_052, &["internal"]),
    ("aclrtCreateStreamWithConfig", 207_008, &["resource"]),
    ("aclrtSynchronizeStream:1", 507_035, &["ACL_ERROR_RT_VECTOR_CORE_EXCEPTION"]),
    ("aclrtSynchronizeStream:2", 507_046, &["ACL_ERROR_RT_STREAM_SYNC_TIMEOUT"]),
    ("aclrtSynchronizeDevice:3", 507_010, &["internal"]),
    ("aclrtCreateEventWithFlag:1", 207_007, &["resource"]),
    ("aclrtCreateEventWithFlag:2", 207_007, &["resource"]),
    ("aclrtRecordEvent:1", 107_003, &["usage"]),
    ("aclrtSynchronizeEvent", 507_047, &["internal"]),
    ("aclrtEventElapsedTime", 107_006, &["usage"]),
    ("aclmdlRICaptureBegin", 107_030, &["ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT"]),
    ("aclmdlRICaptureBegin", 207_000, &["ACL_ERROR_RT_FEATURE_NOT_SUPPORT"]),
    ("aclmdlRICaptureEnd", 507_903, &["ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED"]),
    ("aclmdlRIExecuteAsync:1", 507_011, &["ACL_ERROR_RT_MODEL_EXECUTE"]),
    ("aclmdlRIExecuteAsync:2", 300_000, &["service"]),
    ("aclCreateTensor:1", 1, &["aclCreateTensor"]),
    ("aclCreateTensor:4", 1, &["aclCreateTensor"]),
    ("aclnnRmsNormGetWorkspaceSize:1", 161_002, &["aclnnRmsNormGetWorkspaceSize", "ACLNN_ERR_PARAM_INVALID"]),
    ("aclnnRmsNormGetWorkspaceSize:2", 561_000, &["aclnnRmsNormGetWorkspaceSize", "ACLNN_ERR_INNER"]),
    ("aclnnInplaceCopyGetWorkspaceSize:1", 161_001, &["aclnnInplaceCopyGetWorkspaceSize", "ACLNN_ERR_PARAM_NULLPTR"]),
    ("aclnnRmsNorm:1", 361_001, &["aclnnRmsNorm", "ACLNN_ERR_RUNTIME_ERROR", "service"]),
    ("aclnnRmsNorm:3", 561_103, &["aclnnRmsNorm", "ACLNN_ERR_INNER_NULLPTR"]),
    ("aclnnRmsNorm:4", 507_015, &["aclnnRmsNorm", "ACL_ERROR_RT_AICORE_EXCEPTION"]),
    ("aclnnInplaceCopy:1", 507_899, &["aclnnInplaceCopy", "internal"]),
    ("aclSetTensorAddr:1", 161_002, &["ACLNN_ERR_PARAM_INVALID"]),
    ("aclSetTensorAddr:6", -7, &["unknown status"]),
];

#[test]
fn every_injected_status_is_an_error_that_says_so_and_leaks_nothing() {
    for (function, status, says) in FAILURES {
        let met = meet(double(), &[("OPWEAVE_DOUBLE_FAIL", &format!("{function}={status}"))]);
        let what = format!("{function} = {status}");
        if *function == "aclsysGetCANNVersion" {
            // Newer toolkits have another function, which is asked then.
            assert_eq!(met.said, "done", "{what}");
        } else {
            assert_ne!(met.said, "done", "{what}: nothing was noticed");
            let code = !function.starts_with("aclCreateTensor") && *function != "aclrtGetSocName";
            assert!(!code || met.said.contains(&status.to_string()), "{what}: {}", met.said);
        }
        for word in *says {
            assert!(met.said.contains(word), "{what}: `{word}` is not in: {}", met.said);
        }
        met.is_clean(&what);
    }
}

/// Each class of status at least twice, the vendor's operators' own among them, and what has no class.
#[test]
fn statuses_of_every_class_are_injected() {
    let mut classes = BTreeMap::<&str, usize>::new();
    for (_, status, _) in FAILURES {
        *classes.entry(ErrorClass::of(*status).words()).or_default() += 1;
    }
    let all = [ErrorClass::Usage, ErrorClass::Resource, ErrorClass::Service, ErrorClass::Internal, ErrorClass::Unknown];
    for class in all {
        assert!(classes.get(class.words()).is_some_and(|&count| count > 1), "{classes:?}");
    }
    for family in [161_000, 361_000, 561_000] {
        assert!(FAILURES.iter().any(|(_, status, _)| (family..family + 1000).contains(status)), "{family}");
    }
}

/// An executor that cannot be kept is no error: every call goes through both phases.
#[test]
fn operators_that_cannot_be_repeated_are_called_in_two_phases() {
    // The second of two calls makes an executor destroyable; the first is what a plan asks.
    let met = meet(double(), &[("OPWEAVE_DOUBLE_FAIL", "aclSetAclOpExecutorRepeatable:1=161002")]);
    assert_eq!(met.said, "done");
    met.is_clean("not repeatable");
}

#[test]
fn each_symbol_that_is_missing_is_named_with_its_library() {
    let cases = [
        ("libopapi.so", "aclnnRmsNorm", "libopapi"),
        ("libopapi.so", "aclnnRmsNormGetWorkspaceSize", "libopapi"),
        ("libopapi.so", "aclnnInplaceCopy", "libopapi"),
        ("libnnopbase.so", "aclCreateTensor", "libnnopbase.so"),
        ("libnnopbase.so", "aclSetAclOpExecutorRepeatable", "libnnopbase.so"),
        ("libascendcl.so", "aclInit", "libascendcl.so"),
        ("libascendcl.so", "aclrtSetDevice", "libascendcl.so"),
        ("libascendcl.so", "aclrtMalloc", "libascendcl.so"),
        ("libascendcl.so", "aclrtGetDeviceCount", "libascendcl.so"),
        ("libascendcl.so", "aclmdlRICaptureBegin", "libascendcl.so"),
        ("libascendcl.so", "aclmdlRIExecuteAsync", "libascendcl.so"),
        ("libascendcl.so", "aclrtCreateEventWithFlag", "libascendcl.so"),
    ];
    for (file, symbol, library) in cases {
        let home = without(file, symbol);
        let met = meet(home.path(), &[]);
        for word in [symbol, library] {
            assert!(met.said.contains(word), "{symbol}: `{word}` is not in: {}", met.said);
        }
        met.is_clean(symbol);
    }
}

#[test]
fn a_version_that_is_too_old_or_unreadable_is_refused() {
    for (version, says) in [("7.3.0", ["7.3.0", "8.0"]), ("unknown", ["unknown", "8.2.RC1"])] {
        let met = meet(double(), &[("OPWEAVE_DOUBLE_VERSION", version)]);
        says.iter().for_each(|word| assert!(met.said.contains(word), "{version}: {}", met.said));
        met.is_clean(version);
    }
}

#[test]
fn missing_and_broken_libraries_are_told_apart() {
    let nowhere = tempfile::tempdir().unwrap();
    let met = meet(nowhere.path(), &[]);
    assert!(met.said.contains("absent") && met.said.contains("libascendcl.so was not found in"), "{}", met.said);

    for (file, says) in [
        ("libascendcl.so", "broken"),
        ("libopapi.so", "libopapi.so does not load"),
        ("libnnopbase.so", "libnnopbase.so does not load"),
    ] {
        let home = copied();
        std::fs::write(home.path().join("lib64").join(file), "no shared object").unwrap();
        let met = meet(home.path(), &[]);
        assert!(met.said.contains(says), "{file}: {}", met.said);
        // Without the runtime there is nobody who counts.
        if file != "libascendcl.so" {
            met.is_clean(file);
        }
    }
    for file in ["libopapi.so", "libnnopbase.so"] {
        let home = copied();
        std::fs::remove_file(home.path().join("lib64").join(file)).unwrap();
        let met = meet(home.path(), &[]);
        assert!(met.said.contains(file), "{file}: {}", met.said);
        assert!(met.said.contains("was not found") || met.said.contains("does not load"), "{file}: {}", met.said);
        met.is_clean(file);
    }
}

#[test]
fn no_device_and_no_memory_are_said_as_such() {
    let met = meet(double(), &[("OPWEAVE_DOUBLE_DEVICES", "0")]);
    assert!(met.said.contains("no device"), "{}", met.said);
    met.is_clean("no device");
    let met = meet(double(), &[("OPWEAVE_DOUBLE_MEMORY", "64")]);
    assert!(met.said.contains("cannot allocate 4096 bytes") && met.said.contains("out of memory"), "{}", met.said);
    met.is_clean("no memory");
}
