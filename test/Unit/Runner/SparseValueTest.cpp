//===- SparseValueTest.cpp - sparse arguments and results -----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../IO/TemporaryFolder.h"
#include "../Runtime/Entry.h"
#include "../Runtime/StorageReference.h"
#include "SparseAutograd/IO/Read.h"
#include "SparseAutograd/Runner/Values.h"

#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace sparse_autograd;
using sparse_autograd::io::getMessage;
using sparse_autograd::io::TemporaryFolder;

namespace {

llvm::Error save(const Value &value, llvm::StringRef path) {
  io::PreparedFile file = value.prepareFile(path);
  return file ? (*file)->commit() : file.takeError();
}

ValueType parseType(const std::string &text) {
  llvm::json::Value json = llvm::cantFail(llvm::json::parse(text));
  return llvm::cantFail(ValueType::parse(*json.getAsObject()));
}

/// The manifest's text of a level.
std::string level(llvm::StringRef format, int64_t dimension,
                  llvm::StringRef rest = "", bool unique = true) {
  return R"({"format": ")" + format.str() + R"(", "unique": )" +
         (unique ? "true" : "false") + R"(, "dimension": )" +
         std::to_string(dimension) + rest.str() + "}";
}

std::string encoding(llvm::StringRef levels, llvm::StringRef position = "index",
                     llvm::StringRef coordinate = "index") {
  return (R"({"levels": [)" + levels + R"(], "position_type": ")" + position +
          R"(", "coordinate_type": ")" + coordinate + "\"}")
      .str();
}

std::string type(llvm::StringRef encoding, llvm::StringRef shape = "[2, 3]",
                 llvm::StringRef element = "f64") {
  return (R"({"name": "A", "element_type": ")" + element + R"(", "shape": )" +
          shape + R"(, "encoding": )" + encoding + "}")
      .str();
}

const std::string csr =
    encoding(level("dense", 0) + "," + level("compressed", 1));

/// The manifest's levels of the formats of the reference.
std::vector<std::string> getMatrixLevels() {
  auto loose = [](int64_t dim, bool unique = true) {
    return level("loose_compressed", dim, "", unique);
  };
  auto pair = [](std::string first, std::string second) {
    return std::move(first) + ", " + second;
  };
  return {
      pair(level("compressed", 0, "", false), level("singleton", 1)),
      pair(level("compressed", 1, "", false), level("singleton", 0)),
      pair(loose(0, false), level("singleton", 1)),
      pair(level("dense", 0), level("compressed", 1)),
      pair(level("dense", 1), level("compressed", 0)),
      pair(level("compressed", 0), level("compressed", 1)),
      pair(level("compressed", 0), level("dense", 1)),
      pair(level("dense", 0), level("dense", 1)),
      pair(level("dense", 0), loose(1)),
      pair(loose(0), level("compressed", 1)),
      pair(level("dense", 0), level("compressed", 1, "", false)),
      pair(pair(level("dense", 0, R"(, "block": 2, "part": "quotient")"),
                level("compressed", 1, R"(, "block": 2, "part": "quotient")")),
           pair(level("dense", 0, R"(, "block": 2, "part": "remainder")"),
                level("dense", 1, R"(, "block": 2, "part": "remainder")")))};
}

/// A tensor of f64.
io::CoordinateTensor
makeTensor(llvm::ArrayRef<int64_t> shape,
           const std::vector<std::pair<Coordinates, double>> &entries) {
  io::CoordinateTensor tensor;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.isInferred.assign(shape.size(), false);
  tensor.values = llvm::cantFail(io::makeDenseArray(
      "", io::ElementType::F64, {int64_t(entries.size())}, {}));
  // As numbers of a text, which may be rounded.
  tensor.values.isText = true;
  for (auto [index, entry] : llvm::enumerate(entries)) {
    llvm::append_range(tensor.coordinates, entry.first);
    tensor.values.as<double>()[index] = entry.second;
  }
  return tensor;
}

