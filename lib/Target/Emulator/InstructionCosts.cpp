//===- InstructionCosts.cpp - What device code costs a warp -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InstructionCosts.h"

#include "RuntimeCalls.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/Regex.h"

using namespace llvm;
using namespace sparse_autograd::emulator;

namespace {
// Cycles until a result is there.
constexpr unsigned arithmeticCycles = 4;
constexpr unsigned float64Cycles = 8;
constexpr unsigned specialCycles = 18;
constexpr unsigned exchangeCycles = 23;
constexpr unsigned barrierCycles = 20;
constexpr unsigned tensorCycles = 33;
constexpr unsigned conversionCycles = 6;
// The bytes of an access of a thread that one instruction makes.
constexpr uint64_t accessBytes = 16;
constexpr unsigned localSpace = 5;
constexpr unsigned parameterSpace = 101;
} // namespace

static WarpCost make(int which, unsigned count, unsigned cycles) {
  WarpCost cost;
  cost.which = which;
  cost.count = count;
  cost.cycles = count ? cycles : 0;
  return cost;
}

static WarpCost makeInteger(unsigned count) {
  return make(SPARSE_AUTOGRAD_CLASS_INTEGER, count, arithmeticCycles * count);
}

/// Registers that a value takes.
static unsigned getRegisters(Type *type, const DataLayout &layout) {
  if (!type->isSized())
    return 1;
  return std::max<unsigned>(1, layout.getTypeSizeInBits(type) / 32);
}

static unsigned getElements(Type *type) {
  auto *vector = dyn_cast<FixedVectorType>(type);
  return vector ? vector->getNumElements() : 1;
}

/// `count` operations on floats of a type; two of 16 bits go at once.
static WarpCost makeFloat(Type *type, unsigned count = 1) {
  unsigned elements = getElements(type);
  Type *scalar = type->getScalarType();
  if (scalar->isDoubleTy())
    return make(SPARSE_AUTOGRAD_CLASS_F64, elements * count, float64Cycles);
  if (scalar->getPrimitiveSizeInBits() == 16)
    elements = (elements + 1) / 2;
  return make(SPARSE_AUTOGRAD_CLASS_F32, elements * count, arithmeticCycles);
}

static WarpCost makeAccess(unsigned space, uint64_t bytes) {
  // Parameters are operands of other instructions, from the constant cache.
  if (space == parameterSpace || space == constantSpace)
    return makeInteger(0);
  WarpCost cost =
      make(SPARSE_AUTOGRAD_CLASS_MEMORY,
           std::max<unsigned>(1, (bytes + accessBytes - 1) / accessBytes),
           arithmeticCycles);
  cost.isShared = space == sharedSpace || space == localSpace;
  cost.isGlobal = !cost.isShared;
  return cost;
}

/// A multiplication that becomes part of the addition that uses it.
static bool isContracted(const Instruction &multiplication) {
  if (!multiplication.hasOneUse() || !multiplication.hasAllowContract())
    return false;
  auto *user = cast<Instruction>(multiplication.user_back());
  return (user->getOpcode() == Instruction::FAdd ||
          user->getOpcode() == Instruction::FSub) &&
         user->hasAllowContract();
}

static WarpCost getBinaryCost(const BinaryOperator &operation) {
  Type *type = operation.getType();
  unsigned elements = getElements(type);
  unsigned width = elements * (type->getScalarSizeInBits() > 32 ? 2 : 1);
  bool isWide = type->getScalarSizeInBits() > 32;
  bool isByConstant = isa<Constant>(operation.getOperand(1));
  switch (operation.getOpcode()) {
  case Instruction::FMul:
    return isContracted(operation) ? makeInteger(0) : makeFloat(type);
  case Instruction::FAdd:
  case Instruction::FSub:
    return makeFloat(type);
  case Instruction::FDiv:
  case Instruction::FRem:
    // A reciprocal and its refinement.
    return type->getScalarType()->isDoubleTy()
               ? make(SPARSE_AUTOGRAD_CLASS_F64, 10 * elements,
                      10 * float64Cycles)
               : make(SPARSE_AUTOGRAD_CLASS_SPECIAL, 2 * elements,
                      2 * specialCycles);
  case Instruction::Mul:
    return makeInteger(elements * (isWide ? 3 : 1));
  case Instruction::UDiv:
  case Instruction::SDiv:
  case Instruction::URem:
  case Instruction::SRem: {
    auto *divisor = dyn_cast<ConstantInt>(operation.getOperand(1));
    if (divisor && divisor->getValue().isPowerOf2())
      return makeInteger(width);
    return makeInteger(elements *
                       (isByConstant ? (isWide ? 10 : 4) : (isWide ? 70 : 20)));
  }
  default:
    return makeInteger(width);
  }
}

