//===- SparseProductToRuntime.cpp - sparse matrices to cuSPARSE -*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls of the runtime for the products that OfferSparseProducts has found
// among structured ops.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/SparseProductToRuntime/SparseProductToRuntime.h"

#include "../RuntimeCalls.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/LibraryOps.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Runtime/DeviceABI.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_SPARSEPRODUCTTORUNTIME
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

/// The types of values and of positions, as the runtime takes them.
static SmallVector<Value> getKinds(RuntimeCallBuilder &calls, Value values,
                                   Value positions) {
  bool isF32 = getElementTypeOrSelf(values.getType()).isF32();
  bool isNarrow = getElementTypeOrSelf(positions.getType()).isInteger(32);
  return {calls.kind(isF32 ? SPARSE_AUTOGRAD_TENSOR_F32
                           : SPARSE_AUTOGRAD_TENSOR_F64),
          calls.kind(isNarrow ? SPARSE_AUTOGRAD_TENSOR_I32
                              : SPARSE_AUTOGRAD_TENSOR_I64)};
}

/// Calls the function `name` of the runtime, which takes both products alike.
template <typename OpTy>
static void lowerOffer(OpTy op, StringRef name, SymbolTable &symbols) {
  RuntimeCallBuilder calls(op, symbols);
  OpBuilder &builder = calls.builder;
  Location loc = op.getLoc();
  auto extent = [&](Value memref, unsigned dim) {
    return toI64(builder, loc,
                 memref::DimOp::create(builder, loc, memref, dim));
  };
  SmallVector<Value> arguments =
      getKinds(calls, op.getValues(), op.getPositions());
  arguments.append(
      {toI64(builder, loc, op.getRows()), toI64(builder, loc, op.getColumns()),
       extent(op.getCoordinates(), 0), calls.pointer(op.getPositions()),
       calls.pointer(op.getCoordinates()), calls.pointer(op.getValues()),
       extent(op.getX(), op.getXTransposed() ? 0 : 1)});
  auto addMatrix = [&](Value scale, Value matrix, bool isTransposed) {
    auto metadata =
        memref::ExtractStridedMetadataOp::create(builder, loc, matrix);
    arguments.append({scale, calls.pointer(matrix)});
    for (unsigned dim : {isTransposed ? 1 : 0, isTransposed ? 0 : 1})
      arguments.push_back(toI64(builder, loc, metadata.getStrides()[dim]));
  };
  addMatrix(op.getScale(), op.getY(), op.getYTransposed());
  addMatrix(calls.number(op.getAccumulates() ? 1.0 : 0.0), op.getX(),
            op.getXTransposed());
  Value done = calls.call(name, arguments, builder.getI32Type()).front();
  Value isDone = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                       done, calls.kind(0));
  op.getIsDone().replaceAllUsesWith(isDone);
  op->erase();
}

static void lower(BeginSparseProductOp op, SymbolTable &symbols) {
  RuntimeCallBuilder calls(op, symbols);
  OpBuilder &builder = calls.builder;
  Location loc = op.getLoc();
  ValueRange factors = op.getFactors();
  SmallVector<Value> arguments = getKinds(calls, factors[2], factors[0]);
  for (Value extent : {op.getRows(), op.getInner(), op.getColumns()})
    arguments.push_back(toI64(builder, loc, extent));
  for (ValueRange matrix : {factors.take_front(3), factors.drop_front(3)}) {
    arguments.push_back(
        toI64(builder, loc, memref::DimOp::create(builder, loc, matrix[1], 0)));
    for (Value list : matrix)
      arguments.push_back(calls.pointer(list));
  }
  Value stored = calls
                     .call("sparseAutogradDeviceBeginSparseProduct", arguments,
                           builder.getI64Type())
                     .front();
  op.replaceAllUsesWith(
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), stored)
          .getResult());
  op.erase();
}

static void lower(EndSparseProductOp op, SymbolTable &symbols) {
  RuntimeCallBuilder calls(op, symbols);
  calls.call("sparseAutogradDeviceEndSparseProduct",
             llvm::map_to_vector(op.getLists(), [&](Value list) {
               return calls.pointer(list);
             }));
  op.erase();
}

namespace {
struct SparseProductToRuntimePass
    : sparse_autograd::impl::SparseProductToRuntimeBase<
          SparseProductToRuntimePass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    getOperation()->walk([&](OfferProductOp op) {
      lowerOffer(op, "sparseAutogradDeviceMultiplySparse", symbols);
    });
    getOperation()->walk([&](OfferSampledProductOp op) {
      lowerOffer(op, "sparseAutogradDeviceSampleProduct", symbols);
    });
    getOperation()->walk([&](BeginSparseProductOp op) { lower(op, symbols); });
    getOperation()->walk([&](EndSparseProductOp op) { lower(op, symbols); });
  }
};
} // namespace
