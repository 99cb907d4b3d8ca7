// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions that the CPU generator makes from a plan and their arguments.
// The generator and the driver both ask here, so that they cannot disagree.
//
// Calling convention: `int32_t symbol(args...)` in C, result 0. An argument of
// rank 0 is an int32_t by value; any other is a `struct halide_buffer_t *` (see
// TileBuffer) with f32 or int32 elements, or those of TileArg::storage. Its
// `min` is 0 in every dimension but a strip's and the rows of an unbounded
// prepared table. Strides count elements. Offsets within one buffer are
// computed in 32 bits: (extent - 1) * stride must stay below 2^31 in every
// dimension, so the driver cuts long runs of keys.
//
// Functions allocate nothing; they take 160 to 400 KB of stack and write
// nothing but the buffers listed as written.
#ifndef POSENC_HALIDE_TILESIGNATURE_H
#define POSENC_HALIDE_TILESIGNATURE_H

#include "posenc/IR/Posenc.h"

#include <string>
#include <vector>

namespace posenc {

// In packed plans whose query heads share key heads, the heads of a tile are a
// dimension of their own: rows are pairs of them and n counts queries. It comes
// last in a strip and in tables over heads, and before the rows in Query,
// Output, LogSumExp and Angles, of queries.
enum class TileArgKind {
  // Buffers that are read. Extents are given innermost dimension first; n is
  // the number of valid rows of the tile, m the number of keys of the run.
  Query, // f32 (head_dim, n), stride 1 in dimension 0
  Key,   // f32 (head_dim, m), stride 1 in dimension 0. Symbol "": the caller's;
         // "<i>": result i of posenc.keys
  Value, // f32 (value_dim, m), stride 1 in dimension 0. In the key function one
         // more than m if the call has one
  ValuePairs, // bf16 (2 * value_dim, m), stride 1 in dimension 0: numbers of a
              // key and of the next one, channel by channel
  OwnValue,   // f32 (value_dim, n), stride 1 in dimension 0: for row i of the
              // call the value of key i + Lk - Lq; Lq must not exceed Lk
  AllQueries, // f32 (head_dim, heads, n), stride 1 in dimension 0: the caller's
              // queries of all heads, which the call must hold
  AllKeys,    // f32 (head_dim, kv_heads, m), in the key transform, likewise
  // The factors of codes: f32, any strides.
  KeyScales,      // (m), of Key ""
  AllKeyScales,   // (kv_heads, m)
  ValueScales,    // (m)
  OwnValueScales, // (n)

  Angles,    // f32 (2 * pairs, n), stride 1: cosines, then sines, of each
             // row (of each key in the key transform)
  KeyAngles, // f32 (2 * pairs, m), likewise of each key, where tiles transform
             // keys
  Strip,     // f32 (any), stride 1: entry i - j for row i and key j of this
             // call. Covers queries 0 .. TileFunction::queries - 1, also
             // those beyond n, and keys 0 .. m - 1
  Table,     // f32, the slice of this head and batch entry; see TileArg::dims
  PreparedTable,  // the same of a posenc.prepare of kind rows
  QueryPositions, // int32 (n), any stride
  KeyPositions,   // int32 (m), any stride
  // Of plans with `indirect`: int32 (m), stride 1: where the row of each key
  // begins, as the index in dimension 1 (the last of AllKeys) of the Key "",
  // AllKeys and Value.
  KeyRows,
  ValueRows,
  OwnValueRows, // int32 (n), stride 1: the same for OwnValue
  // The same for KeyScales and AllKeyScales, ValueScales, OwnValueScales.
  KeyScaleRows,
  ValueScaleRows,
  OwnValueScaleRows,
  // Scores around the posenc.head_mlp with that number; stride 1 in
  // dimension 0.
  AllScores, // f32 (rows, m', inputs * heads): what it takes, input by input.
             // The min of dimension 1 is that of the first key it sees, counted
             // from the first result
  Mixed,     // f32 (rows, m): what it gives this head

  // Of chunks: n tokens, all sums of the state one behind the other.
  Decays, // f32 (any), stride 1: entry t is the decay over t tokens, at least
          // up to n
  StateBefore, // f32 (getStateWidth(), rows of the state), stride 1 and
               // getStateWidth(): columns behind value_dim are 0
  SumsBefore,  // f32 (rows of the sums), stride 1

  // Numbers, int32.
  Rows,       // valid rows
  KeyCount,   // m
  QueryBegin, // storage index of row 0
  QueryShift, // Lk - Lq: what terms aligned bottom_right add to it
  KeyBegin,   // storage index of key 0 (of the run, of the key transform)
  StepEnd,    // key of this call at which the step stops; not below that of the
              // step before; a multiple of the plan's `keys` after it for steps
              // of whole blocks; m for the last step
  First,      // 1: the state is initialised, 0: it is continued
  DropoutWord, // of plans that drop weights, by symbol: "0" and "1" are the key
               // of Philox4x32-10, "2" and "3" the last words of its counters;
               // see posenc.drop_weights

