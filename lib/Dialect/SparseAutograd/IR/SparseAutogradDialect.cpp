//===- SparseAutogradDialect.cpp - the sparse_autograd dialect ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Canonicalization.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sparse_autograd;

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradDialect.cpp.inc"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradTypes.cpp.inc"

namespace {
/// Every op of the dialect may be inlined: none depends on where it stands.
struct SparseAutogradInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void SparseAutogradDialect::initialize() {
  registerAttributes();
  registerTypes();
  registerOps();
  addInterfaces<SparseAutogradInlinerInterface>();
}

void SparseAutogradDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradAttributes.cpp.inc"
      >();
}

void SparseAutogradDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradTypes.cpp.inc"
      >();
}

Operation *SparseAutogradDialect::materializeConstant(OpBuilder &builder,
                                                      Attribute value,
                                                      Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

/// Checks the value of `sparse_autograd.name`, on an argument or a result.
static LogicalResult verifyName(Operation *op, Attribute value) {
  auto name = dyn_cast<StringAttr>(value);
  if (!name || name.empty())
    return op->emitError("'") << SparseAutogradDialect::getNameAttrName()
                              << "' must be a string that is not empty";
  return success();
}

/// Checks `sparse_autograd.any_format` on an argument or a result of `type`,
/// which is null if `op` is no function.
static LogicalResult verifyAnyFormat(Operation *op, Attribute value,
                                     Type type) {
  if (isa<UnitAttr>(value) && type && isSparse(type))
    return success();
  return op->emitError("'") << SparseAutogradDialect::getAnyFormatAttrName()
                            << "' must be a unit attribute of a sparse tensor";
}

/// Checks `sparse_autograd.default` on an argument of `type`, which is null if
/// `op` is no function.
static LogicalResult verifyDefault(Operation *op, Attribute value, Type type) {
  auto number = dyn_cast<TypedAttr>(value);
  if (type && isa<FloatAttr, IntegerAttr>(value) && number.getType() == type)
    return success();
  return op->emitError("'") << SparseAutogradDialect::getDefaultAttrName()
                            << "' must be a number of the type of its argument";
}

LogicalResult SparseAutogradDialect::verifyRegionArgAttribute(
    Operation *op, unsigned, unsigned argument, NamedAttribute attribute) {
  if (attribute.getName() == getNameAttrName())
    return verifyName(op, attribute.getValue());
  if (attribute.getName() == getMaskOfAttrName()) {
    auto function = dyn_cast<FunctionOpInterface>(op);
    auto name = dyn_cast<StringAttr>(attribute.getValue());
    if (!name || !function)
      return op->emitError("'")
             << getMaskOfAttrName()
             << "' must be a string on an argument of a function";
    auto type =
        dyn_cast<RankedTensorType>(function.getArgumentTypes()[argument]);
    if (!type || !type.getElementType().isInteger(1))
      return op->emitError("argument ")
             << argument << " has '" << getMaskOfAttrName()
             << "', so it must be a tensor of i1";
    for (unsigned other = 0; other < function.getNumArguments(); ++other) {
      auto otherName =
          function.getArgAttrOfType<StringAttr>(other, getNameAttrName());
      if (!otherName || otherName != name || other == argument)
        continue;
      auto otherType =
          dyn_cast<RankedTensorType>(function.getArgumentTypes()[other]);
      if (!otherType || failed(verifyCompatibleShape(type, otherType)))
        return op->emitError("argument ")
               << argument << " is the mask of '" << name.getValue()
               << "', which has another shape";
      return success();
    }
    return op->emitError("argument ")
           << argument << " is the mask of '" << name.getValue()
           << "', but no argument has that '" << getNameAttrName() << "'";
  }
  if (attribute.getName() == getNnzAttrName()) {
    auto nnz = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!nnz || nnz.getValue().isNegative() ||
        nnz.getValue().getActiveBits() > 63)
      return op->emitError("'")
             << getNnzAttrName() << "' must be a number of elements";
    return success();
  }
  auto function = dyn_cast<FunctionOpInterface>(op);
  Type type = function ? function.getArgumentTypes()[argument] : Type();
  if (attribute.getName() == getAnyFormatAttrName())
    return verifyAnyFormat(op, attribute.getValue(), type);
  if (attribute.getName() == getDefaultAttrName())
    return verifyDefault(op, attribute.getValue(), type);
  return op->emitError("unknown attribute '")
         << attribute.getName().getValue() << "' on an argument; the dialect "
         << "has '" << getNameAttrName() << "', '" << getMaskOfAttrName()
         << "', '" << getDefaultAttrName() << "', '" << getNnzAttrName()
         << "' and '" << getAnyFormatAttrName() << "'";
}

LogicalResult SparseAutogradDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned result, NamedAttribute attribute) {
  if (attribute.getName() == getNameAttrName())
    return verifyName(op, attribute.getValue());
  if (attribute.getName() == getGradientOfAttrName()) {
    auto function = dyn_cast<FunctionOpInterface>(op);
    auto argument = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!function || !argument || argument.getValue().isNegative() ||
        argument.getValue().uge(function.getNumArguments()))
      return op->emitError("'") << getGradientOfAttrName()
                                << "' must be the number of an argument";
    return success();
  }
  if (attribute.getName() == getBoundAttrName()) {
    if (!isa<DictionaryAttr>(attribute.getValue()))
      return op->emitError("'")
             << getBoundAttrName() << "' must be a dictionary";
    return success();
  }
  if (attribute.getName() == getAnyFormatAttrName()) {
    auto function = dyn_cast<FunctionOpInterface>(op);
    return verifyAnyFormat(op, attribute.getValue(),
                           function ? function.getResultTypes()[result]
                                    : Type());
  }
  return op->emitError("unknown attribute '")
         << attribute.getName().getValue() << "' on a result; the dialect has '"
         << getNameAttrName() << "', '" << getGradientOfAttrName() << "', '"
         << getBoundAttrName() << "' and '" << getAnyFormatAttrName() << "'";
}

void SparseAutogradDialect::getCanonicalizationPatterns(
    RewritePatternSet &patterns) const {
  populateMoveCanonicalizationPatterns(patterns);
  populateSliceCanonicalizationPatterns(patterns);
  populateShapeCanonicalizationPatterns(patterns);
}
