// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of queries and keys with each other and with rows of tables.
#ifndef POSENC_GENERATORS_HALIDE_PRODUCTS_H
#define POSENC_GENERATORS_HALIDE_PRODUCTS_H

#include "Prologue.h"
#include "Terms.h"

namespace posenc {

/// The vectors behind the arguments of a step.
struct StepVectors {
  StepVectors(PlanOp plan, std::vector<Halide::Func> queries,
              const TileParams &params);

  /// Channel of a query at row `i`, or of key `j` of block `t`.
  Halide::Expr query(mlir::Value value, Halide::Expr i,
                     Halide::Expr channel) const;
  Halide::Expr key(mlir::Value value, const KeyBlocks &keys, Halide::Expr t,
                   Halide::Expr j, Halide::Expr channel) const;
  /// The same of a key, as it is stored.
  Halide::Expr keyBits(mlir::Value value, const KeyBlocks &keys, Halide::Expr t,
                       Halide::Expr j, Halide::Expr channel) const;
  const QueryPairs &getQueryPairs(mlir::Value value) const {
    return queryPairs[llvm::cast<mlir::BlockArgument>(value).getArgNumber()];
  }
  /// The same of a key, as a code where it is one and read where it lies, and
  /// the scale of the key; undefined for others.
  Halide::Expr keyCode(mlir::Value value, const KeyBlocks &keys, Halide::Expr t,
                       Halide::Expr j, Halide::Expr channel) const;
  Halide::Expr keyScale(mlir::Value value, const KeyBlocks &keys,
                        Halide::Expr t, Halide::Expr j) const;
  /// Key vector number `index` where it lies.
  Halide::Expr storedKey(unsigned index, Halide::Expr key,
                         Halide::Expr channel) const;
  bool isStoredPlainly(unsigned index) const;

  const TileParams &params;
  std::vector<Halide::Func> queries;
  /// Of tiles that multiply pairs.
  std::vector<QueryPairs> queryPairs;
  /// The symbols of the key vectors; none where none is read.
  std::vector<std::optional<std::string>> keys;
  unsigned getKeyNumber(mlir::Value value) const {
    return llvm::cast<mlir::BlockArgument>(value).getArgNumber() -
           static_cast<unsigned>(queries.size());
  }
  /// Whether tiles read the caller's key, not a copy.
  bool isRead(unsigned index, const KeyBlocks &blocks) const {
    return keys[index]->empty() && !blocks.keyCopies[index].defined();
  }
  /// The results of posenc.keys that tiles compute for themselves; else null.
  std::vector<mlir::Value> loaded;
  /// Whether one product alone reads such a key.
  std::vector<bool> areReadOnce;
};

/// Where the Funcs behind scores are computed: with the Func that gathers the
/// scores, a few keys at a time, or once for a block of keys.
struct ScoreLevels {
  Halide::Func consumer;
  Halide::LoopLevel group;
  /// Undefined where scores are computed key by key.
  Halide::RVar block;
  Halide::Func state;
  bool hasBlocks = false;
  /// Keys that are computed at once.
  int64_t keys = 1;
};

class Products {
public:
  Products(const TileContext &context, const KeyBlocks &keys,
           const StepVectors &vectors)
      : context(context), keys(keys), vectors(vectors) {}

  /// At (row, key of the block, block).
  Halide::Func dot(DotOp op);
  /// The row of the table is `place`: at (row, key of the block, block), an
  /// integer, or with `share` (how far it is above a row) a real number between
  /// two rows.
  mlir::FailureOr<Halide::Func> tableDot(TableDotOp op, Halide::Func place,
                                         Halide::Func share, TermSource &terms);

  /// With one row for all pairs: at (row), of queries, or (key of the block,
  /// block), of keys.
  mlir::FailureOr<Halide::Func>
  constantTableDot(TableDotOp op, Halide::Expr row, TermSource &terms);

  void schedule(const ScoreLevels &levels);

private:
  /// A dot product over some of the channels: accumulators, and their sums.
  struct Section {
    Halide::Func accumulators{"dot_accumulators"}, dots{"section_dots"};
  };
  using Product = llvm::function_ref<Halide::Expr(Halide::Expr)>;
  Halide::Expr addSection(int begin, int end, Product product);
  /// Of queries and keys as they are stored, pair by pair.
  Halide::Func pairDot(DotOp op, int queryChannel, int keyChannel, int count);
  /// With channels as lanes.
  Halide::Func channelDot(DotOp op, int queryChannel, int keyChannel,
                          int count);
  void placeCopy(Halide::Func copy, Halide::Func product,
                 Halide::Var key) const;
  /// A channel of the vector of a product with a table.
  Halide::Expr readVector(TableDotOp op, Halide::Expr channel) const;
  /// The same, where the table is a projected function of the row: the vector
  /// is projected.
  mlir::FailureOr<Halide::Func> projectedDot(TableDotOp op, Halide::Func place,
                                             Halide::Func share,
                                             TermSource &terms);

  const TileContext &context;
  const KeyBlocks &keys;
  const StepVectors &vectors;
  /// Accumulator of a score.
  Halide::Var turn{"turn"};
  std::vector<Section> sections;
  /// Accumulators of sums of pairs.
  std::vector<Halide::Func> pairSums;
  /// Dot products whose channels are lanes: those of a square of rows and keys,
  /// still as many numbers each as a vector has lanes, then half as many, down
  /// to one each; and what is added in between.
  struct Square {
    Halide::Var element{"element"}, group{"group"};
    std::vector<Halide::Func> sums, mixed;
    /// The number of the key vector.
    unsigned vector = 0;
  };
  std::vector<Square> squares;
  std::vector<Halide::Func> dots, tableDots;
  /// A product with a projected table, and the numbers of the vector that one
  /// step of its sum needs.
  struct ProjectedDot {
    Halide::Func product, vector;
    bool isOfQuery;
  };
  std::vector<ProjectedDot> projectedDots;
  /// Products of queries with one row, and of keys, whose channels are lanes.
  std::vector<Halide::Func> queryRowDots;
  struct KeyRowDot {
    Halide::Func result{"key_row_dots"}, lanes{"key_row_lanes"};
    Halide::Var lane{"lane"};
  };
  std::vector<KeyRowDot> keyRowDots;
};

} // namespace posenc

#endif // POSENC_GENERATORS_HALIDE_PRODUCTS_H
