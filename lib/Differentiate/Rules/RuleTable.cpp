//===- RuleTable.cpp - what becomes of every op of MLIR -------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Differentiate/RuleTable.h"
#include "Refused.h"

using namespace mlir;
using namespace sparse_autograd;

ArrayRef<OpRecord> sparse_autograd::listOpRecords() {
  static constexpr OpRecord records[] = {
      {"arith.extf", Treatment::Rule,
       "converts the tangent; the cotangent is converted back"},
      {"arith.select", Treatment::Rule,
       "selects among the tangents; the cotangent of a branch "
       "has the condition, or its negation, as its support"},
      {"arith.truncf", Treatment::Rule,
       "converts the tangent; the cotangent is converted back"},
      {"linalg.generic", Treatment::Rule,
       "a generic over the same space that computes the "
       "tangents, whose transpose writes through the map of each"
       " operand: a contraction gives contractions, a "
       "convolution scatters; what the region extracts from a "
       "tensor is gathered before, and its cotangents are added "
       "where they came from, in order"},
      {"scf.execute_region", Treatment::Rule,
       "its only block, in its place; with `no_inline` the transpose computes "
       "the block again"},
      {"scf.for", Treatment::Rule,
       "carries tangents; the transpose runs the iterations "
       "backward, from the carried values that the forward loop "
       "keeps for each of them"},
      {"scf.if", Treatment::Rule,
       "branches likewise; a branch that is not taken counts as "
       "masked out"},
      {"scf.while", Treatment::Rule,
       "carries tangents; for the transpose the iterations are "
       "counted first and replayed by an scf.for: to keep values"
       " without knowing how often would copy, at each "
       "iteration, all that is kept"},
      {"tensor.cast", Treatment::Rule,
       "the same on tangents; the cotangent is cast back"},
      {"tensor.collapse_shape", Treatment::Rule,
       "the same on tangents; the cotangent is expanded"},
      {"tensor.concat", Treatment::Rule,
       "the same on tangents; the cotangent is cut into slices"},
      {"tensor.expand_shape", Treatment::Rule,
       "the same on tangents; the cotangent is collapsed"},
      {"tensor.extract", Treatment::Rule,
       "the same on tangents; the cotangent is inserted into "
       "zeros, and what is not extracted counts as masked out"},
      {"tensor.extract_slice", Treatment::Rule,
       "the same on tangents; the cotangent is inserted into "
       "zeros, and what is not extracted counts as masked out"},
      {"tensor.from_elements", Treatment::Rule,
       "the same on tangents; each element gets its cotangent"},
      {"tensor.insert", Treatment::Rule,
       "the same on tangents; the cotangent of the element is "
       "extracted, and what it overwrites counts as masked out"},
      {"tensor.insert_slice", Treatment::Rule,
       "the same on tangents; the cotangent of the slice is "
       "extracted, and what it overwrites counts as masked out"},
      {"tensor.pad", Treatment::Rule,
       "the same on tangents; the cotangent of the source is "
       "extracted, and the padding value gets the sum of the "
       "rest"},
      {"tensor.reshape", Treatment::Rule,
       "the same on tangents; the cotangent is reshaped back"},
      {"tensor.scatter", Treatment::Rule,
       "the same on tangents; the cotangent of the source is "
       "gathered, and what it overwrites counts as masked out"},
      {"tensor.splat", Treatment::Rule,
       "the same on tangents; the cotangents are summed"},
      {"func.call", Treatment::Rewritten, "the body of the callee"},
      {"linalg.pack", Treatment::Rewritten,
       "tensor.pad, tensor.expand_shape and linalg.transpose, "
       "where the tiles have constant sizes"},
      {"linalg.softmax", Treatment::Rewritten,
       "sparse_autograd.masked_softmax"},
      {"linalg.unpack", Treatment::Rewritten,
       "linalg.transpose, tensor.collapse_shape and tensor.extract_slice"},
      {"scf.forall", Treatment::Rewritten,
       "scf.for: the derivative runs the iterations in order"},
      {"scf.forall.in_parallel", Treatment::Rewritten,
       "what scf.forall becomes"},
      {"scf.index_switch", Treatment::Rewritten, "scf.if"},
      {"scf.parallel", Treatment::Rewritten,
       "scf.for: the derivative runs the iterations in order"},
      {"scf.reduce", Treatment::Rewritten, "what scf.parallel becomes"},
      {"scf.reduce.return", Treatment::Rewritten, "what scf.parallel becomes"},
      {"tensor.gather", Treatment::Rewritten, "linalg.generic"},
      {"tensor.generate", Treatment::Rewritten, "linalg.generic"},
      {"tensor.parallel_insert_slice", Treatment::Rewritten,
       "tensor.insert_slice, with scf.forall"},
      {"arith.addi", Treatment::WithoutTangent, "integers"},
      {"arith.addui_extended", Treatment::WithoutTangent, "integers"},
      {"arith.andi", Treatment::WithoutTangent, "integers"},
      {"arith.ceildivsi", Treatment::WithoutTangent, "integers"},
      {"arith.ceildivui", Treatment::WithoutTangent, "integers"},
      {"arith.cmpf", Treatment::WithoutTangent, "the result is no float"},
      {"arith.cmpi", Treatment::WithoutTangent, "integers"},
      {"arith.constant", Treatment::WithoutTangent, "there is no operand"},
      {"arith.divsi", Treatment::WithoutTangent, "integers"},
      {"arith.divui", Treatment::WithoutTangent, "integers"},
      {"arith.extsi", Treatment::WithoutTangent, "integers"},
      {"arith.extui", Treatment::WithoutTangent, "integers"},
      {"arith.floordivsi", Treatment::WithoutTangent, "integers"},
      {"arith.fptosi", Treatment::WithoutTangent, "the result is no float"},
      {"arith.fptoui", Treatment::WithoutTangent, "the result is no float"},
      {"arith.index_cast", Treatment::WithoutTangent, "integers"},
      {"arith.index_castui", Treatment::WithoutTangent, "integers"},
      {"arith.maxsi", Treatment::WithoutTangent, "integers"},
      {"arith.maxui", Treatment::WithoutTangent, "integers"},
      {"arith.minsi", Treatment::WithoutTangent, "integers"},
      {"arith.minui", Treatment::WithoutTangent, "integers"},
      {"arith.muli", Treatment::WithoutTangent, "integers"},
      {"arith.mulsi_extended", Treatment::WithoutTangent, "integers"},
      {"arith.mului_extended", Treatment::WithoutTangent, "integers"},
      {"arith.ori", Treatment::WithoutTangent, "integers"},
      {"arith.remsi", Treatment::WithoutTangent, "integers"},
      {"arith.remui", Treatment::WithoutTangent, "integers"},
      {"arith.shli", Treatment::WithoutTangent, "integers"},
      {"arith.shrsi", Treatment::WithoutTangent, "integers"},
      {"arith.shrui", Treatment::WithoutTangent, "integers"},
      {"arith.sitofp", Treatment::WithoutTangent, "there is no float operand"},
      {"arith.subi", Treatment::WithoutTangent, "integers"},
      {"arith.trunci", Treatment::WithoutTangent, "integers"},
      {"arith.uitofp", Treatment::WithoutTangent, "there is no float operand"},
      {"arith.xori", Treatment::WithoutTangent, "integers"},
      {"func.constant", Treatment::WithoutTangent, "a symbol"},
      {"func.func", Treatment::WithoutTangent, "holds a program"},
      {"func.return", Treatment::WithoutTangent, "passes values on"},
      {"linalg.index", Treatment::WithoutTangent, "integers"},
      {"linalg.quantized_batch_matmul", Treatment::WithoutTangent, "integers"},
      {"linalg.quantized_matmul", Treatment::WithoutTangent, "integers"},
      {"linalg.yield", Treatment::WithoutTangent, "passes values on"},
      {"math.absi", Treatment::WithoutTangent, "integers"},
      {"math.ctlz", Treatment::WithoutTangent, "integers"},
      {"math.ctpop", Treatment::WithoutTangent, "integers"},
      {"math.cttz", Treatment::WithoutTangent, "integers"},
      {"math.ipowi", Treatment::WithoutTangent, "integers"},
      {"math.isfinite", Treatment::WithoutTangent, "the result is no float"},
      {"math.isinf", Treatment::WithoutTangent, "the result is no float"},
      {"math.isnan", Treatment::WithoutTangent, "the result is no float"},
      {"math.isnormal", Treatment::WithoutTangent, "the result is no float"},
      {"scf.condition", Treatment::WithoutTangent, "passes values on"},
      {"scf.yield", Treatment::WithoutTangent, "passes values on"},
      {"tensor.dim", Treatment::WithoutTangent, "the shape only"},
      {"tensor.empty", Treatment::WithoutTangent, "there is no float operand"},
      {"tensor.rank", Treatment::WithoutTangent, "the shape only"},
      {"tensor.yield", Treatment::WithoutTangent, "passes values on"},
      {"arith.bitcast", Treatment::Refused,
       "reads the bits of a float, which have no derivative; "
       "convert values with extf, truncf or sitofp"},
      {"arith.scaling_extf", Treatment::Refused,
       "has no derivative rule; convert with extf and multiply "
       "by the scale"},
      {"arith.scaling_truncf", Treatment::Refused,
       "has no derivative rule; divide by the scale and convert "
       "with truncf"},
      {"func.call_indirect", Treatment::Refused,
       "has no derivative rule; attach an external model of "
       "LinearizableOpInterface to it, or keep it off the "
       "differentiated path with sparse_autograd.stop_gradient"},
      {"linalg.winograd_filter_transform", Treatment::Refused,
       "has no derivative rule; differentiate "
       "linalg.conv_2d_nhwc_fhwc, and transform after "
       "differentiation"},
      {"linalg.winograd_input_transform", Treatment::Refused,
       "has no derivative rule; differentiate "
       "linalg.conv_2d_nhwc_fhwc, and transform after "
       "differentiation"},
      {"linalg.winograd_output_transform", Treatment::Refused,
       "has no derivative rule; differentiate "
       "linalg.conv_2d_nhwc_fhwc, and transform after "
       "differentiation"},
      {"tensor.bitcast", Treatment::Refused,
       "reads the bits of floats, which have no derivative; "
       "convert values with arith.extf, truncf or sitofp"},
  };
  return records;
}