  // Buffers that are written.
  State,          // f32 (stateRows, stateColumns), compact, 64-byte aligned;
                  // read too unless First. See TileState
  Scan,           // f32 (rows, 2 * m), compact, 64-byte aligned: scratch of
                  // the posenc.rowscan with that number. Such a plan has one
                  // run
  Output,         // f32 (value_dim, n), stride 1 in dimension 0; extent 0 in
                  // dimension 1 when more runs follow: nothing is written
  LogSumExp,      // f32 (n), any stride; extent 0 when not wanted. Only of
                  // kinds of normalisation that have one
  TransformedKey, // f32 (head_dim, m), stride 1 in dimension 0. Symbol "<i>":
                  // result i of posenc.keys
  PairedValue,    // bf16: what is read as ValuePairs. The last key of the call
                  // is its own next
  StateBehind,    // StateBefore, in its place
  SumsBehind,     // SumsBefore, in its place
  HeadScores,     // f32 (rows, m, inputs), stride `rows` in dimension 1: what a
                  // posenc.head_mlp takes of this head. There is memory behind
                  // the last key: see kKeysBehind
  AllMixed,       // f32 (rows, m, heads), likewise: what it gives all heads
};

/// Columns of a state, numbers of each row, then its output: column after
/// column, or with outputColumns so many columns for the output of each row.
/// States of different keys for the same rows merge: with kinds of
/// normalisation that exponentiate, sums are in units of 2^Maximum.
struct TileState {
  enum Column {
    Factor = 0,  // two columns that mean nothing between calls
    Maximum = 2, // of base-2 scores, if they are exponentiated
    FirstSum = 3 // from here on
  };
};

/// How the numbers of a buffer of queries, keys, values, outputs or an operand
/// are stored; arithmetic is f32. For Halide those of 16 bits are uint16, and
/// f8E4M3FN is uint8.
enum class Storage { F32, BF16, F16, I8, F8 };
/// That of a type; null is f32.
Storage getStorage(mlir::Type type);
unsigned getStorageBits(Storage storage);
/// Whether numbers are codes, which have scales.
inline bool hasScales(Storage storage) { return getStorageBits(storage) == 8; }

struct TileArg {
  TileArgKind kind;
  /// Angles, Strip, PreparedTable: the posenc.prepare. StepEnd: the
  /// posenc.step. Tables that are operands: the operand's name. Positions: the
  /// operand's name, and ".<axis>" behind it for an axis above 0.
  std::string symbol;
  /// Dimensions of the buffer; 0 for numbers.
  int64_t rank = 0;
  /// int32 rather than f32.
  bool isInteger = false;
  Storage storage = Storage::F32;
  /// Table: its law (#posenc.operand or #posenc.constants) and type. Two uses
  /// of an equal law and type are one argument. PreparedTable: the type.
  /// Positions: the #posenc.position_tensor.
  mlir::Attribute law;
  TableType type;
  /// Table, PreparedTable: what its dimensions count, innermost first: the axes
  /// of its type without `head` and `batch`, in the order channel, key, query,
  /// row (key: m, query: n). In a network and where a tile has several heads
  /// `head` comes last. Empty for a table over heads alone, which has one
  /// dimension of extent 1. Strides are free,
  /// but a stride of 1 in dimension 0 is fast. With both a query and a key
  /// dimension, values of -1e30 and below mask the pair.
  llvm::SmallVector<TableAxis> dims;
  /// A table over keys that posenc.at_query reads: `type` has the key axis, and
  /// `dims` the query in its place. Row i of the call reads key i + Lk - Lq
  /// (bottom_right; Lq must not exceed Lk) or key i (top_left).
  bool isAtQuery = false;
  /// Of QueryPositions and of tables with `isAtQuery`.
  Alignment alignment = Alignment::bottom_right;
  /// PreparedTable: the prepare yields a relation, whose values are the indices
  /// of the row dimension: its min is the lowest value of the call.
  bool hasRelationRows = false;
  /// PreparedTable: a dimension of extent 2 behind `dims` holds each number in
  /// two parts, its f32 and what rounding has cut off.
  bool hasRest = false;

