//===- Arithmetic.cpp - Arithmetic of NVVM and of libdevice -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a GPU approximates is computed exactly, or as exactly as libm does;
// numbers are not flushed to zero.
//
//===----------------------------------------------------------------------===//

#include "RuntimeCalls.h"

#include "SparseAutograd/Runtime/EmulatorABI.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;
using namespace sparse_autograd::emulator;

/// The function of LLVM that one of NVVM stands for, with the same operands.
static Intrinsic::ID getFunction(StringRef name) {
  return StringSwitch<Intrinsic::ID>(name)
      .Cases({"sqrt.approx.f", "sqrt.rn.f", "sqrt.rn.d", "sqrt.f"},
             Intrinsic::sqrt)
      .Cases({"ex2.approx.f32", "ex2.approx.f64", "ex2.approx.f16"},
             Intrinsic::exp2)
      .Cases({"lg2.approx.f", "lg2.approx.d"}, Intrinsic::log2)
      .Case("sin.approx.f", Intrinsic::sin)
      .Case("cos.approx.f", Intrinsic::cos)
      .Cases({"floor.f", "floor.d"}, Intrinsic::floor)
      .Cases({"ceil.f", "ceil.d"}, Intrinsic::ceil)
      .Cases({"trunc.f", "trunc.d"}, Intrinsic::trunc)
      .Cases({"round.f", "round.d"}, Intrinsic::roundeven)
      .Cases({"fabs.f32", "fabs.f64", "fabs.f16", "fabs.bf16"}, Intrinsic::fabs)
      .Cases({"fma.rn.f", "fma.rn.d", "fma.rn.f16", "fma.rn.f16x2"},
             Intrinsic::fma)
      .Cases({"fmin.f", "fmin.d", "fmin.f16", "fmin.f16x2"}, Intrinsic::minnum)
      .Cases({"fmax.f", "fmax.d", "fmax.f16", "fmax.f16x2"}, Intrinsic::maxnum)
      .Cases({"fmin.nan.f", "fmin.nan.f16"}, Intrinsic::minimum)
      .Cases({"fmax.nan.f", "fmax.nan.f16"}, Intrinsic::maximum)
      .Default(Intrinsic::not_intrinsic);
}

/// add.rn.f and the like.
static Value *translateBinary(IRBuilder<> &builder, CallInst &call,
                              StringRef name) {
  auto get = [&](unsigned i) { return call.getArgOperand(i); };
  if (name == "add.rn.f" || name == "add.rn.d")
    return builder.CreateFAdd(get(0), get(1));
  if (name == "mul.rn.f" || name == "mul.rn.d")
    return builder.CreateFMul(get(0), get(1));
  if (name == "div.rn.f" || name == "div.rn.d" || name == "div.approx.f" ||
      name == "div.full")
    return builder.CreateFDiv(get(0), get(1));
  return nullptr;
}

/// rcp and rsqrt.
static Value *translateReciprocal(IRBuilder<> &builder, CallInst &call,
                                  StringRef name) {
  bool isRoot = name == "rsqrt.approx.f" || name == "rsqrt.approx.d";
  if (!isRoot && name != "rcp.rn.f" && name != "rcp.rn.d" &&
      name != "rcp.approx.f" && name != "rcp.approx.d")
    return nullptr;
  Value *operand = call.getArgOperand(0);
  if (isRoot)
    operand = builder.CreateUnaryIntrinsic(Intrinsic::sqrt, operand);
  return builder.CreateFDiv(ConstantFP::get(operand->getType(), 1), operand);
}