/// The numbers of a component in the C ABI.
std::vector<int64_t> getNumbers(Value &value, size_t component,
                                unsigned bytes) {
  auto &memref =
      static_cast<SparseAutogradMemRef1 *>(value.getPointer())[component];
  std::vector<int64_t> numbers(memref.sizes[0], 0);
  for (size_t i = 0; i < numbers.size(); ++i)
    std::memcpy(&numbers[i],
                static_cast<const char *>(memref.aligned) + i * bytes, bytes);
  return numbers;
}

/// Every pattern in every format and width is stored as the reference has it,
/// and read back as it was, explicit zeros included.
TEST(SparseValue, StoresEveryPattern) {
  std::vector<StorageFormat> formats = getMatrixFormats();
  std::vector<std::string> levels = getMatrixLevels();
  ASSERT_EQ(formats.size(), levels.size());
  const std::tuple<const char *, const char *, unsigned, unsigned> widths[] = {
      {"index", "index", 8, 8},
      {"i32", "i32", 4, 4},
      {"i16", "i64", 2, 8},
      {"i8", "i16", 1, 2},
      {"i64", "i8", 8, 1}};
  for (auto [format, text] : llvm::zip_equal(formats, levels))
    for (auto [position, coordinate, positionBytes, coordinateBytes] : widths) {
      SCOPED_TRACE(format.name);
      ValueType valueType =
          parseType(type(encoding(text, position, coordinate)));
      EXPECT_EQ(llvm::ArrayRef<int64_t>(valueType.encoding->getFormats()),
                llvm::ArrayRef<int64_t>(format.levels));
      for (int pattern = 0; pattern < 64; ++pattern) {
        std::vector<std::pair<Coordinates, double>> entries;
        std::vector<Coordinates> levelEntries;
        for (int64_t place = 0; place < 6; ++place)
          if (pattern >> place & 1) {
            entries.push_back({{place / 3, place % 3}, place * 0.5});
            levelEntries.push_back(format.toLevels(entries.back().first));
          }
        io::CoordinateTensor tensor = makeTensor({2, 3}, entries);
        auto value = Value::fromCoordinates(
            valueType, makeTensor({2, 3}, entries), "file");
        ASSERT_TRUE(bool(value)) << toString(value.takeError());
        Storage expected =
            StorageBuilder(format.levels, format.toExtents({2, 3}))
                .build(levelEntries);
        size_t component = 0;
        for (size_t i = 0; i < format.levels.size(); ++i) {
          if (hasPositions(format.levels[i]))
            EXPECT_EQ(getNumbers(*value, component++, positionBytes),
                      expected.positions[i]);
          if (hasCoordinates(format.levels[i]))
            EXPECT_EQ(getNumbers(*value, component++, coordinateBytes),
                      expected.coordinates[i]);
        }
        auto &values = static_cast<SparseAutogradMemRef1 *>(
            value->getPointer())[component];
        ASSERT_EQ(values.sizes[0], int64_t(expected.values.size()));
        for (auto [slot, sharing] : llvm::enumerate(expected.values))
          EXPECT_EQ(static_cast<double *>(values.aligned)[slot],
                    sharing.empty() ? 0 : entries[sharing[0]].second);
        const int64_t *extents = reinterpret_cast<int64_t *>(&values + 1);
        EXPECT_EQ(extents[0], 2);
        EXPECT_EQ(extents[1], 3);
        EXPECT_EQ(value->getExtents(), llvm::ArrayRef<int64_t>({2, 3}));

        auto back = value->toCoordinates();
        ASSERT_TRUE(bool(back)) << toString(back.takeError());
        EXPECT_EQ(back->shape, tensor.shape);
        // What a dense level adds is zero.
        std::vector<std::pair<Coordinates, double>> stored;
        for (int64_t i = 0; i < back->getNumEntries(); ++i) {
          Coordinates at = back->getCoordinates(i).vec();
          bool isGiven = llvm::any_of(
              entries, [&](auto &entry) { return entry.first == at; });
          double number = back->values.as<double>()[i];
          if (isGiven)
            stored.push_back({at, number});
          else
            EXPECT_EQ(number, 0);
        }
        EXPECT_EQ(stored, entries);
        if (llvm::all_of(format.levels, hasCoordinates))
          EXPECT_EQ(back->getNumEntries(), int64_t(entries.size()));
      }
    }
}

