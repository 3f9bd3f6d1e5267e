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
#include "llvm/ADT/STLExtras.h"

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
  return getFormat(levels.front()).isCompressed() &&
         isUniqueLT(levels.front()) && isOrderedLT(levels.front()) &&
         llvm::all_of(levels.drop_front(), [](LevelType level) {
           return getFormat(level).storesAll();
         });
}

const LevelFormatInfo &sparse_autograd::getFormat(LevelType level) {
  // As the encoding writes it without properties, which are the lowest bits.
  // Each n and m of structured levels is a format of its own.
  LevelType format(static_cast<uint64_t>(level) & ~uint64_t(0xffff));
  return getLevelFormat(std::string_view(format.toMLIRString()));
}

LevelKind sparse_autograd::getLevelKind(LevelType level) {
  return {&getFormat(level), isUniqueLT(level)};
}

bool sparse_autograd::areLevelsValid(SparseTensorEncodingAttr encoding) {
  LevelKind before = {};
  for (auto [number, level] : llvm::enumerate(encoding.getLvlTypes())) {
    LevelKind kind = getLevelKind(level);
    if (checkLevel(number > 0 ? &before : nullptr, kind) != LevelProblem::None)
      return false;
    before = kind;
  }
  return true;
}

SmallVector<LevelList>
sparse_autograd::getLevelLists(SparseTensorEncodingAttr encoding) {
  SmallVector<LevelList> lists;
  for (unsigned level = 0; level < encoding.getLvlRank(); ++level) {
    const LevelFormatInfo &format = getFormat(encoding.getLvlType(level));
    if (format.hasPositions())
      lists.push_back({level, true, encoding.getPosElemType()});
    if (format.hasCoordinates())
      lists.push_back({level, false,
                       format.isPacked()
                           ? IntegerType::get(encoding.getContext(), 8)
                           : encoding.getCrdElemType()});
  }
  return lists;
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

/// The formats of the table, as in "a, b or c".
static std::string listFormats() {
  std::string text;
  for (const LevelFormatInfo &format : level_formats::table) {
    if (!text.empty())
      text += &format == std::end(level_formats::table) - 1 ? " or " : ", ";
    text += format.name;
  }
  return text;
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
  LevelKind before = {};
  for (auto [level, levelType] : llvm::enumerate(encoding.getLvlTypes())) {
    LevelKind kind = getLevelKind(levelType);
    LevelProblem problem = checkLevel(level > 0 ? &before : nullptr, kind);
    if (problem == LevelProblem::UnknownFormat)
      return refuse("whose level " + Twine(level) +
                    " is of a format that is not lowered; use " +
                    listFormats());
    if (!isOrderedLT(levelType))
      return refuse("whose level " + Twine(level) +
                    " is not ordered; convert it to an ordered encoding");
    bool isSingleton = kind.format->isSingleton();
    if (isSingleton && !levelType.isa<LevelPropNonDefault::SoA>())
      return refuse("whose level " + Twine(level) +
                    " interleaves coordinates; write singleton(soa)");
    // Storage may have one element below each of them; new patterns do not.
    if (isSingleton && (level == 0 || before.isUnique))
      return refuse("whose level " + Twine(level) +
                    " is a singleton below a level with unique coordinates; "
                    "write compressed(nonunique) above it");
    if (problem != LevelProblem::None)
      return refuse("whose level " + Twine(level) +
                    " is below a level with coordinates that are not unique; "
                    "write singleton(soa) below compressed(nonunique)");
    before = kind;
  }
  if (!before.isUnique)
    return refuse("whose last level has coordinates that are not unique");
  return success();
}

SmallVector<Type> sparse_autograd::getComponentTypes(RankedTensorType type) {
  SparseTensorEncodingAttr encoding = getSparseTensorEncoding(type);
  auto list = [](Type element) {
    return RankedTensorType::get({ShapedType::kDynamic}, element);
  };
  SmallVector<Type> types;
  for (const LevelList &lists : getLevelLists(encoding))
    types.push_back(list(lists.elementType));
  types.push_back(list(type.getElementType()));
  types.append(type.getNumDynamicDims(), IndexType::get(type.getContext()));
  return types;
}
