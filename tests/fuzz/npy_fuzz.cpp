// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fuzzes the .npy reader: any bytes are read or refused, and what is read is
// written and read again to the same array.

#include "FuzzTarget.h"

#include "posenc/Tools/Npy.h"

#include <cstdlib>

using namespace posenc;

static void require(bool condition) {
  if (!condition)
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef contents(reinterpret_cast<const char *>(data), size);
  llvm::Expected<NpyArray> array = parseNpy(contents, "input");
  if (!array) {
    std::string message = llvm::toString(array.takeError());
    require(llvm::StringRef(message).starts_with("input: expected ") &&
            llvm::StringRef(message).contains(", found "));
    return 0;
  }
  require(array->data.size() <= size);
  llvm::consumeError(array->toDoubles().takeError());
  llvm::consumeError(array->toFloats().takeError());
  llvm::consumeError(array->toInt32s().takeError());
  llvm::consumeError(array->asBF16().takeError());

  std::string file = serializeNpyHeader(*array) +
                     std::string(array->data.begin(), array->data.end());
  NpyArray again = llvm::cantFail(parseNpy(file, "again"));
  require(again.type == array->type && again.shape == array->shape &&
          again.data == array->data);
  return 0;
}

std::vector<std::string> posencFuzzSeeds() {
  std::vector<std::string> seeds;
  for (NpyType type :
       {NpyType::F64, NpyType::F32, NpyType::F16, NpyType::I64, NpyType::I32,
        NpyType::I8, NpyType::U16, NpyType::U8, NpyType::Bool}) {
    NpyArray array =
        llvm::cantFail(NpyArray::fromDoubles(type, {2, 3}, {0, 1, 0, 1, 1, 0}));
    std::string header = serializeNpyHeader(array);
    std::string data(array.data.begin(), array.data.end());
    seeds.push_back(header + data);
    size_t order = header.find("False, ");
    seeds.push_back(header.replace(order, 7, "True,  ") + data);
  }
  return seeds;
}