TEST(SparseValue, ReadsAnEncoding) {
  ValueType bsr = parseType(
      type(encoding(getMatrixLevels().back(), "i32", "i64"), "[null, 3]"));
  EXPECT_EQ(bsr.str(),
            "tensor<?x3xf64, #sparse_tensor.encoding<{ map = (d0, d1) -> "
            "(d0 floordiv 2 : dense, d1 floordiv 2 : compressed, d0 mod 2 : "
            "dense, d1 mod 2 : dense), posWidth = 32, crdWidth = 64 }>>");
  EXPECT_EQ(bsr.encoding->getExtents({5, 3}),
            (llvm::SmallVector<int64_t>{3, 2, 2, 2}));
  EXPECT_EQ(parseType(type(encoding(getMatrixLevels()[1]))).str(),
            "tensor<2x3xf64, #sparse_tensor.encoding<{ map = (d0, d1) -> "
            "(d1 : compressed(nonunique), d0 : singleton(soa)) }>>");
}

TEST(SparseValue, RefusesWhatIsNoEncoding) {
  auto getProblem = [](const std::string &text,
                       const std::string &shape = "[2, 3]") {
    llvm::json::Value json =
        llvm::cantFail(llvm::json::parse(type(text, shape)));
    return getMessage(ValueType::parse(*json.getAsObject()));
  };
  const std::string begin = "the manifest gives 'A' an encoding ";
  EXPECT_EQ(getProblem(csr), "");
  EXPECT_EQ(getProblem("7"), begin + "that is none");
  EXPECT_EQ(getProblem(csr, "7"), begin + "that is none");
  EXPECT_EQ(getProblem("{}"), begin + "with no levels");
  EXPECT_EQ(getProblem(encoding("")),
            begin + "with levels that do not have each dimension once");
  EXPECT_EQ(getProblem(encoding("7")), begin + "with the unknown level 0");
  std::string first = level("dense", 0) + ", ";
  for (std::string second :
       {level("sparse", 1), level("dense", 2), level("dense", -1),
        level("dense", 1, R"(, "block": 2)"),
        level("dense", 1, R"(, "part": "quotient")"),
        level("dense", 1, R"(, "block": 0, "part": "quotient")"),
        level("dense", 1, R"(, "block": 2, "part": "half")"),
        std::string(R"({"format": "dense", "dimension": 1})"),
        std::string(R"({"format": "dense", "unique": true})"),
        std::string(R"({"unique": true, "dimension": 1})")})
    EXPECT_EQ(getProblem(encoding(first + second)),
              begin + "with the unknown level 1")
        << second;
  std::string quotient =
      level("dense", 1, R"(, "block": 2, "part": "quotient")");
  for (std::string rest :
       {level("dense", 0), quotient, quotient + ", " + quotient,
        quotient + ", " +
            level("dense", 1, R"(, "block": 3, "part": "remainder")"),
        level("dense", 1) + ", " + level("dense", 1)})
    EXPECT_EQ(getProblem(encoding(first + rest)),
              begin + "with levels that do not have each dimension once")
        << rest;
  std::string levels = first + level("compressed", 1);
  EXPECT_EQ(getProblem(encoding(levels, "f32")),
            begin + "with an unknown type of positions or coordinates");
  EXPECT_EQ(getProblem(encoding(levels, "i32", "")),
            begin + "with an unknown type of positions or coordinates");
}

TEST(SparseValue, ConvertsValues) {
  auto store = [&](llvm::StringRef element, double number) {
    return Value::fromCoordinates(parseType(type(csr, "[2, 3]", element)),
                                  makeTensor({2, 3}, {{{1, 2}, number}}), "f");
  };
  auto getElement = [&](llvm::StringRef element, double number) {
    auto value = store(element, number);
    EXPECT_TRUE(bool(value)) << toString(value.takeError());
    return io::getAsDouble(llvm::cantFail(value->getElements()), 0);
  };
  EXPECT_EQ(getElement("f32", 0.1), double(0.1f));
  EXPECT_EQ(getElement("f16", 0.1), 0x1.998p-4);
  EXPECT_EQ(getElement("bf16", 0.1), 0x1.9ap-4);
  EXPECT_TRUE(std::isnan(getElement("f16", NAN)));
  EXPECT_EQ(getElement("f32", -INFINITY), -INFINITY);
  EXPECT_EQ(getElement("i8", -128), -128);
  EXPECT_EQ(getElement("i1", 0), 1) << "what is stored is there";
  const std::string place = "f: the value at (1, 2) (counting from 0) ";
  EXPECT_EQ(getMessage(store("f16", 65520)),
            place + "overflows an f16; use another element type");
  EXPECT_EQ(getMessage(store("i8", 128)),
            place + "is no i8; use another element type");
  EXPECT_EQ(getMessage(store("i64", 0.5)),
            place + "is no i64; use another element type");
  EXPECT_EQ(getMessage(store("i32", NAN)),
            place + "is no i32; use another element type");
}

