//===- emulate-kernel.cpp - Runs a kernel without a GPU ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// For tests of device code:
//
//   emulate-kernel FILE --kernel=NAME --grid=2 --block=64,2 ARGUMENT...
//
// FILE is LLVM IR or bitcode for nvptx64, or MLIR with a gpu.binary that
// gpu-module-to-binary{format=llvm} has made; - is the standard input. An
// ARGUMENT is
//
//   i32=5 or f32=0.5            a scalar
//   f32:2x3:iota                a buffer with the numbers 0, 1, 2, ...
//   f32:6:zero, f32:6:random    one of zeros, or of multiples of 1/8 in [-2, 2]
//                               (of integers: of numbers below 100)
//   f32:6:none                  one that nothing has written
//   i32:[1,2,3]                 a buffer with these numbers
//   i32:2x2:[1,2,3,4]           the same, with a shape
//   f32:@x.npy                  one of the shape and the numbers of a file
//   memref:f32:2x3:iota         a buffer as the memref of MLIR: two pointers,
//                               an offset, extents and strides
//   tensormap=0:64x32:8x32:128  the map of the tensor of this shape in argument
//                               0, with tiles of the second shape that are
//                               swizzled over 128 bytes (or 0), by value
//   tensormap:0:64x32:8x32:0    the same, as a pointer to a buffer
//
// The types are i1, i8, i16, i32, i64, f16, bf16, f32 and f64. After the launch
// all buffers are printed, or those that --print lists by their argument. With
// --seeds=5 the kernel runs with the seeds 0 to 4, and the buffers must be the
// same each time. What the emulator reports is printed as an error; the exit
// code is 1.

#include "SparseAutograd/ExecutionEngine/EmulatedModule.h"
#include "SparseAutograd/IO/Read.h"
#include "SparseAutograd/IO/Write.h"
#include "SparseAutograd/Runtime/DeviceABI.h"
#include "SparseAutograd/Runtime/Emulator.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <memory>
#include <optional>
#include <random>

using namespace llvm;
using namespace sparse_autograd;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

namespace {
/// The type of a number, with its name.
struct ElementType {
  std::string name;
  unsigned bytes = 0;
  /// Null for integers.
  const fltSemantics *semantics = nullptr;
};

/// A parameter, or several of a memref.
struct KernelArgument {
  ElementType type;
  bool isBuffer = false;
  bool isMemref = false;
  /// Whether the host writes nothing to it.
  bool isUnwritten = false;
  /// What a tensor map has; its address is that of this argument.
  std::optional<SparseAutogradTensorTiles> tiles;
  unsigned tensor = 0;
  SmallVector<int64_t> shape;
  /// One after the other.
  std::vector<char> data;
};
} // namespace

static Expected<ElementType> parseType(StringRef name) {
  ElementType type;
  type.name = name.str();
  unsigned bits;
  StringRef digits = name;
  if (digits.consume_front("i") && !digits.getAsInteger(10, bits) &&
      (bits == 1 || bits == 8 || bits == 16 || bits == 32 || bits == 64)) {
    type.bytes = (bits + 7) / 8;
    return type;
  }
  type.semantics = name == "f16"    ? &APFloat::IEEEhalf()
                   : name == "bf16" ? &APFloat::BFloat()
                   : name == "f32"  ? &APFloat::IEEEsingle()
                   : name == "f64"  ? &APFloat::IEEEdouble()
                                    : nullptr;
  if (!type.semantics)
    return createStringError("'" + name + "' is no type");
  type.bytes = APFloat::getSizeInBits(*type.semantics) / 8;
  return type;
}

static void append(std::vector<char> &data, const ElementType &type,
                   double number) {
  uint64_t bits;
  if (type.semantics) {
    APFloat value(number);
    bool isInexact;
    value.convert(*type.semantics, APFloat::rmNearestTiesToEven, &isInexact);
    bits = value.bitcastToAPInt().getZExtValue();
  } else {
    bits = static_cast<uint64_t>(static_cast<int64_t>(number));
  }
  const char *bytes = reinterpret_cast<const char *>(&bits);
  data.insert(data.end(), bytes, bytes + type.bytes);
}

