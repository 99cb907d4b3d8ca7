// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collects what the driver needs of a kernel and its plans, which have passed
// posenc-verify-plan, and checks that they fit together.
#include "DriverKernel.h"
#include "DriverScalar.h"

#include "posenc/Analysis/InstructionSets.h"
#include "posenc/Analysis/KeyReach.h"
#include "posenc/kernel_abi.h"

#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace posenc;

std::optional<unsigned> DriverKernel::findOperand(StringRef operand) {
  for (auto [index, tensor] : llvm::enumerate(operands))
    if (tensor.name == operand)
      return getFirstOperand() + index;
  return std::nullopt;
}

std::optional<unsigned> DriverKernel::findScales(bool areOfValues) {
  if (!op.getKvScales())
    return std::nullopt;
  return findTensor(areOfValues ? "v_scales" : "k_scales");
}

std::optional<unsigned> DriverKernel::findTensor(StringRef name) {
  for (auto [index, tensor] : llvm::enumerate(tensors))
    if (tensor.name == name)
      return index;
  return std::nullopt;
}

bool DriverKernel::preparesByLength() {
  return hasSequences() && llvm::any_of(tables, [](DriverTable &table) {
           bool hasKeys = table.type && (table.type.hasAxis(TableAxis::key) ||
                                         table.type.hasAxis(TableAxis::query));
           return table.hasBatches || hasKeys;
         });
}

std::optional<unsigned> DriverKernel::findRole(SequenceRole role) {
  for (auto [index, tensor] : llvm::enumerate(tensors))
    if (tensor.role == role)
      return index;
  return std::nullopt;
}

