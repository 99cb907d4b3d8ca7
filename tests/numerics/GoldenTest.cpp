// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference against the numbers of golden.json, which come from
// implementations of each scheme's publication.
#include "Fixture.h"
#include "TestRun.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <limits>

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

namespace {
struct GoldenCase {
  const char *name;
  const char *spec; // after `heads(2) head_dim(4)`
  /// A table of the golden file's generator: its name, rows and seed.
  const char *table = nullptr;
  int64_t rows = 0, seed = 0;
};
} // namespace

static const char *const body = R"(
  ^bb0(%q: !posenc.query, %k: !posenc.key, %v: !posenc.value):
    %i = posenc.position query law(#posenc.iota)
    %j = posenc.position key law(#posenc.iota)
    %r = posenc.relation %i, %j law(#posenc.difference<query_minus_key>)
    %s = posenc.dot %q, %k scale(0.5)
    BODY
    %u = posenc.select %t mask(#posenc.causal)
    %p = posenc.normalize softmax %u
    %o = posenc.weighted_sum %p, %v
    posenc.yield %o : !posenc.output
  })";

static const GoldenCase goldenCases[] = {
    {"nope_causal", "mask(#posenc.causal) encode [#posenc.nope]"},
    {"nope_full", ""},
    {"rope_half", "mask(#posenc.causal) encode [#posenc.rope]"},
    {"rope_interleaved",
     "mask(#posenc.causal) encode [#posenc.rope<pairing = interleaved>]"},
    {"rope_partial2_half",
     "mask(#posenc.causal) encode [#posenc.rope<dims = 2>]"},
    {"rope_abf500k_half",
     "mask(#posenc.causal) encode [#posenc.rope<base = 5.0e5>]"},
    {"rope_ntk2_half",
     "mask(#posenc.causal) encode [#posenc.rope<base = 40000>]"},
    {"alibi_causal", "mask(#posenc.causal) encode [#posenc.alibi]"},
    {"alibi_sym", "encode [#posenc.alibi<form = symmetric>]"},
    {"t5_bidir",
     "scale(1.0) encode [#posenc.t5_bias<buckets = 8, max_distance = 16, "
     "direction = bidirectional>]",
     "t5_bias.table", 8, 5},
    {"t5_causal",
     "scale(1.0) mask(#posenc.causal) encode [#posenc.t5_bias<buckets = 8, "
     "max_distance = 16>]",
     "t5_bias.table", 8, 5},
    // Schemes without a name, written as bodies.
    {"alibi_falcon_scaled", R"(
    %m = posenc.table law(#posenc.constants<[0.0625, 0.00390625]>) : !posenc.table<head>
    %b = posenc.bias(%r, %m) : !posenc.relation, !posenc.table<head> {
    ^bb0(%d: f64, %slope: f64):
      %scale = arith.constant -0.5 : f64
      %x = arith.mulf %d, %slope : f64
      %y = arith.mulf %x, %scale : f64
      posenc.yield %y : f64
    }
    %t = posenc.add %s, %b)"},
    {"kerple_log", R"(
    %m = posenc.table law(#posenc.constants<[1.5, 0.5]>) : !posenc.table<head>
    %n = posenc.table law(#posenc.constants<[0.25, 1.0]>) : !posenc.table<head>
    %b = posenc.bias(%r, %m, %n) : !posenc.relation, !posenc.table<head>, !posenc.table<head> {
    ^bb0(%d: f64, %p: f64, %a: f64):
      %e = math.absf %d : f64
      %x = arith.mulf %e, %a : f64
      %y = math.log1p %x : f64
      %z = arith.mulf %y, %p : f64
      %w = arith.negf %z : f64
      posenc.yield %w : f64
    }
    %t = posenc.add %s, %b)"},
    {"kerple_power", R"(
    %m = posenc.table law(#posenc.constants<[0.25, 1.0]>) : !posenc.table<head>
    %n = posenc.table law(#posenc.constants<[1.5, 0.5]>) : !posenc.table<head>
    %b = posenc.bias(%r, %m, %n) : !posenc.relation, !posenc.table<head>, !posenc.table<head> {
    ^bb0(%d: f64, %a: f64, %p: f64):
      %e = math.absf %d : f64
      %x = math.powf %e, %p : f64
      %y = arith.mulf %x, %a : f64
      %z = arith.negf %y : f64
      posenc.yield %z : f64
    }
    %t = posenc.add %s, %b)"},
    {"softcap2_causal", R"(
    %t = posenc.map %s() {
    ^bb0(%x: f64):
      %cap = arith.constant 2.0 : f64
      %y = arith.divf %x, %cap : f64
      %z = math.tanh %y : f64
      %w = arith.mulf %z, %cap : f64
      posenc.yield %w : f64
    })"},
};

static std::string makeSpec(StringRef clauses) {
  std::string text = "posenc.kernel @golden heads(2) head_dim(4) ";
  if (!clauses.contains("%t"))
    return text + clauses.str();
  auto [before, after] = StringRef(body).split("BODY");
  return text + "{" + (before + clauses + after).str();
}

/// [h][n][c] to [1, h, n, c]; null is a masked pair.
static RealTensor readArray(const json::Array &heads) {
  RealTensor tensor;
  int64_t rows = heads[0].getAsArray()->size();
  for (const json::Value &head : heads)
    for (const json::Value &row : *head.getAsArray()) {
      tensor.shape = {1, static_cast<int64_t>(heads.size()), rows,
                      static_cast<int64_t>(row.getAsArray()->size())};
      for (const json::Value &value : *row.getAsArray())
        tensor.data.push_back(value.getAsNumber().value_or(
            -std::numeric_limits<double>::infinity()));
    }
  return tensor;
}

/// tab(rows, columns, seed) of the golden file.
static RealTensor makeTable(int64_t rows, int64_t columns, int64_t seed) {
  RealTensor table;
  table.shape = {rows, columns};
  for (int64_t i = 1; i <= rows * columns; ++i)
    table.data.push_back(((seed * i) % 13 - 6) / 8.0);
  return table;
}

void posenc::numerics::testGolden(TestRun &run) {
  auto buffer = MemoryBuffer::getFile(POSENC_NUMERICS_GOLDEN);
  if (!buffer)
    report_fatal_error("cannot read " POSENC_NUMERICS_GOLDEN);
  json::Value file = cantFail(json::parse((*buffer)->getBuffer()));
  const json::Object &golden = *file.getAsObject();
  const json::Object &given = *golden.getObject("_inputs");
  for (const GoldenCase &example : goldenCases)
    run.test(Twine("golden/") + example.name, [&] {
      Spec spec(makeSpec(example.spec));
      ReferenceInputs inputs;
      inputs.q = readArray(*given.getArray("Q"));
      inputs.k = readArray(*given.getArray("K"));
      inputs.v = readArray(*given.getArray("V"));
      if (example.table)
        inputs.tables[example.table] = makeTable(example.rows, 2, example.seed);
      const json::Object &wanted = *golden.getObject(example.name);
      ReferenceOutputs got = evaluate(spec.getKernel(), inputs);
      std::string problem = compare(
          "logits", got.scores, readArray(*wanted.getArray("logits")), 1e-12);
      if (problem.empty())
        problem =
            compare("output", got.o, readArray(*wanted.getArray("out")), 1e-12);
      return problem;
    });
}