static void print(raw_ostream &stream, const ElementType &type,
                  const char *from) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, type.bytes);
  if (!type.semantics) {
    APInt(8 * type.bytes, bits).print(stream, /*isSigned=*/true);
    return;
  }
  APFloat value(*type.semantics, APInt(8 * type.bytes, bits));
  SmallString<32> text;
  value.toString(text, /*FormatPrecision=*/0, /*FormatMaxPadding=*/3,
                 /*TruncateZero=*/true);
  stream << text;
}

static Error parseNumbers(KernelArgument &argument, StringRef list) {
  SmallVector<StringRef> parts;
  list.split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    double number;
    if (part.trim().getAsDouble(number))
      return createStringError("'" + part + "' is no number");
    append(argument.data, argument.type, number);
  }
  argument.shape = {int64_t(parts.size())};
  return Error::success();
}

static int64_t getElementCount(const KernelArgument &argument) {
  int64_t count = 1;
  for (int64_t extent : argument.shape)
    count *= extent;
  return count;
}

static Error fill(KernelArgument &argument, StringRef contents,
                  unsigned index) {
  int64_t count = getElementCount(argument);
  argument.isUnwritten = contents == "none";
  if (argument.isUnwritten) {
    argument.data.assign(count * argument.type.bytes, '\xff');
    return Error::success();
  }
  // Other numbers in each argument.
  std::mt19937 random(index + 1);
  for (int64_t i = 0; i < count; ++i) {
    double number;
    if (contents == "zero")
      number = 0;
    else if (contents == "iota")
      number = static_cast<double>(i);
    else if (contents == "random")
      number = argument.type.semantics ? int(random() % 33) / 8. - 2
                                       : double(random() % 100);
    else
      return createStringError("'" + contents +
                               "' is not zero, iota, random or none");
    append(argument.data, argument.type, number);
  }
  return Error::success();
}

/// Takes the shape and the numbers of a file.
static Error readFile(KernelArgument &argument, StringRef file) {
  Expected<io::DenseArray> array = io::readDense(file);
  if (!array)
    return array.takeError();
  if (io::getTypeName(array->type) != argument.type.name)
    return createStringError(file + ": holds numbers of type " +
                             io::getTypeName(array->type) + ", not " +
                             argument.type.name);
  argument.shape = array->shape;
  argument.data.assign(array->data.data(),
                       array->data.data() + array->data.size());
  return Error::success();
}

/// Writes a buffer to a file as an array of the argument's shape.
static Error writeFile(const KernelArgument &argument, ArrayRef<char> bytes,
                       StringRef file) {
  for (io::ElementType type :
       {io::ElementType::Bool, io::ElementType::I8, io::ElementType::I16,
        io::ElementType::I32, io::ElementType::I64, io::ElementType::F16,
        io::ElementType::F32, io::ElementType::F64}) {
    if (io::getTypeName(type) != argument.type.name)
      continue;
    Expected<io::DenseArray> array =
        io::makeDenseArray(file, type, argument.shape, {});
    if (!array)
      return array.takeError();
    llvm::copy(bytes, array->data.data());
    return io::writeDense(file, *array);
  }
  return createStringError(file + ": NumPy has no numbers of type " +
                           argument.type.name);
}

/// The numbers of "2x3", in reverse: dimension 0 is the innermost one.
static SmallVector<int64_t> parseTileShape(StringRef text) {
  SmallVector<int64_t> shape;
  SmallVector<StringRef> extents;
  text.split(extents, 'x');
  for (StringRef extent : reverse(extents))
    if (extent.getAsInteger(10, shape.emplace_back()))
      return {};
  return shape;
}

