//===- AccumulatedPattern.cpp - new patterns of sums, row by row ----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sum with a pattern of its own whose terms are visited row by row, as those
// of the product of two sparse matrices (Gustavson), in two passes. The first
// one counts the columns that a row meets, by a stamp for each column. The
// second one adds terms up in a row of values, in the order in which they are
// visited, and notes each new column in a bitmap of two levels: a bit for each
// column, and one for each word of these. What is read out of the bitmap is
// sorted. Rows are cut into chunks, which have workspaces of their own and run
// in parallel; a workspace is not made for more columns than the operands have
// entries, about.
//
//===----------------------------------------------------------------------===//

#include "EmitIf.h"
#include "Kernel.h"
#include "LoopPlan.h"
#include "NewRows.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace sparse_autograd;

/// As many chunks are made at most.
static constexpr int64_t mostChunks = 32;
/// The columns of a workspace that are cleared in the time of one entry.
static constexpr int64_t columnsOfEntry = 4;
/// A workspace may always have so many columns.
static constexpr int64_t fewColumns = 4096;
/// Bits of a word of the bitmap.
static constexpr int64_t wordBits = 64;
static constexpr int64_t wordShift = 6;

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

namespace sparse_autograd {

/// What both passes know of a row.
class AccumulatedRows {
public:
  AccumulatedRows(Kernel &kernel, const NewRows &rows,
                  const llvm::SmallBitVector &rowLoops)
      : kernel(kernel), rows(rows), rowLoops(rowLoops) {}

  /// Whether a row begins before a loop, at `element`.
  bool begins(OpBuilder &builder, const VisitedElement &element);
  void end() { row = Value(); }
  Value getRow() const { return row; }
  Value getColumn(const VisitedElement &element) const {
    return kernel.getResultIndices(element.indices)[rows.getColumnDim()];
  }
  /// Whether the row has not met `column` yet, by the stamps.
  Value isNew(OpBuilder &builder, Value column, Value stamps) const;
  Value putStamp(OpBuilder &builder, Value column, Value stamps) const {
    return tensor::InsertOp::create(builder, kernel.loc, stamp, stamps, column);
  }

private:
  Kernel &kernel;
  const NewRows &rows;
  const llvm::SmallBitVector &rowLoops;
  Value row, stamp;
};

/// Counts the columns that each row meets. Carries the counters and the stamps;
/// inside of a row, the stamps and the number of columns.
class ColumnCountBody : public LoopBody {
public:
  ColumnCountBody(Kernel &kernel, const NewRows &rows,
                  const llvm::SmallBitVector &rowLoops)
      : kernel(kernel), row(kernel, rows, rowLoops) {}
  StringRef getPurpose() const override {
    return "counts the columns of each row of a new pattern";
  }
  bool enter(OpBuilder &builder, const VisitedElement &element,
             SmallVectorImpl<Value> &carried) override;
  void exit(OpBuilder &builder, const VisitedElement &element,
            SmallVectorImpl<Value> &carried) override;
  SmallVector<Value> visit(OpBuilder &builder, const VisitedElement &element,
                           ValueRange carried) override;

private:
  Kernel &kernel;
  AccumulatedRows row;
  Value counters;
};

/// Adds the terms of each row up. Carries the values and coordinates of the
/// result, then the workspace: a row of values, the stamps, the bits and their
/// words. Inside of a row, the workspace alone and the first of the words that
/// are not zero and the one behind the last.
class ColumnSumBody : public KernelBody {
public:
  ColumnSumBody(Kernel &kernel, const StoredPart &part, const NewRows &rows,
                const llvm::SmallBitVector &rowLoops, Value places)
      : KernelBody(kernel, part), rows(rows), row(kernel, rows, rowLoops),
        places(places) {}
  StringRef getPurpose() const override {
    return "adds up the entries of each row of a new pattern";
  }
  VectorForm getVectorForm(unsigned) override {
    VectorForm form;
    form.whyNone = "the columns of new entries are looked up";
    return form;
  }
  void begin(OpBuilder &,
             llvm::function_ref<bool(const llvm::SmallBitVector &)>,
             SmallVectorImpl<Value> &) override {}
  bool writesApart(const OutermostLoop &) override { return false; }
  bool enter(OpBuilder &builder, const VisitedElement &element,
             SmallVectorImpl<Value> &carried) override;
  void exit(OpBuilder &builder, const VisitedElement &element,
            SmallVectorImpl<Value> &carried) override;
  SmallVector<Value> visit(OpBuilder &builder, const VisitedElement &element,
                           ValueRange carried) override;

private:
  /// Of what is carried inside of a row.
  enum { Sums, Stamps, Bits, Words, First, Behind, NumInRow };

