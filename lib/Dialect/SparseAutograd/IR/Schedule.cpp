//===- Schedule.cpp - schedules of loops ----------------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text form of `#sparse_autograd.schedule`, what it may say and where it
// may stand.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "VerifySchedule.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/CallInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

Schedule sparse_autograd::getSchedule(Operation *op) {
  auto attribute =
      dyn_cast_or_null<ScheduleAttr>(op->getDiscardableAttr(scheduleAttrName));
  if (!attribute)
    return {};
  return {attribute.getParallel(), attribute.getEntries(), attribute.getLanes(),
          attribute.getVector()};
}

void sparse_autograd::setSchedule(Operation *op, const Schedule &schedule) {
  if (schedule == Schedule()) {
    op->removeDiscardableAttr(scheduleAttrName);
    return;
  }
  op->setDiscardableAttr(
      scheduleAttrName, ScheduleAttr::get(op->getContext(), schedule.isParallel,
                                          schedule.isOverEntries,
                                          schedule.lanes, schedule.vector));
}

void sparse_autograd::setParallel(Operation *op) {
  Schedule schedule = getSchedule(op);
  schedule.isParallel = true;
  setSchedule(op, schedule);
}

void sparse_autograd::setOverEntries(Operation *op) {
  Schedule schedule = getSchedule(op);
  schedule.isOverEntries = true;
  setSchedule(op, schedule);
}

void sparse_autograd::dropSchedules(Operation *root) {
  root->walk(
      [](Operation *op) { op->removeDiscardableAttr(scheduleAttrName); });
}

void sparse_autograd::takeAttributes(Operation *op, Operation *replaced) {
  op->setDiscardableAttrs(replaced->getDiscardableAttrDictionary());
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  Schedule schedule;
  auto parsePart = [&]() -> ParseResult {
    SMLoc partLoc = parser.getCurrentLocation();
    StringRef part;
    if (parser.parseKeyword(&part))
      return failure();
    bool isRepeated = false;
    if (part == "parallel") {
      isRepeated = std::exchange(schedule.isParallel, true);
    } else if (part == "entries") {
      isRepeated = std::exchange(schedule.isOverEntries, true);
    } else if (part == "lanes") {
      isRepeated = schedule.lanes != 0;
      schedule.lanes = asLong;
      if (succeeded(parser.parseOptionalEqual())) {
        if (parser.parseInteger(schedule.lanes))
          return failure();
        if (schedule.lanes < 1)
          return parser.emitError(partLoc,
                                  "expected a positive number of lanes");
      }
    } else if (part == "vector") {
      isRepeated = schedule.vector != 1;
      if (parser.parseEqual() || parser.parseInteger(schedule.vector))
        return failure();
    } else {
      return parser.emitError(partLoc)
             << "unknown part '" << part
             << "' of a schedule; there are 'parallel', 'entries', 'lanes' and "
                "'vector'";
    }
    if (isRepeated)
      return parser.emitError(partLoc)
             << "'" << part << "' is said twice in a schedule";
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parsePart))
    return {};
  return parser.getChecked<ScheduleAttr>(
      loc, parser.getContext(), schedule.isParallel, schedule.isOverEntries,
      schedule.lanes, schedule.vector);
}

void ScheduleAttr::print(AsmPrinter &printer) const {
  SmallVector<std::string> parts;
  if (getParallel())
    parts.push_back("parallel");
  if (getEntries())
    parts.push_back("entries");
  if (getLanes() == asLong)
    parts.push_back("lanes");
  else if (getLanes() != 0)
    parts.push_back("lanes = " + std::to_string(getLanes()));
  if (getVector() != 1)
    parts.push_back("vector = " + std::to_string(getVector()));
  printer << '<';
  llvm::interleaveComma(parts, printer);
  printer << '>';
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   bool parallel, bool entries, int64_t lanes,
                                   int64_t vector) {
  if (vector < 1)
    return emitError() << "a thread does " << vector
                       << " iterations at once; it does 2 or more";
  if (lanes < asLong)
    return emitError() << "expected a positive number of lanes";
  if (!parallel && !entries && lanes == 0 && vector == 1)
    return emitError() << "a schedule says nothing; it has 'parallel', "
                          "'entries', 'lanes' or 'vector = N' with N > 1";
  return success();
}

//===----------------------------------------------------------------------===//
// Where a schedule stands
//===----------------------------------------------------------------------===//

static InFlightDiagnostic report(Operation *op) {
  return op->emitOpError("has a schedule that ");
}

/// Whether the iterations of `op` may run at once.
static bool isParallel(Operation *op) {
  return isa<scf::ParallelOp>(op) || getSchedule(op).isParallel;
}

template <typename Predicate>
static bool isWithin(Operation *op, Predicate predicate) {
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp())
    if (predicate(parent))
      return true;
  return false;
}

static LogicalResult verifyLanes(scf::ForOp loop, const Schedule &schedule) {
  for (Type type : loop.getResultTypes())
    if (!type.isIntOrIndexOrFloat())
      return report(loop) << "says 'lanes', but carries a value of type "
                          << type << "; lanes combine scalars alone";
  if (isWithin(loop, [](Operation *op) { return getSchedule(op).lanes != 0; }))
    return report(loop)
           << "says 'lanes' within a loop that lanes share already";
  if (schedule.isParallel && !isWithin(loop, isParallel))
    return report(loop)
           << "says 'lanes', but lanes share loops within a parallel one";
  return success();
}

/// Checks that `length` iterations can be done at once of a loop with these
/// bounds.
static LogicalResult verifyVector(Operation *op, Value lower, Value upper,
                                  Value step, int64_t length) {
  if (!matchPattern(step, m_One()))
    return report(op) << "says 'vector', but the step is not 1";
  for (Value bound : {lower, upper}) {
    std::optional<int64_t> value = getConstantIntValue(bound);
    if (value && *value % length != 0)
      return report(op) << "says 'vector = " << length
                        << "', which does not divide the bound " << *value;
  }
  return success();
}

LogicalResult sparse_autograd::verifySchedule(Operation *op) {
  // Attributes are verified before the op that has them.
  if (failed(op->getName().verifyInvariants(op)))
    return failure();
  Schedule schedule = getSchedule(op);
  if (isa<CallOpInterface>(op)) {
    Schedule parallel;
    parallel.isParallel = true;
    if (schedule != parallel)
      return report(op) << "must be 'parallel' alone on a call";
    return success();
  }
  if (auto loop = dyn_cast<scf::ParallelOp>(op)) {
    Schedule vector;
    vector.vector = schedule.vector;
    if (schedule != vector)
      return report(op) << "must be 'vector' alone on an op that is parallel";
    return verifyVector(op, loop.getLowerBound().back(),
                        loop.getUpperBound().back(), loop.getStep().back(),
                        schedule.vector);
  }
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop)
    return report(op) << "stands on no loop; it belongs to an 'scf.for', an "
                         "'scf.parallel' or a call of an outlined body";
  if (schedule.lanes != 0 && failed(verifyLanes(loop, schedule)))
    return failure();
  if (schedule.vector == 1)
    return success();
  if (schedule.lanes == 0 && !schedule.isParallel)
    return report(op) << "says 'vector' of a loop that is neither parallel nor "
                         "shared by lanes";
  return verifyVector(op, loop.getLowerBound(), loop.getUpperBound(),
                      loop.getStep(), schedule.vector);
}
