//===- TranslateToEmulator.cpp - Device code for the emulator ---*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In two steps: a copy of the module has its instructions replaced by calls,
// with address spaces as they are; another copy then has none.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Target/Emulator/TranslateToEmulator.h"

#include "RuntimeCalls.h"
#include "SparseAutograd/Runtime/Emulator.h"
#include "SparseAutograd/Runtime/EmulatorABI.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Scalar/ScalarizeMaskedMemIntrin.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;
using namespace sparse_autograd;
using namespace sparse_autograd::emulator;

namespace {
// The address spaces of NVPTX.
constexpr unsigned sharedSpace = 3;
constexpr unsigned constantSpace = 4;
constexpr unsigned localSpace = 5;

/// Where shared variables lie.
struct SharedLayout {
  DenseMap<const GlobalVariable *, uint64_t> offsets;
  /// Of the variables of known size; dynamic shared memory follows them.
  uint64_t bytes = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// All kernels have all variables of the module, which costs nothing but room.
static SharedLayout layOutShared(const Module &module) {
  SharedLayout layout;
  const DataLayout &data = module.getDataLayout();
  SmallVector<const GlobalVariable *> dynamic;
  for (const GlobalVariable &variable : module.globals()) {
    if (variable.getAddressSpace() != sharedSpace)
      continue;
    uint64_t bytes = data.getTypeAllocSize(variable.getValueType());
    if (bytes == 0) {
      dynamic.push_back(&variable);
      continue;
    }
    layout.bytes = alignTo(layout.bytes, data.getPreferredAlign(&variable));
    layout.offsets[&variable] = layout.bytes;
    layout.bytes += bytes;
  }
  // Every variable of unknown size is all of the dynamic shared memory. It
  // begins where any of them may begin.
  Align alignment(1);
  for (const GlobalVariable *variable : dynamic)
    alignment = std::max(alignment, data.getPreferredAlign(variable));
  layout.bytes = alignTo(layout.bytes, alignment);
  for (const GlobalVariable *variable : dynamic)
    layout.offsets[variable] = layout.bytes;
  return layout;
}

/// Replaces shared variables by places in the memory of the block.
static void replaceShared(Module &module, const SharedLayout &layout) {
  // Expressions with variables become instructions, which may compute.
  SmallVector<Constant *> variables;
  for (GlobalVariable &variable : module.globals())
    if (variable.getAddressSpace() != 0)
      variables.push_back(&variable);
  convertUsersOfConstantsToInstructions(variables);

  DenseMap<Function *, Value *> bases;
  for (const auto &[key, offset] : layout.offsets) {
    auto *variable = const_cast<GlobalVariable *>(key);
    for (Use &use : make_early_inc_range(variable->uses())) {
      auto *user = dyn_cast<Instruction>(use.getUser());
      if (!user)
        continue;
      IRBuilder<> entry(
          &*user->getFunction()->getEntryBlock().getFirstInsertionPt());
      Value *&base = bases[user->getFunction()];
      if (!base)
        base = entry.CreateAddrSpaceCast(
            entry.CreateCall(module.getOrInsertFunction(
                "sparseAutogradEmulateSharedMemory", entry.getPtrTy())),
            entry.getPtrTy(sharedSpace), "shared");
      else
        entry.SetInsertPoint(cast<Instruction>(base)->getNextNode());
      use.set(entry.CreatePtrAdd(base, entry.getInt64(offset)));
    }
  }
  for (const auto &[key, offset] : layout.offsets) {
    auto *variable = const_cast<GlobalVariable *>(key);
    variable->replaceAllUsesWith(PoisonValue::get(variable->getType()));
    variable->eraseFromParent();
  }
}

/// Makes branches of masked accesses, as the generator of PTX does, so that
/// each element is accessed by itself.
static void expandMaskedAccesses(Module &module) {
  PassBuilder builder;
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  ScalarizeMaskedMemIntrinPass pass;
  for (Function &function : module)
    if (!function.isDeclaration())
      pass.run(function, functions);
}

//===----------------------------------------------------------------------===//
// Accesses of memory
//===----------------------------------------------------------------------===//

/// Whether a pointer is into the frame of its own thread.
static bool isLocal(const Value *pointer) {
  return pointer->getType()->getPointerAddressSpace() == localSpace ||
         isa<AllocaInst>(getUnderlyingObject(pointer));
}

static void emitAccess(RuntimeCalls &calls, Value *pointer, Value *bytes,
                       uint64_t alignment, int kind) {
  if (isLocal(pointer))
    return;
  IRBuilder<> &builder = calls.getBuilder();
  calls.callHere("sparseAutogradEmulateAccess", nullptr,
                 {calls.getPlain(pointer),
                  builder.CreateZExtOrTrunc(bytes, builder.getInt64Ty()),
                  builder.getInt64(alignment), calls.getInt(kind)});
}

/// Tells the emulator of what an instruction is going to access.
static void checkAccess(RuntimeCalls &calls, Instruction &instruction) {
  const DataLayout &data = instruction.getDataLayout();
  IRBuilder<> &builder = calls.getBuilder();
  auto emit = [&](Value *pointer, Type *type, Align alignment, int kind) {
    emitAccess(calls, pointer, builder.getInt64(data.getTypeStoreSize(type)),
               alignment.value(), kind);
  };
  if (auto *load = dyn_cast<LoadInst>(&instruction)) {
    bool isAtomic = load->isAtomic() || load->isVolatile();
    emit(load->getPointerOperand(), load->getType(), load->getAlign(),
         isAtomic ? SPARSE_AUTOGRAD_ATOMIC : SPARSE_AUTOGRAD_LOAD);
  } else if (auto *store = dyn_cast<StoreInst>(&instruction)) {
    bool isAtomic = store->isAtomic() || store->isVolatile();
    // An atomic store initialises, which an atomic update does not.
    if (isAtomic && store->getPointerAddressSpace() == sharedSpace)
      isAtomic = false;
    emit(store->getPointerOperand(), store->getValueOperand()->getType(),
         store->getAlign(),
         isAtomic ? SPARSE_AUTOGRAD_ATOMIC : SPARSE_AUTOGRAD_STORE);
  } else if (auto *update = dyn_cast<AtomicRMWInst>(&instruction)) {
    emit(update->getPointerOperand(), update->getType(), update->getAlign(),
         SPARSE_AUTOGRAD_ATOMIC);
  } else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    emit(exchange->getPointerOperand(), exchange->getNewValOperand()->getType(),
         exchange->getAlign(), SPARSE_AUTOGRAD_ATOMIC);
  } else if (auto *memory = dyn_cast<MemIntrinsic>(&instruction)) {
    if (auto *transfer = dyn_cast<MemTransferInst>(memory))
      emitAccess(calls, transfer->getRawSource(), transfer->getLength(),
                 transfer->getSourceAlign().valueOrOne().value(),
                 SPARSE_AUTOGRAD_LOAD);
    emitAccess(calls, memory->getRawDest(), memory->getLength(),
               memory->getDestAlign().valueOrOne().value(),
               SPARSE_AUTOGRAD_STORE);
  }
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static bool isAssertion(StringRef name) {
  return name == "__assertfail" || name == "__assert_fail";
}

static void translateTrap(RuntimeCalls &calls, StringRef message) {
  IRBuilder<> &builder = calls.getBuilder();
  calls.callHere("sparseAutogradEmulateTrap", nullptr,
                 builder.CreateGlobalString(message));
}

static void translateAssertion(RuntimeCalls &calls, const CallInst &call) {
  StringRef text;
  std::string message = "fails an assertion";
  if (call.arg_size() > 0 && getConstantStringInfo(call.getArgOperand(0), text))
    message += ": " + text.str();
  translateTrap(calls, message);
}

static Error translateCall(RuntimeCalls &calls, CallInst &call) {
  Value *result = nullptr;
  if (call.isInlineAsm()) {
    if (!translateAssembly(calls, call, result))
      return calls.refuse("inline assembly is not emulated");
    call.replaceAllUsesWith(result);
    call.eraseFromParent();
    return Error::success();
  }
  Function *callee = call.getCalledFunction();
  if (!callee)
    return calls.refuse("calls of pointers are not emulated");
  if (!callee->isDeclaration())
    return Error::success();
  StringRef name = callee->getName();
  if (name.starts_with("llvm.nvvm.")) {
    StringRef instruction = name.drop_front(strlen("llvm.nvvm."));
    if (!translateIntrinsic(calls, call, instruction, result) &&
        !translateArithmetic(calls, call, instruction, result))
      return calls.refuse("the intrinsic '" + name + "' is not emulated");
  } else if (callee->isIntrinsic()) {
    if (callee->getIntrinsicID() != Intrinsic::trap &&
        callee->getIntrinsicID() != Intrinsic::debugtrap)
      return Error::success();
    translateTrap(calls, "executes a trap");
  } else if (isAssertion(name)) {
    translateAssertion(calls, call);
  } else if (!translateLibdevice(calls, call, name, result)) {
    return calls.refuse("nothing defines the function '" + name + "'");
  }
  if (result)
    call.replaceAllUsesWith(result);
  call.eraseFromParent();
  return Error::success();
}

/// Counts the iterations of loops that tell the emulator nothing else, so that
/// it finds endless ones.
static void countIterations(RuntimeCalls &calls, Function &function) {
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  for (Loop *loop : loops.getLoopsInPreorder()) {
    bool isCounted = any_of(loop->blocks(), [](const BasicBlock *block) {
      return any_of(*block, [](const Instruction &instruction) {
        auto *call = dyn_cast<CallInst>(&instruction);
        return call && call->getCalledFunction() &&
               call->getCalledFunction()->getName().starts_with(
                   "sparseAutogradEmulate");
      });
    });
    if (isCounted)
      continue;
    // The terminator is one of the instructions that were there before.
    calls.setInstruction(*loop->getHeader()->getTerminator());
    calls.callHere("sparseAutogradEmulateStep", nullptr, {});
  }
}

static Error translateFunction(RuntimeCalls &calls, const Places &places,
                               Function &function) {
  // Not what the translation has added.
  SmallVector<Instruction *> before;
  for (Instruction &instruction : instructions(function))
    if (places.has(instruction) && !instruction.isTerminator())
      before.push_back(&instruction);
  for (Instruction *instruction : before) {
    calls.setInstruction(*instruction);
    checkAccess(calls, *instruction);
    if (auto *call = dyn_cast<CallInst>(instruction))
      if (Error error = translateCall(calls, *call))
        return error;
  }
  for (BasicBlock &block : function) {
    Instruction *terminator = block.getTerminator();
    calls.setInstruction(*terminator);
    if (isa<CallBase>(terminator))
      return calls.refuse("exceptions and jumps of assembly are not emulated");
  }
  countIterations(calls, function);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Without address spaces
//===----------------------------------------------------------------------===//

namespace {
/// Makes all pointers plain ones.
class PlainPointers : public ValueMapTypeRemapper {
public:
  Type *remapType(Type *type) override {
    Type *&mapped = cache[type];
    if (!mapped) {
      // Computed apart: the recursion changes the cache.
      Type *result = map(type);
      cache[type] = result;
      return result;
    }
    return mapped;
  }

private:
  Type *map(Type *type) {
    if (isa<PointerType>(type))
      return PointerType::get(type->getContext(), 0);
    if (auto *vector = dyn_cast<VectorType>(type))
      return VectorType::get(remapType(vector->getElementType()),
                             vector->getElementCount());
    if (auto *array = dyn_cast<ArrayType>(type))
      return ArrayType::get(remapType(array->getElementType()),
                            array->getNumElements());
    if (auto *function = dyn_cast<FunctionType>(type)) {
      SmallVector<Type *> parameters;
      for (Type *parameter : function->params())
        parameters.push_back(remapType(parameter));
      return FunctionType::get(remapType(function->getReturnType()), parameters,
                               function->isVarArg());
    }
    auto *structure = dyn_cast<StructType>(type);
    if (!structure || structure->isOpaque())
      return type;
    SmallVector<Type *> elements;
    for (Type *element : structure->elements())
      elements.push_back(remapType(element));
    if (ArrayRef<Type *>(elements) == structure->elements())
      return type;
    return StructType::get(type->getContext(), elements, structure->isPacked());
  }

  DenseMap<Type *, Type *> cache;
};
} // namespace

/// Removes what is only of use to NVPTX, or refers to it.
static void cleanAttributes(Function &function) {
  bool isConvergent = function.hasFnAttribute(Attribute::Convergent);
  bool isNoReturn = function.hasFnAttribute(Attribute::NoReturn);
  AttributeList attributes = function.getAttributes();
  function.setAttributes(attributes.removeFnAttributes(function.getContext()));
  function.addFnAttr(Attribute::NoUnwind);
  if (isConvergent)
    function.addFnAttr(Attribute::Convergent);
  if (isNoReturn)
    function.addFnAttr(Attribute::NoReturn);
  function.setCallingConv(CallingConv::C);
  function.setVisibility(GlobalValue::DefaultVisibility);
  function.setDSOLocal(!function.isDeclaration());
  for (Instruction &instruction :
       make_early_inc_range(instructions(function))) {
    if (auto *cast = dyn_cast<AddrSpaceCastInst>(&instruction)) {
      cast->replaceAllUsesWith(cast->getOperand(0));
      cast->eraseFromParent();
    } else if (auto *call = dyn_cast<CallBase>(&instruction)) {
      call->setCallingConv(CallingConv::C);
    }
  }
}

static std::unique_ptr<Module> dropAddressSpaces(const Module &source,
                                                 const Triple &triple,
                                                 const DataLayout &layout) {
  auto module = std::make_unique<Module>(source.getName(), source.getContext());
  module->setTargetTriple(triple);
  module->setDataLayout(layout);
  PlainPointers types;
  ValueToValueMapTy values;
  for (const GlobalVariable &variable : source.globals()) {
    auto *copy = new GlobalVariable(
        *module, types.remapType(variable.getValueType()),
        variable.isConstant(),
        variable.hasLocalLinkage() ? variable.getLinkage()
                                   : GlobalValue::InternalLinkage,
        nullptr, variable.getName());
    copy->setAlignment(variable.getAlign());
    values[&variable] = copy;
  }
  for (const Function &function : source) {
    auto *type =
        cast<FunctionType>(types.remapType(function.getFunctionType()));
    // A kernel is called by what takes its parameters by pointers.
    auto linkage = function.isDeclaration() ? GlobalValue::ExternalLinkage
                                            : GlobalValue::InternalLinkage;
    Function *copy =
        Function::Create(type, linkage, 0, function.getName(), module.get());
    copy->setAttributes(function.getAttributes());
    values[&function] = copy;
  }
  for (const GlobalVariable &variable : source.globals()) {
    auto *copy = cast<GlobalVariable>(values[&variable]);
    copy->setInitializer(
        variable.hasInitializer()
            ? MapValue(variable.getInitializer(), values, RF_None, &types)
            : Constant::getNullValue(copy->getValueType()));
  }
  for (const Function &function : source) {
    if (function.isDeclaration())
      continue;
    auto *copy = cast<Function>(values[&function]);
    for (auto [argument, newArgument] : zip(function.args(), copy->args())) {
      newArgument.setName(argument.getName());
      values[&argument] = &newArgument;
    }
    SmallVector<ReturnInst *> returns;
    CloneFunctionInto(copy, &function, values,
                      CloneFunctionChangeType::DifferentModule, returns, "",
                      nullptr, &types);
  }
  for (Function &function : make_early_inc_range(*module)) {
    // The names of some intrinsics say which pointers they take.
    if (function.isIntrinsic())
      if (std::optional<Function *> renamed =
              Intrinsic::remangleIntrinsicFunction(&function)) {
        function.replaceAllUsesWith(*renamed);
        function.eraseFromParent();
        continue;
      }
    if (!function.isIntrinsic())
      cleanAttributes(function);
  }
  return module;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// A number, or several of them, of an attribute like "nvvm.reqntid"="128,1,1".
static SmallVector<int32_t, 3> getNumbers(const Function &function,
                                          StringRef attribute) {
  SmallVector<StringRef> parts;
  function.getFnAttribute(attribute).getValueAsString().split(parts, ',');
  SmallVector<int32_t, 3> numbers;
  for (StringRef part : parts) {
    int32_t number;
    if (!part.trim().getAsInteger(10, number))
      numbers.push_back(number);
  }
  return numbers;
}

/// A function that calls a kernel with the parameters that pointers point to.
static Function *makeEntry(Function &kernel) {
  LLVMContext &context = kernel.getContext();
  IRBuilder<> builder(context);
  Function *entry = Function::Create(
      FunctionType::get(builder.getVoidTy(), builder.getPtrTy(), false),
      GlobalValue::InternalLinkage, kernel.getName() + ".entry",
      kernel.getParent());
  builder.SetInsertPoint(BasicBlock::Create(context, "", entry));
  SmallVector<Value *> parameters;
  for (Argument &argument : kernel.args()) {
    Value *place = builder.CreateLoad(
        builder.getPtrTy(),
        builder.CreateConstGEP1_32(builder.getPtrTy(), entry->getArg(0),
                                   argument.getArgNo()));
    parameters.push_back(
        builder.CreateAlignedLoad(argument.getType(), place, Align(1)));
  }
  builder.CreateCall(&kernel, parameters);
  builder.CreateRetVoid();
  return entry;
}

namespace {
/// What is known of a kernel before it is translated.
struct KernelInfo {
  std::string name;
  SmallVector<int32_t, 3> requiredBlock;
  int32_t maxThreads = 0;
};
} // namespace

static std::vector<KernelInfo> findKernels(const Module &module) {
  std::vector<KernelInfo> kernels;
  for (const Function &function : module) {
    if (function.isDeclaration() ||
        function.getCallingConv() != CallingConv::PTX_Kernel)
      continue;
    KernelInfo &kernel = kernels.emplace_back();
    kernel.name = function.getName();
    kernel.requiredBlock = getNumbers(function, "nvvm.reqntid");
    SmallVector<int32_t, 3> limit = getNumbers(function, "nvvm.maxntid");
    if (!limit.empty()) {
      kernel.maxThreads = 1;
      for (int32_t number : limit)
        kernel.maxThreads *= number;
    }
  }
  return kernels;
}

/// What the frames of all functions take together, which is more than any chain
/// of calls does: there is no recursion in device code that is emulated.
static uint64_t getStackBytes(const Module &module, const DataLayout &layout) {
  uint64_t bytes = 0;
  for (const Function &function : module)
    for (const Instruction &instruction : instructions(function))
      if (auto *memory = dyn_cast<AllocaInst>(&instruction))
        if (std::optional<TypeSize> size = memory->getAllocationSize(layout))
          bytes += alignTo(size->getFixedValue(), 16);
  return bytes;
}

/// Defines the table of the kernels and variables.
static void defineTable(Module &module, ArrayRef<KernelInfo> kernels,
                        uint64_t sharedBytes,
                        ArrayRef<std::pair<std::string, bool>> variables) {
  IRBuilder<> builder(module.getContext());
  Type *i32 = builder.getInt32Ty();
  Type *i64 = builder.getInt64Ty();
  Type *pointer = builder.getPtrTy();
  auto makeString = [&](StringRef text) -> Constant * {
    return builder.CreateGlobalString(text, "name", 0, &module);
  };
  auto makeArray = [&](ArrayRef<Constant *> elements,
                       StructType *type) -> Constant * {
    auto *arrayType = ArrayType::get(type, elements.size());
    return new GlobalVariable(module, arrayType, /*isConstant=*/true,
                              GlobalValue::PrivateLinkage,
                              ConstantArray::get(arrayType, elements));
  };
  uint64_t stackBytes = getStackBytes(module, module.getDataLayout());

  // As the structures of Emulator.h.
  static_assert(sizeof(SparseAutogradEmulatorKernel) == 48 &&
                    sizeof(SparseAutogradEmulatorVariable) == 32 &&
                    sizeof(SparseAutogradEmulatorModule) == 32,
                "the layout is written down here once more");
  auto *kernelType = StructType::get(pointer, pointer, i32, i32, i64,
                                     ArrayType::get(i32, 3), i32);
  SmallVector<Constant *> kernelElements;
  for (const KernelInfo &kernel : kernels) {
    Function *function = module.getFunction(kernel.name);
    Constant *block[3];
    for (unsigned i = 0; i < 3; ++i) {
      bool isGiven = i < kernel.requiredBlock.size();
      int32_t extent = isGiven ? kernel.requiredBlock[i]
                               : int32_t(!kernel.requiredBlock.empty());
      block[i] = builder.getInt32(extent);
    }
    kernelElements.push_back(ConstantStruct::get(
        kernelType, makeString(kernel.name), makeEntry(*function),
        builder.getInt32(function->arg_size()), builder.getInt32(sharedBytes),
        builder.getInt64(stackBytes),
        ConstantArray::get(ArrayType::get(i32, 3), block),
        builder.getInt32(kernel.maxThreads)));
  }
  auto *variableType = StructType::get(pointer, pointer, i64, i32);
  SmallVector<Constant *> variableElements;
  for (const auto &[name, isConstant] : variables) {
    GlobalVariable *variable = module.getNamedGlobal(name);
    uint64_t bytes =
        module.getDataLayout().getTypeAllocSize(variable->getValueType());
    variableElements.push_back(ConstantStruct::get(
        variableType, makeString(name), variable, builder.getInt64(bytes),
        builder.getInt32(isConstant)));
  }
  auto *tableType = StructType::get(i32, i32, i32, pointer, pointer);
  new GlobalVariable(
      module, tableType, /*isConstant=*/true, GlobalValue::ExternalLinkage,
      ConstantStruct::get(tableType,
                          builder.getInt32(SPARSE_AUTOGRAD_EMULATOR_VERSION),
                          builder.getInt32(kernelElements.size()),
                          builder.getInt32(variableElements.size()),
                          makeArray(kernelElements, kernelType),
                          makeArray(variableElements, variableType)),
      emulatorModuleSymbol);
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<Module>>
sparse_autograd::translateToEmulator(const Module &device, const Triple &triple,
                                     const DataLayout &layout) {
  if (!device.getTargetTriple().isNVPTX())
    return createStringError("the emulator executes code for nvptx64, not for "
                             "'" +
                             device.getTargetTriple().str() + "'");
  if (!device.getModuleInlineAsm().empty())
    return createStringError("the emulator cannot execute this code: it has "
                             "assembly outside of functions");
  std::unique_ptr<Module> module = CloneModule(device);
  for (const Function &function : *module)
    for (const Argument &argument : function.args())
      if (!function.isDeclaration() && argument.hasByValAttr())
        return createStringError(
            "the emulator cannot execute this code: the parameter %u of '%s' "
            "is passed by value",
            argument.getArgNo(), function.getName().str().c_str());
  std::vector<KernelInfo> kernels = findKernels(*module);
  expandMaskedAccesses(*module);
  // Before anything else is changed.
  Places places(*module);
  StripDebugInfo(*module);

  std::vector<std::pair<std::string, bool>> variables;
  for (GlobalVariable &variable : module->globals()) {
    unsigned space = variable.getAddressSpace();
    if (space == sharedSpace || variable.getName().starts_with("llvm."))
      continue;
    if (!variable.hasName())
      variable.setName("constant");
    variables.emplace_back(variable.getName(),
                           variable.isConstant() || space == constantSpace);
  }
  SharedLayout shared = layOutShared(*module);
  replaceShared(*module, shared);
  RuntimeCalls calls(*module, places);
  for (Function &function : *module)
    if (!function.isDeclaration())
      if (Error error = translateFunction(calls, places, function))
        return std::move(error);
  for (StringRef name : {"llvm.used", "llvm.compiler.used"})
    if (GlobalVariable *list = module->getNamedGlobal(name))
      list->eraseFromParent();
  // Of what was replaced.
  for (Function &function : make_early_inc_range(*module))
    if (function.isDeclaration() && function.use_empty())
      function.eraseFromParent();

  std::unique_ptr<Module> host = dropAddressSpaces(*module, triple, layout);
  defineTable(*host, kernels, shared.bytes, variables);
  std::string problem;
  raw_string_ostream stream(problem);
  if (verifyModule(*host, &stream))
    return createStringError("the code for the emulator is not valid: " +
                             problem);
  return host;
}
