//===- Devices.cpp - Which devices are open ---------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The choice of a device, and the devices that are open. A device is opened by
// the first that needs it and stays open until sparseAutogradCloseDevices or
// the end of the process.
//
// Locks are taken in this order: that of the devices, that of the images
// (Images.cpp), that of the blocks (DeviceBlocks.cpp).
//
//===----------------------------------------------------------------------===//

#include "Devices.h"
#include "CUDA/CudaDevice.h"
#include "DeviceCounters.h"
#include "Emulator/EmulatedDevice.h"
#include "Failure.h"
#include "Images.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <pthread.h>

namespace sparse_autograd {
namespace runtime {

namespace {
/// A kind of device: how its names begin, and how the one with a number is
/// opened.
struct DeviceKind {
  const char *name;
  int32_t (*open)(int32_t number, std::unique_ptr<Device> &device);
};

/// A device by its kind and number.
struct Choice {
  const DeviceKind *kind;
  int32_t number;
};

/// The state of all devices. Constant-initialised and never destroyed.
struct Devices {
  std::mutex lock;
  Device *open = nullptr;
  /// How many entries and calls use a device now.
  int64_t users = 0;
  Choice process = {nullptr, 0}; ///< without a kind: the default
  bool poolLimitChosen = false;
  int64_t poolLimit = -1;
  bool handlersInstalled = false;
  /// Whether this is the child of a process that had opened a device.
  std::atomic<bool> forked{false};
};
} // namespace

static Devices devices;
static thread_local Choice threadChoice = {nullptr, 0};

static constexpr DeviceKind deviceKinds[] = {{"cuda", openCudaDevice},
                                             {"emulated", openEmulatedDevice}};

bool isForkedChild() { return devices.forked.load(std::memory_order_relaxed); }

int32_t checkNotForked() {
  if (!isForkedChild())
    return SPARSE_AUTOGRAD_SUCCESS;
  return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
              "the process was forked after it had opened a device, which "
              "the child cannot use: fork before the first entry, or start "
              "a new process instead (Python: multiprocessing's 'spawn')");
}

static int32_t parseChoice(const char *text, Choice &choice) {
  const char *colon = std::strchr(text, ':');
  size_t length = colon ? colon - text : std::strlen(text);
  for (const DeviceKind &kind : deviceKinds) {
    if (std::strlen(kind.name) != length ||
        std::strncmp(kind.name, text, length) != 0)
      continue;
    int32_t number = 0;
    const char *digit = colon ? colon + 1 : "0";
    do {
      // Nine digits are enough for any device, and fit.
      if (*digit < '0' || *digit > '9' || number >= 100000000)
        return fail(SPARSE_AUTOGRAD_INVALID_ARGUMENT,
                    "'%s' is no device: a number follows '%s:', as in '%s:0'",
                    text, kind.name, kind.name);
      number = number * 10 + (*digit - '0');
    } while (*++digit);
    choice = {&kind, number};
    return SPARSE_AUTOGRAD_SUCCESS;
  }
  return fail(SPARSE_AUTOGRAD_INVALID_ARGUMENT,
              "there is no kind of device called '%s': a device is 'cuda' or, "
              "by its number, 'cuda:0', or 'emulated'",
              text);
}

/// What this thread has chosen, the process, the environment, or nobody.
static int32_t getChoice(Choice &choice) {
  choice = threadChoice.kind ? threadChoice : devices.process;
  if (choice.kind)
    return SPARSE_AUTOGRAD_SUCCESS;
  const char *text = std::getenv("SPARSE_AUTOGRAD_DEVICE");
  return parseChoice(text && *text ? text : "cuda", choice);
}

static void readPoolLimit() {
  if (devices.poolLimitChosen)
    return;
  devices.poolLimitChosen = true;
  const char *text = std::getenv("SPARSE_AUTOGRAD_DEVICE_POOL_BYTES");
  if (!text)
    return;
  char *end = nullptr;
  errno = 0;
  long long value = std::strtoll(text, &end, 10);
  if (end != text && *end == '\0' && errno == 0)
    devices.poolLimit = value;
}

/// Closes all devices; the lock is held and nobody uses them.
static void closeAll() {
  KeptError kept;
  while (Device *device = devices.open) {
    devices.open = device->next;
    waitForAll(*device);
    unloadImagesOf(*device);
    Stream *stream = device->streams.load(std::memory_order_relaxed);
    while (stream) {
      Stream *next = stream->next;
      device->destroyStream(stream->handle);
      delete stream;
      stream = next;
    }
    delete device;
  }
}

static void closeAtExit() {
  if (isForkedChild())
    return;
  // A thread that still opens a device keeps the lock, and one that is in an
  // entry goes on using it: then the system releases everything.
  if (!devices.lock.try_lock())
    return;
  if (devices.users == 0)
    closeAll();
  devices.lock.unlock();
}

static void markForked() {
  devices.forked.store(true, std::memory_order_relaxed);
}

/// To be called when a driver has been initialised: what it has to do at exit
/// is registered before, and so is done after.
static void installHandlers() {
  if (devices.handlersInstalled)
    return;
  devices.handlersInstalled = true;
  // Should either fail, the system releases everything, and the driver reports
  // the fork.
  (void)std::atexit(closeAtExit);
  (void)pthread_atfork(nullptr, nullptr, markForked);
}

void closeDevicesBeforeLibraries() {
  // What is registered last is done first, and again does nothing.
  (void)std::atexit(closeAtExit);
}

/// Finds a device that is open, or opens it; the lock is held.
static int32_t openDevice(const Choice &choice, Device *&device) {
  char name[sizeof(DeviceProperties::device)];
  std::snprintf(name, sizeof(name), "%s:%d", choice.kind->name, choice.number);
  for (device = devices.open; device; device = device->next)
    if (std::strcmp(device->getProperties().device, name) == 0)
      return SPARSE_AUTOGRAD_SUCCESS;
  std::unique_ptr<Device> opened;
  if (int32_t status = choice.kind->open(choice.number, opened))
    return status;
  installHandlers();
  readPoolLimit();
  if (int32_t status = opened->setPoolLimit(devices.poolLimit))
    return status;
  device = opened.release();
  device->next = devices.open;
  devices.open = device;
  return SPARSE_AUTOGRAD_SUCCESS;
}

/// Opens the device that this thread has chosen; the lock is held.
static int32_t openChosenDevice(Device *&device) {
  Choice choice;
  if (int32_t status = getChoice(choice))
    return status;
  return openDevice(choice, device);
}

static int32_t acquireStreamOf(Device &device, Stream *&stream) {
  if ((stream = device.idleStreams)) {
    device.idleStreams = stream->nextIdle;
    return SPARSE_AUTOGRAD_SUCCESS;
  }
  std::unique_ptr<Stream> created(new (std::nothrow) Stream);
  if (!created)
    return failHostMemory();
  if (int32_t status = device.createStream(created->handle))
    return status;
  stream = created.release();
  stream->device = &device;
  stream->next = device.streams.load(std::memory_order_relaxed);
  device.streams.store(stream, std::memory_order_release);
  return SPARSE_AUTOGRAD_SUCCESS;
}

int32_t acquireStream(Stream *&stream) {
  if (int32_t status = checkNotForked())
    return status;
  std::lock_guard<std::mutex> guard(devices.lock);
  Device *device = nullptr;
  if (int32_t status = openChosenDevice(device))
    return status;
  if (int32_t status = acquireStreamOf(*device, stream))
    return status;
  ++devices.users;
  return SPARSE_AUTOGRAD_SUCCESS;
}

void releaseStream(Stream *stream) {
  std::lock_guard<std::mutex> guard(devices.lock);
  stream->nextIdle = stream->device->idleStreams;
  stream->device->idleStreams = stream;
  --devices.users;
}

int32_t waitFor(Stream &stream) {
  countDeviceEvent(deviceCounters.waits);
  if (int32_t status =
          stream.device->synchronize(stream.handle, stream.lastKernel))
    return status;
  stream.usesHostMemory = false;
  stream.lastKernel[0] = '\0';
  return SPARSE_AUTOGRAD_SUCCESS;
}

int32_t waitForAll(Device &device) {
  countDeviceEvent(deviceCounters.waits);
  int32_t first = SPARSE_AUTOGRAD_SUCCESS;
  for (Stream *stream = device.streams.load(std::memory_order_acquire); stream;
       stream = stream->next)
    // The name of the last kernel is another thread's.
    if (int32_t status = device.synchronize(stream->handle, ""))
      first = first ? first : status;
  return first;
}

DeviceUse::~DeviceUse() {
  if (!device)
    return;
  std::lock_guard<std::mutex> guard(devices.lock);
  --devices.users;
}

int32_t DeviceUse::open() {
  if (int32_t status = checkNotForked())
    return status;
  std::lock_guard<std::mutex> guard(devices.lock);
  if (int32_t status = openChosenDevice(device)) {
    device = nullptr;
    return status;
  }
  ++devices.users;
  return SPARSE_AUTOGRAD_SUCCESS;
}

DevicesLock::DevicesLock() { devices.lock.lock(); }

DevicesLock::~DevicesLock() { devices.lock.unlock(); }

/// Sets a choice, of the process or a thread, if the device can be opened.
static int32_t choose(const char *name, Choice &place) {
  Choice choice = {nullptr, 0};
  if (name)
    if (int32_t status = parseChoice(name, choice))
      return status;
  if (int32_t status = checkNotForked())
    return status;
  std::lock_guard<std::mutex> guard(devices.lock);
  Device *device = nullptr;
  if (name)
    if (int32_t status = openDevice(choice, device))
      return status;
  place = choice;
  return SPARSE_AUTOGRAD_SUCCESS;
}

} // namespace runtime
} // namespace sparse_autograd