  std::optional<SmallVector<Value>>
  getPlace(OpBuilder &, const VisitedElement &, unsigned) override {
    return SmallVector<Value>{column};
  }
  Value setBit(ImplicitLocOpBuilder &builder, Value list, Value number,
               Value place);
  SmallVector<Value> note(OpBuilder &builder, ValueRange carried);

  const NewRows &rows;
  AccumulatedRows row;
  Value places, column;
  SmallVector<Value> lists;
};

} // namespace sparse_autograd

bool AccumulatedRows::begins(OpBuilder &builder,
                             const VisitedElement &element) {
  if (row)
    return false;
  for (unsigned loop : rowLoops.set_bits())
    if (!element.indices[loop])
      return false;
  row = rows.getRow(builder, kernel.getResultIndices(element.indices));
  stamp = arith::IndexCastUIOp::create(builder, kernel.loc,
                                       builder.getI32Type(), row);
  return true;
}

Value AccumulatedRows::isNew(OpBuilder &builder, Value column,
                             Value stamps) const {
  Value last = tensor::ExtractOp::create(builder, kernel.loc, stamps, column);
  return arith::CmpIOp::create(builder, kernel.loc, arith::CmpIPredicate::ne,
                               last, stamp);
}

bool ColumnCountBody::enter(OpBuilder &builder, const VisitedElement &element,
                            SmallVectorImpl<Value> &carried) {
  if (!row.begins(builder, element))
    return false;
  counters = carried.front();
  Value zero = arith::ConstantIndexOp::create(builder, kernel.loc, 0);
  carried.assign({carried[1], zero});
  return true;
}

void ColumnCountBody::exit(OpBuilder &builder, const VisitedElement &,
                           SmallVectorImpl<Value> &carried) {
  Value counted = tensor::InsertOp::create(builder, kernel.loc, carried[1],
                                           counters, row.getRow());
  carried.assign({counted, carried[0]});
  row.end();
}

SmallVector<Value> ColumnCountBody::visit(OpBuilder &builder,
                                          const VisitedElement &element,
                                          ValueRange carried) {
  Value column = row.getColumn(element);
  Value isNew = row.isNew(builder, column, carried[0]);
  Value one = arith::IndexCastUIOp::create(builder, kernel.loc,
                                           builder.getIndexType(), isNew);
  return {row.putStamp(builder, column, carried[0]),
          arith::AddIOp::create(builder, kernel.loc, carried[1], one)};
}

bool ColumnSumBody::enter(OpBuilder &builder, const VisitedElement &element,
                          SmallVectorImpl<Value> &carried) {
  if (!row.begins(builder, element))
    return false;
  lists.assign(carried.begin(), carried.begin() + 2);
  Value zero = arith::ConstantIndexOp::create(builder, kernel.loc, 0);
  Value numWords = tensor::DimOp::create(builder, kernel.loc, carried[5], zero);
  carried.erase(carried.begin(), carried.begin() + 2);
  carried.append({numWords, zero});
  return true;
}

/// Sets bit `number` of word `place` of a list.
Value ColumnSumBody::setBit(ImplicitLocOpBuilder &builder, Value list,
                            Value number, Value place) {
  Type word = builder.getI64Type();
  Value inWord = arith::AndIOp::create(
      builder, number, arith::ConstantIndexOp::create(builder, wordBits - 1));
  Value bit = arith::ShLIOp::create(
      builder, arith::ConstantIntOp::create(builder, word, 1),
      arith::IndexCastUIOp::create(builder, word, inWord));
  Value old = tensor::ExtractOp::create(builder, list, place);
  return tensor::InsertOp::create(
      builder, arith::OrIOp::create(builder, old, bit), list, place);
}

