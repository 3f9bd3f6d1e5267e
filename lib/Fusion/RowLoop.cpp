//===- RowLoop.cpp - emit a loop over blocks of rows ----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowBlocks.h"
#include "SparseAutograd/Fusion/Fusion.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace sparse_autograd {

namespace {

class RowLoopEmitter {
public:
  RowLoopEmitter(RewriterBase &rewriter, RowGroup &group, int64_t blockElements)
      : rewriter(rewriter), group(group), blockElements(blockElements),
        loc(rewriter.getFusedLoc(getLocations(group))), arith(rewriter, loc) {}

  void emit();

private:
  static SmallVector<Location> getLocations(const RowGroup &group) {
    SmallVector<Location> locations;
    for (Operation *op : group.members)
      locations.push_back(op->getLoc());
    return locations;
  }

  /// What an outer value or the result of a member becomes.
  struct Output {
    linalg::LinalgOp member;
    unsigned result;
    /// The tensor that the loop writes: of the result's type or, for a partial
    /// result, with one element a block.
    Value destination;
  };

  /// A slice of a tensor, with the row dimension that cuts each of its
  /// dimensions (their number for none).
  struct Slice {
    Value source;
    SmallVector<unsigned> rowOfDim;
    Value block;
  };

  void moveDependents();
  void createDestinations();
  void shareDestinations();
  void slice(RankedTensorType type, AffineMap map, Value full,
             ArrayRef<unsigned> rowLoops, SmallVector<OpFoldResult> &offsets,
             SmallVector<OpFoldResult> &sizes);
  Value sliceOperand(linalg::LinalgOp member, OpOperand &operand, Value source);
  Value createInit(linalg::LinalgOp member, OpOperand &init, Value destination);
  Value createPartialInit(linalg::LinalgOp member, unsigned result,
                          Value destination);
  void cloneMember(linalg::LinalgOp member);
  SmallVector<Value> combinePartials(linalg::LinalgOp member,
                                     ValueRange partials);

  RewriterBase &rewriter;
  RowGroup &group;
  int64_t blockElements;
  Location loc;
  ExtentArithmetic arith;
  RowBlocks blocks;
  SmallVector<Output> outputs;
  /// Inside the loop: the argument for each output, the number of the block,
  /// and the block's part of each result.
  DenseMap<Value, Value> destinationOf;
  /// For a result that is used in the loop only: the result of another member
  /// whose destination holds it until then, and the other way round.
  DenseMap<Value, Value> heldBy, holds;
  Value blockNumber;
  DenseMap<Value, Value> blockOf;
  SmallVector<Slice> slices;
};

} // namespace

/// What uses the group without being in it moves behind its last member.
void RowLoopEmitter::moveDependents() {
  Operation *last = group.members.back();
  Operation *behind = last;
  for (Operation *op :
       getDependents(group.members.front(), last, group.members)) {
    rewriter.moveOpAfter(op, behind);
    behind = op;
  }
  rewriter.setInsertionPoint(last);
}

/// Results that are used behind the loop need a tensor that exists before it.
void RowLoopEmitter::createDestinations() {
  for (Operation *op : group.members) {
    auto member = cast<linalg::LinalgOp>(op);
    for (OpResult result : member->getResults()) {
      bool isUsedBehind = llvm::any_of(result.getUsers(), [&](Operation *user) {
        return !group.members.contains(
            result.getOwner()->getBlock()->findAncestorOpInBlock(*user));
      });
      if (!isUsedBehind)
        continue;
      Value destination;
      if (group.partial.contains(member)) {
        destination = tensor::EmptyOp::create(
            rewriter, loc, ArrayRef<OpFoldResult>(blocks.count),
            getElementTypeOrSelf(result.getType()));
      } else {
        destination = member.getDpsInitOperand(result.getResultNumber())->get();
        if (auto fill = destination.getDefiningOp<linalg::FillOp>())
          destination = fill.getDpsInitOperand(0)->get();
        // Each result of the loop needs a tensor of its own: an empty one may
        // be shared by several members.
        if (destination.getDefiningOp<tensor::EmptyOp>())
          destination =
              rewriter.clone(*destination.getDefiningOp())->getResult(0);
      }
      outputs.push_back({member, result.getResultNumber(), destination});
    }
  }
}

