//===- SparseEncodings.cpp - encodings that are lowered -------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseEncodings.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensorType.h"

using namespace mlir;
using namespace mlir::sparse_tensor;
using namespace sparse_autograd;

bool sparse_autograd::isRowSparse(Type type) {
  if (!isSparse(type))
    return false;
  SparseTensorEncodingAttr encoding = getSparseTensorEncoding(type);
  if (!encoding.isIdentity())
    return false;
  ArrayRef<LevelType> levels = encoding.getLvlTypes();
  return isCompressedLT(levels.front()) && isUniqueLT(levels.front()) &&
         isOrderedLT(levels.front()) &&
         llvm::all_of(levels.drop_front(), isDenseLT);
}

/// Whether `expr` is a dimension, or its quotient or remainder by a constant.
static bool isDimensionOrPart(AffineExpr expr) {
  if (isa<AffineDimExpr>(expr))
    return true;
  auto part = dyn_cast<AffineBinaryOpExpr>(expr);
  return part &&
         (part.getKind() == AffineExprKind::FloorDiv ||
          part.getKind() == AffineExprKind::Mod) &&
         isa<AffineDimExpr>(part.getLHS()) &&
         isa<AffineConstantExpr>(part.getRHS());
}

LogicalResult sparse_autograd::checkEncoding(
    RankedTensorType type, llvm::function_ref<InFlightDiagnostic()> report) {
  SparseTensorEncodingAttr encoding = getSparseTensorEncoding(type);
  auto refuse = [&](const Twine &what) {
    return report() << "has type " << type << ", " << what;
  };
  if (encoding.isSlice())
    return refuse("whose encoding is a slice; slice with tensor.extract_slice");
  if (encoding.getExplicitVal() || encoding.getImplicitVal())
    return refuse("whose encoding names explicit or implicit values; an absent "
                  "element is a zero");
  for (AffineExpr expr :
       SparseTensorType(type).getExpandedDimToLvl().getResults())
    if (!isDimensionOrPart(expr))
      return refuse("whose levels are not dimensions or blocks of them");
  bool isInCoordinateRegion = false;
  for (auto [level, levelType] : llvm::enumerate(encoding.getLvlTypes())) {
    if (isBatchLT(levelType) || isNOutOfMLT(levelType))
      return refuse("whose level " + Twine(level) +
                    " is of a format that is not lowered; use dense, "
                    "compressed, loose_compressed or singleton");
    if (!isOrderedLT(levelType))
      return refuse("whose level " + Twine(level) +
                    " is not ordered; convert it to an ordered encoding");
    bool isSingleton = isSingletonLT(levelType);
    if (isSingleton && !levelType.isa<LevelPropNonDefault::SoA>())
      return refuse("whose level " + Twine(level) +
                    " interleaves coordinates; write singleton(soa)");
    if (isSingleton && !isInCoordinateRegion)
      return refuse("whose level " + Twine(level) +
                    " is a singleton below a level with unique coordinates; "
                    "write compressed(nonunique) above it");
    if (!isSingleton && isInCoordinateRegion)
      return refuse("whose level " + Twine(level) +
                    " is below a level with coordinates that are not unique; "
                    "write singleton(soa) below compressed(nonunique)");
    isInCoordinateRegion = !isUniqueLT(levelType);
  }
  if (isInCoordinateRegion)
    return refuse("whose last level has coordinates that are not unique");
  return success();
}

SmallVector<Type> sparse_autograd::getComponentTypes(RankedTensorType type) {
  SparseTensorEncodingAttr encoding = getSparseTensorEncoding(type);
  auto list = [](Type element) {
    return RankedTensorType::get({ShapedType::kDynamic}, element);
  };
  SmallVector<Type> types;
  for (LevelType level : encoding.getLvlTypes()) {
    if (isWithPosLT(level))
      types.push_back(list(encoding.getPosElemType()));
    if (isWithCrdLT(level))
      types.push_back(list(encoding.getCrdElemType()));
  }
  types.push_back(list(type.getElementType()));
  types.append(type.getNumDynamicDims(), IndexType::get(type.getContext()));
  return types;
}
