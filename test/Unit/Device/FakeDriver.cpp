//===- FakeDriver.cpp - A driver without a GPU ------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The declarations are the test's own, so that those of the runtime are not
// compared with themselves.
//
//===----------------------------------------------------------------------===//

#include "FakeDriver.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <unistd.h>

using namespace fake_driver;

namespace {
struct Kernel {
  std::function<int(const Launch &)> function;
  int staticSharedBytes;
};

/// A function of a module that is loaded.
struct LoadedFunction {
  std::string name;
  void *module;
  int maxDynamicShared;
};

struct Allocation {
  size_t bytes;
  void *pool;
};

/// Memory that was released, and is kept.
struct KeptMemory {
  void *stream; ///< that has not been waited for since; else null
  size_t bytes;
};

struct State {
  std::mutex lock;
  Settings settings;
  std::map<std::string, Kernel> kernels;
  std::map<std::string, int> calls;
  std::vector<std::string> violations;
  std::string failingFunction;
  int failingCall = 0; ///< 0: none
  int failingCode = 0;
  int poison = 0;       ///< the fault after which every call fails
  int pendingFault = 0; ///< found when the host waits
  bool mustBeEmptyAtExit = false;

  int retained[8] = {};
  std::set<void *> streams;
  std::map<void *, uint64_t> pools; ///< and their release thresholds
  std::map<void *, std::set<std::string>> modules;
  std::map<void *, LoadedFunction> functions;
  /// The modules of the kernels that may still run, by their streams.
  std::map<void *, std::set<void *>> running;
  std::map<char *, Allocation> memory;
  std::map<void *, const char *> handles; ///< and their names
  std::vector<KeptMemory> kept;

  ~State();
  std::vector<std::string> getAlive();
  bool isAllocated(unsigned long long address, size_t bytes);
  void clear();
  size_t usedBytes = 0;
  size_t keptBytes();
};
} // namespace

constexpr int maxDynamicWithoutAsking = 48 * 1024;
constexpr int maxShared = 227 * 1024;

static State state;
// Without a destructor: handlers at exit run after those of this thread.
static thread_local void *contexts[16];
static thread_local int contextDepth = 0;

static void *getContext(int device) { return &state.retained[device]; }

State::~State() {
  if (mustBeEmptyAtExit && !violations.empty())
    _exit(97);
  if (mustBeEmptyAtExit && !getAlive().empty())
    _exit(99);
  clear();
}

std::vector<std::string> State::getAlive() {
  std::vector<std::string> alive;
  for (int device = 0; device < 8; ++device)
    if (retained[device])
      alive.push_back("context");
  alive.insert(alive.end(), streams.size(), "stream");
  alive.insert(alive.end(), pools.size(), "pool");
  alive.insert(alive.end(), modules.size(), "module");
  for (const auto &[handle, name] : handles)
    alive.push_back(name);
  for (const auto &[address, allocation] : memory)
    alive.push_back("memory of " + std::to_string(allocation.bytes) + " bytes");
  return alive;
}

bool State::isAllocated(unsigned long long address, size_t bytes) {
  auto next = memory.upper_bound(reinterpret_cast<char *>(address));
  if (next == memory.begin())
    return false;
  auto &[begin, allocation] = *std::prev(next);
  return address + bytes <=
         reinterpret_cast<unsigned long long>(begin) + allocation.bytes;
}

void State::clear() {
  for (void *stream : streams)
    free(stream);
  for (const auto &[pool, threshold] : pools)
    free(pool);
  for (const auto &[module, names] : modules)
    free(module);
  for (const auto &[function, loaded] : functions)
    free(function);
  for (const auto &[address, allocation] : memory)
    free(address);
  for (const auto &[handle, name] : handles)
    free(handle);
  streams.clear();
  handles.clear();
  pools.clear();
  modules.clear();
  functions.clear();
  memory.clear();
  running.clear();
  usedBytes = 0;
  kept.clear();
  for (int &count : retained)
    count = 0;
}

