//===- sparse-call.cpp - Calls many functions of one program ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Most of what a call of sparse-runner costs is the start and the compilation,
// which tests with many small functions pay once:
//
//   sparse-call [-O3] [--pipeline=OPTIONS] PROGRAM.mlir CALLS
//
// compiles the program and performs the calls. PROGRAM.so, a shared object that
// sparse-compile made, is loaded as it is. Each line of CALLS is a JSON object
// such as
//
//   {"entry": "f", "arguments": ["x.npy"], "results": ["y.npy"], "threads": 2}
//
// A file may be the argument of several calls. NumPy has no bf16: arguments and
// results of that type are files of uint16 with the same bits. One of uint8 has
// the bytes of an i1, also those that are neither 0 nor 1. A sparse result
// is a .npz file of its components, called component0, component1, ..., and of
// its shape. A sparse argument is such a file, which is passed as it is, right
// or wrong, or any other that holds a sparse tensor. For every call
// the program prints one line: `ok`, or `error` and the message with which the
// entry failed. Whatever else goes wrong ends the program with status 1.
//
// With "repeats": 10000 the entry is called so often, and each time its results
// are released. A line `memory` and an object of what this cost comes first:
// the least and the greatest number seen after a call (see MemoryRecord).

#include "SparseAutograd/ExecutionEngine/ExecutionEngine.h"
#include "SparseAutograd/IO/Read.h"
#include "SparseAutograd/IO/Write.h"
#include "SparseAutograd/Pipelines/Pipelines.h"
#include "SparseAutograd/Registration.h"
#include "SparseAutograd/Runner/Values.h"
#include "SparseAutograd/Runtime/Runtime.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

using namespace sparse_autograd;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace {
/// Code that can be called.
struct Program {
  llvm::json::Object manifest;
  /// The entry of a function that the manifest lists.
  std::function<Expected<SparseAutogradEntry>(StringRef name)> lookup;

  const llvm::json::Object *findEntry(StringRef name) const;
};
} // namespace

const llvm::json::Object *Program::findEntry(StringRef name) const {
  for (const llvm::json::Value &value : *manifest.getArray("entries"))
    if (value.getAsObject()->getString("name") == name)
      return value.getAsObject();
  return nullptr;
}

static Expected<Program> compile(StringRef file, StringRef pipeline,
                                 unsigned optimizationLevel) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceFile<mlir::ModuleOp>(file, sources, &context);
  if (!module)
    return llvm::createStringError(file + ": could not be parsed");
  PipelineOptions pipelineOptions;
  if (mlir::failed(pipelineOptions.parseFromString(pipeline)))
    return llvm::createStringError("the options of the pipeline are wrong");
  if (Error error = runPipeline(*module, pipelineOptions))
    return std::move(error);
  CompileOptions options;
  options.optimizationLevel = optimizationLevel;
  Expected<std::unique_ptr<ExecutionEngine>> created =
      ExecutionEngine::create(*module, options);
  if (!created)
    return created.takeError();
  std::shared_ptr<ExecutionEngine> engine = std::move(*created);
  return Program{engine->getManifest(),
                 [engine](StringRef name) { return engine->lookup(name); }};
}

static Expected<Program> load(StringRef file) {
  std::string problem;
  auto library = llvm::sys::DynamicLibrary::getPermanentLibrary(
      file.str().c_str(), &problem);
  if (!library.isValid())
    return llvm::createStringError(problem);
  auto *text = static_cast<const char *>(
      library.getAddressOfSymbol("sparse_autograd_manifest"));
  if (!text)
    return llvm::createStringError(file + ": has no manifest");
  Expected<llvm::json::Value> manifest = llvm::json::parse(text);
  if (!manifest)
    return manifest.takeError();
  Program program{std::move(*manifest->getAsObject()), {}};
  llvm::StringMap<SparseAutogradEntry> entries;
  for (const llvm::json::Value &value : *program.manifest.getArray("entries")) {
    const llvm::json::Object &entry = *value.getAsObject();
    void *address =
        library.getAddressOfSymbol(entry.getString("symbol")->str().c_str());
    if (!address)
      return llvm::createStringError(file + ": has no entry '" +
                                     *entry.getString("symbol") + "'");
    entries[*entry.getString("name")] =
        reinterpret_cast<SparseAutogradEntry>(address);
  }
  program.lookup = [entries = std::move(entries)](StringRef name) {
    return entries.lookup(name);
  };
  return program;
}