/// Finds values that need no tensor of their own: the exponentials of a softmax
/// are last read by the member that divides them, element by element, and so
/// can be where the quotients will.
void RowLoopEmitter::shareDestinations() {
  for (const Output &output : outputs) {
    linalg::LinalgOp member = output.member;
    OpResult result = member->getResult(output.result);
    OpOperand *init = member.getDpsInitOperand(output.result);
    AffineMap map = member.getMatchingIndexingMap(init);
    // What the destination holds before must not be needed.
    if (!map.isPermutation() || member.payloadUsesValueFromOperand(init) ||
        !output.destination.getDefiningOp<tensor::EmptyOp>())
      continue;
    for (OpOperand *operand : member.getDpsInputOperands()) {
      auto held = dyn_cast<OpResult>(operand->get());
      if (!held || !group.members.contains(held.getOwner()) ||
          held.getType() != result.getType() || heldBy.contains(held) ||
          member.getMatchingIndexingMap(operand) != map ||
          llvm::any_of(outputs, [&](const Output &other) {
            return other.member->getResult(other.result) == held;
          }))
        continue;
      auto producer = cast<linalg::LinalgOp>(held.getOwner());
      OpOperand *heldInit = producer.getDpsInitOperand(held.getResultNumber());
      if (producer.payloadUsesValueFromOperand(heldInit))
        continue;
      bool isLastUse = llvm::all_of(held.getUses(), [&](OpOperand &use) {
        return &use == operand || (use.getOwner() != member &&
                                   use.getOwner()->isBeforeInBlock(member));
      });
      if (!isLastUse)
        continue;
      heldBy[held] = result;
      holds[result] = held;
      break;
    }
  }
}

/// The part of a tensor, indexed by `map`, that belongs to the block.
void RowLoopEmitter::slice(RankedTensorType type, AffineMap map, Value full,
                           ArrayRef<unsigned> rowLoops,
                           SmallVector<OpFoldResult> &offsets,
                           SmallVector<OpFoldResult> &sizes) {
  for (unsigned dim = 0, e = type.getRank(); dim < e; ++dim) {
    const unsigned *row = llvm::find(rowLoops, map.getDimPosition(dim));
    if (row != rowLoops.end()) {
      offsets.push_back(blocks.rows[row - rowLoops.begin()].offset);
      sizes.push_back(blocks.rows[row - rowLoops.begin()].size);
    } else {
      offsets.push_back(arith.constant(0));
      sizes.push_back(arith.sizeOf(full, dim));
    }
  }
}

/// The block of an operand of `member` whose tensor is `source`.
Value RowLoopEmitter::sliceOperand(linalg::LinalgOp member, OpOperand &operand,
                                   Value source) {
  auto type = dyn_cast<RankedTensorType>(source.getType());
  ArrayRef<unsigned> rowLoops = group.rowLoops[member];
  AffineMap map = member.getMatchingIndexingMap(&operand);
  SmallVector<unsigned> rowOfDim;
  bool isCut = false;
  for (unsigned dim = 0, e = map.getNumResults(); dim < e; ++dim) {
    rowOfDim.push_back(llvm::find(rowLoops, map.getDimPosition(dim)) -
                       rowLoops.begin());
    isCut |= rowOfDim.back() < rowLoops.size();
  }
  if (!type || !isCut)
    return source;
  // Members that read the same tensor read the same slice.
  for (const Slice &known : slices)
    if (known.source == source && known.rowOfDim == rowOfDim)
      return known.block;
  SmallVector<OpFoldResult> offsets, sizes;
  slice(type, map, source, rowLoops, offsets, sizes);
  SmallVector<OpFoldResult> strides(type.getRank(), arith.constant(1));
  Value block = tensor::ExtractSliceOp::create(rewriter, loc, source, offsets,
                                               sizes, strides);
  slices.push_back({source, rowOfDim, block});
  return block;
}

/// The initial value of a result in the block. `destination` is the tensor that
/// the loop writes, or null if the result is not used behind it.
Value RowLoopEmitter::createInit(linalg::LinalgOp member, OpOperand &init,
                                 Value destination) {
  Value initial = init.get();
  auto fill = initial.getDefiningOp<linalg::FillOp>();
  Value base = fill ? fill.getDpsInitOperand(0)->get() : initial;
  Value block;
  if (destination) {
    block = sliceOperand(member, init, destination);
  } else if (base.getDefiningOp<tensor::EmptyOp>()) {
    auto type = cast<RankedTensorType>(base.getType());
    AffineMap map = member.getMatchingIndexingMap(&init);
    ArrayRef<unsigned> rowLoops = group.rowLoops[member];
    SmallVector<OpFoldResult> offsets, sizes;
    slice(type, map, base, rowLoops, offsets, sizes);
    // A tensor of static size stays on the stack; the bound on a block's rows
    // is one, unless a row has many elements.
    SmallVector<OpFoldResult> bounds;
    for (unsigned dim = 0, e = type.getRank(); dim < e; ++dim) {
      const unsigned *row = llvm::find(rowLoops, map.getDimPosition(dim));
      bounds.push_back(
          row == rowLoops.end()
              ? sizes[dim]
              : arith.constant(blocks.rows[row - rowLoops.begin()].tileBound));
    }
    bool onlyRows = static_cast<int64_t>(rowLoops.size()) == type.getRank();
    if (onlyRows && bounds != sizes) {
      Value bounded =
          tensor::EmptyOp::create(rewriter, loc, bounds, type.getElementType());
      SmallVector<OpFoldResult> zeros(type.getRank(), arith.constant(0));
      SmallVector<OpFoldResult> strides(type.getRank(), arith.constant(1));
      block = tensor::ExtractSliceOp::create(rewriter, loc, bounded, zeros,
                                             sizes, strides);
    } else {
      block =
          tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
    }
  } else {
    block = sliceOperand(member, init, base);
  }
  if (!fill)
    return block;
  return linalg::FillOp::create(rewriter, loc, fill.getInputs(),
                                ValueRange(block))
      .getResult(0);
}