/// Begins the sum of a column that the row has not met.
SmallVector<Value> ColumnSumBody::note(OpBuilder &opBuilder,
                                       ValueRange carried) {
  ImplicitLocOpBuilder builder(kernel.loc, opBuilder);
  SmallVector<Value> next(carried);
  Type element =
      cast<RankedTensorType>(carried[Sums].getType()).getElementType();
  Value zero = arith::ConstantOp::create(builder, builder.getZeroAttr(element));
  next[Sums] = tensor::InsertOp::create(builder, zero, carried[Sums], column);
  next[Stamps] = row.putStamp(builder, column, carried[Stamps]);
  Value shift = arith::ConstantIndexOp::create(builder, wordShift);
  Value one = arith::ConstantIndexOp::create(builder, 1);
  Value word = arith::ShRUIOp::create(builder, column, shift);
  Value top = arith::ShRUIOp::create(builder, word, shift);
  next[Bits] = setBit(builder, carried[Bits], column, word);
  next[Words] = setBit(builder, carried[Words], word, top);
  next[First] = arith::MinUIOp::create(builder, carried[First], top);
  next[Behind] = arith::MaxUIOp::create(
      builder, carried[Behind], arith::AddIOp::create(builder, top, one));
  return next;
}

SmallVector<Value> ColumnSumBody::visit(OpBuilder &builder,
                                        const VisitedElement &element,
                                        ValueRange carried) {
  column = row.getColumn(element);
  SmallVector<Value> now(carried);
  Value isNew = row.isNew(builder, column, carried[Stamps]);
  now = emitIf(builder, kernel.loc, isNew, now,
               [&]() { return note(builder, now); });
  now[Sums] = KernelBody::visit(builder, element, now[Sums]).front();
  return now;
}

/// A loop over the bits of `word`, from the lowest on. `visit` gets the number
/// of a bit.
static SmallVector<Value>
forEachBit(OpBuilder &builder, Location loc, Value word, ValueRange carried,
           llvm::function_ref<SmallVector<Value>(OpBuilder &, Value bit,
                                                 ValueRange carried)>
               visit) {
  SmallVector<Value> values = {word};
  llvm::append_range(values, carried);
  auto loop = scf::WhileOp::create(
      builder, loc, ValueRange(values).getTypes(), values,
      [&](OpBuilder &nested, Location loc, ValueRange now) {
        Value zero =
            arith::ConstantIntOp::create(nested, loc, nested.getI64Type(), 0);
        Value isLeft = arith::CmpIOp::create(
            nested, loc, arith::CmpIPredicate::ne, now.front(), zero);
        scf::ConditionOp::create(nested, loc, isLeft, now);
      },
      [&](OpBuilder &nested, Location loc, ValueRange now) {
        Value one =
            arith::ConstantIntOp::create(nested, loc, nested.getI64Type(), 1);
        Value place =
            math::CountTrailingZerosOp::create(nested, loc, now.front());
        Value bit = arith::IndexCastUIOp::create(nested, loc,
                                                 nested.getIndexType(), place);
        Value less = arith::SubIOp::create(nested, loc, now.front(), one);
        SmallVector<Value> next = {
            arith::AndIOp::create(nested, loc, now.front(), less)};
        llvm::append_range(next, visit(nested, bit, now.drop_front()));
        scf::YieldOp::create(nested, loc, next);
      });
  return SmallVector<Value>(loop.getResults().drop_front());
}

/// Stores the entries of a row, and clears the bitmap.
void ColumnSumBody::exit(OpBuilder &builder, const VisitedElement &,
                         SmallVectorImpl<Value> &carried) {
  Location loc = kernel.loc;
  Value sums = carried[Sums];
  Value begin = tensor::ExtractOp::create(builder, loc, places, row.getRow());
  Value step = arith::ConstantIndexOp::create(builder, loc, 1);
  Value none =
      arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), 0);
  auto join = [&](OpBuilder &nested, Value word, Value bit) -> Value {
    Value shift = arith::ConstantIndexOp::create(nested, loc, wordShift);
    Value first = arith::ShLIOp::create(nested, loc, word, shift);
    return arith::AddIOp::create(nested, loc, first, bit);
  };
  // The place, the values, the coordinates, and what is cleared.
  auto loop = scf::ForOp::create(
      builder, loc, carried[First], carried[Behind], step,
      ValueRange{begin, lists[0], lists[1], carried[Bits], carried[Words]},
      [&](OpBuilder &nested, Location loc, Value top, ValueRange now) {
        Value set = tensor::ExtractOp::create(nested, loc, now[4], top);
        Value cleared =
            tensor::InsertOp::create(nested, loc, none, now[4], top);
        SmallVector<Value> next = forEachBit(
            nested, loc, set, now.take_front(4),
            [&](OpBuilder &nested, Value bit, ValueRange now) {
              Value word = join(nested, top, bit);
              Value set = tensor::ExtractOp::create(nested, loc, now[3], word);
              Value cleared =
                  tensor::InsertOp::create(nested, loc, none, now[3], word);
              SmallVector<Value> stored = forEachBit(
                  nested, loc, set, now.take_front(3),
                  [&](OpBuilder &nested, Value bit, ValueRange now) {
                    Value number = join(nested, word, bit);
                    Value sum =
                        tensor::ExtractOp::create(nested, loc, sums, number);
                    return SmallVector<Value>{
                        arith::AddIOp::create(nested, loc, now[0], step),
                        tensor::InsertOp::create(nested, loc, sum, now[1],
                                                 now[0]),
                        tensor::InsertOp::create(
                            nested, loc, rows.toCoordinate(nested, number),
                            now[2], now[0])};
                  });
              stored.push_back(cleared);
              return stored;
            });
        next.push_back(cleared);
        scf::YieldOp::create(nested, loc, next);
      });
  carried.assign({loop.getResult(1), loop.getResult(2), sums, carried[Stamps],
                  loop.getResult(3), loop.getResult(4)});
  row.end();
}

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

