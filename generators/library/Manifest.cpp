// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The JSON manifest of a compiled kernel.
#include "Header.h"

#include "posenc/kernel_abi.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace posenc;

StringRef posenc::getCompilerVersion() { return POSENC_VERSION_STRING; }

StringRef posenc::getCompilerIdentity() {
  return
#include "CompilerIdentity.inc"
      ;
}

static void printTensors(llvm::json::OStream &json,
                         ArrayRef<KernelTensor> tensors) {
  for (const KernelTensor &tensor : tensors)
    json.object([&] {
      json.attribute("name", tensor.name);
      json.attribute("field", tensor.getField());
      json.attribute("dtype", tensor.getTypeName());
      json.attributeArray("shape", [&] {
        for (const Extent &extent : tensor.extents)
          json.value(extent.str());
      });
      json.attribute("output", tensor.isOutput);
      json.attribute("optional", tensor.isOptional);
      json.attribute("comment", tensor.comment);
    });
}

static std::string
printManifest(const CompiledKernel &compiled,
              function_ref<void(llvm::json::OStream &)> printShape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("kernel", compiled.name);
    json.attribute("posenc", getCompilerVersion());
    json.attribute("compiler", getCompilerIdentity());
    json.attribute("kernel_abi", POSENC_KERNEL_ABI);
    printShape(json);
    json.attribute("platform", compiled.platform);
    json.attributeArray("isas", [&] {
      for (const std::string &isa : compiled.isas)
        json.value(isa);
    });
    if (!compiled.tiles.empty())
      json.attributeArray("tiles", [&] {
        for (const CompiledTiles &tiles : compiled.tiles)
          json.object([&] {
            json.attribute("isa", tiles.isa);
            json.attribute("sizes", tiles.sizes);
            json.attribute("source", tiles.source);
          });
      });
    json.attributeArray("tensors",
                        [&] { printTensors(json, compiled.tensors); });
    if (!compiled.appendTensors.empty())
      json.attributeArray("append_tensors",
                          [&] { printTensors(json, compiled.appendTensors); });
    json.attributeArray("objects", [&] {
      for (const CompiledObject &object : compiled.objects)
        json.value(object.name);
    });
  });
  stream << "\n";
  return text;
}

static std::string getName(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::string posenc::makeManifest(KernelOp kernel,
                                 const CompiledKernel &compiled) {
  return printManifest(compiled, [&](llvm::json::OStream &json) {
    json.attribute("heads", int64_t(kernel.getHeads()));
    json.attribute("kv_heads", kernel.getNumKvHeads());
    json.attribute("head_dim", int64_t(kernel.getHeadDim()));
    json.attribute("value_dim", kernel.getValueSize());
    json.attribute("dtype", getName(kernel.getElementType()));
    json.attribute("kv_dtype", getName(kernel.getKeyElementType()));
    if (kernel.hasCache())
      json.attribute("key_cache", stringifyEnum(kernel.getKeyCache().value_or(
                                      KeyCache::raw)));
  });
}

std::string posenc::makeManifest(EmbedOp embed,
                                 const CompiledKernel &compiled) {
  return printManifest(compiled, [&](llvm::json::OStream &json) {
    json.attribute("entry", "embed");
    json.attribute("dim", int64_t(embed.getDim()));
    json.attribute("dtype", "f32");
  });
}
