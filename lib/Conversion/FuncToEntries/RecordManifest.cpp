//===- RecordManifest.cpp - the functions as callers see them ---*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/FuncToEntries/FuncToEntries.h"

#include "SparseAutograd/Dialect/SparseAutograd/IR/EntryAttributes.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseEncodings.h"
#include "SparseAutograd/Runtime/Runtime.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensorType.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_RECORDMANIFEST
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

/// How the manifest writes an element type; empty if the C ABI has none.
static std::string getElementTypeName(Type type) {
  if (type.isIndex())
    return "index";
  bool known = isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
  for (unsigned width : {1, 8, 16, 32, 64})
    known |= type.isSignlessInteger(width);
  if (!known)
    return "";
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

/// How the manifest describes the levels of an encoding.
static llvm::json::Object
describeEncoding(sparse_tensor::SparseTensorType type) {
  AffineMap map = type.getExpandedDimToLvl();
  llvm::json::Array levels;
  for (auto [number, level] : llvm::enumerate(type.getLvlTypes())) {
    llvm::json::Object description{{"format", StringRef(getFormat(level).name)},
                                   {"unique", isUniqueLT(level)}};
    AffineExpr expr = map.getResult(number);
    if (auto part = dyn_cast<AffineBinaryOpExpr>(expr)) {
      description["block"] = cast<AffineConstantExpr>(part.getRHS()).getValue();
      description["part"] =
          part.getKind() == AffineExprKind::Mod ? "remainder" : "quotient";
      expr = part.getLHS();
    }
    description["dimension"] = cast<AffineDimExpr>(expr).getPosition();
    levels.push_back(std::move(description));
  }
  return llvm::json::Object{
      {"levels", std::move(levels)},
      {"position_type", getElementTypeName(type.getPosType())},
      {"coordinate_type", getElementTypeName(type.getCrdType())}};
}

/// The description of an argument or a result, or why there is none.
static FailureOr<llvm::json::Object> describe(Type type, StringRef name) {
  llvm::json::Object description{{"name", name.str()}};
  Type element = type;
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    if (isSparse(tensor))
      description["encoding"] =
          describeEncoding(sparse_tensor::SparseTensorType(tensor));
    else if (tensor.getEncoding())
      return failure();
    element = tensor.getElementType();
    llvm::json::Array shape;
    for (int64_t extent : tensor.getShape())
      shape.push_back(ShapedType::isDynamic(extent)
                          ? llvm::json::Value(nullptr)
                          : llvm::json::Value(extent));
    description["shape"] = std::move(shape);
  }
  std::string elementName = getElementTypeName(element);
  if (elementName.empty())
    return failure();
  description["element_type"] = elementName;
  return description;
}

/// A number as the text that reads back as the same one.
static std::string formatNumber(Attribute attribute) {
  llvm::SmallString<32> text;
  if (auto number = dyn_cast<FloatAttr>(attribute))
    number.getValue().toString(text);
  else if (auto flag = dyn_cast<BoolAttr>(attribute))
    text = flag.getValue() ? "true" : "false";
  else
    cast<IntegerAttr>(attribute).getValue().toString(text, /*Radix=*/10,
                                                     /*Signed=*/true);
  return text.str().str();
}

static FailureOr<llvm::json::Array>
describeAll(func::FuncOp function, TypeRange types, StringRef kind,
            llvm::function_ref<DictionaryAttr(unsigned)> getAttributes) {
  llvm::json::Array all;
  llvm::StringSet<> names;
  for (auto [i, type] : llvm::enumerate(types)) {
    std::string name = (kind + Twine(i)).str();
    DictionaryAttr attributes = getAttributes(i);
    auto getString = [&](StringRef key) {
      return attributes ? attributes.getAs<StringAttr>(key) : StringAttr();
    };
    if (auto given = getString(SparseAutogradDialect::getNameAttrName()))
      name = given.str();
    if (!names.insert(name).second)
      return function.emitError("has two ")
             << (kind == "arg" ? "arguments" : "results") << " named '" << name
             << "'; give each its own 'sparse_autograd.name'";
    if (isSparse(type) &&
        failed(checkEncoding(cast<RankedTensorType>(type), [&]() {
          return function.emitError("'") << name << "' ";
        })))
      return failure();
    FailureOr<llvm::json::Object> description = describe(type, name);
    if (failed(description))
      return function.emitError("'")
             << name << "' has type " << type
             << ", which callers cannot pass: an entry takes and returns "
                "scalars and ranked tensors, dense or sparse, of i1, i8, i16, "
                "i32, i64, "
                "index, f16, bf16, f32 or f64; make the function private or "
                "convert inside it";
    if (auto of = getString(SparseAutogradDialect::getMaskOfAttrName()))
      (*description)["mask_of"] = of.str();
    if (Attribute number =
            attributes
                ? attributes.get(SparseAutogradDialect::getDefaultAttrName())
                : Attribute())
      (*description)["default"] = formatNumber(number);
    all.push_back(std::move(*description));
  }
  return all;
}

/// Notes which results of an entry are gradients of its own arguments.
static void noteGradients(func::FuncOp function,
                          const llvm::json::Array &arguments,
                          llvm::json::Array &results) {
  auto numbers =
      function->getAttrOfType<DenseI64ArrayAttr>(gradientsAttributeName);
  for (int64_t i = 0; numbers && i < numbers.size(); i += 2) {
    llvm::json::Object &gradient = *results[numbers[i]].getAsObject();
    gradient["role"] = "gradient";
    gradient["gradient_of"] =
        arguments[numbers[i + 1]].getAsObject()->getString("name")->str();
  }
}