/// The components of a sparse argument, if the file has them.
static Expected<std::optional<Value>> readComponents(const ValueType &type,
                                                     StringRef path) {
  Expected<std::vector<std::string>> members = io::listMembers(path);
  if (!members)
    return members.takeError();
  if (!llvm::is_contained(*members, "component0"))
    return std::nullopt;
  std::vector<io::DenseArray> components;
  for (auto [index, wanted] :
       llvm::enumerate(type.encoding->getComponentTypes(type.elementType))) {
    Expected<io::DenseArray> array =
        io::readDense((path + ":component" + llvm::Twine(index)).str());
    if (!array)
      return array.takeError();
    if (array->shape.size() != 1 ||
        io::getByteWidth(array->type) != io::getByteWidth(wanted))
      return llvm::createStringError(path + ": component " +
                                     llvm::Twine(index) + " of " + type.str() +
                                     " has another type");
    array->type = wanted;
    components.push_back(std::move(*array));
  }
  Expected<io::DenseArray> shape = io::readDense((path + ":shape").str());
  if (!shape)
    return shape.takeError();
  if (shape->type != io::ElementType::I64 ||
      shape->data.size() != 8 * type.shape->size())
    return llvm::createStringError(path + ": the shape has another type");
  return Value::fromComponents(type, shape->as<int64_t>(),
                               std::move(components));
}

static Expected<Value> readSparseArgument(const ValueType &type,
                                          StringRef path) {
  if (path.ends_with(".npz")) {
    Expected<std::optional<Value>> value = readComponents(type, path);
    if (!value)
      return value.takeError();
    if (*value)
      return std::move(**value);
  }
  Expected<io::CoordinateTensor> tensor = io::readSparse(path);
  if (!tensor)
    return tensor.takeError();
  if (type.elementType == io::ElementType::BF16 &&
      tensor->values.type == io::ElementType::U16)
    tensor->values.type = io::ElementType::BF16;
  return Value::fromCoordinates(type, std::move(*tensor), path);
}

static Error writeComponents(StringRef path, const Value &value) {
  Expected<std::vector<io::DenseArray>> components = value.getComponents();
  if (!components)
    return components.takeError();
  llvm::ArrayRef<int64_t> extents = value.getExtents();
  io::DenseArray shape = llvm::cantFail(io::makeDenseArray(
      path, io::ElementType::I64, {int64_t(extents.size())}, {}));
  llvm::copy(extents, shape.as<int64_t>().begin());
  std::vector<io::NamedArray> arrays = {{"shape", &shape}};
  for (auto [index, array] : llvm::enumerate(*components)) {
    if (array.type == io::ElementType::BF16)
      array.type = io::ElementType::U16;
    arrays.push_back({"component" + std::to_string(index), &array});
  }
  return io::writeNpz(path, arrays);
}

/// A value read from a file in the form that the entry takes.
static Expected<Value> readArgument(const ValueType &type, StringRef path) {
  if (type.encoding)
    return readSparseArgument(type, path);
  auto file = io::readAny(path);
  if (!file)
    return file.takeError();
  auto *array = std::get_if<io::DenseArray>(&*file);
  if (!array)
    return llvm::createStringError(path + ": is no dense array");
  if (type.elementType == io::ElementType::BF16 &&
      array->type == io::ElementType::U16)
    array->type = io::ElementType::BF16;
  if (type.elementType == io::ElementType::Bool &&
      array->type == io::ElementType::U8)
    array->type = io::ElementType::Bool;
  if (type.shape)
    return Value::fromArray(type, std::move(*array), path);
  if (array->getNumElements() != 1 || array->type != type.elementType)
    return llvm::createStringError(path + ": is no number of type " +
                                   type.str());
  // A scalar: exact as text, whose digits suffice for an f64.
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (array->type == io::ElementType::I64)
    stream << array->as<int64_t>().front();
  else if (array->type == io::ElementType::Bool ||
           type.elementTypeName[0] == 'i')
    stream << static_cast<int64_t>(io::getAsDouble(*array, 0));
  else
    stream << llvm::format("%.17g", io::getAsDouble(*array, 0));
  return Value::fromNumber(type, text);
}