using namespace sparse_autograd::runtime;

int32_t sparseAutogradSetDevice(const char *name) {
  return choose(name, devices.process);
}

int32_t sparseAutogradSetThreadDevice(const char *name) {
  return choose(name, threadChoice);
}

int32_t sparseAutogradSynchronizeDevice(void) {
  DeviceUse use;
  if (int32_t status = use.open())
    return status;
  return waitForAll(use.get());
}

int32_t sparseAutogradTrimDevicePool(void) {
  DeviceUse use;
  if (int32_t status = use.open())
    return status;
  // Blocks that were released in the order of a stream are free after it.
  if (int32_t status = waitForAll(use.get()))
    return status;
  return use.get().trimPool();
}

int32_t sparseAutogradSetDevicePoolLimit(int64_t bytes) {
  if (int32_t status = checkNotForked())
    return status;
  std::lock_guard<std::mutex> guard(devices.lock);
  devices.poolLimitChosen = true;
  devices.poolLimit = bytes < 0 ? -1 : bytes;
  int32_t first = SPARSE_AUTOGRAD_SUCCESS;
  for (Device *device = devices.open; device; device = device->next)
    if (int32_t status = device->setPoolLimit(devices.poolLimit))
      first = first ? first : status;
  return first;
}

int32_t sparseAutogradGetDeviceInfo(SparseAutogradDeviceInfo *info) {
  if (!info)
    return fail(SPARSE_AUTOGRAD_INVALID_ARGUMENT,
                "the pointer to what is to be written is null");
  DeviceUse use;
  if (int32_t status = use.open())
    return status;
  SparseAutogradDeviceInfo result = {};
  if (int32_t status =
          use.get().getMemory(result.freeBytes, result.pooledBytes))
    return status;
  const DeviceProperties &properties = use.get().getProperties();
  std::memcpy(result.device, properties.device, sizeof(result.device));
  std::memcpy(result.name, properties.name, sizeof(result.name));
  result.driverVersion = properties.driverVersion;
  result.computeMajor = properties.computeMajor;
  result.computeMinor = properties.computeMinor;
  result.multiprocessors = properties.multiprocessors;
  result.maxSharedBytes = properties.maxSharedBytes;
  result.totalBytes = properties.totalBytes;
  *info = result;
  return SPARSE_AUTOGRAD_SUCCESS;
}

int32_t sparseAutogradCloseDevices(void) {
  // In the child of a fork they are the parent's.
  if (isForkedChild())
    return SPARSE_AUTOGRAD_SUCCESS;
  std::lock_guard<std::mutex> guard(devices.lock);
  if (devices.users)
    return fail(SPARSE_AUTOGRAD_INVALID_ARGUMENT,
                "the devices cannot be closed while an entry uses one");
  closeAll();
  return SPARSE_AUTOGRAD_SUCCESS;
}
