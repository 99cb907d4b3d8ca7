// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "posenc/Halide/TileSignature.h"
#include "TileShape.h"
#include "posenc/IR/FactorOps.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace posenc;

/// A prefix and a symbol as one identifier: Halide keeps dots for itself, and
/// operands are called <encoding>.<operand>.
static std::string makeName(StringRef prefix, StringRef symbol) {
  std::string name = (prefix + symbol).str();
  llvm::replace(name, '.', '_');
  return name;
}

/// A prefix and the number of a vector, if it has one.
static std::string makeNumbered(StringRef prefix, StringRef number) {
  return number.empty() ? prefix.str() : (prefix + "_" + number).str();
}

static StringRef getPrefix(TileArgKind kind) {
  switch (kind) {
  case TileArgKind::Query:
    return "q";
  case TileArgKind::Key:
    return "k";
  case TileArgKind::Value:
    return "v";
  case TileArgKind::ValuePairs:
  case TileArgKind::PairedValue:
    return "value_pairs";
  case TileArgKind::OwnValue:
    return "own_v";
  case TileArgKind::AllQueries:
    return "all_q";
  case TileArgKind::AllKeys:
    return "all_k";
  case TileArgKind::KeyScales:
    return "key_scales";
  case TileArgKind::AllKeyScales:
    return "all_key_scales";
  case TileArgKind::ValueScales:
    return "value_scales";
  case TileArgKind::OwnValueScales:
    return "own_value_scales";
  case TileArgKind::KeyScaleRows:
    return "key_scale_rows";
  case TileArgKind::ValueScaleRows:
    return "value_scale_rows";
  case TileArgKind::OwnValueScaleRows:
    return "own_value_scale_rows";
  case TileArgKind::Angles:
    return "angles_";
  case TileArgKind::KeyAngles:
    return "key_angles_";
  case TileArgKind::Strip:
    return "strip_";
  case TileArgKind::Table:
    return "table_";
  case TileArgKind::PreparedTable:
    return "prepared_";
  case TileArgKind::QueryPositions:
    return "query_positions_";
  case TileArgKind::KeyPositions:
    return "key_positions_";
  case TileArgKind::KeyRows:
    return "key_rows";
  case TileArgKind::ValueRows:
    return "value_rows";
  case TileArgKind::OwnValueRows:
    return "own_value_rows";
  case TileArgKind::Rows:
    return "rows";
  case TileArgKind::KeyCount:
    return "key_count";
  case TileArgKind::QueryBegin:
    return "query_begin";
  case TileArgKind::QueryShift:
    return "query_shift";
  case TileArgKind::KeyBegin:
    return "key_begin";
  case TileArgKind::StepEnd:
    return "end_";
  case TileArgKind::First:
    return "first";
  case TileArgKind::DropoutWord:
    return "dropout_";
  case TileArgKind::State:
    return "state";
  case TileArgKind::Scan:
    return "scan";
  case TileArgKind::Output:
    return "out";
  case TileArgKind::LogSumExp:
    return "lse";
  case TileArgKind::TransformedKey:
    return "keys";
  case TileArgKind::Decays:
    return "decays_";
  case TileArgKind::StateBefore:
    return "state_before";
  case TileArgKind::SumsBefore:
    return "sums_before";
  case TileArgKind::StateBehind:
    return "state_behind";
  case TileArgKind::SumsBehind:
    return "sums_behind";
  case TileArgKind::AllScores:
    return "all_scores";
  case TileArgKind::Mixed:
    return "mixed";
  case TileArgKind::HeadScores:
    return "head_scores";
  case TileArgKind::AllMixed:
    return "all_mixed";
  }
  llvm_unreachable("unknown argument");
}

std::string TileArg::getName() const {
  StringRef prefix = getPrefix(kind);
  if (!prefix.ends_with("_"))
    return makeNumbered(prefix, symbol);
  std::string name = makeName(prefix, symbol);
  if (isAtQuery)
    name += "_at_query";
  if (alignment == Alignment::top_left)
    name += "_top_left";
  return name;
}

Storage posenc::getStorage(Type type) {
  if (!type || type.isF32())
    return Storage::F32;
  if (type.getIntOrFloatBitWidth() == 8)
    return type.isInteger() ? Storage::I8 : Storage::F8;
  return type.isBF16() ? Storage::BF16 : Storage::F16;
}

