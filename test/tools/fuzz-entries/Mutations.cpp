//===- Mutations.cpp - changes of a call that make it wrong ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each changes one thing, and knows what an entry has to make of it from what
// Runtime.h says. None makes an array longer than its memory in a way that no
// check can find.
//
//===----------------------------------------------------------------------===//

#include "Call.h"

#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace fuzz;
using namespace sparse_autograd;

using MaybeVerdict = std::optional<Verdict>;

/// One of the elements that a predicate selects; null if there is none.
template <typename Range, typename Predicate>
static auto *choose(Range &range, Random &random, Predicate isChosen) {
  std::vector<decltype(&*std::begin(range))> chosen;
  for (auto &element : range)
    if (isChosen(element))
      chosen.push_back(&element);
  return chosen.empty() ? nullptr : chosen[draw(random, chosen.size())];
}

static Argument *chooseTensor(Call &call, Random &random) {
  return choose(call.arguments, random,
                [](const Argument &a) { return !a.isScalar(); });
}

static Argument *chooseDense(Call &call, Random &random) {
  return choose(call.arguments, random, [](const Argument &a) {
    return !a.isScalar() && !a.isSparse();
  });
}

static Argument *chooseSparse(Call &call, Random &random) {
  return choose(call.arguments, random,
                [](const Argument &a) { return a.isSparse(); });
}

static Array *chooseArray(Argument &argument, Random &random) {
  return choose(argument.arrays, random, [](const Array &) { return true; });
}

/// Numbers at the limits of what is right, and far beyond.
static int64_t drawNumber(Random &random) {
  static constexpr int64_t numbers[] = {
      0,  1,   2,         3,         6,         7,         8,
      -1, -2,  127,       128,       255,       256,       32767,
      -8, 512, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, INT64_MAX - 1};
  return numbers[draw(random, std::size(numbers))];
}

//===----------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------===//

static MaybeVerdict loseArguments(Call &call, Random &random) {
  if (call.arguments.empty())
    return std::nullopt;
  call.argumentArray.reset();
  return Verdict::Refused;
}

static MaybeVerdict loseResults(Call &call, Random &random) {
  if (call.results.empty())
    return std::nullopt;
  call.resultArray.reset();
  return Verdict::Refused;
}

static MaybeVerdict misalignLists(Call &call, Random &random) {
  int64_t bytes = 1 + draw(random, 7);
  if (draw(random, 2) ? call.arguments.empty() : call.results.empty())
    return std::nullopt;
  (call.arguments.empty() ? call.resultArray : call.argumentArray) = -bytes;
  return Verdict::Refused;
}

static MaybeVerdict losePlace(Call &call, Random &random) {
  auto &pointers = draw(random, 2) ? call.toArguments : call.toResults;
  if (pointers.empty())
    return std::nullopt;
  pointers[draw(random, pointers.size())].reset();
  return Verdict::Refused;
}

static MaybeVerdict misalignPlace(Call &call, Random &random) {
  bool isResult = draw(random, 2);
  auto &pointers = isResult ? call.toResults : call.toArguments;
  if (pointers.empty())
    return std::nullopt;
  size_t index = draw(random, pointers.size());
  const ValueType &type =
      isResult ? call.results[index] : call.arguments[index].type;
  int64_t alignment = type.shape ? 8 : io::getByteWidth(type.elementType);
  if (alignment == 1)
    return std::nullopt;
  pointers[index] = -1 - static_cast<int64_t>(draw(random, alignment - 1));
  return Verdict::Refused;
}

static MaybeVerdict loseElements(Call &call, Random &random) {
  Argument *argument = chooseTensor(call, random);
  if (!argument)
    return std::nullopt;
  Array *array = chooseArray(*argument, random);
  argument->words[array->pointerWord()] = 0;
  return array->count ? Verdict::Refused : Verdict::Same;
}

static MaybeVerdict misalignElements(Call &call, Random &random) {
  Argument *argument = chooseTensor(call, random);
  if (!argument)
    return std::nullopt;
  Array *array = chooseArray(*argument, random);
  if (array->elementBytes == 1)
    return std::nullopt;
  argument->words[array->pointerWord()] -=
      1 + draw(random, array->elementBytes - 1);
  return array->count ? Verdict::Refused : Verdict::Same;
}

/// The same place by another pointer.
static MaybeVerdict moveOffset(Call &call, Random &random) {
  Argument *argument = chooseTensor(call, random);
  if (!argument)
    return std::nullopt;
  Array *array = chooseArray(*argument, random);
  // What is null would become a place that is anyone's.
  if (argument->words[array->pointerWord()] == 0)
    return std::nullopt;
  int64_t elements = static_cast<int64_t>(draw(random, 2000)) - 1000;
  argument->words[array->pointerWord()] -= elements * array->elementBytes;
  argument->words[array->offsetWord()] += elements;
  return Verdict::Same;
}

