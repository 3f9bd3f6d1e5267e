//===- Kernel.h - the loops of one structured op ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_KERNEL_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_KERNEL_H

#include "SparseAutograd/Analysis/SparseIteration.h"
#include "SparseLoops.h"
#include "StructuredToLoops.h"

namespace sparse_autograd {

/// The loops of one structured op.
class Kernel {
public:
  Kernel(mlir::OpBuilder &builder, mlir::linalg::LinalgOp op,
         llvm::ArrayRef<mlir::ValueRange> operands,
         const OperandPatterns &patterns, const LoopSchedule &schedule);

  /// The components of each result.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> lower();

private:
  friend class KernelBody;
  friend class EntryBody;
  friend class EntryValueBody;
  friend class RowCountBody;
  friend class RowValueBody;
  friend class RowMerge;
  friend class AccumulatedRows;
  friend class ColumnCountBody;
  friend class ColumnSumBody;
  friend class RowAccumulation;

  /// The extent of a dimension of operand `number`.
  mlir::Value getExtent(unsigned number, int64_t dim);
  mlir::Value getLoopExtent(unsigned loop);
  /// The values of a sparse result on the pattern of operand `pattern`, from
  /// `init`.
  mlir::Value lowerOnPattern(unsigned pattern, mlir::Value init);
  /// An elementwise op on values of one pattern and on scalars is one on the
  /// lists of values; null for any other op.
  mlir::Value lowerOnValues(unsigned pattern);
  /// A sum, or another reduction, of all that tensors of one pattern store is
  /// one of the lists of values; nothing for any other op.
  llvm::SmallVector<mlir::Value> lowerTotals();
  /// What an op on the lists of values of `pattern` reads for `yields`, by the
  /// numbers of the operands; nothing if that is not all on this pattern, or
  /// one number.
  struct ListInputs {
    llvm::SmallVector<unsigned> numbers;
    llvm::SmallVector<mlir::Value> values;
    llvm::SmallVector<mlir::AffineMap> maps;
  };
  std::optional<ListInputs> getListInputs(unsigned pattern,
                                          llvm::ArrayRef<const Term *> yields);
  llvm::SmallVector<mlir::Value> lowerToDense();
  /// Whether dense results are their inits where no sparse operand stores
  /// anything: then they are carried from the inits on, each element of which
  /// is read before it is written, in place.
  bool keepsInits();
  /// What dense results are where no sparse operand stores anything.
  llvm::SmallVector<mlir::Value> buildBase(mlir::ValueRange inits);

  /// Visits `part`, at the elements of operand `pattern` if there is one.
  llvm::SmallVector<mlir::Value> buildPart(const StoredPart &part,
                                           mlir::ValueRange carried,
                                           std::optional<unsigned> pattern,
                                           bool isFirstOutermost,
                                           LoopBody &body);
  /// Computes at the elements of `parts`, one part after the other.
  llvm::SmallVector<mlir::Value> buildParts(llvm::ArrayRef<StoredPart> parts,
                                            mlir::ValueRange carried,
                                            std::optional<unsigned> pattern,
                                            bool isFirstOutermost);

  /// The elements of the dense operands that `yields` read at `element`, by
  /// number.
  llvm::SmallVector<mlir::Value> loadDense(mlir::OpBuilder &builder,
                                           const VisitedElement &element,
                                           llvm::ArrayRef<const Term *> yields);

  /// Builds `yields` at `element`, within loops, of `arguments`. What the types
  /// leave open of an op of the region, such as an index, is asserted before
  /// it: it is executed here and for no other element.
  llvm::SmallVector<mlir::Value> build(mlir::OpBuilder &builder,
                                       llvm::ArrayRef<const Term *> yields,
                                       llvm::ArrayRef<mlir::Value> arguments,
                                       const VisitedElement &element) const;

  /// A sparse result with a pattern of its own, by the first of the following
  /// ways that there is nothing against, with a remark.
  llvm::SmallVector<mlir::Value> assemble();
  /// Counts the entries of each row and puts each entry in the next place of
  /// its row (CountedPattern.cpp). The reason against it is empty if there is
  /// none.
  llvm::SmallVector<mlir::Value> assembleByCounting();
  llvm::StringRef getReasonAgainstCounting();
  /// Merges the rows of two operands (MergedPattern.cpp).
  llvm::SmallVector<mlir::Value> assembleByMerging();
  llvm::StringRef getReasonAgainstMerging();
  llvm::SmallVector<unsigned> getMergedOperands();
  /// Adds terms up in a row of values (AccumulatedPattern.cpp), or lists the
  /// entries if that row would be too long.
  llvm::SmallVector<mlir::Value> assembleByAccumulation();
  llvm::StringRef getReasonAgainstAccumulation();
  /// Lists the entries, sorts and stores them, and computes their values. A sum
  /// of several entries at one place is made in the order of the list.
  llvm::SmallVector<mlir::Value> assembleFromList();
  /// The extents of the dimensions of the sparse result.
  llvm::SmallVector<mlir::Value> getResultExtents();
  /// The coordinates of the dimensions of the sparse result, of the indices of
  /// the loops. Its map is a projected permutation.
  llvm::SmallVector<mlir::Value>
  getResultIndices(llvm::ArrayRef<mlir::Value> indices);
  /// Builds `visit` if the element is stored: always if it is one of a sparse
  /// operand, otherwise if it is not zero.
  llvm::SmallVector<mlir::Value>
  visitStored(mlir::OpBuilder &builder, const VisitedElement &element,
              mlir::ValueRange carried,
              llvm::function_ref<llvm::SmallVector<mlir::Value>()> visit);
  /// Visits all parts. `visit` visits one and gives what is carried on.
  llvm::SmallVector<mlir::Value> visitEntries(
      mlir::ValueRange carried, NumberedLoops &numbered,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(const StoredPart &,
                                                        mlir::ValueRange)>
          visit);
  /// What an op on dense operands yields at `element`.
  mlir::Value computeOfDense(mlir::OpBuilder &builder,
                             const VisitedElement &element);

