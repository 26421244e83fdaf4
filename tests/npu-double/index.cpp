// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Operators of the double of libopapi.so that take or make indices and masks. What is outside a table is a misuse: the vendor says
// nothing of it.
#include "phase.h"

namespace {
const std::set<int32_t> FILLED = {BOOL, I8, I32, I64, F32, F16, BF16};

// `aclnnNeTensor` and `aclnnEqTensor`.
Status compare(const char *symbol, bool equal, const void *self, const void *other, void *out, uint64_t *bytes, void **executor) {
    Phase p{symbol, {self, other, out}, 1, {}, bytes, executor};
    if (Status s = p.check()) return s;
    bool whole = INTEGERS.count(p[0].dtype);
    p.need(spreads(p[0], p[2]) && spreads(p[1], p[2]), "shapes");
    p.need((whole || FLOATS.count(p[0].dtype)) && p[0].dtype == p[1].dtype && p[2].dtype == BOOL, "dtypes");
    return p.finish([equal, whole](Tensors t) {
        for (int64_t i = 0; i < t[2].elements(); i++) {
            int64_t a = place(t[0], t[2], i), b = place(t[1], t[2], i);
            // A NaN equals nothing, itself included.
            bool same = whole ? t[0].whole(a) == t[1].whole(b) : t[0].get(a) == t[1].get(b);
            t[2].put_whole(i, same == equal);
        }
    });
}
}

