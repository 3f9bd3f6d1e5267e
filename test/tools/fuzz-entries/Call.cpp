//===- Call.cpp - a call of an entry, in guarded memory -------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Call.h"

#include "SparseAutograd/IO/CoordinateTensor.h"
#include <cstring>
#include <sys/mman.h>

using namespace fuzz;
using namespace sparse_autograd;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static constexpr size_t pageBytes = 4096, blockPages = 2;

char *GuardedMemory::place(const void *bytes, size_t size) {
  if (size > pageBytes * blockPages)
    llvm::report_fatal_error("an array does not fit into a block");
  if (used == blocks.size()) {
    size_t total = (blockPages + 2) * pageBytes;
    void *pages = mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
                       /*fd=*/-1, 0);
    if (pages == MAP_FAILED)
      llvm::report_fatal_error("no memory for a block");
    char *begin = static_cast<char *>(pages) + pageBytes;
    if (mprotect(begin, blockPages * pageBytes, PROT_READ | PROT_WRITE))
      llvm::report_fatal_error("a block cannot be protected");
    blocks.push_back({begin + blockPages * pageBytes, ""});
  }
  Block &block = blocks[used++];
  char *address = block.end - size;
  if (size)
    std::memcpy(address, bytes, size);
  block.placed.assign(address, size);
  return address;
}

bool GuardedMemory::isUnchanged() const {
  for (const Block &block : llvm::ArrayRef(blocks).take_front(used))
    if (std::memcmp(block.end - block.placed.size(), block.placed.data(),
                    block.placed.size()) != 0)
      return false;
  return true;
}

void GuardedMemory::accept() {
  for (Block &block : llvm::MutableArrayRef(blocks).take_front(used))
    block.placed.assign(block.end - block.placed.size(), block.placed.size());
}

//===----------------------------------------------------------------------===//
// Right calls
//===----------------------------------------------------------------------===//

/// An array of small numbers: ones of a mask, and places in other arrays.
static io::DenseArray makeElements(io::ElementType type,
                                   llvm::ArrayRef<int64_t> shape, int64_t size,
                                   Random &random) {
  io::DenseArray array =
      llvm::cantFail(io::makeDenseArray("argument", type, shape, {}));
  unsigned bytes = io::getByteWidth(type);
  for (int64_t i = 0; i < array.getNumElements(); ++i) {
    int64_t whole = draw(
        random, type == io::ElementType::Bool ? 2 : std::max<int64_t>(size, 1));
    char *place = array.data.data() + i * bytes;
    double number = static_cast<double>(whole) + 0.5;
    float narrow = static_cast<float>(number);
    if (type == io::ElementType::F64)
      std::memcpy(place, &number, bytes);
    else if (type == io::ElementType::F32)
      std::memcpy(place, &narrow, bytes);
    else
      std::memcpy(place, &whole, bytes);
  }
  return array;
}

/// An argument whose dynamic extents are `size`.
static Value makeValue(const ValueType &type, int64_t size, Random &random) {
  llvm::SmallVector<int64_t> shape;
  if (type.shape)
    for (int64_t extent : *type.shape)
      shape.push_back(extent < 0 ? size : extent);
  if (!type.encoding)
    return Value::fromElements(
        type, makeElements(type.elementType, shape, size, random));
  io::CoordinateTensor tensor;
  tensor.shape = shape;
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  int64_t stored = 0;
  for (int64_t place = 0; place < count; ++place) {
    if (draw(random, 5) < 3)
      continue;
    llvm::SmallVector<int64_t> at(shape.size());
    int64_t rest = place;
    for (size_t dim = shape.size(); dim-- > 0; rest /= shape[dim])
      at[dim] = rest % shape[dim];
    tensor.coordinates.insert(tensor.coordinates.end(), at.begin(), at.end());
    ++stored;
  }
  tensor.values = makeElements(type.elementType, {stored}, size, random);
  return llvm::cantFail(
      Value::fromCoordinates(type, std::move(tensor), "argument"));
}

/// The words of a value of a type.
static int64_t countWords(const ValueType &type) {
  if (!type.shape)
    return 1;
  int64_t rank = type.shape->size();
  if (!type.encoding)
    return 3 + 2 * rank;
  return 5 * type.encoding->getComponentTypes(type.elementType).size() + rank;
}