/// add.rm.f and the like.
static Value *translateRounded(RuntimeCalls &calls, CallInst &call,
                               StringRef name) {
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  if (parts.size() != 3 || (parts[2] != "f" && parts[2] != "d"))
    return nullptr;
  bool isReciprocal = parts[0] == "rcp";
  int operation = StringSwitch<int>(parts[0])
                      .Case("add", SPARSE_AUTOGRAD_ADD)
                      .Case("mul", SPARSE_AUTOGRAD_MULTIPLY)
                      .Cases({"div", "rcp"}, SPARSE_AUTOGRAD_DIVIDE)
                      .Case("fma", SPARSE_AUTOGRAD_FMA)
                      .Case("sqrt", SPARSE_AUTOGRAD_SQUARE_ROOT)
                      .Default(-1);
  int rounding = StringSwitch<int>(parts[1])
                     .Case("rm", SPARSE_AUTOGRAD_ROUND_DOWN)
                     .Case("rp", SPARSE_AUTOGRAD_ROUND_UP)
                     .Case("rz", SPARSE_AUTOGRAD_ROUND_TO_ZERO)
                     .Default(-1);
  if (operation < 0 || rounding < 0)
    return nullptr;
  Type *type = call.getType();
  SmallVector<Value *> operands = {calls.getInt(operation),
                                   calls.getInt(rounding)};
  if (isReciprocal)
    operands.push_back(ConstantFP::get(type, 1));
  append_range(operands, call.args());
  operands.resize(5, ConstantFP::get(type, 0));
  return calls.call(type->isFloatTy() ? "sparseAutogradEmulateRoundedF32"
                                      : "sparseAutogradEmulateRoundedF64",
                    type, operands);
}

/// From a float to an integer, as f2i.rn: saturated, NaN is 0.
static Value *translateToInteger(IRBuilder<> &builder, CallInst &call,
                                 StringRef name) {
  auto [types, mode] = name.split('.');
  bool isUnsigned = types == "f2ui" || types == "f2ull" || types == "d2ui" ||
                    types == "d2ull";
  if (!isUnsigned && types != "f2i" && types != "f2ll" && types != "d2i" &&
      types != "d2ll")
    return nullptr;
  Intrinsic::ID rounding = StringSwitch<Intrinsic::ID>(mode)
                               .Case("rn", Intrinsic::roundeven)
                               .Case("rz", Intrinsic::trunc)
                               .Case("rm", Intrinsic::floor)
                               .Case("rp", Intrinsic::ceil)
                               .Default(Intrinsic::not_intrinsic);
  if (rounding == Intrinsic::not_intrinsic)
    return nullptr;
  Value *rounded =
      builder.CreateUnaryIntrinsic(rounding, call.getArgOperand(0));
  return builder.CreateIntrinsic(
      isUnsigned ? Intrinsic::fptoui_sat : Intrinsic::fptosi_sat,
      {call.getType(), rounded->getType()}, {rounded});
}

/// From an integer to a float, as i2f.rn.
static Value *translateToFloat(IRBuilder<> &builder, CallInst &call,
                               StringRef name) {
  if (!name.consume_back(".rn"))
    return nullptr;
  Value *operand = call.getArgOperand(0);
  if (name == "i2f" || name == "i2d" || name == "ll2f" || name == "ll2d")
    return builder.CreateSIToFP(operand, call.getType());
  if (name == "ui2f" || name == "ui2d" || name == "ull2f" || name == "ull2d")
    return builder.CreateUIToFP(operand, call.getType());
  if (name == "d2f")
    return builder.CreateFPTrunc(operand, call.getType());
  return nullptr;
}

/// Halves of wide numbers.
static Value *translateHalves(IRBuilder<> &builder, CallInst &call,
                              StringRef name) {
  Value *operand = call.getArgOperand(0);
  Type *i64 = builder.getInt64Ty();
  if (name == "lohi.i2d")
    return builder.CreateBitCast(
        builder.CreateOr(
            builder.CreateZExt(operand, i64),
            builder.CreateShl(builder.CreateZExt(call.getArgOperand(1), i64),
                              32)),
        builder.getDoubleTy());
  if (name == "d2i.lo")
    return builder.CreateTrunc(builder.CreateBitCast(operand, i64),
                               builder.getInt32Ty());
  if (name == "d2i.hi")
    return builder.CreateTrunc(
        builder.CreateLShr(builder.CreateBitCast(operand, i64), 32),
        builder.getInt32Ty());
  bool isSigned = name == "mulhi.i" || name == "mulhi.ll";
  if (!isSigned && name != "mulhi.ui" && name != "mulhi.ull")
    return nullptr;
  unsigned width = call.getType()->getIntegerBitWidth();
  Type *wide = builder.getIntNTy(2 * width);
  Value *product = builder.CreateMul(
      builder.CreateIntCast(operand, wide, isSigned),
      builder.CreateIntCast(call.getArgOperand(1), wide, isSigned));
  return builder.CreateTrunc(builder.CreateLShr(product, width),
                             call.getType());
}

