// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a named encoding or a mask sees and changes while its kernel is
// expanded.
#ifndef POSENC_IR_EXPANSION_H
#define POSENC_IR_EXPANSION_H

#include "posenc/IR/Posenc.h"
#include "posenc/IR/Real.h"

#include <functional>
#include <optional>

namespace posenc {

/// What a region yields, as a formula of its arguments.
using Formula = llvm::function_ref<Expression(llvm::ArrayRef<Real>)>;
/// A function of a score, built later.
using ScoreFunction = std::function<mlir::Value(mlir::Value)>;

/// What kernels and embeddings have in common.
struct ExpansionBase {
  ExpansionBase(mlir::OpBuilder &builder, mlir::Location loc,
                PositionLawAttrInterface positions)
      : builder(builder), loc(loc), positionLaw(positions) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;

  mlir::MLIRContext *getContext() const { return builder.getContext(); }

  /// The positions of one side, made on first use; those of another axis or
  /// law when given.
  mlir::Value position(Side side);
  mlir::Value position(Side side, PositionLawAttrInterface law);
  mlir::Value remap(mlir::Value position, Formula formula);

  /// law(p_i - p_j) of the kernel's positions, or of others.
  mlir::Value relation(mlir::Attribute law);
  mlir::Value relation(mlir::Value query, mlir::Value key, mlir::Attribute law);
  mlir::Value relationMap(mlir::ValueRange inputs, std::optional<int64_t> rows,
                          Formula formula);
  mlir::Value sumIndex(int64_t extent);

  /// A table that the caller passes in, or one of constants.
  mlir::Value operand(llvm::StringRef name, llvm::ArrayRef<TableAxis> axes,
                      int64_t rows = 0, int64_t channels = 0);
  mlir::Value constants(llvm::ArrayRef<double> values,
                        llvm::ArrayRef<TableAxis> axes, int64_t channels = 0);
  mlir::Value tableMap(int64_t channels, Formula formula);

  mlir::Value freqs(llvm::ArrayRef<double> values);

  /// Creates an operation of `parts` whose region has `arguments` f64 and
  /// yields the formula.
  template <typename Op, typename... Parts>
  Op create(unsigned arguments, Formula formula, Parts &&...parts) {
    auto op = Op::create(builder, loc, std::forward<Parts>(parts)...);
    fillRegion(op->getRegion(0), arguments, formula);
    return op;
  }
  void fillRegion(mlir::Region &region, unsigned arguments, Formula formula);

protected:
  PositionLawAttrInterface positionLaw;
  /// Of operands in memory; null for f32.
  mlir::Type tableType;

private:
  llvm::SmallVector<std::pair<std::pair<Side, mlir::Attribute>, mlir::Value>>
      positions;
};

/// A kernel while its encodings are expanded, in the order of the list. Vectors
/// change at once; scores are put together when all encodings have said what
/// they add:
///
///   s = dots + inside terms        each inside term holds its own scale
///   s = caps (s)
///   s = s + outside terms
///   s = maps (s)
///   s = mask (s)
///   s = scans (s)                  functions of masked scores
///   p = normalize (s)
///   d = drop_weights (p)
///   o = weighted_sum(d, v) + value terms (d) + rest terms (p)
struct Expansion : ExpansionBase {
  /// A dot product and where it is used.
  struct Branch {
    mlir::Value query, key;
    /// Keeps the branches before it where it allows a pair, and takes this one
    /// elsewhere; null for the first.
    std::function<mlir::Value(mlir::Value kept, mlir::Value other)> select;
  };

  Expansion(mlir::OpBuilder &builder, KernelOp kernel, mlir::Value query,
            mlir::Value key, mlir::Value value);

  KernelOp kernel;
  mlir::Value value;
  /// The scale of the dot product.
  double scale;