static Expected<KernelArgument>
parseTensorMap(StringRef text, ArrayRef<KernelArgument> others) {
  KernelArgument argument;
  argument.isBuffer = text.front() == ':';
  SmallVector<StringRef> parts;
  text.drop_front().split(parts, ':');
  int32_t swizzle = StringSwitch<int32_t>(parts.back())
                        .Case("0", SPARSE_AUTOGRAD_TENSOR_SWIZZLE_NONE)
                        .Case("32", SPARSE_AUTOGRAD_TENSOR_SWIZZLE_32B)
                        .Case("64", SPARSE_AUTOGRAD_TENSOR_SWIZZLE_64B)
                        .Case("128", SPARSE_AUTOGRAD_TENSOR_SWIZZLE_128B)
                        .Default(-1);
  if (parts.size() != 4 || parts[0].getAsInteger(10, argument.tensor) ||
      argument.tensor >= others.size() || swizzle < 0)
    return createStringError("'tensormap" + text + "' is no tensor map");
  SmallVector<int64_t> extents = parseTileShape(parts[1]);
  SmallVector<int64_t> box = parseTileShape(parts[2]);
  if (extents.empty() || extents.size() > 5 || box.size() != extents.size())
    return createStringError("'tensormap" + text + "' has no shapes");
  const ElementType &type = others[argument.tensor].type;
  SparseAutogradTensorTiles &tiles = argument.tiles.emplace();
  tiles = {};
  tiles.element = type.name == "f16"    ? SPARSE_AUTOGRAD_TENSOR_F16
                  : type.name == "bf16" ? SPARSE_AUTOGRAD_TENSOR_BF16
                  : type.name == "f32"  ? SPARSE_AUTOGRAD_TENSOR_F32
                  : type.name == "f64"  ? SPARSE_AUTOGRAD_TENSOR_F64
                  : type.bytes == 1     ? SPARSE_AUTOGRAD_TENSOR_U8
                  : type.bytes == 2     ? SPARSE_AUTOGRAD_TENSOR_U16
                  : type.bytes == 4     ? SPARSE_AUTOGRAD_TENSOR_I32
                                        : SPARSE_AUTOGRAD_TENSOR_I64;
  tiles.rank = static_cast<int32_t>(extents.size());
  tiles.swizzle = swizzle;
  int64_t stride = type.bytes;
  for (auto [i, extent] : enumerate(extents)) {
    tiles.extents[i] = extent;
    tiles.box[i] = static_cast<int32_t>(box[i]);
    tiles.steps[i] = 1;
    stride *= extent;
    if (i < 4)
      tiles.strides[i] = stride;
  }
  argument.type.name = "i8";
  argument.type.bytes = 1;
  argument.data.resize(128);
  argument.shape = {128};
  return argument;
}

static Expected<KernelArgument> parseArgument(StringRef text, unsigned index,
                                              ArrayRef<KernelArgument> others) {
  KernelArgument argument;
  StringRef rest = text;
  if (rest.consume_front("tensormap") && !rest.empty())
    return parseTensorMap(rest, others);
  auto [scalarType, scalar] = rest.split('=');
  if (!scalar.empty()) {
    Expected<ElementType> type = parseType(scalarType);
    if (!type)
      return type.takeError();
    argument.type = *type;
    if (Error error = parseNumbers(argument, scalar))
      return std::move(error);
    return argument;
  }
  argument.isBuffer = true;
  argument.isMemref = rest.consume_front("memref:");
  auto [typeName, contents] = rest.split(':');
  Expected<ElementType> type = parseType(typeName);
  if (!type)
    return type.takeError();
  argument.type = *type;
  if (contents.consume_front("@")) {
    if (Error error = readFile(argument, contents))
      return std::move(error);
    return argument;
  }
  if (contents.consume_front("[") && contents.consume_back("]")) {
    if (Error error = parseNumbers(argument, contents))
      return std::move(error);
    return argument;
  }
  auto [shape, kind] = contents.split(':');
  if (kind.consume_front("[") && kind.consume_back("]"))
    if (Error error = parseNumbers(argument, kind))
      return std::move(error);
  argument.shape.clear();
  SmallVector<StringRef> extents;
  shape.split(extents, 'x');
  for (StringRef extent : extents)
    if (extent.getAsInteger(10, argument.shape.emplace_back()) ||
        argument.shape.back() < 0)
      return createStringError("'" + extent + "' is no extent in '" + text +
                               "'");
  if (!argument.data.empty()) {
    if (int64_t(argument.data.size()) !=
        getElementCount(argument) * argument.type.bytes)
      return createStringError("'" + shape + "' is no shape of the numbers");
    return argument;
  }
  if (Error error = fill(argument, kind, index))
    return std::move(error);
  return argument;
}

//===----------------------------------------------------------------------===//
// Input
//===----------------------------------------------------------------------===//

/// The bitcode of the first gpu.binary.
static Expected<std::string> findBitcode(const MemoryBuffer &buffer) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::gpu::GPUDialect, mlir::LLVM::LLVMDialect,
                  mlir::NVVM::NVVMDialect>();
  mlir::MLIRContext context(registry);
  context.allowUnregisteredDialects();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(buffer.getBuffer(), &context);
  if (!module)
    return createStringError("the input cannot be parsed");
  std::string bitcode;
  module->walk([&](mlir::gpu::BinaryOp binary) {
    for (mlir::Attribute object : binary.getObjects())
      if (bitcode.empty())
        bitcode = mlir::cast<mlir::gpu::ObjectAttr>(object).getObject().str();
  });
  if (bitcode.empty())
    return createStringError("the input has no gpu.binary");
  return bitcode;
}