/// Whether the two entries of a split_vjp have the values that `split` numbers.
static bool hasValuesOf(DictionaryAttr split, const llvm::json::Object &forward,
                        const llvm::json::Object &backward) {
  auto count = [](const llvm::json::Object &entry, StringRef key) {
    return static_cast<int64_t>(entry.getArray(key)->size());
  };
  int64_t residuals = split.getAs<IntegerAttr>("residuals").getInt();
  int64_t results = count(forward, "results") - residuals;
  auto numbers = [&](StringRef key) {
    return split.getAs<DenseI64ArrayAttr>(key).asArrayRef();
  };
  auto areBelow = [](ArrayRef<int64_t> indices, int64_t end) {
    return llvm::all_of(
        indices, [&](int64_t index) { return index >= 0 && index < end; });
  };
  int64_t cotangents = numbers("cotangents").size();
  int64_t gradients = numbers("wrt").size();
  return results >= 0 &&
         count(backward, "arguments") >= residuals + cotangents &&
         count(backward, "results") >= gradients &&
         areBelow(numbers("cotangents"), results) &&
         areBelow(numbers("wrt"), count(forward, "arguments"));
}

/// Notes in the descriptions of the two entries of a split_vjp what their
/// values are to each other, and describes the pair; null where `backward` is
/// of no pair of entries.
static FailureOr<llvm::json::Value> describePair(func::FuncOp backward,
                                                 llvm::json::Array &entries) {
  auto split = backward->getAttrOfType<DictionaryAttr>(splitAttributeName);
  if (!split ||
      split.getAs<StringAttr>("backward").getValue() != backward.getName())
    return llvm::json::Value(nullptr);
  auto find = [&](StringRef role) -> llvm::json::Object * {
    StringRef name = split.getAs<StringAttr>(role).getValue();
    for (llvm::json::Value &entry : entries)
      if (entry.getAsObject()->getString("name") == name)
        return entry.getAsObject();
    return nullptr;
  };
  llvm::json::Object *first = find("forward"), *second = find("backward");
  if (!first || !second)
    return llvm::json::Value(nullptr);
  if (!hasValuesOf(split, *first, *second))
    return backward.emitOpError("has a '")
           << splitAttributeName << "' with values that it or '@"
           << split.getAs<StringAttr>("forward").getValue()
           << "' does not have; sparse-autograd-differentiate states it";
  auto at = [](llvm::json::Object &entry, StringRef key,
               size_t index) -> llvm::json::Object & {
    return *(*entry.getArray(key))[index].getAsObject();
  };
  size_t residuals = split.getAs<IntegerAttr>("residuals").getInt();
  size_t results = first->getArray("results")->size() - residuals;
  auto getName = [](const llvm::json::Object &value) {
    // A copy: JSON does not own what a StringRef refers to.
    return value.getString("name")->str();
  };
  for (size_t index = 0; index < residuals; ++index) {
    at(*first, "results", results + index)["role"] = "residual";
    at(*second, "arguments", index)["role"] = "residual";
  }
  auto cotangents = split.getAs<DenseI64ArrayAttr>("cotangents").asArrayRef();
  for (auto [offset, index] : llvm::enumerate(cotangents)) {
    llvm::json::Object &cotangent =
        at(*second, "arguments", residuals + offset);
    cotangent["role"] = "cotangent";
    cotangent["cotangent_of"] = getName(at(*first, "results", index));
  }
  for (auto [offset, index] :
       llvm::enumerate(split.getAs<DenseI64ArrayAttr>("wrt").asArrayRef())) {
    llvm::json::Object &gradient = at(*second, "results", offset);
    gradient["role"] = "gradient";
    gradient["gradient_of"] = getName(at(*first, "arguments", index));
  }
  llvm::json::Object pair{{"forward", getName(*first)},
                          {"backward", getName(*second)}};
  if (llvm::json::Object *primal = find("primal"))
    pair["primal"] = getName(*primal);
  return llvm::json::Value(std::move(pair));
}

namespace {
struct RecordManifestPass
    : sparse_autograd::impl::RecordManifestBase<RecordManifestPass> {
  void runOnOperation() override {
    llvm::json::Array entries;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function.isPublic())
        continue;
      if (function.isExternal()) {
        function.emitError("is declared without a body; a program defines all "
                           "its functions");
        return signalPassFailure();
      }
      auto arguments =
          describeAll(function, function.getArgumentTypes(), "arg",
                      [&](unsigned i) { return function.getArgAttrDict(i); });
      auto results = describeAll(
          function, function.getResultTypes(), "result",
          [&](unsigned i) { return function.getResultAttrDict(i); });
      if (failed(arguments) || failed(results))
        return signalPassFailure();
      noteGradients(function, *arguments, *results);
      entries.push_back(llvm::json::Object{
          {"name", function.getName()},
          {"symbol", (entrySymbolPrefix + function.getName()).str()},
          {"arguments", std::move(*arguments)},
          {"results", std::move(*results)}});
    }
    llvm::json::Array pairs;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      FailureOr<llvm::json::Value> pair = describePair(function, entries);
      if (failed(pair))
        return signalPassFailure();
      if (pair->kind() != llvm::json::Value::Null)
        pairs.push_back(std::move(*pair));
    }
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      function->removeAttr(splitAttributeName);
      function->removeAttr(gradientsAttributeName);
    }
    llvm::json::Object manifest{
        {"version", manifestVersion},
        {"runtime_version", int64_t(SPARSE_AUTOGRAD_RUNTIME_VERSION)},
        {"pairs", std::move(pairs)},
        {"entries", std::move(entries)}};
    std::string text;
    llvm::raw_string_ostream(text) << llvm::json::Value(std::move(manifest));
    getOperation()->setAttr(manifestAttributeName,
                            StringAttr::get(&getContext(), text));
  }
};
} // namespace
