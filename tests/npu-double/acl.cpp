// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// A double of libascendcl.so for tests: contexts, streams that run their work when somebody waits for it, memory, events, graphs
// and kernels of this processor. It is strict: what the vendor's reference forbids is an error here, and is noted.
#include "double.h"
#include "host_kernel.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <set>
#include <thread>
#ifdef OPWEAVE_VENDOR_HEADERS
// The vendor's own prototypes: a definition below that differs from one of them does not compile.
#include "acl/acl.h"
#else
typedef int aclError;
typedef void *aclrtContext, *aclrtStream, *aclrtEvent, *aclmdlRI, *aclrtBinHandle, *aclrtFuncHandle;
typedef int aclrtMemMallocPolicy, aclrtMemcpyKind, aclmdlRICaptureMode, aclmdlRICaptureStatus, aclrtDevAttr, aclCANNPackageName;
typedef struct { uint32_t addrOffset, dataOffset; } aclrtPlaceHolderInfo;
typedef struct { char version[128], major[64], minor[64], release[64], patch[64], reserved[128]; } aclCANNPackageVersion;
struct aclrtBinaryLoadOptions;
struct aclrtLaunchKernelCfg;
#endif

namespace {
struct Graph { std::vector<std::function<Status()>> work; };
struct Stream { std::vector<std::function<Status()>> work; Graph *capture = nullptr; bool invalid = false; std::thread::id thread; int device = -1; };
struct Event { bool recorded = false, done = false; double ms = 0; };
struct Binary { void *library; };

struct State {
    std::map<std::string, int64_t> live;
    std::vector<std::string> misuses;
    std::map<std::string, int> calls;
    std::map<uintptr_t, size_t> memory;
    std::set<void *> streams, events, graphs, binaries, functions;
    std::map<int, int> devices;
    bool initialised = false;
    double clock = 0;
    int contexts[8] = {};
    ~State() {
        const char *file = getenv("OPWEAVE_DOUBLE_REPORT");
        FILE *out = file ? fopen(file, "a") : nullptr;
        if (!out) return;
        for (auto &kind : live)
            if (kind.second) fprintf(out, "live %s %lld\n", kind.first.c_str(), (long long)kind.second);
        for (auto &text : misuses) fprintf(out, "misuse %s\n", text.c_str());
        fprintf(out, "end\n");
        fclose(out);
    }
};
State &state() { static State s; return s; }
thread_local std::string recent;
thread_local int current = -1;

std::string variable(const char *name, const char *otherwise) { const char *v = getenv(name); return v ? v : otherwise; }
int device_count() { return atoi(variable("OPWEAVE_DOUBLE_DEVICES", "1").c_str()); }

Status run(std::vector<std::function<Status()>> &work) {
    Status first = SUCCESS;
    for (auto &one : work) { Status s = one(); if (first == SUCCESS) first = s; }
    work.clear();
    return first;
}
Status run_all() {
    Status first = SUCCESS;
    for (void *raw : state().streams) { Status s = run(((Stream *)raw)->work); if (first == SUCCESS) first = s; }
    return first;
}
Stream *stream_of(void *raw) { return state().streams.count(raw) ? (Stream *)raw : nullptr; }
}

std::recursive_mutex &lock() { static std::recursive_mutex m; return m; }
void say(const std::string &what) { recent = what; }
void count(const char *kind, int64_t change) { state().live[kind] += change; }

Status misuse(Status status, const std::string &what) {
    recent = what;
    state().misuses.push_back(what);
    fprintf(stderr, "double: misuse: %s\n", what.c_str());
    return status;
}

// OPWEAVE_DOUBLE_FAIL holds `function=status`, or `function:n=status` for the nth call alone, separated by `;`.
Status injected(const char *function) {
    int call = ++state().calls[function];
    std::string all = variable("OPWEAVE_DOUBLE_FAIL", "");
    for (size_t at = 0; at < all.size();) {
        size_t end = all.find(';', at);
        std::string one = all.substr(at, end == std::string::npos ? end : end - at);
        at = end == std::string::npos ? all.size() : end + 1;
        size_t eq = one.find('='), colon = one.find(':');
        std::string name = one.substr(0, colon < eq ? colon : eq);
        int nth = colon < eq ? atoi(one.c_str() + colon + 1) : 0;
        if (name == function && (nth == 0 || nth == call)) {
            recent = std::string("told to fail in ") + function;
            return atoi(one.c_str() + eq + 1);
        }
    }
    return SUCCESS;
}

