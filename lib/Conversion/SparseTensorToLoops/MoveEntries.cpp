//===- MoveEntries.cpp - ops that move stored elements --------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MoveEntries.h"
#include "Assembly.h"
#include "NewRows.h"
#include "NumberedLoops.h"
#include "SparseAutograd/Analysis/LoopRemarks.h"
#include "SparseAutograd/Analysis/SparsePatterns.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "StoredElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {

/// The components of the operands of an op.
template <typename OpTy>
using Components = typename OpTy::template GenericAdaptor<ArrayRef<ValueRange>>;

/// The coordinates in the result of an element, from those in its tensor.
using CoordinateMap =
    std::function<SmallVector<Value>(OpBuilder &, ValueRange)>;

/// What becomes of one operand: its elements go where `map` says.
struct EntryMove {
  StoredElements elements;
  CoordinateMap map;
};

/// What an op does. No two elements go to one place.
struct MovePlan {
  /// Those of the result.
  SmallVector<Value> extents;
  SmallVector<EntryMove, 0> moves;
  /// Why entries that differ in one coordinate of the result may not be visited
  /// in its order; empty if they are.
  StringRef whyUnordered = "";
};

/// Makes the plan of one op, from the components of its operands.
class Planner {
public:
  Planner(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  MovePlan plan(tensor::ExpandShapeOp op, Components<tensor::ExpandShapeOp> in);
  MovePlan plan(tensor::CollapseShapeOp op,
                Components<tensor::CollapseShapeOp> in);
  MovePlan plan(tensor::ExtractSliceOp op,
                Components<tensor::ExtractSliceOp> in);
  MovePlan plan(tensor::InsertSliceOp op, Components<tensor::InsertSliceOp> in);
  MovePlan plan(tensor::PadOp op, Components<tensor::PadOp> in);
  MovePlan plan(tensor::ConcatOp op, Components<tensor::ConcatOp> in) {
    return concatenate(op.getInputs(), in.getInputs(), op.getDim());
  }
  MovePlan plan(sparse_tensor::ConcatenateOp op,
                Components<sparse_tensor::ConcatenateOp> in) {
    return concatenate(op.getInputs(), in.getInputs(), op.getDimension());
  }

private:
  MovePlan concatenate(ValueRange inputs, ArrayRef<ValueRange> components,
                       int64_t dim);
  /// The windows of a slice, by dimension.
  template <typename OpTy, typename AdaptorTy>
  SmallVector<Window> getWindows(OpTy op, AdaptorTy in);
  /// Numbers of which some are constant.
  SmallVector<Value> getNumbers(ArrayRef<int64_t> constants,
                                ArrayRef<ValueRange> others);
  SparseStorage getStorage(Value tensor, ValueRange components) {
    return {cast<RankedTensorType>(tensor.getType()), components};
  }
  SmallVector<Value> getExtents(const SparseStorage &storage) {
    SmallVector<Value> extents;
    for (int64_t dim = 0; dim < storage.getType().getRank(); ++dim)
      extents.push_back(storage.getExtent(builder, loc, dim));
    return extents;
  }

  OpBuilder &builder;
  Location loc;
};

} // namespace

SmallVector<Value> Planner::getNumbers(ArrayRef<int64_t> constants,
                                       ArrayRef<ValueRange> others) {
  SmallVector<Value> numbers;
  for (int64_t number : constants) {
    if (!ShapedType::isDynamic(number)) {
      numbers.push_back(arith::ConstantIndexOp::create(builder, loc, number));
      continue;
    }
    numbers.push_back(others.front().front());
    others = others.drop_front();
  }
  return numbers;
}

template <typename OpTy, typename AdaptorTy>
SmallVector<Window> Planner::getWindows(OpTy op, AdaptorTy in) {
  SmallVector<Value> offsets =
      getNumbers(op.getStaticOffsets(), in.getOffsets());
  SmallVector<Value> sizes = getNumbers(op.getStaticSizes(), in.getSizes());
  SmallVector<Window> windows;
  for (auto [offset, size, stride] :
       llvm::zip_equal(offsets, sizes, op.getStaticStrides()))
    windows.push_back({offset, size, stride});
  return windows;
}

