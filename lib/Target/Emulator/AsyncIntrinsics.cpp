//===- AsyncIntrinsics.cpp - What Hopper does by itself ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Barriers in shared memory, fences between proxies, and bulk copies.
//
//===----------------------------------------------------------------------===//

#include "RuntimeCalls.h"

#include "SparseAutograd/Runtime/EmulatorABI.h"
#include "llvm/IR/Constants.h"

using namespace llvm;
using namespace sparse_autograd::emulator;

/// Drops the end of a name that says which scope, and which kind of shared
/// memory: a block is a cluster of its own.
static StringRef dropScope(StringRef name) {
  name.consume_back(".shared");
  if (!name.consume_back(".space.cta"))
    name.consume_back(".space.cluster");
  if (!name.consume_back(".scope.cta"))
    name.consume_back(".scope.cluster");
  return name;
}

//===----------------------------------------------------------------------===//
// mbarrier
//===----------------------------------------------------------------------===//

static bool translateArrival(RuntimeCalls &calls, CallInst &call,
                             StringRef name, Value *&result) {
  IRBuilder<> &builder = calls.getBuilder();
  int flags = 0;
  if (name.consume_back(".relaxed"))
    flags |= SPARSE_AUTOGRAD_ARRIVAL_IS_RELAXED;
  if (name.consume_back(".expect.tx"))
    flags |= SPARSE_AUTOGRAD_ARRIVAL_EXPECTS_BYTES;
  if (name.consume_back(".noComplete"))
    flags |= SPARSE_AUTOGRAD_ARRIVAL_MUST_NOT_COMPLETE;
  if (name.consume_back(".drop"))
    flags |= SPARSE_AUTOGRAD_ARRIVAL_DROPS;
  if (name != "arrive")
    return false;
  bool hasNumber = call.arg_size() > 1;
  bool expectsBytes = flags & SPARSE_AUTOGRAD_ARRIVAL_EXPECTS_BYTES;
  Value *number = hasNumber ? call.getArgOperand(1) : calls.getInt(1);
  Value *state = calls.callHere(
      "sparseAutogradEmulateMbarrierArrive", builder.getInt64Ty(),
      {calls.getPlain(call.getArgOperand(0)),
       expectsBytes ? calls.getInt(1) : number,
       expectsBytes ? number : calls.getInt(0), calls.getInt(flags)});
  if (!call.getType()->isVoidTy())
    result = state;
  return true;
}

static bool translateWait(RuntimeCalls &calls, CallInst &call, StringRef name,
                          Value *&result) {
  IRBuilder<> &builder = calls.getBuilder();
  int flags = 0;
  if (name.consume_front("try.wait"))
    flags |= SPARSE_AUTOGRAD_WAIT_BLOCKS;
  else if (!name.consume_front("test.wait"))
    return false;
  if (name.consume_back(".relaxed"))
    flags |= SPARSE_AUTOGRAD_WAIT_IS_RELAXED;
  // The emulator has no clock: how long it takes is not looked at.
  name.consume_back(".tl");
  if (name.consume_back(".parity"))
    flags |= SPARSE_AUTOGRAD_WAIT_FOR_PARITY;
  if (!name.empty())
    return false;
  Value *state =
      builder.CreateZExt(call.getArgOperand(1), builder.getInt64Ty());
  result = builder.CreateIsNotNull(calls.callHere(
      "sparseAutogradEmulateMbarrierWait", builder.getInt32Ty(),
      {calls.getPlain(call.getArgOperand(0)), state, calls.getInt(flags)}));
  return true;
}

static bool translateMbarrier(RuntimeCalls &calls, CallInst &call,
                              StringRef name, Value *&result) {
  if (name == "mbarrier.pending.count") {
    result = calls.call("sparseAutogradEmulateMbarrierPendingCount",
                        calls.getBuilder().getInt32Ty(), call.getArgOperand(0));
    return true;
  }
  name = dropScope(name);
  auto getObject = [&] { return calls.getPlain(call.getArgOperand(0)); };
  if (name.consume_front("cp.async.mbarrier.arrive")) {
    calls.callHere("sparseAutogradEmulateCopyArrive", nullptr,
                   {getObject(), calls.getInt(name == ".noinc")});
    return true;
  }
  if (!name.consume_front("mbarrier."))
    return false;
  if (name == "init") {
    calls.callHere("sparseAutogradEmulateMbarrierInit", nullptr,
                   {getObject(), call.getArgOperand(1)});
    return true;
  }
  if (name == "inval") {
    calls.callHere("sparseAutogradEmulateMbarrierInvalidate", nullptr,
                   getObject());
    return true;
  }
  if (name == "expect.tx" || name == "complete.tx") {
    calls.callHere(name == "expect.tx"
                       ? "sparseAutogradEmulateMbarrierExpect"
                       : "sparseAutogradEmulateMbarrierComplete",
                   nullptr, {getObject(), call.getArgOperand(1)});
    return true;
  }
  return translateArrival(calls, call, name, result) ||
         translateWait(calls, call, name, result);
}

