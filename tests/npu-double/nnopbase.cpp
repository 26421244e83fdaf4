// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// A double of libnnopbase.so for tests: descriptors and executors.
#include "double.h"

#include <cmath>
#include <cstring>
#include <set>

namespace {
std::set<const void *> tensors, scalars, ints, executors;
float half_to_float(uint16_t h) { _Float16 f; memcpy(&f, &h, 2); return (float)f; }
uint16_t to_bf16(double d) {
    // From f64 at once: through f32 it would be rounded twice.
    float f = (float)d;
    uint32_t bits;
    if (f != f) return 0x7fc0;
    memcpy(&bits, &f, 4);
    if (((bits & 0xffff) == 0x8000) && (double)f != d && std::isfinite(f))
        bits += ((std::fabs(d) > std::fabs((double)f)) ? 1 : -1);
    bits += 0x7fff + ((bits >> 16) & 1);
    return (uint16_t)(bits >> 16);
}
}

size_t bytes_of(int32_t dtype) {
    switch (dtype) {
    case F32: case I32: return 4;
    case F16: case BF16: return 2;
    case I8: case U8: case BOOL: return 1;
    case I64: return 8;
    default: return 0;
    }
}
int64_t Tensor::elements() const { int64_t n = 1; for (auto d : dims) n *= d; return n; }
bool Tensor::contiguous() const {
    if (format == NZ) return true;
    int64_t stride = 1;
    for (size_t i = dims.size(); i-- > 0;) { if (dims[i] != 1 && strides[i] != stride) return false; stride *= dims[i]; }
    return true;
}
int64_t Tensor::reach() const {
    if (format == NZ) { int64_t n = 1; for (auto d : storage) n *= d; return n; }
    int64_t last = 0;
    for (size_t i = 0; i < dims.size(); i++) { if (dims[i] == 0) return 0; last += (dims[i] - 1) * strides[i]; }
    return last + 1;
}
int64_t Tensor::at(int64_t flat) const {
    if (format == NZ) {
        int64_t row = flat / dims[1], column = flat % dims[1];
        if (strides[1] != 1) std::swap(row, column);
        return offset + ((column / 16 * storage[1] + row / 16) * 16 + row % 16) * 16 + column % 16;
    }
    int64_t place = offset;
    for (size_t i = dims.size(); i-- > 0;) { place += flat % dims[i] * strides[i]; flat /= dims[i]; }
    return place;
}
double Tensor::get(int64_t flat) const {
    const char *p = (const char *)data + at(flat) * (int64_t)bytes_of(dtype);
    switch (dtype) {
    case F32: { float v; memcpy(&v, p, 4); return v; }
    case F16: { uint16_t v; memcpy(&v, p, 2); return half_to_float(v); }
    case BF16: { uint16_t v; memcpy(&v, p, 2); uint32_t b = (uint32_t)v << 16; float f; memcpy(&f, &b, 4); return f; }
    case I32: { int32_t v; memcpy(&v, p, 4); return v; }
    case I64: { int64_t v; memcpy(&v, p, 8); return (double)v; }
    case I8: return *(const int8_t *)p;
    default: return *(const uint8_t *)p;
    }
}
void Tensor::put(int64_t flat, double value) const {
    char *p = (char *)data + at(flat) * (int64_t)bytes_of(dtype);
    switch (dtype) {
    case F32: { float v = (float)value; memcpy(p, &v, 4); break; }
    case F16: { _Float16 v = (_Float16)value; memcpy(p, &v, 2); break; }
    case BF16: { uint16_t v = to_bf16(value); memcpy(p, &v, 2); break; }
    case I32: { int32_t v = (int32_t)value; memcpy(p, &v, 4); break; }
    case I64: { int64_t v = (int64_t)value; memcpy(p, &v, 8); break; }
    case I8: *(int8_t *)p = (int8_t)value; break;
    default: *(uint8_t *)p = (uint8_t)value;
    }
}

int64_t Tensor::whole(int64_t flat) const {
    const char *p = (const char *)data + at(flat) * (int64_t)bytes_of(dtype);
    switch (dtype) {
    case I64: { int64_t v; memcpy(&v, p, 8); return v; }
    case I32: { int32_t v; memcpy(&v, p, 4); return v; }
    default: return *(const uint8_t *)p;
    }
}
void Tensor::put_whole(int64_t flat, int64_t value) const {
    char *p = (char *)data + at(flat) * (int64_t)bytes_of(dtype);
    switch (dtype) {
    case I64: memcpy(p, &value, 8); break;
    case I32: { int32_t v = (int32_t)value; memcpy(p, &v, 4); break; }
    default: *(uint8_t *)p = (uint8_t)value;
    }
}