MovePlan Planner::plan(tensor::ExpandShapeOp op,
                       Components<tensor::ExpandShapeOp> in) {
  SmallVector<Value> extents =
      getNumbers(op.getStaticOutputShape(), in.getOutputShape());
  SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
  auto map = [=, loc = loc](OpBuilder &nested, ValueRange coordinates) {
    SmallVector<Value> result(extents.size());
    for (auto [group, coordinate] : llvm::zip_equal(groups, coordinates)) {
      Value rest = coordinate;
      for (int64_t part : llvm::reverse(ArrayRef(group).drop_front())) {
        result[part] = arith::RemUIOp::create(nested, loc, rest, extents[part]);
        rest = arith::DivUIOp::create(nested, loc, rest, extents[part]);
      }
      result[group.front()] = rest;
    }
    return result;
  };
  return {extents, {{{getStorage(op.getSrc(), in.getSrc())}, map}}};
}

/// Whether elements of `storage` come in the order of the dimensions of each
/// group, where those of the other groups do not change.
static bool visitsInOrder(const SparseStorage &storage,
                          ArrayRef<ReassociationIndices> groups) {
  AffineMap levels = storage.getDimsToLevels();
  if (!levels.isPermutation())
    return false;
  AffineMap toLevels = inversePermutation(levels);
  return llvm::all_of(groups, [&](ArrayRef<int64_t> group) {
    return llvm::is_sorted(group, [&](int64_t a, int64_t b) {
      return toLevels.getDimPosition(a) < toLevels.getDimPosition(b);
    });
  });
}

MovePlan Planner::plan(tensor::CollapseShapeOp op,
                       Components<tensor::CollapseShapeOp> in) {
  SparseStorage storage = getStorage(op.getSrc(), in.getSrc());
  SmallVector<Value> parts = getExtents(storage), extents;
  SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
  for (const ReassociationIndices &group : groups) {
    Value extent = parts[group.front()];
    for (int64_t part : ArrayRef(group).drop_front())
      extent = arith::MulIOp::create(builder, loc, extent, parts[part]);
    extents.push_back(extent);
  }
  auto map = [=, loc = loc](OpBuilder &nested, ValueRange coordinates) {
    SmallVector<Value> result;
    for (const ReassociationIndices &group : groups) {
      Value place = coordinates[group.front()];
      for (int64_t part : ArrayRef(group).drop_front()) {
        Value before = arith::MulIOp::create(nested, loc, place, parts[part]);
        place = arith::AddIOp::create(nested, loc, before, coordinates[part]);
      }
      result.push_back(place);
    }
    return result;
  };
  MovePlan plan = {extents, {{{storage}, map}}};
  if (!visitsInOrder(storage, groups))
    plan.whyUnordered =
        "dimensions that become one are stored in another order";
  return plan;
}

MovePlan Planner::plan(tensor::ExtractSliceOp op,
                       Components<tensor::ExtractSliceOp> in) {
  SmallVector<Window> windows = getWindows(op, in);
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<Value> extents;
  for (auto [dim, window] : llvm::enumerate(windows))
    if (!dropped.test(dim))
      extents.push_back(window.size);
  auto map = [=, loc = loc](OpBuilder &nested, ValueRange coordinates) {
    SmallVector<Value> result;
    for (auto [dim, window] : llvm::enumerate(windows)) {
      if (dropped.test(dim))
        continue;
      Value place =
          arith::SubIOp::create(nested, loc, coordinates[dim], window.offset);
      Value stride = arith::ConstantIndexOp::create(nested, loc, window.stride);
      result.push_back(arith::DivUIOp::create(nested, loc, place, stride));
    }
    return result;
  };
  SparseStorage storage = getStorage(op.getSource(), in.getSource());
  return {extents, {{{storage, windows}, map}}};
}