TEST(SparseValue, RefusesWhatDoesNotFit) {
  auto getProblem = [](const std::string &text, io::CoordinateTensor tensor) {
    return getMessage(
        Value::fromCoordinates(parseType(text), std::move(tensor), "f"));
  };
  const std::string csrText =
      "#sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : "
      "compressed) }>>; ";
  EXPECT_EQ(getProblem(type(csr), makeTensor({2}, {})),
            "f: holds a sparse tensor of 2, but argument 'A' is "
            "tensor<2x3xf64, " +
                csrText + "the ranks must be equal");
  EXPECT_EQ(getProblem(type(csr), makeTensor({2, 2}, {})),
            "f: holds a sparse tensor of 2x2, but argument 'A' is "
            "tensor<2x3xf64, " +
                csrText + "the extents must be equal");
  EXPECT_EQ(getProblem(type(csr, "[null, 2]"), makeTensor({7, 2}, {})), "");
  // An extent that is inferred grows to the one in the program.
  io::CoordinateTensor inferred = makeTensor({2, 2}, {{{1, 1}, 1}});
  inferred.isInferred = {true, true};
  auto value =
      Value::fromCoordinates(parseType(type(csr)), std::move(inferred), "f");
  ASSERT_TRUE(bool(value)) << toString(value.takeError());
  EXPECT_EQ(value->getExtents(), llvm::ArrayRef<int64_t>({2, 3}));
  inferred = makeTensor({3, 3}, {{{2, 1}, 1}});
  inferred.isInferred = {true, true};
  EXPECT_EQ(getProblem(type(csr), std::move(inferred)),
            "f: holds a sparse tensor of 3x3, but argument 'A' is "
            "tensor<2x3xf64, " +
                csrText + "the extents must be equal");
  std::string narrow = encoding(
      level("compressed", 0) + ", " + level("compressed", 1), "i32", "i8");
  EXPECT_EQ(getProblem(type(narrow, "[300, 300]"),
                       makeTensor({300, 300}, {{{255, 256}, 1}})),
            "f: level 1: the coordinate 256 does not fit 1 bytes");
  std::string nonsense =
      encoding(level("singleton", 0) + ", " + level("compressed", 1));
  EXPECT_EQ(getProblem(type(nonsense), makeTensor({2, 3}, {})),
            "f: level 0: the format 3 with the extent 2 does not exist, or not "
            "after the levels before it");
}

/// A result whose buffers come from the runtime, as an entry fills it.
void fillResult(Value &result, std::vector<int64_t> positions,
                std::vector<int64_t> coordinates, std::vector<double> values) {
  auto *memrefs = static_cast<SparseAutogradMemRef1 *>(result.getPointer());
  auto fill = [&](int64_t component, const auto &numbers) {
    void *data = sparseAutogradAllocate(8 * numbers.size());
    std::memcpy(data, numbers.data(), 8 * numbers.size());
    memrefs[component] = {data, data, 0, {int64_t(numbers.size())}, {1}};
  };
  ASSERT_EQ(runEntry([&] {
              fill(0, positions);
              fill(1, coordinates);
              fill(2, values);
            }),
            SPARSE_AUTOGRAD_SUCCESS);
  auto *extents = reinterpret_cast<int64_t *>(memrefs + 3);
  extents[0] = 2;
  extents[1] = 3;
}

