//===- MergedPattern.cpp - new patterns by merging rows -------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An elementwise result of two sparse operands of the same rows, as their sum:
// two rows, whose coordinates are sorted, are merged. Rows are independent, and
// run in parallel. Where everything is stored that an operand stores, a row has
// room for both rows at first, and is moved to its place when all lengths are
// known: one merge, and no more than twice the memory of the result. Where less
// is, as of a product, rows are merged twice: to count, and to store.
//
//===----------------------------------------------------------------------===//

#include "EmitIf.h"
#include "Kernel.h"
#include "NewRows.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

/// A region of so many ops is computed for all cases, of which one is selected:
/// which case it is cannot be predicted.
static constexpr unsigned selectedOps = 8;

namespace sparse_autograd {

/// Merges the rows of two operands.
class RowMerge {
public:
  RowMerge(Kernel &kernel, ArrayRef<unsigned> operands);

  /// Whether all is stored that an operand stores.
  bool isUnion() const {
    return llvm::all_of(isKept, [](bool k) { return k; });
  }

  SmallVector<Value> build();

private:
  /// Which operands store an element.
  enum Case { Both, First, Second };
  static constexpr unsigned numCases = 3;

  /// The lists that loops write, the values and the coordinates, if they write
  /// any; and where the next entry goes.
  struct State {
    SmallVector<Value> lists;
    Value place;
  };
  struct Segment {
    Value begin, end;
  };

  Segment getSegment(unsigned side, Value row);
  Value getCoordinate(unsigned side, Value position);
  SmallVector<Value> getFirstCoordinates(ArrayRef<Segment> segments);
  SmallVector<Value> getArguments(Case which, ArrayRef<Value> positions,
                                  const VisitedElement &element);
  Value compute(Case which, ArrayRef<Value> positions,
                const VisitedElement &element);
  Value computeSelected(Value isFirst, Value isSecond,
                        ArrayRef<Value> positions,
                        const VisitedElement &element);
  VisitedElement getElement(Value row, Value coordinate);
  State add(State state, Value isKept, llvm::function_ref<Value()> getValue,
            Value coordinate);
  State mergeBoth(Value row, ArrayRef<Segment> segments, State state,
                  SmallVectorImpl<Value> &positions);
  State addRest(Case which, Value row, Value begin, Value end, State state);
  State mergeRow(Value row, Value place, ValueRange lists);
  scf::ForOp forEachRow(
      ValueRange carried,
      llvm::function_ref<SmallVector<Value>(Value row, ValueRange carried)>
          inside);
  scf::ForOp createLoop(
      Value begin, Value end, ValueRange carried,
      llvm::function_ref<SmallVector<Value>(Value place, ValueRange carried)>
          inside);
  Value getRoom(Value row);
  Value constant(int64_t number) {
    return arith::ConstantIndexOp::create(builder, loc, number);
  }
  Value add(Value a, Value b) {
    return arith::AddIOp::create(builder, loc, a, b);
  }
  Value combine(Case which, ArrayRef<Value> conditions);

  Kernel &kernel;
  OpBuilder &builder;
  Location loc;
  /// The loops' numbers of the operands.
  SmallVector<unsigned, 2> operands;
  RankedTensorType type;
  NewRows rows;
  bool isKept[numCases] = {};
  SmallVector<const Term *> yields[numCases];
};

} // namespace sparse_autograd

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

RowMerge::RowMerge(Kernel &kernel, ArrayRef<unsigned> operands)
    : kernel(kernel), builder(kernel.builder), loc(kernel.loc),
      operands(operands),
      type(cast<RankedTensorType>(kernel.op->getResultTypes().front())),
      rows(builder, loc, type, kernel.getResultExtents()) {
  for (Case which : {Both, First, Second}) {
    auto isStored = [&](unsigned number) {
      return which == Both ||
             kernel.getLoopOperand(number) == operands[which == Second];
    };
    isKept[which] =
        llvm::any_of(kernel.iteration.parts, [&](const StoredPart &part) {
          return llvm::all_of(part.stored, isStored) &&
                 llvm::none_of(part.missing, isStored);
        });
    llvm::SmallBitVector absent(kernel.op->getNumOperands());
    for (unsigned number : kernel.iteration.sparseInputs)
      if (!isStored(number))
        absent.set(number);
    yields[which] = kernel.terms.getYields(absent);
  }
}

