//===- TensorMapTest.cpp - Maps of tensors ----------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "SparseAutograd/Runtime/Emulator.h"
#include "SparseAutograd/Runtime/EmulatorABI.h"

namespace {
using TensorMaps = DeviceTest;

struct alignas(64) Map {
  char bytes[128] = {};
};
} // namespace

static SparseAutogradTensorTiles makeTiles(void *address) {
  SparseAutogradTensorTiles tiles = {};
  tiles.element = SPARSE_AUTOGRAD_TENSOR_F16;
  tiles.rank = 3;
  tiles.swizzle = SPARSE_AUTOGRAD_TENSOR_SWIZZLE_128B;
  tiles.address = address;
  int64_t extents[] = {100, 10, 5}, strides[] = {256, 4096};
  int32_t box[] = {64, 8, 1}, steps[] = {1, 2, 1};
  std::copy_n(extents, 3, tiles.extents);
  std::copy_n(strides, 2, tiles.strides);
  std::copy_n(box, 3, tiles.box);
  std::copy_n(steps, 3, tiles.steps);
  return tiles;
}

TEST_F(TensorMaps, TheDriverMakesThem) {
  Map map;
  ASSERT_EQ(runEntry([&] {
              void *x = sparseAutogradDeviceAllocate(4096 * 5);
              SparseAutogradTensorTiles tiles = makeTiles(x);
              // The map of the caller need not be aligned.
              char bytes[129];
              sparseAutogradDeviceEncodeTensorMap(bytes + 1, &tiles);
              std::memcpy(map.bytes, bytes + 1, 128);
              sparseAutogradDeviceDeallocate(x);
            }),
            0)
      << lastError();
  EXPECT_STREQ(map.bytes, "element 6 of 100/64/1 10/8/2/256 5/1/1/4096 modes 0 "
                          "3 2 0");
}

TEST_F(TensorMaps, ErrorsOfTheDriver) {
  fake_driver::failCall("cuTensorMapEncodeTiled", 1, 1);
  EXPECT_EQ(runEntry([&] {
              Map map;
              SparseAutogradTensorTiles tiles =
                  makeTiles(sparseAutogradDeviceAllocate(4096 * 5));
              sparseAutogradDeviceEncodeTensorMap(map.bytes, &tiles);
            }),
            SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_THAT(lastError(),
              testing::HasSubstr("making a map of a tensor of rank 3"));
}

TEST_F(TensorMaps, WhatNoDeviceTakes) {
  EXPECT_EQ(runEntry([&] {
              Map map;
              SparseAutogradTensorTiles tiles =
                  makeTiles(sparseAutogradDeviceAllocate(4096 * 5));
              tiles.box[0] = 72;
              sparseAutogradDeviceEncodeTensorMap(map.bytes, &tiles);
            }),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_EQ(lastError(), "a tensor map with boxes whose rows have 144 bytes, "
                         "more than the 128 that its swizzle permutes");
  EXPECT_EQ(fake_driver::countCalls("cuTensorMapEncodeTiled"), 0);
}

TEST_F(TensorMaps, EarlierDevicesHaveNone) {
  fake_driver::settings().major = 8;
  EXPECT_EQ(runEntry([&] {
              Map map;
              SparseAutogradTensorTiles tiles =
                  makeTiles(sparseAutogradDeviceAllocate(4096 * 5));
              sparseAutogradDeviceEncodeTensorMap(map.bytes, &tiles);
            }),
            SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_THAT(lastError(), testing::HasSubstr("has no copies of tiles"));
}

//===----------------------------------------------------------------------===//
// The emulator
//===----------------------------------------------------------------------===//

/// Copies the first 4 numbers of a tensor to y, through shared memory.
static void copyTile(void **parameters) {
  const void *map = sparseAutogradEmulateParameter(parameters[0], 128);
  auto *y = *static_cast<float **>(parameters[1]);
  auto *tile = static_cast<float *>(sparseAutogradEmulateSharedMemory());
  void *object = tile + 32;
  sparseAutogradEmulateMbarrierInit(object, 1, "init");
  sparseAutogradEmulateProxyFence(1, "fence");
  sparseAutogradEmulateMbarrierArrive(
      object, 1, 16, SPARSE_AUTOGRAD_ARRIVAL_EXPECTS_BYTES, "arrive");
  int32_t zero = 0;
  sparseAutogradEmulateTensorLoad(tile, map, 1, &zero, object, "load");
  while (!sparseAutogradEmulateMbarrierWait(
      object, 0, SPARSE_AUTOGRAD_WAIT_FOR_PARITY, "wait"))
    ;
  sparseAutogradEmulateAccess(tile, 16, 4, SPARSE_AUTOGRAD_LOAD, "read");
  sparseAutogradEmulateAccess(y, 16, 4, SPARSE_AUTOGRAD_STORE, "write");
  std::memcpy(y, tile, 16);
}

static const SparseAutogradEmulatorKernel kernels[] = {
    {"tile", copyTile, 2, 0, 0, {0, 0, 0}, 0}};
static const SparseAutogradEmulatorModule module = {
    SPARSE_AUTOGRAD_EMULATOR_VERSION, 1, 0, kernels, nullptr};

TEST(EmulatedTensorMaps, AreParametersOfKernels) {
  ASSERT_EQ(sparseAutogradSetDevice("emulated"), SPARSE_AUTOGRAD_SUCCESS);
  float from[] = {1, 2, 3, 4}, to[4] = {};
  {
    Image image{{{SPARSE_AUTOGRAD_CODE_HOST, 0, 0, 0, &module, sizeof(module),
                  nullptr}}};
    ASSERT_EQ(runEntry([&] {
                void *x = sparseAutogradDeviceAllocate(16);
                void *y = sparseAutogradDeviceAllocate(16);
                sparseAutogradDeviceCopyIn(x, from, 16);
                SparseAutogradTensorTiles tiles = {};
                tiles.element = SPARSE_AUTOGRAD_TENSOR_F32;
                tiles.rank = 1;
                tiles.address = x;
                tiles.extents[0] = 4;
                tiles.box[0] = 4;
                tiles.steps[0] = 1;
                // The host need not align it.
                char map[129];
                sparseAutogradDeviceEncodeTensorMap(map + 1, &tiles);
                void *parameters[] = {map + 1, &y};
                sparseAutogradDeviceLaunch(&image.image, "tile", 1, 1, 1, 1, 1,
                                           1, 256, 2, parameters);
                sparseAutogradDeviceCopyOut(to, y, 16);
                sparseAutogradDeviceDeallocate(x);
                sparseAutogradDeviceDeallocate(y);
              }),
              0)
        << lastError();
  }
  EXPECT_THAT(to, testing::ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(sparseAutogradCloseDevices(), SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_EQ(sparseAutogradSetDevice(nullptr), SPARSE_AUTOGRAD_SUCCESS);
}