unsigned posenc::getStorageBits(Storage storage) {
  switch (storage) {
  case Storage::F32:
    return 32;
  case Storage::BF16:
  case Storage::F16:
    return 16;
  case Storage::I8:
  case Storage::F8:
    return 8;
  }
  llvm_unreachable("all kinds are handled");
}

namespace {
/// Keys or values, and where their rows are; the same of their scales.
struct RowKinds {
  TileArgKind vectors, rows, scales, scaleRows;
};
constexpr RowKinds kKeys = {TileArgKind::Key, TileArgKind::KeyRows,
                            TileArgKind::KeyScales, TileArgKind::KeyScaleRows};
constexpr RowKinds kAllKeys = {TileArgKind::AllKeys, TileArgKind::KeyRows,
                               TileArgKind::AllKeyScales,
                               TileArgKind::KeyScaleRows};
constexpr RowKinds kValues = {TileArgKind::Value, TileArgKind::ValueRows,
                              TileArgKind::ValueScales,
                              TileArgKind::ValueScaleRows};
constexpr RowKinds kOwnValues = {
    TileArgKind::OwnValue, TileArgKind::OwnValueRows,
    TileArgKind::OwnValueScales, TileArgKind::OwnValueScaleRows};

/// Collects arguments in order of first use.
class ArgCollector {
public:
  SmallVector<TileArg> args;

  explicit ArgCollector(PlanOp plan) : plan(plan) {}

  TileArg &add(TileArgKind kind, int64_t rank, StringRef symbol = {},
               bool isInteger = false) {
    TileArg arg;
    arg.kind = kind;
    arg.rank = rank;
    arg.symbol = symbol.str();
    arg.isInteger = isInteger;
    arg.storage = findStorage(arg);
    return add(std::move(arg));
  }
  void addRows(RowKinds kinds, int64_t rank) {
    bool areCodes = hasScales(add(kinds.vectors, rank).storage);
    auto addPlaces = [&](TileArgKind places) {
      if (plan.getIndirect())
        add(places, /*rank=*/1, /*symbol=*/{}, /*isInteger=*/true);
    };
    addPlaces(kinds.rows);
    if (!areCodes)
      return;
    add(kinds.scales, rank - 1);
    addPlaces(kinds.scaleRows);
  }

  void addNumber(TileArgKind kind, StringRef symbol = {}) {
    add(kind, /*rank=*/0, symbol, /*isInteger=*/true);
  }

  /// The buffers that the operations of one part of the plan read.
  void addTerms(Block &body, TileArgKind angles = TileArgKind::Angles);
  /// The tables of a network.
  void addWeights(HeadMlpOp op);

private:
  /// That of the kernel's tensors; what the compiler makes is f32.
  Storage findStorage(const TileArg &arg) {
    switch (arg.kind) {
    case TileArgKind::Query:
    case TileArgKind::AllQueries:
    case TileArgKind::Output:
      return getStorage(plan.getDtype().value_or(Type()));
    case TileArgKind::Key:
      return arg.symbol.empty() ? getStorage(plan.getKvDtype().value_or(Type()))
                                : Storage::F32;
    case TileArgKind::AllKeys:
    case TileArgKind::Value:
    case TileArgKind::OwnValue:
    case TileArgKind::ValuePairs:
    case TileArgKind::PairedValue:
      return getStorage(plan.getKvDtype().value_or(Type()));
    default:
      return Storage::F32;
    }
  }
  /// Adds what is not there yet.
  TileArg &add(TileArg arg) {
    for (TileArg &other : args)
      if (other.kind == arg.kind && other.symbol == arg.symbol &&
          other.law == arg.law && other.type == arg.type &&
          other.isAtQuery == arg.isAtQuery && other.alignment == arg.alignment)
        return other;
    args.push_back(std::move(arg));
    return args.back();
  }

  /// "constants<i>", one for each law and type.
  std::string nameConstants(TableOp op);
  TileArg makeTable(Operation *op);
  void addTable(Operation *op, TileArg arg, bool hasHeads);
  void addTable(TileArg arg, bool hasHeads);
  void addPosition(PositionOp op, bool isTile);