TEST(SparseValue, OwnsTheBuffersOfAResult) {
  int64_t live = counters().liveBlocks;
  {
    Value result(parseType(type(csr, "[null, 3]")));
    fillResult(result, {0, 1, 3}, {2, 0, 1}, {1.5, 0, -2});
    EXPECT_EQ(counters().liveBlocks, live + 3);
    Value moved(std::move(result));
    EXPECT_EQ(counters().liveBlocks, live + 3);
    auto text = moved.toText();
    ASSERT_TRUE(bool(text)) << toString(text.takeError());
    EXPECT_EQ(*text, "tensor<2x3xf64> with 3 stored values [(0, 2): 1.5, (1, "
                     "0): 0, (1, 1): -2]");
    auto copy = moved.withElements(moved.getType(),
                                   llvm::cantFail(moved.getElements()));
    ASSERT_TRUE(bool(copy)) << toString(copy.takeError());
    EXPECT_TRUE(llvm::cantFail(copy->hasPatternOf(moved)));
    EXPECT_EQ(llvm::cantFail(copy->toText()), *text);
    Value other(parseType(type(csr, "[null, 3]")));
    fillResult(other, {0, 2, 3}, {0, 2, 1}, {1.5, 0, -2});
    EXPECT_FALSE(llvm::cantFail(copy->hasPatternOf(other)));
  }
  EXPECT_EQ(counters().liveBlocks, live);
}

TEST(SparseValue, RefusesABrokenResult) {
  Value result(parseType(type(csr, "[null, 3]")));
  fillResult(result, {0, 1, 3}, {2, 1, 1}, {1.5, 0, -2});
  const char *problem =
      "A: level 1 (compressed): coordinate 2 is 1, as the one "
      "before it, but must be unique";
  EXPECT_EQ(getMessage(result.toText()), problem);
  TemporaryFolder folder;
  EXPECT_EQ(getMessage(save(result, folder.getPath("a.mtx"))), problem);
  EXPECT_TRUE(folder.list().empty());
}