DriverTable &DriverKernel::lookupTable(StringRef name) {
  for (DriverTable &table : tables)
    if (table.getName() == name)
      return table;
  llvm_unreachable("plans are verified");
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// Which heads differ in a table. One that reads both constants and operands by
/// head needs all heads of the kernel in the call.
static void analyzeHeads(DriverTable &table, DriverKernel &kernel) {
  bool isOfKernel = false, isOfCall = false;
  for (TableOp lookup : table.op.getBody().front().getOps<TableOp>())
    if (lookup.getType().hasAxis(TableAxis::head))
      (isa<OperandAttr>(lookup.getLaw()) ? isOfCall : isOfKernel) = true;
  if (isOfCall)
    table.heads = DriverTable::Heads::Call;
  else if (isOfKernel)
    table.heads = DriverTable::Heads::Kernel;
  kernel.needsAllHeads |= isOfCall && isOfKernel;
}

/// Whether the prologue of some plan rotates by the table.
static bool rotatesQueries(DriverTable &table, ArrayRef<PlanOp> plans) {
  return llvm::any_of(plans, [&](PlanOp plan) {
    if (plan.getAppend())
      return false;
    auto ops = plan.getPrologueOp().getBody().front().getOps<TileRotateOp>();
    return llvm::any_of(
        ops, [&](TileRotateOp op) { return op.getTable() == table.getName(); });
  });
}

/// Whether the keys of some plan are rotated by the table.
static bool rotatesKeys(DriverTable &table, ArrayRef<PlanOp> plans) {
  return llvm::any_of(plans, [&](PlanOp plan) {
    if (!plan.getKeysOp())
      return false;
    auto ops = plan.getKeysOp().getBody().front().getOps<TileRotateOp>();
    return llvm::any_of(
        ops, [&](TileRotateOp op) { return op.getTable() == table.getName(); });
  });
}

/// Whether frequencies depend on the number of keys.
static bool readsLength(Value freqs) {
  auto map = freqs.getDefiningOp<FreqsMapOp>();
  return map && !map.getBody().getArgument(1).use_empty();
}

static LogicalResult analyzeAngles(DriverTable &table, DriverKernel &kernel,
                                   ArrayRef<PlanOp> plans) {
  Operation *yield = table.op.getBody().front().getTerminator();
  table.rotation = yield->getOperand(0).getDefiningOp<RotateOp>();
  if (!table.rotation)
    return table.op.emitOpError("expects angles to yield a posenc.rotate");
  table.positions.assign(table.rotation.getPositions().begin(),
                         table.rotation.getPositions().end());
  table.freqs.assign(table.rotation.getFreqs().begin(),
                     table.rotation.getFreqs().end());
  table.pairs = *table.rotation.getNumPairs();
  table.side =
      isa<QueryType>(table.rotation.getType()) ? Side::query : Side::key;
  std::optional<Alignment> alignment;
  for (Value coord : table.positions) {
    PositionLawAttrInterface law = findPosition(coord).getLaw();
    table.hasTokenRows |= isa<PositionTensorAttr, AppendedAttr>(law);
    if (alignment && *alignment != law.getAlignment() &&
        table.side == Side::key && rotatesQueries(table, plans))
      return table.op.emitOpError(
          "expects the positions of a table that queries share with keys to "
          "have one alignment, since a query takes one row of it");
    alignment = law.getAlignment();
  }
  table.alignment = *alignment;
  // Over a cache of encoded keys only the queries turn: few tokens beside the
  // room for keys.
  if (kernel.hasSequences() && !rotatesKeys(table, plans)) {
    table.side = Side::query;
    table.hasTokenRows = true;
  }
  table.hasBatches =
      table.hasTokenRows ||
      (kernel.hasSequences() && llvm::any_of(table.freqs, readsLength));
  // Rows of the keys that a ring holds, wherever each sequence has come to.
  table.hasBatches |= kernel.isRing() && table.side == Side::key;
  return success();
}

/// The rows of a table whose type has no bounds for them.
static LogicalResult analyzeRelation(DriverTable &table, Value relation) {
  if (auto map = relation.getDefiningOp<RelationMapOp>()) {
    table.rows = map.getRows();
  } else if (auto op = relation.getDefiningOp<RelationOp>()) {
    table.rows = op.getLaw().getCardinality();
    if (!table.rows)
      table.relation = op;
  }
  if (table.rows)
    return success();
  auto isCounted = [](Value coord) {
    auto position = coord.getDefiningOp<PositionOp>();
    return position && isa<IotaAttr>(position.getLaw());
  };
  if (table.relation && isCounted(table.relation.getQuery()) &&
      isCounted(table.relation.getKey()))
    return success();
  return table.op.emitOpError("expects rows without bounds to be looked up by "
                              "a posenc.relation between positions that are "
                              "counted: the values of others are not known "
                              "before the call");
}

static LogicalResult analyzeRows(DriverTable &table) {
  Operation *yield = table.op.getBody().front().getTerminator();
  table.values = yield->getOperand(0);
  table.type = cast<TableType>(table.values.getType());
  table.hasBatches = table.type.hasAxis(TableAxis::batch);
  table.rows = getTableRows(table.values);
  if (!table.type.hasAxis(TableAxis::row) || table.rows)
    return success();
  if (yield->getNumOperands() < 2)
    return table.op.emitOpError("expects to yield the relation that looks up "
                                "its rows, which have no bounds");
  return analyzeRelation(table, yield->getOperand(1));
}

static LogicalResult analyzeTable(DriverTable &table, DriverKernel &kernel,
                                  ArrayRef<PlanOp> plans) {
  analyzeHeads(table, kernel);
  switch (table.op.getKind()) {
  case TableKind::angles:
    return analyzeAngles(table, kernel, plans);
  case TableKind::strip:
  case TableKind::decays:
    for (PositionOp position : table.op.getBody().front().getOps<PositionOp>())
      if (position.getSide() == Side::query)
        table.alignment = position.getLaw().getAlignment();
    return success();
  case TableKind::rows:
    return analyzeRows(table);
  }
  llvm_unreachable("all kinds are handled");
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

static LogicalResult checkKernelOf(PlanOp plan, KernelOp kernel) {
  auto check = [&](StringRef what, int64_t actual,
                   int64_t expected) -> LogicalResult {
    if (actual == expected)
      return success();
    return plan.emitOpError("expects '")
           << what << "' to be " << expected << " as in its kernel, but got "
           << actual;
  };
  if (plan.getBlocks() != kernel.getBlocks())
    return plan.emitOpError("expects the 'blocks' of its kernel");
  return success(
      succeeded(check("heads", plan.getHeads(), kernel.getHeads())) &&
      succeeded(check("kv_heads", plan.getKvHeads(), kernel.getNumKvHeads())) &&
      succeeded(check("head_dim", plan.getHeadDim(), kernel.getHeadDim())) &&
      succeeded(check("value_dim", plan.getValueDim(), kernel.getValueSize())));
}

/// The prepared buffer is one for all plans.
static LogicalResult checkSameTables(PlanOp plan, PlanOp first) {
  auto mine = plan.getPrepareOps(), others = first.getPrepareOps();
  bool same = mine.size() == others.size();
  for (size_t i = 0; same && i < mine.size(); ++i)
    same = OperationEquivalence::isEquivalentTo(
        mine[i], others[i], OperationEquivalence::IgnoreLocations);
  if (same)
    return success();
  auto diagnostic = plan.emitOpError("expects the same posenc.prepare "
                                     "operations in all plans of a kernel");
  diagnostic.attachNote(first.getLoc()) << "this plan has others";
  return diagnostic;
}

/// The symbols of the arguments of a kind.
static SmallVector<std::string> findSymbols(const TileFunction &function,
                                            TileArgKind kind) {
  SmallVector<std::string> symbols;
  for (const TileArg &arg : function.args)
    if (arg.kind == kind)
      symbols.push_back(arg.symbol);
  return symbols;
}

/// What a call must fulfil for the arguments of a function.
static void analyzeArguments(const TileFunction &function,
                             DriverKernel &kernel) {
  for (const TileArg &arg : function.args) {
    bool isOfQueries = arg.kind == TileArgKind::AllQueries;
    bool isOfKeys = arg.kind == TileArgKind::AllKeys;
    kernel.needsAllHeads |= isOfQueries || isOfKeys;
    kernel.readsAllQueries |= isOfQueries;
    kernel.readsAllKeys |= isOfKeys;
  }
}

/// The functions of the networks, and where scores are.
static void analyzeNetworks(DriverPlan &plan, DriverKernel &kernel) {
  int64_t heads = plan.op.getHeads();
  plan.networks.resize(getNetworks(plan.op).size());
  for (const TileFunction &tile : plan.tiles)
    for (auto [network, functions] :
         llvm::zip_equal(plan.networks, getNetworkFunctions(plan.op, tile)))
      network.functions.push_back(functions);
  int64_t margin = 0;
  for (DriverPlan::Network &network : llvm::reverse(plan.networks)) {
    network.margin = margin;
    margin = network.getReach();
  }
  for (DriverPlan::Network &network : plan.networks) {
    network.inputs = plan.scoreChannels;
    network.results = network.inputs + heads * network.functions.front().inputs;
    plan.scoreChannels = network.results + heads;
  }
  if (plan.networks.empty())
    return;
  kernel.needsAllHeads = true;
  int64_t numbers =
      plan.scoreChannels * plan.getScoreColumns() * kernel.tallest;
  kernel.scoreBytes =
      std::max<int64_t>(kernel.scoreBytes, numbers * sizeof(float));
}

/// The functions of a recurrence.
static LogicalResult analyzeChunks(DriverPlan &plan, DriverKernel &kernel) {
  FailureOr<std::vector<ChunkFunctions>> chunks = getChunkFunctions(plan.op);
  if (failed(chunks))
    return failure();
  plan.chunks = std::move(*chunks);
  analyzeArguments(plan.chunks.front().outputs, kernel);
  kernel.tallest = std::max(kernel.tallest, plan.chunks.front().outputs.rows);
  return success();
}

/// The tile functions of attention.
static LogicalResult analyzeTiles(DriverPlan &plan, DriverKernel &kernel) {
  FailureOr<SmallVector<TileFunction>> tiles = getTileFunctions(plan.op);
  if (failed(tiles))
    return failure();
  plan.tiles = std::move(*tiles);
  plan.scans = findSymbols(plan.tiles.front(), TileArgKind::Scan).size();
  kernel.scans = std::max(kernel.scans, plan.scans);
  kernel.hasOneRun |= plan.hasOneRun();
  analyzeArguments(plan.tiles.front(), kernel);
  if (plan.hasOneRun() && plan.op.getStepOps().size() > 1)
    return plan.op.emitOpError("expects one posenc.step, since all keys of a "
                               "row come in one run");
  for (const TileFunction &tile : plan.tiles) {
    kernel.tallest = std::max(kernel.tallest, tile.rows);
    kernel.stateBytes = std::max<int64_t>(
        kernel.stateBytes, tile.stateRows * tile.stateColumns * sizeof(float));
  }
  analyzeNetworks(plan, kernel);
  return success();
}

static LogicalResult analyzePlan(DriverPlan &plan, DriverKernel &kernel) {
  if (failed(checkKernelOf(plan.op, kernel.op)))
    return failure();
  if (plan.op.getAppend() != kernel.isAppend())
    return plan.op.emitOpError(kernel.isAppend()
                                   ? "expects to be an 'append' plan, as its "
                                     "kernel appends to a cache"
                                   : "expects not to be an 'append' plan, as "
                                     "its kernel has an output");
  if (static_cast<bool>(plan.op.getChunkOp()) != kernel.isRecurrent())
    return plan.op.emitOpError(kernel.isRecurrent()
                                   ? "expects a posenc.chunk, as the output of "
                                     "its kernel is a posenc.recurrence"
                                   : "expects no posenc.chunk, as the output "
                                     "of its kernel is no posenc.recurrence");
  if (!findInstructionSet(plan.op.getIsa()))
    return plan.op.emitOpError("has no CPU generator for the instruction set '")
           << plan.op.getIsa()
           << "'; expected one of: " << listInstructionSets();
  for (const OperandTensor &operand : plan.op.getOperandTensors())
    if (!kernel.findOperand(operand.name))
      return plan.op.emitOpError("reads operand '")
             << operand.name << "', which its kernel does not have";
  plan.keys = getKeyFunction(plan.op);
  if (plan.keys) {
    plan.transformed = findSymbols(*plan.keys, TileArgKind::TransformedKey);
    plan.hasValuePairs =
        !findSymbols(*plan.keys, TileArgKind::PairedValue).empty();
    analyzeArguments(*plan.keys, kernel);
  }
  kernel.keyVectors =
      std::max<int64_t>(kernel.keyVectors, plan.transformed.size());
  if (kernel.isAppend())
    return success();
  return kernel.isRecurrent() ? analyzeChunks(plan, kernel)
                              : analyzeTiles(plan, kernel);
}

/// The tiles of several heads read one key head's keys, and tables by head.
static LogicalResult analyzePacked(DriverPlan &packed, DriverPlan &plan,
                                   DriverKernel &kernel) {
  if (plan.hasKeysByHead && packed.hasHeads())
    return packed.op.emitOpError("expects no 'packed': its keys differ between "
                                 "the query heads that share a key head");
  KeysOp keys = packed.op.getKeysOp();
  if (keys && !keys.getOnLoad()) {
    packed.transformed = plan.transformed;
    packed.hasValuePairs = plan.hasValuePairs;
  }
  packed.hasKeysByHead = plan.hasKeysByHead;
  return success();
}

/// Finds for each packed plan the one beside it.
static LogicalResult addPacked(PlanOp op, DriverKernel &kernel) {
  for (auto [plan, packed] : llvm::zip_equal(kernel.plans, kernel.packed)) {
    if (plan.op.getIsa() != op.getIsa())
      continue;
    if (packed)
      return op.emitOpError("is the second 'packed' plan for '")
             << op.getIsa() << "'; expected one";
    packed.emplace();
    packed->op = op;
    if (failed(analyzePlan(*packed, kernel)))
      return failure();
    return success();
  }
  return op.emitOpError("expects a plan for '")
         << op.getIsa()
         << "' that is not 'packed' beside it, for calls with more queries";
}

/// Whether the transform of a key head's keys depends on the query head.
static bool keysDifferByHead(const TileFunction &keys, DriverKernel &kernel) {
  return llvm::any_of(keys.args, [&](const TileArg &arg) {
    if (arg.kind == TileArgKind::Angles)
      return kernel.lookupTable(arg.symbol).heads != DriverTable::Heads::Same;
    return arg.type && arg.type.hasAxis(TableAxis::head);
  });
}

FailureOr<DriverKernel> posenc::analyzeKernel(KernelOp op,
                                              ArrayRef<PlanOp> plans) {
  if (!op.isExpanded())
    return op.emitOpError("expects a body: run posenc-expand-encodings");
  if (failed(checkRing(op)))
    return failure();
  if (op.hasState() && !op.getRecurrence())
    return op.emitOpError("expects a posenc.recurrence, since its keys are "
                          "keys(state): run posenc-form-recurrences");
  if (!op.hasState() && op.getRecurrence())
    return op.emitOpError("expects keys(state), since its output is a "
                          "posenc.recurrence");
  if (plans.empty())
    return op.emitOpError("has no posenc.plan: run posenc-plan");
  DriverKernel kernel;
  kernel.op = op;
  kernel.name = op.getSymName().str();
  kernel.tensors = getKernelTensors(op);
  kernel.operands = op.getOperandTensors();
  // New tokens are the last of the keys.
  kernel.needsQueriesAmongKeys =
      op.hasNewTokens() || op.looksUpQueriesAmongKeys();
  if (kernel.tensors.size() > POSENC_MAX_TENSORS)
    return op.emitOpError("expects at most ")
           << POSENC_MAX_TENSORS << " tensors, but has "
           << kernel.tensors.size();
  for (PlanOp plan : plans) {
    if (failed(checkSameTables(plan, plans.front())))
      return failure();
    if (plan.getPacked())
      continue;
    kernel.plans.emplace_back();
    kernel.plans.back().op = plan;
    if (failed(analyzePlan(kernel.plans.back(), kernel)))
      return failure();
  }
  kernel.packed.resize(kernel.plans.size());
  for (PlanOp plan : plans)
    if (plan.getPacked() && failed(addPacked(plan, kernel)))
      return failure();
  for (PrepareOp prepare : PlanOp(plans.front()).getPrepareOps()) {
    DriverTable table;
    table.op = prepare;
    if (failed(analyzeTable(table, kernel, plans)))
      return failure();
    kernel.tables.push_back(std::move(table));
  }
  for (DriverPlan &plan : kernel.plans)
    plan.hasKeysByHead = plan.op.getHeads() != plan.op.getKvHeads() &&
                         plan.keys && keysDifferByHead(*plan.keys, kernel);
  for (auto [plan, packed] : llvm::zip_equal(kernel.plans, kernel.packed))
    if (packed && failed(analyzePacked(*packed, plan, kernel)))
      return failure();
  return kernel;
}
