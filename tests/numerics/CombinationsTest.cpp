// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every two of: a mask, a way to store sequences, types, a family of encodings,
// a grouping of heads, lengths, an instruction set. Compiled kernels are
// compared with the reference.
#include "NativeCall.h"
#include "Pairwise.h"
#include "TestRun.h"

#include "llvm/ADT/ScopeExit.h"

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

namespace {
struct Mask {
  const char *name, *text;
  /// Whether it bounds how far back a query sees: what a ring needs.
  bool isBounded = false;
};

struct Encoding {
  const char *name, *clauses;
  /// Defined for keys up to the query only: the mask is intersected with the
  /// causal one, or is that alone.
  enum { Any, Past, CausalOnly } queries = Any;
  /// Whether its keys can be kept encoded.
  bool fitsCache = true;
  /// Whether it has a number for each key, which a ring forgets.
  bool readsKeys = false;
};

struct Storage {
  const char *name, *clauses;
  bool isEncoded = false;
};

struct Size {
  int64_t batch, queryLen, keyLen;
};

enum Choice { MaskIndex, StorageIndex, TypeIndex, EncodingIndex, Isa };
} // namespace

// ALIGN is an alignment, BATCH a clause of operands for pairs.
static const Mask masks[] = {
    {"full", "#posenc.full"},
    {"causal", "#posenc.causal"},
    {"causal_top_left", "#posenc.causal<top_left>"},
    {"window", "#posenc.window<left = 40, right = 3>", true},
    {"window_by_position", "#posenc.window<left = 30, by = position>"},
    {"chunk", "#posenc.chunk<size = 50>", true},
    {"prefix", "#posenc.prefix"},
    {"segments", "#posenc.segments"},
    {"permutation", "#posenc.permutation"},
    {"group", "#posenc.group<size = 32>"},
    {"dense", "#posenc.dense_mask<BATCH>"},
    {"causal_and_segments", "#posenc.all<[#posenc.causal, #posenc.segments]>"},
    {"window_or_prefix",
     "#posenc.any<[#posenc.window<left = 12>, #posenc.prefix]>"},
};

static const Storage storages[] = {
    {"dense", ""},
    {"lengths", "keys(lengths)"},
    {"packed", "queries(packed) keys(packed)"},
    {"packed_lengths", "queries(packed) keys(lengths)"},
    {"paged", "keys(paged)"},
    {"packed_paged", "queries(packed) keys(paged)"},
    {"ring", "keys(ring)"},
    {"packed_ring", "queries(packed) keys(ring)"},
    {"encoded_lengths", "keys(lengths) key_cache(encoded)", true},
    {"encoded_paged", "queries(packed) keys(paged) key_cache(encoded)", true},
    {"encoded_ring", "queries(packed) keys(ring) key_cache(encoded)", true},
};

static const char *const types[] = {
    "",
    "dtype(bf16)",
    "dtype(f16)",
    "kv_dtype(bf16) table_dtype(f16)",
    "dtype(bf16) kv_dtype(f16) table_dtype(bf16)",
    "kv_dtype(i8) kv_scales(head)",
    "dtype(f16) kv_dtype(f8E4M3FN) kv_scales(token)",
    "dtype(bf16) kv_dtype(i8) kv_scales(token)",
};

static const Encoding encodings[] = {
    {"none", ""},
    {"rope", "encode [#posenc.rope]"},
    {"rope_by_length",
     "encode [#posenc.rope<scaling = #posenc.dynamic_ntk<factor = 2.0, "
     "original_length = 64>>]",
     Encoding::Any, false},
    {"rope_positions",
     "positions(#posenc.position_tensor<align = ALIGN>) encode "
     "[#posenc.rope<pairing = interleaved, dims = 8>]",
     Encoding::Any, true, true},
    {"rope_own_queries",
     "positions(#posenc.position_tensor<align = ALIGN, queries = "
     "\"query_positions\">) encode [#posenc.rope, #posenc.alibi<form = "
     "symmetric>]",
     Encoding::Any, true, true},
    {"alibi", "encode [#posenc.alibi<form = symmetric>]"},
    {"t5", "encode [#posenc.t5_bias<direction = bidirectional>]"},
    {"kerple", "encode [#posenc.kerple]"},
    {"fire", "encode [#posenc.fire]", Encoding::Past},
    {"dense_bias", "encode [#posenc.dense_bias<BATCH>]", Encoding::Any, true,
     true},
    {"tupe", "encode [#posenc.tupe<length = 400>]"},
    {"shaw", "encode [#posenc.shaw<max_distance = 8>]"},
    {"transformer_xl", "encode [#posenc.transformer_xl]", Encoding::Past},
    {"xlnet", "encode [#posenc.xlnet]"},
    {"deberta", "encode [#posenc.deberta<max_distance = 16>]"},
    {"cope", "encode [#posenc.cope<positions = 16>]", Encoding::Past},
    {"stick_breaking", "encode [#posenc.stick_breaking]", Encoding::Past},
    {"fox", "encode [#posenc.fox]", Encoding::Past, true, true},
    {"rerope", "encode [#posenc.rerope<window = 20>]", Encoding::Past, false},
    {"self_extend", "encode [#posenc.self_extend<group = 4, window = 20>]",
     Encoding::Past, false},
    {"xpos", "encode [#posenc.xpos]", Encoding::Past},
    {"norm_rope", "encode [#posenc.qk_norm, #posenc.rope]"},
    {"softcap_sink",
     "encode [#posenc.softcap<cap = 20.0>, #posenc.attention_sink]"},
    {"retention", "encode [#posenc.retention]", Encoding::CausalOnly},
    {"linear_attention", "encode [#posenc.linear_attention]"},
    {"dape",
     "encode [#posenc.alibi<form = symmetric>, #posenc.dape<hidden = 5>]"},
};