  PlanOp plan;
  SmallVector<std::pair<Attribute, Type>> constants;
};
} // namespace

std::string ArgCollector::nameConstants(TableOp op) {
  std::pair<Attribute, Type> table{op.getLaw(), op.getType()};
  auto *place = llvm::find(constants, table);
  size_t index = place - constants.begin();
  if (place == constants.end())
    constants.push_back(table);
  return "constants" + std::to_string(index);
}

/// A table as it is, or at the places of queries, or both.
void ArgCollector::addTable(Operation *op, TileArg arg, bool hasHeads) {
  arg.type = cast<TableType>(op->getResult(0).getType());
  bool isUsed = false;
  for (Operation *user : op->getUsers()) {
    // Networks have functions of their own.
    if (isa<HeadMlpOp>(user))
      continue;
    auto atQuery = dyn_cast<AtQueryOp>(user);
    if (!atQuery) {
      isUsed = true;
      continue;
    }
    TileArg shifted = arg;
    shifted.isAtQuery = true;
    shifted.alignment = atQuery.getAlignment();
    addTable(shifted, hasHeads);
  }
  if (isUsed)
    addTable(arg, hasHeads);
}

void ArgCollector::addTable(TileArg arg, bool hasHeads) {
  for (TableAxis axis :
       {TableAxis::channel, TableAxis::key, TableAxis::query, TableAxis::row})
    if (arg.type.hasAxis(axis))
      arg.dims.push_back(
          arg.isAtQuery && axis == TableAxis::key ? TableAxis::query : axis);
  if (hasHeads && arg.type.hasAxis(TableAxis::head))
    arg.dims.push_back(TableAxis::head);
  arg.rank = std::max<int64_t>(1, arg.dims.size()) + (arg.hasRest ? 1 : 0);
  add(std::move(arg));
}

void ArgCollector::addPosition(PositionOp op, bool isTile) {
  bool isQuery = op.getSide() == Side::query;
  auto law = dyn_cast<PositionTensorAttr>(op.getLaw());
  if (!law) {
    // Tiles always have these numbers.
    if (!isTile)
      addNumber(TileArgKind::KeyBegin);
    return;
  }
  TileArg arg;
  arg.kind = isQuery ? TileArgKind::QueryPositions : TileArgKind::KeyPositions;
  arg.rank = 1;
  arg.isInteger = true;
  arg.symbol = law.getTensor(op.getSide()).str();
  if (law.getAxis() > 0)
    arg.symbol += "." + std::to_string(law.getAxis());
  if (isQuery)
    arg.alignment = law.getAlign();
  // Keys stand where they are stored with either alignment.
  arg.law = isQuery ? law
                    : PositionTensorAttr::get(law.getContext(), law.getName(),
                                              law.getAxes(), law.getAxis(),
                                              Alignment::bottom_right,
                                              /*queries=*/"");
  // What is read, whatever else the laws say.
  if (llvm::any_of(args, [&](const TileArg &other) {
        return other.kind == arg.kind && other.symbol == arg.symbol &&
               other.alignment == arg.alignment;
      }))
    return;
  add(std::move(arg));
}

/// The argument of a posenc.table or posenc.tile.load_table, without its type.
TileArg ArgCollector::makeTable(Operation *op) {
  TileArg arg;
  if (auto table = dyn_cast<TableOp>(op)) {
    arg.kind = TileArgKind::Table;
    arg.law = table.getLaw();
    if (auto operand = dyn_cast<OperandAttr>(table.getLaw())) {
      arg.symbol = operand.getName().str();
      arg.storage = getStorage(operand.getDtype());
    } else {
      arg.symbol = nameConstants(table);
    }
    return arg;
  }
  auto table = cast<TileLoadTableOp>(op);
  arg.kind = TileArgKind::PreparedTable;
  arg.symbol = table.getTable().str();
  if (PrepareOp prepare = plan.lookupPrepare(table.getTable())) {
    Operation &yield = prepare.getBody().front().back();
    arg.hasRelationRows = yield.getNumOperands() == 2;
    arg.hasRest = isStoredInParts(yield.getOperand(0));
  }
  return arg;
}

