//===- VerifyPhase.cpp - the pass sparse-autograd-verify-phase ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares a module with the contents that a phase leaves (PhaseContents). The
// pipeline has it at the end of each phase, with `verify-phases`. Passes that
// follow take what is verified here for granted.
//
//===----------------------------------------------------------------------===//

#include "PhaseContents.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseEncodings.h"
#include "SparseAutograd/Pipelines/Passes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSet.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_VERIFYPHASE
#include "SparseAutograd/Pipelines/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

namespace {
/// Looks what is in a module.
class PhaseVerifier {
public:
  explicit PhaseVerifier(const PhaseContents &contents) : contents(contents) {
    for (ArrayRef<StringLiteral> group : contents.ops)
      present.insert_range(group);
    for (StringRef name : contents.replaced)
      replaced.insert(name);
    for (StringRef name : contents.marks)
      marks.insert(name);
    for (const PhaseContents &phase : getPhaseContents())
      for (ArrayRef<StringLiteral> group : phase.ops)
        for (StringRef name : group)
          known.insert(name.split('.').first);
  }

  LogicalResult verify(Operation *op);

private:
  /// Whether the phase leaves ops like `op`.
  bool isPresent(Operation *op) const {
    StringRef name = op->getName().getStringRef();
    StringRef dialect = op->getName().getDialectNamespace();
    if (replaced.contains(name))
      return false;
    return present.contains(dialect) || present.contains(name) ||
           (contents.hasForeignOps && !known.contains(dialect));
  }
  LogicalResult verifyType(Operation *op, Type type);
  InFlightDiagnostic report(InFlightDiagnostic diagnostic, StringRef leaves) {
    return std::move(diagnostic)
           << " at the end of the phase '" << contents.phase
           << "', which leaves " << leaves
           << "; this is a fault of the compiler, not of the program";
  }

  const PhaseContents &contents;
  llvm::StringSet<> present, replaced, marks;
  /// Dialects that some phase names.
  llvm::StringSet<> known;
  llvm::DenseSet<Type> verified;
};
} // namespace

static std::optional<std::pair<TypeKind, StringRef>> getKind(Type type) {
  if (isSparse(type))
    return std::pair(TypeKind::SparseTensor, "no sparse tensors");
  if (isa<TensorType>(type))
    return std::pair(TypeKind::Tensor, "no tensors");
  if (isa<BaseMemRefType>(type))
    return std::pair(TypeKind::MemRef, "no buffers");
  return std::nullopt;
}

LogicalResult PhaseVerifier::verifyType(Operation *op, Type type) {
  if (!verified.insert(type).second)
    return success();
  auto kind = getKind(type);
  if (!kind || llvm::is_contained(contents.types, kind->first))
    return success();
  return report(op->emitOpError("has type ") << type, kind->second);
}

/// A part that `schedule` has and `left` has not; empty if there is none.
static StringRef getOtherPart(const Schedule &schedule, const Schedule &left) {
  const Schedule none;
  if (schedule.isParallel && !left.isParallel)
    return "parallel";
  if (schedule.isOverEntries && !left.isOverEntries)
    return "entries";
  if (schedule.lanes != none.lanes && left.lanes == none.lanes)
    return "lanes";
  if (schedule.vector != none.vector && left.vector == none.vector)
    return "vector";
  return {};
}

LogicalResult PhaseVerifier::verify(Operation *op) {
  if (!isPresent(op))
    return report(op->emitOpError("is left"), "no such op");
  if (StringRef part = getOtherPart(getSchedule(op), contents.schedule);
      !part.empty())
    return report(op->emitOpError("has a schedule with '") << part << "'",
                  "no such schedules");
  for (NamedAttribute attribute : op->getDiscardableAttrs()) {
    StringRef name = attribute.getName();
    if (name == scheduleAttrName)
      continue;
    if (isa_and_nonnull<SparseAutogradDialect>(attribute.getNameDialect()) &&
        !SparseAutogradDialect::isForPrograms(name) && !marks.contains(name))
      return report(op->emitOpError("has the attribute '") << name << "'",
                    "no such mark");
  }
  for (Type type : op->getResultTypes())
    if (failed(verifyType(op, type)))
      return failure();
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Type type : block.getArgumentTypes())
        if (failed(verifyType(op, type)))
          return failure();
  if (auto function = dyn_cast<FunctionOpInterface>(op))
    for (Type type : llvm::concat<const Type>(function.getArgumentTypes(),
                                              function.getResultTypes()))
      if (failed(verifyType(op, type)))
        return failure();
  return success();
}

namespace {
struct VerifyPhasePass
    : sparse_autograd::impl::VerifyPhaseBase<VerifyPhasePass> {
  using VerifyPhaseBase::VerifyPhaseBase;

  LogicalResult initialize(MLIRContext *context) override {
    ArrayRef<PhaseContents> phases = getPhaseContents();
    const auto *found = llvm::find_if(
        phases, [&](const auto &each) { return each.phase == phase; });
    if (found != phases.end()) {
      contents = found;
      return success();
    }
    InFlightDiagnostic diagnostic = emitError(UnknownLoc::get(context))
                                    << "there is no phase '" << phase
                                    << "'; phases are ";
    llvm::interleaveComma(phases, diagnostic, [&](const auto &each) {
      diagnostic << "'" << each.phase << "'";
    });
    return diagnostic;
  }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    PhaseVerifier verifier(*contents);
    WalkResult result = getOperation()->walk<WalkOrder::PreOrder>(
        [&](Operation *op) { return WalkResult(verifier.verify(op)); });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  const PhaseContents *contents = nullptr;
};
} // namespace
