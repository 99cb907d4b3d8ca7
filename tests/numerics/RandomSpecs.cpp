// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels. The same seed makes the same kernels on every machine.
#include "RandomSpecs.h"

#include "support/EncodingList.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace posenc;
using namespace posenc::numerics;

/// Up to the bracket that closes what is open before `text`.
static StringRef takeBalanced(StringRef text) {
  int depth = 1;
  for (size_t x = 0; x < text.size(); ++x) {
    depth += StringRef("([<").contains(text[x]);
    depth -= StringRef(")]>").contains(text[x]);
    if (depth == 0)
      return text.take_front(x);
  }
  return text;
}

std::string posenc::numerics::getClause(StringRef clauses, StringRef name) {
  std::string start = (name + "(").str();
  for (size_t at = clauses.find(start); at != StringRef::npos;
       at = clauses.find(start, at + 1))
    // kv_dtype is not dtype.
    if (at == 0 || clauses[at - 1] == ' ')
      return takeBalanced(clauses.drop_front(at + start.size())).str();
  return "";
}

std::vector<std::string> posenc::numerics::getEncodings(StringRef clauses) {
  std::vector<std::string> encodings;
  StringRef list = takeBalanced(clauses.split("encode [").second);
  int depth = 0;
  size_t begin = 0;
  for (size_t x = 0; x <= list.size(); ++x) {
    if (x < list.size()) {
      depth += StringRef("([<").contains(list[x]);
      depth -= StringRef(")]>").contains(list[x]);
    }
    if (x < list.size() && (list[x] != ',' || depth))
      continue;
    if (StringRef encoding = list.slice(begin, x).trim(); !encoding.empty())
      encodings.push_back(encoding.str());
    begin = x + 1;
  }
  return encodings;
}

bool posenc::numerics::isValid(StringRef text) {
  mlir::ScopedDiagnosticHandler quiet(
      &getContext(), [](mlir::Diagnostic &) { return mlir::success(); });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &getContext());
  if (!module)
    return false;
  auto expanded = cloneExpanded(*module);
  if (expanded)
    return true;
  consumeError(expanded.takeError());
  return false;
}

static const std::vector<std::string> &getLines() {
  static const std::vector<std::string> lines =
      readEncodingList(POSENC_NUMERICS_ENCODINGS);
  return lines;
}

std::string SpecGenerator::choosePositions() {
  static const StringRef positions[] = {
      "",
      "",
      "",
      "#posenc.iota<offset = 1000>",
      "#posenc.iota<offset = -30>",
      "#posenc.iota<offset = 5, align = top_left>",
      "#posenc.position_tensor",
      "#posenc.position_tensor<align = top_left>",
      "#posenc.position_tensor<queries = \"query_positions\">"};
  return choose<StringRef>(positions).str();
}

std::string SpecGenerator::chooseStorage() {
  static const StringRef storages[] = {"",
                                       "",
                                       "",
                                       "",
                                       "keys(lengths)",
                                       "queries(packed) keys(packed)",
                                       "queries(packed) keys(lengths)",
                                       "keys(paged)",
                                       "queries(packed) keys(paged)"};
  static const StringRef types[] = {"",
                                    "",
                                    "",
                                    "",
                                    "dtype(bf16)",
                                    "dtype(f16)",
                                    "kv_dtype(bf16)",
                                    "dtype(f16) kv_dtype(bf16)"};
  std::string storage = choose<StringRef>(storages).str();
  StringRef type = choose<StringRef>(types);
  return (storage + " " + type + (number(6) ? "" : " no_lse") +
          (number(6) ? "" : " dropout(0.25)"))
      .str();
}

/// Two or so lines of the list in one kernel, which need not be valid.
std::string SpecGenerator::tryText() {
  static const int64_t sizes[] = {16, 16, 16, 8, 20, 34};
  static const int64_t groups[] = {1, 1, 2, 4};
  int64_t group = choose<int64_t>(groups);
  extents.kvHeads = number(2) ? 4 / group : 1 + number(3);
  extents.headDim = choose<int64_t>(sizes);
  extents.valueDim = number(3) ? extents.headDim : 1 + number(20);

  std::string mask, positions, scale, list;
  auto takeIfNew = [](std::string &clause, std::string stated) {
    if (clause.empty())
      clause = std::move(stated);
  };
  for (int64_t count = 1 + number(3); count > 0; --count) {
    const std::string &line = choose<std::string>(getLines());
    takeIfNew(mask, getClause(line, "mask"));
    takeIfNew(positions, getClause(line, "positions"));
    takeIfNew(scale, getClause(line, "scale"));
    if (!getClause(line, "kv_heads").empty())
      group = 1;
    for (const std::string &encoding : getEncodings(line))
      list += (list.empty() ? "" : ", ") + encoding;
  }
  extents.heads = group * extents.kvHeads;
  // Half of the masks are those of other lines.
  if (mask.empty() && number(2))
    mask = getClause(choose<std::string>(getLines()), "mask");
  takeIfNew(positions, choosePositions());
  std::string text =
      ("posenc.kernel @random heads(" + Twine(extents.heads) + ") kv_heads(" +
       Twine(extents.kvHeads) + ") head_dim(" + Twine(extents.headDim) +
       ") value_dim(" + Twine(extents.valueDim) + ") " + chooseStorage())
          .str();
  for (auto [name, value] :
       {std::pair("mask", &mask), {"positions", &positions}, {"scale", &scale}})
    if (!value->empty())
      text += (" " + Twine(name) + "(" + *value + ")").str();
  return text + "\n  encode [" + list + "]\n";
}

std::string SpecGenerator::makeText() {
  std::string text = tryText();
  while (!isValid(text))
    text = tryText();
  return text;
}

Extents SpecGenerator::makeExtents(KernelOp kernel) {
  static const int64_t lengths[] = {1, 2, 5, 16, 31, 33, 49, 65, 130, 259};
  extents.batch = 1 + number(3);
  extents.keyLen = choose<int64_t>(lengths);
  extents.queryLen = choose<int64_t>(lengths);
  if (kernel.looksUpQueriesAmongKeys())
    extents.queryLen = std::min(extents.queryLen, extents.keyLen);
  return extents;
}
