// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Every function of the vendor's that a row calls, told to fail: an error that says which and how, and nothing left behind.

use crate::shared::{Met, double, run};

/// An operator, cases of its suite, and the vendor's operators that these call.
const CALLS: &[(&str, &str, &[&str])] = &[
    (
        "embedding",
        "t17_v40_h33_*_i32_shard_outside",
        &[
            "aclnnClamp",
            "aclnnNeTensor",
            "aclnnAdds",
            "aclnnEmbedding",
            "aclnnInplaceMaskedFillScalar",
            "aclnnAny",
            "aclnnArgMax",
            "aclnnEqScalar",
            "aclnnLogicalAnd",
            "aclnnInplaceMaskedFillTensor",
        ],
    ),
    (
        "argmax",
        "t3_v300_f16_index_dtype_i32_nan_first",
        &["aclnnArange", "aclnnNeTensor", "aclnnAmin", "aclnnAmax", "aclnnSWhere", "aclnnEqTensor", "aclnnInplaceCopy"],
    ),
    ("argmax", "t3_v300_f32", &["aclnnInplaceMaskedFillScalar", "aclnnEqScalar", "aclnnCast"]),
    ("embedding", "t3_v40_h8_*_empty_shard", &["aclnnInplaceZero"]),
    ("fused_add_rms_norm", "*f16*", &["aclnnAddRmsNorm", "aclnnInplaceOne"]),
    ("gelu_tanh_and_mul", "t5_h137_*_packed", &["aclnnGeGluV3"]),
    ("layer_norm", "*f16*", &["aclnnLayerNorm"]),
    ("linear", "t5_k107_n45_*_packed", &["aclnnNpuFormatCast", "aclnnMatmulWeightNz", "aclnnMatmul"]),
    ("linear", "t5_k107_n45_f32_none", &["aclnnAddmm"]),
    ("log_softmax", "t4_h97_*_cool", &["aclnnCast", "aclnnAmax", "aclnnSub", "aclnnDivs", "aclnnLogSoftmax"]),
    (
        "reshape_paged_cache",
        "t9_h3_d20_f16_hnd_plain_i32_outside",
        &[
            "aclnnScatterNdUpdate",
            "aclnnNeScalar",
            "aclnnFloorDivides",
            "aclnnAdd",
            "aclnnEmbedding",
            "aclnnClamp",
            "aclnnInplaceZero",
        ],
    ),
    ("reshape_paged_cache", "t4_h2_d12_f16_hnd_plain_pages_strided", &["aclnnMuls"]),
    ("rotary_embedding", "t7_h3x2_d64_*_i32_outside", &["aclnnRopeWithSinCosCache", "aclnnSWhere"]),
    ("rotary_embedding", "*_no_table", &["aclnnEqTensor"]),
    ("silu_and_mul", "t5_h137_*_packed", &["aclnnSwiGlu"]),
    ("softmax", "t4_h97_*_cool", &["aclnnSoftmax"]),
];

fn meet(operation: &str, label: &str, fail: &str) -> Met {
    let (operation, label) = (("OPWEAVE_SCRIPT_OPERATION", operation), ("OPWEAVE_SCRIPT_LABEL", label));
    run("suites::the_suites", double(), &[operation, label, ("OPWEAVE_DOUBLE_FAIL", fail)])
}

#[test]
fn either_phase_of_every_operator_fails_by_its_name_and_leaves_nothing() {
    for (operation, label, symbols) in CALLS {
        let met = meet(operation, label, "");
        assert!(!met.said.contains("bad"), "{operation}: {}", met.said);
        for symbol in *symbols {
            for (function, status) in [(format!("{symbol}GetWorkspaceSize"), 161_002), ((*symbol).to_owned(), 561_103)]
            {
                let met = meet(operation, label, &format!("{function}={status}"));
                for word in ["bad", function.as_str(), &status.to_string()] {
                    assert!(met.said.contains(word), "{operation}, {function}: `{word}` is not in: {}", met.said);
                }
                met.is_clean(&function);
            }
        }
    }
}

/// What an operator takes besides tensors is made and given up as tensors are: whichever of these objects cannot be had, and
/// whichever call about an executor fails, the case says so.
#[test]
fn objects_that_cannot_be_had_leave_nothing() {
    for function in ["aclCreateTensor", "aclCreateScalar", "aclCreateIntArray", "aclSetTensorAddr"] {
        for call in [1, 2] {
            let met = meet("softmax", "t4_h97_f16_*_cool", &format!("{function}:{call}=561103"));
            let what = format!("{function}:{call}");
            for word in ["bad", if function.starts_with("aclCreate") { function } else { "561103" }] {
                assert!(met.said.contains(word), "{what}: `{word}` is not in: {}", met.said);
            }
            met.is_clean(&what);
        }
    }
}

/// Packing has memory of its own: whichever allocation of a case fails, the case says so and all others are freed.
#[test]
fn no_memory_at_any_moment_of_a_packed_case_leaves_nothing() {
    let mut said = 0;
    for call in 1..24 {
        let met = meet("linear", "t5_k107_n45_f16_f16_packed", &format!("aclrtMalloc:{call}=207001"));
        let failed = met.said.contains("bad");
        assert!(!failed || met.said.contains("cannot allocate"), "{call}: {}", met.said);
        said += usize::from(failed);
        met.is_clean(&format!("aclrtMalloc:{call}"));
    }
    assert!(said > 4, "only {said} allocations were met");
}
