// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Keys and values of new tokens into the pages of a cache.

use opweave_tensor::DType;

use crate::{
    Cost, Erased, ImplementationDecl, Legal, NumericalMode, OpContract, OperationDecl, RoundTo, Rounding, Saturation,
    choice, operator,
};

choice! {
    /// The order of tokens and heads in a page.
    pub enum CacheLayout {
        /// `[page_size, num_kv_heads, head_dim]` (vLLM's FlashAttention cache, FlashInfer's default).
        Nhd = "nhd",
        /// `[num_kv_heads, page_size, head_dim]` (FlashInfer's other layout, TensorRT-LLM).
        Hnd = "hnd",
    }
}

choice! {
    /// What a cache holds.
    pub enum CacheFormat {
        /// The elements as they are.
        Plain = "plain",
        /// f8e4m3 of the values themselves.
        F8 = "f8e4m3",
        /// f8e4m3 of the values over one scale for keys and one for values.
        F8PerTensor = "f8e4m3_per_tensor",
        /// f8e4m3 of the values over a scale for each head.
        F8PerHead = "f8e4m3_per_head",
    }
}

impl CacheLayout {
    /// The second and the third dimension of a cache, of this many tokens and heads.
    pub const fn order(self, page_size: usize, num_kv_heads: usize) -> [usize; 2] {
        match self {
            CacheLayout::Nhd => [page_size, num_kv_heads],
            CacheLayout::Hnd => [num_kv_heads, page_size],
        }
    }
}

impl CacheFormat {
    /// The dtype of the cache.
    pub const fn dtype(self, dtype: DType) -> DType {
        if matches!(self, CacheFormat::Plain) { dtype } else { DType::F8E4M3 }
    }

    /// The dtype of the scales, where there are some.
    pub const fn scale_dtype(self) -> Option<DType> {
        if matches!(self, CacheFormat::F8PerTensor | CacheFormat::F8PerHead) { Some(DType::F32) } else { None }
    }

    /// How many scales there are for keys, and as many for values.
    pub const fn scales(self, num_kv_heads: usize) -> usize {
        if matches!(self, CacheFormat::F8PerHead) { num_kv_heads } else { 1 }
    }
}

/// `reshape_paged_cache`: a copy.
pub static RESHAPE_PAGED_CACHE_PLAIN: OpContract = OpContract {
    operation: "reshape_paged_cache",
    version: 1,
    mutates: &["k_cache", "v_cache"],
    aliases: &[],
    numerical_mode: NumericalMode {
        name: "cache_format=plain",
        accumulation: DType::F32,
        roundings: &[],
        weight_multiply: None,
        saturation: Saturation::None,
    },
};

/// `reshape_paged_cache`: divided in f32, rounded to f8e4m3, saturating.
pub static RESHAPE_PAGED_CACHE_F8E4M3: OpContract = OpContract {
    numerical_mode: NumericalMode {
        name: "cache_format=f8e4m3",
        roundings: &[Rounding { value: "quotient", to: RoundTo::Fixed(DType::F32) }],
        saturation: Saturation::Finite,
        ..RESHAPE_PAGED_CACHE_PLAIN.numerical_mode
    },
    ..RESHAPE_PAGED_CACHE_PLAIN
};

/// The fault of `reshape_paged_cache`.
pub const SLOT_OUTSIDE_THE_CACHE: &str = "slot outside the cache";