size_t State::keptBytes() {
  size_t bytes = 0;
  for (const KeptMemory &block : kept)
    bytes += block.bytes;
  return bytes;
}

void fake_driver::reset() {
  std::lock_guard<std::mutex> guard(state.lock);
  state.clear();
  state.settings = Settings();
  state.kernels.clear();
  state.calls.clear();
  state.violations.clear();
  state.failingCall = 0;
  state.poison = 0;
  state.pendingFault = 0;
}

Settings &fake_driver::settings() { return state.settings; }

void fake_driver::defineKernel(const std::string &name,
                               std::function<int(const Launch &)> kernel,
                               int staticSharedBytes) {
  std::lock_guard<std::mutex> guard(state.lock);
  state.kernels[name] = {std::move(kernel), staticSharedBytes};
}

void fake_driver::failCall(const std::string &function, int n, int code) {
  std::lock_guard<std::mutex> guard(state.lock);
  state.failingFunction = function;
  state.failingCall = n;
  state.failingCode = code;
}

bool fake_driver::hasFailed() {
  std::lock_guard<std::mutex> guard(state.lock);
  return state.failingCall == 0;
}

int fake_driver::countCalls(const std::string &function) {
  std::lock_guard<std::mutex> guard(state.lock);
  return state.calls[function];
}

int fake_driver::countAllCalls() {
  std::lock_guard<std::mutex> guard(state.lock);
  int count = 0;
  for (const auto &[function, calls] : state.calls)
    count += calls;
  return count;
}

std::vector<std::string> fake_driver::getViolations() {
  std::lock_guard<std::mutex> guard(state.lock);
  return state.violations;
}

std::vector<std::string> fake_driver::getAlive() {
  std::lock_guard<std::mutex> guard(state.lock);
  return state.getAlive();
}

std::vector<uint64_t> fake_driver::getPoolLimits() {
  std::lock_guard<std::mutex> guard(state.lock);
  std::vector<uint64_t> limits;
  for (const auto &[pool, threshold] : state.pools)
    limits.push_back(threshold);
  return limits;
}

int fake_driver::getContextDepth() { return contextDepth; }

void fake_driver::demandNothingAliveAtExit() { state.mustBeEmptyAtExit = true; }

namespace {
/// A call of the driver, which holds its lock.
struct Call {
  std::lock_guard<std::mutex> guard{state.lock};
  std::string function;
  int code = 0;

  Call(const char *function) : function(function) {
    ++state.calls[function];
    if (state.settings.isGone)
      code = 4;
    else if (takeFailure())
      code = state.failingCode;
    if (code >= 700 && code < 800 && code != 701)
      state.poison = code;
  }

  bool takeFailure() {
    if (!state.failingCall ||
        (!state.failingFunction.empty() && state.failingFunction != function))
      return false;
    return --state.failingCall == 0;
  }

  void report(const std::string &what) {
    state.violations.push_back(function + ": " + what);
  }

  void demand(bool condition, const char *what) {
    if (!condition)
      report(what);
  }
};

/// A call that needs a context.
struct ContextCall : Call {
  ContextCall(const char *function) : Call(function) {
    if (!contextDepth)
      report("no context is current");
    else if (!*static_cast<int *>(contexts[contextDepth - 1]))
      report("the context has been released");
    if (!code)
      code = state.poison;
  }

  void demandStream(void *stream) {
    demand(state.streams.count(stream), "the stream is not alive");
  }

  void demandMemory(unsigned long long address, size_t bytes) {
    if (state.isAllocated(address, bytes))
      return;
    report("the memory is not allocated");
    code = code ? code : 1;
  }

  /// A fault of a kernel is found now.
  void wait() {
    if (code || !state.pendingFault)
      return;
    code = state.poison = state.pendingFault;
  }
};
} // namespace