/// The strings of an array of a call.
static std::vector<std::string> getPaths(const llvm::json::Object &call,
                                         StringRef key) {
  std::vector<std::string> paths;
  if (const llvm::json::Array *array = call.getArray(key))
    for (const llvm::json::Value &value : *array)
      paths.push_back(value.getAsString().value_or("").str());
  return paths;
}

/// The memory of this process that is resident and not that of a file, of which
/// the system may read more at any time; in bytes, 0 if it is not known.
static int64_t getResidentBytes() {
  auto status = llvm::MemoryBuffer::getFileAsStream("/proc/self/status");
  int64_t kilobytes = 0;
  if (status)
    (*status)
        ->getBuffer()
        .split("RssAnon:")
        .second.ltrim()
        .consumeInteger(10, kilobytes);
  return 1024 * kilobytes;
}

namespace {
/// What is seen of the memory after each of several calls.
class MemoryRecord {
public:
  /// Before a call.
  void begin() {
    if (calls == 0)
      note("live bytes", getCounters().liveBytes);
    sparseAutogradResetCounters();
  }
  /// After a call whose results are released; whether it has left nothing.
  bool end() {
    ++calls;
    SparseAutogradCounters counters = getCounters();
    note("live bytes", counters.liveBytes);
    note("live blocks", counters.liveBlocks);
    note("allocations", counters.allocations);
    note("peak bytes", counters.peakLiveBytes);
    // The first calls fill the pool and the caches of the heap.
    bool isClean = counters.liveBlocks == 0;
    if (calls <= 100)
      return isClean;
    note("pooled bytes", counters.pooledBytes);
#if defined(__GLIBC__)
    struct mallinfo2 heap = mallinfo2();
    note("heap bytes", heap.uordblks + heap.hblkhd);
#endif
    if (calls == 1000)
      note("resident bytes", getResidentBytes());
    return isClean;
  }
  llvm::json::Object finish() {
    note("resident bytes", getResidentBytes());
    llvm::json::Object object;
    for (const auto &[name, range] : ranges)
      object[name] = llvm::json::Array{range.first, range.second};
    return object;
  }

private:
  static SparseAutogradCounters getCounters() {
    SparseAutogradCounters counters;
    sparseAutogradGetCounters(&counters);
    return counters;
  }
  void note(StringRef name, int64_t number) {
    auto [place, isNew] = ranges.try_emplace(name, number, number);
    place->second.first = std::min(place->second.first, number);
    place->second.second = std::max(place->second.second, number);
  }

  int64_t calls = 0;
  llvm::StringMap<std::pair<int64_t, int64_t>> ranges;
};
} // namespace

/// Calls an entry `repeats` times and prints what that costs.
static void repeat(SparseAutogradEntry entry, int64_t repeats,
                   llvm::MutableArrayRef<void *> arguments,
                   llvm::ArrayRef<ValueType> resultTypes) {
  MemoryRecord record;
  bool isClean = true;
  for (int64_t call = 0; call < repeats && isClean; ++call) {
    record.begin();
    {
      std::vector<Value> results;
      std::vector<void *> pointers;
      results.reserve(resultTypes.size());
      for (const ValueType &type : resultTypes) {
        results.emplace_back(type);
        pointers.push_back(results.back().getPointer());
      }
      (void)entry(arguments.data(), pointers.data());
    }
    isClean = record.end();
  }
  llvm::outs() << "memory " << llvm::json::Value(record.finish()) << "\n";
}