/// The multiplications of "...m16n8k16...", which a warp, or four of them, do.
static unsigned getMacs(StringRef name, bool isOfWarpgroup) {
  static const Regex shape("m([0-9]+)n([0-9]+)k([0-9]+)");
  SmallVector<StringRef> parts;
  unsigned m, n, k;
  if (!shape.match(name, &parts) || parts[1].getAsInteger(10, m) ||
      parts[2].getAsInteger(10, n) || parts[3].getAsInteger(10, k))
    return 0;
  return m * n * k / (isOfWarpgroup ? 4 : 1);
}

static WarpCost getNVVMCost(const CallBase &call, StringRef name) {
  auto contains = [&](StringRef part) { return name.contains(part); };
  if (name.starts_with("mma") || contains("wgmma.mma")) {
    WarpCost cost = make(SPARSE_AUTOGRAD_CLASS_TENSOR, 1, tensorCycles);
    // Products with a sparse matrix compute half of them.
    cost.tensorMacs =
        getMacs(name, contains("wgmma")) / (contains(".sp") ? 2 : 1);
    return cost;
  }
  if (contains("ldmatrix"))
    return makeAccess(sharedSpace, accessBytes);
  if (contains("cp.async") || contains("mbarrier") || contains("fence") ||
      contains("membar") || contains("wgmma") || contains("prefetch"))
    return make(SPARSE_AUTOGRAD_CLASS_MEMORY, 1, arithmeticCycles);
  if (name.starts_with("barrier") || contains("bar.warp"))
    return make(SPARSE_AUTOGRAD_CLASS_BARRIER, 1, barrierCycles);
  if (contains("shfl") || contains("vote") || contains("match") ||
      contains("redux") || contains("activemask") || contains("elect"))
    return make(SPARSE_AUTOGRAD_CLASS_EXCHANGE, 1, exchangeCycles);
  if (contains("sreg"))
    return makeInteger(1);
  if (contains("ldg") || contains("ldu"))
    return makeAccess(1, call.getDataLayout().getTypeStoreSize(call.getType()));
  if (contains("fma") || contains("fmin") || contains("fmax") ||
      contains("add") || contains("mul"))
    return makeFloat(call.getType());
  if (contains("2"))
    return make(SPARSE_AUTOGRAD_CLASS_CONVERSION, 1, conversionCycles);
  return make(SPARSE_AUTOGRAD_CLASS_SPECIAL, 1, specialCycles);
}