void ArgCollector::addWeights(HeadMlpOp op) {
  for (Value table : op->getOperands()) {
    Operation *definition = table.getDefiningOp();
    if (!isa_and_nonnull<TableOp, TileLoadTableOp>(definition))
      continue;
    TileArg arg = makeTable(definition);
    arg.type = cast<TableType>(table.getType());
    addTable(std::move(arg), /*hasHeads=*/true);
  }
}

void ArgCollector::addTerms(Block &body, TileArgKind angles) {
  bool isTile = !isa<KeysOp>(body.getParentOp());
  bool hasHeads = isTile && hasHeadDimension(plan);
  for (Operation &op : body) {
    if (auto rotate = dyn_cast<TileRotateOp>(op)) {
      add(angles, hasHeads ? 3 : 2, rotate.getTable());
    } else if (auto strip = dyn_cast<TileLoadStripOp>(op)) {
      add(TileArgKind::Strip, hasHeads ? 2 : 1, strip.getTable());
    } else if (isa<TableOp, TileLoadTableOp>(op)) {
      addTable(&op, makeTable(&op), hasHeads);
    } else if (auto position = dyn_cast<PositionOp>(op)) {
      addPosition(position, isTile);
    } else if (auto norm = dyn_cast<VectorNormOp>(op)) {
      if (norm.getOver() == NormAxis::all_heads && isTile)
        add(TileArgKind::AllQueries, /*rank=*/3);
      else if (norm.getOver() == NormAxis::all_heads)
        addRows(kAllKeys, /*rank=*/3);
    } else if (isa<TileRemainderOp>(op)) {
      addRows(kOwnValues, /*rank=*/2);
    }
  }
}

bool posenc::hasHeadDimension(PlanOp plan) {
  return plan.getPacked() && plan.getGroup() > 1;
}

bool posenc::isStoredInParts(Value table) {
  return static_cast<bool>(table.getDefiningOp<PrefixSumOp>());
}

std::optional<int64_t> posenc::getFactorChannels(Value table) {
  auto load = table.getDefiningOp<TileLoadTableOp>();
  PrepareOp prepare =
      load ? load->getParentOfType<PlanOp>().lookupPrepare(load.getTable())
           : PrepareOp();
  if (!prepare)
    return std::nullopt;
  Operation &yield = prepare.getBody().front().back();
  auto factors = yield.getOperand(0).getDefiningOp<TileFactorsOp>();
  return factors ? std::optional(factors.getNumChannels()) : std::nullopt;
}

SmallVector<StepOp> posenc::getTileSteps(PlanOp plan) {
  return llvm::filter_to_vector(plan.getStepOps(),
                                [](StepOp step) { return !step.getMaximum(); });
}

/// The keys that some step reads.
static void addKeys(PlanOp plan, ArgCollector &collector) {
  unsigned queries =
      plan.getPrologueOp().getBody().front().back().getNumOperands();
  for (StepOp step : getTileSteps(plan))
    for (BlockArgument key :
         step.getBody().front().getArguments().drop_front(queries))
      if (!key.use_empty()) {
        std::string symbol = getKeySymbol(plan, key.getArgNumber() - queries);
        bool isStored = symbol.empty() || plan.getKeysOp().getOnLoad();
        if (isStored)
          collector.addRows(kKeys, 2);
        else
          collector.add(TileArgKind::Key, 2, symbol);
        if (isStored && !symbol.empty())
          collector.addTerms(plan.getKeysOp().getBody().front(),
                             TileArgKind::KeyAngles);
      }
}

std::string posenc::getKeySymbol(PlanOp plan, unsigned index) {
  KeysOp keys = plan.getKeysOp();
  if (!keys ||
      isa<BlockArgument>(keys.getBody().front().back().getOperand(index)))
    return "";
  return std::to_string(index);
}