  bool isReduction() { return op.getNumReductionLoops() != 0; }
  bool readsInit(unsigned result) {
    return op.payloadUsesValueFromOperand(op.getDpsInitOperand(result));
  }
  const SparseStorage &getStorage(unsigned number) const {
    return storages.find(number)->second;
  }
  /// The loops' number of sparse operand `number`: operands of one pattern and
  /// one map are one.
  unsigned getLoopOperand(unsigned number) const {
    return loopOperands.lookup(number);
  }
  llvm::SmallVector<unsigned>
  toLoopOperands(llvm::ArrayRef<unsigned> numbers) const;

  mlir::OpBuilder &builder;
  mlir::linalg::LinalgOp op;
  mlir::Location loc;
  llvm::ArrayRef<mlir::ValueRange> operands;
  const OperandPatterns &patterns;
  ScalarTerms terms;
  SparseIteration iteration;
  std::optional<SparseLoops> loops;
  llvm::DenseMap<unsigned, unsigned> loopOperands;
  llvm::DenseMap<unsigned, SparseStorage> storages;
};

/// Computes the region at the visited elements. Carries the results.
class KernelBody : public LoopBody {
public:
  /// `pattern`: the operand on whose pattern the values of the only result
  /// are; none if results are dense.
  KernelBody(Kernel &kernel, const StoredPart &part,
             std::optional<unsigned> pattern = std::nullopt);

  VectorForm getVectorForm(unsigned loop) override;
  void
  begin(mlir::OpBuilder &builder,
        llvm::function_ref<bool(const llvm::SmallBitVector &)> isVisitedOnce,
        llvm::SmallVectorImpl<mlir::Value> &carried) override;
  bool writesApart(const OutermostLoop &outermost) override;
  llvm::SmallVector<mlir::Value> visit(mlir::OpBuilder &builder,
                                       const VisitedElement &element,
                                       mlir::ValueRange carried) override;
  bool enter(mlir::OpBuilder &builder, const VisitedElement &element,
             llvm::SmallVectorImpl<mlir::Value> &carried) override;
  void exit(mlir::OpBuilder &builder, const VisitedElement &element,
            llvm::SmallVectorImpl<mlir::Value> &carried) override;

protected:
  /// Where result `number` is written at `element`; nothing if not known yet.
  virtual std::optional<llvm::SmallVector<mlir::Value>>
  getPlace(mlir::OpBuilder &builder, const VisitedElement &element,
           unsigned number);

  Kernel &kernel;

private:
  /// Whether a vector holds the elements of operand `number` along `loop`: they
  /// are consecutive in memory, and nothing else of its place depends on it.
  bool isLastDim(unsigned number, unsigned loop);
  /// The whole bytes of an element of operand `number`.
  int64_t getBytes(unsigned number);
  /// The loops that the place of operand `number` depends on.
  llvm::SmallBitVector getLoops(unsigned number);
  /// The element of `tensor` at `place`, one in each lane if `element` has
  /// lanes, and `tensor` with another one there.
  mlir::Value load(mlir::OpBuilder &builder, const VisitedElement &element,
                   mlir::Value tensor, mlir::ValueRange place);
  mlir::Value store(mlir::OpBuilder &builder, const VisitedElement &element,
                    mlir::Value value, mlir::Value tensor,
                    mlir::ValueRange place);
  /// Looks up what may or may not be stored. The region is built for both
  /// cases: what is absent is nowhere a factor.
  llvm::SmallVector<mlir::Value>
  visitOptional(mlir::OpBuilder &builder, const VisitedElement &element,
                llvm::ArrayRef<unsigned> optional, llvm::SmallBitVector absent,
                llvm::SmallVector<mlir::Value> arguments,
                mlir::ValueRange carried);
  llvm::SmallVector<mlir::Value>
  compute(mlir::OpBuilder &builder, const VisitedElement &element,
          const llvm::SmallBitVector &absent,
          llvm::SmallVector<mlir::Value> arguments, mlir::ValueRange carried);

  llvm::SmallBitVector absent;
  std::optional<unsigned> pattern;
  /// What sums start with, of results each of whose elements is one; null for
  /// an element of the tensor that is carried.
  llvm::SmallVector<mlir::Value> starts;
  /// Which results are carried as scalars at the moment, and those that became
  /// one at each loop: the tensor and the place.
  llvm::SmallBitVector isScalar;
  struct Promotion {
    unsigned result;
    mlir::Value tensor;
    llvm::SmallVector<mlir::Value> place;
  };
  llvm::SmallVector<llvm::SmallVector<Promotion>> promotions;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_KERNEL_H