static constexpr Size sizes[] = {
    {1, 1, 1},     {3, 5, 49},  {2, 53, 130}, {1, 0, 9},
    {2, 130, 300}, {3, 40, 17}, {1, 2, 2300},
};

static bool isValid(ArrayRef<size_t> row) {
  const Encoding &encoding = encodings[row[EncodingIndex]];
  if (encoding.queries == Encoding::CausalOnly &&
      StringRef(masks[row[MaskIndex]].name) != "causal")
    return false;
  const Storage &storage = storages[row[StorageIndex]];
  if (StringRef(storage.clauses).contains("keys(ring)") &&
      (encoding.readsKeys || !masks[row[MaskIndex]].isBounded))
    return false;
  return encoding.fitsCache || !storage.isEncoded;
}

static std::string makeText(ArrayRef<size_t> row, size_t turn) {
  static constexpr const char *heads[] = {
      "heads(4) kv_heads(2) head_dim(24) value_dim(10) ",
      "heads(2) head_dim(64) ",
      "heads(6) kv_heads(1) head_dim(16) ",
      "heads(4) head_dim(32) value_dim(48) ",
  };
  const Mask &mask = masks[row[MaskIndex]];
  const Storage &storage = storages[row[StorageIndex]];
  const Encoding &encoding = encodings[row[EncodingIndex]];
  StringRef align =
      StringRef(mask.text).contains("top_left") ? "top_left" : "bottom_right";
  std::string text = "posenc.kernel @combined ";
  text += heads[turn % std::size(heads)];
  text += storage.clauses;
  text += std::string(" ") + types[row[TypeIndex]] + " mask(";
  if (encoding.queries == Encoding::Past &&
      !StringRef(mask.name).starts_with("causal"))
    text += std::string("#posenc.all<[#posenc.causal, ") + mask.text + "]>";
  else
    text += mask.text;
  text += std::string(") ") + encoding.clauses;
  text = replaceAll(text, "ALIGN", align);
  // With packed queries each batch entry has its own pairs.
  bool isPacked = StringRef(storage.clauses).contains("queries(packed)");
  text = replaceAll(text, "<BATCH>", isPacked ? "<batch = on>" : "");
  return text;
}

/// What is wrong with the kernel at two of the sizes, or nothing.
static std::string checkKernel(const std::string &text, const std::string &isa,
                               size_t turn, posenc_pool *pool) {
  LoadedKernel kernel;
  std::string problem = kernel.load(text, isa);
  KernelOp op = problem.empty() ? kernel.spec->getKernel() : KernelOp();
  for (size_t checked = 0, x = turn; problem.empty() && checked < 2; x += 3) {
    Size size = sizes[x % std::size(sizes)];
    if (size.queryLen > size.keyLen && op.looksUpQueriesAmongKeys())
      continue;
    NativeCall call;
    call.pool = x % 2 ? pool : nullptr;
    call.prepared = call.ownScratch = x % 3 == 0;
    call.arrangement = static_cast<Arrangement>(x % 4);
    call.wantLse = op.exportsLse();
    problem = checkNative(
        kernel,
        makeInputs(op,
                   {size.batch, static_cast<int64_t>(op.getHeads()),
                    op.getNumKvHeads(), size.queryLen, size.keyLen,
                    static_cast<int64_t>(op.getHeadDim()), op.getValueSize()},
                   turn + 1, 0.5),
        call);
    if (!problem.empty())
      problem += " at B=" + std::to_string(size.batch) +
                 " Lq=" + std::to_string(size.queryLen) +
                 " Lk=" + std::to_string(size.keyLen);
    ++checked;
  }
  return problem.empty() ? "" : problem + "\n" + text;
}

void posenc::numerics::testCombinations(TestRun &run,
                                        ArrayRef<std::string> isas) {
  posenc_pool *pool = nullptr;
  if (posenc_pool_create(3, &pool))
    report_fatal_error("no threads for the tests");
  scope_exit destroyPool([&] { posenc_pool_destroy(pool); });
  size_t counts[] = {std::size(masks), std::size(storages), std::size(types),
                     std::size(encodings), isas.size()};
  size_t turn = 0;
  for (const std::vector<size_t> &row : coverPairs(counts, isValid)) {
    const std::string &isa = isas[row[Isa]];
    StringRef type = types[row[TypeIndex]];
    runGuarded(
        run,
        ("combinations/" + Twine(masks[row[MaskIndex]].name) + "/" +
         storages[row[StorageIndex]].name + "/" +
         (type.empty() ? "f32" : type) + "/" +
         encodings[row[EncodingIndex]].name + "/" + isa)
            .str(),
        [&] { return checkKernel(makeText(row, turn), isa, turn, pool); });
    ++turn;
  }
}