bool sparse_autograd::emulator::translateArithmetic(RuntimeCalls &calls,
                                                    CallInst &call,
                                                    StringRef name,
                                                    Value *&result) {
  IRBuilder<> &builder = calls.getBuilder();
  // Flushed or not, it is the same here.
  std::string plain = name.str();
  if (size_t place = plain.find(".ftz"); place != std::string::npos)
    plain.erase(place, strlen(".ftz"));
  if (Intrinsic::ID function = getFunction(plain)) {
    result = builder.CreateIntrinsic(call.getType(), function,
                                     SmallVector<Value *>(call.args()));
    return true;
  }
  if (plain == "saturate.f" || plain == "saturate.d") {
    // NaN becomes 0.
    Type *type = call.getType();
    result = builder.CreateBinaryIntrinsic(
        Intrinsic::minnum,
        builder.CreateBinaryIntrinsic(Intrinsic::maxnum, call.getArgOperand(0),
                                      ConstantFP::get(type, 0)),
        ConstantFP::get(type, 1));
    return true;
  }
  for (auto *translate :
       {translateBinary, translateReciprocal, translateToInteger,
        translateToFloat, translateHalves})
    if (call.arg_size() > 0 && (result = translate(builder, call, plain)))
      return true;
  result = translateRounded(calls, call, plain);
  return result != nullptr;
}

//===----------------------------------------------------------------------===//
// libdevice
//===----------------------------------------------------------------------===//

/// Those of libdevice that have the names of libm, behind "__nv_" and, of
/// floats, before an "f".
static bool isOfLibm(StringRef name) {
  static const StringSet<> names = {
      "acos",     "acosh", "asin",   "asinh",  "atan",     "atan2", "atanh",
      "cbrt",     "ceil",  "cos",    "cosh",   "erf",      "erfc",  "exp",
      "exp10",    "exp2",  "expm1",  "fabs",   "floor",    "fma",   "fmax",
      "fmin",     "fmod",  "hypot",  "lgamma", "log",      "log10", "log1p",
      "log2",     "pow",   "rint",   "round",  "sin",      "sinh",  "sqrt",
      "tan",      "tanh",  "tgamma", "trunc",  "copysign", "ldexp", "nearbyint",
      "remainder"};
  return names.contains(name);
}

/// What libdevice says of the class of a float, as an integer; null if
/// `function` is another one.
static Value *translateClass(IRBuilder<> &builder, StringRef function,
                             CallInst &call) {
  auto classes = StringSwitch<FPClassTest>(function)
                     .Cases({"isnanf", "isnand"}, fcNan)
                     .Cases({"isinff", "isinfd"}, fcInf)
                     .Cases({"finitef", "isfinited"}, fcFinite)
                     .Default(fcNone);
  if (classes == fcNone)
    return nullptr;
  return builder.CreateZExt(
      builder.createIsFPClass(call.getArgOperand(0), classes), call.getType());
}

/// Sine and cosine, which libdevice computes together and writes to the memory
/// of the thread.
static void translateSinCos(RuntimeCalls &calls, CallInst &call) {
  IRBuilder<> &builder = calls.getBuilder();
  Value *angle = call.getArgOperand(0);
  uint64_t bytes = angle->getType()->getPrimitiveSizeInBits() / 8;
  for (auto [place, function] :
       {std::pair(1u, Intrinsic::sin), std::pair(2u, Intrinsic::cos)}) {
    Value *to = call.getArgOperand(place);
    calls.access(to, builder.getInt64(bytes), bytes, SPARSE_AUTOGRAD_STORE);
    builder.CreateStore(builder.CreateUnaryIntrinsic(function, angle), to);
  }
}