TEST(SparseValue, LongResultsAreCut) {
  std::vector<std::pair<Coordinates, double>> entries;
  for (int64_t i = 0; i < 20; ++i)
    entries.push_back({{0, i}, 1});
  auto value = Value::fromCoordinates(parseType(type(csr, "[1, 20]", "i32")),
                                      makeTensor({1, 20}, entries), "f");
  ASSERT_TRUE(bool(value)) << toString(value.takeError());
  EXPECT_TRUE(llvm::StringRef(llvm::cantFail(value->toText()))
                  .ends_with("(0, 14): 1, (0, 15): 1, ...]"));
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// What is bound to the argument A of the type, as text.
std::string bindText(const std::string &text, llvm::StringRef path) {
  llvm::StringMap<std::string> given;
  given["A"] = path.str();
  auto values = bindArguments(parseType(text), given);
  return values ? llvm::cantFail(values->front().toText())
                : llvm::toString(values.takeError());
}

TEST(SparseValue, BindsEveryKindOfFile) {
  TemporaryFolder folder;
  std::string stored =
      "tensor<2x3xf32> with 2 stored values [(0, 2): 2.5, (1, 0): 0]";
  std::string f32 = type(csr, "[2, 3]", "f32");
  EXPECT_EQ(bindText(f32, folder.write("a.mtx", "%%MatrixMarket matrix "
                                                "coordinate real general\n2 3 "
                                                "2\n2 1 0\n1 3 2.5\n")),
            stored);
  EXPECT_EQ(bindText(f32, folder.write("a.tns", "# c\n2 1 0\n1 3 2.5\n")),
            stored);
  EXPECT_EQ(bindText(f32, folder.write("a.smtx", "2, 3, 2\n0 1 2\n2 0\n")),
            "tensor<2x3xf32> with 2 stored values [(0, 2): 1, (1, 0): 1]");
  // A table names its rows and columns, of which none are empty.
  EXPECT_EQ(bindText(type(csr, "[null, null]", "f32"),
                     folder.write("a.csv", "5,9,2.5\n7,3,0\n")),
            "tensor<2x2xf32> with 2 stored values [(0, 1): 2.5, (1, 0): 0]");
  // Of an array, what is not zero.
  EXPECT_EQ(
      bindText(f32,
               folder.write("b.mtx", "%%MatrixMarket matrix array real "
                                     "general\n2 3\n0\n0\n-0\n0\n2.5\nnan\n")),
      "tensor<2x3xf32> with 2 stored values [(0, 2): 2.5, (1, 2): NaN]");
  EXPECT_EQ(bindText(f32, folder.getPath("none.mtx")).find("none.mtx") ==
                std::string::npos,
            false);
  EXPECT_EQ(bindText(f32, folder.write("c.tns", "1 1 1 2.5\n"))
                .substr(folder.getPath("c.tns").size()),
            ": holds a sparse tensor of 1x1x1, but argument 'A' is "
            "tensor<2x3xf32, #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : "
            "dense, d1 : compressed) }>>; the ranks must be equal");
  // A dense argument takes such files, too.
  EXPECT_EQ(bindText(R"({"name": "A", "element_type": "i32", "shape": [2, 3]})",
                     folder.write("d.tns", "2 1 4\n1 2 -1\n")),
            "tensor<2x3xi32>\n  [0, -1, 0]\n  [4, 0, 0]");
}

TEST(SparseValue, TakesAMaskFromTheFileOfItsTensor) {
  TemporaryFolder folder;
  std::vector<ValueType> types = {
      parseType(R"({"name": "A", "element_type": "f64", "shape": [2, 2]})"),
      parseType(R"({"name": "m", "element_type": "i1", "shape": [2, 2],
                    "mask_of": "A", "encoding": )" +
                csr + "}"),
      parseType(R"({"name": "n", "element_type": "i1", "shape": [2, 2],
                    "mask_of": "A"})")};
  for (std::string file :
       {folder.write("a.mtx",
                     "%%MatrixMarket matrix coordinate real general\n2 "
                     "2 2\n2 1 0\n1 2 2.5\n"),
        folder.write("a.tns", "2 1 0\n1 2 2.5\n")}) {
    llvm::StringMap<std::string> given;
    given["A"] = file;
    auto values = bindArguments(types, given);
    ASSERT_TRUE(bool(values)) << toString(values.takeError());
    EXPECT_EQ(llvm::cantFail((*values)[0].toText()),
              "tensor<2x2xf64>\n  [0, 2.5]\n  [0, 0]");
    EXPECT_EQ(llvm::cantFail((*values)[1].toText()),
              "tensor<2x2xi1> with 2 stored values [(0, 1): 1, (1, 0): 1]");
    EXPECT_EQ(llvm::cantFail((*values)[2].toText()),
              "tensor<2x2xi1>\n  [0, 1]\n  [1, 0]");
  }
}

TEST(SparseValue, SavesAndReadsAgain) {
  TemporaryFolder folder;
  std::vector<std::pair<Coordinates, double>> entries = {
      {{0, 2}, 0.1}, {{2, 0}, 0}, {{2, 1}, -INFINITY}, {{2, 2}, NAN}};
  std::string text = "tensor<4x3xf64> with 4 stored values [(0, 2): "
                     "0.10000000000000001, (2, 0): 0, (2, 1): -Inf, (2, 2): "
                     "NaN]";
  for (const std::string &levels : getMatrixLevels()) {
    std::string saved = type(encoding(levels), "[4, 3]");
    // Read as a list of entries, which shows what is in the file.
    std::string coo = type(encoding(getMatrixLevels()[0]), "[4, 3]");
    auto value = Value::fromCoordinates(parseType(saved),
                                        makeTensor({4, 3}, entries), "f");
    ASSERT_TRUE(bool(value)) << toString(value.takeError());
    std::string own = llvm::cantFail(value->toText());
    for (const char *name : {"a.mtx", "a.tns", "a.npz"}) {
      std::string path = folder.getPath(name);
      ASSERT_EQ(getMessage(save(*value, path)), "");
      EXPECT_EQ(bindText(saved, path), own) << name << saved;
      EXPECT_EQ(bindText(coo, path), own) << name << saved;
    }
    std::string path = folder.getPath("a.npy");
    ASSERT_EQ(getMessage(save(*value, path)), "");
    EXPECT_EQ(bindText(coo, path),
              "tensor<4x3xf64> with 3 stored values [(0, 2): "
              "0.10000000000000001, (2, 1): -Inf, (2, 2): NaN]");
    // A pattern has no values but ones.
    path = folder.getPath("a.smtx");
    EXPECT_TRUE(
        llvm::StringRef(getMessage(save(*value, path)))
            .ends_with("write the tensor to a .mtx, .tns or .npz file"));
    EXPECT_TRUE(
        llvm::StringRef(getMessage(save(*value, folder.getPath("a.txt"))))
            .ends_with("use the extension .npz, .npy, .tns, .mtx, "
                       ".smtx or .csv"));
  }
  EXPECT_EQ(text, bindText(type(encoding(getMatrixLevels()[0]), "[4, 3]"),
                           folder.write("a.tns", "1 3 0.1\n3 1 0\n3 2 -inf\n3 "
                                                 "3 nan\n")));
}