static Error perform(const Program &program, const llvm::json::Object &call) {
  std::string name = call.getString("entry").value_or("").str();
  const llvm::json::Object *entry = program.findEntry(name);
  if (!entry)
    return llvm::createStringError("there is no public function '" + name +
                                   "'");
  Expected<SparseAutogradEntry> function = program.lookup(name);
  if (!function)
    return function.takeError();
  Expected<std::vector<ValueType>> argumentTypes =
      ValueType::parseAll(*entry, "arguments");
  if (!argumentTypes)
    return argumentTypes.takeError();
  Expected<std::vector<ValueType>> resultTypes =
      ValueType::parseAll(*entry, "results");
  if (!resultTypes)
    return resultTypes.takeError();

  std::vector<std::string> inputs = getPaths(call, "arguments");
  std::vector<std::string> outputs = getPaths(call, "results");
  if (inputs.size() != argumentTypes->size() ||
      outputs.size() != resultTypes->size())
    return llvm::createStringError(
        "'" + name + "' has " + llvm::Twine(argumentTypes->size()) +
        " arguments and " + llvm::Twine(resultTypes->size()) + " results");
  std::vector<Value> arguments, results;
  std::vector<void *> argumentPointers, resultPointers;
  arguments.reserve(inputs.size());
  results.reserve(outputs.size());
  for (auto [type, path] : llvm::zip_equal(*argumentTypes, inputs)) {
    Expected<Value> value = readArgument(type, path);
    if (!value)
      return value.takeError();
    arguments.push_back(std::move(*value));
    argumentPointers.push_back(arguments.back().getPointer());
  }
  for (const ValueType &type : *resultTypes) {
    results.emplace_back(type);
    resultPointers.push_back(results.back().getPointer());
  }

  sparseAutogradSetThreadCount(call.getInteger("threads").value_or(0));
  if (int64_t repeats = call.getInteger("repeats").value_or(0))
    repeat(*function, repeats, argumentPointers, *resultTypes);
  if ((*function)(argumentPointers.data(), resultPointers.data()) !=
      SPARSE_AUTOGRAD_SUCCESS) {
    llvm::outs() << "error " << sparseAutogradLastError() << "\n";
    return Error::success();
  }
  for (auto [result, path] : llvm::zip_equal(results, outputs)) {
    if (result.isSparse()) {
      if (Error error = writeComponents(path, result))
        return error;
      continue;
    }
    Expected<io::DenseArray> array = result.toArray();
    if (!array)
      return array.takeError();
    if (array->type == io::ElementType::BF16)
      array->type = io::ElementType::U16;
    if (Error error = io::writeDense(path, *array))
      return error;
  }
  llvm::outs() << "ok\n";
  llvm::outs().flush();
  return Error::success();
}

static Error callAll(StringRef file, StringRef calls, StringRef pipeline,
                     unsigned level) {
  Expected<Program> program =
      file.ends_with(".so") ? load(file) : compile(file, pipeline, level);
  if (!program)
    return program.takeError();
  auto text = llvm::MemoryBuffer::getFile(calls);
  if (!text)
    return llvm::createStringError(calls + ": " + text.getError().message());
  llvm::SmallVector<StringRef> lines;
  (*text)->getBuffer().split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    Expected<llvm::json::Value> call = llvm::json::parse(line);
    if (!call)
      return call.takeError();
    if (!call->getAsObject())
      return llvm::createStringError(calls + ": a line is no JSON object");
    if (Error error = perform(*program, *call->getAsObject()))
      return error;
  }
  return Error::success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialize(argc, argv);
  llvm::cl::ResetCommandLineParser();
  llvm::cl::opt<std::string> program(llvm::cl::Positional, llvm::cl::Required,
                                     llvm::cl::desc("PROGRAM.mlir"));
  llvm::cl::opt<std::string> calls(llvm::cl::Positional, llvm::cl::Required,
                                   llvm::cl::desc("CALLS"));
  llvm::cl::opt<unsigned> level("O", llvm::cl::Prefix, llvm::cl::init(3),
                                llvm::cl::desc("optimization level"));
  llvm::cl::opt<std::string> pipeline(
      "pipeline", llvm::cl::desc("options of the pipeline"));
  llvm::cl::ParseCommandLineOptions(argc, argv, "sparse-call\n");
  // Progress lines are no answers.
  sparseAutogradSetLogHandler(
      [](const SparseAutogradLogRecord *, void *) -> int32_t {
        return SPARSE_AUTOGRAD_SUCCESS;
      },
      nullptr);
  if (Error error = callAll(program, calls, pipeline, level)) {
    llvm::errs() << "error: " << toString(std::move(error)) << "\n";
    return 1;
  }
  return 0;
}
