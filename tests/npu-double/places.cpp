// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Operators of the double of libopapi.so that compute places, and the one that writes to places. What is outside is a misuse: the
// vendor forbids it.
#include "phase.h"

extern "C" {
Status aclnnArangeGetWorkspaceSize(const void *start, const void *end, const void *step, void *out, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnArange", {out}, 1, {}, bytes, executor};
    if (Status s = p.check()) return s;
    if (!is_integer(start) || !is_integer(end) || !is_integer(step)) return no_scalar("aclnnArange");
    int64_t first = integer(start), by = integer(step), count = by > 0 ? (integer(end) - first + by - 1) / by : -1;
    p.need(by > 0 && count > 0 && p[0].dims == Dims({count}), "start, end, step or shape");
    p.need(INTEGERS.count(p[0].dtype), "dtypes");
    return p.finish([=](Tensors t) { for (int64_t i = 0; i < count; i++) t[0].put_whole(i, first + i * by); });
}
SECOND(aclnnArange)

Status aclnnAminGetWorkspaceSize(const void *self, const void *dims, bool keep, void *out, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnAmin", {self, out}, 1, {}, bytes, executor};
    if (Status s = p.check()) return s;
    size_t rank = p[0].dims.size();
    bool last = dims && rank && ((const Ints *)dims)->values == Dims({(int64_t)rank - 1});
    Dims kept = p[0].dims;
    if (rank) kept.back() = 1;
    p.need(last && keep && p[1].dims == kept && p[0].dims.back() > 0, "dim, keepDim or shapes");
    p.need(INTEGERS.count(p[0].dtype) && p[0].dtype == p[1].dtype, "dtypes");
    return p.finish([](Tensors t) {
        int64_t width = t[0].dims.back();
        for (int64_t r = 0; r < t[1].elements(); r++) {
            int64_t least = t[0].whole(r * width);
            for (int64_t i = 1; i < width; i++) least = std::min(least, t[0].whole(r * width + i));
            t[1].put_whole(r, least);
        }
    });
}
SECOND(aclnnAmin)

Status aclnnNeScalarGetWorkspaceSize(const void *self, const void *other, void *out, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnNeScalar", {self, out}, 1, {}, bytes, executor};
    if (Status s = p.check()) return s;
    if (!is_integer(other)) return no_scalar("aclnnNeScalar");
    p.need(same_shape(p[0], p[1]) && INTEGERS.count(p[0].dtype) && p[1].dtype == BOOL, "shapes or dtypes");
    int64_t number = integer(other);
    return p.finish([number](Tensors t) { for (int64_t i = 0; i < t[0].elements(); i++) t[1].put_whole(i, t[0].whole(i) != number); });
}
SECOND(aclnnNeScalar)

Status aclnnFloorDividesGetWorkspaceSize(const void *self, const void *other, void *out, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnFloorDivides", {self, out}, 1, {}, bytes, executor};
    if (Status s = p.check()) return s;
    if (!is_integer(other) || integer(other) <= 0) return no_scalar("aclnnFloorDivides");
    p.need(same_shape(p[0], p[1]) && INTEGERS.count(p[0].dtype) && p[0].dtype == p[1].dtype, "shapes or dtypes");
    int64_t by = integer(other);
    return p.finish([by](Tensors t) {
        for (int64_t i = 0; i < t[0].elements(); i++) {
            int64_t value = t[0].whole(i);
            t[1].put_whole(i, value / by - (value % by < 0));
        }
    });
}
SECOND(aclnnFloorDivides)

Status aclnnMulsGetWorkspaceSize(const void *self, const void *other, void *out, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnMuls", {self, out}, 1, {}, bytes, executor};
    if (Status s = p.check()) return s;
    if (!is_integer(other)) return no_scalar("aclnnMuls");
    p.need(same_shape(p[0], p[1]) && INTEGERS.count(p[0].dtype) && p[0].dtype == p[1].dtype, "shapes or dtypes");
    int64_t by = integer(other);
    return p.finish([by](Tensors t) { for (int64_t i = 0; i < t[0].elements(); i++) t[1].put_whole(i, t[0].whole(i) * by); });
}
SECOND(aclnnMuls)

Status aclnnAddGetWorkspaceSize(const void *self, const void *other, const void *alpha, void *out, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnAdd", {self, other, out}, 1, {}, bytes, executor};
    if (Status s = p.check()) return s;
    if (!is_integer(alpha)) return no_scalar("aclnnAdd");
    p.need(spreads(p[0], p[2]) && spreads(p[1], p[2]), "shapes");
    for (size_t i : {0u, 1u}) p.need(INTEGERS.count(p[2].dtype) && p[i].dtype == p[2].dtype, "dtypes");
    int64_t by = integer(alpha);
    return p.finish([by](Tensors t) {
        for (int64_t i = 0; i < t[2].elements(); i++)
            t[2].put_whole(i, t[0].whole(place(t[0], t[2], i)) + by * t[1].whole(place(t[1], t[2], i)));
    });
}
SECOND(aclnnAdd)

Status aclnnScatterNdUpdateGetWorkspaceSize(void *self, const void *indices, const void *updates, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnScatterNdUpdate", {self, indices, updates}, 0, {}, bytes, executor};
    if (Status s = p.check()) return s;
    bool ranks = p[0].dims.size() == 2 && p[1].dims.size() == 2 && p[1].dims[1] == 1;
    p.need(ranks && p[2].dims == Dims({p[1].dims[0], p[0].dims[1]}), "shapes");
    p.need(FLOATS.count(p[0].dtype) && p[0].dtype == p[2].dtype && INTEGERS.count(p[1].dtype), "dtypes");
    // With gaps all of it would be copied there and back, over whatever lies in the gaps.
    p.need(p[0].contiguous(), "varRef has gaps");
    return p.finish([](Tensors t) {
        int64_t width = t[0].dims[1];
        for (int64_t r = 0; r < t[1].elements(); r++) {
            int64_t row = t[1].whole(r);
            if (row < 0 || row >= t[0].dims[0]) { misuse(507015, "aclnnScatterNdUpdate: an index outside the table"); continue; }
            for (int64_t i = 0; i < width; i++) copy(t[0], row * width + i, t[2], r * width + i);
        }
    });
}
SECOND(aclnnScatterNdUpdate)
}