SmallVector<Value> RowMerge::getArguments(Case which, ArrayRef<Value> positions,
                                          const VisitedElement &element) {
  SmallVector<Value> arguments =
      kernel.loadDense(builder, element, yields[which]);
  for (unsigned number : kernel.iteration.sparseInputs) {
    if (!kernel.terms.reads(yields[which], number))
      continue;
    unsigned side = kernel.getLoopOperand(number) == operands[1];
    arguments[number] = tensor::ExtractOp::create(
        builder, loc, kernel.getStorage(number).getValues(), positions[side]);
  }
  return arguments;
}

/// What is stored at an element of this case.
Value RowMerge::compute(Case which, ArrayRef<Value> positions,
                        const VisitedElement &element) {
  return kernel
      .build(builder, yields[which], getArguments(which, positions, element),
             element)
      .front();
}

/// How many ops `roots` are made of, up to a limit.
static void countOps(ArrayRef<const Term *> roots, unsigned &count) {
  for (const Term *term : roots)
    if (term->kind == Term::Apply && count <= selectedOps) {
      // A function of math takes as long as many.
      bool isArith =
          isa<arith::ArithDialect>(term->value.getDefiningOp()->getDialect());
      count += isArith ? 1 : selectedOps + 1;
      countOps(term->operands, count);
    }
}

