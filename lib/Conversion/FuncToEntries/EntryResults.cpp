//===- EntryResults.cpp - results of an entry, handed over ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the body of an entry does with its results: descriptors are staged, in
// the form that the call asks for, and stored at the end, when nothing raises.
//
//===----------------------------------------------------------------------===//

#include "EntryEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace sparse_autograd;

void EntryEmitter::normalize(Value tensor) {
  int64_t rank = ::cast<MemRefType>(tensor.getType()).getRank();
  if (rank > 1)
    tensor = memref::CollapseShapeOp::create(
        builder, loc, tensor,
        ArrayRef<ReassociationIndices>{
            llvm::to_vector(llvm::seq<int64_t>(0, rank))});
  // A truth value is read from any byte, and stored as 0 or 1.
  auto rewrite = [&](OpBuilder &builder, Location loc, ValueRange indices) {
    Value element = memref::LoadOp::create(builder, loc, tensor, indices);
    memref::StoreOp::create(builder, loc, element, tensor, indices);
  };
  if (rank == 0)
    return rewrite(builder, loc, {});
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value count = memref::DimOp::create(builder, loc, tensor, zero);
  scf::ForOp::create(
      builder, loc, zero, count, one, {},
      [&](OpBuilder &builder, Location loc, Value index, ValueRange) {
        rewrite(builder, loc, index);
        scf::YieldOp::create(builder, loc);
      });
}

/// The op that allocates the result `value` whenever `function`, which has one
/// block, is called; null for one that may be an argument, or depends on a
/// condition.
static memref::AllocOp getAllocation(func::FuncOp function, Value value) {
  while (auto cast = value.getDefiningOp<memref::CastOp>())
    value = cast.getSource();
  auto allocation = value.getDefiningOp<memref::AllocOp>();
  return allocation && allocation->getBlock() == &function.getBody().front()
             ? allocation
             : memref::AllocOp();
}

void EntryEmitter::announceAllocations(func::FuncOp function,
                                       const llvm::json::Object &entry) {
  // One call of the entry is to be one call of the function.
  std::optional<SymbolTable::UseRange> uses =
      SymbolTable::getSymbolUses(function, module);
  if (!function.getBody().hasOneBlock() || !uses ||
      llvm::any_of(*uses, [](const SymbolTable::SymbolUse &use) {
        return !isa<FunctionOpInterface>(use.getUser());
      }))
    return;
  Operation *terminator = function.getBody().front().getTerminator();
  int64_t operand = 0;
  int64_t count = entry.getArray("results")->size();
  for (int64_t result = 0; result < count; ++result) {
    std::optional<ResultLayout> layout = ResultLayout::parse(entry, result);
    if (!layout)
      return;
    for (int64_t list = 0; list < layout->getLists(); ++list) {
      if (layout->lists[list])
        continue;
      if (operand >= terminator->getNumOperands())
        return;
      memref::AllocOp allocation =
          getAllocation(function, terminator->getOperand(operand++));
      if (!allocation)
        continue;
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(allocation);
      callRuntime("sparseAutogradExpectResult",
                  LLVM::LLVMVoidType::get(builder.getContext()),
                  {constant(result), constant(list)});
    }
    operand += layout->isTensor
                   ? llvm::count_if(layout->extents, ShapedType::isDynamic)
                   : 1;
  }
}

SmallVector<Value> EntryEmitter::separate(func::FuncOp function,
                                          ValueRange results,
                                          ValueRange operands) {
  SmallVector<memref::AllocOp> allocations(results.size());
  if (function.getBody().hasOneBlock())
    allocations = llvm::map_to_vector(
        function.getBody().front().getTerminator()->getOperands(),
        [&](Value value) { return getAllocation(function, value); });
  auto address = [&](Value buffer) -> Value {
    return memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
  };
  SmallVector<Value> separated;
  for (auto [number, returned] : llvm::enumerate(results)) {
    Value result = returned;
    memref::AllocOp allocation = allocations[number];
    auto type = dyn_cast<MemRefType>(result.getType());
    if (type) {
      Value shared;
      // Two allocations have two buffers, and neither has that of an operand.
      SmallVector<Value> others;
      if (!allocation)
        llvm::append_range(others, operands);
      for (auto [other, before] : llvm::zip(allocations, separated))
        if (!allocation || !other || allocation == other)
          others.push_back(before);
      for (Value other : others) {
        if (!isa<MemRefType>(other.getType()))
          continue;
        Value same =
            arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                  address(result), address(other));
        shared =
            shared ? arith::OrIOp::create(builder, loc, shared, same) : same;
      }
      if (shared) {
        auto choice = scf::IfOp::create(builder, loc, type, shared,
                                        /*withElseRegion=*/true);
        builder.setInsertionPointToStart(choice.thenBlock());
        SmallVector<Value> sizes;
        for (int64_t i = 0; i < type.getRank(); ++i)
          if (type.isDynamicDim(i))
            sizes.push_back(memref::DimOp::create(builder, loc, result, i));
        Value copy = memref::AllocOp::create(builder, loc, type, sizes);
        memref::CopyOp::create(builder, loc, result, copy);
        scf::YieldOp::create(builder, loc, copy);
        builder.setInsertionPointToStart(choice.elseBlock());
        scf::YieldOp::create(builder, loc, result);
        builder.setInsertionPointAfter(choice);
        result = choice.getResult(0);
      }
    }
    // What the program copies as it is may have other bytes than 0 and 1.
    if (type && type.getElementType().isInteger(1) &&
        llvm::any_of(operands, [](Value operand) {
          auto given = dyn_cast<MemRefType>(operand.getType());
          return given && given.getElementType().isInteger(1);
        }))
      normalize(result);
    separated.push_back(result);
  }
  return separated;
}