int fake_driver::beginCall(const std::string &function, bool needsContext) {
  if (needsContext)
    return ContextCall(function.c_str()).code;
  return Call(function.c_str()).code;
}

void fake_driver::reportViolation(const std::string &function,
                                  const std::string &what) {
  std::lock_guard<std::mutex> guard(state.lock);
  state.violations.push_back(function + ": " + what);
}

bool fake_driver::isAllocated(const void *address, size_t bytes) {
  std::lock_guard<std::mutex> guard(state.lock);
  return state.isAllocated(reinterpret_cast<unsigned long long>(address),
                           bytes);
}

bool fake_driver::isStream(void *stream) {
  std::lock_guard<std::mutex> guard(state.lock);
  return state.streams.count(stream) != 0;
}

void *fake_driver::createHandle(const char *name, size_t bytes) {
  std::lock_guard<std::mutex> guard(state.lock);
  void *handle = calloc(1, bytes);
  state.handles[handle] = name;
  return handle;
}

bool fake_driver::isHandle(void *handle, const char *name) {
  std::lock_guard<std::mutex> guard(state.lock);
  auto found = state.handles.find(handle);
  return found != state.handles.end() && std::strcmp(found->second, name) == 0;
}

void fake_driver::destroyHandle(void *handle) {
  std::lock_guard<std::mutex> guard(state.lock);
  if (state.handles.erase(handle))
    free(handle);
}

#define FUNCTION extern "C" FAKE_DRIVER_EXPORT int

// The names are the driver's.
// NOLINTBEGIN(readability-identifier-naming)

//===----------------------------------------------------------------------===//
// The driver and its devices
//===----------------------------------------------------------------------===//

FUNCTION cuInit(unsigned flags) {
  Call call("cuInit");
  call.demand(flags == 0, "flags");
  return call.code;
}

FUNCTION cuDriverGetVersion(int *version) {
  Call call("cuDriverGetVersion");
  *version = state.settings.version;
  return call.code;
}

static const char *getName(int code) {
  switch (code) {
  case 1:
    return "CUDA_ERROR_INVALID_VALUE";
  case 2:
    return "CUDA_ERROR_OUT_OF_MEMORY";
  case 100:
    return "CUDA_ERROR_NO_DEVICE";
  case 209:
    return "CUDA_ERROR_NO_BINARY_FOR_GPU";
  case 218:
    return "CUDA_ERROR_INVALID_PTX";
  case 500:
    return "CUDA_ERROR_NOT_FOUND";
  case 700:
    return "CUDA_ERROR_ILLEGAL_ADDRESS";
  case 701:
    return "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES";
  default:
    return nullptr;
  }
}

FUNCTION cuGetErrorName(int code, const char **name) {
  *name = getName(code);
  return *name ? 0 : 1;
}

FUNCTION cuGetErrorString(int code, const char **text) {
  *text = getName(code) ? "text of the driver" : nullptr;
  return *text ? 0 : 1;
}

FUNCTION cuDeviceGetCount(int *count) {
  Call call("cuDeviceGetCount");
  *count = state.settings.gpus;
  return call.code;
}

FUNCTION cuDeviceGet(int *device, int number) {
  Call call("cuDeviceGet");
  *device = number;
  call.demand(number >= 0 && number < state.settings.gpus, "no such device");
  return call.code;
}

FUNCTION cuDeviceGetName(char *name, int capacity, int device) {
  Call call("cuDeviceGetName");
  std::snprintf(name, capacity, "Fake GPU %d", device);
  return call.code;
}