/// What is stored at an element of a case that is known when the program runs.
Value RowMerge::computeSelected(Value isFirst, Value isSecond,
                                ArrayRef<Value> positions,
                                const VisitedElement &element) {
  SmallVector<Case, 3> cases;
  unsigned numOps = 0;
  bool mayCompute = true;
  for (Case which : {Both, First, Second})
    if (isKept[which]) {
      cases.push_back(which);
      mayCompute &= ScalarTerms::isElementwise(yields[which]);
      countOps(yields[which], numOps);
    }
  mayCompute &= numOps <= selectedOps;
  Case last = cases.pop_back_val();
  std::function<Value(ArrayRef<Case>)> choose =
      [&](ArrayRef<Case> left) -> Value {
    if (left.empty())
      return compute(last, positions, element);
    Value is = combine(left.front(), {isFirst, isSecond});
    if (mayCompute) {
      Value value = compute(left.front(), positions, element);
      return arith::SelectOp::create(builder, loc, is, value,
                                     choose(left.drop_front()));
    }
    auto choice = scf::IfOp::create(builder, loc, type.getElementType(), is,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(builder, loc, choose(left.drop_front()));
    builder.setInsertionPointToStart(choice.thenBlock());
    scf::YieldOp::create(builder, loc,
                         compute(left.front(), positions, element));
    return choice.getResult(0);
  };
  return choose(cases);
}

/// Whether it is this case, of whether each operand stores the element. One of
/// them does.
Value RowMerge::combine(Case which, ArrayRef<Value> conditions) {
  if (which == Both)
    return arith::AndIOp::create(builder, loc, conditions[0], conditions[1]);
  Value yes =
      arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
  return arith::XOrIOp::create(builder, loc, conditions[which == First], yes);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

scf::ForOp RowMerge::createLoop(
    Value begin, Value end, ValueRange carried,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> inside) {
  auto loop =
      scf::ForOp::create(builder, loc, begin, end, constant(1), carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      inside(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!carried.empty())
    scf::YieldOp::create(builder, loc, next);
  return loop;
}

scf::ForOp RowMerge::forEachRow(
    ValueRange carried,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> inside) {
  scf::ForOp loop = createLoop(constant(0), rows.getNumRows(), carried, inside);
  if (kernel.loops->getSchedule().isParallel)
    setParallel(loop);
  return loop;
}

RowMerge::Segment RowMerge::getSegment(unsigned side, Value row) {
  const SparseStorage &storage =
      kernel.loops->getOperand(operands[side]).storage;
  Value positions = storage.getPositions(storage.getNumLevels() - 1);
  return {loadNumber(builder, loc, positions, row),
          loadNumber(builder, loc, positions, add(row, constant(1)))};
}

Value RowMerge::getCoordinate(unsigned side, Value position) {
  const SparseStorage &storage =
      kernel.loops->getOperand(operands[side]).storage;
  return storage.getCoordinate(builder, loc, storage.getNumLevels() - 1,
                               position);
}

/// The first coordinates of two segments; zeros if one of them is empty, and
/// there is nothing to merge.
SmallVector<Value> RowMerge::getFirstCoordinates(ArrayRef<Segment> segments) {
  Value isAny[2];
  for (unsigned side : {0, 1})
    isAny[side] =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                              segments[side].begin, segments[side].end);
  Value areBoth = arith::AndIOp::create(builder, loc, isAny[0], isAny[1]);
  return emitIf(builder, loc, areBoth, {constant(0), constant(0)}, [&]() {
    return SmallVector<Value>{getCoordinate(0, segments[0].begin),
                              getCoordinate(1, segments[1].begin)};
  });
}

/// Where a row begins if each has room for the rows of both operands.
Value RowMerge::getRoom(Value row) {
  return add(getSegment(0, row).begin, getSegment(1, row).begin);
}

/// The element at `coordinate` of `row`.
VisitedElement RowMerge::getElement(Value row, Value coordinate) {
  VisitedElement element;
  element.indices.resize(kernel.loops->getExtents().size());
  AffineMap levels =
      sparse_tensor::SparseTensorType(type).getExpandedDimToLvl().compose(
          kernel.op.getMatchingIndexingMap(kernel.op.getDpsInitOperand(0)));
  unsigned last = levels.getNumResults() - 1;
  element.indices[levels.getDimPosition(last)] = coordinate;
  Value rest = row;
  for (unsigned level = last; level-- > 0;) {
    unsigned loop = levels.getDimPosition(level);
    if (level == 0) {
      element.indices[loop] = rest;
      break;
    }
    Value extent = kernel.loops->getExtents()[loop];
    element.indices[loop] = arith::RemUIOp::create(builder, loc, rest, extent);
    rest = arith::DivUIOp::create(builder, loc, rest, extent);
  }
  return element;
}

/// Stores an entry, or counts it, if it is kept; null for one that always is.
RowMerge::State RowMerge::add(State state, Value isKept,
                              llvm::function_ref<Value()> getValue,
                              Value coordinate) {
  SmallVector<Value> carried(state.lists);
  carried.push_back(state.place);
  carried = emitIf(builder, loc, isKept, carried, [&]() {
    SmallVector<Value> next;
    if (!state.lists.empty()) {
      next.push_back(tensor::InsertOp::create(builder, loc, getValue(),
                                              state.lists[0], state.place));
      next.push_back(tensor::InsertOp::create(
          builder, loc, rows.toCoordinate(builder, coordinate), state.lists[1],
          state.place));
    }
    next.push_back(add(state.place, constant(1)));
    return next;
  });
  State next;
  next.place = carried.pop_back_val();
  next.lists = std::move(carried);
  return next;
}

/// Merges two segments up to the end of one of them. Gives how far it came.
RowMerge::State RowMerge::mergeBoth(Value row, ArrayRef<Segment> segments,
                                    State state,
                                    SmallVectorImpl<Value> &positions) {
  SmallVector<Value> carried(state.lists);
  llvm::append_values(carried, state.place, segments[0].begin,
                      segments[1].begin);
  llvm::append_range(carried, getFirstCoordinates(segments));
  size_t numLists = state.lists.size();
  auto getState = [&](ValueRange values) {
    return State{SmallVector<Value>(values.take_front(numLists)),
                 values[numLists]};
  };
  auto loop = scf::WhileOp::create(
      builder, loc, ValueRange(carried).getTypes(), carried,
      [&](OpBuilder &nested, Location loc, ValueRange values) {
        Value isLeft[2];
        for (unsigned side : {0, 1})
          isLeft[side] = arith::CmpIOp::create(
              nested, loc, arith::CmpIPredicate::ult,
              values[numLists + 1 + side], segments[side].end);
        scf::ConditionOp::create(
            nested, loc,
            arith::AndIOp::create(nested, loc, isLeft[0], isLeft[1]), values);
      },
      [](OpBuilder &, Location, ValueRange) {});
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *body = loop.getAfterBody();
    builder.setInsertionPointToEnd(body);
    ValueRange values = body->getArguments();
    SmallVector<Value> at(values.slice(numLists + 1, 2));
    Value x = values[numLists + 3], y = values[numLists + 4];
    Value isFirst =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, x, y);
    Value isSecond =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, y, x);
    Value coordinate = arith::MinUIOp::create(builder, loc, x, y);
    Value isAny;
    if (!isUnion()) {
      isAny =
          arith::ConstantOp::create(builder, loc, builder.getBoolAttr(false));
      for (Case which : {Both, First, Second})
        if (isKept[which])
          isAny = arith::OrIOp::create(builder, loc, isAny,
                                       combine(which, {isFirst, isSecond}));
    }
    State next = add(
        getState(values), isAny,
        [&]() {
          return computeSelected(isFirst, isSecond, at,
                                 getElement(row, coordinate));
        },
        coordinate);
    SmallVector<Value> yielded(next.lists);
    yielded.push_back(next.place);
    Value moves[] = {isFirst, isSecond}, now[] = {x, y};
    for (unsigned side : {0, 1})
      yielded.push_back(add(
          at[side], arith::IndexCastUIOp::create(
                        builder, loc, builder.getIndexType(), moves[side])));
    // The next coordinates are on their way before it is known which of them
    // are next: no comparison waits for a load of its own iteration.
    for (unsigned side : {0, 1}) {
      Value last =
          arith::SubIOp::create(builder, loc, segments[side].end, constant(1));
      Value after = arith::MinUIOp::create(builder, loc,
                                           add(at[side], constant(1)), last);
      yielded.push_back(arith::SelectOp::create(
          builder, loc, moves[side], getCoordinate(side, after), now[side]));
    }
    scf::YieldOp::create(builder, loc, yielded);
  }
  positions.assign(
      {loop.getResult(numLists + 1), loop.getResult(numLists + 2)});
  return getState(loop.getResults());
}

