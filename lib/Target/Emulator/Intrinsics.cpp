//===- Intrinsics.cpp - Instructions of a GPU as calls ----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeCalls.h"

#include "SparseAutograd/Runtime/EmulatorABI.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace sparse_autograd::emulator;

//===----------------------------------------------------------------------===//
// Special registers
//===----------------------------------------------------------------------===//

static bool translateRegister(RuntimeCalls &calls, StringRef name,
                              Value *&result) {
  if (!name.consume_front("read.ptx.sreg."))
    return false;
  IRBuilder<> &builder = calls.getBuilder();
  Type *type = calls.getInstruction().getType();
  // The only one, on a chip of one multiprocessor that has one block at a time.
  int constant = StringSwitch<int>(name)
                     .Case("warpsize", 32)
                     .Case("smid", 0)
                     .Case("nsmid", 1)
                     // A block is a cluster of its own.
                     .Cases({"cluster.ctarank", "cluster.ctaid.x",
                             "cluster.ctaid.y", "cluster.ctaid.z"},
                            0)
                     .Cases({"cluster.nctarank", "cluster.nctaid.x",
                             "cluster.nctaid.y", "cluster.nctaid.z"},
                            1)
                     .Default(-1);
  if (constant >= 0) {
    result = ConstantInt::get(type, constant);
    return true;
  }
  int which = StringSwitch<int>(name)
                  .Case("tid.x", SPARSE_AUTOGRAD_TID_X)
                  .Case("tid.y", SPARSE_AUTOGRAD_TID_Y)
                  .Case("tid.z", SPARSE_AUTOGRAD_TID_Z)
                  .Case("ntid.x", SPARSE_AUTOGRAD_NTID_X)
                  .Case("ntid.y", SPARSE_AUTOGRAD_NTID_Y)
                  .Case("ntid.z", SPARSE_AUTOGRAD_NTID_Z)
                  .Case("ctaid.x", SPARSE_AUTOGRAD_CTAID_X)
                  .Case("ctaid.y", SPARSE_AUTOGRAD_CTAID_Y)
                  .Case("ctaid.z", SPARSE_AUTOGRAD_CTAID_Z)
                  .Case("nctaid.x", SPARSE_AUTOGRAD_NCTAID_X)
                  .Case("nctaid.y", SPARSE_AUTOGRAD_NCTAID_Y)
                  .Case("nctaid.z", SPARSE_AUTOGRAD_NCTAID_Z)
                  .Case("laneid", SPARSE_AUTOGRAD_LANEID)
                  .Case("warpid", SPARSE_AUTOGRAD_WARPID)
                  .Case("nwarpid", SPARSE_AUTOGRAD_NWARPID)
                  .Case("lanemask.eq", SPARSE_AUTOGRAD_LANEMASK_EQ)
                  .Case("lanemask.lt", SPARSE_AUTOGRAD_LANEMASK_LT)
                  .Case("lanemask.le", SPARSE_AUTOGRAD_LANEMASK_LE)
                  .Case("lanemask.gt", SPARSE_AUTOGRAD_LANEMASK_GT)
                  .Case("lanemask.ge", SPARSE_AUTOGRAD_LANEMASK_GE)
                  .Cases({"clock", "clock64", "globaltimer", "globaltimer.lo"},
                         SPARSE_AUTOGRAD_CLOCK)
                  .Case("dynamic_smem_size", SPARSE_AUTOGRAD_DYNAMIC_SMEM_SIZE)
                  .Case("total_smem_size", SPARSE_AUTOGRAD_TOTAL_SMEM_SIZE)
                  .Default(-1);
  if (which < 0)
    return false;
  result = builder.CreateIntCast(calls.call("sparseAutogradEmulateRegister",
                                            builder.getInt64Ty(),
                                            calls.getInt(which)),
                                 type, /*isSigned=*/false);
  return true;
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

static bool translateBarrier(RuntimeCalls &calls, CallInst &call,
                             StringRef name, Value *&result) {
  if (!name.consume_front("barrier.cta."))
    return false;
  IRBuilder<> &builder = calls.getBuilder();
  bool hasCount = name.consume_back(".count");
  if (!hasCount && !name.consume_back(".all"))
    return false;
  Value *isAligned = calls.getInt(name.consume_back(".aligned"));
  Value *id = call.getArgOperand(0);
  Value *count = hasCount ? call.getArgOperand(1) : calls.getInt(-1);
  if (name == "sync") {
    calls.callHere("sparseAutogradEmulateBarrier", nullptr,
                   {id, count, isAligned});
    return true;
  }
  if (name == "arrive") {
    calls.callHere("sparseAutogradEmulateBarrierArrive", nullptr,
                   {id, count, isAligned});
    return true;
  }
  int operation = StringSwitch<int>(name)
                      .Case("red.popc", SPARSE_AUTOGRAD_REDUCE_ADD)
                      .Case("red.and", SPARSE_AUTOGRAD_REDUCE_AND)
                      .Case("red.or", SPARSE_AUTOGRAD_REDUCE_OR)
                      .Default(-1);
  if (operation < 0)
    return false;
  Value *predicate = calls.widen(call.getArgOperand(hasCount ? 2 : 1));
  result = calls.callHere(
      "sparseAutogradEmulateBarrierReduce", builder.getInt32Ty(),
      {id, count, predicate, calls.getInt(operation), isAligned});
  result = builder.CreateIntCast(result, call.getType(), /*isSigned=*/false);
  return true;
}

//===----------------------------------------------------------------------===//
// Operations of a warp
//===----------------------------------------------------------------------===//

static bool translateShuffle(RuntimeCalls &calls, CallInst &call,
                             StringRef name, Value *&result) {
  if (!name.consume_front("shfl.sync."))
    return false;
  IRBuilder<> &builder = calls.getBuilder();
  auto [mode, type] = name.split('.');
  int kind = StringSwitch<int>(mode)
                 .Case("up", SPARSE_AUTOGRAD_SHUFFLE_UP)
                 .Case("down", SPARSE_AUTOGRAD_SHUFFLE_DOWN)
                 .Case("bfly", SPARSE_AUTOGRAD_SHUFFLE_BUTTERFLY)
                 .Case("idx", SPARSE_AUTOGRAD_SHUFFLE_INDEX)
                 .Default(-1);
  bool hasPredicate = type.consume_back("p");
  if (kind < 0 || (type != "i32" && type != "f32"))
    return false;
  Value *value = call.getArgOperand(1);
  Type *valueType = value->getType();
  Value *isInRange = ConstantPointerNull::get(builder.getPtrTy());
  if (hasPredicate)
    isInRange = calls.allocate(builder.getInt32Ty());
  result =
      calls.callHere("sparseAutogradEmulateShuffle", builder.getInt32Ty(),
                     {calls.getInt(kind), call.getArgOperand(0),
                      builder.CreateBitCast(value, builder.getInt32Ty()),
                      call.getArgOperand(2), call.getArgOperand(3), isInRange});
  result = builder.CreateBitCast(result, valueType);
  if (hasPredicate)
    result =
        calls.makeResult({result, builder.CreateIsNotNull(builder.CreateLoad(
                                      builder.getInt32Ty(), isInRange))});
  return true;
}

static bool translateVote(RuntimeCalls &calls, CallInst &call, StringRef name,
                          Value *&result) {
  if (!name.consume_front("vote."))
    return false;
  int kind = StringSwitch<int>(name)
                 .Case("all.sync", SPARSE_AUTOGRAD_VOTE_ALL)
                 .Case("any.sync", SPARSE_AUTOGRAD_VOTE_ANY)
                 .Case("uni.sync", SPARSE_AUTOGRAD_VOTE_UNI)
                 .Case("ballot.sync", SPARSE_AUTOGRAD_VOTE_BALLOT)
                 .Default(-1);
  if (kind < 0)
    return false;
  IRBuilder<> &builder = calls.getBuilder();
  result = calls.callHere("sparseAutogradEmulateVote", builder.getInt32Ty(),
                          {calls.getInt(kind), call.getArgOperand(0),
                           calls.widen(call.getArgOperand(1))});
  result = builder.CreateIntCast(result, call.getType(), /*isSigned=*/false);
  return true;
}

static bool translateReduction(RuntimeCalls &calls, CallInst &call,
                               StringRef name, Value *&result) {
  if (!name.consume_front("redux.sync."))
    return false;
  int operation = StringSwitch<int>(name)
                      .Case("add", SPARSE_AUTOGRAD_REDUCE_ADD)
                      .Case("min", SPARSE_AUTOGRAD_REDUCE_MIN)
                      .Case("max", SPARSE_AUTOGRAD_REDUCE_MAX)
                      .Case("umin", SPARSE_AUTOGRAD_REDUCE_UMIN)
                      .Case("umax", SPARSE_AUTOGRAD_REDUCE_UMAX)
                      .Case("and", SPARSE_AUTOGRAD_REDUCE_AND)
                      .Case("or", SPARSE_AUTOGRAD_REDUCE_OR)
                      .Case("xor", SPARSE_AUTOGRAD_REDUCE_XOR)
                      .Default(-1);
  if (operation < 0)
    return false;
  result = calls.callHere(
      "sparseAutogradEmulateReduce", call.getType(),
      {calls.getInt(operation), call.getArgOperand(1), call.getArgOperand(0)});
  return true;
}

/// match, elect and activemask.
static bool translateMask(RuntimeCalls &calls, CallInst &call, StringRef name,
                          Value *&result) {
  IRBuilder<> &builder = calls.getBuilder();
  Type *i32 = builder.getInt32Ty();
  if (name == "activemask") {
    result = calls.callHere("sparseAutogradEmulateActiveMask", i32, {});
    return true;
  }
  if (name == "bar.warp.sync") {
    calls.callHere("sparseAutogradEmulateWarpSync", nullptr,
                   call.getArgOperand(0));
    return true;
  }
  if (name == "elect.sync") {
    Value *leader = calls.allocate(i32);
    Value *isLeader = calls.callHere("sparseAutogradEmulateElect", i32,
                                     {call.getArgOperand(0), leader});
    result = calls.makeResult(
        {builder.CreateLoad(i32, leader), builder.CreateIsNotNull(isLeader)});
    return true;
  }
  bool isAny = name.starts_with("match.any.sync.");
  if (!isAny && !name.starts_with("match.all.sync."))
    return false;
  Value *value =
      builder.CreateZExt(call.getArgOperand(1), builder.getInt64Ty());
  if (isAny) {
    result = calls.callHere("sparseAutogradEmulateMatchAny", i32,
                            {call.getArgOperand(0), value});
    return true;
  }
  Value *areEqual = calls.allocate(i32);
  Value *mask = calls.callHere("sparseAutogradEmulateMatchAll", i32,
                               {call.getArgOperand(0), value, areEqual});
  result = calls.makeResult(
      {mask, builder.CreateIsNotNull(builder.CreateLoad(i32, areEqual))});
  return true;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static bool translateCopy(RuntimeCalls &calls, CallInst &call, StringRef name) {
  if (!name.consume_front("cp.async."))
    return false;
  if (name == "commit.group") {
    calls.call("sparseAutogradEmulateCommitGroup", nullptr, {});
    return true;
  }
  if (name == "wait.group") {
    calls.callHere("sparseAutogradEmulateWaitGroup", nullptr,
                   call.getArgOperand(0));
    return true;
  }
  if (name == "wait.all") {
    calls.callHere("sparseAutogradEmulateWaitAll", nullptr, {});
    return true;
  }
  // Whether L1 is bypassed makes no difference here.
  if (!name.consume_front("ca.shared.global.") &&
      !name.consume_front("cg.shared.global."))
    return false;
  bool hasSourceBytes = name.consume_back(".s");
  int bytes;
  if (name.getAsInteger(10, bytes))
    return false;
  calls.callHere(
      "sparseAutogradEmulateCopyAsync", nullptr,
      {calls.getPlain(call.getArgOperand(0)),
       calls.getPlain(call.getArgOperand(1)), calls.getInt(bytes),
       hasSourceBytes ? call.getArgOperand(2) : calls.getInt(bytes)});
  return true;
}

static bool translateLoadMatrix(RuntimeCalls &calls, CallInst &call,
                                StringRef name, Value *&result) {
  if (!name.consume_front("ldmatrix.sync.aligned.m8n8.x"))
    return false;
  IRBuilder<> &builder = calls.getBuilder();
  // The address space.
  name = name.split(".p").first;
  bool isTransposed = name.contains(".trans");
  int count;
  if (!name.ends_with(".b16") || name.consumeInteger(10, count))
    return false;
  Type *i32 = builder.getInt32Ty();
  Value *registers = calls.allocate(ArrayType::get(i32, 4));
  calls.callHere("sparseAutogradEmulateLoadMatrix", nullptr,
                 {calls.getPlain(call.getArgOperand(0)), calls.getInt(count),
                  calls.getInt(isTransposed), registers});
  // One register, or a structure of them.
  result = builder.CreateLoad(call.getType(), registers);
  return true;
}

static bool translateSpace(RuntimeCalls &calls, CallInst &call, StringRef name,
                           Value *&result) {
  if (!name.consume_front("isspacep."))
    return false;
  int space =
      StringSwitch<int>(name)
          .Case("const", SPARSE_AUTOGRAD_SPACE_CONSTANT)
          .Case("global", SPARSE_AUTOGRAD_SPACE_GLOBAL)
          .Case("local", SPARSE_AUTOGRAD_SPACE_LOCAL)
          .Cases({"shared", "shared.cluster"}, SPARSE_AUTOGRAD_SPACE_SHARED)
          .Default(-1);
  if (space < 0)
    return false;
  IRBuilder<> &builder = calls.getBuilder();
  result = builder.CreateICmpEQ(
      calls.call("sparseAutogradEmulateSpace", builder.getInt32Ty(),
                 calls.getPlain(call.getArgOperand(0))),
      calls.getInt(space));
  return true;
}

//===----------------------------------------------------------------------===//
// Products of matrices
//===----------------------------------------------------------------------===//

static bool translateProduct(RuntimeCalls &calls, CallInst &call,
                             StringRef name, Value *&result) {
  if (!name.consume_front("mma."))
    return false;
  bool isSparse = name.consume_front("sp.");
  bool isOrdered = isSparse && name.consume_front("ordered.metadata.");
  int kind = -1;
  if (isSparse)
    kind = StringSwitch<int>(name)
               .Case("m16n8k16.row.col.f16.f16",
                     SPARSE_AUTOGRAD_MMA_SP_M16N8K16_F16_F16)
               .Case("m16n8k16.row.col.f32.f32",
                     SPARSE_AUTOGRAD_MMA_SP_M16N8K16_F16_F32)
               .Case("m16n8k32.row.col.f16.f16",
                     SPARSE_AUTOGRAD_MMA_SP_M16N8K32_F16_F16)
               .Case("m16n8k32.row.col.f32.f32",
                     SPARSE_AUTOGRAD_MMA_SP_M16N8K32_F16_F32)
               .Case("m16n8k16.row.col.bf16",
                     SPARSE_AUTOGRAD_MMA_SP_M16N8K16_BF16_F32)
               .Case("m16n8k32.row.col.bf16",
                     SPARSE_AUTOGRAD_MMA_SP_M16N8K32_BF16_F32)
               .Case("m16n8k8.row.col.tf32",
                     SPARSE_AUTOGRAD_MMA_SP_M16N8K8_TF32_F32)
               .Case("m16n8k16.row.col.tf32",
                     SPARSE_AUTOGRAD_MMA_SP_M16N8K16_TF32_F32)
               .Default(-1);
  else
    kind =
        StringSwitch<int>(name)
            .Case("m16n8k8.row.col.f16.f16",
                  SPARSE_AUTOGRAD_MMA_M16N8K8_F16_F16)
            .Case("m16n8k8.row.col.f32.f32",
                  SPARSE_AUTOGRAD_MMA_M16N8K8_F16_F32)
            .Case("m16n8k16.row.col.f16.f16",
                  SPARSE_AUTOGRAD_MMA_M16N8K16_F16_F16)
            .Case("m16n8k16.row.col.f32.f32",
                  SPARSE_AUTOGRAD_MMA_M16N8K16_F16_F32)
            .Case("m16n8k8.row.col.bf16", SPARSE_AUTOGRAD_MMA_M16N8K8_BF16_F32)
            .Case("m16n8k16.row.col.bf16",
                  SPARSE_AUTOGRAD_MMA_M16N8K16_BF16_F32)
            .Case("m16n8k4.row.col.tf32", SPARSE_AUTOGRAD_MMA_M16N8K4_TF32_F32)
            .Case("m16n8k8.row.col.tf32", SPARSE_AUTOGRAD_MMA_M16N8K8_TF32_F32)
            .Case("m8n8k4.row.col.f64", SPARSE_AUTOGRAD_MMA_M8N8K4_F64_F64)
            .Default(-1);
  if (kind < 0)
    return false;

  // The registers of A, B and C one after the other, each of 4 bytes or 8.
  IRBuilder<> &builder = calls.getBuilder();
  unsigned count = call.arg_size() - (isSparse ? 2 : 0);
  SmallVector<Type *> types;
  for (unsigned i = 0; i < count; ++i)
    types.push_back(call.getArgOperand(i)->getType());
  auto *type = StructType::get(call.getContext(), types, /*isPacked=*/true);
  Value *operands = calls.allocate(type);
  for (unsigned i = 0; i < count; ++i)
    builder.CreateStore(call.getArgOperand(i),
                        builder.CreateStructGEP(type, operands, i));
  Value *registers = calls.allocate(call.getType());
  calls.callHere("sparseAutogradEmulateProduct", nullptr,
                 {calls.getInt(kind), operands,
                  isSparse ? call.getArgOperand(count) : calls.getInt(0),
                  isSparse ? call.getArgOperand(count + 1) : calls.getInt(0),
                  calls.getInt(isOrdered), registers});
  result = builder.CreateLoad(call.getType(), registers);
  return true;
}

bool sparse_autograd::emulator::translateIntrinsic(RuntimeCalls &calls,
                                                   CallInst &call,
                                                   StringRef name,
                                                   Value *&result) {
  if (name == "exit") {
    calls.call("sparseAutogradEmulateExit", nullptr, {});
    return true;
  }
  if (translateAsync(calls, call, name, result))
    return true;
  // Each thread sees what another one wrote at once, so fences have nothing to
  // do but those for the asynchronous proxy; time passes.
  if (name.starts_with("membar.") || name.starts_with("fence.proxy.") ||
      name.starts_with("fence.sc.") || name.starts_with("nanosleep") ||
      name.starts_with("setmaxnreg.")) {
    calls.callHere("sparseAutogradEmulateStep", nullptr, {});
    return true;
  }
  return translateRegister(calls, name, result) ||
         translateBarrier(calls, call, name, result) ||
         translateShuffle(calls, call, name, result) ||
         translateVote(calls, call, name, result) ||
         translateReduction(calls, call, name, result) ||
         translateMask(calls, call, name, result) ||
         translateCopy(calls, call, name) ||
         translateLoadMatrix(calls, call, name, result) ||
         translateSpace(calls, call, name, result) ||
         translateProduct(calls, call, name, result);
}
