//===- SizeBound.cpp - what numbers of a function are at most -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/SizeBound.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseEncodings.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sparse_autograd;

using Bound = std::optional<SizeBound>;

//===----------------------------------------------------------------------===//
// Sums of products
//===----------------------------------------------------------------------===//

SizeBound SizeBound::operator+(const SizeBound &other) const {
  SizeBound sum = *this;
  for (const auto &[product, factor] : other.terms)
    sum.terms[product] += factor;
  return sum;
}

SizeBound SizeBound::operator-(const SizeBound &other) const {
  SizeBound difference = *this;
  for (const auto &[product, factor] : other.terms)
    if ((difference.terms[product] -= factor) == 0)
      difference.terms.erase(product);
  return difference;
}

SizeBound SizeBound::operator*(const SizeBound &other) const {
  SizeBound result;
  for (const auto &[product, factor] : terms)
    for (const auto &[otherProduct, otherFactor] : other.terms) {
      Product factors = product;
      llvm::append_range(factors, otherProduct);
      llvm::sort(factors);
      result.terms[factors] += factor * otherFactor;
    }
  return result;
}

SizeBound SizeBound::max(const SizeBound &other) const {
  SizeBound result = *this;
  for (const auto &[product, factor] : other.terms)
    result.terms[product] = std::max(result.terms[product], factor);
  return result;
}

SizeBound SizeBound::replace(StringRef name, const SizeBound &other) const {
  SizeBound result;
  for (const auto &[product, factor] : terms) {
    SizeBound term(factor);
    for (const std::string &each : product)
      term = term * (each == name ? other : SizeBound(each));
    result = result + term;
  }
  return result;
}

bool SizeBound::isAtMost(const SizeBound &other) const {
  return llvm::all_of(terms, [&](const auto &term) {
    auto known = other.terms.find(term.first);
    return known != other.terms.end() && term.second <= known->second;
  });
}

static Bound add(const Bound &a, const Bound &b) {
  return a && b ? Bound(*a + *b) : std::nullopt;
}

static Bound multiply(const Bound &a, const Bound &b) {
  return a && b ? Bound(*a * *b) : std::nullopt;
}

static Bound getLarger(const Bound &a, const Bound &b) {
  return a && b ? Bound(a->max(*b)) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

SizeBounds::SizeBounds(func::FuncOp function, ArrayRef<EntryArgument> arguments)
    : function(function), arguments(arguments) {
  // A call that succeeds has found them equal.
  auto getName = [&](Value value) -> std::string {
    Bound bound = get(value);
    if (!bound || bound->getTerms().size() != 1)
      return "";
    const auto &[product, factor] = *bound->getTerms().begin();
    return product.size() == 1 && factor == 1 ? product.front() : "";
  };
  for (auto assertion : function.getBody().front().getOps<cf::AssertOp>()) {
    auto compare = assertion.getArg().getDefiningOp<arith::CmpIOp>();
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq)
      continue;
    std::string names[] = {getName(compare.getLhs()),
                           getName(compare.getRhs())};
    if (names[0].empty() || names[1].empty() || names[0] == names[1])
      continue;
    llvm::sort(names);
    equal[names[1]] = names[0];
  }
  bounds.clear();
}

SizeBound SizeBounds::name(std::string text) {
  for (auto known = equal.find(text); known != equal.end();
       known = equal.find(text))
    text = known->second;
  return SizeBound(std::move(text));
}

std::string SizeBounds::getListName(const EntryArgument &list) {
  return ("list(" + Twine(list.number) + ", " + Twine(list.index) + ")").str();
}

const EntryArgument *SizeBounds::getArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &function.getBody().front()
             ? &arguments[argument.getArgNumber()]
             : nullptr;
}

static std::string getExtentName(unsigned number, int64_t dim) {
  return ("dim(" + Twine(number) + ", " + Twine(dim) + ")").str();
}