/// Adds what one operand has behind the end of the other's row.
RowMerge::State RowMerge::addRest(Case which, Value row, Value begin, Value end,
                                  State state) {
  if (!isKept[which])
    return state;
  unsigned side = which == Second;
  // They need not be visited to be counted.
  if (state.lists.empty()) {
    state.place =
        add(state.place, arith::SubIOp::create(builder, loc, end, begin));
    return state;
  }
  SmallVector<Value> carried(state.lists);
  carried.push_back(state.place);
  scf::ForOp loop =
      createLoop(begin, end, carried, [&](Value position, ValueRange values) {
        State now{SmallVector<Value>(values.drop_back()), values.back()};
        Value coordinate = getCoordinate(side, position);
        now = add(
            now, {},
            [&]() {
              return compute(which, {position, position},
                             getElement(row, coordinate));
            },
            coordinate);
        SmallVector<Value> next(now.lists);
        next.push_back(now.place);
        return next;
      });
  return {SmallVector<Value>(loop.getResults().drop_back()),
          loop.getResults().back()};
}

/// Merges the segments of `row`, from `place` on.
RowMerge::State RowMerge::mergeRow(Value row, Value place, ValueRange lists) {
  SmallVector<Segment> segments = {getSegment(0, row), getSegment(1, row)};
  SmallVector<Value> positions;
  State state =
      mergeBoth(row, segments, {SmallVector<Value>(lists), place}, positions);
  state = addRest(First, row, positions[0], segments[0].end, state);
  return addRest(Second, row, positions[1], segments[1].end, state);
}

