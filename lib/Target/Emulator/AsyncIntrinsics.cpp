//===- AsyncIntrinsics.cpp - What Hopper does by itself ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Barriers in shared memory and fences between proxies.
//
//===----------------------------------------------------------------------===//

#include "RuntimeCalls.h"

#include "SparseAutograd/Runtime/EmulatorABI.h"

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
  // Of all memory, of shared or of global memory.
  if (!isForMbarriers && name != "fence.proxy.async" &&
      !name.starts_with("fence.proxy.async.shared") &&
      name != "fence.proxy.async.global")
    return false;
  calls.callHere("sparseAutogradEmulateProxyFence", nullptr,
                 calls.getInt(isForMbarriers));
  return true;
}

bool sparse_autograd::emulator::translateAsync(RuntimeCalls &calls,
                                               CallInst &call, StringRef name,
                                               Value *&result) {
  return translateMbarrier(calls, call, name, result) ||
         translateProxyFence(calls, name);
}