operator! {
    /// `cache[slot / page_size, slot % page_size] = row` for row `t` of `k` and `v` and `slot = slot_mapping[t]`.
    ///
    /// A slot of -1 is padding: its row is skipped. Any other slot outside `0..pages * page_size` is skipped too, and is
    /// a fault. Rows of `k` and `v` beyond the slots are not looked at.
    ///
    /// Kwon and others, "Efficient memory management for large language model serving with PagedAttention", 2023.
    pub ReshapePagedCache = "reshape_paged_cache";
    problem ReshapePagedCacheProblem {
        required {
            /// Heads of keys and of values.
            num_kv_heads: usize => Legal::Range(1, 1 << 16);
            /// Features of a key.
            head_dim: usize => Legal::Range(1, 1 << 16);
            /// Tokens of a page.
            page_size: usize => Legal::Range(1, 1 << 20);
            /// dtype of `k` and `v`.
            dtype: DType => Legal::DTypes(&[DType::F32, DType::F16, DType::BF16]);
        }
        optional {
            /// Features of a value.
            head_dim_v: usize = head_dim => Legal::Range(1, 1 << 16);
            /// dtype of `slot_mapping`.
            slot_dtype: DType = DType::I64 => Legal::DTypes(&[DType::I32, DType::I64]);
            /// The order of tokens and heads in a page.
            layout: CacheLayout = CacheLayout::Nhd => Legal::Any;
            /// What the cache holds.
            cache_format: CacheFormat = CacheFormat::Plain => Legal::Any;
        }
        relations []
    }
    dims {
        /// Slots.
        tokens >= 0;
        /// Rows of `k` and `v`.
        key_tokens >= 0;
        /// Pages of the cache.
        pages >= 0;
    }
    dim_relations [tokens <= key_tokens]
    args ReshapePagedCacheArgs {
        tensors {
            /// Where each row goes: `page * page_size + offset`, or -1.
            slot_mapping: In [tokens] of slot_dtype;
            /// Keys.
            k: In [key_tokens strided, num_kv_heads strided, head_dim] of dtype;
            /// Values.
            v: In [key_tokens strided, num_kv_heads strided, head_dim_v] of dtype;
            /// What keys are divided by.
            k_scale: OptionalIn [(cache_format.scales(num_kv_heads))] of cache_format.scale_dtype();
            /// What values are divided by.
            v_scale: OptionalIn [(cache_format.scales(num_kv_heads))] of cache_format.scale_dtype();
            /// Pages of keys.
            k_cache: InOut [
                pages strided,
                (layout.order(page_size, num_kv_heads)[0]),
                (layout.order(page_size, num_kv_heads)[1]),
                head_dim
            ] of cache_format.dtype(dtype);
            /// Pages of values.
            v_cache: InOut [
                pages strided,
                (layout.order(page_size, num_kv_heads)[0]),
                (layout.order(page_size, num_kv_heads)[1]),
                head_dim_v
            ] of cache_format.dtype(dtype);
        }
        scalars {}
    }
    faults ["slot outside the cache"]
    contracts [&RESHAPE_PAGED_CACHE_PLAIN, &RESHAPE_PAGED_CACHE_F8E4M3] by |problem| match problem.cache_format {
        CacheFormat::Plain => &RESHAPE_PAGED_CACHE_PLAIN,
        _ => &RESHAPE_PAGED_CACHE_F8E4M3,
    };
    cost |problem, specs, dims| {
        // The rows that have a slot, and of the caches the slots that they go to.
        let width = (problem.num_kv_heads * (problem.head_dim + problem.head_dim_v)) as u64;
        let elements = (dims.get(0) as u64).saturating_mul(width);
        let bytes = |dtype: DType| elements.saturating_mul(dtype.bits() as u64) / 8;
        let slots = specs.tensor(0).map_or(0, |spec| spec.bytes(dims) as u64);
        let divisions = if problem.cache_format.scale_dtype().is_some() { elements } else { 0 };
        Cost {
            bytes_read: bytes(problem.dtype) + slots,
            bytes_written: bytes(problem.cache_format.dtype(problem.dtype)),
            flops: divisions,
        }
    };
}

pub(super) const DECLARATION: OperationDecl = OperationDecl::new(
    &Erased::<ReshapePagedCache>::NEW,
    &[
        ImplementationDecl { name: "cpu.native.reshape_paged_cache.avx2", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.reshape_paged_cache.avx512", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.reshape_paged_cache.portable", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.reference.reshape_paged_cache", solution: "cpu.reference", libraries: &[] },
        ImplementationDecl { name: "cuda.native.reshape_paged_cache", solution: "cuda.native", libraries: &[] },
        ImplementationDecl {
            name: "npu.aclnn.reshape_paged_cache",
            solution: "npu.aclnn",
            libraries: &[crate::LibraryDecl::CANN],
        },
    ],
);