Value EntryEmitter::getShared(const SharedList &shared,
                              ValueRange argumentPlaces) {
  if (!shared.isArgument)
    return shared.value < static_cast<int64_t>(staged.size()) &&
                   shared.list <
                       static_cast<int64_t>(staged[shared.value].size())
               ? staged[shared.value][shared.list].value
               : Value();
  if (shared.value >= static_cast<int64_t>(argumentPlaces.size()))
    return {};
  return getWord(argumentPlaces[shared.value], shared.list * wordsOfList);
}

LogicalResult EntryEmitter::stage(int64_t result, const ResultLayout &layout,
                                  ArrayRef<Value> &values,
                                  ValueRange argumentPlaces) {
  auto take = [&]() -> Value {
    if (values.empty())
      return {};
    Value value = values.front();
    values = values.drop_front();
    return value;
  };
  SmallVector<StagedResult> lists;
  if (!layout.isTensor) {
    Value value = take();
    if (!value || isa<MemRefType>(value.getType()))
      return failure();
    if (value.getType().isInteger(1))
      value = LLVM::ZExtOp::create(builder, loc, builder.getI8Type(), value);
    else if (value.getType().isIndex())
      value = cast(value, converter.convertType(value.getType()));
    lists.push_back({value, {}});
    staged.push_back(std::move(lists));
    return success();
  }
  auto nothing = LLVM::LLVMVoidType::get(builder.getContext());
  for (auto [list, shared] : llvm::enumerate(layout.lists)) {
    int64_t bytes = layout.elementBytes[list];
    bool isBoolean =
        layout.isBoolean && static_cast<int64_t>(list) + 1 == layout.getLists();
    int64_t words = 3 + 2 * layout.rank;
    Value place = LLVM::AllocaOp::create(builder, loc, pointer,
                                         builder.getI64Type(), constant(words));
    Value source;
    if (shared) {
      source = getShared(*shared, argumentPlaces);
      if (!source)
        return failure();
    } else {
      Value value = take();
      auto type = value ? dyn_cast<MemRefType>(value.getType()) : MemRefType();
      if (!type || type.getRank() != layout.rank)
        return failure();
      source = LLVM::ZeroOp::create(builder, loc, pointer);
      LLVM::StoreOp::create(builder, loc,
                            cast(value, converter.convertType(type)), place);
    }
    auto descriptor =
        MemRefType::get(SmallVector<int64_t>(layout.rank, ShapedType::kDynamic),
                        builder.getI8Type());
    callRuntime("sparseAutogradHandOver", nothing,
                {constant(result), constant(list), constant(layout.rank),
                 constant(bytes),
                 LLVM::ConstantOp::create(builder, loc, builder.getI32Type(),
                                          builder.getI32IntegerAttr(isBoolean)),
                 source, place});
    lists.push_back({place, descriptor});
  }
  for (int64_t extent : layout.extents) {
    Value value = ShapedType::isDynamic(extent) ? take() : constant(extent);
    if (!value)
      return failure();
    if (value.getType().isIndex())
      value = cast(value, converter.convertType(value.getType()));
    lists.push_back({value, {}});
  }
  staged.push_back(std::move(lists));
  return success();
}

void EntryEmitter::store(Value place, ArrayRef<StagedResult> values) {
  int64_t word = 0;
  for (const StagedResult &value : values) {
    Value stored = value.value;
    if (value.type)
      stored = LLVM::LoadOp::create(builder, loc,
                                    converter.convertType(value.type), stored);
    LLVM::StoreOp::create(builder, loc, stored, getWord(place, word));
    word += value.type ? 3 + 2 * value.type.getRank() : 1;
  }
}