/// What scores are made of: vectors, terms, results of networks, and where the
/// tile and the run are.
static void addVectors(PlanOp plan, ArgCollector &collector) {
  collector.add(TileArgKind::Query, hasHeadDimension(plan) ? 3 : 2);
  addKeys(plan, collector);
}
static void addScores(PlanOp plan, ArgCollector &collector) {
  collector.addTerms(plan.getPrologueOp().getBody().front());
  for (StepOp step : getTileSteps(plan))
    collector.addTerms(step.getBody().front());
}
static void addMixed(ArgCollector &collector, ArrayRef<HeadMlpOp> networks) {
  for (HeadMlpOp op : networks)
    collector.add(TileArgKind::Mixed, 2, getNetworkSymbol(op));
}
static void addPlace(ArgCollector &collector) {
  collector.addNumber(TileArgKind::Rows);
  collector.addNumber(TileArgKind::KeyCount);
  collector.addNumber(TileArgKind::QueryBegin);
  collector.addNumber(TileArgKind::QueryShift);
  collector.addNumber(TileArgKind::KeyBegin);
}

/// Whether rows have a log-sum-exp.
static bool hasLogSumExp(PlanOp plan) {
  TileNormalizeOp op = plan.getNormalizeOp();
  return op && exponentiates(op.getKind());
}

FailureOr<SmallVector<TileFunction>> posenc::getTileFunctions(PlanOp plan) {
  FailureOr<SmallVector<TileShape>> shapes = getTileShapes(plan);
  if (failed(shapes))
    return failure();

  ArgCollector collector(plan);
  addVectors(plan, collector);
  if (getPairProducts(plan).values)
    collector.add(TileArgKind::ValuePairs, 2);
  else
    collector.addRows(kValues, 2);
  addScores(plan, collector);
  collector.addTerms(plan.getEpilogueOp().getBody().front());
  addMixed(collector, getNetworks(plan));
  addPlace(collector);
  for (StepOp step : getTileSteps(plan))
    collector.addNumber(TileArgKind::StepEnd, step.getSymName());
  collector.addNumber(TileArgKind::First);
  if (plan.getNormalizeOp() && plan.getNormalizeOp().getDropout())
    for (StringRef word : {"0", "1", "2", "3"})
      collector.addNumber(TileArgKind::DropoutWord, word);

  collector.add(TileArgKind::State, 2);
  int64_t scans = 0;
  for (StepOp step : getTileSteps(plan))
    for ([[maybe_unused]] RowscanOp scan :
         step.getBody().front().getOps<RowscanOp>())
      collector.add(TileArgKind::Scan, 2, std::to_string(scans++));
  collector.add(TileArgKind::Output, hasHeadDimension(plan) ? 3 : 2);
  if (hasLogSumExp(plan))
    collector.add(TileArgKind::LogSumExp, hasHeadDimension(plan) ? 2 : 1);

  SmallVector<TileFunction> functions;
  for (const TileShape &shape : *shapes) {
    TileFunction function;
    function.symbol = (plan.getSymName() + "_tile" + Twine(shape.rows)).str();
    function.args = collector.args;
    function.rows = shape.rows;
    function.stateRows = shape.stateRows();
    function.stateColumns = shape.stateColumns();
    function.outputColumns = shape.hasChannelLanes() ? shape.valueVectors() : 0;
    function.group = shape.group;
    function.queries = shape.queries();
    functions.push_back(std::move(function));
  }
  return functions;
}

int64_t posenc::getStateWidth(int64_t valueDim) {
  return llvm::alignTo(valueDim, 16);
}

/// The keys that a recurrence reads.
static void addChunkKeys(PlanOp plan, ValueRange keys,
                         ArgCollector &collector) {
  unsigned queries =
      plan.getPrologueOp().getBody().front().back().getNumOperands();
  for (Value key : keys) {
    unsigned index = cast<BlockArgument>(key).getArgNumber() - queries;
    std::string symbol = getKeySymbol(plan, index);
    if (symbol.empty())
      collector.addRows(kKeys, 2);
    else
      collector.add(TileArgKind::Key, 2, symbol);
  }
}

