// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arguments of tile functions, diagnostics and the objects themselves.
#include "TileHarness.h"

#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"

#include "gtest/gtest.h"

using namespace posenc;
using namespace posenc::test;

static std::vector<std::string> getNames(const TileFunction &function) {
  std::vector<std::string> names;
  for (const TileArg &arg : function.args)
    names.push_back(arg.getName());
  return names;
}

static PlanOptions getFullOptions() {
  PlanOptions options;
  options.pairing = "half";
  options.rotatedDims = 32;
  options.strip = true;
  options.causal = true;
  options.terms =
      "%i = posenc.position query law(#posenc.position_tensor)\n"
      "%j = posenc.position key law(#posenc.position_tensor)\n"
      "%r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)\n"
      "%d = posenc.table law(#posenc.constants<[2.0]>) : !posenc.table<head>\n"
      "%b = posenc.bias(%r, %d) : !posenc.relation, !posenc.table<head> {\n"
      "^bb0(%x: f64, %m: f64):\n%y = arith.mulf %x, %m : f64\n"
      "posenc.yield %y : f64\n}\n"
      "%p = posenc.tile.load_strip @strip0\n"
      "%c = posenc.add %s, %b\n"
      "%e = posenc.tile.to_base2 %c\n"
      "%t = posenc.add %e, %p\n";
  return options;
}

TEST(TileSignatureTest, OrderOfArguments) {
  CompiledPlan plan(makePlan(getFullOptions()));
  ASSERT_TRUE(plan.isValid()) << plan.getDiagnostics();
  ASSERT_EQ(plan.tiles.size(), 2u);
  const TileFunction &tile = plan.tiles[0].signature;
  EXPECT_EQ(tile.symbol, "k_tile48");
  EXPECT_EQ(tile.rows, 48);
  EXPECT_EQ(tile.stateColumns, 8 + 32);
  EXPECT_EQ(getNames(tile),
            (std::vector<std::string>{
                "q", "k_0", "v", "angles_angles0", "query_positions_positions",
                "key_positions_positions", "table_constants0", "strip_strip0",
                "rows", "key_count", "query_begin", "query_shift", "key_begin",
                "end_interior", "end_edge", "first", "state", "out", "lse"}));
  EXPECT_EQ(plan.tiles[1].signature.symbol, "k_tile32");
  ASSERT_EQ(plan.keyTransform.size(), 1u);
  const TileFunction &keys = plan.keyTransform[0].signature;
  EXPECT_EQ(keys.symbol, "k_keys");
  EXPECT_EQ(getNames(keys),
            (std::vector<std::string>{"k", "angles_angles0", "keys_0"}));
}

TEST(TileObjectsTest, OneSymbolEach) {
  CompiledPlan plan(makePlan(getFullOptions()));
  ASSERT_EQ(plan.getObjects().size(), 3u);
  for (const TileObject &object : plan.getObjects()) {
    auto file = llvm::cantFail(llvm::object::ObjectFile::createObjectFile(
        llvm::MemoryBufferRef(object.bytes, object.symbol)));
    std::vector<std::string> defined;
    for (const llvm::object::SymbolRef &symbol : file->symbols()) {
      uint32_t flags = llvm::cantFail(symbol.getFlags());
      if ((flags & llvm::object::SymbolRef::SF_Global) &&
          !(flags & llvm::object::SymbolRef::SF_Undefined))
        defined.push_back(llvm::cantFail(symbol.getName()).str());
    }
    EXPECT_EQ(defined, std::vector<std::string>{object.symbol});
    EXPECT_LE(object.bytes.size(), 32u * 1024);
  }
}

// Halide numbers its names through the life of the process.
TEST(TileObjectsTest, SameBytesWhateverCameBefore) {
  std::string text = makePlan(getFullOptions());
  CompiledPlan first(text);
  PlanOptions other;
  other.valueDim = 16;
  CompiledPlan between(makePlan(other));
  CompiledPlan second(text);
  ASSERT_EQ(first.getObjects().size(), second.getObjects().size());
  for (size_t i = 0; i < first.getObjects().size(); ++i)
    EXPECT_EQ(first.getObjects()[i].bytes, second.getObjects()[i].bytes);
}

TEST(TileObjectsTest, Assembly) {
  CompiledPlan plan(makePlan(PlanOptions()));
  auto assembly = emitTileObjects(plan.getPlan(), getHostPlatform(),
                                  /*emitAssembly=*/true);
  ASSERT_TRUE(mlir::succeeded(assembly));
  EXPECT_NE((*assembly)[0].bytes.find("vfmadd231ps"), std::string::npos);
}

static std::string getDiagnostic(const PlanOptions &options) {
  CompiledPlan plan(makePlan(options));
  EXPECT_FALSE(plan.isValid());
  return plan.getDiagnostics();
}

TEST(TileObjectsTest, UnknownInstructionSet) {
  PlanOptions options;
  options.isa = "pdp11";
  EXPECT_EQ(getDiagnostic(options),
            "'posenc.plan' op has no CPU generator for the instruction set "
            "'pdp11'; expected one of: x86-64-avx512-bf16, x86-64-avx512, "
            "x86-64-avx2, x86-64, aarch64");
}

TEST(TileObjectsTest, SizesThatDoNotSuit) {
  PlanOptions options;
  options.rows = "40";
  EXPECT_EQ(getDiagnostic(options),
            "'posenc.plan' op has rows of 40; expected a multiple of 16 up to "
            "256 on x86-64-avx512");
  options = PlanOptions();
  options.keys = 62;
  EXPECT_EQ(getDiagnostic(options),
            "'posenc.plan' op has keys(62); expected a multiple of 4 up to "
            "4096 on x86-64-avx512");
}
