// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The prepared buffer: its layout and the code that fills it.
//
// Tables follow one another in the order of the plan's posenc.prepare, each
// aligned to 64 bytes, f32, row-major:
//   angles  a row for each position that occurs: cosines, then sines. Counted
//           positions: max(Lq, Lk) rows from the lowest position on; a tensor
//           of positions: its B * Lk elements.
//   strip   a row for each head that differs; distances p_i - p_j rising from
//           that of the first query and the last key, over Lq + Lk - 1 entries
//           and as many more as a tile has rows, which are read but not used.
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
/// entry; rows of tokens that follow one another do too.
mlir::Value emitAnglesRow(DriverBuilder &b, DriverFrame frame,
                          DriverKernel &kernel, llvm::StringRef table,
                          Side side, mlir::Value batch, mlir::Value token);

/// The entry of a strip for a query, a key and a head of the call.
mlir::Value emitStripEntry(DriverBuilder &b, DriverFrame frame,
                           DriverKernel &kernel, llvm::StringRef table,
                           mlir::Value head, mlir::Value query,
                           mlir::Value key);

/// f32 numbers per row of a table of angles.
int64_t getAnglesColumns(DriverKernel &kernel, llvm::StringRef table);

/// The value of a strip, f64, at a distance p_query - p_key. `head` counts what
/// table.heads says.
mlir::Value emitStripValue(DriverBuilder &b, DriverFrame frame,
                           DriverKernel &kernel, DriverTable &table,
                           mlir::Value head, mlir::Value distance);

/// Lk - Lq or 0: what is added to a query row to find its key.
mlir::Value emitQueryShift(DriverBuilder &b, DriverFrame frame,
                           Alignment alignment);

} // namespace posenc

#endif // POSENC_LIB_TRANSFORMS_DRIVERTABLES_H
