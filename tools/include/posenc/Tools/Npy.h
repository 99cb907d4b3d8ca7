// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes NumPy's .npy files, the arrays of the command-line tools.
//
// Files of format 1.0, 2.0 and 3.0 are read. Anything that is not an array of
// one of the element types below is refused with one sentence,
// `FILE: expected ..., found ...`; no input makes the reader allocate more than
// a small multiple of the file's size.

#ifndef POSENC_TOOLS_NPY_H
#define POSENC_TOOLS_NPY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace posenc {

/// NumPy has no bfloat16: such arrays are stored as '<u2'. They are read as
/// U16, and only the caller can say that they are BF16 (asBF16()).
enum class NpyType { F64, F32, F16, BF16, I64, I32, I8, U16, U8, Bool };

/// "f32", "bf16", ...
llvm::StringRef stringifyNpyType(NpyType type);
size_t getNpyTypeSize(NpyType type);

/// An array in C order with little-endian elements.
struct NpyArray {
  NpyType type = NpyType::F32;
  llvm::SmallVector<int64_t> shape;
  std::vector<char> data;
  /// The file that it came from, for messages.
  std::string name = "array";

  /// The array of `type` that holds `values`, rounded to the nearest, ties to
  /// even. Refuses a finite value that `type` cannot hold, a fraction for an
  /// integer type, and a number of values that is not the shape's.
  static llvm::Expected<NpyArray> fromDoubles(NpyType type,
                                              llvm::ArrayRef<int64_t> shape,
                                              llvm::ArrayRef<double> values);
  static llvm::Expected<NpyArray> fromFloats(llvm::ArrayRef<int64_t> shape,
                                             llvm::ArrayRef<float> values);

  int64_t getNumElements() const;

  /// The same bits as bfloat16; refuses other arrays than U16.
  llvm::Expected<NpyArray> asBF16() const;

  /// The elements as another type. Floating-point values are rounded to the
  /// nearest; one that overflows, an integer that is not exact in the result
  /// and a floating-point array asked for as integers are refused.
  llvm::Expected<std::vector<double>> toDoubles() const;
  llvm::Expected<std::vector<float>> toFloats() const;
  llvm::Expected<std::vector<int32_t>> toInt32s() const;
};

/// Parses the contents of a file; `name` is for messages.
llvm::Expected<NpyArray> parseNpy(llvm::StringRef contents,
                                  llvm::StringRef name);

llvm::Expected<NpyArray> readNpy(llvm::StringRef path);

/// Format 1.0, data at a multiple of 64 bytes. The same array gives the same
/// bytes.
std::string serializeNpyHeader(const NpyArray &array);

/// An array and where it is to be.
struct NpyFile {
  std::string path;
  const NpyArray *array;
};

/// Writes to temporary files in the same folders and renames them when all are
/// written: after a failure, an interrupt included, every path is what it was
/// before. A path that is a device or a pipe is written to directly.
llvm::Error writeNpyFiles(llvm::ArrayRef<NpyFile> files);
llvm::Error writeNpy(llvm::StringRef path, const NpyArray &array);

} // namespace posenc

#endif // POSENC_TOOLS_NPY_H