MovePlan Planner::plan(tensor::InsertSliceOp op,
                       Components<tensor::InsertSliceOp> in) {
  SmallVector<Window> windows = getWindows(op, in);
  llvm::SmallBitVector dropped = op.getDroppedDims();
  auto map = [=, loc = loc](OpBuilder &nested, ValueRange coordinates) {
    SmallVector<Value> result;
    for (auto [dim, window] : llvm::enumerate(windows)) {
      Value place = window.offset;
      if (!dropped.test(dim)) {
        Value stride =
            arith::ConstantIndexOp::create(nested, loc, window.stride);
        Value steps =
            arith::MulIOp::create(nested, loc, coordinates.front(), stride);
        place = arith::AddIOp::create(nested, loc, place, steps);
        coordinates = coordinates.drop_front();
      }
      result.push_back(place);
    }
    return result;
  };
  auto stay = [](OpBuilder &, ValueRange coordinates) {
    return SmallVector<Value>(coordinates);
  };
  SparseStorage dest = getStorage(op.getDest(), in.getDest());
  SparseStorage source = getStorage(op.getSource(), in.getSource());
  return {getExtents(dest),
          {{{dest, windows, /*isOutside=*/true}, stay}, {{source}, map}},
          "entries of two tensors are side by side in a row"};
}

MovePlan Planner::plan(tensor::PadOp op, Components<tensor::PadOp> in) {
  SmallVector<Value> low = getNumbers(op.getStaticLow(), in.getLow());
  SmallVector<Value> high = getNumbers(op.getStaticHigh(), in.getHigh());
  SparseStorage storage = getStorage(op.getSource(), in.getSource());
  SmallVector<Value> extents = getExtents(storage);
  for (auto [extent, before, behind] : llvm::zip_equal(extents, low, high)) {
    extent = arith::AddIOp::create(builder, loc, extent, before);
    extent = arith::AddIOp::create(builder, loc, extent, behind);
  }
  auto map = [=, loc = loc](OpBuilder &nested, ValueRange coordinates) {
    SmallVector<Value> result;
    for (auto [before, coordinate] : llvm::zip_equal(low, coordinates))
      result.push_back(arith::AddIOp::create(nested, loc, coordinate, before));
    return result;
  };
  return {extents, {{{storage}, map}}};
}

MovePlan Planner::concatenate(ValueRange inputs,
                              ArrayRef<ValueRange> components, int64_t dim) {
  MovePlan plan;
  for (auto [input, parts] : llvm::zip_equal(inputs, components)) {
    SparseStorage storage = getStorage(input, parts);
    Value before = plan.extents.empty() ? Value() : plan.extents[dim];
    auto map = [=, loc = loc](OpBuilder &nested, ValueRange coordinates) {
      SmallVector<Value> result(coordinates);
      if (before)
        result[dim] = arith::AddIOp::create(nested, loc, result[dim], before);
      return result;
    };
    if (!before)
      plan.extents = getExtents(storage);
    else
      plan.extents[dim] = arith::AddIOp::create(
          builder, loc, before, storage.getExtent(builder, loc, dim));
    plan.moves.push_back({{storage}, map});
  }
  return plan;
}

/// Builds what is done with the element of a move at `place`, its coordinates,
/// and `position` among the values. Returns what is carried on.
using MovedElementBuilder = llvm::function_ref<SmallVector<Value>(
    OpBuilder &, const EntryMove &, ValueRange place, Value position,
    ValueRange carried)>;

/// Visits the elements of a move.
static SmallVector<Value> visitMove(OpBuilder &builder, Location loc,
                                    const EntryMove &move, ValueRange carried,
                                    MovedElementBuilder visit) {
  return visitStoredElements(builder, loc, move.elements, carried,
                             [&](OpBuilder &nested, ValueRange place,
                                 Value position, ValueRange carried) {
                               return visit(nested, move, place, position,
                                            carried);
                             });
}

