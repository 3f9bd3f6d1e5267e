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

/// Whether `type` is a buffer of static extents without gaps, which a pointer
/// alone describes.
static bool isPointer(MemRefType type) {
  return type.hasStaticShape() && type.getLayout().isIdentity();
}

/// The layout that `buffer` has in the function that `loop` becomes. Where its
/// elements start is no part of that, so that loops over slices of one buffer
/// are equal; that is for loads and stores alone, since types of other results
/// are made of that of the buffer.
static MemRefType getInnerType(Value buffer, Operation *loop) {
  auto type = cast<MemRefType>(buffer.getType());
  auto layout = dyn_cast<StridedLayoutAttr>(type.getLayout());
  if (!layout || layout.getOffset() == 0 ||
      ShapedType::isDynamic(layout.getOffset()))
    return type;
  for (Operation *user : buffer.getUsers())
    if (loop->isAncestor(user) && !isa<memref::LoadOp, memref::StoreOp>(user))
      return type;
  return MemRefType::get(type.getShape(), type.getElementType(),
                         StridedLayoutAttr::get(type.getContext(),
                                                ShapedType::kDynamic,
                                                layout.getStrides()),
                         type.getMemorySpace());
}

namespace {
/// How a value that a loop uses is handed over to its function: as it is, or,
/// of a buffer, as a pointer with the numbers that its type leaves open.
struct Capture {
  Value value;
  /// Of a buffer that is taken apart, its type in the function; else null.
  MemRefType innerType;
  /// The first operand of the call, the pointer of a buffer.
  unsigned position;
};

/// Appends the operands of a call for `capture`.
class CallOperands {
public:
  CallOperands(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Capture add(Value value, Operation *loop) {
    Capture capture{value, {}, static_cast<unsigned>(operands.size())};
    auto type = dyn_cast<MemRefType>(value.getType());
    int64_t offset;
    SmallVector<int64_t> strides;
    if (!type || isPointer(type) ||
        failed(type.getStridesAndOffset(strides, offset))) {
      operands.push_back(value);
      return capture;
    }
    capture.innerType = getInnerType(value, loop);
    // It appends.
    strides.clear();
    (void)capture.innerType.getStridesAndOffset(strides, offset);
    auto parts = memref::ExtractStridedMetadataOp::create(builder, loc, value);
    operands.push_back(parts.getBaseBuffer());
    addDynamic(offset, parts.getOffset());
    for (auto [size, part] : llvm::zip_equal(type.getShape(), parts.getSizes()))
      addDynamic(size, part);
    for (auto [stride, part] : llvm::zip_equal(strides, parts.getStrides()))
      addDynamic(stride, part);
    return capture;
  }

  SmallVector<Value> operands;

private:
  void addDynamic(int64_t known, Value value) {
    if (ShapedType::isDynamic(known))
      operands.push_back(value);
  }

  OpBuilder &builder;
  Location loc;
};
} // namespace

/// The value in the function whose arguments are `arguments` that stands for
/// `capture`.
static Value rebuild(OpBuilder &builder, Location loc, const Capture &capture,
                     ValueRange arguments) {
  unsigned next = capture.position;
  Value first = arguments[next++];
  if (!capture.innerType)
    return first;
  int64_t offset;
  SmallVector<int64_t> strides;
  (void)capture.innerType.getStridesAndOffset(strides, offset);
  auto take = [&](int64_t known) -> OpFoldResult {
    if (ShapedType::isDynamic(known))
      return arguments[next++];
    return builder.getIndexAttr(known);
  };
  OpFoldResult start = take(offset);
  SmallVector<OpFoldResult> sizes =
      llvm::map_to_vector(capture.innerType.getShape(), take);
  SmallVector<OpFoldResult> steps = llvm::map_to_vector(strides, take);
  return memref::ReinterpretCastOp::create(builder, loc, capture.innerType,
                                           first, start, sizes, steps);
}

/// Has buffers handed over as pointers, and says which of them do not overlap
/// with any other.
static void describeBuffers(func::FuncOp function, ArrayRef<Capture> captures,
                            AliasAnalysis &aliases) {
  auto isBuffer = [](const Capture &capture) {
    return isa<BaseMemRefType>(capture.value.getType());
  };
  bool arePointers =
      llvm::none_of(function.getResultTypes(), llvm::IsaPred<BaseMemRefType>) &&
      llvm::all_of(captures, [&](const Capture &capture) {
        auto type =
            dyn_cast<MemRefType>(function.getArgumentTypes()[capture.position]);
        return !isBuffer(capture) || (type && isPointer(type));
      });
  if (!arePointers)
    return;
  auto unit = UnitAttr::get(function.getContext());
  function->setAttr("llvm.bareptr", unit);
  for (const Capture &capture : captures) {
    bool isAlone =
        isBuffer(capture) && llvm::all_of(captures, [&](const Capture &other) {
          return &capture == &other || !isBuffer(other) ||
                 aliases.alias(capture.value, other.value).isNo();
        });
    if (isAlone)
      function.setArgAttr(capture.position,
                          LLVM::LLVMDialect::getNoAliasAttrName(), unit);
  }
}

/// Moves `loop` to a function called like `name`, which a call replaces.
static void outline(Operation *loop, const Twine &name, SymbolTable &symbols,
                    AliasAnalysis &aliases) {
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(loop->getRegions(), used);
  used.insert(loop->operand_begin(), loop->operand_end());
  Location loc = loop->getLoc();
  OpBuilder builder(loop);
  // A constant is made anew inside, where it tells more than an argument.
  SmallVector<Operation *> constants;
  SmallVector<Capture> captures;
  CallOperands call(builder, loc);
  for (Value value : used) {
    Operation *op = value.getDefiningOp();
    if (op && matchPattern(op, m_Constant()))
      constants.push_back(op);
    else
      captures.push_back(call.add(value, loop));
  }

  auto parent = loop->getParentOfType<func::FuncOp>();
  auto function = func::FuncOp::create(
      loc, name.str(),
      builder.getFunctionType(ValueRange(call.operands).getTypes(),
                              loop->getResultTypes()));
  function.setPrivate();
  // Together again they would be what they were.
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
  describeBuffers(function, captures, aliases);
  symbols.insert(function, std::next(parent->getIterator()));
  loop->replaceAllUsesWith(
      func::CallOp::create(builder, loc, function, call.operands));

  Block *block = function.addEntryBlock();
  loop->moveBefore(block, block->end());
  builder.setInsertionPointToStart(block);
  IRMapping inside;
  for (const Capture &capture : captures)
    inside.map(capture.value,
               rebuild(builder, loc, capture, block->getArguments()));
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
