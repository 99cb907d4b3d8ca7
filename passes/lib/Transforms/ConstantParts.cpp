// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of bias regions that depend on one constant table only are evaluated
// once, into a constant table.
#include "ScoreIdentities.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace posenc;

namespace {

/// What a value of a region depends on.
struct Source {
  enum Kind { Literals, OneTable, Other } kind = Literals;
  unsigned argument = 0; // of OneTable

  Source join(Source other) const {
    if (kind == Literals)
      return other;
    if (other.kind == Literals || (kind == OneTable && other.kind == OneTable &&
                                   argument == other.argument))
      return *this;
    return {Other};
  }
};

class ConstantParts {
public:
  explicit ConstantParts(BiasOp bias)
      : bias(bias), body(bias.getBody().front()) {}

  bool fold();

private:
  ConstantsAttr getConstants(unsigned argument) {
    auto table = bias.getInputs()[argument].getDefiningOp<TableOp>();
    return table ? dyn_cast<ConstantsAttr>(table.getLaw()) : ConstantsAttr();
  }
  void findSources();
  std::optional<SmallVector<double>> evaluate(Operation *root);
  Attribute evaluateAt(ArrayRef<Operation *> slice, unsigned argument,
                       double value);
  void replace(Operation *root, ArrayRef<double> values);
  void dropUnusedInputs();

  BiasOp bias;
  Block &body;
  llvm::DenseMap<Value, Source> sources;
};

} // namespace

void ConstantParts::findSources() {
  for (BlockArgument argument : body.getArguments())
    sources[argument] = getConstants(argument.getArgNumber())
                            ? Source{Source::OneTable, argument.getArgNumber()}
                            : Source{Source::Other};
  for (Operation &op : body.without_terminator()) {
    Source source;
    for (Value operand : op.getOperands())
      source = source.join(sources[operand]);
    sources[op.getResult(0)] = source;
  }
}

/// Runs a slice of the region, which ends with the operation of interest, with
/// the folders of its operations. Null if one of them cannot.
Attribute ConstantParts::evaluateAt(ArrayRef<Operation *> slice,
                                    unsigned argument, double value) {
  llvm::DenseMap<Value, Attribute> values;
  Builder builder(bias.getContext());
  values[body.getArgument(argument)] = builder.getF64FloatAttr(value);
  Attribute result;
  for (Operation *original : slice) {
    if (auto literal = dyn_cast<arith::ConstantOp>(original)) {
      values[literal] = result = literal.getValue();
      continue;
    }
    // A folder may also change its operation, for example the order of the
    // operands, and say that it has succeeded.
    Operation *op = original->clone();
    result = {};
    for (unsigned attempt = 0; attempt < 4 && !result; ++attempt) {
      auto operands = llvm::map_to_vector(
          op->getOperands(), [&](Value operand) { return values[operand]; });
      SmallVector<OpFoldResult> results;
      if (failed(op->fold(operands, results)))
        break;
      if (!results.empty()) {
        result = dyn_cast<Attribute>(results[0]);
        if (!result)
          result = values[cast<Value>(results[0])];
      }
    }
    op->destroy();
    if (!result)
      return {};
    values[original->getResult(0)] = result;
  }
  return result;
}

/// The value of `root` for each constant of the table that it depends on.
std::optional<SmallVector<double>> ConstantParts::evaluate(Operation *root) {
  llvm::SetVector<Operation *> needed;
  needed.insert(root);
  for (size_t i = 0; i < needed.size(); ++i)
    for (Value operand : needed[i]->getOperands())
      if (Operation *definition = operand.getDefiningOp())
        needed.insert(definition);
  SmallVector<Operation *> slice = needed.takeVector();
  llvm::sort(slice,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  unsigned argument = sources[root->getResult(0)].argument;
  SmallVector<double> values;
  for (double constant : getConstants(argument).getValues().asArrayRef()) {
    auto value =
        dyn_cast_or_null<FloatAttr>(evaluateAt(slice, argument, constant));
    if (!value)
      return std::nullopt;
    values.push_back(value.getValueAsDouble());
  }
  return values;
}

/// Puts a table of `values` behind the one that `root` depends on.
void ConstantParts::replace(Operation *root, ArrayRef<double> values) {
  unsigned argument = sources[root->getResult(0)].argument;
  auto table = bias.getInputs()[argument].getDefiningOp<TableOp>();
  OpBuilder builder(table);
  builder.setInsertionPointAfter(table);
  MLIRContext *context = builder.getContext();
  Value folded = TableOp::create(
      builder, root->getLoc(), table.getType(),
      ConstantsAttr::get(context, DenseF64ArrayAttr::get(context, values),
                         cast<ConstantsAttr>(table.getLaw()).getChannels()));
  SmallVector<Value> inputs(bias.getInputs());
  inputs.insert(inputs.begin() + argument + 1, folded);
  bias.getInputsMutable().assign(inputs);
  Value replacement =
      body.insertArgument(argument + 1, builder.getF64Type(), root->getLoc());
  root->getResult(0).replaceAllUsesWith(replacement);
}

void ConstantParts::dropUnusedInputs() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  llvm::BitVector unused = getKeptInputs(bias);
  unused.flip();
  SmallVector<Value> inputs;
  for (auto [index, input] : llvm::enumerate(bias.getInputs()))
    if (!unused[index])
      inputs.push_back(input);
  bias.getInputsMutable().assign(inputs);
  body.eraseArguments(unused);
}

bool ConstantParts::fold() {
  findSources();
  // Backwards from the result, as far as an operation must stay.
  llvm::DenseSet<Value> live;
  live.insert_range(body.getTerminator()->getOperands());
  SmallVector<std::pair<Operation *, SmallVector<double>>> parts;
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    if (!live.contains(op.getResult(0)))
      continue;
    if (sources[op.getResult(0)].kind == Source::OneTable &&
        op.getResult(0).getType().isF64()) {
      if (std::optional<SmallVector<double>> values = evaluate(&op)) {
        parts.push_back({&op, std::move(*values)});
        continue;
      }
    }
    live.insert_range(op.getOperands());
  }
  if (parts.empty())
    return false;
  size_t before = llvm::range_size(body);
  // A new argument shifts those behind it, so the last comes first.
  llvm::sort(parts, [&](const auto &a, const auto &b) {
    unsigned left = sources[a.first->getResult(0)].argument;
    unsigned right = sources[b.first->getResult(0)].argument;
    return left != right ? left > right : b.first->isBeforeInBlock(a.first);
  });
  for (auto &[root, values] : parts)
    replace(root, values);
  dropUnusedInputs();
  reportPassed(bias.getLoc(), "ConstantPart",
               "evaluated " + llvm::Twine(before - llvm::range_size(body)) +
                   " operations on a constant table once for all scores");
  return true;
}

bool posenc::foldConstantParts(KernelOp kernel) {
  bool changed = false;
  for (BiasOp bias : kernel.getBody().getOps<BiasOp>())
    changed |= ConstantParts(bias).fold();
  return changed;
}
