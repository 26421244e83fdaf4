// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// What the three libraries of the double share: its state, how it fails when told to, and how it counts.
#pragma once

#include <cstdint>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

using Status = int32_t;
constexpr Status SUCCESS = 0, PARAM_NULLPTR = 161001, PARAM_INVALID = 161002, INNER = 561103;

enum Dtype : int32_t { F32 = 0, F16 = 1, I8 = 2, I32 = 3, U8 = 4, I64 = 9, BOOL = 12, BF16 = 27 };
// Formats: as the strides say, and in blocks of 16 by 16.
constexpr int32_t ND = 2, NZ = 29;
size_t bytes_of(int32_t dtype);

// What the operator libraries need of the runtime. All of it is called with the lock held.
std::recursive_mutex &lock();
// The status that the environment asks this function to fail with at this call, or 0.
Status injected(const char *function);
// A misuse: noted in the report and said on stderr. Gives the status back.
Status misuse(Status status, const std::string &what);
// What aclGetRecentErrMsg says next on this thread.
void say(const std::string &what);
void count(const char *kind, int64_t change);
// Whether all of these bytes are device memory that is allocated.
bool is_device(const void *address, size_t bytes);
// Puts work on a stream; the error is misuse unless the stream lives.
Status enqueue(void *stream, std::function<Status()> work);

struct Tensor {
    std::vector<int64_t> dims, strides, storage;
    int64_t offset;
    int32_t dtype, format;
    void *data;

    int64_t elements() const;
    bool contiguous() const;
    // Elements from the first to behind the last.
    int64_t reach() const;
    double get(int64_t flat) const;
    void put(int64_t flat, double value) const;
    // Integers and booleans, all 64 bits of them.
    int64_t whole(int64_t flat) const;
    void put_whole(int64_t flat, int64_t value) const;
    int64_t at(int64_t flat) const;
};

struct Scalar { double value; int64_t integer; int32_t dtype; };
struct Ints { std::vector<int64_t> values; };

// An operator as the second phase runs it: descriptors with the addresses of the launch, and the workspace.
struct Executor {
    const char *symbol;
    std::vector<Tensor *> handles;  // as given, null where absent
    std::vector<Tensor> tensors;    // copies; `data` is what aclSetTensorAddr changes
    std::vector<bool> present, output;
    uint64_t workspace;
    bool repeatable, launched;
    std::function<void(const std::vector<Tensor> &)> compute;
};

bool is_tensor(const void *tensor);
bool is_scalar(const void *scalar);
Executor *new_executor();
// The second phase of every operator.
Status launch(const char *symbol, void *workspace, uint64_t bytes, void *executor, void *stream);
