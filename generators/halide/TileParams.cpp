// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TileParams.h"
#include "Numerics.h"

using namespace posenc;
using Halide::ImageParam;

/// Outputs are Funcs of the pipeline, not parameters.
static bool isOutput(TileArgKind kind) {
  return kind == TileArgKind::State || kind == TileArgKind::Output ||
         kind == TileArgKind::Scan || kind == TileArgKind::LogSumExp ||
         kind == TileArgKind::TransformedKey ||
         kind == TileArgKind::PairedValue || kind == TileArgKind::StateBehind ||
         kind == TileArgKind::SumsBehind || kind == TileArgKind::HeadScores ||
         kind == TileArgKind::AllMixed;
}

/// Real numbers of 16 or 8 bits are buffers of their bits.
static Halide::Type getType(const TileArg &arg) {
  if (arg.isInteger)
    return Halide::Int(32);
  switch (arg.storage) {
  case Storage::F32:
    return Halide::Float(32);
  case Storage::I8:
    return Halide::Int(8);
  default:
    return Halide::UInt(static_cast<int>(getStorageBits(arg.storage)));
  }
}

static bool hasFreeStride(TileArgKind kind) {
  switch (kind) {
  case TileArgKind::Table:
  case TileArgKind::PreparedTable:
  case TileArgKind::QueryPositions:
  case TileArgKind::KeyPositions:
  case TileArgKind::KeyScales:
  case TileArgKind::AllKeyScales:
  case TileArgKind::ValueScales:
  case TileArgKind::OwnValueScales:
    return true;
  default:
    return false;
  }
}

TileParams::TileParams(const TileFunction &function,
                       const InstructionSet &target)
    : hasHalf(target.halideTarget.contains("f16c") ||
              target.halideTarget.starts_with("arm-64")) {
  for (const TileArg &arg : function.args) {
    if (isOutput(arg.kind))
      continue;
    Param param;
    param.arg = arg;
    if (arg.rank == 0) {
      param.number = Halide::Param<int>(arg.getName());
    } else {
      param.buffer =
          ImageParam(getType(arg), static_cast<int>(arg.rank), arg.getName());
      // Strips, rows of relations and the keys of networks do not start at 0.
      for (int dim = 0; dim < arg.rank; ++dim)
        if (arg.kind != TileArgKind::Strip &&
            !(arg.kind == TileArgKind::AllScores && dim == 1) &&
            !(arg.hasRelationRows && dim < int64_t(arg.dims.size()) &&
              arg.dims[dim] == TableAxis::row))
          param.buffer.dim(dim).set_min(0);
      // The channels of a prepared table are its innermost axis.
      bool isDense = arg.kind == TileArgKind::PreparedTable &&
                     arg.type.getAxes().back() == TableAxis::channel;
      if (hasFreeStride(arg.kind) && !isDense)
        param.buffer.dim(0).set_stride(Halide::Expr());
    }
    params.push_back(std::move(param));
  }
}

const TileParams::Param &
TileParams::find(llvm::function_ref<bool(const TileArg &)> isRight) const {
  for (const Param &param : params)
    if (isRight(param.arg))
      return param;
  llvm_unreachable("not in the signature");
}

const TileParams::Param &TileParams::find(TileArgKind kind,
                                          llvm::StringRef symbol) const {
  return find([&](const TileArg &arg) {
    return arg.kind == kind && arg.symbol == symbol;
  });
}

bool TileParams::has(TileArgKind kind) const {
  return llvm::any_of(
      params, [&](const Param &param) { return param.arg.kind == kind; });
}

ImageParam TileParams::buffer(TileArgKind kind, llvm::StringRef symbol) const {
  return find(kind, symbol).buffer;
}

/// Where the rows of keys and values are, if anywhere, and their scales.
namespace {
struct RowKinds {
  TileArgKind rows, scales, scaleRows;
};
} // namespace
static std::optional<RowKinds> getRows(TileArgKind kind) {
  switch (kind) {
  case TileArgKind::Key:
    return RowKinds{TileArgKind::KeyRows, TileArgKind::KeyScales,
                    TileArgKind::KeyScaleRows};
  case TileArgKind::AllKeys:
    return RowKinds{TileArgKind::KeyRows, TileArgKind::AllKeyScales,
                    TileArgKind::KeyScaleRows};
  case TileArgKind::Value:
    return RowKinds{TileArgKind::ValueRows, TileArgKind::ValueScales,
                    TileArgKind::ValueScaleRows};
  case TileArgKind::OwnValue:
    return RowKinds{TileArgKind::OwnValueRows, TileArgKind::OwnValueScales,
                    TileArgKind::OwnValueScaleRows};
  default:
    return std::nullopt;
  }
}