namespace sparse_autograd {

/// Both passes of one kernel, in chunks of rows.
class RowAccumulation {
public:
  RowAccumulation(Kernel &kernel, const NewRows &rows)
      : kernel(kernel), builder(kernel.loc, kernel.builder), rows(rows),
        part(kernel.iteration.parts.front()) {}

  SmallVector<Value> build(const llvm::SmallBitVector &rowLoops);
  /// Whether a workspace is no larger than the operands are, or small.
  Value isWorthWorkspace();

private:
  /// Runs `build`, which makes loops over all rows, in chunks. It gets
  /// what is carried, and first makes the workspace of the chunk.
  SmallVector<Value>
  inChunks(ValueRange carried,
           llvm::function_ref<SmallVector<Value>(ValueRange carried)> build);
  Value constant(int64_t number) {
    return arith::ConstantIndexOp::create(builder, number);
  }
  Value countEntries();
  /// A list of a chunk: not one of several chunks, whatever its length.
  Value createWorkspace(Value length, Type element, Attribute start);
  Value getNumWords(Value bits) {
    return arith::CeilDivUIOp::create(builder, bits, constant(wordBits));
  }

  Kernel &kernel;
  ImplicitLocOpBuilder builder;
  const NewRows &rows;
  StoredPart part;
};

} // namespace sparse_autograd

/// The number of entries that the operands store.
Value RowAccumulation::countEntries() {
  Value count = constant(0);
  for (unsigned number : part.stored) {
    Value values = kernel.getStorage(number).getValues();
    count = arith::AddIOp::create(builder, count,
                                  tensor::DimOp::create(builder, values, 0));
  }
  return count;
}

Value RowAccumulation::isWorthWorkspace() {
  Value most = arith::AddIOp::create(
      builder,
      arith::MulIOp::create(builder, countEntries(), constant(columnsOfEntry)),
      constant(fewColumns));
  Value isSmall = arith::CmpIOp::create(builder, arith::CmpIPredicate::ule,
                                        rows.getNumColumns(), most);
  // A stamp that no row has is what columns begin with.
  Value hasStamps = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult,
                                          rows.getNumRows(),
                                          constant((int64_t(1) << 32) - 1));
  return arith::AndIOp::create(builder, isSmall, hasStamps);
}

Value RowAccumulation::createWorkspace(Value length, Type element,
                                       Attribute start) {
  auto type = RankedTensorType::get({ShapedType::kDynamic}, element);
  Value list = bufferization::AllocTensorOp::create(builder, type, length);
  if (!start)
    return list;
  Value first = arith::ConstantOp::create(builder, cast<TypedAttr>(start));
  return linalg::FillOp::create(builder, first, list).getResult(0);
}

