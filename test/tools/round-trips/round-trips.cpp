//===- round-trips.cpp - Save random results and read them again ----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   round-trips --count=N [--seed=S] [--only=I] FOLDER
//
// draws N tensors of rank 0 to 5, dense and sparse, of every element type and
// in encodings of every kind, with empty rows, extents of 0 and explicit zeros.
// Each is saved to a file of every format and bound again, as an argument of
// the same type whose extents are open or not. What comes back must be the
// same: extents, pattern and the bits of values (in text, a NaN is any NaN). A
// format that cannot hold a tensor must refuse it with a diagnostic that names
// one that can; what a format can hold is said here, in `canHold`, not taken
// from the writers.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/ConvertElements.h"
#include "SparseAutograd/Runner/Values.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>
#include <map>
#include <random>

using namespace llvm;
using namespace sparse_autograd;
using io::ElementType;

static cl::opt<std::string> folder(cl::Positional, cl::Required);
static cl::opt<unsigned> countOption("count", cl::init(100));
static cl::opt<unsigned> seedOption("seed", cl::init(1));
static cl::opt<int> onlyOption("only", cl::init(-1));

namespace {

/// A tensor, and the type of the result that it is.
struct Drawn {
  json::Object description;
  io::CoordinateTensor tensor; ///< of a dense one, all its elements
  bool isSparse = false;
};

class Drawer {
public:
  explicit Drawer(uint64_t seed) : random(seed) {}

  Drawn draw();
  bool oneIn(unsigned n) { return below(n) == 0; }

private:
  int64_t below(int64_t end) { return random() % end; }
  json::Object drawEncoding(size_t rank, ArrayRef<int64_t> shape);
  uint64_t drawBits(ElementType type);

  std::mt19937_64 random;
};

} // namespace

static constexpr std::pair<ElementType, const char *> types[] = {
    {ElementType::Bool, "i1"},   {ElementType::I8, "i8"},
    {ElementType::I16, "i16"},   {ElementType::I32, "i32"},
    {ElementType::I64, "i64"},   {ElementType::F16, "f16"},
    {ElementType::BF16, "bf16"}, {ElementType::F32, "f32"},
    {ElementType::F64, "f64"}};

static const fltSemantics &getFloat(ElementType type) {
  return *getSemantics(type);
}

uint64_t Drawer::drawBits(ElementType type) {
  if (type == ElementType::Bool)
    return !oneIn(4);
  if (getSemantics(type)) {
    const fltSemantics &semantics = getFloat(type);
    APFloat special[] = {APFloat::getZero(semantics),
                         APFloat::getZero(semantics, /*Negative=*/true),
                         APFloat::getOne(semantics),
                         APFloat::getSmallest(semantics),
                         APFloat::getLargest(semantics, /*Negative=*/true)};
    if (oneIn(3))
      return special[below(std::size(special))].bitcastToAPInt().getZExtValue();
    // Any bits: denormals, infinities and NaNs are among them, rarely.
    return random();
  }
  if (oneIn(3))
    return below(3) - 1;
  return random() >> below(64);
}

json::Object Drawer::drawEncoding(size_t rank, ArrayRef<int64_t> shape) {
  std::vector<int64_t> dims(rank);
  for (size_t dim = 0; dim < rank; ++dim)
    dims[dim] = dim;
  std::shuffle(dims.begin(), dims.end(), random);
  json::Array levels;
  auto add = [&](StringRef format, int64_t dim, bool isUnique,
                 int64_t block = 0, StringRef part = "") {
    json::Object level{
        {"format", format}, {"dimension", dim}, {"unique", isUnique}};
    if (block) {
      level["block"] = block;
      level["part"] = part;
    }
    levels.push_back(std::move(level));
  };
  switch (below(rank == 2 ? 4 : 3)) {
  case 0:
    for (size_t i = 0; i < rank; ++i)
      add(i          ? "singleton"
          : oneIn(2) ? "compressed"
                     : "loose_compressed",
          dims[i], i + 1 == rank);
    break;
  case 1:
    // What SciPy knows: dense levels, then compressed ones, in any order.
    for (size_t i = 0; i < rank; ++i)
      add(i + 1 == rank ? "compressed" : "dense", dims[i], true);
    break;
  case 2: {
    static constexpr const char *formats[] = {"dense", "compressed",
                                              "loose_compressed"};
    for (size_t i = 0; i < rank; ++i)
      add(formats[below(3)], dims[i], true);
    break;
  }
  case 3: {
    int64_t rows = below(3) + 1, columns = below(3) + 1;
    add("dense", 0, true, rows, "quotient");
    add("compressed", 1, true, columns, "quotient");
    add("dense", 0, true, rows, "remainder");
    add("dense", 1, true, columns, "remainder");
    break;
  }
  }
  static constexpr const char *widths[] = {"i16", "i32", "i64", "index"};
  return json::Object{{"levels", std::move(levels)},
                      {"position_type", widths[below(4)]},
                      {"coordinate_type", widths[below(4)]}};
}

