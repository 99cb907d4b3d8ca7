// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TileContext.h"

using namespace posenc;
using Halide::Expr;

static Expr ceilDiv(Expr a, Expr b) { return (a + b - 1) / b; }

KeyBlocks::KeyBlocks(const TileShape &shape, Expr begin, Expr end, bool whole)
    : begin(begin), end(end), whole(whole) {
  int tile = static_cast<int>(shape.keys);
  int block = static_cast<int>(shape.block);
  Expr total = end - begin;
  if (whole) {
    blocks = total / block;
    length = block;
    groups = block / tile;
    return;
  }
  // As few blocks as fit, of equal length: a short last block would pay for the
  // state's update as much as a long one.
  int capacity = static_cast<int>(shape.blockCapacity());
  blocks = ceilDiv(total, capacity);
  groups = min(ceilDiv(ceilDiv(total, max(blocks, 1)), tile), capacity / tile);
  length = groups * tile;
}
