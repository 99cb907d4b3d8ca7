// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables as one head of one batch entry sees them.
#ifndef POSENC_REFERENCE_TABLES_H
#define POSENC_REFERENCE_TABLES_H

#include "Call.h"

#include <functional>
#include <memory>

namespace posenc {

/// A table whose head and batch are fixed.
struct Table {
  /// Element 0 of the first stored row.
  const double *data = nullptr;
  int64_t rowStride = 0, queryStride = 0, keyStride = 0, channelStride = 0;
  int64_t channels = 0;
  /// Rows [firstRow, firstRow + numRows) are stored.
  bool hasRow = false;
  int64_t firstRow = 0, numRows = 0;
  /// Makes the channels of any other row; a table without it ends with its
  /// rows, and indices are clamped to them.
  std::function<Numbers(int64_t)> computeRow;
  /// Whether -1e30 or less masks the pair.
  bool masks = false;
  /// What owns the data, unless an input does.
  std::shared_ptr<const Numbers> storage;

  /// The row that a real number looks up: the nearest.
  int64_t getRow(double index) const;
  double at(double row, int64_t query, int64_t key, int64_t channel) const;
  /// The channels of a row, one after the other; `scratch` may hold them.
  const double *getChannels(int64_t row, Numbers &scratch) const;
};

using Tables = llvm::DenseMap<mlir::Value, Table>;

/// The tables that no head or batch entry changes: functions of their index.
Tables makeSharedTables(const Call &call);
/// All tables of the body at batch entry `b` and head `head` of the call.
Tables makeTables(const Call &call, const Tables &shared, int64_t b,
                  int64_t head);

} // namespace posenc

#endif // POSENC_REFERENCE_TABLES_H
