//===- FuseUpdates.cpp - updates of rows in one pass ----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows of a table that no cache holds are what an update waits for. Each is
// read and written once in a fused update, while the rows after it are on their
// way.
//
//===----------------------------------------------------------------------===//

#include "FuseUpdates.h"
#include "SparseAutograd/Analysis/ScalarTerms.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseEncodings.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {

/// Updates of one pattern, and what computes the changes for them alone.
class UpdateGroup {
public:
  UpdateGroup(linalg::GenericOp first, Value origin, SparsePatterns &patterns)
      : patterns(patterns), origin(origin), updates({first}) {}

  /// Adds `update` if it can run in the place of all of them, which is that of
  /// the last.
  bool add(linalg::GenericOp update);

  /// Replaces the group by one op, if there is something to fuse.
  std::optional<FusedUpdate> fuse(RewriterBase &rewriter);

private:
  bool isInit(Value value) const {
    return llvm::any_of(updates, [&](linalg::GenericOp update) {
      return update.getDpsInits().front() == value;
    });
  }
  /// Whether `op` reads the tables that are updated at the visited element
  /// only.
  bool readsTablesInPlace(linalg::LinalgOp op) const;
  /// The operand that has the pattern of the result, if `op` computes values at
  /// the pattern of the group, element by element.
  OpOperand *getChangePattern(Operation *op) const;
  /// Finds the ops that compute changes that nothing else reads.
  void findChanges();
  Value getPattern() const;

  SparsePatterns &patterns;
  Value origin;
  /// In the order of the block, as are the changes.
  SmallVector<linalg::GenericOp> updates;
  SmallVector<linalg::LinalgOp> changes;
};

} // namespace

static bool isElementwise(linalg::LinalgOp op) {
  return op->getNumResults() == 1 && op.getNumReductionLoops() == 0 &&
         op.getNumLoops() != 0 &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity();
}

/// Whether the innermost loop over what is stored is over a dense level.
static bool storesRows(RankedTensorType type) {
  auto encoding = sparse_tensor::getSparseTensorEncoding(type);
  return getFormat(encoding.getLvlTypes().back()).storesAll() &&
         encoding.isIdentity();
}

/// The origin of the row-sparse operands of an elementwise op that leaves its
/// dense init as it is where they store nothing; null if `op` is not one.
static Value getUpdatePattern(linalg::GenericOp op, SparsePatterns &patterns) {
  if (!isElementwise(op) || isSparse(op->getResultTypes().front()))
    return {};
  Value origin;
  llvm::SmallBitVector absent(op->getNumOperands());
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto type = dyn_cast<RankedTensorType>(input->get().getType());
    if (!type || !isSparse(type))
      continue;
    Value next = patterns.originOf(input->get());
    if ((origin && origin != next) || !storesRows(type) ||
        !op.getMatchingIndexingMap(input).isIdentity())
      return {};
    origin = next;
    absent.set(input->getOperandNumber());
  }
  ScalarTerms terms(op);
  unsigned init = op.getDpsInitOperand(0)->getOperandNumber();
  if (!origin || !terms.isArgument(terms.getYields(absent).front(), init))
    return {};
  return origin;
}

bool UpdateGroup::readsTablesInPlace(linalg::LinalgOp op) const {
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    return !isInit(input->get()) ||
           op.getMatchingIndexingMap(input).isIdentity();
  });
}

bool UpdateGroup::add(linalg::GenericOp update) {
  Block *block = update->getBlock();
  for (linalg::GenericOp earlier : updates)
    for (Operation *user : earlier->getUsers()) {
      Operation *inBlock = block->findAncestorOpInBlock(*user);
      if (inBlock == update || inBlock->isBeforeInBlock(update))
        return false;
    }
  // A table has one new value.
  if (isInit(update.getDpsInits().front()))
    return false;
  updates.push_back(update);
  if (llvm::all_of(updates, [&](linalg::GenericOp member) {
        return readsTablesInPlace(member);
      }))
    return true;
  updates.pop_back();
  return false;
}

OpOperand *UpdateGroup::getChangePattern(Operation *op) const {
  auto change = dyn_cast_or_null<linalg::LinalgOp>(op);
  if (!isa_and_nonnull<linalg::GenericOp, SampledGenericOp>(op) ||
      op->getBlock() != updates.front()->getBlock() || !isElementwise(change) ||
      !isSparse(op->getResultTypes().front()) ||
      patterns.originOf(op->getResult(0)) != origin ||
      change.payloadUsesValueFromOperand(change.getDpsInitOperand(0)) ||
      !readsTablesInPlace(change))
    return nullptr;
  return isa<SampledGenericOp>(op) ? change.getDpsInitOperand(0)
                                   : patterns.getPatternSource(change);
}

void UpdateGroup::findChanges() {
  llvm::SetVector<Operation *> found;
  SmallVector<linalg::LinalgOp> work(updates.begin(), updates.end());
  while (!work.empty()) {
    linalg::LinalgOp op = work.pop_back_val();
    for (OpOperand *input : op.getDpsInputOperands()) {
      Operation *producer = input->get().getDefiningOp();
      if (op.getMatchingIndexingMap(input).isIdentity() &&
          getChangePattern(producer) && found.insert(producer))
        work.push_back(cast<linalg::LinalgOp>(producer));
    }
  }
  // What something else reads is computed anyway, and so are its operands.
  auto isReadElsewhere = [&](Operation *op) {
    return llvm::any_of(op->getUses(), [&](OpOperand &use) {
      if (isa<tensor::DimOp>(use.getOwner()))
        return false;
      auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
      return !user ||
             (!found.contains(user) && !llvm::is_contained(updates, user)) ||
             !user.isDpsInput(&use) ||
             !user.getMatchingIndexingMap(&use).isIdentity();
    });
  };
  while (found.remove_if(isReadElsewhere)) {
  }
  changes.clear();
  for (Operation *op : found)
    changes.push_back(cast<linalg::LinalgOp>(op));
  llvm::sort(changes, [](linalg::LinalgOp a, linalg::LinalgOp b) {
    return a->isBeforeInBlock(b);
  });
}

