//===- CompressMaskedRows.cpp - compute selected elements alone -----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A softmax goes through the elements of a row several times, and selects by
// the same mask each time. Of a row whose mask selects few the elements that
// count are brought together once, all that is computed is computed of these,
// and the result gets its zeros when it is written. This changes no value, as
// what an element that is not selected adds to a sum or a maximum is neutral,
// which is proved for each operation; but terms of a sum meet in another order.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/CompressMaskedRows/CompressMaskedRows.h"

#include "../CachedBlocks.h"
#include "../NeutralElement.h"
#include "../RuntimeCalls.h"
#include "SparseAutograd/Analysis/ArithmeticCost.h"
#include "SparseAutograd/Analysis/LoopRemarks.h"
#include "SparseAutograd/Target/CPUInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/ADT/SetVector.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_COMPRESSMASKEDROWS
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

/// The cost of a body that computes an elementary function: an exponential of
/// an element that is not selected costs more than to find the ones that are.
static constexpr int64_t expensive = elementaryFunctionCost;

/// Where more than one element in so many is selected, to find them and to put
/// results between zeros costs what it saves: measured for a softmax and a
/// logsumexp, forward and backward, of rows of 4096 elements.
static constexpr int64_t leastShare = 3;

namespace {
/// A loop over blocks of rows, whose operations go through the elements of the
/// rows by way of views of the shape of a block.
struct Candidate {
  scf::ForallOp loop;
  /// What selects the elements.
  memref::SubViewOp mask;
  /// The operations that go through the elements of rows, in their order.
  SmallVector<linalg::GenericOp> rowOps;
  /// What the iteration reads of memory that is there before the loop, and what
  /// it writes.
  llvm::SmallSetVector<memref::SubViewOp, 4> inputs, outputs;
  /// Views of the iteration's own memory.
  llvm::SmallSetVector<Value, 4> intermediates;

  bool isView(Value value) const {
    auto block = value.getDefiningOp<memref::SubViewOp>();
    return intermediates.contains(value) ||
           (block && (inputs.contains(block) || outputs.contains(block)));
  }

  bool isOutput(Value view) const {
    auto block = view.getDefiningOp<memref::SubViewOp>();
    return block && outputs.contains(block);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// What an element that is not selected does
//===----------------------------------------------------------------------===//

namespace {
/// The values of the body of an operation at an element that the mask does not
/// select, as far as they are known: a constant, or a value of the body that
/// they are equal to.
class UnselectedValues {
public:
  explicit UnselectedValues(BlockArgument mask) : mask(mask) {}

  OpFoldResult get(Value value);

private:
  BlockArgument mask;
  llvm::DenseMap<Value, OpFoldResult> known;
};
} // namespace

OpFoldResult UnselectedValues::get(Value value) {
  if (value == mask)
    return BoolAttr::get(value.getContext(), false);
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return value;
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Operation *op = result.getOwner();
  OpFoldResult folded = value;
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant))) {
    folded = constant;
  } else if (op->getNumRegions() == 0 && op->getNumResults() == 1 &&
             isPure(op)) {
    // A copy is folded, as folding may change it.
    Operation *copy = op->clone();
    SmallVector<Attribute> operands;
    for (OpOperand &operand : copy->getOpOperands()) {
      OpFoldResult known = get(operand.get());
      operands.push_back(dyn_cast<Attribute>(known));
      if (auto equal = dyn_cast<Value>(known))
        operand.set(equal);
    }
    // Where folding looks for it.
    if (copy->hasTrait<OpTrait::IsCommutative>() && operands.size() == 2 &&
        operands[0] && !operands[1]) {
      std::swap(operands[0], operands[1]);
      copy->setOperands({copy->getOperand(1), copy->getOperand(0)});
    }
    SmallVector<OpFoldResult> results;
    if (succeeded(copy->fold(operands, results)) && results.size() == 1 &&
        results.front() != OpFoldResult(copy->getResult(0))) {
      folded = results.front();
      if (auto equal = dyn_cast<Value>(folded))
        folded = get(equal);
    }
    copy->erase();
  }
  known[value] = folded;
  return folded;
}

