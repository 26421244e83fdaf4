// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// A double of libopapi.so for tests: the first phase of each operator checks what the vendor documents of its parameters, and the
// operator computes from descriptors alone, element by element, rounding where the vendor's published kernels do.
#include "phase.h"

namespace {
// Rounds as a store into this dtype does.
double rounded(double value, int32_t dtype) {
    uint64_t cell = 0;
    Tensor t{{1}, {1}, {1}, 0, dtype, 2, &cell};
    t.put(0, value);
    return t.get(0);
}

// The reciprocal root of a row, in f32 as the kernels have it; sums in f64, which is what any order of a sum comes near.
double root_of(const std::vector<double> &row, double epsilon) {
    double sum = 0;
    for (double v : row) sum += (double)((float)v * (float)v);
    return (double)(float)(1.0 / std::sqrt(sum / (double)row.size() + (double)(float)epsilon));
}
std::vector<double> row_of(const Tensor &t, int64_t row, int64_t width) {
    std::vector<double> v((size_t)width);
    for (int64_t i = 0; i < width; i++) v[(size_t)i] = t.get(row * width + i);
    return v;
}
}

extern "C" {
Status aclnnInplaceCopyGetWorkspaceSize(void *self, const void *src, uint64_t *bytes, void **executor) {
    GUARD;
    // The first is written, the second read: given the other way round, so that outputs stand last, would change their indices.
    Phase p{"aclnnInplaceCopy", {self, src}, 0, {}, bytes, executor};
    if (Status s = p.check()) return s;
    p.need(same_shape(p[0], p[1]), "shapes differ");
    return p.finish([](Tensors t) {
        bool same = t[0].dtype == t[1].dtype;
        for (int64_t i = 0; i < t[0].elements(); i++) if (same) copy(t[0], i, t[1], i); else t[0].put(i, t[1].get(i));
    });
}
SECOND(aclnnInplaceCopy)

Status aclnnCastGetWorkspaceSize(const void *self, int32_t dtype, void *out, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnCast", {self, out}, 1, {}, bytes, executor};
    if (Status s = p.check()) return s;
    p.need(same_shape(p[0], p[1]) && p[1].dtype == dtype, "the shape or dtype of out");
    return p.finish([](Tensors t) { for (int64_t i = 0; i < t[0].elements(); i++) t[1].put(i, t[0].get(i)); });
}
SECOND(aclnnCast)

Status aclnnDivsGetWorkspaceSize(const void *self, const void *other, void *out, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnDivs", {self, out}, 1, {}, bytes, executor};
    if (Status s = p.check()) return s;
    p.need(other && same_shape(p[0], p[1]) && p[0].dtype == F32 && p[1].dtype == F32, "other, the shape or dtype of out");
    double by = other ? ((const Scalar *)other)->value : 0;
    return p.finish([by](Tensors t) { for (int64_t i = 0; i < t[0].elements(); i++) t[1].put(i, t[0].get(i) / by); });
}
SECOND(aclnnDivs)

Status aclnnAmaxGetWorkspaceSize(const void *self, const void *dims, bool keep, void *out, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnAmax", {self, out}, 1, {}, bytes, executor};
    if (Status s = p.check()) return s;
    bool last = dims && ((const Ints *)dims)->values == std::vector<int64_t>({1});
    p.need(last && keep && p[0].dims.size() == 2 && p[1].dims == std::vector<int64_t>({p[0].dims[0], 1}) && p[0].dtype == p[1].dtype, "dim, shapes or dtypes");
    return p.finish([](Tensors t) {
        for (int64_t r = 0; r < t[0].dims[0]; r++) {
            double most = -INFINITY;
            for (double v : row_of(t[0], r, t[0].dims[1])) most = v != v || most != most ? NAN : std::fmax(most, v);
            t[1].put(r, most);
        }
    });
}
SECOND(aclnnAmax)

Status aclnnSubGetWorkspaceSize(const void *self, const void *other, const void *alpha, void *out, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnSub", {self, other, out}, 1, {}, bytes, executor};
    if (Status s = p.check()) return s;
    p.need(alpha && same_shape(p[0], p[2]) && p[0].dims.size() == 2 && p[1].dims == std::vector<int64_t>({p[0].dims[0], 1}), "alpha or shapes");
    p.need(p[0].dtype == F32 && p[1].dtype == F32 && p[2].dtype == F32, "dtypes");
    double by = alpha ? ((const Scalar *)alpha)->value : 0;
    return p.finish([by](Tensors t) {
        int64_t width = t[0].dims[1];
        for (int64_t i = 0; i < t[0].elements(); i++) t[2].put(i, t[0].get(i) - by * t[1].get(i / width));
    });
}
SECOND(aclnnSub)

Status aclnnRmsNormGetWorkspaceSize(const void *x, const void *gamma, double epsilon, const void *y, const void *rstd, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnRmsNorm", {x, gamma, y, rstd}, 2, {}, bytes, executor};
    if (Status s = p.check()) return s;
    int64_t width = p[1].elements(), rows = width ? p[0].elements() / width : 0;
    p.need(width > 0 && p[1].dims.size() == 1 && p[0].dims.size() == 2 && p[0].dims[1] == width && same_shape(p[0], p[2]), "shapes");
    p.need(p[3].dims == std::vector<int64_t>({rows, 1}) && p[3].dtype == F32, "rstdOut");
    p.need(FLOATS.count(p[0].dtype) && p[0].dtype == p[2].dtype && (p[1].dtype == p[0].dtype || p[1].dtype == F32), "dtypes");
    p.need(epsilon >= 0, "epsilon");
    return p.finish([=](Tensors t) {
        for (int64_t r = 0; r < rows; r++) {
            auto row = row_of(t[0], r, width);
            double root = root_of(row, epsilon);
            t[3].put(r, root);
            for (int64_t i = 0; i < width; i++) t[2].put(r * width + i, (double)((float)(row[(size_t)i] * root) * (float)t[1].get(i)));
        }
    });
}
SECOND(aclnnRmsNorm)

Status aclnnAddRmsNormGetWorkspaceSize(const void *x1, const void *x2, const void *gamma, double epsilon, void *y, void *rstd, void *x, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnAddRmsNorm", {x1, x2, gamma, y, rstd, x}, 3, {}, bytes, executor};
    if (Status s = p.check()) return s;
    int64_t width = p[2].elements(), rows = width ? p[0].elements() / width : 0;
    p.need(width > 0 && p[0].dims.size() == 2 && p[0].dims[1] == width && same_shape(p[0], p[1]) && same_shape(p[0], p[3]) && same_shape(p[0], p[5]), "shapes");
    p.need(p[4].dims == std::vector<int64_t>({rows, 1}) && p[4].dtype == F32, "rstdOut");
    for (size_t i : {1u, 2u, 3u, 5u}) p.need(FLOATS.count(p[0].dtype) && p[i].dtype == p[0].dtype, "dtypes");
    p.need(epsilon >= 0, "epsilon");
    return p.finish([=](Tensors t) {
        int32_t dtype = t[0].dtype;
        for (int64_t r = 0; r < rows; r++) {
            auto row = row_of(t[0], r, width), more = row_of(t[1], r, width);
            for (int64_t i = 0; i < width; i++) {
                double sum = row[(size_t)i] + more[(size_t)i];
                t[5].put(r * width + i, sum);
                // The norm sees the sum as it is stored in f16, and before that in bf16.
                row[(size_t)i] = dtype == F16 ? rounded(sum, F16) : (double)(float)sum;
            }
            double root = root_of(row, epsilon);
            t[4].put(r, root);
            for (int64_t i = 0; i < width; i++) {
                double norm = rounded(row[(size_t)i] * root, dtype);
                t[3].put(r * width + i, norm * t[2].get(i));
            }
        }
    });
}
SECOND(aclnnAddRmsNorm)

Status aclnnLayerNormGetWorkspaceSize(const void *x, const void *shape, const void *weight, const void *bias, double epsilon, void *out, void *mean, void *rstd, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnLayerNorm", {x, weight, bias, out, mean, rstd}, 3, {false, true, true, false, true, true}, bytes, executor};
    if (Status s = p.check()) return s;
    if (!shape) return misuse(PARAM_NULLPTR, "aclnnLayerNormGetWorkspaceSize: normalizedShape is null");
    int64_t width = ((const Ints *)shape)->values.at(0);
    int64_t rows = width ? p[0].elements() / width : 0;
    p.need(p[0].dims.size() == 2 && width == p[0].dims[1] && same_shape(p[0], p[3]) && p[0].dtype == p[3].dtype, "shapes or dtypes");
    for (size_t i : {1u, 2u}) if (p.has(i)) p.need(p[i].elements() == width && (p[i].dtype == p[0].dtype || p[i].dtype == F32), "weight or bias");
    if (p.has(1) && p.has(2)) p.need(p[1].dtype == p[2].dtype, "weight and bias have two dtypes");
    bool with_weight = p.has(1), with_bias = p.has(2);
    return p.finish([=](Tensors t) {
        for (int64_t r = 0; r < rows; r++) {
            auto row = row_of(t[0], r, width);
            double mean = 0, variance = 0;
            for (double v : row) mean += v;
            mean /= (double)width;
            for (double v : row) variance += (v - mean) * (v - mean);
            double root = 1 / std::sqrt(variance / (double)width + (double)(float)epsilon);
            for (int64_t i = 0; i < width; i++) {
                double v = (row[(size_t)i] - mean) * root;
                t[3].put(r * width + i, v * (with_weight ? t[1].get(i) : 1) + (with_bias ? t[2].get(i) : 0));
            }
        }
    });
}
SECOND(aclnnLayerNorm)

Status aclnnSwiGluGetWorkspaceSize(const void *x, int64_t dim, const void *out, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnSwiGlu", {x, out}, 1, {}, bytes, executor, {0, 1}};
    if (Status s = p.check()) return s;
    bool two = p[0].dims.size() == 2 && p[1].dims.size() == 2;
    p.need(two && (dim == 1 || dim == -1), "dim, or ranks");
    if (two) p.need(p[0].dims[0] == p[1].dims[0] && p[0].dims[1] == 2 * p[1].dims[1], "shapes");
    p.need(FLOATS.count(p[0].dtype) && p[0].dtype == p[1].dtype, "dtypes");
    return p.finish([](Tensors t) {
        int64_t width = t[1].dims[1];
        for (int64_t r = 0; r < t[1].dims[0]; r++)
            for (int64_t i = 0; i < width; i++) {
                // In f32, where the exponential overflows before nothing is left.
                float gate = (float)t[0].get(r * 2 * width + i), up = (float)t[0].get(r * 2 * width + width + i);
                t[1].put(r * width + i, gate / (1 + std::exp(-gate)) * up);
            }
    });
}
SECOND(aclnnSwiGlu)

Status aclnnGeGluV3GetWorkspaceSize(const void *x, int64_t dim, int64_t approximate, bool left, void *out, void *gelu, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnGeGluV3", {x, out, gelu}, 2, {}, bytes, executor};
    if (Status s = p.check()) return s;
    bool two = p[0].dims.size() == 2 && p[1].dims.size() == 2;
    p.need(two && (dim == 1 || dim == -1) && approximate == 1 && left, "dim, approximate, activateLeft or ranks");
    if (two) p.need(p[0].dims[0] == p[1].dims[0] && p[0].dims[1] == 2 * p[1].dims[1] && same_shape(p[1], p[2]), "shapes");
    p.need(FLOATS.count(p[0].dtype) && p[0].dtype == p[1].dtype && p[0].dtype == p[2].dtype, "dtypes");
    return p.finish([](Tensors t) {
        int64_t width = t[1].dims[1];
        for (int64_t r = 0; r < t[1].dims[0]; r++)
            for (int64_t i = 0; i < width; i++) {
                // The activation in f32: x / (1 + e^(-2 sqrt(2 / pi) (x + 0.044715 x^3))), whose cube may overflow.
                float gate = (float)t[0].get(r * 2 * width + i), up = (float)t[0].get(r * 2 * width + width + i);
                float inner = gate + 0.044715f * (gate * (gate * gate));
                float activated = gate / (1 + std::exp(-1.5957691f * inner));
                t[2].put(r * width + i, activated);
                // In f16 the product is of the rounded activation, otherwise in f32.
                double product = t[0].dtype == F16 ? t[2].get(r * width + i) * up : (double)(activated * up);
                t[1].put(r * width + i, product);
            }
    });
}
SECOND(aclnnGeGluV3)

Status aclnnSoftmaxGetWorkspaceSize(const void *self, int64_t dim, void *out, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnSoftmax", {self, out}, 1, {}, bytes, executor};
    if (Status s = p.check()) return s;
    p.need(same_shape(p[0], p[1]) && p[0].dims.size() == 2 && dim == 1, "shapes or dim");
    p.need(FLOATS.count(p[0].dtype) && p[0].dtype == p[1].dtype, "dtypes");
    return p.finish([](Tensors t) {
        int64_t width = t[0].dims[1];
        for (int64_t r = 0; r < t[0].dims[0]; r++) {
            auto row = row_of(t[0], r, width);
            double most = -INFINITY, sum = 0;
            for (double v : row) most = std::fmax(most, v);
            for (double &v : row) sum += v = std::exp(v - most);
            for (int64_t i = 0; i < width; i++) t[1].put(r * width + i, row[(size_t)i] / sum);
        }
    });
}
SECOND(aclnnSoftmax)

Status aclnnLogSoftmaxGetWorkspaceSize(const void *self, int64_t dim, void *out, uint64_t *bytes, void **executor) {
    GUARD;
    Phase p{"aclnnLogSoftmax", {self, out}, 1, {}, bytes, executor};
    if (Status s = p.check()) return s;
    p.need(same_shape(p[0], p[1]) && p[0].dims.size() == 2 && dim == 1, "shapes or dim");
    p.need(FLOATS.count(p[0].dtype) && FLOATS.count(p[1].dtype), "dtypes");
    return p.finish([](Tensors t) {
        int64_t width = t[0].dims[1];
        for (int64_t r = 0; r < t[0].dims[0]; r++) {
            auto row = row_of(t[0], r, width);
            double most = -INFINITY, sum = 0;
            for (double v : row) most = std::fmax(most, v);
            for (double v : row) sum += std::exp(v - most);
            // A sum in f32, with the 1 of the largest in it.
            double log = std::log((double)(float)sum);
            for (int64_t i = 0; i < width; i++) t[1].put(r * width + i, row[(size_t)i] - most - log);
        }
    });
}
SECOND(aclnnLogSoftmax)
}
