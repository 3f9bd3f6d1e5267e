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

#include "CountedCode.h"
#include "FunctionPass.h"
#include "KernelTable.h"
#include "PlainPointers.h"
#include "RuntimeCalls.h"
#include "SparseAutograd/Runtime/Emulator.h"
#include "SparseAutograd/Runtime/EmulatorABI.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/Scalar/ScalarizeMaskedMemIntrin.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace sparse_autograd;
using namespace sparse_autograd::emulator;

namespace {
/// Where shared variables lie.
struct SharedLayout {
  MapVector<const GlobalVariable *, uint64_t> offsets;
  /// Those that several functions use are in the memory of every block.
  uint64_t commonBytes = 0;
  /// With those that only one function uses, for this function.
  DenseMap<const Function *, uint64_t> bytes;
  /// Where dynamic shared memory begins, behind all of them, if there is any.
  std::optional<uint64_t> dynamic;
};
} // namespace

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// Makes instructions of expressions with variables.
static void expandVariables(Module &module) {
  SmallVector<Constant *> variables;
  for (GlobalVariable &variable : module.globals())
    if (variable.getAddressSpace() != 0)
      variables.push_back(&variable);
  convertUsersOfConstantsToInstructions(variables);
}

/// The kernel that alone uses `variable`, or null.
static const Function *getOnlyKernel(const GlobalVariable &variable) {
  const Function *only = nullptr;
  for (const User *user : variable.users()) {
    auto *instruction = dyn_cast<Instruction>(user);
    const Function *function =
        instruction ? instruction->getFunction() : nullptr;
    if (!function || function->getCallingConv() != CallingConv::PTX_Kernel ||
        (only && only != function))
      return nullptr;
    only = function;
  }
  return only;
}

/// Kernels have the variables that they alone use at the same places.
static SharedLayout layOutShared(const Module &module) {
  SharedLayout layout;
  const DataLayout &data = module.getDataLayout();
  SmallVector<const GlobalVariable *> dynamic, own;
  auto place = [&](const GlobalVariable &variable, uint64_t &end) {
    end = alignTo(end, data.getPreferredAlign(&variable));
    layout.offsets[&variable] = end;
    end += data.getTypeAllocSize(variable.getValueType());
  };
  for (const GlobalVariable &variable : module.globals()) {
    if (variable.getAddressSpace() != sharedSpace)
      continue;
    if (data.getTypeAllocSize(variable.getValueType()) == 0)
      dynamic.push_back(&variable);
    else if (getOnlyKernel(variable))
      own.push_back(&variable);
    else
      place(variable, layout.commonBytes);
  }
  uint64_t end = layout.commonBytes;
  for (const GlobalVariable *variable : own) {
    uint64_t &bytes =
        layout.bytes.try_emplace(getOnlyKernel(*variable), layout.commonBytes)
            .first->second;
    place(*variable, bytes);
    end = std::max(end, bytes);
  }
  if (dynamic.empty())
    return layout;
  // Every variable of unknown size is all of the dynamic shared memory. It
  // begins where any of them may begin.
  Align alignment(1);
  for (const GlobalVariable *variable : dynamic)
    alignment = std::max(alignment, data.getPreferredAlign(variable));
  layout.dynamic = alignTo(end, alignment);
  for (const GlobalVariable *variable : dynamic)
    layout.offsets[variable] = *layout.dynamic;
  return layout;
}