static MaybeVerdict writeAllocated(Call &call, Random &random) {
  Argument *argument = chooseTensor(call, random);
  if (!argument)
    return std::nullopt;
  argument->words[chooseArray(*argument, random)->word] = drawNumber(random);
  return Verdict::Same;
}

//===----------------------------------------------------------------------===//
// Extents and strides
//===----------------------------------------------------------------------===//

static MaybeVerdict negateExtent(Call &call, Random &random) {
  Argument *argument = chooseTensor(call, random);
  if (!argument)
    return std::nullopt;
  int64_t negative =
      draw(random, 2) ? INT64_MIN : -1 - int64_t(draw(random, 9));
  if (argument->isSparse() && draw(random, 2)) {
    int64_t dim = draw(random, argument->type.shape->size());
    argument->words[argument->shapeWord + dim] = negative;
    return Verdict::Refused;
  }
  Array *array = chooseArray(*argument, random);
  if (array->rank == 0)
    return std::nullopt;
  argument->words[array->sizeWord(draw(random, array->rank))] = negative;
  return Verdict::Refused;
}

static MaybeVerdict overflowExtents(Call &call, Random &random) {
  Argument *argument = chooseDense(call, random);
  if (!argument || argument->type.shape->empty())
    return std::nullopt;
  Array &array = argument->arrays[0];
  // Strides as if the product were right.
  int64_t exponent = 62 / array.rank + 1;
  uint64_t stride = 1;
  for (int64_t dim = array.rank; dim-- > 0;) {
    int64_t extent = array.rank == 1 ? INT64_MAX : int64_t(1) << exponent;
    argument->words[array.sizeWord(dim)] = extent;
    argument->words[array.strideWord(dim)] = static_cast<int64_t>(stride);
    stride *= extent;
  }
  // As many bytes as can be addressed, of a dynamic extent: nobody can know.
  if (array.rank == 1 && array.elementBytes == 1 &&
      (*argument->type.shape)[0] < 0)
    return std::nullopt;
  return Verdict::Refused;
}

static MaybeVerdict changeStaticExtent(Call &call, Random &random) {
  Argument *argument = choose(call.arguments, random, [](const Argument &a) {
    return a.type.shape &&
           llvm::any_of(*a.type.shape, [](int64_t e) { return e >= 0; });
  });
  if (!argument)
    return std::nullopt;
  llvm::ArrayRef<int64_t> shape = *argument->type.shape;
  size_t dim = draw(random, shape.size());
  while (shape[dim] < 0)
    dim = (dim + 1) % shape.size();
  int64_t other = drawNumber(random);
  int64_t word = argument->isSparse() ? argument->shapeWord + int64_t(dim)
                                      : argument->arrays[0].sizeWord(dim);
  argument->words[word] = other;
  return other == shape[dim] ? Verdict::Same : Verdict::Refused;
}

/// An extent that is smaller: other arguments may not fit, or memory is left.
static MaybeVerdict shrinkFirstExtent(Call &call, Random &random) {
  Argument *argument = chooseDense(call, random);
  if (!argument || argument->type.shape->empty())
    return std::nullopt;
  int64_t &extent = argument->words[argument->arrays[0].sizeWord(0)];
  if (extent == 0)
    return std::nullopt;
  extent = draw(random, extent);
  return Verdict::Any;
}

static MaybeVerdict changeStride(Call &call, Random &random) {
  Argument *argument = chooseDense(call, random);
  if (!argument || argument->type.shape->empty())
    return std::nullopt;
  Array &array = argument->arrays[0];
  int64_t dim = draw(random, array.rank);
  int64_t &stride = argument->words[array.strideWord(dim)];
  bool isUnused = array.count == 0 || argument->words[array.sizeWord(dim)] == 1;
  if (isUnused) {
    stride = drawNumber(random);
    return Verdict::Same;
  }
  // Memory that is there, or cannot be.
  if (draw(random, 2)) {
    stride = INT64_MAX;
    return Verdict::Refused;
  }
  int64_t before = std::exchange(stride, draw(random, stride + 1));
  return before == stride ? Verdict::Same : Verdict::Any;
}