/// The arrays that the words of a value describe.
static std::vector<Array> listArrays(const ValueType &type,
                                     llvm::ArrayRef<int64_t> words) {
  std::vector<Array> arrays;
  if (!type.shape)
    return arrays;
  auto add = [&](int64_t word, int64_t rank, io::ElementType elementType) {
    Array array = {word,
                   rank,
                   io::getByteWidth(elementType),
                   elementType == io::ElementType::Bool,
                   nullptr,
                   1};
    for (int64_t dim = 0; dim < rank; ++dim)
      array.count *= words[array.sizeWord(dim)];
    array.data = reinterpret_cast<char *>(words[array.pointerWord()]) +
                 words[array.offsetWord()] * array.elementBytes;
    arrays.push_back(array);
  };
  if (!type.encoding) {
    add(0, type.shape->size(), type.elementType);
    return arrays;
  }
  int64_t word = 0;
  for (io::ElementType component :
       type.encoding->getComponentTypes(type.elementType)) {
    add(word, 1, component);
    word += 5;
  }
  return arrays;
}

Call fuzz::makeCall(const std::vector<ValueType> &arguments,
                    const std::vector<ValueType> &results,
                    GuardedMemory &memory, Random &random) {
  Call call;
  int64_t size = draw(random, 7);
  for (const ValueType &type : arguments) {
    Value value = makeValue(type, size, random);
    auto *given = static_cast<int64_t *>(value.getPointer());
    Argument argument = {type, {given, given + countWords(type)}, {}, 0};
    argument.arrays = listArrays(type, argument.words);
    for (Array &array : argument.arrays) {
      array.data = memory.place(array.data, array.count * array.elementBytes);
      argument.words[array.pointerWord()] =
          reinterpret_cast<int64_t>(array.data);
      argument.words[array.word] = 0;
      argument.words[array.offsetWord()] = 0;
    }
    if (argument.isSparse())
      argument.shapeWord = 5 * argument.arrays.size();
    call.arguments.push_back(std::move(argument));
  }
  call.results = results;
  call.toArguments.assign(arguments.size(), 0);
  call.toResults.assign(results.size(), 0);
  return call;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static char *move(char *address, Call::Pointer bytes) {
  return bytes ? address + *bytes : nullptr;
}

/// The bytes of a scalar in memory.
static size_t countBytes(const ValueType &type) {
  return type.shape ? 8 * countWords(type) : io::getByteWidth(type.elementType);
}

/// Appends what a result is to `text`, and releases it.
static void takeResult(const ValueType &type, const char *place,
                       Outcome &outcome) {
  if (!type.shape) {
    outcome.results.append(place, countBytes(type));
    return;
  }
  std::vector<int64_t> words(countWords(type));
  std::memcpy(words.data(), place, 8 * words.size());
  outcome.words.back() = words;
  for (const Array &array : listArrays(type, words)) {
    for (int64_t dim = 0; dim < array.rank; ++dim)
      outcome.results +=
          std::to_string(words[array.sizeWord(dim)]) + (dim ? "," : " ");
    if (array.count)
      outcome.results.append(array.data, array.count * array.elementBytes);
    if (array.isBoolean &&
        std::any_of(array.data, array.data + array.count,
                    [](char byte) { return byte != 0 && byte != 1; }))
      outcome.problem = "a byte of an i1 of a result is neither 0 nor 1";
    if (sparseAutogradFree(reinterpret_cast<void *>(words[array.word])))
      outcome.problem = "a result cannot be released";
  }
}

namespace {
/// The call that says what a form asks for, and what it owns.
struct FormedCall {
  SparseAutogradCall call = {};
  std::vector<SparseAutogradPattern *> patterns;
  std::vector<std::vector<SparseAutogradLevel>> levels;

  ~FormedCall() {
    for (SparseAutogradPattern *pattern : patterns)
      sparseAutogradPatternDestroy(pattern);
  }

  void addPattern(const Argument &argument, bool isOther) {
    patterns.push_back(nullptr);
    if (!argument.isSparse())
      return;
    const SparseEncoding &encoding = *argument.type.encoding;
    levels.emplace_back();
    for (const SparseLevel &level : encoding.levels)
      levels.back().push_back({level.kind.getCode(), int64_t(level.dimension),
                               level.block, level.isRemainder});
    SparseAutogradEncoding described = {
        static_cast<int64_t>(levels.back().size()), levels.back().data(),
        io::getByteWidth(encoding.positionType),
        io::getByteWidth(encoding.coordinateType)};
    // What is wrong has no pattern, and is called without.
    std::ignore = sparseAutogradPatternCreate(
        "pattern", &described, argument.words.data(),
        isOther ? SPARSE_AUTOGRAD_COPY : SPARSE_AUTOGRAD_BORROW,
        &patterns.back());
  }
};
} // namespace

/// Gives a result the memory that it is written to.
static void addDestination(const Call &call, size_t result, char *place,
                           GuardedMemory &memory) {
  const ValueType &type = call.results[result];
  if (!type.shape)
    return;
  std::vector<int64_t> words = call.rightResults[result];
  for (const Array &array : listArrays(type, words)) {
    std::string bytes(array.count * array.elementBytes +
                          call.form->misalignment * array.elementBytes,
                      '\xA5');
    char *address = memory.place(bytes.data(), bytes.size());
    if (call.form->isArgument)
      for (const Argument &argument : call.arguments)
        for (const Array &other : argument.arrays)
          if (other.count)
            address = other.data;
    words[array.word] = 0;
    words[array.pointerWord()] = reinterpret_cast<int64_t>(address);
    words[array.offsetWord()] = 0;
    if (array.rank)
      words[array.sizeWord(0)] += call.form->moreExtent;
    int64_t stride = 1;
    for (int64_t dim = array.rank; dim-- > 0;
         stride *= words[array.sizeWord(dim)])
      words[array.strideWord(dim)] = stride;
  }
  std::memcpy(place, words.data(), 8 * words.size());
}

Outcome fuzz::perform(SparseAutogradEntry entry, const Call &call,
                      GuardedMemory &memory) {
  SparseAutogradCounters before, after;
  sparseAutogradGetCounters(&before);
  std::vector<char *> arguments, places, results;
  for (auto [argument, moved] :
       llvm::zip_equal(call.arguments, call.toArguments))
    arguments.push_back(move(
        memory.place(argument.words.data(), countBytes(argument.type)), moved));
  for (auto [type, moved] : llvm::zip_equal(call.results, call.toResults)) {
    std::string pattern(countBytes(type), '\xA5');
    places.push_back(memory.place(pattern.data(), pattern.size()));
    results.push_back(move(places.back(), moved));
  }
  // Destinations are written, arguments are not.
  static GuardedMemory written;
  written.reset();
  FormedCall formed;
  if (call.form) {
    for (size_t i = 0; i < places.size(); ++i)
      if (call.form->results[i] == SPARSE_AUTOGRAD_RESULT_DESTINATION)
        addDestination(call, i, places[i], written);
    if (call.form->hasPatterns)
      for (const Argument &argument : call.arguments)
        formed.addPattern(argument, call.form->hasOtherPatterns);
    memory.accept();
  }
  auto placeAll = [&](const std::vector<char *> &pointers,
                      Call::Pointer moved) {
    char *array = memory.place(pointers.data(), 8 * pointers.size());
    return reinterpret_cast<void *const *>(move(array, moved));
  };
  void *const *argumentArray = placeAll(arguments, call.argumentArray);
  void *const *resultArray = placeAll(results, call.resultArray);

  Outcome outcome;
  if (call.form) {
    formed.call.argumentCount =
        static_cast<int64_t>(arguments.size()) + call.form->moreArguments;
    formed.call.resultCount =
        static_cast<int64_t>(results.size()) + call.form->moreResults;
    formed.call.arguments = argumentArray;
    formed.call.results = resultArray;
    formed.call.resultForms = call.form->results.data();
    if (call.form->hasPatterns)
      formed.call.patterns = formed.patterns.data();
    outcome.status = sparseAutogradCall(entry, &formed.call);
  } else {
    outcome.status = entry(argumentArray, resultArray);
  }
  if (outcome.status < 0 || outcome.status > SPARSE_AUTOGRAD_CANCELLED)
    outcome.problem = "the status does not exist";
  if (outcome.status == SPARSE_AUTOGRAD_SUCCESS) {
    for (auto [type, place] : llvm::zip_equal(call.results, places)) {
      outcome.words.emplace_back();
      takeResult(type, place, outcome);
      std::memset(place, 0xA5, countBytes(type));
      if (call.form)
        memory.accept();
    }
  } else {
    outcome.message = sparseAutogradLastError();
    if (outcome.message.empty())
      outcome.problem = "there is no message";
  }
  if (!memory.isUnchanged())
    outcome.problem = outcome.status
                          ? "memory was written by a call that failed"
                          : "an argument was written";
  sparseAutogradGetCounters(&after);
  if (after.liveBlocks != before.liveBlocks)
    outcome.problem = "memory stays allocated";
  return outcome;
}