static WarpCost getCallCost(const CallBase &call) {
  Type *type = call.getType();
  const Function *callee = call.getCalledFunction();
  StringRef name = callee ? callee->getName() : "";
  if (name.consume_front("llvm.nvvm."))
    return getNVVMCost(call, name);
  if (auto *copy = dyn_cast<MemIntrinsic>(&call)) {
    auto *length = dyn_cast<ConstantInt>(copy->getLength());
    return makeAccess(copy->getDestAddressSpace(),
                      length ? length->getZExtValue() : accessBytes);
  }
  switch (call.getIntrinsicID()) {
  case Intrinsic::fma:
  case Intrinsic::fmuladd:
  case Intrinsic::minnum:
  case Intrinsic::maxnum:
  case Intrinsic::minimum:
  case Intrinsic::maximum:
  case Intrinsic::minimumnum:
  case Intrinsic::maximumnum:
    return makeFloat(type);
  case Intrinsic::fabs:
  case Intrinsic::assume:
  case Intrinsic::lifetime_start:
  case Intrinsic::lifetime_end:
  case Intrinsic::experimental_noalias_scope_decl:
    return makeInteger(0);
  case Intrinsic::sqrt:
  case Intrinsic::exp2:
  case Intrinsic::exp:
  case Intrinsic::log:
  case Intrinsic::log2:
  case Intrinsic::sin:
  case Intrinsic::cos:
    return make(SPARSE_AUTOGRAD_CLASS_SPECIAL, 2 * getElements(type),
                2 * specialCycles);
  default:
    break;
  }
  if (call.getIntrinsicID() != Intrinsic::not_intrinsic)
    return makeInteger(getRegisters(type, call.getDataLayout()));
  if (name.starts_with("__nv_"))
    // A function of libdevice that has not been linked in.
    return make(SPARSE_AUTOGRAD_CLASS_SPECIAL, 10, 2 * specialCycles);
  return make(SPARSE_AUTOGRAD_CLASS_CONTROL, 1, arithmeticCycles);
}

WarpCost sparse_autograd::emulator::getCost(const Instruction &instruction) {
  const DataLayout &layout = instruction.getDataLayout();
  Type *type = instruction.getType();
  if (auto *load = dyn_cast<LoadInst>(&instruction))
    return makeAccess(load->getPointerAddressSpace(),
                      layout.getTypeStoreSize(type));
  if (auto *store = dyn_cast<StoreInst>(&instruction)) {
    // Nothing waits for it.
    WarpCost cost = makeAccess(
        store->getPointerAddressSpace(),
        layout.getTypeStoreSize(store->getValueOperand()->getType()));
    cost.isGlobal = cost.isShared = false;
    return cost;
  }
  if (auto *update = dyn_cast<AtomicRMWInst>(&instruction)) {
    WarpCost cost = makeAccess(update->getPointerAddressSpace(), 4);
    if (update->use_empty())
      cost.isGlobal = cost.isShared = false;
    return cost;
  }
  if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
    return makeAccess(exchange->getPointerAddressSpace(), 8);
  if (auto *call = dyn_cast<CallBase>(&instruction))
    return getCallCost(*call);
  if (auto *operation = dyn_cast<BinaryOperator>(&instruction))
    return getBinaryCost(*operation);
  switch (instruction.getOpcode()) {
  case Instruction::GetElementPtr: {
    // One multiplication with an addition for each index; a constant is an
    // operand of the access.
    unsigned variable = 0;
    for (const Use &index : cast<GEPOperator>(instruction).indices())
      variable += !isa<Constant>(index);
    return makeInteger(variable);
  }
  case Instruction::ICmp:
  case Instruction::Select:
    return makeInteger(getRegisters(
        instruction.getOperand(instruction.getOpcode() == Instruction::Select)
            ->getType(),
        layout));
  case Instruction::FCmp:
    return makeFloat(instruction.getOperand(0)->getType());
  case Instruction::SExt:
    return makeInteger(getElements(type));
  case Instruction::FPExt:
  case Instruction::FPTrunc:
  case Instruction::FPToSI:
  case Instruction::FPToUI:
  case Instruction::SIToFP:
  case Instruction::UIToFP:
    return make(SPARSE_AUTOGRAD_CLASS_CONVERSION, getElements(type),
                conversionCycles);
  case Instruction::Br:
    return make(SPARSE_AUTOGRAD_CLASS_CONTROL,
                cast<BranchInst>(instruction).isConditional() ? 1 : 0,
                arithmeticCycles);
  case Instruction::Switch:
    return make(SPARSE_AUTOGRAD_CLASS_CONTROL,
                2 * cast<SwitchInst>(instruction).getNumCases(),
                arithmeticCycles);
  case Instruction::Ret:
    return make(SPARSE_AUTOGRAD_CLASS_CONTROL, 1, arithmeticCycles);
  default:
    // Numbers in other registers, parts of vectors: registers are renamed.
    return makeInteger(0);
  }
}