SmallVector<Value> RowMerge::build() {
  Value counters = rows.createCounters(builder);
  Type coordinateType = rows.getCoordinateType();
  auto insertLength = [&](Value list, Value row, Value begin,
                          Value end) -> Value {
    Value length = arith::SubIOp::create(builder, loc, end, begin);
    return tensor::InsertOp::create(builder, loc, length, list, row);
  };
  auto createLists = [&](Value length) {
    return SmallVector<Value>{
        rows.createList(builder, length, type.getElementType()),
        rows.createList(builder, length, coordinateType)};
  };
  SmallVector<Value> roomy;
  if (isUnion()) {
    roomy = createLists(getRoom(rows.getNumRows()));
    roomy.push_back(counters);
    scf::ForOp merge = forEachRow(roomy, [&](Value row, ValueRange carried) {
      Value begin = getRoom(row);
      State state = mergeRow(row, begin, carried.take_front(2));
      SmallVector<Value> next(state.lists);
      next.push_back(insertLength(carried[2], row, begin, state.place));
      return next;
    });
    roomy.assign(merge.getResults().begin(), merge.getResults().end());
    counters = roomy.pop_back_val();
  } else {
    counters = forEachRow(counters, [&](Value row, ValueRange carried) {
                 Value begin = constant(0);
                 State state = mergeRow(row, begin, {});
                 return SmallVector<Value>{
                     insertLength(carried.front(), row, begin, state.place)};
               }).getResult(0);
  }
  Value begins = rows.beginRows(builder, counters);
  Value positions = rows.createPositions(builder, begins);
  SmallVector<Value> lists = createLists(rows.getNumEntries(builder, begins));
  scf::ForOp store = forEachRow(lists, [&](Value row, ValueRange carried) {
    Value begin = tensor::ExtractOp::create(builder, loc, begins, row);
    if (!isUnion())
      return mergeRow(row, begin, carried).lists;
    Value end =
        tensor::ExtractOp::create(builder, loc, begins, add(row, constant(1)));
    Value offset = arith::SubIOp::create(builder, loc, getRoom(row), begin);
    scf::ForOp copy =
        createLoop(begin, end, carried, [&](Value place, ValueRange to) {
          SmallVector<Value> next;
          for (auto [from, list] : llvm::zip_equal(roomy, to)) {
            Value element = tensor::ExtractOp::create(builder, loc, from,
                                                      add(place, offset));
            next.push_back(
                tensor::InsertOp::create(builder, loc, element, list, place));
          }
          return next;
        });
    return SmallVector<Value>(copy.getResults());
  });
  return rows.getComponents(positions, store.getResult(1), store.getResult(0));
}

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

SmallVector<unsigned> Kernel::getMergedOperands() {
  return toLoopOperands(iteration.sparseInputs);
}

StringRef Kernel::getReasonAgainstMerging() {
  if (isReduction() || iteration.visitsAll || readsInit(0))
    return "it is not computed element by element of sparse operands";
  SmallVector<unsigned> merged = getMergedOperands();
  if (merged.size() != 2)
    return "there are not two sparse operands to merge";
  auto getLevels = [](const SparseStorage &storage, AffineMap map) {
    return storage.getDimsToLevels().compose(map);
  };
  OpOperand *init = op.getDpsInitOperand(0);
  AffineMap levels = getLevels(getStorage(init->getOperandNumber()),
                               op.getMatchingIndexingMap(init));
  if (!levels.isPermutation())
    return "several iterations may have one place";
  for (unsigned number : merged) {
    const SparseOperand &operand = loops->getOperand(number);
    if (!NewRows::consistsOfRows(operand.storage.getType()) ||
        getLevels(operand.storage, operand.map) != levels)
      return "a sparse operand does not store the rows of the result";
  }
  return "";
}

SmallVector<Value> Kernel::assembleByMerging() {
  return RowMerge(*this, getMergedOperands()).build();
}
