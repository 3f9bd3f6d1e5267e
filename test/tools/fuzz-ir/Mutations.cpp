//===- Mutations.cpp - changes of programs --------------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mutations.h"

#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace sparse_autograd::fuzz;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Words of the same kind stand for one another.
static const std::vector<std::vector<StringRef>> &getFamilies() {
  static const std::vector<std::vector<StringRef>> families = {
      {"f64", "f32", "f16", "bf16", "i1", "i8", "i32", "i64", "index",
       "complex<f32>", "f8E4M3FN", "i4"},
      {"0", "1", "2", "3", "4", "7", "8", "64", "-1", "4294967296",
       "9223372036854775807", "-9223372036854775808", "?"},
      {"0.0", "1.0", "-0.0", "1.0e400", "0x7FC00000", "-1.0"},
      {"dense", "compressed", "singleton", "loose_compressed", "batch",
       "compressed(nonunique)", "singleton(soa)", "structured[2, 4]",
       "compressed(nonunique, nonordered)"},
      {"parallel", "reduction", "window"},
      {"tensor", "memref", "vector", "tensor<*xf32>"},
      {"sum", "mean", "max", "min", "prod", "var", "std", "norm2", "logsumexp"},
      {"addf", "mulf", "subf", "divf", "maximumf", "minnumf", "remf"},
      {"negf", "exp", "log", "tanh", "sqrt", "absf", "extf", "truncf"},
      {"value_and_grad", "vjp", "jvp", "checkpoint", "custom_vjp"},
      {"sparse_autograd.schedule", "sparse_autograd.nnz",
       "sparse_autograd.name", "sparse_autograd.cotangent",
       "sparse_autograd.any_format", "sparse_autograd.mask_of",
       "sparse_autograd.gradient_of", "sparse_autograd.nme"},
      {"unit", "true", "false", "[]", "\"x\"", "[0]", "-7 : index",
       "#sparse_autograd.schedule<parallel>",
       "#sparse_autograd.schedule<lanes, vector = 4>"},
      {"private", "public", "nested"}};
  return families;
}

namespace {
/// A word of a text, or a single character of another kind.
struct Word {
  size_t begin, end;
};
} // namespace

static bool isWordCharacter(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '.' || c == '%' || c == '@' ||
         c == '#' || c == '^' || c == '!';
}

static std::vector<Word> getWords(StringRef text) {
  std::vector<Word> words;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (llvm::isSpace(text[at])) {
      at = end;
      continue;
    }
    if (isWordCharacter(text[at]))
      while (end < text.size() && isWordCharacter(text[end]))
        ++end;
    words.push_back({at, end});
    at = end;
  }
  return words;
}

/// A word that may stand where `word` does.
static std::string getSubstitute(StringRef word, StringRef text,
                                 const std::vector<Word> &words,
                                 Random &random) {
  // Within a type: an extent, or the element type.
  if (word.contains('x') && llvm::isDigit(word.front())) {
    SmallVector<StringRef> parts;
    word.split(parts, 'x');
    const auto &family = getFamilies()[random.below(2)];
    parts[random.below(parts.size())] = random.pick(family);
    return llvm::join(parts, "x");
  }
  for (const auto &family : getFamilies())
    for (StringRef member : family)
      if (word == member)
        return random.pick(family).str();
  for (const auto &family : getFamilies())
    for (StringRef member : family)
      if (word.size() > member.size() && word.ends_with(member))
        return (word.drop_back(member.size()) + random.pick(family)).str();
  // Another word that begins alike: a value, a symbol, an alias.
  for (unsigned attempt = 0; attempt < 16; ++attempt) {
    const Word &other = random.pick(words);
    if (text[other.begin] == word.front())
      return text.slice(other.begin, other.end).str();
  }
  const Word &other = random.pick(words);
  return text.slice(other.begin, other.end).str();
}

static void mutateWord(std::string &text, Random &random) {
  std::vector<Word> words = getWords(text);
  if (words.empty())
    return;
  Word word = random.pick(words);
  StringRef old = StringRef(text).slice(word.begin, word.end);
  std::string replacement;
  if (!random.oneIn(10)) {
    replacement = getSubstitute(old, text, words, random);
    if (random.oneIn(12))
      replacement = (old + " " + replacement).str();
  }
  // Everywhere, for programs that fit together again.
  bool isEverywhere = random.oneIn(3);
  std::string before = old.str();
  if (!isEverywhere) {
    text.replace(word.begin, word.end - word.begin, replacement);
    return;
  }
  std::string changed;
  size_t last = 0;
  for (const Word &each : words)
    if (StringRef(text).slice(each.begin, each.end) == before) {
      changed += text.substr(last, each.begin - last) + replacement;
      last = each.end;
    }
  text = changed + text.substr(last);
}

