// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Matrix products of the double of libopapi.so. Sums are taken in f64, which is what any order of a sum in f32 comes near, and are
// rounded once.
#include "phase.h"

namespace {
bool is_matrix(const Tensor &t) { return t.dims.size() == 2; }

// `first @ second`, with what each element begins at.
void multiply(const Tensor &first, const Tensor &second, const Tensor &out, const std::function<double(int64_t)> &begin) {
    int64_t m = first.dims[0], k = first.dims[1], n = second.dims[1];
    std::vector<double> right((size_t)(k * n)), row((size_t)n);
    for (int64_t i = 0; i < k * n; i++) right[(size_t)i] = second.get(i);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) row[(size_t)j] = begin(j);
        for (int64_t l = 0; l < k; l++) {
            double left = first.get(i * k + l);
            for (int64_t j = 0; j < n; j++) row[(size_t)j] += left * right[(size_t)(l * n + j)];
        }
        for (int64_t j = 0; j < n; j++) out.put(i * n + j, row[(size_t)j]);
    }
}

// What the three products share: matrices whose sizes meet, in one dtype, computed in it.
void need_product(Phase &p, size_t first, size_t second, size_t out, int8_t math) {
    bool matrices = is_matrix(p[first]) && is_matrix(p[second]) && is_matrix(p[out]);
    p.need(matrices, "ranks");
    if (!matrices) return;
    p.need(p[first].dims[1] == p[second].dims[0] && p[first].dims[0] == p[out].dims[0] && p[second].dims[1] == p[out].dims[1], "shapes");
    p.need(FLOATS.count(p[first].dtype) && p[first].dtype == p[second].dtype && p[first].dtype == p[out].dtype, "dtypes");
    p.need(p[first].elements() && p[second].elements(), "an empty matrix, of which nothing is documented");
    p.need(math == 0, "cubeMathType");
}
}

extern "C" {
Status aclnnMatmulGetWorkspaceSize(const void *self, const void *mat2, void *out, int8_t math, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnMatmul", {self, mat2, out}, 1, {}, bytes, executor, {2}};
    if (Status s = p.check()) return s;
    need_product(p, 0, 1, 2, math);
    return p.finish([](Tensors t) { multiply(t[0], t[1], t[2], [](int64_t) { return 0.0; }); });
}
SECOND(aclnnMatmul)

Status aclnnMatmulWeightNzGetWorkspaceSize(const void *self, const void *mat2, void *out, int8_t math, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnMatmulWeightNz", {self, mat2, out}, 1, {}, bytes, executor, {2}, {1}};
    if (Status s = p.check()) return s;
    need_product(p, 0, 1, 2, math);
    if (is_matrix(p[1])) p.need(p[1].dims[0] != 1 && p[1].dims[1] != 1, "a weight of one row or column");
    return p.finish([](Tensors t) { multiply(t[0], t[1], t[2], [](int64_t) { return 0.0; }); });
}
SECOND(aclnnMatmulWeightNz)

Status aclnnAddmmGetWorkspaceSize(const void *self, const void *mat1, const void *mat2, const void *beta, const void *alpha, void *out, int8_t math, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnAddmm", {self, mat1, mat2, out}, 1, {}, bytes, executor, {3}};
    if (Status s = p.check()) return s;
    if (!is_scalar(beta) || !is_scalar(alpha)) return misuse(PARAM_NULLPTR, "aclnnAddmmGetWorkspaceSize: beta or alpha is no scalar");
    need_product(p, 1, 2, 3, math);
    // Of 16 bits it is not documented where they are rounded.
    p.need(p[0].dtype == F32 && p[1].dtype == F32, "dtypes");
    p.need(p[0].dims.size() == 1 && is_matrix(p[3]) && p[0].dims[0] == p[3].dims[1], "the shape of self");
    p.need(((const Scalar *)beta)->value == 1 && ((const Scalar *)alpha)->value == 1, "beta or alpha");
    return p.finish([](Tensors t) { multiply(t[1], t[2], t[3], [&](int64_t j) { return t[0].get(j); }); });
}
SECOND(aclnnAddmm)

Status aclnnNpuFormatCastGetWorkspaceSize(const void *src, void *dst, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnNpuFormatCast", {src, dst}, 1, {}, bytes, executor, {0}, {1}};
    if (Status s = p.check()) return s;
    p.need(is_matrix(p[0]) && same_shape(p[0], p[1]) && p[0].dtype == p[1].dtype, "shapes or dtypes");
    p.need(p[1].strides.size() == 2 && p[1].strides[1] == 1 && p[0].elements(), "a transposed or empty matrix");
    return p.finish([](Tensors t) {
        // The last blocks are padded with zeros.
        memset(t[1].data, 0, (size_t)t[1].reach() * bytes_of(t[1].dtype));
        for (int64_t i = 0; i < t[0].elements(); i++) t[1].put(i, t[0].get(i));
    });
}
SECOND(aclnnNpuFormatCast)
}
