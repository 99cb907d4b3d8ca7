// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text of kernels and embeddings: clauses in any order, each at most once.
#include "posenc/IR/Posenc.h"

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace posenc;

//===----------------------------------------------------------------------===//
// What clauses hold
//===----------------------------------------------------------------------===//

static ParseResult parseInteger(OpAsmParser &parser, StringRef,
                                Attribute &value) {
  int64_t integer;
  if (parser.parseInteger(integer))
    return failure();
  value = parser.getBuilder().getI64IntegerAttr(integer);
  return success();
}

static ParseResult parseNumber(OpAsmParser &parser, StringRef,
                               Attribute &value) {
  FailureOr<APFloat> number = parseF64(parser);
  if (failed(number))
    return failure();
  value = FloatAttr::get(parser.getBuilder().getF64Type(), *number);
  return success();
}

static ParseResult parseElementType(OpAsmParser &parser, StringRef,
                                    Attribute &value) {
  Type type;
  if (parser.parseType(type))
    return failure();
  value = TypeAttr::get(type);
  return success();
}

template <typename EnumAttr, typename Enum, unsigned Last>
static ParseResult parseEnum(OpAsmParser &parser, StringRef clause,
                             Attribute &value) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  SmallVector<StringRef> expected;
  for (unsigned i = 0; i <= Last; ++i)
    expected.push_back(stringifyEnum(static_cast<Enum>(i)));
  if (succeeded(parser.parseOptionalKeyword(&keyword)))
    if (std::optional<Enum> known = symbolizeEnum<Enum>(keyword)) {
      value = EnumAttr::get(parser.getContext(), *known);
      return success();
    }
  InFlightDiagnostic diag = parser.emitError(loc, "expected '")
                            << clause << "' to be one of "
                            << llvm::join(expected, ", ");
  if (!keyword.empty())
    diag << ", but got '" << keyword << "'";
  return diag;
}

/// An attribute of an interface, such as `example`.
template <typename Interface>
static ParseResult parseLaw(OpAsmParser &parser, StringRef clause,
                            StringRef example, Attribute &value) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  OptionalParseResult parsed = parser.parseOptionalAttribute(value);
  if (parsed.has_value() && failed(*parsed))
    return failure();
  if (parsed.has_value() && isa<Interface>(value))
    return success();
  InFlightDiagnostic diag = parser.emitError(loc, "expected '")
                            << clause << "' to hold an attribute such as "
                            << example;
  if (value)
    diag << ", but got " << value;
  return diag;
}

static ParseResult parseMask(OpAsmParser &parser, StringRef clause,
                             Attribute &value) {
  return parseLaw<MaskClauseAttrInterface>(parser, clause, "#posenc.causal",
                                           value);
}

static ParseResult parseBlocks(OpAsmParser &parser, StringRef clause,
                               Attribute &value) {
  return parseLaw<BlockListAttr>(
      parser, clause, "#posenc.block_list<queries = 64, keys = 64>", value);
}

static ParseResult parsePositions(OpAsmParser &parser, StringRef clause,
                                  Attribute &value) {
  return parseLaw<PositionLawAttrInterface>(parser, clause, "#posenc.iota",
                                            value);
}

static ParseResult parseEncodings(OpAsmParser &parser, StringRef clause,
                                  Attribute &value) {
  SmallVector<Attribute> encodings;
  auto parseOne = [&] {
    return parseLaw<EncodingAttrInterface>(parser, clause, "#posenc.rope",
                                           encodings.emplace_back());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne,
                                     " that begins a list of encodings"))
    return failure();
  value = parser.getBuilder().getArrayAttr(encodings);
  return success();
}

//===----------------------------------------------------------------------===//
// Clauses
//===----------------------------------------------------------------------===//

namespace {
struct Clause {
  enum Form {
    Value,    // name(value)
    Required, // must be given
    List,     // name [...]
    Flag      // name
  };

  StringRef name;
  ParseResult (*parse)(OpAsmParser &, StringRef clause, Attribute &value);
  Form form = Value;
  /// The keyword of an enumeration; attributes of several look alike.
  StringRef (*stringify)(Attribute value) = nullptr;
};
} // namespace

template <typename EnumAttr, typename Enum, unsigned Last>
static constexpr Clause makeEnum(StringRef name) {
  return {name, parseEnum<EnumAttr, Enum, Last>, Clause::Value,
          [](Attribute value) -> StringRef {
            return stringifyEnum(cast<EnumAttr>(value).getValue());
          }};
}

