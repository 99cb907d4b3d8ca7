// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All identities together keep what kernels with named encodings compute.
#include "IdentityTest.h"

#include "posenc/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace posenc;

namespace {

const char *const encodings[] = {
    R"(#posenc.rope)",
    R"(#posenc.rope<scaling = #posenc.yarn<factor = 4.0>>)",
    R"(#posenc.rope<dims = 4, scaling = #posenc.yarn<factor = 4.0>>)",
    R"(#posenc.rope<scaling = #posenc.dynamic_ntk<original_length = 9>>)",
    R"(#posenc.rope<pairing = interleaved, placement = last, dims = 4>)",
    R"(#posenc.xpos)",
    R"(#posenc.mrope<sections = [1, 2, 1]>)",
    R"(#posenc.axial_rope<grid_width = 4>)",
    R"(#posenc.mixed_rope<grid_width = 4>)",
    R"(#posenc.fope)",
    R"(#posenc.rerope<window = 3>)",
    R"(#posenc.rerope<window = 3, rope = <scaling = #posenc.yarn<factor = 4.0>>>)",
    R"(#posenc.leaky_rerope<window = 3, leak = 3.0>)",
    R"(#posenc.self_extend<window = 3, group = 2>)",
    R"(#posenc.rope_bias<form = outside>)",
    R"(#posenc.rope_bias)",
    R"(#posenc.log_n<length = 8>, #posenc.rope)",
    R"(#posenc.query_temperature, #posenc.rope<scaling = #posenc.yarn<factor = 4.0>>)",
    R"(#posenc.rope, #posenc.qk_norm)",
    R"(#posenc.rope, #posenc.qk_norm, #posenc.query_temperature)",
    R"(#posenc.qk_norm, #posenc.rope<scaling = #posenc.yarn<factor = 4.0>>, #posenc.log_n<length = 8>)",
    R"(#posenc.key_norm, #posenc.rope)",
    R"(#posenc.cosine_attention)",
    R"(#posenc.alibi)",
    R"(#posenc.alibi<preset = "hf-falcon">)",
    R"(#posenc.t5_bias)",
    R"(#posenc.kerple)",
    R"(#posenc.fire)",
    R"(#posenc.sandwich)",
    R"(#posenc.tupe)",
    R"(#posenc.toeplitz_bias<max_distance = 5>)",
    R"(#posenc.dense_bias)",
    R"(#posenc.swin_v2_bias)",
    R"(#posenc.beit_bias)",
    R"(#posenc.shaw)",
    R"(#posenc.nezha)",
    R"(#posenc.transformer_xl)",
    R"(#posenc.xlnet)",
    R"(#posenc.tener)",
    R"(#posenc.deberta)",
    R"(#posenc.cope)",
    R"(#posenc.fox)",
    R"(#posenc.stick_breaking)",
    R"(#posenc.retention)",
    R"(#posenc.retention_decay)",
    R"(#posenc.linear_attention)",
    R"(#posenc.softcap<cap = 5.0>, #posenc.rope)",
    R"(#posenc.attention_sink, #posenc.rope<scaling = #posenc.yarn<factor = 4.0>>, #posenc.alibi)",
    R"(#posenc.mtf_contextual)",
    R"(#posenc.dape)",
    R"(#posenc.complex_attention)",
};

class EncodingsTest : public IdentityTest,
                      public testing::WithParamInterface<const char *> {};

TEST_P(EncodingsTest, IdentitiesKeepWhatIsComputed) {
  // Positions that do not start at 0, and a mask that every encoding takes.
  auto before = parse("posenc.kernel @k heads(2) head_dim(8) "
                      "mask(#posenc.causal) "
                      "positions(#posenc.iota<offset = 29>) encode [" +
                      std::string(GetParam()) + "]");
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
                         testing::ValuesIn(encodings),
                         [](const testing::TestParamInfo<const char *> &info) {
                           std::string name = std::to_string(info.index);
                           for (const char *c = info.param; *c; ++c)
                             if (std::isalnum(static_cast<unsigned char>(*c)))
                               name += *c;
                           return name;
                         });

} // namespace