bool is_device(const void *address, size_t bytes) {
    uintptr_t a = (uintptr_t)address;
    auto after = state().memory.upper_bound(a);
    if (after == state().memory.begin()) return false;
    --after;
    return a + bytes <= after->first + after->second;
}

Status enqueue(void *raw, std::function<Status()> work) {
    Stream *stream = stream_of(raw);
    if (!stream) return misuse(107003, "work on a stream that does not live");
    if (stream->device != current) return misuse(107003, "work on a stream of another device than the context's");
    if (stream->invalid) { recent = "the capture is invalid"; return 507903; }
    (stream->capture ? stream->capture->work : stream->work).push_back(std::move(work));
    return SUCCESS;
}

#define GUARD std::lock_guard<std::recursive_mutex> guard(lock())
#define BEGIN(name) GUARD; if (Status s = injected(name)) return s
#define CONTEXT(name) do { if (current < 0) { misuse(107002, std::string(name) + " without a context"); return 107002; } } while (0)

extern "C" {
aclError aclInit(const char *) {
    BEGIN("aclInit");
    if (state().initialised) { recent = "initialised already"; return 100002; }
    state().initialised = true;
    return SUCCESS;
}
const char *aclGetRecentErrMsg() {
    thread_local std::string told;
    told = recent;
    recent.clear();
    return told.empty() ? nullptr : told.c_str();
}
aclError aclsysGetCANNVersion(aclCANNPackageName, aclCANNPackageVersion *version) {
    BEGIN("aclsysGetCANNVersion");
    memset(version, 0, sizeof *version);
    strncpy(version->version, variable("OPWEAVE_DOUBLE_VERSION", "8.2.RC1").c_str(), sizeof version->version - 1);
    return SUCCESS;
}
aclError aclsysGetVersionStr(char *, char *version) {
    BEGIN("aclsysGetVersionStr");
    strcpy(version, variable("OPWEAVE_DOUBLE_VERSION", "8.2.RC1").c_str());
    return SUCCESS;
}
aclError aclrtGetDeviceCount(uint32_t *count) { BEGIN("aclrtGetDeviceCount"); *count = device_count(); return SUCCESS; }
const char *aclrtGetSocName() {
    GUARD;
    static std::string name;
    if (injected("aclrtGetSocName")) return nullptr;
    name = variable("OPWEAVE_DOUBLE_CHIP", "Ascend910B3");
    return name.c_str();
}
aclError aclrtGetDeviceInfo(uint32_t, aclrtDevAttr attribute, int64_t *value) {
    BEGIN("aclrtGetDeviceInfo");
    switch ((int)attribute) {
    case 101: *value = 20; return SUCCESS;
    case 201: *value = 40; return SUCCESS;
    case 301: *value = 64ll << 30; return SUCCESS;
    default: return 107000;
    }
}
aclError aclrtSetDevice(int32_t device) {
    BEGIN("aclrtSetDevice");
    if (!state().initialised) return misuse(100001, "aclrtSetDevice before aclInit");
    if (device < 0 || device >= device_count() || device >= 8) { recent = "no such device"; return 107001; }
    state().devices[device]++;
    count("devices set", 1);
    current = device;
    return SUCCESS;
}
aclError aclrtResetDevice(int32_t device) {
    BEGIN("aclrtResetDevice");
    if (state().devices[device] <= 0) return misuse(107000, "aclrtResetDevice more often than aclrtSetDevice");
    state().devices[device]--;
    count("devices set", -1);
    return SUCCESS;
}
aclError aclrtGetCurrentContext(aclrtContext *context) {
    BEGIN("aclrtGetCurrentContext");
    if (current < 0) return 107002;
    *context = &state().contexts[current];
    return SUCCESS;
}
aclError aclrtSetCurrentContext(aclrtContext context) {
    BEGIN("aclrtSetCurrentContext");
    int64_t device = (int *)context - state().contexts;
    if (!context || device < 0 || device >= 8 || !state().devices.count((int)device))
        return misuse(107002, "aclrtSetCurrentContext of a context that never lived");
    // Gone with its device: refused, and no misuse, since what was current on a thread may have gone on another.
    if (state().devices[(int)device] <= 0) { recent = "the context is gone"; return 107002; }
    current = (int)device;
    return SUCCESS;
}
aclError aclrtSynchronizeDevice() { BEGIN("aclrtSynchronizeDevice"); CONTEXT("aclrtSynchronizeDevice"); return run_all(); }

aclError aclrtMalloc(void **address, size_t size, aclrtMemMallocPolicy) {
    BEGIN("aclrtMalloc");
    CONTEXT("aclrtMalloc");
    if (size == 0) return misuse(107000, "aclrtMalloc of nothing");
    size_t limit = strtoull(variable("OPWEAVE_DOUBLE_MEMORY", "17179869184").c_str(), nullptr, 10);
    if (size > limit) { recent = "out of memory"; return 207001; }
    void *p = nullptr;
    // As the runtime does: rounded up to 32 bytes, and 32 more.
    size_t all = (size + 63) / 32 * 32;
    if (posix_memalign(&p, 512, all)) return 207001;
    state().memory[(uintptr_t)p] = all;
    count("allocations", 1);
    count("bytes", (int64_t)all);
    memset(p, 0xA5, all);
    *address = p;
    return SUCCESS;
}
aclError aclrtFree(void *address) {
    BEGIN("aclrtFree");
    CONTEXT("aclrtFree");
    auto found = state().memory.find((uintptr_t)address);
    if (found == state().memory.end()) return misuse(107000, "aclrtFree of what was not allocated");
    run_all();
    count("allocations", -1);
    count("bytes", -(int64_t)found->second);
    state().memory.erase(found);
    free(address);
    return SUCCESS;
}
aclError aclrtMemcpy(void *to, size_t room, const void *from, size_t bytes, aclrtMemcpyKind kind) {
    BEGIN("aclrtMemcpy");
    CONTEXT("aclrtMemcpy");
    if (bytes > room || bytes == 0) return misuse(107000, "aclrtMemcpy of nothing, or past its room");
    bool device_to = (int)kind == 1 || (int)kind == 3, device_from = (int)kind == 2 || (int)kind == 3;
    if (is_device(to, bytes) != device_to || is_device(from, bytes) != device_from)
        return misuse(107000, "aclrtMemcpy between other kinds of memory than it says");
    memcpy(to, from, bytes);
    return SUCCESS;
}
aclError aclrtMemset(void *to, size_t room, int32_t value, size_t bytes) {
    BEGIN("aclrtMemset");
    CONTEXT("aclrtMemset");
    if (bytes > room || !is_device(to, bytes)) return misuse(107000, "aclrtMemset outside device memory");
    memset(to, value, bytes);
    return SUCCESS;
}

aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t, uint32_t) {
    BEGIN("aclrtCreateStreamWithConfig");
    CONTEXT("aclrtCreateStreamWithConfig");
    Stream *made = new Stream;
    made->device = current;
    state().streams.insert(made);
    count("streams", 1);
    *stream = made;
    return SUCCESS;
}
aclError aclrtDestroyStream(aclrtStream raw) {
    BEGIN("aclrtDestroyStream");
    CONTEXT("aclrtDestroyStream");
    Stream *stream = stream_of(raw);
    if (!stream) return misuse(107003, "aclrtDestroyStream of no stream");
    run(stream->work);
    delete stream->capture;
    state().streams.erase(raw);
    count("streams", -1);
    delete stream;
    return SUCCESS;
}
aclError aclrtSynchronizeStream(aclrtStream raw) {
    BEGIN("aclrtSynchronizeStream");
    CONTEXT("aclrtSynchronizeStream");
    Stream *stream = stream_of(raw);
    if (!stream || stream->device != current) return misuse(107003, "aclrtSynchronizeStream of no stream of this context's device");
    if (stream->capture) { stream->invalid = true; return misuse(107027, "aclrtSynchronizeStream while it captures"); }
    return run(stream->work);
}

aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag) {
    BEGIN("aclrtCreateEventWithFlag");
    CONTEXT("aclrtCreateEventWithFlag");
    if (flag != 8) return misuse(107000, "an event that takes no time");
    Event *made = new Event;
    state().events.insert(made);
    count("events", 1);
    *event = made;
    return SUCCESS;
}
aclError aclrtDestroyEvent(aclrtEvent raw) {
    BEGIN("aclrtDestroyEvent");
    if (!state().events.erase(raw)) return misuse(107000, "aclrtDestroyEvent of no event");
    run_all();
    count("events", -1);
    delete (Event *)raw;
    return SUCCESS;
}
aclError aclrtRecordEvent(aclrtEvent raw, aclrtStream stream) {
    BEGIN("aclrtRecordEvent");
    if (!state().events.count(raw)) return misuse(107000, "aclrtRecordEvent of no event");
    Event *event = (Event *)raw;
    event->recorded = true;
    event->done = false;
    return enqueue(stream, [event] { event->done = true; event->ms = state().clock += 0.01; return SUCCESS; });
}
aclError aclrtSynchronizeEvent(aclrtEvent raw) {
    BEGIN("aclrtSynchronizeEvent");
    if (!state().events.count(raw) || !((Event *)raw)->recorded) return misuse(107000, "waiting for an event that was not recorded");
    return run_all();
}
aclError aclrtEventElapsedTime(float *ms, aclrtEvent start, aclrtEvent end) {
    BEGIN("aclrtEventElapsedTime");
    if (!state().events.count(start) || !state().events.count(end)) return misuse(107000, "the time between no events");
    if (!((Event *)start)->done || !((Event *)end)->done) return misuse(107006, "the time between events that have not happened");
    *ms = (float)(((Event *)end)->ms - ((Event *)start)->ms);
    return SUCCESS;
}

