// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the tokens of a batch entry stand.
#include "Call.h"
#include "Lookup.h"

using namespace mlir;
using namespace posenc;

static Numbers readPositions(PositionOp op, const Call &call, int64_t b) {
  const CallShape &shape = call.shape;
  Numbers result(shape.getLength(op.getSide()));
  auto tensor = dyn_cast<PositionTensorAttr>(op.getLaw());
  bool isOwn = tensor && (op.getSide() == Side::key || tensor.hasOwnQueries());
  bool isQuery = op.getSide() == Side::query;
  if (auto law = dyn_cast<AppendedAttr>(op.getLaw())) {
    for (auto [t, position] : llvm::enumerate(result))
      position =
          static_cast<double>(shape.firstKey + law.getOffset() + int64_t(t));
    return result;
  }
  if (!tensor) {
    int64_t offset = cast<IotaAttr>(op.getLaw()).getOffset();
    int64_t first = isQuery ? shape.getFirstPlace(op.getLaw().getAlignment())
                            : shape.forgotten;
    for (auto [t, position] : llvm::enumerate(result))
      position = static_cast<double>(first + offset + int64_t(t));
    return result;
  }
  const IntTensor &given =
      call.inputs.positions.find(tensor.getTensor(op.getSide()))->second;
  int64_t length = isOwn ? shape.getLength(op.getSide()) : shape.keyLen;
  int64_t row = (tensor.getAxis() * shape.batch + b) * length;
  if (isQuery && !isOwn)
    row += shape.getFirstIndex(op.getLaw().getAlignment());
  for (auto [t, position] : llvm::enumerate(result))
    position = static_cast<double>(given.data[row + t]);
  return result;
}

Positions posenc::computePositions(const Call &call, int64_t b) {
  Positions positions;
  for (Operation &op : call.body)
    if (auto position = dyn_cast<PositionOp>(op)) {
      positions[position] = readPositions(position, call, b);
    } else if (auto remap = dyn_cast<RemapOp>(op)) {
      Numbers result =
          mapNumbers(remap.getBody(), positions[remap.getPosition()]);
      positions[remap] = std::move(result);
    }
  return positions;
}
