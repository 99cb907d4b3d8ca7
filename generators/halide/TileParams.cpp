// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TileParams.h"

using namespace posenc;
using Halide::ImageParam;

/// Outputs are Funcs of the pipeline, not parameters.
static bool isOutput(TileArgKind kind) {
  return kind == TileArgKind::State || kind == TileArgKind::Output ||
         kind == TileArgKind::LogSumExp || kind == TileArgKind::TransformedKey;
}

TileParams::TileParams(const TileFunction &function) {
  for (const TileArg &arg : function.args) {
    if (isOutput(arg.kind))
      continue;
    Param param;
    param.arg = arg;
    if (arg.rank == 0) {
      param.number = Halide::Param<int>(arg.getName());
    } else {
      param.buffer =
          ImageParam(arg.isInteger ? Halide::Int(32) : Halide::Float(32),
                     static_cast<int>(arg.rank), arg.getName());
      // Strips are the only buffers that do not start at 0, tables the only
      // ones whose innermost stride is free.
      for (int dim = 0; dim < arg.rank; ++dim)
        if (arg.kind != TileArgKind::Strip)
          param.buffer.dim(dim).set_min(0);
      if (arg.kind == TileArgKind::Table)
        param.buffer.dim(0).set_stride(Halide::Expr());
    }
    params.push_back(std::move(param));
  }
}

const TileParams::Param &TileParams::find(TileArgKind kind,
                                          llvm::StringRef symbol) const {
  for (const Param &param : params)
    if (param.arg.kind == kind && param.arg.symbol == symbol)
      return param;
  llvm_unreachable("not in the signature");
}

ImageParam TileParams::buffer(TileArgKind kind, llvm::StringRef symbol) const {
  return find(kind, symbol).buffer;
}

ImageParam TileParams::table(TableOp op) const {
  for (const Param &param : params)
    if (param.arg.kind == TileArgKind::Table && param.arg.law == op.getLaw() &&
        param.arg.type == op.getResult().getType())
      return param.buffer;
  llvm_unreachable("not in the signature");
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