ArrayRef<RefusedForm> sparse_autograd::listRefusedForms() {
  static constexpr RefusedForm forms[] = {
      {"any op without a rule",
       "has no derivative rule; attach an external model of "
       "LinearizableOpInterface to it, or keep it off the "
       "differentiated path with sparse_autograd.stop_gradient"},
      {"a float made of the bits of one that is differentiated",
       "makes a float of the bits of one that is being "
       "differentiated, which have no derivative; convert "
       "values with extf, truncf or sitofp, or read the bits of "
       "a sparse_autograd.stop_gradient of it"},
      {"an op with effects on what is differentiated",
       "has side effects on a value that is being "
       "differentiated; only programs on values are "
       "differentiated, move it out of the function"},
      {"vectors, memrefs, unranked tensors, complex numbers",
       "which derivatives do not follow; use floats and ranked "
       "tensors of floats"},
      {"branches between blocks", "has unstructured control flow, which is not "
                                  "differentiated; use scf.if and scf.for"},
      {"recursion", "is not differentiated; write a loop"},
      {"linalg.generic on memrefs",
       "works on memory, which is not differentiated; "
       "differentiate before bufferization"},
      {"linalg.generic with another combiner",
       "combines in a way that has no derivative rule: the "
       "derivative depends on the running value; reduce by "
       "addition, maximumf, minimumf or mulf"},
      {"linalg.generic that reads a tensor in its region other than by "
       "extracting elements",
       "reads a tensor that is being differentiated from inside "
       "its region, which has no derivative rule; make the "
       "tensor an operand with an indexing map"},
      {"linalg.pack with tiles of unknown size",
       "has no derivative rule for tiles of unknown size; use "
       "constants as inner_tiles"},
      {"scf.for, scf.while that carry neither tensors nor "
       "numbers",
       "which cannot be kept for the backward pass; carry "
       "tensors and numbers"},
      {"tensor.pad with a value that depends on the position",
       "with a padding that depends on the position has no "
       "derivative rule; pad with one value"},
  };
  return forms;
}

LogicalResult sparse_autograd::reportRefused(Operation *op) {
  StringRef name = op->getName().getStringRef();
  for (const OpRecord &record : listOpRecords())
    if (record.op == name && record.treatment == Treatment::Refused)
      return op->emitOpError(record.text);
  llvm_unreachable("the table has every op with a RefusedModel");
}