/// The same elements, with twice the stride.
static MaybeVerdict spreadElements(Call &call, Random &random) {
  Argument *argument = chooseTensor(call, random);
  if (!argument)
    return std::nullopt;
  Array *array = chooseArray(*argument, random);
  static std::string spread[8];
  static int next = 0;
  std::string &bytes = spread[next++ % 8];
  bytes.assign(2 * array->count * array->elementBytes + 8, '\xA5');
  // Aligned, as what it replaces.
  char *begin =
      bytes.data() + (8 - reinterpret_cast<uintptr_t>(bytes.data()) % 8) % 8;
  if (array->rank == 0 || array->count == 0)
    return std::nullopt;
  for (int64_t i = 0; i < array->count; ++i)
    std::memcpy(begin + 2 * i * array->elementBytes,
                array->data + i * array->elementBytes, array->elementBytes);
  argument->words[array->pointerWord()] = reinterpret_cast<int64_t>(begin);
  argument->words[array->offsetWord()] = 0;
  for (int64_t dim = 0; dim < array->rank; ++dim)
    argument->words[array->strideWord(dim)] *= 2;
  return Verdict::Same;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Other bytes for true.
static MaybeVerdict writeBooleans(Call &call, Random &random) {
  auto writeOne = [&](char &byte) {
    if (byte)
      byte = static_cast<char>(1 + draw(random, 255));
  };
  bool isFound = false;
  for (Argument &argument : call.arguments) {
    if (argument.type.elementType != io::ElementType::Bool)
      continue;
    isFound = true;
    if (argument.isScalar())
      writeOne(*reinterpret_cast<char *>(argument.words.data()));
    else
      for (Array &array : argument.arrays)
        if (array.isBoolean)
          std::for_each(array.data, array.data + array.count, writeOne);
  }
  return isFound ? MaybeVerdict(Verdict::Same) : std::nullopt;
}

static MaybeVerdict writeElement(Call &call, Random &random) {
  Argument *argument = choose(call.arguments, random, [](const Argument &a) {
    return a.isScalar() || llvm::any_of(a.arrays, [](const Array &array) {
             return array.count > 0;
           });
  });
  if (!argument)
    return std::nullopt;
  int64_t number =
      draw(random, 3) ? drawNumber(random) : static_cast<int64_t>(random());
  if (argument->isScalar()) {
    argument->words[0] = number;
    return Verdict::Any;
  }
  Array *array = choose(argument->arrays, random,
                        [](const Array &array) { return array.count > 0; });
  std::memcpy(array->data + draw(random, array->count) * array->elementBytes,
              &number, array->elementBytes);
  return Verdict::Any;
}

//===----------------------------------------------------------------------===//
// Sparse storage
//===----------------------------------------------------------------------===//

static bool hasGaps(const Argument &argument) {
  return llvm::any_of(
      argument.type.encoding->levels,
      [](const SparseLevel &level) { return level.kind.format->hasGaps(); });
}

static MaybeVerdict changeLength(Call &call, Random &random) {
  Argument *argument = chooseSparse(call, random);
  // What no position reaches may be there.
  if (!argument || hasGaps(*argument))
    return std::nullopt;
  Array *array = chooseArray(*argument, random);
  int64_t &length = argument->words[array->sizeWord(0)];
  int64_t other = draw(random, 2) ? drawNumber(random)
                                  : length + (draw(random, 2) ? 1 : -1);
  return std::exchange(length, other) == other ? Verdict::Same
                                               : Verdict::Refused;
}

static MaybeVerdict changeListStride(Call &call, Random &random) {
  Argument *argument = chooseSparse(call, random);
  if (!argument)
    return std::nullopt;
  Array *array = chooseArray(*argument, random);
  int64_t &stride = argument->words[array->strideWord(0)];
  if (array->count < 2) {
    stride = drawNumber(random);
    return Verdict::Same;
  }
  stride = draw(random, 2) ? INT64_MAX : 0;
  return stride ? Verdict::Refused : Verdict::Any;
}

/// An extent of the whole tensor; levels of the storage may not fit then.
static MaybeVerdict changeSparseExtent(Call &call, Random &random) {
  Argument *argument = chooseSparse(call, random);
  if (!argument)
    return std::nullopt;
  int64_t dim = draw(random, argument->type.shape->size());
  int64_t other = drawNumber(random);
  argument->words[argument->shapeWord + dim] = other;
  return other < 0 ? Verdict::Refused : Verdict::Any;
}

/// One number of a list, or two of them exchanged.
static MaybeVerdict changeList(Call &call, Random &random) {
  Argument *argument = chooseSparse(call, random);
  if (!argument)
    return std::nullopt;
  auto lists = llvm::MutableArrayRef(argument->arrays).drop_back();
  Array *list =
      choose(lists, random, [](const Array &array) { return array.count > 0; });
  if (!list)
    return std::nullopt;
  auto at = [&](int64_t index) {
    return list->data + index * list->elementBytes;
  };
  int64_t index = draw(random, list->count);
  if (draw(random, 2)) {
    int64_t number = drawNumber(random);
    std::memcpy(at(index), &number, list->elementBytes);
  } else {
    std::swap_ranges(at(index), at(index) + list->elementBytes,
                     at(draw(random, list->count)));
  }
  return Verdict::Any;
}

//===----------------------------------------------------------------------===//
// Forms of calls
//===----------------------------------------------------------------------===//

static Call::Form &makeForm(Call &call, int32_t form) {
  call.form.emplace();
  call.form->results.assign(call.results.size(), form);
  return *call.form;
}

static bool hasTensors(const Call &call) {
  return llvm::any_of(call.rightResults,
                      [](const auto &words) { return !words.empty(); });
}

static MaybeVerdict callInForms(Call &call, Random &random) {
  Call::Form &form = makeForm(call, 0);
  for (int32_t &result : form.results)
    result = static_cast<int32_t>(draw(random, 3));
  form.misalignment = draw(random, 3);
  form.hasPatterns = draw(random, 2);
  return Verdict::Same;
}

static MaybeVerdict callWithOtherCounts(Call &call, Random &random) {
  Call::Form &form = makeForm(call, 0);
  int64_t more = draw(random, 2) ? 1 : -1;
  (draw(random, 2) ? form.moreArguments : form.moreResults) = more;
  return Verdict::Refused;
}

static MaybeVerdict callInNoForm(Call &call, Random &random) {
  if (call.results.empty())
    return std::nullopt;
  Call::Form &form = makeForm(call, SPARSE_AUTOGRAD_RESULT_SHARED);
  int64_t other = drawNumber(random);
  form.results[draw(random, form.results.size())] = static_cast<int32_t>(other);
  bool isForm =
      static_cast<int32_t>(other) >= 0 && static_cast<int32_t>(other) < 2;
  if (static_cast<int32_t>(other) == SPARSE_AUTOGRAD_RESULT_DESTINATION)
    return std::nullopt;
  return isForm ? Verdict::Same : Verdict::Refused;
}

/// Destinations with more elements than the results have.
static MaybeVerdict growDestinations(Call &call, Random &random) {
  if (!hasTensors(call))
    return std::nullopt;
  makeForm(call, SPARSE_AUTOGRAD_RESULT_DESTINATION).moreExtent =
      1 + draw(random, 3);
  // Of rank 0 there are none.
  return Verdict::Any;
}

static MaybeVerdict writeToArguments(Call &call, Random &random) {
  bool hasElements = llvm::any_of(call.arguments, [](const Argument &a) {
    return llvm::any_of(a.arrays, [](const Array &x) { return x.count > 0; });
  });
  if (!hasElements || !hasTensors(call))
    return std::nullopt;
  makeForm(call, SPARSE_AUTOGRAD_RESULT_DESTINATION).isArgument = true;
  // Results without elements are nowhere.
  return Verdict::Any;
}

static MaybeVerdict giveOtherPatterns(Call &call, Random &random) {
  if (!chooseSparse(call, random))
    return std::nullopt;
  Call::Form &form = makeForm(call, SPARSE_AUTOGRAD_RESULT_SHARED);
  form.hasPatterns = form.hasOtherPatterns = true;
  // Lists without elements are all the same.
  bool hasElements = llvm::any_of(call.arguments, [](const Argument &a) {
    return a.isSparse() &&
           llvm::any_of(llvm::ArrayRef(a.arrays).drop_back(),
                        [](const Array &x) { return x.count > 0; });
  });
  return hasElements ? Verdict::Refused : Verdict::Same;
}

llvm::ArrayRef<Mutation> fuzz::getMutations() {
  static constexpr Mutation mutations[] = {
      {"arguments are null", loseArguments, false},
      {"results are null", loseResults, false},
      {"a list of pointers is misaligned", misalignLists, false},
      {"the pointer to an argument or a result is null", losePlace, false},
      {"the pointer to an argument or a result is misaligned", misalignPlace,
       false},
      {"the pointer to elements is null", loseElements, false},
      {"the pointer to elements is misaligned", misalignElements, false},
      {"another offset", moveOffset, false},
      {"another allocated pointer", writeAllocated, false},
      {"an extent is negative", negateExtent, false},
      {"the extents overflow", overflowExtents, true},
      {"another static extent", changeStaticExtent, true},
      {"a smaller extent", shrinkFirstExtent, false},
      {"another stride", changeStride, true},
      {"other bytes for true", writeBooleans, false},
      {"another number", writeElement, false},
      {"another length of a list", changeLength, true},
      {"another stride of a list", changeListStride, false},
      {"another extent of a sparse tensor", changeSparseExtent, false},
      {"another number in a list", changeList, false},
      {"elements apart from each other", spreadElements, true},
      {"a call in forms", callInForms, true},
      {"a call with other numbers", callWithOtherCounts, true},
      {"a form that does not exist", callInNoForm, true},
      {"destinations of other extents", growDestinations, true},
      {"destinations that are arguments", writeToArguments, true},
      {"patterns of other lists", giveOtherPatterns, true}};
  return mutations;
}