/// Whether `value`, what is yielded for `accumulator` where an element is not
/// selected, is `accumulator`. Adding 0.0 leaves it as it is if it is not -0.0.
static bool isAccumulator(UnselectedValues &values, Value value,
                          BlockArgument accumulator, bool canAddZero) {
  OpFoldResult folded = values.get(value);
  if (folded == OpFoldResult(accumulator))
    return true;
  Operation *combiner = value.getDefiningOp();
  if (!combiner || combiner->getNumOperands() != 2)
    return false;
  for (int side = 0; side < 2; ++side) {
    if (combiner->getOperand(side) != accumulator)
      continue;
    auto term = dyn_cast<Attribute>(values.get(combiner->getOperand(1 - side)));
    if (term && (term == getNeutralElement(combiner) ||
                 (canAddZero && isa<arith::AddFOp>(combiner) &&
                  matchPattern(term, m_PosZeroFloat()))))
      return true;
  }
  return false;
}

/// Whether the sums that `view` has begin with a number other than -0.0: then
/// they are never -0.0.
static bool beginsWithoutNegativeZero(Value view) {
  bool isFilled = false;
  for (Operation *user : view.getUsers()) {
    auto fill = dyn_cast<linalg::FillOp>(user);
    if (!fill)
      continue;
    if (matchPattern(fill.getInputs().front(), m_NegZeroFloat()) ||
        !matchPattern(fill.getInputs().front(), m_Constant()))
      return false;
    isFilled = true;
  }
  return isFilled;
}

//===----------------------------------------------------------------------===//
// Which loops
//===----------------------------------------------------------------------===//

/// Whether `operand` of `op` goes through the elements of rows.
static bool isAlongRows(linalg::GenericOp op, OpOperand &operand) {
  return op.getMatchingIndexingMap(&operand).isIdentity();
}

/// Adds the views by which `op` goes through the elements of rows to those of
/// the candidate; false if there is an operand that is something else.
static bool addViews(Candidate &candidate, linalg::GenericOp op) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isAlongRows(op, operand)) {
      if (op.getMatchingIndexingMap(&operand).isFunctionOfDim(1))
        return false;
      continue;
    }
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type || type.getMemorySpace() ||
        !type.getElementType().isIntOrFloat() ||
        type.getStridesAndOffset().first.back() != 1 ||
        !(type.isDynamicDim(0) || type.getDimSize(0) == 1))
      return false;
    auto view = operand.get().getDefiningOp<memref::SubViewOp>();
    if (view && view->getBlock() == op->getBlock() && view.hasUnitStride() &&
        candidate.loop.isDefinedOutsideOfLoop(view.getSource())) {
      if (view.getSourceType().getRank() != type.getRank())
        return false;
      if (op.isDpsInit(&operand))
        candidate.outputs.insert(view);
      else
        candidate.inputs.insert(view);
      continue;
    }
    auto alloc = (view ? view.getSource() : operand.get())
                     .getDefiningOp<memref::AllocOp>();
    if (!alloc || alloc->getParentOp() != candidate.loop ||
        (view && (!alloc->hasOneUse() || !view.hasUnitStride())))
      return false;
    candidate.intermediates.insert(operand.get());
  }
  return true;
}

/// Whether nothing but the row operations of `candidate`, by elements, has to
/// do with `view`.
static bool isOfRowOps(Candidate &candidate, Value view) {
  return llvm::all_of(view.getUses(), [&](OpOperand &use) {
    auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
    return op && llvm::is_contained(candidate.rowOps, op) &&
           isAlongRows(op, use);
  });
}