Bound SizeBounds::getExtent(Value buffer, int64_t dim) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type)
    return std::nullopt;
  if (!type.isDynamicDim(dim))
    return SizeBound(type.getDimSize(dim));
  if (const EntryArgument *argument = getArgument(buffer))
    switch (argument->kind) {
    case EntryArgument::Dense:
      return name(getExtentName(argument->number, dim));
    case EntryArgument::Values:
      return SizeBound(("nnz(" + Twine(argument->number) + ")").str());
    case EntryArgument::Positions:
    case EntryArgument::Coordinates:
      return SizeBound(getListName(*argument));
    default:
      return std::nullopt;
    }
  Operation *op = buffer.getDefiningOp();
  if (auto alloc = dyn_cast_or_null<memref::AllocOp>(op))
    return get(alloc.getDynamicSizes()[type.getDynamicDimIndex(dim)]);
  if (auto cast = dyn_cast_or_null<memref::CastOp>(op))
    return isa<MemRefType>(cast.getSource().getType())
               ? getExtent(cast.getSource(), dim)
               : std::nullopt;
  return std::nullopt;
}

Bound SizeBounds::getBytes(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  Type element = type.getElementType();
  if (!element.isIntOrIndexOrFloat() || !type.getLayout().isIdentity())
    return std::nullopt;
  Bound size = SizeBound(
      element.isIndex() ? 8 : (element.getIntOrFloatBitWidth() + 7) / 8);
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    size = multiply(size, getExtent(buffer, dim));
  return size;
}

//===----------------------------------------------------------------------===//
// Loops that count
//===----------------------------------------------------------------------===//

Value SizeBounds::getSegments(scf::ForOp loop) {
  auto first = loop.getLowerBound().getDefiningOp<memref::LoadOp>();
  auto last = loop.getUpperBound().getDefiningOp<memref::LoadOp>();
  if (!first || !last || first.getMemRef() != last.getMemRef() ||
      first.getIndices().size() != 1 ||
      getConstantIntValue(loop.getStep()) != 1)
    return {};
  Value place = first.getIndices().front();
  Value next = last.getIndices().front();
  if (auto sum = next.getDefiningOp<arith::AddIOp>();
      sum && sum.getLhs() == place && getConstantIntValue(sum.getRhs()) == 1)
    return place;
  std::optional<int64_t> number = getConstantIntValue(place);
  return number && getConstantIntValue(next) == *number + 1 ? place : Value();
}

Bound SizeBounds::countEntries(scf::ForOp loop) {
  Value list = loop.getLowerBound().getDefiningOp<memref::LoadOp>().getMemRef();
  if (const EntryArgument *argument = getArgument(list)) {
    if (argument->kind != EntryArgument::Positions)
      return std::nullopt;
    if (argument->hasValues)
      return SizeBound(("nnz(" + Twine(argument->number) + ")").str());
    // Elements without entries may be below: as many as have coordinates.
    EntryArgument coordinates = *argument;
    ++coordinates.index;
    return SizeBound(getListName(coordinates));
  }
  // Positions that are stored anew have no more elements than are listed.
  for (Operation *user : list.getUsers())
    if (auto store = dyn_cast<StorePositionsOp>(user))
      if (llvm::is_contained(store.getLists(), list))
        return getExtent(store.getCoordinates(), 0);
  return std::nullopt;
}

/// Marks the loops by whose variables `place` is numbered, if there is nothing
/// else in it that differs between iterations: each has another place then.
static bool addNumbering(Value place, ArrayRef<scf::ForOp> loops,
                         SmallPtrSetImpl<Operation *> &numbering) {
  if (llvm::none_of(loops, [&](scf::ForOp loop) {
        return loop->isAncestor(place.getParentBlock()->getParentOp());
      }))
    return true;
  for (scf::ForOp loop : loops)
    if (place == loop.getInductionVar()) {
      numbering.insert(loop);
      auto begin = loop.getLowerBound().getDefiningOp<memref::LoadOp>();
      return !begin ||
             addNumbering(begin.getIndices().front(), loops, numbering);
    }
  Operation *op = place.getDefiningOp();
  return isa_and_nonnull<arith::AddIOp, arith::MulIOp, arith::ConstantOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return addNumbering(operand, loops, numbering);
         });
}

