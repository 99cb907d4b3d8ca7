// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The prepared buffer: its layout and the code that fills it.
//
// Tables follow one another in the order of the plan's posenc.prepare, each
// aligned to 64 bytes, f32, row-major. Each has a part for each batch entry and
// head that differs, which holds (Lq and Lk are those that any sequence may
// have)
//   angles  a row for each token: cosines, then sines. Counted positions:
//           max(Lq, Lk) rows from the lowest position on, or Lq + Lk where
//           sequences differ in length; a tensor of positions: Lk rows. Tables
//           of the query side and of keys of new tokens have Lq rows;
//   strip   distances i - j of storage indices, rising from that of the first
//           query and the last key, over Lq + Lk - 1 entries and as many more
//           as a tile has rows, which are read but not used;
//   decays  distances from 0 to the tokens of a chunk or of the longest
//           sequence of new ones, whichever is less;
//   rows    the axes of the table's type but head and batch, in its order.
//           Rows without bounds are the relation's values, rising, over the
//           same pairs as a strip. Of a posenc.prefix_sum all numbers, then
//           what rounding has cut off each.
#ifndef POSENC_LIB_TRANSFORMS_DRIVERTABLES_H
#define POSENC_LIB_TRANSFORMS_DRIVERTABLES_H

#include "DriverFrame.h"
#include "DriverKernel.h"

namespace posenc {

/// The size of all tables.
mlir::Value emitPayloadBytes(DriverBuilder &b, DriverFrame frame,
                             DriverKernel &kernel);

/// Fills the tables at frame.prepared; the i32 status. `items` are the
/// functions of emitTableItems.
mlir::Value emitFillTables(DriverBuilder &b, DriverFrame frame,
                           DriverKernel &kernel,
                           llvm::ArrayRef<mlir::func::FuncOp> items);

/// For each table the function that fills a part of it.
llvm::SmallVector<mlir::func::FuncOp> emitTableItems(DriverBuilder &b,
                                                     DriverKernel &kernel);

/// The row of a table of angles for query `token` or key `token` of a batch
/// entry and a head of the call; rows of tokens that follow one another do too.
mlir::Value emitAnglesRow(DriverBuilder &b, DriverFrame frame,
                          DriverKernel &kernel, DriverTable &table, Side side,
                          mlir::Value batch, mlir::Value head,
                          mlir::Value token);

/// From the numbers of one head to those of the next; 0 where they are the
/// same.
mlir::Value emitPartStride(DriverBuilder &b, DriverFrame frame,
                           DriverKernel &kernel, DriverTable &table);

/// The entry of a strip for a query, a key and a head of the call.
mlir::Value emitStripEntry(DriverBuilder &b, DriverFrame frame,
                           DriverKernel &kernel, DriverTable &table,
                           mlir::Value head, mlir::Value query,
                           mlir::Value key);

/// The entries of a table of decays for a head of the call, and their number.
mlir::Value emitDecay(DriverBuilder &b, DriverFrame frame, DriverKernel &kernel,
                      DriverTable &table, mlir::Value head);
mlir::Value emitDecayCount(DriverBuilder &b, DriverFrame frame,
                           DriverKernel &kernel);

/// A table of rows: the part of a batch entry and a head of the call, and the
/// extent and stride of each axis of its type; null for head and batch.
struct PreparedRows {
  mlir::Value address;
  llvm::SmallVector<mlir::Value> extents, strides;
  mlir::Value lowestRow; // of rows without bounds; null for 0
  /// From a number to what its rounding has cut off; null without such.
  mlir::Value restStride;
};
PreparedRows emitPreparedRows(DriverBuilder &b, DriverFrame frame,
                              DriverKernel &kernel, DriverTable &table,
                              mlir::Value batch, mlir::Value head);

/// The value at a query and a key of the relation that looks up rows without
/// bounds.
mlir::Value emitRelationValue(DriverBuilder &b, DriverFrame frame,
                              RelationOp relation, mlir::Value query,
                              mlir::Value key);

/// The scratch of one scan along the rows of a tile.
mlir::Value emitScanBytes(DriverBuilder &b, DriverFrame frame,
                          DriverKernel &kernel);

/// The queries of a sequence, or the keys that are transformed: all, or those
/// that are appended to a cache.
mlir::Value emitTokens(DriverFrame frame, DriverKernel &kernel, Side side);

/// Lk - Lq or 0: what is added to a query row to find its key.
mlir::Value emitQueryShift(DriverBuilder &b, DriverFrame frame,
                           Alignment alignment);

/// The same of a sequence of the longest lengths.
mlir::Value emitLongestShift(DriverBuilder &b, DriverFrame frame,
                             Alignment alignment);

/// What is added to a query row to find its key in memory: 0 where the keys in
/// memory are those of the queries' tokens.
mlir::Value emitPlaceShift(DriverBuilder &b, DriverFrame frame,
                           DriverKernel &kernel, Alignment alignment);

/// Where the position of a side's token on the law's axis lies.
mlir::Value emitPositionAddress(DriverBuilder &b, DriverFrame frame,
                                DriverKernel &kernel, PositionTensorAttr law,
                                Side side, mlir::Value batch,
                                mlir::Value token);

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_DRIVERTABLES_H