Drawn Drawer::draw() {
  Drawn drawn;
  drawn.isSparse = !oneIn(4);
  size_t rank = drawn.isSparse ? below(5) + 1 : below(6);
  if (oneIn(3))
    rank = 2;
  auto [type, typeName] = types[below(std::size(types))];
  io::CoordinateTensor &tensor = drawn.tensor;
  int64_t elements = 1;
  for (size_t dim = 0; dim < rank; ++dim) {
    tensor.shape.push_back(oneIn(12) ? 0 : below(rank > 3 ? 3 : 6) + 1);
    tensor.isInferred.push_back(false);
    elements *= tensor.shape.back();
  }
  // From nothing stored to everything.
  unsigned share = drawn.isSparse ? below(6) : 5;
  bool onesAlone = drawn.isSparse && oneIn(4);
  std::vector<uint64_t> values;
  for (int64_t element = 0; element < elements; ++element) {
    if (below(5) >= share)
      continue;
    SmallVector<int64_t> at(rank);
    int64_t rest = element;
    for (size_t dim = rank; dim-- > 0; rest /= tensor.shape[dim])
      at[dim] = rest % tensor.shape[dim];
    append_range(tensor.coordinates, at);
    uint64_t one = 1;
    if (const fltSemantics *semantics = getSemantics(type))
      one = APFloat::getOne(*semantics).bitcastToAPInt().getZExtValue();
    values.push_back(onesAlone ? one : drawBits(type));
  }
  tensor.values = cantFail(
      io::makeDenseArray("", type, {static_cast<int64_t>(values.size())}, {}));
  size_t width = io::getByteWidth(type);
  for (auto [place, bits] : enumerate(values))
    std::memcpy(tensor.values.data.data() + place * width, &bits, width);
  json::Array shape;
  for (int64_t extent : tensor.shape)
    shape.push_back(oneIn(2) ? json::Value(nullptr) : json::Value(extent));
  drawn.description = json::Object{
      {"name", "A"}, {"element_type", typeName}, {"shape", std::move(shape)}};
  if (drawn.isSparse)
    drawn.description["encoding"] = drawEncoding(rank, tensor.shape);
  return drawn;
}

//===----------------------------------------------------------------------===//
// What formats hold
//===----------------------------------------------------------------------===//

/// Whether a file of `format` holds what is stored: `stored` is what the result
/// has, which for blocks is more than what was drawn.
static bool canHold(StringRef format, const io::CoordinateTensor &stored,
                    bool isSparse) {
  ElementType type = stored.values.type;
  size_t rank = stored.shape.size();
  auto all = [&](auto holds) {
    for (int64_t i = 0, e = stored.values.getNumElements(); i < e; ++i)
      if (!holds(i))
        return false;
    return true;
  };
  auto getValue = [&](int64_t i) { return io::getAsDouble(stored.values, i); };
  if (format == ".npz")
    return isSparse && type != ElementType::BF16;
  if (format == ".npy")
    return type != ElementType::BF16;
  // A mask is true of what a file of numbers stores.
  bool hasFalse = type == ElementType::Bool &&
                  !all([&](int64_t i) { return getValue(i) == 1; });
  if (format == ".tns")
    return rank > 0 && (isSparse ? !hasFalse : type != ElementType::Bool);
  if (rank != 2)
    return false;
  if (!isSparse)
    return format == ".mtx";
  if (format == ".mtx")
    return !hasFalse;
  bool isExact =
      type != ElementType::I64 || all([&](int64_t i) {
        int64_t integer = stored.values.as<int64_t>()[i];
        double value = static_cast<double>(integer);
        return value < 0x1p63 && static_cast<int64_t>(value) == integer;
      });
  if (format == ".smtx")
    return all([&](int64_t i) { return getValue(i) == 1; });
  // A table of triplets names the rows and the columns that it has.
  for (size_t dim : {0, 1}) {
    std::vector<bool> isThere(stored.shape[dim]);
    for (int64_t i = 0, e = stored.getNumEntries(); i < e; ++i)
      isThere[stored.getCoordinates(i)[dim]] = true;
    if (is_contained(isThere, false))
      return false;
  }
  return stored.getNumEntries() > 0 && !hasFalse && isExact &&
         all([&](int64_t i) { return std::isfinite(getValue(i)); });
}

static constexpr const char *formats[] = {".npz", ".npy",  ".mtx",
                                          ".tns", ".smtx", ".csv"};

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// The elements of a dense or sparse value by their coordinates. In text any
/// NaN is one; a dense file of a sparse tensor has no zeros.
static std::map<std::vector<int64_t>, std::string>
getElements(const io::CoordinateTensor &tensor, StringRef format,
            bool isSparse) {
  std::map<std::vector<int64_t>, std::string> elements;
  size_t width = io::getByteWidth(tensor.values.type);
  bool isText = format != ".npz" && format != ".npy";
  for (int64_t i = 0, e = tensor.values.getNumElements(); i < e; ++i) {
    double value = io::getAsDouble(tensor.values, i);
    if (format == ".npy" && isSparse && value == 0)
      continue;
    std::string bits(tensor.values.data.data() + i * width, width);
    ArrayRef<int64_t> at;
    if (tensor.getRank())
      at = tensor.getCoordinates(i);
    elements[at.vec()] = isText && std::isnan(value) ? "nan" : bits;
  }
  return elements;
}