/// Replaces shared variables by places in the memory of the block.
static void replaceShared(Module &module, const SharedLayout &layout) {
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

//===----------------------------------------------------------------------===//
// Accesses of memory
//===----------------------------------------------------------------------===//

/// Tells the emulator of what an instruction is going to access.
static void checkAccess(RuntimeCalls &calls, Instruction &instruction) {
  const DataLayout &data = instruction.getDataLayout();
  IRBuilder<> &builder = calls.getBuilder();
  auto emit = [&](Value *pointer, Type *type, Align alignment, int kind) {
    calls.access(pointer, builder.getInt64(data.getTypeStoreSize(type)),
                 alignment.value(), kind);
  };
  if (auto *load = dyn_cast<LoadInst>(&instruction)) {
    bool isAtomic = load->isAtomic() || load->isVolatile();
    emit(load->getPointerOperand(), load->getType(), load->getAlign(),
         isAtomic ? SPARSE_AUTOGRAD_ATOMIC : SPARSE_AUTOGRAD_LOAD);
  } else if (auto *store = dyn_cast<StoreInst>(&instruction)) {
    bool isAtomic = store->isAtomic() || store->isVolatile();
    emit(store->getPointerOperand(), store->getValueOperand()->getType(),
         store->getAlign(),
         isAtomic ? SPARSE_AUTOGRAD_ATOMIC_STORE : SPARSE_AUTOGRAD_STORE);
  } else if (auto *update = dyn_cast<AtomicRMWInst>(&instruction)) {
    emit(update->getPointerOperand(), update->getType(), update->getAlign(),
         SPARSE_AUTOGRAD_ATOMIC);
  } else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    emit(exchange->getPointerOperand(), exchange->getNewValOperand()->getType(),
         exchange->getAlign(), SPARSE_AUTOGRAD_ATOMIC);
  } else if (auto *memory = dyn_cast<MemIntrinsic>(&instruction)) {
    if (auto *transfer = dyn_cast<MemTransferInst>(memory))
      calls.access(transfer->getRawSource(), transfer->getLength(),
                   transfer->getSourceAlign().valueOrOne().value(),
                   SPARSE_AUTOGRAD_LOAD);
    calls.access(memory->getRawDest(), memory->getLength(),
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
    calls.erase(call);
    return Error::success();
  }
  Function *callee = call.getCalledFunction();
  if (!callee)
    return calls.refuse("calls of pointers are not emulated");
  if (!callee->isDeclaration())
    return Error::success();
  StringRef name = callee->getName();
  if (translateWarpgroup(calls, call, name, result)) {
    // A call, or what it returns.
  } else if (name.starts_with("llvm.nvvm.")) {
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
  calls.erase(call);
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
  translateVariables(calls, function);
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
  checkUsesOfProducts(calls, places);
  countIterations(calls, function);
  // Last of these: what reports them is called in no loop.
  checkDivisions(calls, function);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<Module>>
sparse_autograd::translateToEmulator(const Module &device, const Triple &triple,
                                     const DataLayout &layout, bool counts) {
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
      if (!function.isDeclaration() && argument.hasByValAttr() &&
          function.getCallingConv() != CallingConv::PTX_Kernel)
        return createStringError(
            "the emulator cannot execute this code: the parameter %u of '%s', "
            "which is no kernel, is passed by value",
            argument.getArgNo(), function.getName().str().c_str());
  std::vector<KernelInfo> kernels = findKernels(*module);
  // Masked accesses become branches, as the generator of PTX makes them, so
  // that each element is accessed by itself.
  runFunctionPass<ScalarizeMaskedMemIntrinPass>(*module);
  if (counts)
    if (Error error = vectorizeAccesses(*module))
      return std::move(error);
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
  if (counts)
    countInstructions(*module);
  expandVariables(*module);
  SharedLayout shared = layOutShared(*module);
  for (KernelInfo &kernel : kernels) {
    const Function *function = module->getFunction(kernel.name);
    auto own = shared.bytes.find(function);
    kernel.sharedBytes = shared.dynamic              ? *shared.dynamic
                         : own != shared.bytes.end() ? own->second
                                                     : shared.commonBytes;
  }
  replaceShared(*module, shared);
  RuntimeCalls calls(*module, places);
  for (Function &function : *module)
    if (!function.isDeclaration())
      if (Error error = translateFunction(calls, places, function))
        return std::move(error);
  bool isRecursive = translateFrames(calls);
  for (StringRef name : {"llvm.used", "llvm.compiler.used"})
    if (GlobalVariable *list = module->getNamedGlobal(name))
      list->eraseFromParent();
  // Of what was replaced.
  for (Function &function : make_early_inc_range(*module))
    if (function.isDeclaration() && function.use_empty())
      function.eraseFromParent();

  std::unique_ptr<Module> host = dropAddressSpaces(*module, triple, layout);
  defineTable(*host, kernels, variables, isRecursive);
  std::string problem;
  raw_string_ostream stream(problem);
  if (verifyModule(*host, &stream))
    return createStringError("the code for the emulator is not valid: " +
                             problem);
  return host;
}