Bound SizeBounds::countVisits(ArrayRef<scf::ForOp> loops) {
  Bound visits = SizeBound(1);
  SmallPtrSet<Operation *, 4> counted;
  for (scf::ForOp loop : llvm::reverse(loops)) {
    if (counted.contains(loop))
      continue;
    Value place = getSegments(loop);
    if (!place) {
      std::optional<int64_t> step = getConstantIntValue(loop.getStep());
      if (!step || *step < 1)
        return std::nullopt;
      visits = multiply(visits, get(loop.getUpperBound()));
      continue;
    }
    visits = multiply(visits, countEntries(loop));
    SmallPtrSet<Operation *, 4> numbering;
    if (addNumbering(place, loops, numbering))
      counted.insert(numbering.begin(), numbering.end());
  }
  return visits;
}

bool SizeBounds::addIncrease(Value next, Value carried,
                             SmallVectorImpl<scf::ForOp> &loops,
                             SizeBound &total) {
  if (next == carried)
    return true;
  if (auto sum = next.getDefiningOp<arith::AddIOp>()) {
    Bound visits = multiply(countVisits(loops), get(sum.getRhs()));
    if (!visits || !addIncrease(sum.getLhs(), carried, loops, total))
      return false;
    total = total + *visits;
    return true;
  }
  auto result = dyn_cast<OpResult>(next);
  if (!result)
    return false;
  unsigned number = result.getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(result.getOwner())) {
    if (!addIncrease(loop.getInitArgs()[number], carried, loops, total))
      return false;
    loops.push_back(loop);
    bool isKnown = addIncrease(loop.getYieldedValues()[number],
                               loop.getRegionIterArg(number), loops, total);
    loops.pop_back();
    return isKnown;
  }
  if (auto branch = dyn_cast<scf::IfOp>(result.getOwner())) {
    Value both[] = {branch.thenYield().getOperand(number),
                    branch.elseYield().getOperand(number)};
    // What one branch adds to what the other leaves as it is.
    for (int kept : {0, 1}) {
      SizeBound increase;
      if (branch->isAncestor(both[kept].getParentBlock()->getParentOp()) ||
          !addIncrease(both[1 - kept], both[kept], loops, increase))
        continue;
      total = total + increase;
      return addIncrease(both[kept], carried, loops, total);
    }
    return llvm::all_of(both, [&](Value value) {
      return addIncrease(value, carried, loops, total);
    });
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Bound SizeBounds::getElementCount(Value counts, Value level) {
  std::optional<int64_t> wanted = getConstantIntValue(level);
  if (!wanted)
    return std::nullopt;
  for (Operation *user : counts.getUsers()) {
    auto op = dyn_cast<CountPositionsOp>(user);
    if (!op || op.getCounts() != counts)
      continue;
    Bound entries = getExtent(op.getCoordinates(), 0);
    Bound elements = SizeBound(1);
    for (auto [number, type] :
         llvm::enumerate(op.getEncoding().getLvlTypes())) {
      const LevelFormatInfo &format = getFormat(type);
      if (format.storesAll())
        elements = multiply(elements, get(op.getExtents()[number]));
      else if (format.isPacked())
        elements = multiply(elements, SizeBound(format.elements));
      else
        elements = entries;
      if (static_cast<int64_t>(number) == *wanted)
        return elements;
    }
  }
  return std::nullopt;
}

/// Whether a loop carries `sum` from 0 on, and adds elements of `counters` to
/// it.
static bool isSumOf(Value sum, Value counters) {
  auto argument = dyn_cast<BlockArgument>(sum);
  auto loop = argument
                  ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                  : scf::ForOp();
  OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
  if (!init || getConstantIntValue(init->get()) != 0)
    return false;
  auto next = loop.getTiedLoopYieldedValue(argument)
                  ->get()
                  .getDefiningOp<arith::AddIOp>();
  return next && llvm::any_of(next->getOperands(), [&](Value term) {
           auto load = term.getDefiningOp<memref::LoadOp>();
           return load && load.getMemRef() == counters;
         });
}

Bound SizeBounds::countIncreases(memref::LoadOp load) {
  Value counters = load.getMemRef();
  if (!counters.getDefiningOp<memref::AllocOp>())
    return std::nullopt;
  Bound total = SizeBound();
  bool isAddedUp = false;
  for (Operation *user : counters.getUsers()) {
    auto copy = dyn_cast<memref::CopyOp>(user);
    if (isa<memref::LoadOp, memref::DimOp, memref::DeallocOp, func::ReturnOp>(
            user) ||
        (copy && copy.getTarget() != counters))
      continue;
    auto store = dyn_cast<memref::StoreOp>(user);
    Operation *place = load->getBlock()->findAncestorOpInBlock(*user);
    if (!store || !place)
      return std::nullopt;
    Value value = store.getValue();
    if (!place->isBeforeInBlock(load) || getConstantIntValue(value) == 0)
      continue;
    // Added up once: again would be sums of sums.
    if (isSumOf(value, counters)) {
      if (std::exchange(isAddedUp, true))
        return std::nullopt;
      continue;
    }
    auto sum = value.getDefiningOp<arith::AddIOp>();
    auto before =
        sum ? sum.getLhs().getDefiningOp<memref::LoadOp>() : memref::LoadOp();
    if (!before || before.getMemRef() != counters ||
        before.getIndices() != store.getIndices())
      return std::nullopt;
    SmallVector<scf::ForOp> loops;
    for (Operation *op = store->getParentOp(); op != place->getParentOp();
         op = op->getParentOp()) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        loops.push_back(loop);
      else if (!isa<scf::IfOp>(op))
        return std::nullopt;
    }
    std::reverse(loops.begin(), loops.end());
    total = add(total, multiply(countVisits(loops), get(sum.getRhs())));
  }
  return total;
}

