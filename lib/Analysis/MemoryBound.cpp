//===- MemoryBound.cpp - memory that a function takes at most -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/MemoryBound.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Packing24.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseEncodings.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace sparse_autograd;

//===----------------------------------------------------------------------===//
// What is in use
//===----------------------------------------------------------------------===//

void MemoryBound::addPeak(SizeBound peak) {
  if (llvm::any_of(
          peaks, [&](const SizeBound &known) { return peak.isAtMost(known); }))
    return;
  llvm::erase_if(peaks,
                 [&](const SizeBound &known) { return known.isAtMost(peak); });
  peaks.push_back(std::move(peak));
}

bool MemoryBound::notePeak(std::optional<SizeBound> more) {
  if (more)
    addPeak(live + *more);
  return more.has_value();
}

/// What the runtime has allocated while it runs `op` (lib/Runtime/CPU).
static std::optional<SizeBound> getScratch(Operation &op, SizeBounds &sizes) {
  if (auto sort = dyn_cast<SortEntriesOp>(op)) {
    // A word and a number of each entry, twice, and how long words are; or a
    // counter of each of up to four times as many values.
    std::optional<SizeBound> entries =
        sizes.getExtent(sort.getCoordinates(), 0);
    std::optional<SizeBound> levels = sizes.getExtent(sort.getCoordinates(), 1);
    if (!entries || !levels)
      return std::nullopt;
    return *entries * SizeBound(32) + *levels * SizeBound(8);
  }
  // As much as the runtime's model of costs chooses.
  if (isa<Multiply24Op>(op))
    return std::nullopt;
  // A record of each level.
  if (auto count = dyn_cast<CountPositionsOp>(op))
    return SizeBound(64 * count.getEncoding().getLvlRank());
  if (auto store = dyn_cast<StorePositionsOp>(op))
    return SizeBound(64 * store.getEncoding().getLvlRank());
  return SizeBound(0);
}

/// Whether a function of the program is called: what that allocates is not
/// known. Those of the runtime have no body.
static bool callsProgram(Operation &op) {
  auto call = dyn_cast<CallOpInterface>(op);
  if (!call)
    return false;
  auto callee = dyn_cast_or_null<FunctionOpInterface>(call.resolveCallable());
  return !callee || !callee.isExternal();
}

bool MemoryBound::visitRegions(Operation &op, bool isParallel) {
  bool isLoop = isa<LoopLikeOpInterface>(op);
  bool isApart = isParallel || isa<scf::ParallelOp, scf::ForallOp>(op) ||
                 getSchedule(&op).isParallel;
  SizeBound before = live, after = live;
  for (Region &region : op.getRegions())
    for (Block &block : region) {
      live = before;
      if (!visit(block, isApart) || (isLoop && !(live == before)))
        return false;
      after = after.max(live);
    }
  live = after;
  return true;
}

bool MemoryBound::visit(Operation &op, bool isParallel) {
  if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
    // Blocks of a constant size come on top, of each thread.
    if (isParallel)
      return alloc.getType().hasStaticShape();
    std::optional<SizeBound> bytes = sizes.getBytes(alloc);
    if (!bytes)
      return false;
    live = live + *bytes;
    return notePeak();
  }
  if (auto dealloc = dyn_cast<memref::DeallocOp>(op)) {
    // What is released under a condition, or elsewhere, counts to the end.
    auto alloc = dealloc.getMemref().getDefiningOp<memref::AllocOp>();
    if (alloc && alloc->getBlock() == op.getBlock() && !isParallel)
      live = live - *sizes.getBytes(alloc);
    return true;
  }
  if (isa<memref::ReallocOp>(op) || callsProgram(op))
    return false;
  return notePeak(getScratch(op, sizes)) && visitRegions(op, isParallel);
}

bool MemoryBound::visit(Block &block, bool isParallel) {
  return llvm::all_of(block,
                      [&](Operation &op) { return visit(op, isParallel); });
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Bytes of a number in a list.
static int64_t getWidth(Type list) {
  Type element = cast<MemRefType>(list).getElementType();
  return element.isIndex() ? 8 : (element.getIntOrFloatBitWidth() + 7) / 8;
}

/// Replaces the lengths of lists in `peak`. In terms of their own, as many
/// copies of all lists of an argument as there are make its pattern. Else
/// coordinates are no more than values, and other lists no more than the bytes
/// of the pattern.
SizeBound MemoryBound::replaceLists(const SizeBound &peak) {
  struct List {
    EntryArgument argument;
    int64_t width, bytes;
  };
  std::map<unsigned, SmallVector<List>> lists;
  SizeBound result = peak;
  for (auto [argument, type] :
       llvm::zip_equal(arguments, function.getArgumentTypes())) {
    if (argument.kind != EntryArgument::Positions &&
        argument.kind != EntryArgument::Coordinates)
      continue;
    SizeBound length(SizeBounds::getListName(argument));
    auto term = peak.getTerms().find(length.getTerms().begin()->first);
    int64_t bytes = term == peak.getTerms().end() ? 0 : term->second;
    result = result - length * SizeBound(bytes);
    lists[argument.number].push_back({argument, getWidth(type), bytes});
  }
  for (const auto &[number, all] : lists) {
    SizeBound pattern(("pattern(" + Twine(number) + ")").str());
    SizeBound entries(("nnz(" + Twine(number) + ")").str());
    int64_t copies = std::numeric_limits<int64_t>::max(), more = 0;
    for (const List &list : all)
      copies = std::min(copies, list.bytes / list.width);
    for (const List &list : all) {
      int64_t rest = list.bytes - copies * list.width;
      if (list.argument.kind == EntryArgument::Coordinates &&
          list.argument.hasValues)
        result = result + entries * SizeBound(rest);
      else
        more = std::max<int64_t>(more, llvm::divideCeil(rest, list.width));
    }
    result = result + pattern * SizeBound(copies + more);
    for (const List &list : all) {
      bool hasValues = list.argument.kind == EntryArgument::Coordinates &&
                       list.argument.hasValues;
      result = result.replace(SizeBounds::getListName(list.argument),
                              hasValues ? entries : pattern);
    }
  }
  return result;
}

static std::string print(const SizeBound &sum) {
  SmallVector<std::string> terms;
  for (const auto &[product, factor] : sum.getTerms()) {
    SmallVector<std::string> factors(product.begin(), product.end());
    if (factor != 1 || factors.empty())
      factors.insert(factors.begin(), std::to_string(factor));
    terms.push_back(llvm::join(factors, " * "));
  }
  return terms.empty() ? "0" : llvm::join(terms, " + ");
}

std::optional<std::string> MemoryBound::compute(ValueRange copied) {
  if (!function.getBody().hasOneBlock() ||
      !visit(function.getBody().front(), /*isParallel=*/false))
    return std::nullopt;
  for (Value buffer : copied) {
    std::optional<SizeBound> bytes = sizes.getBytes(buffer);
    if (!bytes)
      return std::nullopt;
    live = live + *bytes;
  }
  notePeak();
  SmallVector<SizeBound> all = std::move(peaks);
  peaks.clear();
  for (const SizeBound &peak : all)
    addPeak(replaceLists(peak));
  SmallVector<std::string> texts(llvm::map_range(peaks, print));
  return texts.empty()       ? "0"
         : texts.size() == 1 ? texts.front()
                             : "max(" + llvm::join(texts, ", ") + ")";
}
