//===- ContractionStrategies.cpp - who computes a contraction -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/ContractionStrategies.h"
#include "SparseAutograd/Analysis/Estimates.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Packing24.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseEncodings.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace sparse_autograd;

static std::string toString(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// What no strategy computes: they multiply two matrices, and the product at
/// most by a number and by weights that are the same for all its terms.
static std::string declineShape(const Contraction &contraction) {
  if (contraction.dims.m.empty() || contraction.dims.n.empty())
    return "a factor is no matrix";
  if (contraction.dims.k.empty())
    return "nothing is summed";
  linalg::LinalgOp op = contraction.op;
  llvm::SmallDenseSet<OpOperand *> inputs(contraction.weights.begin(),
                                          contraction.weights.end());
  if (size_t(op.getNumDpsInputs()) != 2 + inputs.size())
    return "it has inputs that are no factors";
  if (!contraction.hasPlainLoops())
    return "an operand is not indexed by rows, columns, terms and batches "
           "alone";
  Type left = contraction.getFactorType(contraction.left);
  Type right = contraction.getFactorType(contraction.right);
  if (left != right)
    return "the factors are of " + toString(left) + " and " + toString(right);
  if (contraction.narrows || contraction.sumType != contraction.getResultType())
    return "a term is rounded before it is added";
  return {};
}

static std::string declineType(const Contraction &contraction) {
  return "products of " +
         toString(contraction.getFactorType(contraction.left)) +
         " with sums of " + toString(contraction.sumType);
}

static bool isF32OrF64(Type type) { return type.isF32() || type.isF64(); }

static bool isNarrow(Type type) { return type.isF16() || type.isBF16(); }

/// Whether factors and sums are of f32, or of f64.
static bool isInOneType(const Contraction &contraction) {
  return isF32OrF64(contraction.sumType) &&
         contraction.getFactorType(contraction.left) == contraction.sumType;
}

/// What no library computes.
static std::string declineCall(const Contraction &contraction) {
  if (std::string reason = declineShape(contraction); !reason.empty())
    return reason;
  if (!contraction.weights.empty())
    return "rows or columns have weights";
  return {};
}

static std::string declineBlas(const Contraction &contraction) {
  if (std::string reason = declineCall(contraction); !reason.empty())
    return reason;
  if (!isInOneType(contraction))
    return declineType(contraction);
  return {};
}

static std::string declineDeviceLibrary(const Contraction &contraction) {
  if (std::string reason = declineCall(contraction); !reason.empty())
    return reason;
  Type factor = contraction.getFactorType(contraction.left);
  Type sum = contraction.sumType;
  // Narrow products are exact in f32, in which they are summed.
  if (!isInOneType(contraction) && (!isNarrow(factor) || !sum.isF32()))
    return declineType(contraction);
  if (contraction.productType != sum)
    return "terms are products of " + toString(contraction.productType);
  return {};
}

/// What no tiles compute, whatever the types.
static std::string declineTiles(const Contraction &contraction) {
  if (std::string reason = declineShape(contraction); !reason.empty())
    return reason;
  if (contraction.dims.k.size() > 1)
    return "its terms have several dimensions";
  if (contraction.scale && contraction.scale.getType() != contraction.sumType)
    return "the scale is of " + toString(contraction.scale.getType());
  for (OpOperand *weight : contraction.weights)
    if (Type type = contraction.getFactorType(weight);
        type != contraction.sumType &&
        !(isNarrow(type) && contraction.sumType.isF32()))
      return "weights are of " + toString(type);
  linalg::LinalgOp op = contraction.op;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (auto [loops, kind] :
       {std::pair(ArrayRef<unsigned>(contraction.dims.m), "rows"),
        std::pair(ArrayRef<unsigned>(contraction.dims.n), "columns"),
        std::pair(ArrayRef<unsigned>(contraction.dims.k), "terms")}) {
    int64_t extent = extents[getLargestLoop(loops, extents)];
    if (!ShapedType::isDynamic(extent) && extent < leastTileExtent)
      return llvm::formatv("{0} {1} are fewer than {2}", extent, kind,
                           leastTileExtent);
  }
  return {};
}

static std::string declineTensorCores(const Contraction &contraction) {
  if (std::string reason = declineTiles(contraction); !reason.empty())
    return reason;
  if (!isNarrow(contraction.getFactorType(contraction.left)) ||
      !contraction.sumType.isF32())
    return declineType(contraction);
  return {};
}

OpOperand *
sparse_autograd::getStructuredFactor(const Contraction &contraction) {
  OpOperand *found = nullptr;
  for (OpOperand &operand : contraction.op->getOpOperands()) {
    if (!isSparse(operand.get().getType()))
      continue;
    bool isFactor =
        &operand == contraction.left || &operand == contraction.right;
    if (found || !isFactor ||
        !isPacked24(cast<RankedTensorType>(operand.get().getType())))
      return nullptr;
    found = &operand;
  }
  return found;
}

static std::string
declineStructuredTensorCores(const Contraction &contraction) {
  OpOperand *stored = getStructuredFactor(contraction);
  if (!stored)
    return "no factor is a 2:4 matrix beside dense operands";
  if (std::string reason = declineTensorCores(contraction); !reason.empty())
    return reason;
  linalg::LinalgOp op = contraction.op;
  AffineMap map = op.getMatchingIndexingMap(stored);
  if (map.getDimPosition(map.getNumResults() - 1) != contraction.dims.k.front())
    return "its groups are not along the sum";
  return {};
}

static std::string declineFma(const Contraction &contraction) {
  if (std::string reason = declineTiles(contraction); !reason.empty())
    return reason;
  if (!isInOneType(contraction))
    return declineType(contraction);
  return {};
}

const ContractionStrategy sparse_autograd::blasStrategy = {"blas", declineBlas};
const ContractionStrategy sparse_autograd::deviceLibraryStrategy = {
    "library", declineDeviceLibrary};
const ContractionStrategy sparse_autograd::tensorCoreStrategy = {
    "tensor-core tiles", declineTensorCores};
const ContractionStrategy sparse_autograd::structuredTensorCoreStrategy = {
    "2:4 tensor-core tiles", declineStructuredTensorCores};
const ContractionStrategy sparse_autograd::fmaStrategy = {"fma tiles",
                                                          declineFma};

ArrayRef<const ContractionStrategy *>
sparse_autograd::getContractionStrategies(bool forDevice) {
  static const ContractionStrategy *const ofHost[] = {&blasStrategy};
  static const ContractionStrategy *const ofDevice[] = {
      &deviceLibraryStrategy, &structuredTensorCoreStrategy,
      &tensorCoreStrategy, &fmaStrategy};
  return forDevice ? ArrayRef(ofDevice) : ArrayRef(ofHost);
}

const ContractionStrategy *
sparse_autograd::getTileStrategy(const Contraction &contraction,
                                 std::string &declined) {
  for (const ContractionStrategy *strategy :
       {&tensorCoreStrategy, &fmaStrategy}) {
    std::string reason = strategy->decline(contraction);
    if (reason.empty())
      return strategy;
    llvm::raw_string_ostream(declined)
        << (declined.empty() ? "" : "; ") << "no " << strategy->name << ": "
        << reason;
  }
  return nullptr;
}

ContractionCost sparse_autograd::estimateCost(const Contraction &contraction) {
  linalg::LinalgOp op = contraction.op;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  ContractionCost cost;
  auto count = [&](AffineMap map) {
    double elements = 1;
    for (unsigned loop = 0; loop < extents.size(); ++loop)
      if (map.isFunctionOfDim(loop)) {
        cost.isGuess |= ShapedType::isDynamic(extents[loop]);
        elements *= estimates.getExtent(extents[loop]);
      }
    return elements;
  };
  cost.flops = 2 * count(AffineMap::getMultiDimIdentityMap(op.getNumLoops(),
                                                           op.getContext()));
  for (OpOperand &operand : op->getOpOperands()) {
    Type type = getElementTypeOrSelf(operand.get().getType());
    double bytes = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() / 8. : 8;
    // The result is read, if it is added to, and written.
    bool isResult = op.isDpsInit(&operand);
    cost.bytes +=
        (isResult ? 2 : 1) * bytes * count(op.getMatchingIndexingMap(&operand));
  }
  return cost;
}

/// ", about 0.524 MFLOP and 0.0655 MB"; "about" if it is guessed.
static std::string describeCost(const ContractionCost &cost) {
  std::string text;
  llvm::raw_string_ostream(text)
      << (cost.isGuess ? ", about " : ", ")
      << llvm::format("%.3g MFLOP and %.3g MB", cost.flops / 1e6,
                      cost.bytes / 1e6);
  return text;
}

void sparse_autograd::remarkContraction(const Contraction &contraction,
                                        const ContractionStrategy *strategy,
                                        const Twine &declined) {
  linalg::LinalgOp op = contraction.op;
  // A product of single elements, which nothing is summed of.
  if (contraction.dims.k.empty())
    return;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "contraction of " << contraction.getFactorType(contraction.left)
         << " with sums of " << contraction.sumType;
  for (auto [kind, loops] :
       {std::pair("batch", ArrayRef<unsigned>(contraction.dims.batch)),
        std::pair("m", ArrayRef<unsigned>(contraction.dims.m)),
        std::pair("n", ArrayRef<unsigned>(contraction.dims.n)),
        std::pair("k", ArrayRef<unsigned>(contraction.dims.k))}) {
    if (loops.empty())
      continue;
    stream << ", " << kind << " = ";
    llvm::interleave(
        loops, stream,
        [&](unsigned loop) {
          if (ShapedType::isDynamic(extents[loop]))
            stream << "?";
          else
            stream << extents[loop];
        },
        " x ");
  }
  stream << ": " << (strategy ? StringRef(strategy->name) : "loops");
  stream << describeCost(estimateCost(contraction));
  if (std::string reasons = declined.str(); !reasons.empty())
    stream << "; " << reasons;
  auto function = op->getParentOfType<func::FuncOp>();
  auto options = remark::RemarkOpts::name(strategy ? "strategy" : "loops")
                     .category(contractionRemarkCategory)
                     .function(function ? function.getSymName() : StringRef());
  if (strategy)
    remark::passed(op.getLoc(), options) << text;
  else
    remark::missed(op.getLoc(), options) << text;
}

unsigned sparse_autograd::getLargestLoop(ArrayRef<unsigned> loops,
                                         ArrayRef<int64_t> extents) {
  auto size = [&](unsigned loop) {
    return ShapedType::isDynamic(extents[loop])
               ? std::numeric_limits<int64_t>::max()
               : extents[loop];
  };
  unsigned largest = loops.front();
  for (unsigned loop : loops)
    if (size(loop) >= size(largest))
      largest = loop;
  return largest;
}

bool sparse_autograd::isMatrixProduct(linalg::LinalgOp op) {
  std::optional<Contraction> contraction = matchContraction(op);
  return contraction && contraction->isOfMatrices() &&
         contraction->weights.empty();
}