static void mutateLine(std::string &text, Random &random) {
  SmallVector<StringRef> lines;
  StringRef(text).split(lines, '\n');
  size_t at = random.below(lines.size()), other = random.below(lines.size());
  switch (random.below(4)) {
  case 0:
    lines.erase(lines.begin() + at);
    break;
  case 1:
    lines.insert(lines.begin() + other, lines[at]);
    break;
  case 2:
    std::swap(lines[at], lines[other]);
    break;
  default:
    lines[at] = lines[at].take_front(random.below(lines[at].size() + 1));
    break;
  }
  text = llvm::join(lines, "\n");
}

void sparse_autograd::fuzz::mutateText(std::string &text, Random &random) {
  for (size_t count = 1 + random.below(3); count > 0 && !text.empty(); --count)
    if (random.oneIn(6))
      mutateLine(text, random);
    else
      mutateWord(text, random);
}

void sparse_autograd::fuzz::mutateBytes(std::string &bytes, Random &random) {
  for (size_t count = 1 + random.below(4); count > 0 && !bytes.empty();
       --count) {
    size_t at = random.below(bytes.size());
    switch (random.below(5)) {
    case 0:
      bytes[at] ^= static_cast<char>(1 << random.below(8));
      break;
    case 1:
      bytes[at] = static_cast<char>(random.below(256));
      break;
    case 2:
      bytes.erase(at, 1 + random.below(8));
      break;
    case 3:
      bytes.insert(
          at, bytes.substr(random.below(bytes.size()), 1 + random.below(16)));
      break;
    default:
      bytes.resize(at);
      break;
    }
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Another type for `type`: of its element, an extent, or its encoding.
static Type getOtherType(Type type, ArrayRef<Type> types, Random &random) {
  MLIRContext *context = type.getContext();
  Builder builder(context);
  Type elements[] = {builder.getF64Type(),  builder.getF32Type(),
                     builder.getF16Type(),  builder.getBF16Type(),
                     builder.getI1Type(),   builder.getI64Type(),
                     builder.getIndexType()};
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || random.oneIn(3))
    return random.oneIn(2) ? random.pick(types) : random.pick(elements);
  SmallVector<int64_t> shape(tensor.getShape());
  switch (random.below(4)) {
  case 0:
    return tensor.clone(random.pick(elements));
  case 1: {
    int64_t extents[] = {0, 1, 2, 3, 8, 4096, ShapedType::kDynamic};
    if (!shape.empty())
      random.pick(shape) = random.pick(extents);
    return RankedTensorType::get(shape, tensor.getElementType(),
                                 tensor.getEncoding());
  }
  case 2:
    return RankedTensorType::get(shape, tensor.getElementType());
  default: {
    // That of another type, if it has the rank for it.
    auto other = dyn_cast<RankedTensorType>(random.pick(types));
    Attribute encoding = other ? other.getEncoding() : Attribute();
    if (encoding && other.getRank() != tensor.getRank())
      return type;
    return RankedTensorType::get(shape, tensor.getElementType(), encoding);
  }
  }
}

static Attribute getOtherAttribute(Attribute attribute,
                                   ArrayRef<NamedAttribute> attributes,
                                   Random &random) {
  Builder builder(attribute.getContext());
  int64_t numbers[] = {-1, 0, 1, 2, 7, 1 << 20, INT64_MAX, INT64_MIN};
  if (auto integer = dyn_cast<IntegerAttr>(attribute); integer)
    if (integer.getType().isIndex() || integer.getType().isInteger(64))
      return IntegerAttr::get(integer.getType(), random.pick(numbers));
  if (auto array = dyn_cast<DenseI64ArrayAttr>(attribute)) {
    SmallVector<int64_t> values(array.asArrayRef());
    if (values.empty() || random.oneIn(3))
      values.push_back(random.pick(numbers));
    else
      random.pick(values) = random.pick(numbers);
    return builder.getDenseI64ArrayAttr(values);
  }
  return random.pick(attributes).getValue();
}

/// Whether anything outside of `op` uses its results or, which another mutation
/// may have done, what is defined in its regions.
static bool isUsedOutside(Operation *op) {
  auto isOutside = [&](Operation *user) { return !op->isAncestor(user); };
  return op
      ->walk([&](Operation *inner) {
        bool isUsed = llvm::any_of(inner->getUsers(), isOutside);
        for (Region &region : inner->getRegions())
          for (Block &block : region)
            for (BlockArgument argument : block.getArguments())
              isUsed |= llvm::any_of(argument.getUsers(), isOutside);
        return isUsed ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void sparse_autograd::fuzz::mutateOps(ModuleOp module, Random &random) {
  std::vector<Operation *> ops;
  SmallVector<Type> types;
  SmallVector<NamedAttribute> attributes;
  module.walk([&](Operation *op) {
    if (op == module)
      return;
    ops.push_back(op);
    llvm::append_range(types, op->getResultTypes());
    llvm::append_range(attributes, op->getAttrs());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::append_range(types, block.getArgumentTypes());
  });
  if (ops.empty() || types.empty() || attributes.empty())
    return;
  MLIRContext *context = module.getContext();
  Operation *op = random.pick(ops), *other = random.pick(ops);
  // A value of the type of `value`, if there is one, which need not dominate.
  auto getOther = [&](Value value) -> Value {
    for (unsigned attempt = 0; attempt < 32; ++attempt) {
      Operation *source = random.pick(ops);
      for (Value result : source->getResults())
        if (result.getType() == value.getType() && result != value)
          return result;
      if (source->getNumRegions() != 0 && !source->getRegion(0).empty())
        for (Value argument : source->getRegion(0).getArguments())
          if (argument.getType() == value.getType() && argument != value)
            return argument;
    }
    return value;
  };
  switch (random.below(9)) {
  case 0: {
    // Deleted: others of the same types take the place of its results.
    for (Value result : op->getResults())
      for (OpOperand &use : llvm::make_early_inc_range(result.getUses()))
        use.set(getOther(result));
    if (!isUsedOutside(op))
      op->erase();
    return;
  }
  case 1: {
    OpBuilder builder(op);
    builder.clone(*op);
    return;
  }
  case 2:
    if (op->getBlock() == other->getBlock() &&
        !other->hasTrait<OpTrait::IsTerminator>() &&
        !op->hasTrait<OpTrait::IsTerminator>())
      op->moveBefore(other);
    return;
  case 3:
    if (op->getNumOperands() > 1) {
      size_t a = random.below(op->getNumOperands());
      size_t b = random.below(op->getNumOperands());
      Value first = op->getOperand(a);
      op->setOperand(a, op->getOperand(b));
      op->setOperand(b, first);
    }
    return;
  case 4:
    if (op->getNumOperands() != 0) {
      size_t at = random.below(op->getNumOperands());
      op->setOperand(at, getOther(op->getOperand(at)));
    }
    return;
  case 5: {
    // A type, everywhere.
    Type from = random.pick(types), to = getOtherType(from, types, random);
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](Type type) -> std::optional<Type> {
      return type == from ? to : type;
    });
    replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    return;
  }
  case 6: {
    if (op->getNumResults() == 0)
      return;
    Value result = op->getResult(random.below(op->getNumResults()));
    result.setType(getOtherType(result.getType(), types, random));
    return;
  }
  case 7: {
    ArrayRef<NamedAttribute> own = op->getAttrs();
    if (own.empty())
      return;
    // One of another kind is not what the accessors of an op expect: in text
    // the parser sees to that.
    NamedAttribute changed = random.pick(own);
    Attribute other = getOtherAttribute(changed.getValue(), attributes, random);
    if (other.getTypeID() == changed.getValue().getTypeID())
      op->setAttr(changed.getName(), other);
    return;
  }
  default: {
    const char *names[] = {"sparse_autograd.nnz", "sparse_autograd.cotangent",
                           "sparse_autograd.nmae", "sparse_autograd.manifest",
                           "sparse_autograd.schedule"};
    if (random.oneIn(2)) {
      // Each part of a schedule or none of it, on any op.
      sparse_autograd::Schedule schedule;
      schedule.isParallel = random.oneIn(2);
      schedule.isOverEntries = random.oneIn(2);
      schedule.lanes = random.oneIn(2) ? 8 : 0;
      schedule.vector = random.oneIn(2) ? 4 : 1;
      setSchedule(op, schedule);
      return;
    }
    op->setAttr(random.pick(names), random.oneIn(2)
                                        ? Attribute(UnitAttr::get(context))
                                        : random.pick(attributes).getValue());
    return;
  }
  }
}