static const Clause kKernelClauses[] = {
    {"heads", parseInteger, Clause::Required},
    {"kv_heads", parseInteger},
    {"head_dim", parseInteger, Clause::Required},
    {"value_dim", parseInteger},
    {"dtype", parseElementType},
    {"kv_dtype", parseElementType},
    makeEnum<KvScalesAttr, KvScales, getMaxEnumValForKvScales()>("kv_scales"),
    {"table_dtype", parseElementType},
    makeEnum<QueryStorageAttr, QueryStorage, getMaxEnumValForQueryStorage()>(
        "queries"),
    makeEnum<KeyStorageAttr, KeyStorage, getMaxEnumValForKeyStorage()>("keys"),
    makeEnum<KeyCacheAttr, KeyCache, getMaxEnumValForKeyCache()>("key_cache"),
    {"mask", parseMask},
    {"blocks", parseBlocks},
    {"scale", parseNumber},
    {"positions", parsePositions},
    {"no_lse", nullptr, Clause::Flag},
    {"dropout", parseNumber},
    {"context_length", parseInteger},
    {"encode", parseEncodings, Clause::List},
};

static const Clause kEmbedClauses[] = {
    {"dim", parseInteger, Clause::Required},
    {"dtype", parseElementType},
    {"table_dtype", parseElementType},
    {"scale", parseNumber},
    {"positions", parsePositions},
    {"dropout", parseNumber},
    {"encode", parseEncodings, Clause::List},
};

static ParseResult parseValue(OpAsmParser &parser, const Clause &clause,
                              Attribute &value) {
  if (clause.form == Clause::Flag) {
    value = parser.getBuilder().getUnitAttr();
    return success();
  }
  if (clause.form == Clause::List)
    return clause.parse(parser, clause.name, value);
  return failure(parser.parseLParen() ||
                 clause.parse(parser, clause.name, value) ||
                 parser.parseRParen());
}

static ParseResult parseClauses(OpAsmParser &parser, NamedAttrList &attributes,
                                ArrayRef<Clause> clauses) {
  auto names = llvm::map_to_vector(
      clauses, [](const Clause &clause) { return clause.name; });
  while (true) {
    llvm::SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (failed(parser.parseOptionalKeyword(&name, names)))
      break;
    if (attributes.get(name))
      return parser.emitError(loc, "expected '")
             << name << "' at most once, but it is given twice";
    Attribute value;
    if (parseValue(parser, clauses[llvm::find(names, name) - names.begin()],
                   value))
      return failure();
    attributes.append(name, value);
  }
  for (const Clause &clause : clauses)
    if (clause.form == Clause::Required && !attributes.get(clause.name))
      return parser.emitError(parser.getCurrentLocation(), "expected '")
             << clause.name << "(...)', which has no default";
  NamedAttrList others;
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDictWithKeyword(others))
    return failure();
  for (NamedAttribute other : others)
    if (llvm::is_contained(names, other.getName().strref()))
      return parser.emitError(loc, "expected '")
             << other.getName().strref()
             << "' to be a clause, not one of the attributes";
  attributes.append(others);
  return success();
}

/// `@name clauses [body]`
static ParseResult parseKernel(OpAsmParser &parser, OperationState &state,
                               ArrayRef<Clause> clauses) {
  StringAttr name;
  NamedAttrList attributes;
  if (parser.parseSymbolName(name) || parseClauses(parser, attributes, clauses))
    return failure();
  attributes.append(SymbolTable::getSymbolAttrName(), name);
  state.addAttributes(attributes);
  llvm::SMLoc loc = parser.getCurrentLocation();
  Region &body = *state.addRegion();
  OptionalParseResult parsed = parser.parseOptionalRegion(body);
  if (parsed.has_value() && failed(*parsed))
    return failure();
  if (parsed.has_value() && body.empty())
    return parser.emitError(loc, "expected the body to yield an output, or no "
                                 "body, but it is empty");
  return success();
}

static void printClause(OpAsmPrinter &printer, const Clause &clause,
                        Attribute value) {
  printer << ' ' << clause.name;
  if (clause.form == Clause::Flag)
    return;
  printer << (clause.form == Clause::List ? " " : "(");
  if (clause.stringify)
    printer << clause.stringify(value);
  else
    printer.printAttributeWithoutType(value);
  if (clause.form != Clause::List)
    printer << ')';
}

static void printKernel(OpAsmPrinter &printer, Operation *op,
                        ArrayRef<Clause> clauses) {
  printer << ' ';
  printer.printSymbolName(SymbolTable::getSymbolName(op).getValue());
  SmallVector<StringRef> printed{SymbolTable::getSymbolAttrName()};
  for (const Clause &clause : clauses) {
    printed.push_back(clause.name);
    if (Attribute value = op->getAttr(clause.name))
      printClause(printer, clause, value);
  }
  printer.printOptionalAttrDictWithKeyword(op->getAttrs(), printed);
  Region &body = op->getRegion(0);
  if (body.empty())
    return;
  printer << ' ';
  printer.printRegion(body);
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &state) {
  return parseKernel(parser, state, kKernelClauses);
}
void KernelOp::print(OpAsmPrinter &printer) {
  printKernel(printer, *this, kKernelClauses);
}

ParseResult EmbedOp::parse(OpAsmParser &parser, OperationState &state) {
  return parseKernel(parser, state, kEmbedClauses);
}
void EmbedOp::print(OpAsmPrinter &printer) {
  printKernel(printer, *this, kEmbedClauses);
}