extern "C" {
Status aclnnClampGetWorkspaceSize(const void *self, const void *low, const void *high, void *out, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnClamp", {self, out}, 1, {}, bytes, executor};
    if (Status s = p.check()) return s;
    if (!is_integer(low) || !is_integer(high)) return no_scalar("aclnnClamp");
    p.need(same_shape(p[0], p[1]) && INTEGERS.count(p[0].dtype) && p[0].dtype == p[1].dtype, "shapes or dtypes");
    int64_t least = integer(low), most = integer(high);
    return p.finish([least, most](Tensors t) {
        for (int64_t i = 0; i < t[0].elements(); i++) t[1].put_whole(i, std::max(std::min(t[0].whole(i), most), least));
    });
}
SECOND(aclnnClamp)

Status aclnnNeTensorGetWorkspaceSize(const void *self, const void *other, void *out, uint64_t *bytes, void **executor) {
    GUARD;
    return compare("aclnnNeTensor", false, self, other, out, bytes, executor);
}
SECOND(aclnnNeTensor)

Status aclnnEqTensorGetWorkspaceSize(const void *self, const void *other, void *out, uint64_t *bytes, void **executor) {
    GUARD;
    return compare("aclnnEqTensor", true, self, other, out, bytes, executor);
}
SECOND(aclnnEqTensor)

Status aclnnEqScalarGetWorkspaceSize(const void *self, const void *other, void *out, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnEqScalar", {self, out}, 1, {}, bytes, executor};
    if (Status s = p.check()) return s;
    if (!is_integer(other)) return no_scalar("aclnnEqScalar");
    p.need(same_shape(p[0], p[1]) && INTEGERS.count(p[0].dtype) && p[1].dtype == BOOL, "shapes or dtypes");
    int64_t number = integer(other);
    return p.finish([number](Tensors t) { for (int64_t i = 0; i < t[0].elements(); i++) t[1].put_whole(i, t[0].whole(i) == number); });
}
SECOND(aclnnEqScalar)

Status aclnnAddsGetWorkspaceSize(const void *self, const void *other, const void *alpha, void *out, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnAdds", {self, out}, 1, {}, bytes, executor};
    if (Status s = p.check()) return s;
    if (!is_integer(other) || !is_integer(alpha)) return no_scalar("aclnnAdds");
    p.need(same_shape(p[0], p[1]) && INTEGERS.count(p[0].dtype) && p[0].dtype == p[1].dtype, "shapes or dtypes");
    int64_t more = integer(alpha) * integer(other);
    return p.finish([more](Tensors t) { for (int64_t i = 0; i < t[0].elements(); i++) t[1].put_whole(i, t[0].whole(i) + more); });
}
SECOND(aclnnAdds)

Status aclnnLogicalAndGetWorkspaceSize(const void *self, const void *other, void *out, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnLogicalAnd", {self, other, out}, 1, {}, bytes, executor};
    if (Status s = p.check()) return s;
    p.need(same_shape(p[0], p[1]) && same_shape(p[0], p[2]), "shapes");
    p.need(p[0].dtype == BOOL && p[1].dtype == BOOL && p[2].dtype == BOOL, "dtypes");
    return p.finish([](Tensors t) { for (int64_t i = 0; i < t[0].elements(); i++) t[2].put_whole(i, t[0].whole(i) && t[1].whole(i)); });
}
SECOND(aclnnLogicalAnd)

Status aclnnAnyGetWorkspaceSize(const void *self, const void *dims, bool keep, void *out, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnAny", {self, out}, 1, {}, bytes, executor};
    if (Status s = p.check()) return s;
    bool first = dims && ((const Ints *)dims)->values == Dims({0});
    p.need(first && keep && p[0].dims.size() == 1 && p[1].dims == Dims({1}), "dim, keepdim or shapes");
    p.need(p[0].dtype == BOOL && p[1].dtype == BOOL, "dtypes");
    return p.finish([](Tensors t) {
        bool any = false;
        for (int64_t i = 0; i < t[0].elements(); i++) any = any || t[0].whole(i);
        t[1].put_whole(0, any);
    });
}
SECOND(aclnnAny)

Status aclnnArgMaxGetWorkspaceSize(const void *self, int64_t dim, bool keep, void *out, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnArgMax", {self, out}, 1, {}, bytes, executor};
    if (Status s = p.check()) return s;
    p.need(dim == 0 && !keep && p[0].dims.size() == 1 && p[1].dims.empty() && p[0].elements(), "dim, keepdim or shapes");
    p.need(p[0].dtype == U8 && INTEGERS.count(p[1].dtype), "dtypes");
    return p.finish([](Tensors t) {
        // Of several largest ones the last: the vendor does not say which.
        int64_t best = 0;
        for (int64_t i = 0; i < t[0].elements(); i++) if (t[0].whole(i) >= t[0].whole(best)) best = i;
        t[1].put_whole(0, best);
    });
}
SECOND(aclnnArgMax)

Status aclnnInplaceMaskedFillScalarGetWorkspaceSize(void *self, const void *mask, const void *value, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnInplaceMaskedFillScalar", {self, mask}, 0, {}, bytes, executor};
    if (Status s = p.check()) return s;
    bool whole = INTEGERS.count(p[0].dtype);
    if (!is_scalar(value) || is_integer(value) != whole) return no_scalar("aclnnInplaceMaskedFillScalar");
    p.need(FILLED.count(p[0].dtype) && p[1].dtype == BOOL && spreads(p[1], p[0]), "dtypes or shapes");
    double real = ((const Scalar *)value)->value;
    int64_t number = integer(value);
    return p.finish([=](Tensors t) {
        for (int64_t i = 0; i < t[0].elements(); i++) {
            if (!t[1].whole(place(t[1], t[0], i))) continue;
            if (whole) t[0].put_whole(i, number); else t[0].put(i, real);
        }
    });
}
SECOND(aclnnInplaceMaskedFillScalar)

Status aclnnInplaceMaskedFillTensorGetWorkspaceSize(void *self, const void *mask, const void *value, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnInplaceMaskedFillTensor", {self, mask, value}, 0, {}, bytes, executor};
    if (Status s = p.check()) return s;
    p.need(FILLED.count(p[0].dtype) && p[1].dtype == BOOL && spreads(p[1], p[0]), "dtypes or shapes");
    p.need(p[2].dims.empty() && p[2].dtype == p[0].dtype, "value");
    return p.finish([](Tensors t) {
        for (int64_t i = 0; i < t[0].elements(); i++) if (t[1].whole(place(t[1], t[0], i))) copy(t[0], i, t[2], 0);
    });
}
SECOND(aclnnInplaceMaskedFillTensor)

Status aclnnInplaceZeroGetWorkspaceSize(void *self, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnInplaceZero", {self}, 1, {}, bytes, executor};
    if (Status s = p.check()) return s;
    return p.finish([](Tensors t) { for (int64_t i = 0; i < t[0].elements(); i++) t[0].put(i, 0); });
}
SECOND(aclnnInplaceZero)

Status aclnnInplaceOneGetWorkspaceSize(void *self, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnInplaceOne", {self}, 1, {}, bytes, executor};
    if (Status s = p.check()) return s;
    return p.finish([](Tensors t) { for (int64_t i = 0; i < t[0].elements(); i++) t[0].put(i, 1); });
}
SECOND(aclnnInplaceOne)

Status aclnnSWhereGetWorkspaceSize(const void *condition, const void *self, const void *other, void *out, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnSWhere", {condition, self, other, out}, 1, {}, bytes, executor};
    if (Status s = p.check()) return s;
    for (size_t i : {0u, 1u, 2u}) p.need(spreads(p[i], p[3]), "shapes");
    p.need(p[0].dtype == BOOL && p[1].dtype == p[2].dtype && p[1].dtype == p[3].dtype, "dtypes");
    return p.finish([](Tensors t) {
        for (int64_t i = 0; i < t[3].elements(); i++) {
            const Tensor &chosen = t[t[0].whole(place(t[0], t[3], i)) ? 1 : 2];
            copy(t[3], i, chosen, place(chosen, t[3], i));
        }
    });
}
SECOND(aclnnSWhere)

Status aclnnEmbeddingGetWorkspaceSize(const void *weight, const void *indices, const void *out, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnEmbedding", {weight, indices, out}, 1, {}, bytes, executor};
    if (Status s = p.check()) return s;
    bool ranks = p[0].dims.size() == 2 && p[1].dims.size() == 1 && p[2].dims.size() == 2;
    p.need(ranks && p[2].dims == Dims({p[1].dims[0], p[0].dims[1]}), "shapes");
    p.need(p[0].dtype == p[2].dtype && INTEGERS.count(p[1].dtype), "dtypes");
    return p.finish([](Tensors t) {
        int64_t width = t[0].dims[1];
        for (int64_t r = 0; r < t[1].elements(); r++) {
            int64_t row = t[1].whole(r);
            if (row < 0 || row >= t[0].dims[0]) { misuse(507015, "aclnnEmbedding: an index outside the table"); continue; }
            for (int64_t i = 0; i < width; i++) copy(t[2], r * width + i, t[0], row * width + i);
        }
    });
}
SECOND(aclnnEmbedding)

Status aclnnRopeWithSinCosCacheGetWorkspaceSize(const void *positions, const void *query, const void *key, const void *cache, const void *sections, int64_t head, bool neox, void *query_out, void *key_out, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnRopeWithSinCosCache", {positions, query, key, cache, query_out, key_out}, 2, {}, bytes, executor, {4, 5}};
    if (Status s = p.check()) return s;
    p.need(!sections, "mropeSection of positions in one row");
    bool ranks = p[0].dims.size() == 1 && head > 0;
    for (size_t i = 1; i < 6; i++) ranks = ranks && p[i].dims.size() == 2;
    p.need(ranks, "ranks");
    if (ranks) {
        int64_t turned = p[3].dims[1], unit = p[1].dtype == F32 ? 16 : 32;
        p.need(same_shape(p[1], p[4]) && same_shape(p[2], p[5]), "shapes");
        for (size_t i : {1u, 2u}) p.need(p[i].dims[0] == p[0].dims[0] && p[i].dims[1] % head == 0, "shapes");
        p.need(head % unit == 0 && turned % unit == 0 && turned <= head, "headSize or rotaryDim");
        for (size_t i : {0u, 1u, 2u, 3u}) p.need(p[i].elements() > 0, "an empty tensor");
    }
    p.need(p[0].dtype == I64 && FLOATS.count(p[1].dtype), "dtypes");
    for (size_t i = 2; i < 6; i++) p.need(p[i].dtype == p[1].dtype, "dtypes");
    return p.finish([=](Tensors t) {
        int64_t turned = t[3].dims[1], half = turned / 2;
        for (int64_t r = 0; r < t[0].elements(); r++) {
            int64_t row = t[0].whole(r);
            if (row < 0 || row >= t[3].dims[0]) { misuse(507015, "aclnnRopeWithSinCosCache: a position outside the cache"); continue; }
            for (size_t which : {1u, 2u}) {
                const Tensor &in = t[which], &out = t[which + 3];
                for (int64_t at = 0; at < in.dims[1]; at += head) {
                    int64_t begin = r * in.dims[1] + at;
                    for (int64_t i = turned; i < head; i++) copy(out, begin + i, in, begin + i);
                    for (int64_t i = 0; i < half; i++) {
                        // In f32, each product rounded to it.
                        int64_t first = begin + (neox ? i : 2 * i), second = begin + (neox ? i + half : 2 * i + 1);
                        float a = (float)in.get(first), b = (float)in.get(second);
                        float cosine = (float)t[3].get(row * turned + i), sine = (float)t[3].get(row * turned + half + i);
                        float ac = a * cosine, bs = b * sine, bc = b * cosine, as = a * sine;
                        out.put(first, ac - bs);
                        out.put(second, bc + as);
                    }
                }
            }
        }
    });
}
SECOND(aclnnRopeWithSinCosCache)
}
