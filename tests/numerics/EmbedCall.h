// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Input embeddings: specifications, inputs, and calls of what they compile to.
#ifndef POSENC_NUMERICS_EMBEDCALL_H
#define POSENC_NUMERICS_EMBEDCALL_H

#include "Fixture.h"

#include "posenc/Compiler/NativeKernel.h"
#include "posenc/Reference/Embed.h"
#include "posenc/Reference/Philox.h"

#include <memory>

namespace posenc::numerics {

/// An embedding, compiled and loaded, and its body.
struct LoadedEmbed {
  mlir::OwningOpRef<mlir::ModuleOp> module, expanded;
  EmbedOp embed;
  CompiledKernel compiled;
  std::unique_ptr<NativeKernel> native;

  /// Says what went wrong, or nothing.
  std::string load(llvm::StringRef text, const std::string &isa);
};

struct EmbedExtents {
  int64_t batch, length;
};

/// Random numbers for every tensor; integers are below `limit`.
EmbedInputs makeEmbedInputs(EmbedOp embed, EmbedExtents extents, int64_t limit,
                            unsigned seed);

struct EmbedOptions {
  /// Rows lie apart and tables are transposed, all within guarded memory.
  bool padded = false;
  posenc_pool *pool = nullptr;
  bool ownScratch = false;
};

/// Calls the compiled code; y is filled. Says what it did wrong besides its
/// numbers, or nothing.
std::string callEmbed(const LoadedEmbed &loaded, const EmbedInputs &inputs,
                      EmbedExtents extents, const EmbedOptions &options,
                      std::vector<float> &y);

/// What is written by hand: y[b, t, c] of an encoding.
struct EmbedFormula {
  const EmbedInputs &inputs;
  int64_t length, dim;

  double x(int64_t b, int64_t t, int64_t c) const {
    return inputs.x.data[(b * length + t) * dim + c];
  }
  int64_t integer(llvm::StringRef name, int64_t b, int64_t t) const {
    return inputs.positions.find(name)->second.data[b * length + t];
  }
  /// Of a table with `columns` columns.
  double table(llvm::StringRef name, int64_t row, int64_t column,
               int64_t columns) const {
    return inputs.tables.find(name)->second.data[row * columns + column];
  }
  double uniform(uint32_t stream, uint64_t number) const {
    return drawUniform(inputs.seed, inputs.offset, stream, number);
  }
};

struct EmbedCase {
  std::string name, clauses;
  int64_t dim, longest, limit;
  double (*formula)(const EmbedFormula &f, int64_t b, int64_t t, int64_t c);
};

/// Embeddings with their formulas (EmbedFormulas.cpp).
std::vector<EmbedCase> getEmbedCases();

} // namespace posenc::numerics

#endif // POSENC_NUMERICS_EMBEDCALL_H