SmallVector<Value> RowAccumulation::inChunks(
    ValueRange carried,
    llvm::function_ref<SmallVector<Value>(ValueRange carried)> build) {
  Value one = constant(1);
  // As many as entries can clear workspaces for.
  Value columns = arith::AddIOp::create(builder, rows.getNumColumns(),
                                        constant(fewColumns));
  Value scaled =
      arith::MulIOp::create(builder, countEntries(), constant(columnsOfEntry));
  Value chunks = arith::DivUIOp::create(builder, scaled, columns);
  chunks = arith::MaxUIOp::create(builder, chunks, one);
  chunks = arith::MinUIOp::create(builder, chunks, constant(mostChunks));
  auto loop = scf::ForOp::create(builder, constant(0), chunks, one, carried);
  if (kernel.loops->getSchedule().isParallel)
    setParallel(loop);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  OpBuilder::InsertionGuard guardOfKernel(kernel.builder);
  kernel.builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> results = build(loop.getRegionIterArgs());
  // The outermost loop is one over rows: over those of the chunk.
  auto outermost = results.front().getDefiningOp<scf::ForOp>();
  builder.setInsertionPoint(outermost);
  Value end = outermost.getUpperBound();
  Value size = arith::CeilDivUIOp::create(builder, end, chunks);
  Value first = arith::MulIOp::create(builder, loop.getInductionVar(), size);
  Value last = arith::AddIOp::create(builder, first, size);
  outermost.setLowerBound(arith::MinUIOp::create(builder, first, end));
  outermost.setUpperBound(arith::MinUIOp::create(builder, last, end));
  builder.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(builder, ArrayRef(results).take_front(carried.size()));
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value>
RowAccumulation::build(const llvm::SmallBitVector &rowLoops) {
  auto type = cast<RankedTensorType>(kernel.op->getResultTypes().front());
  Type number = builder.getI32Type(), word = builder.getI64Type();
  Attribute noStamp = builder.getI32IntegerAttr(-1);
  auto visit = [&](ValueRange carried, LoopBody &body) {
    return kernel.buildPart(part, carried, std::nullopt,
                            /*isFirstOutermost=*/false, body);
  };
  Value columns = rows.getNumColumns();
  Value counters =
      inChunks(rows.createCounters(builder), [&](ValueRange carried) {
        ColumnCountBody body(kernel, rows, rowLoops);
        return visit({carried[0], createWorkspace(columns, number, noStamp)},
                     body);
      }).front();
  Value places = rows.beginRows(builder, counters);
  Value positions = rows.createPositions(builder, places);
  Value count = rows.getNumEntries(builder, places);
  Value values = rows.createList(builder, count, type.getElementType());
  Value coordinates = rows.createList(builder, count, rows.getCoordinateType());
  SmallVector<Value> lists =
      inChunks({values, coordinates}, [&](ValueRange carried) {
        ColumnSumBody body(kernel, part, rows, rowLoops, places);
        Value numWords = getNumWords(columns);
        Attribute none = builder.getI64IntegerAttr(0);
        SmallVector<Value> all(carried);
        all.push_back(createWorkspace(columns, type.getElementType(), {}));
        all.push_back(createWorkspace(columns, number, noStamp));
        all.push_back(createWorkspace(numWords, word, none));
        all.push_back(createWorkspace(getNumWords(numWords), word, none));
        return visit(all, body);
      });
  return rows.getComponents(positions, lists[1], lists[0]);
}

/// The loops that the rows of the result of `op` are of.
static llvm::SmallBitVector getRowLoops(linalg::LinalgOp op) {
  AffineMap levels =
      sparse_tensor::SparseTensorType(
          cast<RankedTensorType>(op->getResultTypes().front()))
          .getExpandedDimToLvl()
          .compose(op.getMatchingIndexingMap(op.getDpsInitOperand(0)));
  llvm::SmallBitVector loops(op.getNumLoops());
  for (AffineExpr expr : levels.getResults().drop_back())
    loops.set(cast<AffineDimExpr>(expr).getPosition());
  return loops;
}

StringRef Kernel::getReasonAgainstAccumulation() {
  if (!isReduction() || iteration.visitsAll || iteration.parts.size() != 1)
    return "it is not a sum over one part of what operands store";
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!map.isProjectedPermutation())
    return "several iterations may have one place";
  llvm::SmallBitVector rowLoops = getRowLoops(op);
  SmallVector<unsigned> stored = toLoopOperands(iteration.parts[0].stored);
  if (rowLoops.none() ||
      !LoopPlan::choose(*loops, stored, /*isFirstOutermost=*/false)
           .visitsOnce(rowLoops))
    return "the terms of a row are not visited one after the other";
  return "";
}

SmallVector<Value> Kernel::assembleByAccumulation() {
  auto type = cast<RankedTensorType>(op->getResultTypes().front());
  NewRows rows(builder, loc, type, getResultExtents());
  RowAccumulation accumulation(*this, rows);
  auto choice = scf::IfOp::create(builder, loc, getComponentTypes(type),
                                  accumulation.isWorthWorkspace(),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc, assembleFromList());
  builder.setInsertionPointToStart(choice.thenBlock());
  SmallVector<Value> components =
      RowAccumulation(*this, rows).build(getRowLoops(op));
  builder.setInsertionPointToEnd(choice.thenBlock());
  scf::YieldOp::create(builder, loc, components);
  return SmallVector<Value>(choice.getResults());
}
