//===- WarpgroupProducts.cpp - wgmma and who uses its results ---*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The result of a product is in registers that nobody may touch until it has
// been waited for. In LLVM these are values like others, so each of them has a
// second one beside it: the number of the product that it is a result of, or 0.
// It goes where the value goes, through structures, loops and branches; where
// something else is done with the value, the emulator is asked first.
//
//===----------------------------------------------------------------------===//

#include "RuntimeCalls.h"

#include "SparseAutograd/Runtime/EmulatorABI.h"
#include "SparseAutograd/Target/NamedInstructions.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace llvm;
using namespace sparse_autograd;
using namespace sparse_autograd::emulator;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static Value *translateProduct(RuntimeCalls &calls, CallInst &call,
                               const WarpgroupInstruction &instruction) {
  IRBuilder<> &builder = calls.getBuilder();
  Type *i32 = builder.getInt32Ty();
  Type *i64 = builder.getInt64Ty();
  // SparseAutogradEmulatedWarpgroupProduct.
  static_assert(sizeof(SparseAutogradEmulatedWarpgroupProduct) == 72,
                "the layout is written down here once more");
  auto *type = StructType::get(
      call.getContext(), {i32, i32, i32, i32, i32, i32, i32, i32,
                          builder.getPtrTy(), i64, i64, i32, i32, i32, i32});
  Value *product = calls.allocate(type);
  auto set = [&](unsigned field, Value *value) {
    return builder.CreateStore(value,
                               builder.CreateStructGEP(type, product, field));
  };
  int kind = instruction.factors == "bf16"   ? SPARSE_AUTOGRAD_WGMMA_BF16_F32
             : instruction.factors == "tf32" ? SPARSE_AUTOGRAD_WGMMA_TF32_F32
             : instruction.sums == "f16"     ? SPARSE_AUTOGRAD_WGMMA_F16_F16
                                             : SPARSE_AUTOGRAD_WGMMA_F16_F32;
  set(0, calls.getInt(kind));
  set(1, calls.getInt(instruction.n));
  set(2, calls.getInt(instruction.isSparse));
  unsigned next = 1;
  auto takeOperand = [&] { return call.getArgOperand(next++); };
  Value *registers = ConstantPointerNull::get(builder.getPtrTy());
  Value *descriptorA = builder.getInt64(0);
  if (instruction.hasRegisters) {
    auto *array = ArrayType::get(i32, 4);
    registers = calls.allocate(array);
    for (unsigned i = 0; i < 4; ++i)
      builder.CreateStore(takeOperand(),
                          builder.CreateConstGEP2_32(array, registers, 0, i));
  } else {
    descriptorA = takeOperand();
  }
  set(8, registers);
  set(9, descriptorA);
  set(10, takeOperand());
  set(11, instruction.isSparse ? takeOperand() : calls.getInt(0));
  set(12, instruction.isSparse ? takeOperand() : calls.getInt(0));
  set(3, takeOperand());
  for (unsigned field : {4, 5})
    set(field,
        calls.widen(builder.CreateICmpSLT(takeOperand(), calls.getInt(0))));
  for (unsigned field : {6, 7})
    set(field, takeOperand());
  // Of which product the sums are: known when all are.
  StoreInst *previous = set(13, calls.getInt(0));
  set(14, calls.getInt(0));
  Value *operand = call.getArgOperand(0);
  Value *sums = calls.allocate(operand->getType());
  StoreInst *store = builder.CreateStore(operand, sums);
  Value *number = calls.callHere("sparseAutogradEmulateWarpgroupProduct", i32,
                                 {product, sums});
  Value *result = builder.CreateLoad(operand->getType(), sums);
  calls.products.push_back({result, number, store, previous});
  return result;
}

bool sparse_autograd::emulator::translateWarpgroup(RuntimeCalls &calls,
                                                   CallInst &call,
                                                   StringRef name,
                                                   Value *&result) {
  using Kind = NamedInstruction::Kind;
  std::optional<NamedInstruction> instruction =
      NamedInstruction::parse(*call.getCalledFunction());
  bool isFence = instruction && instruction->kind == Kind::Fence;
  if (isFence || name == "llvm.nvvm.wgmma.fence.sync.aligned") {
    calls.callHere("sparseAutogradEmulateWarpgroupFence", nullptr, {});
    if (isFence)
      result = call.getArgOperand(0);
    return true;
  }
  if (name == "llvm.nvvm.wgmma.commit_group.sync.aligned") {
    calls.callHere("sparseAutogradEmulateWarpgroupCommit", nullptr, {});
    return true;
  }
  bool isWait = instruction && instruction->kind == Kind::Wait;
  if (isWait || name == "llvm.nvvm.wgmma.wait_group.sync.aligned") {
    calls.callHere("sparseAutogradEmulateWarpgroupWait", nullptr,
                   calls.getBuilder().CreateIntCast(
                       call.getArgOperand(isWait ? 1 : 0),
                       calls.getBuilder().getInt32Ty(), /*isSigned=*/true));
    if (isWait)
      result = call.getArgOperand(0);
    return true;
  }
  if (!instruction)
    return false;
  result = translateProduct(calls, call, instruction->product);
  return true;
}