/// Whether the memory that `block` is a part of is the function's own, and the
/// loop has to do with no other part of it.
static bool isOwn(scf::ForallOp loop, memref::SubViewOp block) {
  auto alloc = block.getSource().getDefiningOp<memref::AllocOp>();
  return alloc && llvm::all_of(alloc->getUsers(), [&](Operation *user) {
           return user == block || isa<memref::DimOp, func::ReturnOp>(user) ||
                  (isa<linalg::LinalgOp>(user) && !loop->isAncestor(user));
         });
}

/// Whether every row operation that has to do with `view` follows one that
/// writes it and does not read it.
static bool isWrittenFirst(Candidate &candidate, Value view) {
  for (linalg::GenericOp op : candidate.rowOps)
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get() == view)
        return llvm::none_of(op->getOpOperands(), [&](OpOperand &other) {
          return other.get() == view && op.payloadUsesValueFromOperand(&other);
        });
  return false;
}

/// Whether the elements that the mask does not select may be left out of `op`.
static bool mayLeaveOut(Candidate &candidate, linalg::GenericOp op) {
  // An assertion is one about all elements.
  for (Operation &inner : op.getBody()->without_terminator())
    if (!isMemoryEffectFree(&inner))
      return false;
  BlockArgument mask;
  for (OpOperand *input : op.getDpsInputOperands())
    if (input->get() == candidate.mask)
      mask = op.getMatchingBlockArgument(input);
  UnselectedValues values(mask);
  for (OpOperand &output : op.getDpsInitsMutable()) {
    Value yielded = op.getMatchingYieldValue(&output)->get();
    if (!isAlongRows(op, output)) {
      if (!isAccumulator(values, yielded, op.getMatchingBlockArgument(&output),
                         beginsWithoutNegativeZero(output.get())))
        return false;
      continue;
    }
    auto isLast = [&](linalg::GenericOp other) {
      return other == op ||
             !llvm::is_contained(other.getDpsInits(), output.get()) ||
             other->isBeforeInBlock(op);
    };
    // What is left out is zero in the end.
    if (!candidate.isOutput(output.get()) ||
        !llvm::all_of(candidate.rowOps, isLast))
      continue;
    auto value = dyn_cast<Attribute>(values.get(yielded));
    if (!value || (!matchPattern(value, m_PosZeroFloat()) &&
                   !matchPattern(value, m_Zero())))
      return false;
  }
  return true;
}

/// Whether the elements of `block` have a size that is quick to compress: of
/// narrower ones more is computed at a time than is found.
static bool isCompressible(memref::SubViewOp block) {
  return llvm::is_contained({32, 64}, block.getType().getElementTypeBitWidth());
}

/// Why the rows of `candidate` cannot be compressed by its mask; empty if they
/// can.
static StringRef whyNotCompress(Candidate &candidate) {
  scf::ForallOp loop = candidate.loop;
  OpFoldResult rows = candidate.mask.getMixedSizes()[0];
  OpFoldResult extent = candidate.mask.getMixedSizes()[1];
  auto value = dyn_cast<Value>(extent);
  if (!getBoundBefore(loop, rows) ||
      (value && !loop.isDefinedOutsideOfLoop(value)) ||
      !candidate.mask.getSourceType().getLayout().isIdentity())
    return "the extents of its blocks are not known before the loop, or the "
           "mask is a view";
  // It is read, not changed in place, and selects of something.
  if (!candidate.inputs.contains(candidate.mask) ||
      candidate.inputs.size() == 1)
    return "the mask selects of nothing that is read, or is written";
  for (memref::SubViewOp input : candidate.inputs)
    if (!(input == candidate.mask || isCompressible(input)) ||
        !isOfRowOps(candidate, input) ||
        llvm::any_of(candidate.outputs, [&](memref::SubViewOp output) {
          return output.getSource() == input.getSource();
        }))
      return "what is read is not consecutive, is used otherwise, or is "
             "written too";
  for (memref::SubViewOp output : candidate.outputs)
    if (!isCompressible(output) || !isOfRowOps(candidate, output) ||
        !isOwn(loop, output) || !isWrittenFirst(candidate, output))
      return "a result is not consecutive, is used otherwise, or is read "
             "before it is written";
  for (Value view : candidate.intermediates)
    if (!isOfRowOps(candidate, view) || !isWrittenFirst(candidate, view))
      return "an intermediate row is used otherwise, or is read before it is "
             "written";
  if (!llvm::all_of(candidate.rowOps, [&](linalg::GenericOp op) {
        return mayLeaveOut(candidate, op);
      }))
    return "elements that the mask leaves out count";
  return "";
}

