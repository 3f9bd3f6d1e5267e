//===- StructuredProducts.cpp - 2:4 products by tensor cores --------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles of mma.sp.m16n8k32. The factor that stores two of each four terms is
// the one that fragments have rows of, whether its rows are those of the result
// or its columns. Its metadata is read as 2:4 storage has it, four bits for
// each group, row by row: a lane has those of 16 terms of two rows, and the
// lanes whose part a product reads are its selector.
//
//===----------------------------------------------------------------------===//

#include "StructuredProducts.h"

#include "SparseAutograd/Target/DeviceProduct24Cost.h"
#include "TensorCoreTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace sparse_autograd;

/// The terms of one product of fragments, of which half are stored, and those
/// of a group.
static constexpr int64_t productTerms = 32, groupTerms = 4;

/// A strip of 64 terms takes two products, and the metadata of all lanes.
/// 128 x 128 elements need more shared memory than a block has without asking.
static constexpr TileShape largeTile = {2, 4, 4, 4, 64, 2, 2};
static constexpr TileShape smallTile = {2, 2, 2, 4, 64, 3, 4};
static_assert(largeTile.getRows() == deviceTiles.large &&
                  largeTile.getColumns() == deviceTiles.large &&
                  smallTile.getRows() == deviceTiles.small &&
                  smallTile.getColumns() == deviceTiles.small &&
                  largeTile.stripLength == deviceTiles.strip &&
                  genericGPU.multiprocessors == deviceTiles.leastLarge,
              "what the model of costs counts");
static_assert(largeTile.getRowsOfWarp() % warpSize == 0 &&
                  smallTile.getRowsOfWarp() % warpSize == 0,
              "a lane for each row, where rows are the columns of the result");

namespace {
class StructuredTiles : public TensorCoreTiles {
public:
  StructuredTiles(RewriterBase &rewriter, const DenseProduct &product,
                  const TileShape &shape)
      : TensorCoreTiles(rewriter, product, shape,
                        product.getRight().coordinates != nullptr) {}

protected:
  int64_t getFurtherBytes() const override;
  void placeFurther(Value memory, int64_t offset) override;
  void prepareFurther() override;
  void fillFurther(Value stage, Value firstTerm) override;
  SmallVector<Value> multiply(Value stage, ValueRange sums) override;

private:
  /// A word of metadata is that of `productTerms` terms of a row.
  int64_t getWordsOfRow() const { return shape.stripLength / productTerms; }
  Value getFirstGroup(Value row);
  Value assembleWord(Value firstGroup, Value firstInRow);
  Value loadMetadata(Value stage, int64_t fragment);
  Value multiply(Value a, ArrayRef<Value> b, Value sum, Value metadata,
                 int64_t selector);

  /// How many groups a row of the factor has: a value of the host.
  Value groups;
  /// The metadata of all stages in shared memory, as bytes, as what lanes read,
  /// and as words.
  Value asBytes, asHalves, asWords;
};
} // namespace

//===----------------------------------------------------------------------===//
// Strips of metadata
//===----------------------------------------------------------------------===//

int64_t StructuredTiles::getFurtherBytes() const {
  return shape.stages * shape.getRows() * getWordsOfRow() * 4;
}

void StructuredTiles::placeFurther(Value memory, int64_t offset) {
  Value first = index.constant(offset);
  auto view = [&](unsigned bits) -> Value {
    int64_t count = getWordsOfRow() * 32 / bits;
    return memref::ViewOp::create(
        rewriter, loc,
        getSharedType({shape.stages, shape.getRows(), count},
                      rewriter.getIntegerType(bits)),
        memory, first, ValueRange());
  };
  asBytes = view(8);
  asHalves = view(16);
  asWords = view(32);
}

void StructuredTiles::prepareFurther() {
  // A row stores two elements for each group.
  groups = rewriter.createOrFold<arith::DivUIOp>(loc, left.length,
                                                 index.constant(2));
  // Words begin at multiples of their size.
  Value rest = rewriter.createOrFold<arith::RemUIOp>(
      loc, terms, index.constant(productTerms));
  left.hasGroups =
      isAnd(left.hasGroups,
            rewriter.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq,
                                                 rest, index.constant(0)));
}

/// The number of the first group of a row, among those of all rows.
Value StructuredTiles::getFirstGroup(Value row) {
  Value memref = left.factor.memref;
  SmallVector<Value> indices =
      product.getIndices(left.factor, tile, row, index.constant(0));
  indices.pop_back();
  Value number;
  for (auto [dim, place] : llvm::enumerate(indices)) {
    if (number)
      number = arith::AddIOp::create(
          rewriter, loc,
          arith::MulIOp::create(rewriter, loc, number,
                                rewriter.createOrFold<memref::DimOp>(
                                    loc, memref, static_cast<int64_t>(dim))),
          place);
    else
      number = place;
  }
  return arith::MulIOp::create(rewriter, loc, number, groups);
}