//===----------------------------------------------------------------------===//
// Who uses them
//===----------------------------------------------------------------------===//

namespace {
/// The numbers of products beside the values of a function.
class ProductNumbers {
public:
  ProductNumbers(RuntimeCalls &calls, const Places &places)
      : calls(calls), places(places) {}
  void run();

private:
  static bool passesOn(const User &user) {
    return isa<ExtractValueInst, InsertValueInst, PHINode, SelectInst,
               FreezeInst, BitCastInst>(user);
  }
  void findValues();
  Value *getNumber(Value *value);
  Value *combine(Value *one, Value *other, Instruction &at);
  void checkUses();

  RuntimeCalls &calls;
  const Places &places;
  /// Results of products, and what they become.
  SetVector<Value *> values;
  /// Stores of the translation, which hand sums to a product.
  SmallPtrSet<const User *, 8> stores;
  DenseMap<Value *, Value *> numbers;
};
} // namespace

void ProductNumbers::findValues() {
  for (const RuntimeCalls::Product &product : calls.products) {
    values.insert(product.result);
    numbers[product.result] = product.number;
    stores.insert(product.store);
  }
  for (size_t i = 0; i < values.size(); ++i)
    for (User *user : values[i]->users())
      if (passesOn(*user))
        values.insert(user);
}

Value *ProductNumbers::combine(Value *one, Value *other, Instruction &at) {
  auto isNone = [](Value *number) {
    auto *constant = dyn_cast<ConstantInt>(number);
    return constant && constant->isZero();
  };
  if (one == other || isNone(other))
    return one;
  if (isNone(one))
    return other;
  IRBuilder<> builder(at.getNextNode());
  return builder.CreateBinaryIntrinsic(Intrinsic::umax, one, other);
}

Value *ProductNumbers::getNumber(Value *value) {
  if (!values.contains(value))
    return calls.getInt(0);
  if (Value *known = numbers.lookup(value))
    return known;
  Value *number;
  if (auto *phi = dyn_cast<PHINode>(value)) {
    auto *own = PHINode::Create(calls.getBuilder().getInt32Ty(),
                                phi->getNumIncomingValues(), "product",
                                phi->getIterator());
    // Before its operands, which may depend on it.
    numbers[value] = own;
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
      own->addIncoming(getNumber(phi->getIncomingValue(i)),
                       phi->getIncomingBlock(i));
    return own;
  }
  auto &instruction = *cast<Instruction>(value);
  if (isa<InsertValueInst>(value))
    number = combine(getNumber(instruction.getOperand(0)),
                     getNumber(instruction.getOperand(1)), instruction);
  else if (isa<SelectInst>(value))
    number = combine(getNumber(instruction.getOperand(1)),
                     getNumber(instruction.getOperand(2)), instruction);
  else
    number = getNumber(instruction.getOperand(0));
  return numbers[value] = number;
}

void ProductNumbers::checkUses() {
  // Of the uses of one number in a block the first one says it all.
  MapVector<std::pair<BasicBlock *, Value *>, Instruction *> first;
  for (Value *value : values)
    for (User *user : value->users()) {
      auto *instruction = dyn_cast<Instruction>(user);
      if (!instruction || passesOn(*user) || stores.contains(user))
        continue;
      Instruction *&place = first[{instruction->getParent(), getNumber(value)}];
      if (!place || instruction->comesBefore(place))
        place = instruction;
    }
  for (auto &[key, instruction] : first) {
    // What the translation has added has no place; what it was added for has.
    Instruction *named = instruction;
    while (!places.has(*named) && named->getNextNode())
      named = named->getNextNode();
    calls.setInstruction(*named);
    Value *place = calls.getPlace();
    calls.setInstruction(*instruction);
    calls.call("sparseAutogradEmulateUseProduct", nullptr, {key.second, place});
  }
}

void ProductNumbers::run() {
  findValues();
  for (const RuntimeCalls::Product &product : calls.products)
    product.previous->setOperand(0,
                                 getNumber(product.store->getValueOperand()));
  checkUses();
}

void sparse_autograd::emulator::checkUsesOfProducts(RuntimeCalls &calls,
                                                    const Places &places) {
  if (!calls.products.empty())
    ProductNumbers(calls, places).run();
  calls.products.clear();
}