bool sparse_autograd::emulator::translateLibdevice(RuntimeCalls &calls,
                                                   CallInst &call,
                                                   StringRef name,
                                                   Value *&result) {
  if (!name.consume_front("__nv_"))
    return false;
  IRBuilder<> &builder = calls.getBuilder();
  SmallVector<Value *> operands(call.args());
  if ((result = translateClass(builder, name, call)))
    return true;
  if (name == "sincos" || name == "sincosf" || name == "fast_sincosf") {
    translateSinCos(calls, call);
    return true;
  }
  if (name == "abs") {
    result = builder.CreateBinaryIntrinsic(Intrinsic::abs, operands[0],
                                           builder.getFalse());
    return true;
  }
  // Approximations.
  std::string function = name.str();
  if (name.consume_front("fast_"))
    function = name.str();
  if (function == "rsqrt" || function == "rsqrtf") {
    Value *root = builder.CreateUnaryIntrinsic(Intrinsic::sqrt, operands[0]);
    result = builder.CreateFDiv(ConstantFP::get(root->getType(), 1), root);
    return true;
  }
  if (function == "powi" || function == "powif") {
    operands[1] = builder.CreateSIToFP(operands[1], operands[0]->getType());
    function = function == "powi" ? "pow" : "powf";
  }
  StringRef base = function;
  if (call.getType()->isFloatTy())
    base.consume_back("f");
  // "erf" ends in one of its own.
  if (!isOfLibm(base) && !isOfLibm(function))
    return false;
  if (call.getType()->isFloatTy() && isOfLibm(base))
    function = base.str() + "f";
  SmallVector<Type *> types;
  for (Value *operand : operands)
    types.push_back(operand->getType());
  result = builder.CreateCall(
      calls.getModule().getOrInsertFunction(
          function, FunctionType::get(call.getType(), types, false)),
      operands);
  return true;
}

/// The halves of a b + c for a, b and c of 64 bits, without white space.
static constexpr char wideMultiplyAdd[] =
    "{.reg.u32r0,r1,r2,r3,alo,ahi,blo,bhi,clo,chi;mov.b64{alo,ahi},$2;"
    "mov.b64{blo,bhi},$3;mov.b64{clo,chi},$4;mad.lo.cc.u32r0,alo,blo,clo;"
    "madc.hi.cc.u32r1,alo,blo,chi;madc.hi.u32r2,alo,bhi,0;"
    "mad.lo.cc.u32r1,alo,bhi,r1;madc.hi.cc.u32r2,ahi,blo,r2;"
    "madc.hi.u32r3,ahi,bhi,0;mad.lo.cc.u32r1,ahi,blo,r1;"
    "madc.lo.cc.u32r2,ahi,bhi,r2;addc.u32r3,r3,0;mov.b64$0,{r0,r1};"
    "mov.b64$1,{r2,r3};}";

/// As wideMultiplyAdd, without c.
static constexpr char wideMultiply[] =
    "{.reg.u32r0,r1,r2,r3,alo,ahi,blo,bhi;mov.b64{alo,ahi},$2;"
    "mov.b64{blo,bhi},$3;mul.lo.u32r0,alo,blo;mul.hi.u32r1,alo,blo;"
    "mad.lo.cc.u32r1,alo,bhi,r1;madc.hi.u32r2,alo,bhi,0;"
    "mad.lo.cc.u32r1,ahi,blo,r1;madc.hi.cc.u32r2,ahi,blo,r2;"
    "madc.hi.u32r3,ahi,bhi,0;mad.lo.cc.u32r2,ahi,bhi,r2;addc.u32r3,r3,0;"
    "mov.b64$0,{r0,r1};mov.b64$1,{r2,r3};}";

