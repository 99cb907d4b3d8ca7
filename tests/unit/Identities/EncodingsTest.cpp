// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All identities together keep what kernels with named encodings compute.
#include "IdentityTest.h"

#include "support/EncodingList.h"

#include "posenc/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace posenc;

namespace {

class EncodingsTest : public IdentityTest,
                      public testing::WithParamInterface<std::string> {};

TEST_P(EncodingsTest, IdentitiesKeepWhatIsComputed) {
  llvm::StringRef clauses = GetParam();
  std::string text = "posenc.kernel @k heads(4) head_dim(16) ";
  if (!clauses.contains("kv_heads("))
    text += "kv_heads(2) ";
  // Positions that do not start at 0.
  if (!clauses.contains("positions("))
    text += clauses.contains("top_left")
                ? "positions(#posenc.iota<offset = 29, align = top_left>) "
                : "positions(#posenc.iota<offset = 29>) ";
  auto before = parse(text + clauses.str());
  OwningOpRef<ModuleOp> after = before->clone();
  PosencSimplifyScoresOptions options;
  options.networks = true;
  PassManager manager(&context);
  manager.addPass(createCSEPass());
  manager.addPass(createPosencSimplifyPositions());
  manager.addPass(createPosencSimplifyVectors());
  manager.addPass(createPosencSimplifyScores(options));
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  ASSERT_TRUE(succeeded(manager.run(*after)));
  KernelOp from = getKernel(*before), to = getKernel(*after);
  EXPECT_EQ(from.getOperandTensors().size(), to.getOperandTensors().size());
  for (Lengths size : lengths) {
    SCOPED_TRACE(std::to_string(size.queries) + " queries, " +
                 std::to_string(size.keys) + " keys");
    ReferenceInputs inputs = makeInputs(from, size);
    ReferenceOutputs wanted = evaluate(from, inputs),
                     got = evaluate(to, inputs);
    // Angles of other positions round elsewhere.
    EXPECT_LE(getDifference(got.scores, wanted.scores), 1e-11);
    EXPECT_LE(getDifference(got.o, wanted.o), 1e-11);
    EXPECT_LE(getDifference(got.lse, wanted.lse), 1e-11);
  }
}

INSTANTIATE_TEST_SUITE_P(Identities, EncodingsTest,
                         testing::ValuesIn(readEncodingList(POSENC_ENCODINGS)),
                         [](const testing::TestParamInfo<std::string> &info) {
                           std::string name = std::to_string(info.index);
                           for (char c : info.param)
                             if (std::isalnum(static_cast<unsigned char>(c)))
                               name += c;
                           return name;
                         });

} // namespace