//===----------------------------------------------------------------------===//
// Fences
//===----------------------------------------------------------------------===//

static bool translateProxyFence(RuntimeCalls &calls, StringRef name) {
  bool isForMbarriers = name == "fence.mbarrier_init.release.cluster";
  // Of all memory, or of shared memory; that of global memory is not looked at.
  if (!isForMbarriers && name != "fence.proxy.async" &&
      !name.starts_with("fence.proxy.async.shared"))
    return false;
  calls.callHere("sparseAutogradEmulateProxyFence", nullptr,
                 calls.getInt(isForMbarriers));
  return true;
}

//===----------------------------------------------------------------------===//
// Bulk copies
//===----------------------------------------------------------------------===//

/// Whether a flag at the end of the operands is set: those of multicast and of
/// hints for caches.
static bool isSet(const CallInst &call, unsigned fromEnd) {
  auto *flag =
      dyn_cast<ConstantInt>(call.getArgOperand(call.arg_size() - 1 - fromEnd));
  return !flag || !flag->isZero();
}

/// An array with the coordinates of a tile, which are operands from `first` on.
static Value *getCoordinates(RuntimeCalls &calls, CallInst &call,
                             unsigned first, unsigned rank) {
  IRBuilder<> &builder = calls.getBuilder();
  auto *type = ArrayType::get(builder.getInt32Ty(), 5);
  Value *coordinates = calls.allocate(type);
  for (unsigned i = 0; i < rank; ++i)
    builder.CreateStore(call.getArgOperand(first + i),
                        builder.CreateConstGEP2_32(type, coordinates, 0, i));
  return coordinates;
}

static bool translateTile(RuntimeCalls &calls, CallInst &call, StringRef name) {
  // Without one: im2col and the like.
  auto [kind, dimensions] = name.split(".tile.");
  unsigned rank;
  if (!dimensions.consume_back("d") || dimensions.getAsInteger(10, rank))
    return false;
  auto getPlain = [&](unsigned i) {
    return calls.getPlain(call.getArgOperand(i));
  };
  if (kind == "g2s" || kind == "g2s.cta") {
    // The last one says which pair of blocks takes part, of later chips.
    if (kind == "g2s" && (isSet(call, 2) || isSet(call, 0)))
      return false;
    calls.callHere("sparseAutogradEmulateTensorLoad", nullptr,
                   {getPlain(0), getPlain(2), calls.getInt(rank),
                    getCoordinates(calls, call, 3, rank), getPlain(1)});
    return true;
  }
  if (kind == "s2g") {
    calls.callHere("sparseAutogradEmulateTensorStore", nullptr,
                   {getPlain(1), calls.getInt(rank),
                    getCoordinates(calls, call, 2, rank), getPlain(0)});
    return true;
  }
  if (kind == "prefetch") {
    calls.callHere("sparseAutogradEmulateTensorPrefetch", nullptr,
                   {getPlain(0), calls.getInt(rank)});
    return true;
  }
  return false;
}

static bool translateBulkCopy(RuntimeCalls &calls, CallInst &call,
                              StringRef name) {
  if (name.starts_with("prefetch.tensormap")) {
    calls.callHere("sparseAutogradEmulateStep", nullptr, {});
    return true;
  }
  if (!name.consume_front("cp.async.bulk."))
    return false;
  auto getPlain = [&](unsigned i) {
    return calls.getPlain(call.getArgOperand(i));
  };
  if (name == "commit.group") {
    calls.call("sparseAutogradEmulateBulkCommit", nullptr, {});
    return true;
  }
  if (name == "wait.group" || name == "wait.group.read") {
    calls.callHere(
        "sparseAutogradEmulateBulkWait", nullptr,
        {call.getArgOperand(0), calls.getInt(name == "wait.group.read")});
    return true;
  }
  if (name == "global.to.shared.cluster" || name == "global.to.shared.cta") {
    // To several blocks.
    if (name == "global.to.shared.cluster" && isSet(call, 1))
      return false;
    calls.callHere(
        "sparseAutogradEmulateBulkLoad", nullptr,
        {getPlain(0), getPlain(2), call.getArgOperand(3), getPlain(1)});
    return true;
  }
  if (name == "shared.cta.to.global") {
    calls.callHere("sparseAutogradEmulateBulkStore", nullptr,
                   {getPlain(0), getPlain(1), call.getArgOperand(2)});
    return true;
  }
  if (name == "prefetch.L2") {
    calls.callHere("sparseAutogradEmulateStep", nullptr, {});
    return true;
  }
  return name.consume_front("tensor.") && translateTile(calls, call, name);
}

bool sparse_autograd::emulator::translateAsync(RuntimeCalls &calls,
                                               CallInst &call, StringRef name,
                                               Value *&result) {
  return translateMbarrier(calls, call, name, result) ||
         translateProxyFence(calls, name) ||
         translateBulkCopy(calls, call, name);
}