/// The operations that have to do with elements of rows that `mask` selects:
/// those that share views with each other, beginning with the mask.
static std::optional<Candidate> collect(scf::ForallOp loop,
                                        memref::SubViewOp mask) {
  Candidate candidate;
  candidate.loop = loop;
  candidate.mask = mask;
  candidate.inputs.insert(mask);
  llvm::SmallPtrSet<Operation *, 8> found;
  for (bool hasChanged = true; std::exchange(hasChanged, false);)
    for (auto op : loop.getBody()->getOps<linalg::GenericOp>()) {
      if (op.getNumLoops() != 2 || found.contains(op) ||
          llvm::none_of(op->getOperands(), [&](Value operand) {
            return candidate.isView(operand);
          }))
        continue;
      if (op.hasIndexSemantics() || !addViews(candidate, op))
        return std::nullopt;
      hasChanged = found.insert(op).second;
    }
  for (auto op : loop.getBody()->getOps<linalg::GenericOp>())
    if (found.contains(op))
      candidate.rowOps.push_back(op);
  // What is changed in place.
  candidate.inputs.remove_if(
      [&](memref::SubViewOp view) { return candidate.outputs.contains(view); });
  return candidate;
}

/// Whether nothing in `loop` depends on the order of its operations but what
/// works on buffers.
static bool isOfBuffers(scf::ForallOp loop) {
  return llvm::all_of(loop.getBody()->without_terminator(), [](Operation &op) {
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      return linalgOp.hasPureBufferSemantics();
    return isa<memref::AllocOp>(op) || isPure(&op);
  });
}