Bound SizeBounds::getOfResult(OpResult result) {
  Operation *op = result.getOwner();
  unsigned number = result.getResultNumber();
  return llvm::TypeSwitch<Operation *, Bound>(op)
      .Case([&](memref::DimOp dim) -> Bound {
        std::optional<int64_t> place = dim.getConstantIndex();
        return place ? getExtent(dim.getSource(), *place) : std::nullopt;
      })
      .Case([&](arith::IndexCastOp cast) { return get(cast.getIn()); })
      .Case([&](arith::AddIOp sum) {
        return add(get(sum.getLhs()), get(sum.getRhs()));
      })
      .Case([&](arith::MulIOp product) {
        return multiply(get(product.getLhs()), get(product.getRhs()));
      })
      .Case<arith::SubIOp, arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp>(
          [&](Operation *op) { return get(op->getOperand(0)); })
      .Case<arith::MinSIOp, arith::MinUIOp>([&](Operation *op) {
        Bound first = get(op->getOperand(0));
        Bound second = get(op->getOperand(1));
        return !first || (second && second->isAtMost(*first)) ? second : first;
      })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([&](Operation *op) {
        return getLarger(get(op->getOperand(0)), get(op->getOperand(1)));
      })
      .Case([&](arith::SelectOp select) {
        return getLarger(get(select.getTrueValue()),
                         get(select.getFalseValue()));
      })
      .Case([&](memref::LoadOp load) -> Bound {
        if (load.getIndices().size() != 1)
          return std::nullopt;
        Bound elements =
            getElementCount(load.getMemRef(), load.getIndices().front());
        return elements ? elements : countIncreases(load);
      })
      .Case([&](scf::IfOp branch) {
        return getLarger(get(branch.thenYield().getOperand(number)),
                         get(branch.elseYield().getOperand(number)));
      })
      .Case([&](scf::ForOp loop) -> Bound {
        Bound first = get(loop.getInitArgs()[number]);
        SizeBound increase;
        SmallVector<scf::ForOp> loops = {loop};
        if (!first ||
            !addIncrease(loop.getYieldedValues()[number],
                         loop.getRegionIterArg(number), loops, increase))
          return std::nullopt;
        return *first + increase;
      })
      .Default([](Operation *) -> Bound { return std::nullopt; });
}

Bound SizeBounds::get(Value value) {
  if (std::optional<int64_t> number = getConstantIntValue(value))
    return *number >= 0 ? Bound(SizeBound(*number)) : std::nullopt;
  if (const EntryArgument *argument = getArgument(value))
    return argument->kind == EntryArgument::Extent
               ? Bound(name(getExtentName(argument->number, argument->index)))
               : std::nullopt;
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return std::nullopt;
  // What grows by itself from one iteration to the next has no bound.
  auto [known, isNew] = bounds.try_emplace(value, std::nullopt);
  if (!isNew)
    return known->second;
  Bound bound = getOfResult(result);
  bounds[value] = bound;
  return bound;
}