/// A word from its groups, one by one, of a row with the groups from
/// `firstGroup` on. Groups that the row does not have keep the last two terms,
/// of which there are zeros.
Value StructuredTiles::assembleWord(Value firstGroup, Value firstInRow) {
  Type i32 = rewriter.getI32Type();
  Value word;
  for (int64_t i = 0; i < productTerms / groupTerms; ++i) {
    Value inRow = index.add(firstInRow, index.constant(i));
    auto branch =
        scf::IfOp::create(rewriter, loc, i32, index.isLess(inRow, groups),
                          /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(branch.thenBlock());
      Value number = index.add(firstGroup, inRow);
      Value byte =
          memref::LoadOp::create(rewriter, loc, left.factor.coordinates,
                                 ValueRange(index.div(number, 2)));
      Value shift = index.narrow(index.mul(index.rem(number, 2), 4));
      Value shifted = arith::ShRUIOp::create(
          rewriter, loc, arith::ExtUIOp::create(rewriter, loc, i32, byte),
          shift);
      Value nibble = arith::AndIOp::create(
          rewriter, loc, shifted,
          arith::ConstantIntOp::create(rewriter, loc, 0xF, 32));
      scf::YieldOp::create(rewriter, loc, nibble);
      rewriter.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(
          rewriter, loc,
          arith::ConstantIntOp::create(rewriter, loc, 0xE, 32).getResult());
    }
    Value placed = arith::ShLIOp::create(
        rewriter, loc, branch.getResult(0),
        arith::ConstantIntOp::create(rewriter, loc, 4 * i, 32));
    word = word ? arith::OrIOp::create(rewriter, loc, word, placed) : placed;
  }
  return word;
}