bool is_tensor(const void *tensor) { return tensors.count(tensor) > 0; }
bool is_scalar(const void *scalar) { return scalars.count(scalar) > 0; }

// Whether the storage is that of a matrix of 16-bit elements in blocks: plain, or transposed by its strides.
static bool in_blocks(const Tensor &t) {
    if (t.dims.size() != 2 || bytes_of(t.dtype) != 2 || t.offset) return false;
    bool plain = t.strides[1] == 1 && t.strides[0] == t.dims[1], transposed = t.strides[0] == 1 && t.strides[1] == t.dims[0];
    int64_t rows = t.dims[plain ? 0 : 1], columns = t.dims[plain ? 1 : 0];
    return (plain || transposed) && t.storage == std::vector<int64_t>({(columns + 15) / 16, (rows + 15) / 16, 16, 16});
}
Executor *new_executor() { Executor *e = new Executor{}; executors.insert(e); count("executors", 1); return e; }

static void forget(Executor *e) { executors.erase(e); count("executors", -1); delete e; }

Status launch(const char *symbol, void *workspace, uint64_t bytes, void *raw, void *stream) {
    std::lock_guard<std::recursive_mutex> guard(lock());
    Executor *e = (Executor *)raw;
    if (!executors.count(raw)) return misuse(INNER, std::string(symbol) + ": no executor, or one that was launched and not repeatable");
    // Whatever comes of it, an executor that is not repeatable is gone.
    struct Gone { Executor *e; ~Gone() { if (!e->repeatable) forget(e); } } gone{e};
    if (Status s = injected(symbol)) return s;
    if (strcmp(e->symbol, symbol)) return misuse(PARAM_INVALID, std::string(symbol) + ": the executor is of " + e->symbol);
    if (bytes < e->workspace) return misuse(PARAM_INVALID, std::string(symbol) + ": too little workspace");
    if (e->workspace && !is_device(workspace, e->workspace)) return misuse(361001, std::string(symbol) + ": the workspace is no device memory");
    const char *low = (const char *)workspace, *high = low + e->workspace;
    for (size_t i = 0; i < e->tensors.size(); i++) {
        Tensor &t = e->tensors[i];
        if (!e->present[i] || t.elements() == 0) continue;
        const char *p = (const char *)t.data;
        size_t reach = (size_t)t.reach() * bytes_of(t.dtype);
        if (!is_device(p, reach)) return misuse(361001, std::string(symbol) + ": a tensor that is no device memory");
        if (e->workspace && p < high && low < p + reach) return misuse(PARAM_INVALID, std::string(symbol) + ": a tensor lies in the workspace");
        if (e->output[i])
            for (size_t k = 0; k < e->tensors.size(); k++) {
                const char *q = (const char *)e->tensors[k].data;
                size_t other = (size_t)e->tensors[k].reach() * bytes_of(e->tensors[k].dtype);
                if (k != i && e->present[k] && p < q + other && q < p + reach)
                    return misuse(PARAM_INVALID, std::string(symbol) + ": an output lies on another tensor");
            }
    }
    auto compute = e->compute;
    auto copies = e->tensors;
    auto present = e->present;
    uint64_t wants = e->workspace;
    return enqueue(stream, [=] {
        for (size_t i = 0; i < copies.size(); i++)
            if (present[i] && copies[i].elements() && !is_device(copies[i].data, (size_t)copies[i].reach() * bytes_of(copies[i].dtype)))
                return misuse(507015, std::string(symbol) + ": memory was freed before the operator ran");
        // What was in the workspace is lost, as it is on a device.
        if (wants) { if (!is_device(workspace, wants)) return misuse(507015, "the workspace was freed before the operator ran"); memset(workspace, 0x5A, wants); }
        compute(copies);
        return SUCCESS;
    });
}

#define GUARD std::lock_guard<std::recursive_mutex> guard(lock())

