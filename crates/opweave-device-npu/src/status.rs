// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Statuses of CANN's functions.

use std::ffi::c_int;

/// `aclError` and `aclnnStatus`.
pub type Status = c_int;

pub(crate) const SUCCESS: Status = 0;
/// `ACL_ERROR_REPEAT_INITIALIZE`: somebody else of this process has initialised the library.
pub(crate) const REPEAT_INITIALIZE: Status = 100_002;
/// `ACL_ERROR_RT_CONTEXT_NULL`: no context is current on the thread.
pub(crate) const CONTEXT_NULL: Status = 107_002;
/// `ACL_ERROR_RT_NO_DEVICE`.
pub(crate) const NO_DEVICE: Status = 207_004;

/// What kind of error a status is: the vendor numbers them by classes, and the class says whether a retry can help.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ErrorClass {
    /// A wrong argument or order of calls: `1xxxxx`, and `161xxx` of operators.
    Usage,
    /// Memory, streams, events or permissions that cannot be had: `2xxxxx`.
    Resource,
    /// A limit of the vendor's service: `3xxxxx`, and `361xxx`, a runtime call inside an operator.
    Service,
    /// The device or the library itself: `5xxxxx`, and `561xxx` of operators.
    Internal,
    /// None of the documented ranges.
    Unknown,
}

impl ErrorClass {
    /// The class of a status.
    pub const fn of(status: Status) -> Self {
        match status {
            100_000..200_000 => ErrorClass::Usage,
            200_000..300_000 => ErrorClass::Resource,
            300_000..400_000 => ErrorClass::Service,
            500_000..600_000 => ErrorClass::Internal,
            _ => ErrorClass::Unknown,
        }
    }

    /// The class in words.
    pub const fn words(self) -> &'static str {
        match self {
            ErrorClass::Usage => "usage error",
            ErrorClass::Resource => "resource error",
            ErrorClass::Service => "service error",
            ErrorClass::Internal => "internal error",
            ErrorClass::Unknown => "unknown status",
        }
    }
}

/// Statuses that have a name worth printing; the vendor has no function for it.
const NAMES: &[(Status, &str)] = &[
    (100_000, "ACL_ERROR_INVALID_PARAM"),
    (100_001, "ACL_ERROR_UNINITIALIZE"),
    (100_003, "ACL_ERROR_INVALID_FILE"),
    (100_024, "ACL_ERROR_OP_NOT_FOUND"),
    (107_000, "ACL_ERROR_RT_PARAM_INVALID"),
    (107_001, "ACL_ERROR_RT_INVALID_DEVICEID"),
    (CONTEXT_NULL, "ACL_ERROR_RT_CONTEXT_NULL"),
    (107_003, "ACL_ERROR_RT_STREAM_CONTEXT"),
    (107_017, "ACL_ERROR_RT_INVALID_HANDLE"),
    (107_027, "ACL_ERROR_RT_STREAM_CAPTURED"),
    (107_029, "ACL_ERROR_RT_STREAM_NOT_CAPTURED"),
    (107_030, "ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT"),
    (161_001, "ACLNN_ERR_PARAM_NULLPTR"),
    (161_002, "ACLNN_ERR_PARAM_INVALID"),
    (200_000, "ACL_ERROR_BAD_ALLOC"),
    (200_001, "ACL_ERROR_API_NOT_SUPPORT"),
    (207_000, "ACL_ERROR_RT_FEATURE_NOT_SUPPORT"),
    (207_001, "ACL_ERROR_RT_MEMORY_ALLOCATION"),
    (NO_DEVICE, "ACL_ERROR_RT_NO_DEVICE"),
    (207_018, "ACL_ERROR_RT_DEVICE_OOM"),
    (361_001, "ACLNN_ERR_RUNTIME_ERROR"),
    (500_000, "ACL_ERROR_INTERNAL_ERROR"),
    (507_000, "ACL_ERROR_RT_INTERNAL_ERROR"),
    (507_011, "ACL_ERROR_RT_MODEL_EXECUTE"),
    (507_015, "ACL_ERROR_RT_AICORE_EXCEPTION"),
    (507_035, "ACL_ERROR_RT_VECTOR_CORE_EXCEPTION"),
    (507_046, "ACL_ERROR_RT_STREAM_SYNC_TIMEOUT"),
    (507_903, "ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED"),
    (561_000, "ACLNN_ERR_INNER"),
    (561_103, "ACLNN_ERR_INNER_NULLPTR"),
];

/// The status with its name and class, without what the library has to say of it.
pub(crate) fn named(status: Status) -> String {
    let class = ErrorClass::of(status).words();
    match NAMES.iter().find(|(code, _)| *code == status) {
        Some((_, name)) => format!("{name}, {class}"),
        None => class.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_a_class_and_known_ones_a_name() {
        let cases = [
            (107_000, "ACL_ERROR_RT_PARAM_INVALID, usage error"),
            (161_002, "ACLNN_ERR_PARAM_INVALID, usage error"),
            (207_001, "ACL_ERROR_RT_MEMORY_ALLOCATION, resource error"),
            (300_000, "service error"),
            (507_015, "ACL_ERROR_RT_AICORE_EXCEPTION, internal error"),
            (-1, "unknown status"),
            (SUCCESS, "unknown status"),
        ];
        for (status, text) in cases {
            assert_eq!(named(status), text, "{status}");
        }
        assert!(NAMES.windows(2).all(|pair| pair[0].0 < pair[1].0), "sorted, so that none is named twice");
    }
}