/// The components of a tensor of `type`, which consists of rows, that stores
/// what `plan` moves: each entry at the next place of its row.
static SmallVector<Value> moveToRows(OpBuilder &builder, Location loc,
                                     RankedTensorType type,
                                     const MovePlan &plan) {
  NewRows rows(builder, loc, type, plan.extents);
  auto visitAll = [&](ValueRange carried, MovedElementBuilder visit) {
    SmallVector<Value> values(carried);
    for (const EntryMove &move : plan.moves)
      values = visitMove(builder, loc, move, values, visit);
    return values;
  };
  Value counters =
      visitAll(rows.createCounters(builder), [&](OpBuilder &nested,
                                                 const EntryMove &move,
                                                 ValueRange place, Value,
                                                 ValueRange carried) {
        Value row = rows.getRow(nested, move.map(nested, place));
        return SmallVector<Value>{rows.count(nested, row, carried.front())};
      }).front();
  Value places = rows.beginRows(builder, counters);
  Value positions = rows.createPositions(builder, places);
  Value count = rows.getNumEntries(builder, places);
  Value coordinates = rows.createList(builder, count, rows.getCoordinateType());
  Value values = rows.createList(builder, count, type.getElementType());
  SmallVector<Value> lists = visitAll(
      {values, coordinates, places},
      [&](OpBuilder &nested, const EntryMove &move, ValueRange from,
          Value position, ValueRange carried) {
        SmallVector<Value> to = move.map(nested, from);
        auto [place, next] =
            rows.takePlace(nested, rows.getRow(nested, to), carried[2]);
        Value value = tensor::ExtractOp::create(
            nested, loc, move.elements.storage.getValues(), position);
        return SmallVector<Value>{
            tensor::InsertOp::create(nested, loc, value, carried[0], place),
            tensor::InsertOp::create(
                nested, loc, rows.getCoordinate(nested, to), carried[1], place),
            next};
      });
  return rows.getComponents(positions, lists[1], lists[0]);
}

/// The components of a tensor of `type` that stores what `plan` moves: its
/// entries are listed, sorted and stored.
static SmallVector<Value> moveByList(OpBuilder &builder, Location loc,
                                     RankedTensorType type,
                                     const MovePlan &plan,
                                     const LoopSchedule &schedule) {
  AffineMap levels =
      sparse_tensor::SparseTensorType(type).getExpandedDimToLvl();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto countOn = [&](OpBuilder &nested, Value count) -> Value {
    return arith::AddIOp::create(nested, loc, count, one);
  };
  NumberedLoops numbered;
  auto visitAll = [&](ValueRange carried, MovedElementBuilder visit) -> Value {
    SmallVector<Value> values(carried);
    for (const EntryMove &move : plan.moves) {
      SmallVector<Value> next = visitMove(builder, loc, move, values, visit);
      numbered.addPart(values, next);
      values = std::move(next);
    }
    numbered.endVisit();
    return values.front();
  };

  Value count = visitAll(zero, [&](OpBuilder &nested, const EntryMove &,
                                   ValueRange, Value, ValueRange carried) {
    return SmallVector<Value>{countOn(nested, carried.front())};
  });

  auto list = [&](Value coordinates) -> Value {
    return visitAll(
        {coordinates, zero}, [&](OpBuilder &nested, const EntryMove &move,
                                 ValueRange place, Value, ValueRange carried) {
          SmallVector<Value> moved = move.map(nested, place);
          Value entries = carried.front(), number = carried.back();
          entries = listEntry(nested, loc, levels, moved, entries, number);
          return SmallVector<Value>{entries, countOn(nested, number)};
        });
  };

  auto compute = [&](Value values, Value slots) -> Value {
    return visitAll({values, zero}, [&](OpBuilder &nested,
                                        const EntryMove &move, ValueRange,
                                        Value position, ValueRange carried) {
      Value number = carried.back();
      Value slot = tensor::ExtractOp::create(nested, loc, slots, number);
      Value value = tensor::ExtractOp::create(
          nested, loc, move.elements.storage.getValues(), position);
      Value stored =
          tensor::InsertOp::create(nested, loc, value, carried.front(), slot);
      return SmallVector<Value>{stored, countOn(nested, number)};
    });
  };
  SmallVector<Value> components =
      assembleTensor(builder, loc, type, plan.extents, count, list, compute);
  if (schedule.numbered)
    schedule.numbered->push_back(std::move(numbered));
  return components;
}