FUNCTION cuDeviceGetAttribute(int *value, int attribute, int device) {
  Call call("cuDeviceGetAttribute");
  switch (attribute) {
  case 1:
  case 2:
  case 3:
    *value = 1024;
    break;
  case 4:
    *value = 64;
    break;
  case 5:
    *value = 0x7fffffff;
    break;
  case 6:
  case 7:
    *value = 65535;
    break;
  case 8:
    *value = maxDynamicWithoutAsking;
    break;
  case 16:
    *value = 132;
    break;
  case 75:
    *value = state.settings.major;
    break;
  case 76:
    *value = state.settings.minor;
    break;
  case 97:
    *value = maxShared;
    break;
  case 115:
    *value = state.settings.hasPools;
    break;
  default:
    call.report("attribute " + std::to_string(attribute));
  }
  return call.code;
}

FUNCTION cuDeviceTotalMem_v2(size_t *bytes, int device) {
  Call call("cuDeviceTotalMem_v2");
  *bytes = state.settings.memory;
  return call.code;
}

FUNCTION cuDevicePrimaryCtxRetain(void **context, int device) {
  Call call("cuDevicePrimaryCtxRetain");
  if (call.code)
    return call.code;
  ++state.retained[device];
  *context = getContext(device);
  return 0;
}

FUNCTION cuDevicePrimaryCtxRelease_v2(int device) {
  Call call("cuDevicePrimaryCtxRelease_v2");
  call.demand(state.retained[device] > 0, "released too often");
  if (state.retained[device] > 0 && --state.retained[device] == 0) {
    // A context that is lost takes all that is of it along.
    if (state.poison)
      state.clear();
  }
  return call.code;
}

FUNCTION cuCtxPushCurrent_v2(void *context) {
  Call call("cuCtxPushCurrent_v2");
  call.demand(contextDepth < 16, "too many contexts");
  if (call.code) {
    // A context that cannot be made current is lost.
    state.poison = call.code;
    return call.code;
  }
  contexts[contextDepth++] = context;
  return 0;
}