aclError aclmdlRICaptureBegin(aclrtStream raw, aclmdlRICaptureMode) {
    BEGIN("aclmdlRICaptureBegin");
    CONTEXT("aclmdlRICaptureBegin");
    Stream *stream = stream_of(raw);
    if (!stream || stream->capture) return misuse(107027, "a capture of no stream, or of one that captures");
    stream->capture = new Graph;
    stream->thread = std::this_thread::get_id();
    return SUCCESS;
}
aclError aclmdlRICaptureGetInfo(aclrtStream raw, aclmdlRICaptureStatus *status, aclmdlRI *graph) {
    BEGIN("aclmdlRICaptureGetInfo");
    Stream *stream = stream_of(raw);
    if (!stream) return misuse(107003, "aclmdlRICaptureGetInfo of no stream");
    *status = (aclmdlRICaptureStatus)(stream->capture ? (stream->invalid ? 2 : 1) : 0);
    *graph = stream->capture;
    return SUCCESS;
}
aclError aclmdlRICaptureEnd(aclrtStream raw, aclmdlRI *graph) {
    GUARD;
    CONTEXT("aclmdlRICaptureEnd");
    Stream *stream = stream_of(raw);
    if (!stream || !stream->capture) return misuse(107029, "the end of no capture");
    if (stream->thread != std::this_thread::get_id()) return misuse(107038, "a capture that ends on another thread");
    Graph *made = stream->capture;
    stream->capture = nullptr;
    Status told = injected("aclmdlRICaptureEnd");
    if (told || stream->invalid) { delete made; *graph = nullptr; stream->invalid = false; return told ? told : 507903; }
    state().graphs.insert(made);
    count("graphs", 1);
    *graph = made;
    return SUCCESS;
}
aclError aclmdlRIExecuteAsync(aclmdlRI raw, aclrtStream stream) {
    BEGIN("aclmdlRIExecuteAsync");
    if (!state().graphs.count(raw)) return misuse(107000, "the execution of no graph");
    return enqueue(stream, [raw] {
        if (!state().graphs.count(raw)) return misuse(107000, "a graph that was destroyed while it was to run");
        auto work = ((Graph *)raw)->work;
        return run(work);
    });
}
aclError aclmdlRIDestroy(aclmdlRI raw) {
    BEGIN("aclmdlRIDestroy");
    if (!state().graphs.erase(raw)) return misuse(107000, "aclmdlRIDestroy of no graph");
    count("graphs", -1);
    delete (Graph *)raw;
    return SUCCESS;
}