FailureOr<std::vector<ChunkFunctions>> posenc::getChunkFunctions(PlanOp plan) {
  FailureOr<SmallVector<TileShape>> shapes = getTileShapes(plan);
  if (failed(shapes))
    return failure();
  Block &body = plan.getChunkOp().getBody().front();
  TileRecurrenceOp op = *body.getOps<TileRecurrenceOp>().begin();
  ArgCollector outputs(plan), state(plan);
  outputs.add(TileArgKind::Query, 2);
  for (ArgCollector *collector : {&outputs, &state}) {
    addChunkKeys(plan, op.getKeys(), *collector);
    addChunkKeys(plan, op.getByKeys(), *collector);
    collector->addRows(kValues, 2);
    if (std::optional<StringRef> decays = op.getDecays())
      collector->add(TileArgKind::Decays, 1, *decays);
    collector->addNumber(TileArgKind::Rows);
  }
  outputs.addTerms(plan.getPrologueOp().getBody().front());
  outputs.add(TileArgKind::StateBefore, 2);
  if (op.divides())
    outputs.add(TileArgKind::SumsBefore, 1);
  outputs.addNumber(TileArgKind::QueryBegin);
  outputs.addNumber(TileArgKind::QueryShift);
  outputs.add(TileArgKind::Output, 2);
  state.add(TileArgKind::StateBehind, 2);
  if (op.divides())
    state.add(TileArgKind::SumsBehind, 1);

  std::vector<ChunkFunctions> functions;
  for (const TileShape &shape : *shapes) {
    auto make = [&](StringRef name, const ArgCollector &collector) {
      TileFunction function;
      function.symbol = (plan.getSymName() + name + Twine(shape.rows)).str();
      function.args = collector.args;
      function.rows = shape.rows;
      return function;
    };
    functions.push_back({make("_outputs", outputs), make("_state", state)});
  }
  return functions;
}

std::optional<TileFunction> posenc::getKeyFunction(PlanOp plan) {
  KeysOp keys = plan.getKeysOp();
  bool hasPairs = getPairProducts(plan).values;
  if (plan.getPacked() || (!keys && !hasPairs))
    return std::nullopt;
  ArgCollector collector(plan);
  SmallVector<std::string> transformed;
  if (keys) {
    Block &body = keys.getBody().front();
    collector.addRows(kKeys, 2);
    collector.addTerms(body);
    for (unsigned i = 0; i < body.back().getNumOperands(); ++i)
      if (std::string symbol = getKeySymbol(plan, i); !symbol.empty())
        transformed.push_back(symbol);
  }
  if (transformed.empty() && !hasPairs)
    return std::nullopt;
  if (hasPairs)
    collector.addRows(kValues, 2);
  for (StringRef symbol : transformed)
    collector.add(TileArgKind::TransformedKey, 2, symbol);
  if (hasPairs)
    collector.add(TileArgKind::PairedValue, 2);
  TileFunction function;
  function.symbol = (plan.getSymName() + "_keys").str();
  function.args = collector.args;
  return function;
}

SmallVector<HeadMlpOp> posenc::getNetworks(PlanOp plan) {
  return llvm::to_vector(
      plan.getStepOps().front().getBody().front().getOps<HeadMlpOp>());
}

std::string posenc::getNetworkSymbol(HeadMlpOp op) {
  auto networks = op->getBlock()->getOps<HeadMlpOp>();
  return std::to_string(
      std::distance(networks.begin(), llvm::find(networks, op)));
}

std::vector<NetworkFunctions>
posenc::getNetworkFunctions(PlanOp plan, const TileFunction &tile) {
  SmallVector<HeadMlpOp> networks = getNetworks(plan);
  std::vector<NetworkFunctions> functions;
  for (auto [number, op] : llvm::enumerate(networks)) {
    std::string symbol = getNetworkSymbol(op);
    ArgCollector scores(plan), network(plan);
    addVectors(plan, scores);
    addScores(plan, scores);
    addMixed(scores, ArrayRef(networks).take_front(number));
    addPlace(scores);
    scores.add(TileArgKind::HeadScores, 3, symbol);
    network.addWeights(op);
    network.add(TileArgKind::AllScores, 3, symbol);
    network.add(TileArgKind::AllMixed, 3, symbol);

    NetworkFunctions &made = functions.emplace_back();
    made.scores.symbol = tile.symbol + "_scores" + symbol;
    made.scores.args = scores.args;
    made.network.symbol = tile.symbol + "_network" + symbol;
    made.network.args = network.args;
    made.scores.rows = made.network.rows = tile.rows;
    made.inputs = op.getScores().size();
    // Of units, then of scores.
    made.reach = 2 * (op.getTaps() / 2);
  }
  return functions;
}