  /// Applies a function to the queries or keys of every branch.
  void transformQueries(llvm::function_ref<mlir::Value(mlir::Value)> function);
  void transformKeys(llvm::function_ref<mlir::Value(mlir::Value)> function);
  /// The vectors as the encodings before have left them, of the first branch.
  mlir::Value query() const { return branches.front().query; }
  mlir::Value key() const { return branches.front().key; }
  llvm::SmallVector<Branch, 1> branches;

  /// The sum of the dot products, unless an encoding builds it otherwise; takes
  /// the vectors as all encodings have left them.
  std::function<mlir::Value(Expansion &)> buildDots;

  llvm::SmallVector<mlir::Value> insideTerms, outsideTerms;
  llvm::SmallVector<ScoreFunction> caps, maps, scans;
  /// The weights from the masked, scanned scores; softmax by default.
  std::function<mlir::Value(mlir::Value)> normalize;
  /// Outputs beside the weighted sum of the values.
  llvm::SmallVector<std::function<mlir::Value(mlir::Value weights)>> valueTerms;
  /// Those that see all weights, whatever is dropped.
  llvm::SmallVector<std::function<mlir::Value(mlir::Value weights)>> restTerms;

  /// A bias; the caller puts it among the terms.
  mlir::Value bias(mlir::ValueRange inputs, Formula formula);
  /// A bias that is a table over (row, head) looked up by a relation.
  mlir::Value lookup(mlir::Value relation, llvm::StringRef operand,
                     int64_t rows);
  /// A function of scores and inputs.
  mlir::Value map(mlir::ValueRange scores, mlir::ValueRange inputs,
                  Formula formula);
  mlir::Value selectWhere(mlir::Value score, mlir::Value other,
                          mlir::ValueRange inputs, Formula formula);
  /// Storage indices, with the alignment of the mask.
  mlir::Value index(Side side, Alignment alignment);

  /// Puts the kernel's body together.
  void finish(MaskClauseAttrInterface mask);
};

/// An input embedding while its encodings are expanded, in the order of the
/// list: vectors and positions change at once.
struct EmbedExpansion : ExpansionBase {
  EmbedExpansion(mlir::OpBuilder &builder, EmbedOp embed, mlir::Value tokens);

  EmbedOp embed;
  /// The vectors as the caller gives them, and as the encodings before have
  /// left them.
  mlir::Value input, tokens;

  /// The positions as the encodings before have left them.
  mlir::Value getCoord();
  void setCoord(mlir::Value value) { coord = value; }

  mlir::Value coordMap(mlir::ValueRange inputs, Formula formula);
  /// Numbers of tokens or sequences that the caller passes in, such as
  /// positions and words: types of 16 bits hold too few of these.
  mlir::Value numbers(llvm::StringRef name, llvm::ArrayRef<TableAxis> axes);
  /// The position, which fails the call where it is no row of `what`.
  mlir::Value bounded(mlir::Value position, int64_t rows, llvm::StringRef what);
  /// Numbers of a stream that nothing else draws from.
  mlir::Value random(RandomScope scope);
  /// Replaces the vectors; the region's arguments are the element, its channel
  /// or pair, the part of the pair, then the inputs.
  void channelMap(mlir::ValueRange inputs, std::optional<Pairing> pairing,
                  Formula formula);

private:
  mlir::Value coord;
  int64_t nextStream = 1;
};

/// Distances at which the buckets 1 .. buckets-1 of one direction start:
/// bucket b holds the distances n with thresholds[b-1] <= n < thresholds[b].
/// The law of Mesh TensorFlow's _relative_position_bucket in exact arithmetic.
llvm::SmallVector<int64_t> logBucketThresholds(int64_t buckets,
                                               int64_t maxDistance);

/// The slopes of ALiBi for any head count, as the authors' code orders them.
llvm::SmallVector<double> geometricSlopes(int64_t heads, double maxExponent);

} // namespace posenc

#endif // POSENC_IR_EXPANSION_H