/// The combiner of a result that is known to have one.
static Operation *getCombiner(linalg::LinalgOp member, unsigned result) {
  SmallVector<Operation *> combiners;
  matchReduction(member.getRegionOutputArgs(), result, combiners);
  return combiners.front();
}

/// A partial result starts from the neutral element of its combiner.
Value RowLoopEmitter::createPartialInit(linalg::LinalgOp member,
                                        unsigned result, Value destination) {
  auto type = cast<RankedTensorType>(member->getResult(result).getType());
  Value scalar;
  if (destination)
    scalar = tensor::ExtractSliceOp::create(
        rewriter, loc, type, destination, ArrayRef<OpFoldResult>(blockNumber),
        ArrayRef<OpFoldResult>(arith.constant(1)),
        ArrayRef<OpFoldResult>(arith.constant(1)));
  else
    scalar = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                     type.getElementType());
  Value neutral = arith::ConstantOp::create(
      rewriter, loc, *arith::getNeutralElement(getCombiner(member, result)));
  return linalg::FillOp::create(rewriter, loc, ValueRange(neutral),
                                ValueRange(scalar))
      .getResult(0);
}

/// Makes the body of `op` read `held`, which is the initial value of a result,
/// as that and not as an input: bufferization then sees that an element is read
/// before it is written.
static void readFromDestination(linalg::LinalgOp op, unsigned result,
                                Value held) {
  OpOperand *init = op.getDpsInitOperand(result);
  for (OpOperand *input : op.getDpsInputOperands())
    if (input->get() == held)
      op.getMatchingBlockArgument(input).replaceAllUsesWith(
          op.getMatchingBlockArgument(init));
}

/// Emits `member` for the block.
void RowLoopEmitter::cloneMember(linalg::LinalgOp member) {
  SmallVector<Value> operands;
  SmallVector<Type> resultTypes;
  for (OpOperand &operand : member->getOpOperands()) {
    if (member.isDpsInput(&operand)) {
      Value block = blockOf.lookup(operand.get());
      operands.push_back(block ? block
                               : sliceOperand(member, operand, operand.get()));
      continue;
    }
    OpResult result = member.getTiedOpResult(&operand);
    if (Value held = holds.lookup(result)) {
      operands.push_back(blockOf.lookup(held));
      resultTypes.push_back(operands.back().getType());
      continue;
    }
    Value holder = heldBy.lookup(result);
    Value destination = destinationOf.lookup(holder ? holder : result);
    Value init =
        group.partial.contains(member)
            ? createPartialInit(member, result.getResultNumber(), destination)
            : createInit(member, operand, destination);
    operands.push_back(init);
    resultTypes.push_back(init.getType());
  }
  auto copy = cast<linalg::LinalgOp>(
      mlir::clone(rewriter, member, resultTypes, operands));
  for (OpResult result : member->getResults())
    if (Value held = holds.lookup(result))
      readFromDestination(copy, result.getResultNumber(), blockOf.lookup(held));
  if (member.hasIndexSemantics()) {
    SmallVector<OpFoldResult> offsets(member.getNumLoops(), arith.constant(0));
    for (auto [k, loop] : llvm::enumerate(group.rowLoops[member]))
      offsets[loop] = blocks.rows[k].offset;
    linalg::offsetIndices(rewriter, copy, offsets);
    rewriter.setInsertionPointAfter(copy);
  }
  for (auto [result, block] :
       llvm::zip_equal(member->getResults(), copy->getResults()))
    blockOf[result] = block;
}

