// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// A double of libopapi.so for tests: the first phase of each operator checks what the vendor documents of its parameters, and the
// operator computes from descriptors alone, element by element, rounding where the vendor's published kernels do.
#include "double.h"

#include <cmath>
#include <set>

namespace {
using Tensors = const std::vector<Tensor> &;
const std::set<int32_t> FLOATS = {F32, F16, BF16};

// Rounds as a store into this dtype does.
double rounded(double value, int32_t dtype) {
    uint64_t cell = 0;
    Tensor t{{1}, {1}, {1}, 0, dtype, 2, &cell};
    t.put(0, value);
    return t.get(0);
}

struct Phase {
    const char *symbol;
    std::vector<const void *> given;
    size_t outputs;   // the last so many
    std::vector<bool> optional;
    uint64_t *bytes;
    void **executor;
    bool gaps = true; // whether tensors may have gaps
    std::vector<Tensor> t{};
    std::string wrong{};

    Tensor &operator[](size_t i) { return t[i]; }
    bool has(size_t i) const { return given[i] != nullptr; }
    void need(bool holds, const char *what) { if (!holds && wrong.empty()) wrong = what; }

    Status check() {
        std::string first = std::string(symbol) + "GetWorkspaceSize";
        if (Status s = injected(first.c_str())) return s;
        if (!bytes || !executor) return misuse(PARAM_NULLPTR, first + ": nowhere to write the result");
        for (size_t i = 0; i < given.size(); i++) {
            if (!given[i] && !(i < optional.size() && optional[i])) return misuse(PARAM_NULLPTR, first + ": a required tensor is null");
            if (given[i] && !is_tensor(given[i])) return misuse(INNER, first + ": a tensor that does not live");
            t.push_back(given[i] ? *(const Tensor *)given[i] : Tensor{{}, {}, {}, 0, F32, 2, nullptr});
        }
        return SUCCESS;
    }
    Status finish(std::function<void(Tensors)> compute) {
        if (!wrong.empty()) return misuse(PARAM_INVALID, std::string(symbol) + "GetWorkspaceSize: " + wrong);
        Executor *e = new_executor();
        e->symbol = symbol;
        // What has gaps is made contiguous in the workspace, and there is always a little more.
        e->workspace = 1024;
        for (size_t i = 0; i < given.size(); i++) {
            e->handles.push_back((Tensor *)given[i]);
            e->present.push_back(has(i));
            e->output.push_back(i + outputs >= given.size());
            if (!has(i)) continue;
            if (!t[i].contiguous()) {
                if (!gaps) { misuse(PARAM_INVALID, std::string(symbol) + ": takes no tensor with gaps"); launch(symbol, nullptr, 0, e, nullptr); return PARAM_INVALID; }
                e->workspace += (uint64_t)t[i].elements() * bytes_of(t[i].dtype);
            }
        }
        e->tensors = t;
        e->compute = std::move(compute);
        *bytes = e->workspace;
        *executor = e;
        return SUCCESS;
    }
};

bool same_shape(const Tensor &a, const Tensor &b) { return a.dims == b.dims; }

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

#define GUARD std::lock_guard<std::recursive_mutex> guard(lock())
#define SECOND(name) Status name(void *workspace, uint64_t bytes, void *executor, void *stream) { return launch(#name, workspace, bytes, executor, stream); }

extern "C" {
Status aclnnInplaceCopyGetWorkspaceSize(void *self, const void *src, uint64_t *bytes, void **executor) {
    GUARD;
    // The first is written, the second read: given the other way round, so that outputs stand last, would change their indices.
    Phase p{"aclnnInplaceCopy", {self, src}, 0, {}, bytes, executor};
    if (Status s = p.check()) return s;
    p.need(same_shape(p[0], p[1]), "shapes differ");
    return p.finish([](Tensors t) { for (int64_t i = 0; i < t[0].elements(); i++) t[0].put(i, t[1].get(i)); });
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
    Phase p{"aclnnSwiGlu", {x, out}, 1, {}, bytes, executor, false};
    if (Status s = p.check()) return s;
    bool two = p[0].dims.size() == 2 && p[1].dims.size() == 2;
    p.need(two && (dim == 1 || dim == -1), "dim, or ranks");
    if (two) p.need(p[0].dims[0] == p[1].dims[0] && p[0].dims[1] == 2 * p[1].dims[1], "shapes");
    p.need(FLOATS.count(p[0].dtype) && p[0].dtype == p[1].dtype, "dtypes");
    return p.finish([](Tensors t) {
        int64_t width = t[1].dims[1];
        for (int64_t r = 0; r < t[1].dims[0]; r++)
            for (int64_t i = 0; i < width; i++) {
                double gate = t[0].get(r * 2 * width + i), up = t[0].get(r * 2 * width + width + i);
                t[1].put(r * width + i, gate / (1 + std::exp(-gate)) * up);
            }
    });
}
SECOND(aclnnSwiGlu)

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
}
