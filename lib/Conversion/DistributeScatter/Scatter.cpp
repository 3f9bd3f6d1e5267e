//===- Scatter.cpp - loops that write to rows that a list names -----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scatter.h"

#include "../Accesses.h"
#include "../Segments.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

/// Whether `op` does nothing but compute, access buffers as getAccesses knows,
/// and run the loops and branches in it.
static bool doesOnlyAccess(Operation *op) {
  return op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
         isMemoryEffectFree(op) ||
         isa<memref::LoadOp, memref::StoreOp, VectorTransferOpInterface>(op);
}

/// The load of `index`, if that is the element of a list at place `entry`.
static memref::LoadOp getEntryLoad(Value index, Value entry) {
  auto load = getStoredNumber(index).getDefiningOp<memref::LoadOp>();
  if (!load || load.getIndices().size() != 1 ||
      load.getIndices().front() != entry)
    return nullptr;
  return load;
}

static bool isUnitLoop(scf::ForOp loop) {
  return loop.getInitArgs().empty() && matchPattern(loop.getStep(), m_One());
}

/// Whether `value` is a multiple of `factor`.
static bool isMultipleOf(Value value, int64_t factor) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant % factor == 0;
  // x - x % c, and its sum with a multiple.
  if (auto difference = value.getDefiningOp<arith::SubIOp>())
    if (auto rest = difference.getRhs().getDefiningOp<arith::RemUIOp>();
        rest && rest.getLhs() == difference.getLhs())
      return isMultipleOf(rest.getRhs(), factor);
  return false;
}