  /// The name of the parameter, unique in its function.
  std::string getName() const;
};

struct TileFunction {
  std::string symbol;
  llvm::SmallVector<TileArg> args;
  /// Rows of the tile and its state: stateRows * stateColumns floats. 0 for the
  /// key transform.
  int64_t rows = 0;
  int64_t stateRows = 0, stateColumns = 0;
  /// Columns of the state for the output of each row; 0: rows are those of the
  /// state throughout.
  int64_t outputColumns = 0;
  /// Heads of the tile, which its rows alternate between, and the queries that
  /// rows belong to.
  int64_t group = 1, queries = 0;
};

/// Whether a tile has several heads, which are a dimension of its buffers.
bool hasHeadDimension(PlanOp plan);

/// The functions of a chunk, for as many tokens as `outputs` has rows and
/// fewer.
struct ChunkFunctions {
  /// Arguments: Query, Key ..., Value, Decays, Rows, what the prologue reads,
  /// StateBefore, SumsBefore, QueryBegin, QueryShift, Output. Behind keys and
  /// values that are codes stand their scales.
  TileFunction outputs;
  /// Arguments: Key ..., Value, Decays, Rows, StateBehind, SumsBehind.
  TileFunction state;
};

/// `<plan>_outputs<rows>` and `<plan>_state<rows>` for each entry of `rows` of
/// a plan with a posenc.chunk, in that order. Fails as getTileFunctions() does.
mlir::FailureOr<std::vector<ChunkFunctions>> getChunkFunctions(PlanOp plan);

/// The columns of a state in the scratch of a worker: whole vectors.
int64_t getStateWidth(int64_t valueDim);

/// The steps that are stages of a tile function: all but one with `maximum`,
/// whose keys come in calls of their own and belong to the last step.
llvm::SmallVector<StepOp> getTileSteps(PlanOp plan);

/// `<plan>_tile<rows>` for each entry of `rows`, in that order. Fails with a
/// diagnostic at the plan when no generator exists for its isa, or rows or keys
/// do not suit it.
mlir::FailureOr<llvm::SmallVector<TileFunction>> getTileFunctions(PlanOp plan);

/// `<plan>_keys`: transforms a run of keys and of their values; none when the
/// plan reads these where they lie, or is packed: it has those of the plan
/// beside it, or transforms keys in its tiles. Arguments: Key, what its
/// operations read (Angles, Table, PreparedTable, AllKeys, KeyPositions,
/// KeyBegin), and a TransformedKey for each result of posenc.keys that is not
/// the keys themselves; for products of pairs Value and PairedValue.
std::optional<TileFunction> getKeyFunction(PlanOp plan);

/// Whether each number of a prepared table is stored in two parts: differences
/// of long sums would keep too little of one f32.
bool isStoredInParts(mlir::Value table);

/// The channels of a loaded table of posenc.tile.factors; nothing for others.
std::optional<int64_t> getFactorChannels(mlir::Value table);

/// Keys behind the last for which HeadScores and AllMixed have memory: they are
/// written in whole groups of keys.
constexpr int64_t kKeysBehind = 16;

/// The functions of one posenc.head_mlp of a plan's step, which stand before a
/// tile function. For each run of keys `scores` is called for each head, then
/// `network` once for all, then the next one, then the tile function for each
/// head.
struct NetworkFunctions {
  /// Arguments: what a tile function reads for its scores, Mixed of the
  /// networks before this one, HeadScores.
  TileFunction scores;
  /// Arguments: tables with all their heads, AllScores, AllMixed.
  TileFunction network;
  int64_t inputs = 0; // scores of a head
  int64_t reach = 0;  // keys on either side that a result depends on
};

/// `<tile>_scores<i>` and `<tile>_network<i>` for the networks of the plan, in
/// order.
std::vector<NetworkFunctions> getNetworkFunctions(PlanOp plan,
                                                  const TileFunction &tile);

/// The networks of a plan, and the number of one of them.
llvm::SmallVector<HeadMlpOp> getNetworks(PlanOp plan);
std::string getNetworkSymbol(HeadMlpOp op);

/// The symbol of the Key argument behind result `index` of posenc.keys.
std::string getKeySymbol(PlanOp plan, unsigned index);

/// The memory layout of `struct halide_buffer_t`, for callers that build one.
/// type is {code: u8, bits: u8, lanes: u16}; dim points to {min, extent,
/// stride, flags}, all int32, for each dimension. Only these need be set:
/// host, type, dimensions and dim.
struct TileBuffer {
  static constexpr unsigned kBytes = 56;
  static constexpr unsigned kHostOffset = 16, kTypeOffset = 32,
                            kDimensionsOffset = 36, kDimOffset = 40;
  static constexpr unsigned kDimBytes = 16;
  static constexpr unsigned kTypeCodeFloat = 2, kTypeCodeInt = 0,
                            kTypeCodeUint = 1;
};

} // namespace posenc

#endif // POSENC_HALIDE_TILESIGNATURE_H