/// How the rows of `loop` are compressed, by the mask of an operation that
/// computes an elementary function; nothing if they cannot be. Remarks say so.
static std::optional<Candidate> findCandidate(scf::ForallOp loop) {
  bool areRowsOfBuffers = isOfBuffers(loop);
  auto decline = [](linalg::GenericOp op, StringRef why) {
    remarkDeclined(op.getLoc(), op, "masked-rows",
                   "rows of " + describeExtents(op.getStaticLoopRanges()) +
                       " elements stay whole, since " + why);
  };
  for (auto op : loop.getBody()->getOps<linalg::GenericOp>()) {
    if (getBodyCost(op) < expensive)
      continue;
    for (OpOperand *input : op.getDpsInputOperands()) {
      auto view = input->get().getDefiningOp<memref::SubViewOp>();
      if (!getElementTypeOrSelf(input->get()).isInteger(1))
        continue;
      if (op.getNumLoops() != 2) {
        decline(op, "they are not rows of a matrix");
        continue;
      }
      if (!view || !isAlongRows(op, *input) ||
          view->getBlock() != loop.getBody()) {
        decline(op, "the mask has no row for each of theirs");
        continue;
      }
      if (!areRowsOfBuffers) {
        decline(op, "the loop does more than compute them");
        continue;
      }
      std::optional<Candidate> candidate = collect(loop, view);
      if (!candidate) {
        decline(op, "an op on them uses indices or other views");
        continue;
      }
      StringRef why = whyNotCompress(*candidate);
      if (why.empty()) {
        remarkChosen(op.getLoc(), op, "masked-rows",
                     "rows of " + describeExtents(op.getStaticLoopRanges()) +
                         " elements are compressed where the mask selects few");
        return candidate;
      }
      decline(op, why);
    }
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The two branches
//===----------------------------------------------------------------------===//

/// The extent of the rows of `block`, as the runtime takes it.
static Value getExtent(OpBuilder &builder, memref::SubViewOp block) {
  Location loc = block.getLoc();
  return toI64(
      builder, loc,
      getValueOrCreateConstantIndexOp(builder, loc, block.getMixedSizes()[1]));
}

/// A buffer for elements of a row of `block`, which has the extent of `mask`.
static Value createBuffer(OpBuilder &builder, memref::SubViewOp mask,
                          memref::SubViewOp block) {
  auto [shape, dynamicSizes] =
      decomposeMixedValues({builder.getIndexAttr(1), mask.getMixedSizes()[1]});
  return memref::AllocOp::create(
      builder, block.getLoc(),
      MemRefType::get(shape, block.getType().getElementType()), dynamicSizes,
      builder.getI64IntegerAttr(genericCPU.lineBytes));
}

/// What the runtime is told of the row of `block`: how many elements it has,
/// and their bytes.
static std::pair<Value, Value> getLength(RuntimeCallBuilder &calls,
                                         memref::SubViewOp block) {
  return {getExtent(calls.builder, block),
          calls.constant(block.getType().getElementTypeBitWidth() / 8)};
}

/// Compresses the row of `block` to `buffer`; returns how many elements of it
/// are selected.
static Value createCompression(RuntimeCallBuilder &calls,
                               memref::SubViewOp mask, memref::SubViewOp block,
                               Value buffer) {
  auto [count, bytes] = getLength(calls, block);
  return calls
      .call("sparseAutogradCompressRow",
            {calls.pointer(buffer), calls.pointer(block), calls.pointer(mask),
             count, bytes},
            calls.builder.getI64Type())
      .front();
}

/// `block` gets the elements of `buffer` where the mask selects, and zeros
/// elsewhere.
static void createExpansion(RuntimeCallBuilder &calls, memref::SubViewOp mask,
                            memref::SubViewOp block, Value buffer) {
  auto [count, bytes] = getLength(calls, block);
  Value total =
      toI64(calls.builder, calls.loc,
            createByteCount(calls.builder, calls.loc, block.getSource()));
  calls.call("sparseAutogradExpandRow",
             {calls.pointer(block), calls.pointer(buffer), calls.pointer(mask),
              count, bytes, total});
}

/// Whether blocks are rows, and the mask selects few of their elements, before
/// the loop.
static Value createPays(Candidate &candidate, SymbolTable &symbols) {
  memref::SubViewOp mask = candidate.mask;
  RuntimeCallBuilder calls(candidate.loop, symbols);
  OpBuilder &builder = calls.builder;
  Location loc = calls.loc;
  Value rows = getValueOrCreateConstantIndexOp(
      builder, loc,
      getBoundBefore(candidate.loop, mask.getMixedSizes().front()));
  Value isRow =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rows,
                            arith::ConstantIndexOp::create(builder, loc, 1));
  auto choice = scf::IfOp::create(builder, loc, builder.getI1Type(), isRow,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  builder.setInsertionPointToStart(choice.thenBlock());
  // An element of a mask is a byte.
  Value count =
      toI64(builder, loc, createByteCount(builder, loc, mask.getSource()));
  Value selected =
      calls
          .call("sparseAutogradEstimateSelected",
                {calls.pointer(mask.getSource()), count}, builder.getI64Type())
          .front();
  Value bound =
      arith::DivUIOp::create(builder, loc, count, calls.constant(leastShare));
  Value isSparse = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ule, selected, bound);
  scf::YieldOp::create(builder, loc, isSparse);
  builder.setInsertionPointToStart(choice.elseBlock());
  Value no = arith::ConstantIntOp::create(builder, loc, 0, 1);
  scf::YieldOp::create(builder, loc, no);
  return choice.getResult(0);
}

/// What takes the place of `view` where its selected elements, `selected` of
/// one row, are at the beginning of `buffer`.
static Value createPart(OpBuilder &builder, Candidate &candidate, Value view,
                        Value buffer, Value selected) {
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  // Operations that count the rows at run time do so of this one, too.
  OpFoldResult rows = cast<MemRefType>(view.getType()).isDynamicDim(0)
                          ? candidate.mask.getMixedSizes()[0]
                          : one;
  return memref::SubViewOp::create(builder, candidate.mask.getLoc(), buffer,
                                   {zero, zero}, {rows, selected}, {one, one});
}

static void compressRows(IRRewriter &rewriter, Candidate &candidate,
                         SymbolTable &symbols) {
  memref::SubViewOp mask = candidate.mask;
  scf::ForallOp loop = candidate.loop;
  versionLoop(rewriter, loop, createPays(candidate, symbols));

  // Views and buffers first, none of which depends on what is computed.
  for (auto op : llvm::to_vector(loop.getBody()->getOps<linalg::LinalgOp>()))
    rewriter.moveOpBefore(op, loop.getTerminator());
  Operation *first = *loop.getBody()->getOps<linalg::LinalgOp>().begin();
  rewriter.setInsertionPoint(first);
  RuntimeCallBuilder before(first, symbols);
  RuntimeCallBuilder behind(loop.getTerminator(), symbols);
  Value selected;
  auto replace = [&](Value view, Value buffer) {
    Value part = createPart(rewriter, candidate, view, buffer, selected);
    rewriter.replaceUsesWithIf(view, part, [](OpOperand &use) {
      return isa<linalg::LinalgOp>(use.getOwner());
    });
  };
  SmallVector<std::pair<memref::SubViewOp, Value>> inputs, outputs;
  for (memref::SubViewOp block : candidate.inputs) {
    if (block == mask)
      continue;
    Value buffer = createBuffer(rewriter, mask, block);
    Value count = createCompression(before, mask, block, buffer);
    if (!selected)
      selected = arith::IndexCastOp::create(rewriter, mask.getLoc(),
                                            rewriter.getIndexType(), count);
    inputs.push_back({block, buffer});
  }
  for (memref::SubViewOp block : candidate.outputs)
    outputs.push_back({block, createBuffer(rewriter, mask, block)});
  // What is left selects everything.
  for (linalg::GenericOp op : candidate.rowOps)
    for (OpOperand *input : op.getDpsInputOperands())
      if (input->get() == mask) {
        OpBuilder body = OpBuilder::atBlockBegin(op.getBody());
        op.getMatchingBlockArgument(input).replaceAllUsesWith(
            arith::ConstantIntOp::create(body, op.getLoc(), 1, 1));
      }
  for (auto [block, buffer] : inputs)
    replace(block, buffer);
  for (auto [block, buffer] : outputs)
    replace(block, buffer);
  for (Value view : candidate.intermediates)
    replace(view, view);
  // Of the shape, but not read.
  replace(mask, mask);
  for (auto [block, buffer] : outputs)
    createExpansion(behind, mask, block, buffer);
}

namespace {
struct CompressMaskedRowsPass
    : sparse_autograd::impl::CompressMaskedRowsBase<CompressMaskedRowsPass> {
  using CompressMaskedRowsBase::CompressMaskedRowsBase;

  void runOnOperation() override {
    // What is written in place was to be inserted where it is.
    RewritePatternSet patterns(&getContext());
    memref::CopyOp::getCanonicalizationPatterns(patterns, &getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));

    SmallVector<Candidate, 1> candidates;
    getOperation()->walk([&](scf::ForallOp loop) {
      if (std::optional<Candidate> candidate = findCandidate(loop))
        candidates.push_back(std::move(*candidate));
    });
    SymbolTable symbols(getOperation());
    IRRewriter rewriter(&getContext());
    for (Candidate &candidate : candidates)
      compressRows(rewriter, candidate, symbols);
  }
};
} // namespace