extern "C" {
void *aclCreateTensor(const int64_t *dims, uint64_t rank, int32_t dtype, const int64_t *strides, int64_t offset, int32_t format,
                      const int64_t *storage, uint64_t storage_rank, void *data) {
    GUARD;
    if (injected("aclCreateTensor")) return nullptr;
    Tensor *t = new Tensor{};
    t->dims.assign(dims, dims + rank);
    t->strides.assign(strides, strides + rank);
    t->storage.assign(storage, storage + storage_rank);
    t->offset = offset;
    t->dtype = dtype;
    t->format = format;
    t->data = data;
    int64_t room = 1;
    for (auto d : t->storage) room *= d;
    if (bytes_of(dtype) == 0 || (format != ND && format != NZ) || offset + t->reach() > room || (format == NZ && !in_blocks(*t))) {
        misuse(PARAM_INVALID, "aclCreateTensor: an unknown dtype or format, or a view outside its storage");
        delete t;
        return nullptr;
    }
    tensors.insert(t);
    count("tensors", 1);
    return t;
}
Status aclDestroyTensor(const void *t) {
    GUARD;
    if (!tensors.erase(t)) return misuse(INNER, "aclDestroyTensor of no tensor");
    count("tensors", -1);
    delete (Tensor *)t;
    return SUCCESS;
}
void *aclCreateScalar(void *value, int32_t dtype) {
    GUARD;
    if (injected("aclCreateScalar")) return nullptr;
    if (dtype != F32 && dtype != I64) { misuse(PARAM_INVALID, "aclCreateScalar of a dtype that the double has not"); return nullptr; }
    float real = 0;
    int64_t integer = 0;
    if (dtype == F32) memcpy(&real, value, 4); else memcpy(&integer, value, 8);
    Scalar *s = new Scalar{dtype == F32 ? (double)real : (double)integer, integer, dtype};
    scalars.insert(s);
    count("scalars", 1);
    return s;
}
Status aclDestroyScalar(const void *s) {
    GUARD;
    if (!scalars.erase(s)) return misuse(INNER, "aclDestroyScalar of no scalar");
    count("scalars", -1);
    delete (Scalar *)s;
    return SUCCESS;
}
void *aclCreateIntArray(const int64_t *values, uint64_t n) {
    GUARD;
    if (injected("aclCreateIntArray")) return nullptr;
    Ints *made = new Ints{std::vector<int64_t>(values, values + n)};
    ints.insert(made);
    count("int arrays", 1);
    return made;
}
Status aclDestroyIntArray(const void *a) {
    GUARD;
    if (!ints.erase(a)) return misuse(INNER, "aclDestroyIntArray of no array");
    count("int arrays", -1);
    delete (Ints *)a;
    return SUCCESS;
}
Status aclSetAclOpExecutorRepeatable(void *raw) {
    GUARD;
    if (Status s = injected("aclSetAclOpExecutorRepeatable")) return s;
    if (!executors.count(raw)) return misuse(INNER, "aclSetAclOpExecutorRepeatable of no executor");
    ((Executor *)raw)->repeatable = true;
    return SUCCESS;
}
Status aclDestroyAclOpExecutor(void *raw) {
    GUARD;
    if (!executors.count(raw) || !((Executor *)raw)->repeatable) return misuse(INNER, "aclDestroyAclOpExecutor of none, or of one that is not repeatable");
    forget((Executor *)raw);
    return SUCCESS;
}
Status aclSetTensorAddr(void *raw, const size_t index, void *tensor, void *address) {
    GUARD;
    if (Status s = injected("aclSetTensorAddr")) return s;
    Executor *e = (Executor *)raw;
    if (!executors.count(raw) || !e->repeatable || !tensors.count(tensor)) return misuse(INNER, "aclSetTensorAddr without a repeatable executor or a tensor");
    if ((uintptr_t)address % 32) return misuse(PARAM_INVALID, "aclSetTensorAddr: an address that is not aligned to 32 bytes");
    size_t seen = 0;
    for (size_t i = 0; i < e->tensors.size(); i++)
        if (e->present[i] && seen++ == index) {
            if (e->handles[i] != tensor) return misuse(PARAM_INVALID, "aclSetTensorAddr: the index is of another tensor");
            e->tensors[i].data = address;
            return SUCCESS;
        }
    return misuse(PARAM_INVALID, "aclSetTensorAddr: no tensor has this index");
}
}