static Expected<io::CoordinateTensor> getStored(const Value &value) {
  if (value.isSparse())
    return value.toCoordinates();
  Expected<io::DenseArray> array = value.toArray();
  if (!array)
    return array.takeError();
  if (!array->shape.empty())
    return io::collectElements(*array, {}, "A");
  io::CoordinateTensor number;
  array->shape = {1};
  number.values = std::move(*array);
  return std::move(number);
}

/// What is wrong with the file of one format; empty if nothing is.
static std::string check(const Drawn &drawn, const Value &value,
                         const ValueType &type, const std::string &path,
                         StringRef format) {
  Expected<io::CoordinateTensor> before = getStored(value);
  if (!before)
    return toString(before.takeError());
  io::PreparedFile file = value.prepareFile(path);
  bool isHeld = canHold(format, *before, drawn.isSparse);
  if (!file) {
    std::string message = toString(file.takeError());
    if (isHeld)
      return "is refused: " + message;
    // A number of bf16 is printed.
    if (none_of(formats, [&](StringRef other) {
          return canHold(other, *before, drawn.isSparse);
        }))
      return "";
    StringRef remedy = StringRef(message).rsplit("; ").second;
    for (const char *other : formats)
      if ((remedy.contains(other + std::string(" ")) ||
           remedy.contains(other + std::string(",")) ||
           remedy.ends_with(other)) &&
          canHold(other, *before, drawn.isSparse))
        return "";
    return "is refused without a format that can hold it: " + message;
  }
  if (!isHeld)
    return "is written, but cannot be held";
  if (Error error = (*file)->commit())
    return toString(std::move(error));
  StringMap<std::string> given;
  given["A"] = path;
  auto bound = bindArguments(type, given);
  if (!bound)
    return "cannot be read: " + toString(bound.takeError());
  Expected<io::CoordinateTensor> after = getStored(bound->front());
  if (!after)
    return toString(after.takeError());
  if (before->shape != after->shape)
    return "has other extents";
  // A dense file of a sparse tensor does not say which zeros are stored.
  if (getElements(*before, format, drawn.isSparse) !=
      getElements(*after, format, drawn.isSparse))
    return "has other elements";
  return "";
}

/// Whether a value stores all that was drawn.
static bool hasAll(const Value &value, const Drawn &drawn) {
  Expected<io::CoordinateTensor> stored = getStored(value);
  if (!stored) {
    consumeError(stored.takeError());
    return false;
  }
  auto elements = getElements(*stored, ".npz", drawn.isSparse);
  for (const auto &[at, bits] :
       getElements(drawn.tensor, ".npz", drawn.isSparse)) {
    auto it = elements.find(at);
    if (it == elements.end() || it->second != bits)
      return false;
  }
  return stored->shape == drawn.tensor.shape;
}

static io::CoordinateTensor copy(const io::CoordinateTensor &tensor) {
  io::CoordinateTensor result;
  result.shape = tensor.shape;
  result.isInferred = tensor.isInferred;
  result.coordinates = tensor.coordinates;
  result.values =
      cantFail(io::convertElements(tensor.values, tensor.values.type, {}, "",
                                   [](int64_t) { return std::string(); }));
  return result;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv);
  unsigned failures = 0;
  std::map<std::string, unsigned> saved;
  for (unsigned number = 0; number < countOption; ++number) {
    Drawer drawer(seedOption * uint64_t(1000003) + number);
    Drawn drawn = drawer.draw();
    if (onlyOption >= 0 && number != unsigned(onlyOption))
      continue;
    ValueType type = cantFail(ValueType::parse(drawn.description));
    auto fail = [&](const Twine &problem) {
      errs() << "tensor " << number << " (" << type.str() << "): " << problem
             << "\n";
      ++failures;
    };
    Expected<Value> value = [&]() -> Expected<Value> {
      if (drawn.isSparse)
        return Value::fromCoordinates(type, copy(drawn.tensor), "A");
      io::DenseArray elements = std::move(copy(drawn.tensor).values);
      elements.shape = drawn.tensor.shape;
      return Value::fromArray(type, std::move(elements), "A");
    }();
    if (!value) {
      fail(toString(value.takeError()));
      continue;
    }
    if (!hasAll(*value, drawn))
      fail("is not what was drawn");
    ValueType open = type;
    for (int64_t &extent : *open.shape)
      extent = -1;
    for (const char *format : formats) {
      std::string path =
          folder + "/a" + format + (drawer.oneIn(4) ? ".gz" : "");
      const ValueType &read = drawer.oneIn(2) ? open : type;
      std::string problem = check(drawn, *value, read, path, format);
      if (!problem.empty())
        fail(Twine(path) + " " + problem);
      else
        saved[format] += sys::fs::exists(path);
      std::ignore = sys::fs::remove(path);
    }
  }
  for (const auto &[format, count] : saved)
    outs() << format << ": " << count << " files\n";
  outs() << countOption << " tensors, " << failures << " failures\n";
  return failures != 0;
}