/// Combines the partial results of a member, block after block, with its own
/// initial values. `partials` has one tensor for each result that is used.
SmallVector<Value> RowLoopEmitter::combinePartials(linalg::LinalgOp member,
                                                   ValueRange partials) {
  SmallVector<unsigned> results;
  SmallVector<Value> inits;
  for (const Output &output : outputs)
    if (output.member == member) {
      results.push_back(output.result);
      inits.push_back(member.getDpsInitOperand(output.result)->get());
    }
  MLIRContext *context = rewriter.getContext();
  SmallVector<AffineMap> maps(partials.size(),
                              AffineMap::getMultiDimIdentityMap(1, context));
  maps.append(results.size(), AffineMap::get(1, 0, context));
  auto combined = linalg::GenericOp::create(
      rewriter, member.getLoc(), ValueRange(inits).getTypes(), partials, inits,
      maps, utils::IteratorType::reduction,
      [&](OpBuilder &b, Location bodyLoc, ValueRange arguments) {
        SmallVector<Value> yielded;
        for (auto [i, result] : llvm::enumerate(results)) {
          Operation *combiner = b.clone(*getCombiner(member, result));
          combiner->setOperands({arguments[partials.size() + i], arguments[i]});
          yielded.push_back(combiner->getResult(0));
        }
        linalg::YieldOp::create(b, bodyLoc, yielded);
      });
  return llvm::to_vector_of<Value>(combined->getResults());
}

void RowLoopEmitter::emit() {
  moveDependents();
  blocks = cutRows(arith, group, blockElements);
  createDestinations();
  shareDestinations();
  SmallVector<Value> destinations;
  for (const Output &output : outputs)
    destinations.push_back(output.destination);

  auto loop =
      scf::ForallOp::create(rewriter, loc, ArrayRef<OpFoldResult>(blocks.count),
                            destinations, std::nullopt);
  Operation *behind = loop->getNextNode();
  rewriter.setInsertionPointToStart(loop.getBody());
  for (auto [output, argument] :
       llvm::zip_equal(outputs, loop.getRegionIterArgs())) {
    linalg::LinalgOp member = output.member;
    destinationOf[member->getResult(output.result)] = argument;
  }
  blockNumber = loop.getInductionVar(0);
  blocks.enter(arith, blockNumber);
  for (Operation *op : group.members)
    cloneMember(cast<linalg::LinalgOp>(op));

  // Where each result goes: computed before the terminator, which holds
  // nothing but insertions.
  rewriter.setInsertionPoint(loop.getTerminator());
  struct Insertion {
    Value block, destination;
    SmallVector<OpFoldResult> offsets, sizes;
  };
  SmallVector<Insertion> insertions;
  for (Output &output : outputs) {
    OpResult result = output.member->getResult(output.result);
    Insertion insertion{blockOf[result], destinationOf[result], {}, {}};
    if (group.partial.contains(output.member)) {
      insertion.offsets = {blockNumber};
      insertion.sizes = {arith.constant(1)};
    } else {
      slice(cast<RankedTensorType>(result.getType()),
            output.member.getIndexingMapMatchingResult(result),
            insertion.destination, group.rowLoops[output.member],
            insertion.offsets, insertion.sizes);
    }
    insertions.push_back(std::move(insertion));
  }
  rewriter.setInsertionPointToStart(loop.getTerminator().getBody());
  for (Insertion &insertion : insertions) {
    SmallVector<OpFoldResult> strides(insertion.offsets.size(),
                                      arith.constant(1));
    tensor::ParallelInsertSliceOp::create(
        rewriter, loc, insertion.block, insertion.destination,
        insertion.offsets, insertion.sizes, strides);
  }

  rewriter.setInsertionPoint(behind);
  for (Operation *op : group.members) {
    auto member = cast<linalg::LinalgOp>(op);
    SmallVector<Value> values;
    SmallVector<unsigned> results;
    for (auto [output, value] : llvm::zip_equal(outputs, loop.getResults()))
      if (output.member == member) {
        values.push_back(value);
        results.push_back(output.result);
      }
    if (values.empty())
      continue;
    if (group.partial.contains(op))
      values = combinePartials(member, values);
    for (auto [result, value] : llvm::zip_equal(results, values))
      rewriter.replaceAllUsesExcept(
          member->getResult(result), value,
          llvm::SmallPtrSet<Operation *, 8>(group.members.begin(),
                                            group.members.end()));
  }
  for (Operation *op : llvm::reverse(group.members.getArrayRef()))
    rewriter.eraseOp(op);
}

void emitRowLoop(RewriterBase &rewriter, RowGroup &group,
                 int64_t blockElements) {
  RowLoopEmitter(rewriter, group, blockElements).emit();
}

} // namespace sparse_autograd
