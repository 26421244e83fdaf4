// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// What the operators of the double share: the first phase, which checks what the vendor documents of its parameters.
#pragma once
#include "double.h"

#include <cmath>
#include <cstring>
#include <set>

namespace {
using Tensors = const std::vector<Tensor> &;
[[maybe_unused]] const std::set<int32_t> FLOATS = {F32, F16, BF16};

struct Phase {
    const char *symbol;
    std::vector<const void *> given;
    size_t outputs;   // the last so many
    std::vector<bool> optional;
    uint64_t *bytes;
    void **executor;
    std::set<size_t> packed{}; // tensors that may have no gaps
    std::set<size_t> blocks{}; // tensors in blocks; all others are as their strides say
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
            if (given[i]) need((((const Tensor *)given[i])->format == NZ) == (blocks.count(i) > 0), "the format of a tensor");
            t.push_back(given[i] ? *(const Tensor *)given[i] : Tensor{{}, {}, {}, 0, F32, 2, nullptr});
        }
        return SUCCESS;
    }
    Status finish(std::function<void(Tensors)> compute) {
        for (size_t i : packed) need(!has(i) || t[i].contiguous(), "takes no such tensor with gaps");
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

inline bool same_shape(const Tensor &a, const Tensor &b) { return a.dims == b.dims; }

using Dims = std::vector<int64_t>;
[[maybe_unused]] const std::set<int32_t> INTEGERS = {I32, I64};
// Whether `small` is `large` with dimensions of one in places: what a mask may be.
[[maybe_unused]] bool spreads(const Tensor &small, const Tensor &large) {
    if (small.dims.size() != large.dims.size()) return small.dims.empty();
    for (size_t i = 0; i < small.dims.size(); i++) if (small.dims[i] != 1 && small.dims[i] != large.dims[i]) return false;
    return true;
}
// The place in `small` of an element of `large`.
[[maybe_unused]] int64_t place(const Tensor &small, const Tensor &large, int64_t flat) {
    if (small.dims.empty()) return 0;
    Dims at(large.dims.size());
    for (size_t i = at.size(); i-- > 0;) { at[i] = flat % large.dims[i]; flat /= large.dims[i]; }
    int64_t found = 0;
    for (size_t i = 0; i < at.size(); i++) found = found * small.dims[i] + (small.dims[i] == 1 ? 0 : at[i]);
    return found;
}
// Bit for bit.
[[maybe_unused]] void copy(const Tensor &to, int64_t at, const Tensor &from, int64_t of) {
    size_t size = bytes_of(to.dtype);
    memcpy((char *)to.data + to.at(at) * (int64_t)size, (const char *)from.data + from.at(of) * (int64_t)size, size);
}
[[maybe_unused]] int64_t integer(const void *scalar) { return ((const Scalar *)scalar)->integer; }
[[maybe_unused]] bool is_integer(const void *scalar) { return is_scalar(scalar) && ((const Scalar *)scalar)->dtype == I64; }
[[maybe_unused]] Status no_scalar(const char *symbol) {
    return misuse(PARAM_NULLPTR, std::string(symbol) + "GetWorkspaceSize: a scalar is none, or of another dtype");
}
}

#define GUARD std::lock_guard<std::recursive_mutex> guard(lock())
#define SECOND(name) Status name(void *workspace, uint64_t bytes, void *executor, void *stream) { return launch(#name, workspace, bytes, executor, stream); }