FUNCTION cuCtxPopCurrent_v2(void **context) {
  Call call("cuCtxPopCurrent_v2");
  call.demand(contextDepth > 0, "no context is current");
  if (contextDepth > 0)
    *context = contexts[--contextDepth];
  return call.code;
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

FUNCTION cuStreamCreate(void **stream, unsigned flags) {
  ContextCall call("cuStreamCreate");
  call.demand(flags == 1, "flags");
  if (call.code)
    return call.code;
  *stream = malloc(1);
  state.streams.insert(*stream);
  return 0;
}

// A function that releases does so even if it fails: there would be no way to
// do it later.
FUNCTION cuStreamDestroy_v2(void *stream) {
  ContextCall call("cuStreamDestroy_v2");
  call.demandStream(stream);
  if (state.streams.erase(stream))
    free(stream);
  return call.code;
}

FUNCTION cuStreamSynchronize(void *stream) {
  ContextCall call("cuStreamSynchronize");
  call.demandStream(stream);
  call.wait();
  if (call.code)
    return call.code;
  state.running.erase(stream);
  for (KeptMemory &block : state.kept)
    if (block.stream == stream)
      block.stream = nullptr;
  return 0;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

FUNCTION cuMemGetInfo_v2(size_t *free, size_t *total) {
  ContextCall call("cuMemGetInfo_v2");
  *total = state.settings.memory;
  *free = *total - state.usedBytes - state.keptBytes();
  return call.code;
}

namespace {
struct PoolProperties {
  int allocationType;
  int handleTypes;
  int locationType;
  int locationId;
  unsigned char zero[72];
};
} // namespace

FUNCTION cuMemPoolCreate(void **pool, const PoolProperties *properties) {
  ContextCall call("cuMemPoolCreate");
  call.demand(properties->allocationType == 1 && !properties->handleTypes &&
                  properties->locationType == 1,
              "properties");
  call.demand(!contextDepth || contexts[contextDepth - 1] ==
                                   getContext(properties->locationId),
              "the pool of another device");
  for (unsigned char byte : properties->zero)
    call.demand(byte == 0, "properties that must be 0");
  if (call.code)
    return call.code;
  *pool = malloc(1);
  state.pools[*pool] = 0;
  return 0;
}

FUNCTION cuMemPoolDestroy(void *pool) {
  ContextCall call("cuMemPoolDestroy");
  call.demand(state.pools.count(pool), "the pool is not alive");
  for (const auto &[address, allocation] : state.memory)
    call.demand(allocation.pool != pool, "memory of the pool is alive");
  if (state.pools.erase(pool))
    free(pool);
  if (state.pools.empty())
    state.kept.clear();
  return call.code;
}

FUNCTION cuMemPoolSetAttribute(void *pool, int attribute, void *value) {
  ContextCall call("cuMemPoolSetAttribute");
  call.demand(state.pools.count(pool), "the pool is not alive");
  call.demand(attribute == 4, "attribute");
  if (!call.code)
    std::memcpy(&state.pools[pool], value, sizeof(uint64_t));
  return call.code;
}

FUNCTION cuMemPoolGetAttribute(void *pool, int attribute, void *value) {
  ContextCall call("cuMemPoolGetAttribute");
  call.demand(state.pools.count(pool), "the pool is not alive");
  uint64_t result = 0;
  if (attribute == 4)
    result = state.pools[pool];
  else if (attribute == 5)
    result = state.usedBytes + state.keptBytes();
  else
    call.report("attribute");
  std::memcpy(value, &result, sizeof(result));
  return call.code;
}

FUNCTION cuMemPoolTrimTo(void *pool, size_t bytesToKeep) {
  ContextCall call("cuMemPoolTrimTo");
  call.demand(state.pools.count(pool), "the pool is not alive");
  if (call.code)
    return call.code;
  std::vector<KeptMemory> left;
  for (const KeptMemory &block : state.kept)
    if (block.stream)
      left.push_back(block);
  state.kept = left;
  return 0;
}

FUNCTION cuMemAllocFromPoolAsync(unsigned long long *address, size_t bytes,
                                 void *pool, void *stream) {
  ContextCall call("cuMemAllocFromPoolAsync");
  call.demand(state.pools.count(pool), "the pool is not alive");
  call.demandStream(stream);
  if (call.code)
    return call.code;
  if (bytes == 0)
    return 1;
  // Kept memory of another size is not used: it would be fragmented.
  for (auto block = state.kept.begin(); block != state.kept.end(); ++block)
    if (block->bytes == bytes && (!block->stream || block->stream == stream)) {
      state.kept.erase(block);
      break;
    }
  if (bytes > state.settings.memory ||
      state.usedBytes + state.keptBytes() > state.settings.memory - bytes)
    return 2;
  char *memory =
      static_cast<char *>(aligned_alloc(256, (bytes + 255) / 256 * 256));
  std::memset(memory, 0xFF, bytes);
  state.memory[memory] = {bytes, pool};
  state.usedBytes += bytes;
  *address = reinterpret_cast<unsigned long long>(memory);
  return 0;
}

FUNCTION cuMemFreeAsync(unsigned long long address, void *stream) {
  ContextCall call("cuMemFreeAsync");
  call.demandStream(stream);
  auto found = state.memory.find(reinterpret_cast<char *>(address));
  if (found == state.memory.end()) {
    call.report("the memory is not allocated");
    return 1;
  }
  state.kept.push_back({stream, found->second.bytes});
  state.usedBytes -= found->second.bytes;
  free(found->first);
  state.memory.erase(found);
  return call.code;
}

FUNCTION cuMemcpyHtoDAsync_v2(unsigned long long destination,
                              const void *source, size_t bytes, void *stream) {
  ContextCall call("cuMemcpyHtoDAsync_v2");
  call.demandStream(stream);
  call.demandMemory(destination, bytes);
  if (!call.code)
    std::memcpy(reinterpret_cast<void *>(destination), source, bytes);
  return call.code;
}

FUNCTION cuMemcpyDtoHAsync_v2(void *destination, unsigned long long source,
                              size_t bytes, void *stream) {
  ContextCall call("cuMemcpyDtoHAsync_v2");
  call.demandStream(stream);
  call.demandMemory(source, bytes);
  if (!call.code)
    std::memcpy(destination, reinterpret_cast<void *>(source), bytes);
  return call.code;
}

FUNCTION cuMemcpyDtoDAsync_v2(unsigned long long destination,
                              unsigned long long source, size_t bytes,
                              void *stream) {
  ContextCall call("cuMemcpyDtoDAsync_v2");
  call.demandStream(stream);
  call.demandMemory(destination, bytes);
  call.demandMemory(source, bytes);
  if (!call.code)
    std::memcpy(reinterpret_cast<void *>(destination),
                reinterpret_cast<void *>(source), bytes);
  return call.code;
}

template <typename T>
static int fill(const char *function, unsigned long long destination, T value,
                size_t pitch, size_t height, void *stream) {
  ContextCall call(function);
  call.demandStream(stream);
  call.demand(destination % sizeof(T) == 0, "the address is not aligned");
  if (height)
    call.demandMemory(destination, pitch * (height - 1) + sizeof(T));
  for (size_t i = 0; !call.code && i < height; ++i)
    std::memcpy(reinterpret_cast<char *>(destination) + i * pitch, &value,
                sizeof(T));
  return call.code;
}

FUNCTION cuMemsetD8Async(unsigned long long destination, unsigned char value,
                         size_t count, void *stream) {
  return fill("cuMemsetD8Async", destination, value, 1, count, stream);
}

FUNCTION cuMemsetD16Async(unsigned long long destination, unsigned short value,
                          size_t count, void *stream) {
  return fill("cuMemsetD16Async", destination, value, 2, count, stream);
}

FUNCTION cuMemsetD32Async(unsigned long long destination, unsigned value,
                          size_t count, void *stream) {
  return fill("cuMemsetD32Async", destination, value, 4, count, stream);
}

FUNCTION cuMemsetD2D32Async(unsigned long long destination, size_t pitch,
                            unsigned value, size_t width, size_t height,
                            void *stream) {
  if (width != 1)
    return 1;
  return fill("cuMemsetD2D32Async", destination, value, pitch, height, stream);
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

/// Its map is a text with the arguments.
FUNCTION cuTensorMapEncodeTiled(void *map, int elementType, unsigned rank,
                                void *address, const uint64_t *extents,
                                const uint64_t *strides, const unsigned *box,
                                const unsigned *steps, int interleave,
                                int swizzle, int promotion, int fill) {
  ContextCall call("cuTensorMapEncodeTiled");
  call.demand(reinterpret_cast<uintptr_t>(map) % 64 == 0,
              "the map is not aligned");
  call.demandMemory(reinterpret_cast<unsigned long long>(address), 1);
  if (call.code)
    return call.code;
  std::string text = "element " + std::to_string(elementType) + " of";
  for (unsigned i = 0; i < rank; ++i)
    text += " " + std::to_string(extents[i]) + "/" + std::to_string(box[i]) +
            "/" + std::to_string(steps[i]) +
            (i ? "/" + std::to_string(strides[i - 1]) : std::string());
  text += " modes";
  for (int mode : {interleave, swizzle, promotion, fill})
    text += " " + std::to_string(mode);
  std::memset(map, 0, 128);
  std::memcpy(map, text.data(), std::min(text.size(), size_t(127)));
  return 0;
}

//===----------------------------------------------------------------------===//
// Modules and launches
//===----------------------------------------------------------------------===//

/// The data of a module is a text: "kernels: a b", or "refused: 218 why".
FUNCTION cuModuleLoadDataEx(void **module, const void *data,
                            unsigned optionCount, int *options, void **values) {
  ContextCall call("cuModuleLoadDataEx");
  if (call.code)
    return call.code;
  std::string text = static_cast<const char *>(data);
  if (text.rfind("refused: ", 0) == 0) {
    char *why = nullptr;
    int code = std::strtol(text.c_str() + 9, &why, 10);
    for (unsigned i = 0; i + 1 < optionCount; ++i)
      if (options[i] == 5 && options[i + 1] == 6)
        std::snprintf(static_cast<char *>(values[i]),
                      reinterpret_cast<uintptr_t>(values[i + 1]), "%s", why);
    return code;
  }
  call.demand(text.rfind("kernels:", 0) == 0, "this is no module");
  *module = malloc(1);
  std::set<std::string> &names = state.modules[*module];
  for (size_t begin = text.find(' '); begin != std::string::npos;) {
    size_t end = text.find(' ', ++begin);
    names.insert(text.substr(begin, end - begin));
    begin = end;
  }
  return 0;
}

FUNCTION cuModuleUnload(void *module) {
  ContextCall call("cuModuleUnload");
  call.demand(state.modules.count(module), "the module is not alive");
  for (const auto &[stream, modules] : state.running)
    call.demand(!modules.count(module), "a kernel of the module may run");
  if (state.modules.erase(module))
    free(module);
  for (auto it = state.functions.begin(); it != state.functions.end();) {
    if (it->second.module == module) {
      free(it->first);
      it = state.functions.erase(it);
    } else {
      ++it;
    }
  }
  return call.code;
}

FUNCTION cuModuleGetFunction(void **function, void *module, const char *name) {
  ContextCall call("cuModuleGetFunction");
  call.demand(state.modules.count(module), "the module is not alive");
  if (call.code)
    return call.code;
  if (!state.modules[module].count(name) || !state.kernels.count(name))
    return 500;
  *function = malloc(1);
  state.functions[*function] = {name, module,
                                maxDynamicWithoutAsking -
                                    state.kernels[name].staticSharedBytes};
  return 0;
}

FUNCTION cuFuncGetAttribute(int *value, int attribute, void *function) {
  ContextCall call("cuFuncGetAttribute");
  call.demand(state.functions.count(function), "the function is not alive");
  call.demand(attribute == 1, "attribute");
  *value = state.kernels[state.functions[function].name].staticSharedBytes;
  return call.code;
}

FUNCTION cuFuncSetAttribute(void *function, int attribute, int value) {
  ContextCall call("cuFuncSetAttribute");
  call.demand(state.functions.count(function), "the function is not alive");
  call.demand(attribute == 8, "attribute");
  LoadedFunction &loaded = state.functions[function];
  if (call.code)
    return call.code;
  if (value + state.kernels[loaded.name].staticSharedBytes > maxShared)
    return 1;
  loaded.maxDynamicShared = value;
  return 0;
}

FUNCTION cuLaunchKernel(void *function, unsigned gridX, unsigned gridY,
                        unsigned gridZ, unsigned blockX, unsigned blockY,
                        unsigned blockZ, unsigned dynamicSharedBytes,
                        void *stream, void **parameters, void **extra) {
  ContextCall call("cuLaunchKernel");
  call.demandStream(stream);
  call.demand(state.functions.count(function), "the function is not alive");
  call.demand(!extra, "parameters in two ways");
  if (call.code)
    return call.code;
  const LoadedFunction &loaded = state.functions[function];
  if (!gridX || !gridY || !gridZ || !blockX || !blockY || !blockZ ||
      dynamicSharedBytes > unsigned(loaded.maxDynamicShared))
    return 1;
  state.running[stream].insert(loaded.module);
  int fault = state.kernels[loaded.name].function({{gridX, gridY, gridZ},
                                                   {blockX, blockY, blockZ},
                                                   dynamicSharedBytes,
                                                   parameters});
  // Resources are a matter of the launch, and no fault.
  if (fault == 701)
    return fault;
  if (fault)
    state.pendingFault = fault;
  return 0;
}

// NOLINTEND(readability-identifier-naming)
