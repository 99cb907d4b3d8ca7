// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the host program is made from: a kernel and its plans, checked.
#ifndef POSENC_LIB_TRANSFORMS_DRIVERKERNEL_H
#define POSENC_LIB_TRANSFORMS_DRIVERKERNEL_H

#include "posenc/Analysis/KernelTensors.h"
#include "posenc/Halide/TileSignature.h"

#include "llvm/Support/MathExtras.h"

#include <vector>

namespace posenc {

/// A table of the prepared buffer.
struct DriverTable {
  PrepareOp op;

  /// Which heads have a part of their own.
  enum class Heads {
    Same,   // one part for all
    Kernel, // the kernel's: constants differ by head
    Call    // the call's: operands differ by head
  } heads = Heads::Same;

  /// Whether batch entries have parts of their own.
  bool hasBatches = false;

  /// Angles and strips: how queries find their place among the keys.
  Alignment alignment = Alignment::bottom_right;

  /// Angles: whose tokens have rows, and whether those are the tokens of each
  /// batch entry, since positions come from a tensor or are those of new
  /// tokens, or all positions from the first one on.
  Side side = Side::key;
  bool hasTokenRows = false;
  int64_t pairs = 0;
  llvm::SmallVector<mlir::Value> positions, freqs;
  RotateOp rotation;

  /// Rows: the table and, when its rows have no bounds, the relation that looks
  /// it up, of positions that are counted.
  mlir::Value values;
  TableType type;
  std::optional<int64_t> rows;
  RelationOp relation;

  llvm::StringRef getName() { return op.getSymName(); }
  /// Whether each number is stored in two.
  bool hasParts() { return values && isStoredInParts(values); }
};

struct DriverPlan {
  PlanOp op;
  /// One for each entry of `rows`; the arguments are the same. Of a recurrence
  /// there are chunks in the place of tiles.
  llvm::SmallVector<TileFunction> tiles;
  std::vector<ChunkFunctions> chunks;
  std::optional<TileFunction> keys;
  /// The symbols of the key vectors that `keys` writes, in scratch one after
  /// another.
  llvm::SmallVector<std::string> transformed;
  /// Whether these differ between query heads that share a key head: then each
  /// query head has its own.
  bool hasKeysByHead = false;
  /// Whether `keys` writes pairs of values behind them.
  bool hasValuePairs = false;
  /// Buffers of (rows, 2 Lk) numbers in the scratch of a worker.
  int64_t scans = 0;

  /// A posenc.head_mlp of the step, and its place in the scratch of a worker:
  /// scores are [channels, getScoreColumns(), rows of the tile], those that
  /// networks take (input by input, of all heads), then those that they give.
  struct Network {
    std::vector<NetworkFunctions> functions; // one for each tile
    int64_t inputs = 0, results = 0;         // its first channels
    /// Keys beyond both ends of a run that later networks see of its results.
    int64_t margin = 0;

    /// Keys beyond both ends of a run that it sees.
    int64_t getReach() { return margin + functions.front().reach; }
  };
  std::vector<Network> networks;
  int64_t scoreChannels = 0;
  /// Keys of a run, and room for what networks see beyond it.
  int64_t getScoreMargin() {
    return networks.empty() ? 0 : networks.front().getReach();
  }
  int64_t getScoreColumns() {
    return op.getKeys() + 2 * getScoreMargin() + kKeysBehind;
  }
  /// Whether all keys of a row come in one call of the tile function.
  bool hasOneRun() { return op.getDescending() || scans > 0; }
  /// Whether a tile has several heads, which are a dimension of its buffers.
  bool hasHeads() { return hasHeadDimension(op); }
  /// Whether it reads what a key transform has kept.
  bool readsKeptKeys() {
    return op.getPacked() ? !transformed.empty() : keys.has_value();
  }
};

struct DriverKernel {
  KernelOp op;
  std::string name;
  std::vector<KernelTensor> tensors;
  llvm::SmallVector<OperandTensor> operands;
  std::vector<DriverPlan> plans; // best first
  /// For each of them the packed one beside it, if there is one.
  std::vector<std::optional<DriverPlan>> packed;
  std::vector<DriverTable> tables;
  /// Rows of the tallest tile and bytes of the largest state.
  int64_t tallest = 0;
  int64_t stateBytes = 0;
  /// The most transformed key vectors that a plan has for a key.
  int64_t keyVectors = 0;
  /// The most scans of a plan.
  int64_t scans = 0;
  /// The most bytes for the scores of a plan's networks.
  int64_t scoreBytes = 0;
  /// Whether queries are looked up among the keys, so that Lq must not exceed
  /// Lk, and whether no head of the kernel may be missing in a call.
  bool needsQueriesAmongKeys = false, needsAllHeads = false;
  /// Whether some plan takes all keys of a row in one run.
  bool hasOneRun = false;
  /// Whether the queries (keys) of all heads are one buffer.
  bool readsAllQueries = false, readsAllKeys = false;

  // Numbers of tensors, as in posenc_frame.tensors, of attention and of a
  // kernel that appends to a cache.
  enum : unsigned {
    Query,
    Key,
    Value,
    Output,
    LogSumExp,
    NewKey = 0,
    NewValue,
    KeyCache,
    ValueCache
  };
  bool isAppend() { return op.isAppend(); }
  bool isRecurrent() { return static_cast<bool>(op.getRecurrence()); }
  /// Whether the keys in memory are those of new tokens.
  bool hasNewTokens() { return op.hasNewTokens(); }
  /// The keys that are transformed, and the values beside them.
  unsigned getKeyTensor() { return isAppend() ? NewKey : Key; }
  unsigned getValueTensor() { return isAppend() ? NewValue : Value; }
  bool hasLogSumExp() { return op.exportsLse(); }
  unsigned getFirstOperand() { return tensors.size() - operands.size(); }
  /// Whether each batch entry has lengths of its own.
  bool hasSequences() { return op.hasSequences(); }
  /// Whether prepared tables depend on the length of each sequence.
  bool preparesByLength();
  bool isPaged() { return op.getKeyStorage() == KeyStorage::paged; }
  bool isRing() { return op.isRing(); }
  /// Whether rows of keys and values are given one by one.
  bool isIndirect() { return hasIndirectKeys(op); }
  /// The number of the tensor with a role.
  std::optional<unsigned> findRole(SequenceRole role);
  /// The number of the scales of the codes of keys and values, if they are
  /// codes, and whether each token has one.
  std::optional<unsigned> findScales(bool areOfValues);
  bool hasTokenScales() { return op.getKvScales() == KvScales::token; }
  /// The number of the tensor with that name.
  std::optional<unsigned> findTensor(llvm::StringRef name);
  /// The number of an operand of the kernel.
  std::optional<unsigned> findOperand(llvm::StringRef operand);
  DriverTable &lookupTable(llvm::StringRef name);
  /// Whether one worker computes the tiles of all heads together.
  bool hasNetworks() {
    return llvm::any_of(
        plans, [](DriverPlan &plan) { return !plan.networks.empty(); });
  }
  /// The state of one head in the scratch of a worker; those of further heads,
  /// scans and scores come behind it.
  int64_t getStateBytes() { return llvm::alignTo(stateBytes, 64); }
  int64_t getAllStateBytes() {
    return getStateBytes() * (hasNetworks() ? op.getHeads() : 1);
  }
};

/// Checks that the plans, each verified, are of that kernel and can be driven
/// together.
mlir::FailureOr<DriverKernel> analyzeKernel(KernelOp kernel,
                                            llvm::ArrayRef<PlanOp> plans);

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_DRIVERKERNEL_H