aclError aclrtBinaryLoadFromFile(const char *path, aclrtBinaryLoadOptions *, aclrtBinHandle *binary) {
    BEGIN("aclrtBinaryLoadFromFile");
    CONTEXT("aclrtBinaryLoadFromFile");
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) { recent = dlerror(); return 107009; }
    const uint32_t *abi = (const uint32_t *)dlsym(library, "opweave_host_kernel_abi");
    if (!abi || *abi != OPWEAVE_HOST_KERNEL_ABI) { dlclose(library); recent = "no host kernel of this version"; return 107000; }
    Binary *made = new Binary{library};
    state().binaries.insert(made);
    count("binaries", 1);
    *binary = made;
    return SUCCESS;
}
aclError aclrtBinaryUnLoad(aclrtBinHandle raw) {
    BEGIN("aclrtBinaryUnLoad");
    if (!state().binaries.erase(raw)) return misuse(107017, "aclrtBinaryUnLoad of no binary");
    run_all();
    dlclose(((Binary *)raw)->library);
    count("binaries", -1);
    delete (Binary *)raw;
    return SUCCESS;
}
aclError aclrtBinaryGetFunction(const aclrtBinHandle raw, const char *name, aclrtFuncHandle *function) {
    BEGIN("aclrtBinaryGetFunction");
    if (!state().binaries.count((void *)raw)) return misuse(107017, "a function of no binary");
    void *found = dlsym(((Binary *)raw)->library, name);
    if (!found) { recent = std::string("no kernel ") + name; return 507027; }
    state().functions.insert(found);
    *function = found;
    return SUCCESS;
}
aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle function, uint32_t blocks, aclrtStream stream, aclrtLaunchKernelCfg *,
                                       void *args, size_t size, aclrtPlaceHolderInfo *places, size_t count_of_places) {
    BEGIN("aclrtLaunchKernelWithHostArgs");
    CONTEXT("aclrtLaunchKernelWithHostArgs");
    if (!state().functions.count(function)) return misuse(107044, "the launch of no function");
    if (blocks == 0 || blocks > 65535 || !args || !size) return misuse(107000, "a launch of no block, or without arguments");
    // Copied at once, as the runtime does; 64 bytes more, so that whoever reads past the end reads what is not there.
    auto copy = std::make_shared<std::vector<uint64_t>>(size / 8 + 9, 0xDEADDEADDEADDEADull);
    memcpy(copy->data(), args, size);
    for (size_t i = 0; i < count_of_places; i++) {
        if (places[i].addrOffset + 8u > size || places[i].dataOffset >= size || places[i].addrOffset % 8)
            return misuse(107000, "a placeholder outside the arguments");
        uint64_t address = (uint64_t)(uintptr_t)copy->data() + places[i].dataOffset;
        memcpy((char *)copy->data() + places[i].addrOffset, &address, 8);
    }
    return enqueue(stream, [=] {
        std::atomic<int32_t> failed{0};
        std::mutex one;
        std::string message;
        std::vector<std::thread> threads;
        for (uint32_t block = 0; block < blocks; block++)
            threads.emplace_back([&, block] {
                char text[512] = "";
                opweave_host_block told{block, blocks, copy->data(), size, text, sizeof text};
                if (int32_t s = ((opweave_host_kernel)function)(&told)) {
                    std::lock_guard<std::mutex> guard(one);
                    if (!failed) message = text;
                    failed = s;
                }
            });
        for (auto &thread : threads) thread.join();
        if (!failed) return SUCCESS;
        recent = message;
        fprintf(stderr, "double: kernel: %s\n", message.c_str());
        return (Status)507035;
    });
}
}