/// The sum (`operation` is "add") or difference ("sub") of numbers of 128 bits.
static std::string getWideSum(StringRef operation) {
  std::string text = "{.reg.u32r0,r1,r2,r3,a0,a1,a2,a3,b0,b1,b2,b3;"
                     "mov.b64{a0,a1},$2;mov.b64{a2,a3},$3;mov.b64{b0,b1},$4;"
                     "mov.b64{b2,b3},$5;";
  for (StringRef step : {".cc.u32r0,a0,b0;", "c.cc.u32r1,a1,b1;",
                         "c.cc.u32r2,a2,b2;", "c.u32r3,a3,b3;"})
    text += operation.str() + step.str();
  return text + "mov.b64$0,{r0,r1};mov.b64$1,{r2,r3};}";
}

bool sparse_autograd::emulator::translateAssembly(RuntimeCalls &calls,
                                                  CallInst &call,
                                                  Value *&result) {
  IRBuilder<> &builder = calls.getBuilder();
  StringRef text = cast<InlineAsm>(call.getCalledOperand())->getAsmString();
  // Without what separates instructions: they are known as they are.
  std::string plain;
  for (char character : text)
    if (!isspace(static_cast<unsigned char>(character)))
      plain += character;
  Value *first = call.arg_size() > 0 ? call.getArgOperand(0) : nullptr;
  if (plain == "rcp.approx.ftz.f32$0,$1;") {
    result = builder.CreateFDiv(ConstantFP::get(first->getType(), 1), first);
    return true;
  }
  if (plain == "rsqrt.approx.ftz.f64$0,$1;") {
    Value *root = builder.CreateUnaryIntrinsic(Intrinsic::sqrt, first);
    result = builder.CreateFDiv(ConstantFP::get(root->getType(), 1), root);
    return true;
  }
  if (plain == "{.reg.pred__$$temp3;setp.equ.f64__$$temp3,$1,$2;"
               "selp.f64$0,$3,$4,__$$temp3;}") {
    result = builder.CreateSelect(
        builder.CreateFCmpUEQ(first, call.getArgOperand(1)),
        call.getArgOperand(2), call.getArgOperand(3));
    return true;
  }
  bool isDifference = plain == getWideSum("sub");
  if (isDifference || plain == getWideSum("add")) {
    Type *i64 = builder.getInt64Ty();
    Type *i128 = builder.getInt128Ty();
    auto join = [&](unsigned i) {
      Value *low = builder.CreateZExt(call.getArgOperand(i), i128);
      Value *high = builder.CreateZExt(call.getArgOperand(i + 1), i128);
      return builder.CreateOr(low, builder.CreateShl(high, 64));
    };
    Value *sum = isDifference ? builder.CreateSub(join(0), join(2))
                              : builder.CreateAdd(join(0), join(2));
    result = calls.makeResult(
        {builder.CreateTrunc(sum, i64),
         builder.CreateTrunc(builder.CreateLShr(sum, 64), i64)});
    return true;
  }
  bool isWide = plain == wideMultiplyAdd || plain == wideMultiply;
  if (!isWide && plain != "{mad.lo.cc.u32$0,$2,$3,$4;madc.hi.u32$1,$2,$3,0;}")
    return false;
  // a b + c in twice the width, as its halves.
  unsigned width = isWide ? 64 : 32;
  Type *wide = builder.getIntNTy(2 * width);
  auto widen = [&](unsigned i) {
    return builder.CreateZExt(call.getArgOperand(i), wide);
  };
  Value *sum = builder.CreateMul(widen(0), widen(1));
  if (call.arg_size() == 3)
    sum = builder.CreateAdd(sum, widen(2));
  Type *narrow = builder.getIntNTy(width);
  result = calls.makeResult(
      {builder.CreateTrunc(sum, narrow),
       builder.CreateTrunc(builder.CreateLShr(sum, width), narrow)});
  return true;
}