/// Whether `lower` is `upper` or less, both of them ends of strips.
static bool isAtMost(Value lower, Value upper) {
  std::optional<int64_t> low = getConstantIntValue(lower),
                         high = getConstantIntValue(upper);
  if (lower == upper || (low && high && *low <= *high))
    return true;
  // x - x % c is at most x, and at most x - x % d if d divides c.
  auto difference = lower.getDefiningOp<arith::SubIOp>();
  auto rest = difference ? difference.getRhs().getDefiningOp<arith::RemUIOp>()
                         : arith::RemUIOp();
  if (!rest || rest.getLhs() != difference.getLhs())
    return false;
  if (difference.getLhs() == upper)
    return true;
  auto other = upper.getDefiningOp<arith::SubIOp>();
  auto otherRest =
      other ? other.getRhs().getDefiningOp<arith::RemUIOp>() : arith::RemUIOp();
  std::optional<int64_t> divisor =
      otherRest ? getConstantIntValue(otherRest.getRhs()) : std::nullopt;
  return divisor && *divisor > 0 && other.getLhs() == difference.getLhs() &&
         otherRest.getLhs() == other.getLhs() &&
         isMultipleOf(rest.getRhs(), *divisor);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// The loop in `body` over the entries of row `row`, if all other loops that it
/// has are in that.
static scf::ForOp findEntries(Block &body, Value row, Value &positions) {
  auto loops = body.getOps<scf::ForOp>();
  if (!llvm::hasSingleElement(loops))
    return nullptr;
  scf::ForOp entries = *loops.begin();
  positions = getPositions(entries.getInductionVar(), row);
  return positions && isUnitLoop(entries) ? entries : nullptr;
}

/// Finds the loops of the parts of `scatter` if its loop is over rows.
static bool findParts(Scatter &scatter) {
  Value row = scatter.loop.getInductionVar();
  for (auto nested : scatter.loop.getOps<scf::ForOp>()) {
    ScatterPart part;
    Value positions = getPositions(nested.getInductionVar(), row);
    if (positions && isUnitLoop(nested)) {
      part.entries = nested;
    } else if (nested.getInitArgs().empty()) {
      part.strips = nested;
      part.entries = findEntries(*nested.getBody(), row, positions);
    }
    if (!part.entries || (scatter.positions && scatter.positions != positions))
      return false;
    scatter.positions = positions;
    scatter.parts.push_back(part);
  }
  return true;
}

/// Finds what names the rows that `write` writes in `part`.
static bool findCoordinate(const Access &write, Scatter &scatter,
                           ScatterPart &part) {
  // To write one element takes no longer than to look who owns it.
  size_t columns = std::max<size_t>(1, write.numVectorDims);
  if (write.indices.size() <= columns)
    return false;
  for (auto [dim, index] : llvm::enumerate(write.indices.drop_back(columns))) {
    memref::LoadOp load = getEntryLoad(index, part.entries.getInductionVar());
    if (!load || !scatter.loop.isDefinedOutsideOfLoop(load.getMemref()) ||
        (scatter.buffer &&
         (load.getMemref() != scatter.parts.front().load.getMemref() ||
          load->getParentOp() != part.entries)))
      continue;
    part.load = load;
    part.coordinate = index;
    if (!scatter.buffer) {
      scatter.buffer = write.memref;
      scatter.dim = dim;
    }
    return scatter.loop.isDefinedOutsideOfLoop(write.memref);
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

/// The columns of strip `access`, a vector, are those from the variable of the
/// loop over strips on, as many as a step of that, or as there are left.
static bool isOfStrip(const Access &access, ScatterPart &part) {
  if (!part.strips)
    return true;
  auto transfer = dyn_cast<VectorTransferOpInterface>(access.op);
  std::optional<int64_t> step = getConstantIntValue(part.strips.getStep());
  if (!transfer || access.numVectorDims != 1 || !step ||
      transfer.getVectorType().getNumElements() != *step ||
      access.indices.back() != part.strips.getInductionVar())
    return false;
  Value mask = transfer.getMask();
  if (!mask)
    return isMultipleOf(part.strips.getLowerBound(), *step) &&
           isMultipleOf(part.strips.getUpperBound(), *step);
  auto left = mask.getDefiningOp<vector::CreateMaskOp>();
  auto count = left ? left.getOperand(0).getDefiningOp<arith::SubIOp>()
                    : arith::SubIOp();
  return count && count.getLhs() == part.strips.getUpperBound() &&
         count.getRhs() == part.strips.getInductionVar();
}

/// Whether the columns of each part begin where those of the part before end.
static bool areSideBySide(MutableArrayRef<ScatterPart> parts) {
  for (unsigned number = 1; number < parts.size(); ++number) {
    ScatterPart &before = parts[number - 1], &part = parts[number];
    if (!before.strips || !part.strips ||
        before.strips.getUpperBound() != part.strips.getLowerBound() ||
        !isAtMost(before.strips.getUpperBound(), part.strips.getUpperBound()))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

namespace {
/// Looks at all accesses of a scatter.
class AccessCheck {
public:
  AccessCheck(Scatter &scatter, AliasAnalysis &aliases)
      : scatter(scatter), accesses(getAccesses(scatter.loop)),
        aliases(aliases) {}

  bool findCoordinates();
  bool accessesOwnRows();

private:
  ScatterPart *getPart(Operation *op);
  bool isOfRow(const Access &access, unsigned dim);
  bool isAccessedByRows(const Access &write);

  Scatter &scatter;
  Accesses accesses;
  AliasAnalysis &aliases;
};
} // namespace

/// The part whose entries `op` is done for; null if it is done for a row.
ScatterPart *AccessCheck::getPart(Operation *op) {
  for (ScatterPart &part : scatter.parts)
    if (part.entries->isProperAncestor(op))
      return &part;
  return nullptr;
}

bool AccessCheck::findCoordinates() {
  for (ScatterPart &part : scatter.parts) {
    auto *write = llvm::find_if(accesses, [&](const Access &access) {
      return access.isWrite && getPart(access.op) == &part;
    });
    if (write == accesses.end() || !findCoordinate(*write, scatter, part))
      return false;
  }
  return true;
}

/// Whether `access` is of the row that a coordinate names, as index `dim`, and
/// of the columns of its part.
bool AccessCheck::isOfRow(const Access &access, unsigned dim) {
  ScatterPart *part = getPart(access.op);
  return part && dim + access.numVectorDims < access.indices.size() &&
         access.indices[dim] == part->coordinate && isOfStrip(access, *part);
}

/// Whether all that overlaps with what `write` writes is accessed at the rows
/// that coordinates name alone.
bool AccessCheck::isAccessedByRows(const Access &write) {
  if (!scatter.loop.isDefinedOutsideOfLoop(write.memref))
    return false;
  auto dims = llvm::seq<unsigned>(write.indices.size());
  auto dim =
      llvm::find_if(dims, [&](unsigned dim) { return isOfRow(write, dim); });
  return dim != dims.end() && llvm::all_of(accesses, [&](const Access &access) {
           return !mayOverlap(aliases, access.memref, write.memref) ||
                  (access.memref == write.memref && isOfRow(access, *dim));
         });
}

bool AccessCheck::accessesOwnRows() {
  return llvm::all_of(accesses, [&](const Access &access) {
    return !access.isWrite || isAccessedByRows(access);
  });
}

std::optional<Scatter> Scatter::match(scf::ForOp loop, AliasAnalysis &aliases) {
  Scatter scatter;
  scatter.loop = loop;
  if (!isUnitLoop(loop) || loop.getBody()
                               ->walk([](Operation *op) {
                                 return WalkResult(success(doesOnlyAccess(op)));
                               })
                               .wasInterrupted())
    return std::nullopt;
  if (!findParts(scatter) || scatter.parts.empty()) {
    ScatterPart whole;
    whole.entries = loop;
    scatter.positions = nullptr;
    scatter.parts.assign(1, whole);
  }
  AccessCheck check(scatter, aliases);
  if (!areSideBySide(scatter.parts) || !check.findCoordinates() ||
      !check.accessesOwnRows())
    return std::nullopt;
  return scatter;
}