/// The components of a tensor of `type` that stores what `op` moves by `plan`.
static SmallVector<Value> moveEntries(OpBuilder &builder, Operation *op,
                                      RankedTensorType type,
                                      const MovePlan &plan,
                                      const LoopSchedule &schedule) {
  Location loc = op->getLoc();
  // On a device threads list entries side by side, and sort them.
  StringRef reason = schedule.isForDevice
                         ? "threads of a device list entries side by side"
                         : NewRows::getReasonAgainst(type);
  if (reason.empty())
    reason = plan.whyUnordered;
  if (!reason.empty()) {
    remarkDeclined(loc, op, "sparse",
                   "lists and sorts the entries that are moved, since " +
                       reason);
    return moveByList(builder, loc, type, plan, schedule);
  }
  remarkChosen(loc, op, "sparse",
               "moves entries to rows: counts those of each, and puts each "
               "entry in the next place of its row");
  return moveToRows(builder, loc, type, plan);
}

namespace {
template <typename OpTy>
struct LowerMove : OpConversionPattern<OpTy> {
  LowerMove(const TypeConverter &types, MLIRContext *context,
            const LoopSchedule &schedule)
      : OpConversionPattern<OpTy>(types, context), schedule(schedule) {}
  using Adaptor = typename OpConversionPattern<OpTy>::OneToNOpAdaptor;

  LogicalResult
  matchAndRewrite(OpTy op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    MovePlan plan = Planner(rewriter, op.getLoc()).plan(op, adaptor);
    rewriter.replaceOpWithMultiple(
        op, {moveEntries(rewriter, op, type, plan, schedule)});
    return success();
  }

private:
  LoopSchedule schedule;
};
} // namespace

/// Checks that all strides are positive constants.
static LogicalResult checkStrides(Operation *op, ArrayRef<int64_t> strides) {
  for (auto [dim, stride] : llvm::enumerate(strides))
    if (stride < 1)
      return op->emitOpError("slices dimension ")
             << dim << " of a sparse tensor with a stride that is not a "
             << "positive constant; write the stride as a constant, or convert "
                "to a dense tensor with sparse_tensor.convert";
  return success();
}

LogicalResult sparse_autograd::checkMove(Operation *op) {
  if (!movesElements(op))
    return success();
  for (Type type :
       llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()),
                                llvm::to_vector(op->getResultTypes())))
    if (isa<TensorType>(type) && !isSparse(type))
      return op->emitOpError("moves elements between a sparse and a dense "
                             "tensor, of type ")
             << type << "; convert one of them with sparse_tensor.convert";
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return checkStrides(op, slice.getStaticStrides());
  if (auto slice = dyn_cast<tensor::InsertSliceOp>(op))
    return checkStrides(op, slice.getStaticStrides());
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    Value padding = pad.getConstantPaddingValue();
    if (!padding || !(matchPattern(padding, m_AnyZeroFloat()) ||
                      matchPattern(padding, m_Zero())))
      return op->emitOpError("pads a sparse tensor with something else than a "
                             "constant zero; convert it to a dense tensor with "
                             "sparse_tensor.convert");
  }
  return success();
}

void sparse_autograd::populateMoveEntriesPatterns(const TypeConverter &types,
                                                  const LoopSchedule &schedule,
                                                  RewritePatternSet &patterns) {
  patterns
      .add<LowerMove<tensor::CollapseShapeOp>, LowerMove<tensor::ConcatOp>,
           LowerMove<tensor::ExpandShapeOp>, LowerMove<tensor::ExtractSliceOp>,
           LowerMove<tensor::InsertSliceOp>, LowerMove<tensor::PadOp>,
           LowerMove<sparse_tensor::ConcatenateOp>>(
          types, patterns.getContext(), schedule);
}