/// A value of the pattern that is not computed in the group.
Value UpdateGroup::getPattern() const {
  linalg::GenericOp update = updates.front();
  Value value;
  for (OpOperand *input : update.getDpsInputOperands())
    if (isSparse(input->get().getType()))
      value = input->get();
  while (Operation *producer = value.getDefiningOp()) {
    if (!llvm::is_contained(changes, producer))
      break;
    value = getChangePattern(producer)->get();
  }
  return value;
}

std::optional<FusedUpdate> UpdateGroup::fuse(RewriterBase &rewriter) {
  findChanges();
  if (updates.size() == 1 && changes.empty())
    return std::nullopt;
  linalg::GenericOp last = updates.back();
  SmallVector<Value> inputs = {getPattern()}, inits;
  SmallVector<AffineMap> maps = {
      rewriter.getMultiDimIdentityMap(last.getNumLoops())};
  for (linalg::GenericOp update : updates)
    inits.push_back(update.getDpsInits().front());
  SmallVector<linalg::LinalgOp> members(changes);
  llvm::append_range(members, updates);
  // The input of the fused op that an operand of a member is; nothing for what
  // is updated, or computed, in the op.
  auto find = [&](linalg::LinalgOp op, OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    for (auto [number, value] : llvm::enumerate(inputs))
      if (value == input->get() && maps[number] == map)
        return number;
    return inputs.size();
  };
  auto isInside = [&](OpOperand *input) {
    Operation *producer = input->get().getDefiningOp();
    return isInit(input->get()) ||
           (producer && llvm::is_contained(changes, producer));
  };
  for (linalg::LinalgOp op : members)
    for (OpOperand *input : op.getDpsInputOperands())
      if (!isInside(input) && find(op, input) == inputs.size()) {
        inputs.push_back(input->get());
        maps.push_back(op.getMatchingIndexingMap(input));
      }
  maps.append(inits.size(), maps.front());

  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(last);
  SmallVector<Location> locations;
  for (linalg::LinalgOp op : members)
    locations.push_back(op.getLoc());
  auto fused = linalg::GenericOp::create(
      rewriter, rewriter.getFusedLoc(locations), TypeRange(ValueRange(inits)),
      inputs, inits, maps, last.getIteratorTypesArray(),
      [&](OpBuilder &builder, Location loc, ValueRange elements) {
        llvm::DenseMap<Value, Value> computed;
        for (auto [number, init] : llvm::enumerate(inits))
          computed[init] = elements[inputs.size() + number];
        SmallVector<Value> yields;
        for (linalg::LinalgOp op : members) {
          IRMapping mapping;
          for (OpOperand &operand : op->getOpOperands()) {
            Value value = operand.get();
            bool known = !op.isDpsInput(&operand) || isInside(&operand);
            mapping.map(op.getMatchingBlockArgument(&operand),
                        known ? computed.lookup(value)
                              : elements[find(op, &operand)]);
          }
          Block *body = op.getBlock();
          for (Operation &inner : body->without_terminator())
            builder.clone(inner, mapping);
          Value yielded =
              mapping.lookupOrDefault(body->getTerminator()->getOperand(0));
          computed[op->getResult(0)] = yielded;
          if (llvm::is_contained(updates, op))
            yields.push_back(yielded);
        }
        linalg::YieldOp::create(builder, loc, yields);
      });
  // Nothing but extents is left to be asked for: those of the pattern.
  for (linalg::LinalgOp change : llvm::reverse(changes))
    rewriter.replaceAllUsesWith(change->getResult(0),
                                getChangePattern(change)->get());
  for (auto [update, result] : llvm::zip_equal(updates, fused.getResults()))
    rewriter.replaceOp(update, result);
  for (linalg::LinalgOp change : llvm::reverse(changes))
    rewriter.eraseOp(change);
  return FusedUpdate{fused, /*pattern=*/0};
}

SmallVector<FusedUpdate>
sparse_autograd::fuseUpdates(RewriterBase &rewriter, Block &block,
                             SparsePatterns &patterns) {
  SmallVector<std::unique_ptr<UpdateGroup>> groups;
  // The group of a pattern that is added to.
  llvm::DenseMap<Value, UpdateGroup *> open;
  for (auto op : block.getOps<linalg::GenericOp>()) {
    Value origin = getUpdatePattern(op, patterns);
    if (!origin)
      continue;
    UpdateGroup *&group = open[origin];
    if (group && group->add(op))
      continue;
    groups.push_back(std::make_unique<UpdateGroup>(op, origin, patterns));
    group = groups.back().get();
  }
  SmallVector<FusedUpdate> fused;
  for (std::unique_ptr<UpdateGroup> &group : groups)
    if (std::optional<FusedUpdate> update = group->fuse(rewriter))
      fused.push_back(*update);
  return fused;
}
