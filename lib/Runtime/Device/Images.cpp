//===- Images.cpp - Modules of kernels that are loaded ----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The slot of an image is the head of a list with an element for each device on
// which it is loaded, and each element has a list of the kernels that were
// asked for. Both lists are read without a lock, since they only grow while
// entries run: a launch costs no more than the comparison of a few addresses.
//
//===----------------------------------------------------------------------===//

#include "Images.h"
#include "DeviceCounters.h"
#include "Devices.h"
#include "Failure.h"

#include <cstring>
#include <mutex>
#include <new>

namespace sparse_autograd {
namespace runtime {

namespace {
/// An image on a device.
struct LoadedImage {
  const SparseAutogradImage *image = nullptr;
  Device *device = nullptr;
  std::unique_ptr<Module> module;
  std::atomic<Kernel *> kernels{nullptr};
  std::atomic<LoadedImage *> nextOfImage{nullptr};
  LoadedImage *next = nullptr; ///< of all

  LoadedImage() = default;
  LoadedImage(const LoadedImage &) = delete;
  LoadedImage &operator=(const LoadedImage &) = delete;
  ~LoadedImage();
};

/// All that is loaded. Constant-initialised and never destroyed.
struct Images {
  std::mutex lock;
  LoadedImage *loaded = nullptr;
};
} // namespace

static Images images;

LoadedImage::~LoadedImage() {
  Kernel *kernel = kernels.load(std::memory_order_relaxed);
  while (kernel) {
    Kernel *next = kernel->next;
    delete kernel;
    kernel = next;
  }
}

// The slot belongs to compiled code, which knows nothing of atomic variables.
static LoadedImage *readSlot(const SparseAutogradImage &image) {
  return static_cast<LoadedImage *>(
      __atomic_load_n(image.slot, __ATOMIC_ACQUIRE));
}

static void writeSlot(const SparseAutogradImage &image, LoadedImage *loaded) {
  __atomic_store_n(image.slot, static_cast<void *>(loaded), __ATOMIC_RELEASE);
}

static LoadedImage *findLoaded(const Device &device,
                               const SparseAutogradImage &image) {
  LoadedImage *loaded = readSlot(image);
  while (loaded && loaded->device != &device)
    loaded = loaded->nextOfImage.load(std::memory_order_acquire);
  return loaded;
}

/// Loads an image; the lock is held.
static int32_t load(Device &device, const SparseAutogradImage &image,
                    const char *forKernel, LoadedImage *&loaded) {
  std::unique_ptr<LoadedImage> created(new (std::nothrow) LoadedImage);
  if (!created)
    return failHostMemory();
  if (int32_t status = device.loadModule(image, forKernel, created->module))
    return status;
  countDeviceEvent(deviceCounters.loads);
  loaded = created.release();
  loaded->image = &image;
  loaded->device = &device;
  loaded->nextOfImage.store(readSlot(image), std::memory_order_relaxed);
  loaded->next = images.loaded;
  images.loaded = loaded;
  writeSlot(image, loaded);
  return SPARSE_AUTOGRAD_SUCCESS;
}

static Kernel *findKernel(const LoadedImage &loaded, const char *name) {
  Kernel *first = loaded.kernels.load(std::memory_order_acquire);
  for (Kernel *kernel = first; kernel; kernel = kernel->next)
    if (kernel->name == name)
      return kernel;
  // The same name from another place of the program.
  for (Kernel *kernel = first; kernel; kernel = kernel->next)
    if (std::strcmp(kernel->name, name) == 0)
      return kernel;
  return nullptr;
}

int32_t getKernel(Device &device, const SparseAutogradImage &image,
                  const char *name, Kernel *&kernel) {
  LoadedImage *loaded = findLoaded(device, image);
  if (loaded && (kernel = findKernel(*loaded, name)))
    return SPARSE_AUTOGRAD_SUCCESS;

  std::lock_guard<std::mutex> guard(images.lock);
  if (!loaded && !(loaded = findLoaded(device, image)))
    if (int32_t status = load(device, image, name, loaded))
      return status;
  if ((kernel = findKernel(*loaded, name)))
    return SPARSE_AUTOGRAD_SUCCESS;
  std::unique_ptr<Kernel> created;
  if (int32_t status = loaded->module->getKernel(name, created))
    return status;
  kernel = created.release();
  kernel->next = loaded->kernels.load(std::memory_order_relaxed);
  loaded->kernels.store(kernel, std::memory_order_release);
  return SPARSE_AUTOGRAD_SUCCESS;
}

void unloadImagesOf(Device &device) {
  std::lock_guard<std::mutex> guard(images.lock);
  LoadedImage **place = &images.loaded;
  while (LoadedImage *loaded = *place) {
    if (loaded->device != &device) {
      place = &loaded->next;
      continue;
    }
    *place = loaded->next;
    // Out of the list of its image.
    LoadedImage *after = loaded->nextOfImage.load(std::memory_order_relaxed);
    LoadedImage *before = readSlot(*loaded->image);
    if (before == loaded) {
      writeSlot(*loaded->image, after);
    } else {
      while (before->nextOfImage.load(std::memory_order_relaxed) != loaded)
        before = before->nextOfImage.load(std::memory_order_relaxed);
      before->nextOfImage.store(after, std::memory_order_relaxed);
    }
    delete loaded;
  }
}

static void unload(const SparseAutogradImage &image) {
  if (isForkedChild())
    return;
  // What is loaded on a device goes before the device.
  DevicesLock devices;
  std::lock_guard<std::mutex> guard(images.lock);
  LoadedImage *loaded = readSlot(image);
  if (!loaded)
    return;
  KeptError kept;
  writeSlot(image, nullptr);
  LoadedImage **place = &images.loaded;
  while (LoadedImage *candidate = *place) {
    if (candidate->image == &image)
      *place = candidate->next;
    else
      place = &candidate->next;
  }
  while (loaded) {
    LoadedImage *next = loaded->nextOfImage.load(std::memory_order_relaxed);
    // An entry that ended by an error may have left a kernel that runs.
    (void)waitForAll(*loaded->device);
    delete loaded;
    loaded = next;
  }
}

} // namespace runtime
} // namespace sparse_autograd

void sparseAutogradUnloadImage(const SparseAutogradImage *image) {
  sparse_autograd::runtime::unload(*image);
}
