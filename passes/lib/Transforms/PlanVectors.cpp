// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What posenc-plan does with the query and key vectors of a kernel.
#include "PlanVectors.h"
#include "PlanRemarks.h"

using namespace mlir;
using namespace posenc;

FailureOr<SmallVector<RotateOp>> posenc::collectRotations(Value vector) {
  SmallVector<RotateOp> rotations;
  while (Operation *op = vector.getDefiningOp()) {
    auto rotation = dyn_cast<RotateOp>(op);
    if (!rotation)
      return op->emitOpError("cannot be placed in a plan; expected "
                             "posenc.rotate between the kernel's vectors and "
                             "posenc.dot");
    if (rotation.getPositions().size() != 1 || !rotation.getMix().empty() ||
        !rotation.getModulus().empty() ||
        !rotation.getFreqs().front().getDefiningOp<FreqsOp>())
      return op->emitOpError(
          "cannot be placed in a plan; expected one position "
          "and constant frequencies, without a modulus or a "
          "mix");
    rotations.push_back(rotation);
    vector = rotation.getInput();
  }
  std::reverse(rotations.begin(), rotations.end());
  return rotations;
}

Value posenc::writeRotations(OpBuilder &builder, ArrayRef<RotateOp> rotations,
                             Value vector, PlanTables &tables) {
  for (RotateOp rotation : rotations) {
    auto position = rotation.getPositions().front().getDefiningOp<PositionOp>();
    FreqsLawAttrInterface freqs =
        rotation.getFreqs().front().getDefiningOp<FreqsOp>().getLaw();
    StringRef table =
        tables.getAngles(rotation.getLoc(), position.getLaw(), freqs);
    int64_t dims = 2 * freqs.getFrequencies().size();
    if (position.getSide() == Side::query)
      planned(rotation, "QueryRotation",
              "queries are rotated once per tile, by the prepared table @" +
                  table);
    else
      planned(rotation, "KeyRotation",
              "keys are rotated once per call and not once per query tile, by "
              "the prepared table @" +
                  table);
    vector = TileRotateOp::create(builder, rotation.getLoc(), vector, table,
                                  rotation.getPairing(), rotation.getFirstDim(),
                                  dims);
  }
  return vector;
}