TEST(SparseValue, SavesTriplets) {
  TemporaryFolder folder;
  auto value = Value::fromCoordinates(
      parseType(type(csr, "[2, 3]", "i64")),
      makeTensor({2, 3}, {{{0, 2}, 5}, {{1, 0}, -7}, {{1, 1}, 0}}), "f");
  ASSERT_TRUE(bool(value)) << toString(value.takeError());
  std::string path = folder.getPath("a.csv");
  ASSERT_EQ(getMessage(save(*value, path)), "");
  auto file = llvm::MemoryBuffer::getFile(path);
  EXPECT_EQ((*file)->getBuffer(), "row,column,value\n0,2,5\n1,0,-7\n1,1,0\n");
}

TEST(SparseValue, TensorsOfThreeDimensions) {
  TemporaryFolder folder;
  std::string coo =
      encoding(level("compressed", 0, "", false) + ", " +
               level("singleton", 2, "", false) + ", " + level("singleton", 1));
  std::string text = type(coo, "[2, 3, 4]");
  std::string stored = "tensor<2x3x4xf64> with 3 stored values [(0, 2, 1): 1, "
                       "(1, 0, 3): 2, (1, 2, 0): 3]";
  std::string path = folder.write("a.tns", "2 1 4 2\n1 3 2 1\n2 3 1 3\n");
  EXPECT_EQ(bindText(text, path), stored);
  llvm::StringMap<std::string> given;
  given["A"] = path;
  auto values = bindArguments(parseType(text), given);
  ASSERT_TRUE(bool(values)) << toString(values.takeError());
  for (const char *name : {"b.tns", "b.npz", "b.npy"}) {
    std::string copy = folder.getPath(name);
    ASSERT_EQ(getMessage(save(values->front(), copy)), "");
    EXPECT_EQ(bindText(text, copy), stored) << name;
  }
  for (const char *name : {"b.mtx", "b.smtx", "b.csv"})
    EXPECT_TRUE(
        llvm::StringRef(getMessage(save(values->front(), folder.getPath(name))))
            .ends_with("write it to a .tns or .npz file"));
}

TEST(SparseValue, BlocksAreBlocksInSciPysFiles) {
  TemporaryFolder folder;
  auto part = [](const char *which) {
    return std::string(R"(, "block": 2, "part": ")") + which + "\"";
  };
  std::string bsr = encoding(level("dense", 0, part("quotient")) + "," +
                             level("compressed", 1, part("quotient")) + "," +
                             level("dense", 0, part("remainder")) + "," +
                             level("dense", 1, part("remainder")));
  // The extents of blocks divide those of the first matrix alone.
  for (auto [shape, layout] :
       {std::pair("[2, 4]", "bsr"), std::pair("[2, 3]", "coo")}) {
    ValueType wanted = parseType(type(bsr, shape));
    auto value = Value::fromCoordinates(
        wanted, makeTensor(*wanted.shape, {{{0, 2}, 5}, {{1, 0}, -7}}), "f");
    ASSERT_TRUE(bool(value)) << toString(value.takeError());
    std::string path = folder.getPath("a.npz");
    ASSERT_EQ(getMessage(save(*value, path)), "");
    auto bytes = llvm::MemoryBuffer::getFile(path);
    EXPECT_TRUE((*bytes)->getBuffer().contains(layout));
    std::string printed = llvm::cantFail(value->toText());
    EXPECT_EQ(bindText(type(bsr, shape), path), printed);
  }
}

} // namespace