Halide::Expr TileParams::findRow(TileArgKind rows, Halide::Expr number) const {
  if (!has(rows))
    return number;
  // Halide wants to know how far it reaches, although it never asks.
  return unsafe_promise_clamped(buffer(rows)(number), 0, 1 << 30);
}

Halide::Expr TileParams::stored(TileArgKind kind, std::vector<Halide::Expr> at,
                                llvm::StringRef symbol) const {
  std::optional<RowKinds> rows = getRows(kind);
  if (rows && symbol.empty())
    at.back() = findRow(rows->rows, at.back());
  return buffer(kind, symbol)(at);
}

Halide::Expr TileParams::code(TileArgKind kind, std::vector<Halide::Expr> at,
                              llvm::StringRef symbol) const {
  return widen(stored(kind, at, symbol), find(kind, symbol).arg.storage,
               hasHalf);
}

Halide::Expr TileParams::scaleAt(TileArgKind kind,
                                 std::vector<Halide::Expr> place) const {
  std::optional<RowKinds> rows = getRows(kind);
  if (!rows || !hasScales(find(kind, "").arg.storage))
    return Halide::Expr();
  place.back() = findRow(rows->scaleRows, place.back());
  return buffer(rows->scales)(place);
}

Halide::Expr TileParams::scale(TileArgKind kind, Halide::Expr row) const {
  return scaleAt(kind, {row});
}

Halide::Expr TileParams::element(TileArgKind kind, std::vector<Halide::Expr> at,
                                 llvm::StringRef symbol) const {
  Halide::Expr number = code(kind, at, symbol);
  if (!symbol.empty())
    return number;
  Halide::Expr scale = scaleAt(kind, {at.begin() + 1, at.end()});
  // Rounded here, whatever it is multiplied by next.
  return scale.defined() ? strict_float(number * scale) : number;
}

bool TileParams::isStoredPlainly(TileArgKind kind,
                                 llvm::StringRef symbol) const {
  std::optional<RowKinds> rows = getRows(kind);
  return find(kind, symbol).arg.storage == Storage::F32 &&
         !(rows && symbol.empty() && has(rows->rows));
}

Halide::Expr TileParams::Table::at(std::vector<Halide::Expr> index) const {
  return widen(buffer(index), storage, hasHalf);
}

TileParams::Table TileParams::table(mlir::Value table) const {
  auto atQuery = table.getDefiningOp<AtQueryOp>();
  if (atQuery)
    table = atQuery.getTable();
  auto load = table.getDefiningOp<TileLoadTableOp>();
  auto op = table.getDefiningOp<TableOp>();
  const Param &param = find([&](const TileArg &arg) {
    bool isRight = load ? arg.kind == TileArgKind::PreparedTable &&
                              arg.symbol == load.getTable()
                        : arg.kind == TileArgKind::Table &&
                              arg.law == op.getLaw() &&
                              arg.type == table.getType();
    return isRight && arg.isAtQuery == static_cast<bool>(atQuery) &&
           (!atQuery || arg.alignment == atQuery.getAlignment());
  });
  return {param.buffer, param.arg.dims, param.arg.hasRest, param.arg.storage,
          hasHalf};
}

ImageParam TileParams::positions(PositionOp op) const {
  auto law = llvm::cast<PositionTensorAttr>(op.getLaw());
  bool isQuery = op.getSide() == Side::query;
  return find([&](const TileArg &arg) {
           if (arg.kind != (isQuery ? TileArgKind::QueryPositions
                                    : TileArgKind::KeyPositions))
             return false;
           auto other = llvm::cast<PositionTensorAttr>(arg.law);
           return other.getTensor(op.getSide()) ==
                      law.getTensor(op.getSide()) &&
                  other.getAxis() == law.getAxis() &&
                  (!isQuery || arg.alignment == law.getAlign());
         })
      .buffer;
}

Halide::Expr TileParams::number(TileArgKind kind,
                                llvm::StringRef symbol) const {
  return find(kind, symbol).number;
}

std::vector<Halide::Argument> TileParams::inputs() const {
  std::vector<Halide::Argument> inputs;
  for (const Param &param : params) {
    if (param.arg.rank == 0)
      inputs.emplace_back(param.number);
    else
      inputs.emplace_back(param.buffer);
  }
  return inputs;
}
