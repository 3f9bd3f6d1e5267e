//===- OutlineLoops.cpp - loops of large functions to functions -*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/LoopsToFunctions/LoopsToFunctions.h"

#include "mlir/Analysis/AliasAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_OUTLINELOOPS
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;

/// How many ops there are in each op that has regions, itself included.
static llvm::DenseMap<Operation *, int64_t> countOps(func::FuncOp function) {
  llvm::DenseMap<Operation *, int64_t> sizes;
  function->walk<WalkOrder::PostOrder>([&](Operation *op) {
    int64_t size = op->getNumRegions() == 0 ? 1 : ++sizes[op];
    if (op != function)
      sizes[op->getParentOp()] += size;
  });
  return sizes;
}

/// Appends the outermost loops in `op` with no more than `limit` ops.
static void collectLoops(Operation *op, int64_t limit,
                         const llvm::DenseMap<Operation *, int64_t> &sizes,
                         SmallVectorImpl<LoopLikeOpInterface> &loops) {
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps()) {
      if (inner.getNumRegions() == 0)
        continue;
      auto loop = dyn_cast<LoopLikeOpInterface>(inner);
      if (loop && sizes.lookup(&inner) <= limit)
        loops.push_back(loop);
      else
        collectLoops(&inner, limit, sizes, loops);
    }
}

/// The type that `buffer` has as an argument of the function that `loop`
/// becomes. Where its elements start is no part of that, so that loops over
/// slices of one buffer are equal; that is for loads and stores alone, since
/// types of other results are made of that of the buffer.
static Type getArgumentType(Value buffer, Operation *loop) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  auto layout = type ? dyn_cast<StridedLayoutAttr>(type.getLayout())
                     : StridedLayoutAttr();
  if (!layout || layout.getOffset() == 0 ||
      ShapedType::isDynamic(layout.getOffset()))
    return buffer.getType();
  for (Operation *user : buffer.getUsers())
    if (loop->isAncestor(user) && !isa<memref::LoadOp, memref::StoreOp>(user))
      return type;
  return MemRefType::get(type.getShape(), type.getElementType(),
                         StridedLayoutAttr::get(type.getContext(),
                                                ShapedType::kDynamic,
                                                layout.getStrides()),
                         type.getMemorySpace());
}

/// Whether `type` can be handed over as one pointer.
static bool isPointer(MemRefType type) {
  int64_t offset;
  SmallVector<int64_t> strides;
  return type.hasStaticShape() &&
         succeeded(type.getStridesAndOffset(strides, offset)) &&
         !ShapedType::isDynamic(offset) && !ShapedType::isDynamicShape(strides);
}

/// Has buffers handed over as pointers where all of them can be, and says which
/// of them, `captures`, do not overlap with any other.
static void describeBuffers(func::FuncOp function, ArrayRef<Value> captures,
                            AliasAnalysis &aliases) {
  bool arePointers =
      llvm::none_of(function.getResultTypes(), llvm::IsaPred<BaseMemRefType>) &&
      llvm::all_of(function.getArgumentTypes(), [](Type type) {
        auto buffer = dyn_cast<MemRefType>(type);
        return buffer ? isPointer(buffer) : !isa<BaseMemRefType>(type);
      });
  if (!arePointers)
    return;
  MLIRContext *context = function.getContext();
  function->setAttr("llvm.bareptr", UnitAttr::get(context));
  SmallVector<unsigned> buffers;
  for (auto [index, value] : llvm::enumerate(captures))
    if (isa<MemRefType>(value.getType()))
      buffers.push_back(index);
  for (unsigned index : buffers) {
    bool isAlone = llvm::all_of(buffers, [&](unsigned other) {
      return index == other ||
             aliases.alias(captures[index], captures[other]).isNo();
    });
    if (isAlone)
      function.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(),
                          UnitAttr::get(context));
  }
}

/// Moves `loop` to a function called like `name`, which a call replaces.
static void outline(Operation *loop, const Twine &name, SymbolTable &symbols,
                    AliasAnalysis &aliases) {
  // A constant is made anew inside, where it tells more than an argument.
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(loop->getRegions(), used);
  used.insert(loop->operand_begin(), loop->operand_end());
  SmallVector<Operation *> constants;
  SmallVector<Value> captures;
  for (Value value : used) {
    Operation *op = value.getDefiningOp();
    if (op && matchPattern(op, m_Constant()))
      constants.push_back(op);
    else
      captures.push_back(value);
  }

  Location loc = loop->getLoc();
  auto parent = loop->getParentOfType<func::FuncOp>();
  OpBuilder builder(loop);
  SmallVector<Value> operands;
  for (Value value : captures) {
    Type type = getArgumentType(value, loop);
    operands.push_back(type == value.getType()
                           ? value
                           : memref::CastOp::create(builder, loc, type, value));
  }
  auto function = func::FuncOp::create(
      loc, name.str(),
      builder.getFunctionType(ValueRange(operands).getTypes(),
                              loop->getResultTypes()));
  function.setPrivate();
  // Together again they would be what they were.
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
  describeBuffers(function, captures, aliases);
  symbols.insert(function, std::next(parent->getIterator()));
  auto call = func::CallOp::create(builder, loc, function, operands);
  loop->replaceAllUsesWith(call);

  Block *block = function.addEntryBlock();
  loop->moveBefore(block, block->end());
  builder.setInsertionPointToStart(block);
  IRMapping inside;
  inside.map(captures, block->getArguments());
  for (Operation *constant : constants)
    builder.clone(*constant, inside);
  // By the operands in the loop: constants have uses everywhere.
  loop->walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (Value value = inside.lookupOrNull(operand.get()))
        operand.set(value);
  });
  builder.setInsertionPointToEnd(block);
  func::ReturnOp::create(builder, loc, loop->getResults());
}

namespace {
struct OutlineLoopsPass
    : sparse_autograd::impl::OutlineLoopsBase<OutlineLoopsPass> {
  using OutlineLoopsBase::OutlineLoopsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
      llvm::DenseMap<Operation *, int64_t> sizes = countOps(function);
      if (sizes.lookup(function) <= limit)
        continue;
      SmallVector<LoopLikeOpInterface> loops;
      collectLoops(function, limit, sizes, loops);
      AliasAnalysis aliases(function);
      for (auto [index, loop] : llvm::enumerate(loops))
        outline(loop, function.getName() + ".loop." + Twine(index), symbols,
                aliases);
    }
  }
};
} // namespace