/// Has the block copy the metadata of a strip, a word of a row by one
/// instruction. What is outside of the factor is metadata as well: of zeros.
void StructuredTiles::fillFurther(Value stage, Value firstTerm) {
  int64_t words = shape.getRows() * getWordsOfRow();
  constexpr int64_t wordBytes = 4;
  for (int64_t i = 0; i < words / shape.getThreads(); ++i) {
    OpBuilder::InsertionGuard guard(rewriter);
    Value number = index.add(thread, index.constant(i * shape.getThreads()));
    Value inTile = index.div(number, getWordsOfRow());
    Value inRow = index.rem(number, getWordsOfRow());
    Value row = index.add(left.first, inTile);
    Value term = index.add(firstTerm, index.mul(inRow, productTerms));
    Value isThere =
        isAnd(index.isLess(row, left.count), index.isLess(term, terms));
    auto branch =
        scf::IfOp::create(rewriter, loc, isThere, /*withElseRegion=*/true);
    rewriter.setInsertionPointToStart(branch.elseBlock());
    Value none = arith::ConstantIntOp::create(rewriter, loc, 0xEEEEEEEE, 32);
    memref::StoreOp::create(rewriter, loc, none, asWords,
                            ValueRange{stage, inTile, inRow});
    rewriter.setInsertionPointToStart(branch.thenBlock());
    Value firstGroup = getFirstGroup(row);
    Value groupInRow = index.div(term, groupTerms);
    auto copyAtOnce = [&] {
      Value byte = index.div(index.add(firstGroup, groupInRow), 2);
      nvgpu::DeviceAsyncCopyOp::create(
          rewriter, loc,
          nvgpu::DeviceAsyncTokenType::get(rewriter.getContext()), asBytes,
          ValueRange{stage, inTile, index.mul(inRow, wordBytes)},
          left.factor.coordinates, ValueRange(byte),
          rewriter.getIndexAttr(wordBytes), /*srcElements=*/Value(),
          /*bypassL1=*/UnitAttr());
    };
    auto copyEach = [&] {
      memref::StoreOp::create(rewriter, loc,
                              assembleWord(firstGroup, groupInRow), asWords,
                              ValueRange{stage, inTile, inRow});
    };
    if (matchPattern(left.hasGroups, m_One())) {
      copyAtOnce();
    } else if (matchPattern(left.hasGroups, m_Zero())) {
      copyEach();
    } else {
      auto choice = scf::IfOp::create(rewriter, loc, left.hasGroups,
                                      /*withElseRegion=*/true);
      rewriter.setInsertionPointToStart(choice.thenBlock());
      copyAtOnce();
      rewriter.setInsertionPointToStart(choice.elseBlock());
      copyEach();
    }
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The metadata of a fragment of 16 rows: of rows r and r + 8, where r is the
/// lane's group, and of 16 terms, those of its place in the group.
Value StructuredTiles::loadMetadata(Value stage, int64_t fragment) {
  Type i32 = rewriter.getI32Type();
  Value row = index.add(
      index.add(getFirstRowOfWarp(), index.constant(fragment * fragmentRows)),
      index.div(lane, 4));
  Value place = index.rem(lane, 4);
  auto load = [&](Value row) -> Value {
    Value half = memref::LoadOp::create(rewriter, loc, asHalves,
                                        ValueRange{stage, row, place});
    return arith::ExtUIOp::create(rewriter, loc, i32, half);
  };
  Value low = load(row);
  Value high = load(index.add(row, index.constant(fragmentRows / 2)));
  return arith::OrIOp::create(
      rewriter, loc, low,
      arith::ShLIOp::create(
          rewriter, loc, high,
          arith::ConstantIntOp::create(rewriter, loc, 16, 32)));
}

/// The registers of fragments: two elements each, of bf16 as an integer.
static void appendRegisters(OpBuilder &builder, Location loc, Value fragment,
                            SmallVectorImpl<Value> &registers) {
  auto type = cast<VectorType>(fragment.getType());
  for (int64_t i = 0; i < type.getDimSize(0); ++i) {
    Value pair = vector::ExtractOp::create(builder, loc, fragment, i);
    if (type.getElementType().isBF16())
      pair = LLVM::BitcastOp::create(builder, loc, builder.getI32Type(), pair);
    registers.push_back(pair);
  }
}

/// Adds one product of fragments to `sum`. The metadata is ordered, as 2:4
/// storage is: since Hopper that is what is fast.
Value StructuredTiles::multiply(Value a, ArrayRef<Value> b, Value sum,
                                Value metadata, int64_t selector) {
  SmallVector<Value> ofRows, ofColumns;
  appendRegisters(rewriter, loc, a, ofRows);
  for (Value half : b)
    appendRegisters(rewriter, loc, half, ofColumns);
  SmallVector<Value> sums = llvm::to_vector_of<Value>(
      vector::ToElementsOp::create(rewriter, loc, sum).getResults());
  SmallVector<Type> types(sums.size(), rewriter.getF32Type());
  NVVM::MMATypes factors =
      type.isBF16() ? NVVM::MMATypes::bf16 : NVVM::MMATypes::f16;
  auto multiplied = NVVM::MmaSpOp::create(
      rewriter, loc,
      LLVM::LLVMStructType::getLiteral(rewriter.getContext(), types), ofRows,
      ofColumns, sums, metadata,
      arith::ConstantIntOp::create(rewriter, loc, selector, 32),
      ArrayRef<int64_t>{fragmentRows, fragmentColumns, productTerms},
      /*intOverflow=*/std::nullopt,
      std::array<NVVM::MMATypes, 2>{factors, factors});
  multiplied.setOrderedMetadata(true);
  for (auto [i, element] : llvm::enumerate(sums))
    element = LLVM::ExtractValueOp::create(rewriter, loc, multiplied, i);
  return vector::FromElementsOp::create(rewriter, loc, sum.getType(), sums);
}

SmallVector<Value> StructuredTiles::multiply(Value stage, ValueRange before) {
  SmallVector<Value> sums(before), metadata;
  for (int64_t i = 0; i < shape.fragmentsDown; ++i)
    metadata.push_back(loadMetadata(stage, i));
  for (int64_t selector = 0; selector < getWordsOfRow(); ++selector) {
    SmallVector<SmallVector<Value, 2>> ofColumns(shape.fragmentsAcross);
    for (int64_t j = 0; j < shape.fragmentsAcross; j += 2)
      for (int64_t half = 0; half < productTerms; half += fragmentTerms) {
        auto [first, second] = loadColumns(stage, j * fragmentColumns,
                                           selector * productTerms + half);
        ofColumns[j].push_back(first);
        ofColumns[j + 1].push_back(second);
      }
    // One fragment of rows at a time: all of them do not fit the registers.
    for (int64_t i = 0; i < shape.fragmentsDown; ++i) {
      Value ofRows = loadFragments(left, stage, i * fragmentRows,
                                   selector * fragmentTerms);
      for (int64_t j = 0; j < shape.fragmentsAcross; ++j) {
        Value &sum = sums[i * shape.fragmentsAcross + j];
        sum = multiply(ofRows, ofColumns[j], sum, metadata[i], selector);
      }
    }
  }
  return sums;
}

void sparse_autograd::createStructuredTiles(RewriterBase &rewriter,
                                            const DenseProduct &product) {
  createTilesOfEitherSize<StructuredTiles>(rewriter, product, largeTile,
                                           smallTile, /*groupsAlone=*/true);
}