static Expected<std::unique_ptr<Module>> readModule(StringRef file,
                                                    LLVMContext &context) {
  auto buffer = MemoryBuffer::getFileOrSTDIN(file);
  if (!buffer)
    return createStringError(file + ": " + buffer.getError().message());
  std::string bitcode;
  MemoryBufferRef code = **buffer;
  if ((*buffer)->getBuffer().contains("gpu.binary")) {
    Expected<std::string> found = findBitcode(**buffer);
    if (!found)
      return found.takeError();
    bitcode = std::move(*found);
    code = MemoryBufferRef(bitcode, file);
  }
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module = parseIR(code, diagnostic, context);
  if (!module)
    return createStringError(file + ": " + diagnostic.getMessage());
  return module;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

namespace {
/// Memory for a tensor map.
struct TensorMap {
  alignas(64) char bytes[128];
};

/// A launch with a seed, and what it leaves in the buffers.
class Run {
public:
  Run(const SparseAutogradEmulatorOptions &options)
      : emulator(sparseAutogradEmulatorCreate(&options)) {}
  ~Run() { sparseAutogradEmulatorDestroy(emulator); }

  Error launch(const EmulatedModule &module,
               const SparseAutogradEmulatorKernel &kernel,
               const SparseAutogradEmulatorLaunch &launch,
               ArrayRef<KernelArgument> arguments, StringRef machine,
               int64_t registers);

  /// For each argument its bytes, if it is a buffer.
  std::vector<std::vector<char>> contents;
  SparseAutogradEmulatorCounters counters = {};
  /// As JSON, if the launch is counted.
  std::string counts;

private:
  SparseAutogradEmulator *emulator;
};
} // namespace

Error Run::launch(const EmulatedModule &module,
                  const SparseAutogradEmulatorKernel &kernel,
                  const SparseAutogradEmulatorLaunch &launch,
                  ArrayRef<KernelArgument> arguments, StringRef machine,
                  int64_t registers) {
  auto getError = [&] {
    return createStringError(
        StringRef(sparseAutogradEmulatorGetReport(emulator)->message));
  };
  if (sparseAutogradEmulatorAddModule(emulator, &module.getModule()))
    return getError();
  // The parameters, of up to 8 bytes each.
  std::vector<uint64_t> values;
  std::vector<char *> buffers;
  std::vector<std::unique_ptr<TensorMap>> maps;
  std::vector<std::pair<size_t, void *>> placesOfMaps;
  for (const KernelArgument &argument : arguments) {
    buffers.push_back(nullptr);
    if (argument.tiles) {
      SparseAutogradTensorTiles tiles = *argument.tiles;
      tiles.address = buffers[argument.tensor];
      maps.push_back(std::make_unique<TensorMap>());
      if (sparseAutogradEmulatorEncodeTensorMap(emulator, maps.back()->bytes,
                                                &tiles))
        return getError();
      if (!argument.isBuffer)
        placesOfMaps.emplace_back(values.size(), maps.back()->bytes);
    }
    if (!argument.isBuffer) {
      values.push_back(0);
      if (argument.tiles)
        continue;
      std::memcpy(&values.back(), argument.data.data(), argument.data.size());
      continue;
    }
    void *buffer =
        sparseAutogradEmulatorAllocate(emulator, argument.data.size());
    if (!buffer)
      return getError();
    buffers.back() = static_cast<char *>(buffer);
    if (argument.tiles)
      std::memcpy(buffer, maps.back()->bytes, sizeof(maps.back()->bytes));
    else
      llvm::copy(argument.data, buffers.back());
    // All but what has no contents.
    if (!argument.isUnwritten)
      sparseAutogradEmulatorMarkWritten(emulator, buffer, argument.data.size());
    values.push_back(reinterpret_cast<uint64_t>(buffer));
    if (!argument.isMemref)
      continue;
    values.push_back(values.back());
    values.push_back(0);
    values.insert(values.end(), argument.shape.begin(), argument.shape.end());
    SmallVector<uint64_t> strides;
    uint64_t stride = 1;
    for (int64_t extent : reverse(argument.shape)) {
      strides.push_back(stride);
      stride *= extent;
    }
    values.insert(values.end(), strides.rbegin(), strides.rend());
  }
  if (static_cast<int32_t>(values.size()) != kernel.parameterCount)
    return createStringError("the kernel has " + Twine(kernel.parameterCount) +
                             " parameters, not " + Twine(values.size()));
  std::vector<void *> parameters;
  for (uint64_t &value : values)
    parameters.push_back(&value);
  for (auto [place, map] : placesOfMaps)
    parameters[place] = map;
  if (!machine.empty() &&
      sparseAutogradEmulatorCount(emulator, machine.str().c_str()))
    return getError();
  sparseAutogradEmulatorSetRegisters(emulator, registers);
  if (sparseAutogradEmulatorLaunch(emulator, &kernel, &launch,
                                   parameters.data()))
    return getError();
  sparseAutogradEmulatorGetCounters(emulator, &counters);
  if (const char *text = sparseAutogradEmulatorGetCounts(emulator))
    counts = text;
  for (auto [argument, buffer] : zip(arguments, buffers))
    contents.emplace_back(buffer, buffer + (buffer ? argument.data.size() : 0));
  return Error::success();
}

static void printBuffer(const KernelArgument &argument, ArrayRef<char> bytes,
                        size_t index) {
  outs() << index << ": " << argument.type.name << " [";
  for (size_t i = 0; i < bytes.size(); i += argument.type.bytes) {
    outs() << (i ? ", " : "");
    print(outs(), argument.type, bytes.data() + i);
  }
  outs() << "]\n";
}

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

namespace {
struct Options {
  cl::opt<std::string> file{cl::Positional, cl::Required, cl::desc("FILE")};
  cl::list<std::string> arguments{cl::Positional, cl::desc("ARGUMENT...")};
  cl::opt<std::string> kernel{"kernel", cl::desc("the only one, if empty")};
  cl::list<int64_t> grid{"grid", cl::CommaSeparated, cl::desc("blocks")};
  cl::list<int64_t> block{"block", cl::CommaSeparated, cl::desc("threads")};
  cl::opt<int64_t> shared{"shared", cl::desc("bytes of dynamic shared memory")};
  cl::opt<uint64_t> seed{"seed", cl::desc("order of the threads")};
  cl::opt<unsigned> seeds{"seeds", cl::desc("run with so many seeds")};
  cl::list<unsigned> printed{"print", cl::CommaSeparated,
                             cl::desc("arguments to print")};
  cl::list<std::string> saved{
      "save", cl::value_desc("ARGUMENT=FILE"),
      cl::desc("write a buffer to a file (.npy) instead of printing it")};
  cl::opt<bool> races{"races", cl::init(true), cl::desc("look for data races")};
  cl::opt<bool> unwritten{
      "unwritten", cl::init(true),
      cl::desc("look for reads of what nothing has written")};
  cl::opt<int64_t> stack{"stack", cl::desc("bytes of the stack of a thread")};
  cl::opt<bool> each{
      "each", cl::desc("run each kernel of the file, with buffers of its "
                       "own; what is reported goes to the output")};
  cl::opt<bool> counters{"counters", cl::desc("print what the launch did")};
  cl::opt<std::string> count{
      "count", cl::ValueOptional, cl::value_desc("MACHINE"),
      cl::desc("print as JSON what the launch asks of a GPU: h100 (default), "
               "h200, a100, rtx3090, rtx4090, or a part, h100/16")};
  cl::opt<int64_t> registers{
      "registers", cl::desc("of a thread, for --count, as ptxas says")};
  cl::opt<int64_t> maxSteps{"max-steps", cl::desc("of a block")};
};
} // namespace

/// Launches a kernel with each seed, and prints what it leaves.
static Error runKernel(const EmulatedModule &module,
                       const SparseAutogradEmulatorKernel &kernel,
                       const SparseAutogradEmulatorLaunch &launch,
                       SparseAutogradEmulatorOptions emulatorOptions,
                       ArrayRef<KernelArgument> arguments,
                       const Options &options) {
  uint64_t first = options.seed.getNumOccurrences() ? options.seed.getValue()
                   : options.seeds                  ? 0
                                                    : emulatorOptions.seed;
  std::vector<std::vector<char>> contents;
  for (uint64_t i = 0; i < std::max(1u, options.seeds.getValue()); ++i) {
    emulatorOptions.seed = first + i;
    Run run(emulatorOptions);
    StringRef machine = !options.count.getNumOccurrences() ? ""
                        : options.count.empty() ? "h100"
                                                : StringRef(options.count);
    if (Error error = run.launch(module, kernel, launch, arguments, machine,
                                 options.registers))
      return error;
    if (!run.counts.empty())
      outs() << run.counts << "\n";
    if (options.counters)
      outs() << "blocks " << run.counters.blocks << ", switches "
             << run.counters.switches << ", steps " << run.counters.steps
             << "\n";
    // But for maps, which have addresses.
    for (auto [argument, bytes] : zip(arguments, run.contents))
      if (argument.tiles)
        bytes.clear();
    if (i && run.contents != contents)
      return createStringError("with seed " + Twine(emulatorOptions.seed) +
                               " the results differ from those with seed " +
                               Twine(first));
    contents = std::move(run.contents);
  }
  DenseSet<unsigned> isSaved;
  for (StringRef saved : options.saved) {
    auto [number, file] = saved.split('=');
    unsigned index;
    if (number.getAsInteger(10, index) || index >= arguments.size() ||
        !arguments[index].isBuffer || arguments[index].tiles || file.empty())
      return createStringError("--save takes the number of a buffer and a "
                               "file, 0=x.npy, not '" +
                               saved + "'");
    if (Error error = writeFile(arguments[index], contents[index], file))
      return error;
    isSaved.insert(index);
  }
  for (auto [index, argument] : enumerate(arguments))
    if (argument.isBuffer && !argument.tiles && !isSaved.contains(index) &&
        (options.printed.empty() || is_contained(options.printed, index)))
      printBuffer(argument, contents[index], index);
  return Error::success();
}

static Error run(const Options &options) {
  LLVMContext context;
  Expected<std::unique_ptr<Module>> device = readModule(options.file, context);
  if (!device)
    return device.takeError();
  Expected<std::unique_ptr<EmulatedModule>> module =
      EmulatedModule::load(**device, options.count.getNumOccurrences() > 0);
  if (!module)
    return module.takeError();
  const SparseAutogradEmulatorModule &table = (*module)->getModule();
  const SparseAutogradEmulatorKernel *kernel =
      options.kernel.empty() && table.kernelCount == 1
          ? table.kernels
          : (*module)->lookup(options.kernel);
  if (!kernel && !options.each)
    return createStringError("there is no kernel '" + options.kernel + "'");

  std::vector<KernelArgument> arguments;
  for (const auto &[index, text] : enumerate(options.arguments)) {
    Expected<KernelArgument> argument = parseArgument(text, index, arguments);
    if (!argument)
      return argument.takeError();
    arguments.push_back(std::move(*argument));
  }
  SparseAutogradEmulatorLaunch launch = {{1, 1, 1}, {1, 1, 1}, options.shared};
  for (auto [i, extent] : enumerate(options.grid))
    if (i < 3)
      launch.grid[i] = extent;
  for (auto [i, extent] : enumerate(options.block))
    if (i < 3)
      launch.block[i] = extent;

  SparseAutogradEmulatorOptions emulatorOptions;
  sparseAutogradEmulatorGetDefaultOptions(&emulatorOptions);
  emulatorOptions.detectRaces = options.races;
  emulatorOptions.detectUnwritten = options.unwritten;
  if (options.stack)
    emulatorOptions.stackBytes = options.stack;
  if (options.maxSteps)
    emulatorOptions.maxSteps = options.maxSteps;
  if (!options.each)
    return runKernel(**module, *kernel, launch, emulatorOptions, arguments,
                     options);
  for (int32_t i = 0; i < table.kernelCount; ++i) {
    outs() << "kernel " << table.kernels[i].name << "\n";
    if (Error error = runKernel(**module, table.kernels[i], launch,
                                emulatorOptions, arguments, options))
      outs() << "error: " << toString(std::move(error)) << "\n";
  }
  return Error::success();
}

int main(int argc, char **argv) {
  InitLLVM initialize(argc, argv);
  cl::ResetCommandLineParser();
  Options options;
  cl::ParseCommandLineOptions(argc, argv, "emulate-kernel\n");
  if (Error error = run(options)) {
    outs().flush();
    errs() << "error: " << toString(std::move(error)) << "\n";
    return 1;
  }
  return 0;
}
