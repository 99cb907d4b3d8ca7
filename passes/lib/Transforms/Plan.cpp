// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Level 2 to level 3: where each term of a kernel is evaluated.
#include "PlanNumbers.h"
#include "PlanRecurrence.h"
#include "PlanRemarks.h"
#include "PlanScores.h"
#include "PlanSteps.h"
#include "PlanVectors.h"

#include "posenc/Analysis/BiasTraits.h"
#include "posenc/Analysis/ChannelLanes.h"
#include "posenc/Analysis/CostModel.h"
#include "posenc/Analysis/InstructionSets.h"
#include "posenc/Analysis/KernelTensors.h"
#include "posenc/Analysis/PairProducts.h"
#include "posenc/Transforms/Passes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"

namespace posenc {
#define GEN_PASS_DEF_POSENCPLAN
#include "posenc/Transforms/Passes.h.inc"
} // namespace posenc

using namespace mlir;
using namespace posenc;

static std::string getPlanName(KernelOp kernel, StringRef isa) {
  std::string name = (kernel.getSymName() + "_" + isa).str();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//

namespace {
/// What the output of a kernel is made of.
struct OutputTerms {
  NormalizeOp normalize;
  /// With what probability the weights of the sum and of tables are dropped.
  std::optional<double> dropout;
  WeightedSumOp sum;
  SmallVector<ValueTableOp> tables;
  RemainderOp remainder;
};
} // namespace

/// The weights of one term of the output. What a row leaves over is that of the
/// weights before any is dropped.
static LogicalResult addWeights(Operation *op, OutputTerms &terms) {
  Operation *weights = op->getOperand(0).getDefiningOp();
  double dropout = 0;
  if (auto drop = dyn_cast<DropWeightsOp>(weights)) {
    dropout = drop.getProbability().convertToDouble();
    weights = drop.getWeights().getDefiningOp();
  }
  auto normalize = cast<NormalizeOp>(weights);
  if (terms.normalize && normalize != terms.normalize) {
    InFlightDiagnostic diag =
        op->emitOpError("cannot be placed in a plan; expected all terms of the "
                        "output to have the same weights");
    diag.attachNote(terms.normalize.getLoc()) << "other weights are here";
    return diag;
  }
  terms.normalize = normalize;
  if (isa<RemainderOp>(op))
    return success();
  if (terms.dropout.value_or(dropout) != dropout)
    return op->emitOpError("cannot be placed in a plan; expected its weights "
                           "to be dropped with the probability of the other "
                           "terms of the output, ")
           << *terms.dropout << ", but got " << dropout;
  terms.dropout = dropout;
  return success();
}

static LogicalResult addOutput(Value output, OutputTerms &terms) {
  Operation *op = output.getDefiningOp();
  if (auto add = dyn_cast<AddOp>(op))
    return success(succeeded(addOutput(add.getLhs(), terms)) &&
                   succeeded(addOutput(add.getRhs(), terms)));
  if ((isa<WeightedSumOp>(op) && terms.sum) ||
      (isa<RemainderOp>(op) && terms.remainder))
    return op->emitOpError("cannot be placed in a plan; expected one of its "
                           "kind in the output");
  if (failed(addWeights(op, terms)))
    return failure();
  if (auto table = dyn_cast<ValueTableOp>(op)) {
    terms.tables.push_back(table);
    missed(table, "ValueTable", "a row of the table is read for every weight");
    if (auto map = table.getRelation().getDefiningOp<RelationMapOp>();
        map && failed(checkLookups(map, map.getInputs())))
      return failure();
    return checkTable(table, table.getTable(), table.getRelation());
  }
  if (auto remainder = dyn_cast<RemainderOp>(op))
    terms.remainder = remainder;
  else
    terms.sum = cast<WeightedSumOp>(op);
  return success();
}

static FailureOr<OutputTerms> placeOutput(KernelOp kernel) {
  OutputTerms terms;
  Operation *yield = kernel.getBody().front().getTerminator();
  if (failed(addOutput(yield->getOperand(0), terms)))
    return failure();
  if (!terms.sum)
    return yield->emitOpError("cannot be placed in a plan; expected a "
                              "posenc.weighted_sum in the output");
  return terms;
}

/// Starts a part of the plan: its block has arguments of these types.
template <typename OpT, typename... Args>
static Block *addPart(OpBuilder &builder, Location loc, TypeRange types,
                      Args &&...args) {
  auto part = OpT::create(builder, loc, std::forward<Args>(args)...);
  SmallVector<Location> locs(types.size(), loc);
  OpBuilder::InsertionGuard guard(builder);
  return builder.createBlock(&part.getBody(), {}, types, locs);
}

/// Queries as the tile multiplies them, with what is the same for all their
/// products.
static Value writeScale(OpBuilder &builder, const ScoreTerms &terms,
                        Value query, Value vector) {
  if (!terms.holdsScale(query))
    return vector;
  const VectorUse &use = terms.queries.find(query)->second;
  double scale = *use.getScale();
  Location loc = use.products.front()->getLoc();
  if (terms.holdsBase2(query))
    return TileScaleOp::create(builder, loc, vector,
                               APFloat(scale * llvm::numbers::log2e),
                               /*base2=*/true);
  if (scale == 1.0)
    return vector;
  return TileScaleOp::create(builder, loc, vector, APFloat(scale));
}

namespace {
/// Writes the parts of one plan, and of a packed one beside it.
class PlanWriter {
public:
  /// Tiles of all plans of the kernel have at most `rows` rows.
  PlanWriter(KernelOp kernel, PlanOp plan, int64_t rows)
      : kernel(kernel), plan(plan), rows(rows), context(kernel.getContext()),
        builder(context), loc(kernel.getLoc()) {
    builder.createBlock(&plan.getBody());
  }

  LogicalResult run() {
    if (RecurrenceOp recurrence = kernel.getRecurrence())
      return planRecurrence(recurrence, plan);
    return kernel.isAppend() ? writeAppend() : writeAttention();
  }

  /// The same parts with one step for all keys.
  void writePacked(PlanOp packed) {
    PlanTables tables(plan);
    StepOp step =
        writeStep(tables, {"edge", terms.getKeysEnd(), /*isMasked=*/true});
    IRMapping mapping;
    plan.getBody().cloneInto(&packed.getBody(), mapping);
    step->erase();
    SmallVector<StepOp, 4> steps = packed.getStepOps();
    for (StepOp other : ArrayRef(steps).drop_back())
      other->erase();
    steps.back()->moveBefore(packed.getEpilogueOp());
    packed.setFromAttr(plan.getFromAttr());
    if (KeysOp keys = packed.getKeysOp())
      keys.setOnLoad(transformsOnLoad(keys));
    specializeSteps(packed, packed.getRows().front());
  }

private:
  /// Whether a key's vectors are made of its own head.
  static bool transformsOnLoad(KeysOp keys) {
    auto norms = keys.getBody().front().getOps<VectorNormOp>();
    return llvm::all_of(norms, [](VectorNormOp norm) {
      return norm.getOver() == NormAxis::head;
    });
  }

  LogicalResult writeAttention() {
    FailureOr<OutputTerms> placedOutput = placeOutput(kernel);
    if (failed(placedOutput))
      return failure();
    output = *placedOutput;
    PlanTables tables(plan);
    FailureOr<ScoreTerms> placed = placeScores(output.normalize, tables);
    if (failed(placed))
      return failure();
    terms = std::move(*placed);
    for (auto &[query, use] : terms.queries)
      queries.push_back(query);
    for (auto &[key, use] : terms.keys)
      keys.push_back(key);
    plan.setDescending(static_cast<bool>(terms.scan));
    if (AffineMap from = terms.getKeysBegin(); from.getNumResults())
      plan.setFrom(from);
    writeKeys(tables);
    writePrologue(tables);
    writeSteps(tables);
    writeEpilogue(tables);
    return success();
  }

  /// The vector of each new key.
  LogicalResult writeAppend() {
    keys.push_back(kernel.getBody().front().getTerminator()->getOperand(0));
    if (failed(checkVector(keys.front())))
      return failure();
    PlanTables tables(plan);
    writeKeys(tables);
    return success();
  }

  using WriteFunction =
      function_ref<SmallVector<Value>(OpBuilder &, Block &part)>;

  /// The builder stays at the end of the plan; parts are filled by their own.
  void fill(Block *part, WriteFunction write) {
    OpBuilder inner = OpBuilder::atBlockEnd(part);
    YieldOp::create(inner, loc, write(inner, *part));
  }

  void writeKeys(PlanTables &tables) {
    if (llvm::all_of(keys, llvm::IsaPred<BlockArgument>) &&
        terms.factored.empty())
      return;
    fill(addPart<KeysOp>(builder, loc, KeyType::get(context),
                         /*on_load=*/false),
         [&](OpBuilder &inner, Block &part) {
           VectorWriter writer(inner, tables, part.getArgument(0));
           SmallVector<Value> results = llvm::map_to_vector(
               keys, [&](Value key) { return writer.write(key); });
           forFactors([&](Operation *bias, const FactoredBias &,
                          const FactorVectors &part) {
             results.push_back(writeFactorVector(inner, bias->getLoc(),
                                                 part.keys, Side::key));
           });
           return results;
         });
  }

  void forFactors(function_ref<void(Operation *, const FactoredBias &,
                                    const FactorVectors &)>
                      callback) {
    for (auto &[bias, factored] : terms.factored)
      for (const FactorVectors &part : factored.parts)
        callback(bias, factored, part);
  }

  void writePrologue(PlanTables &tables) {
    fill(addPart<PrologueOp>(builder, loc, QueryType::get(context)),
         [&](OpBuilder &inner, Block &part) {
           VectorWriter writer(inner, tables, part.getArgument(0));
           SmallVector<Value> results;
           for (Value query : queries)
             results.push_back(
                 writeScale(inner, terms, query, writer.write(query)));
           forFactors([&](Operation *bias, const FactoredBias &factored,
                          const FactorVectors &part) {
             Value vector = writeFactorVector(inner, bias->getLoc(),
                                              part.queries, Side::query);
             if (!factored.natural)
               vector = TileScaleOp::create(inner, bias->getLoc(), vector,
                                            APFloat(llvm::numbers::log2e),
                                            /*base2=*/true);
             results.push_back(vector);
           });
           if (results.empty())
             results.push_back(part.getArgument(0));
           return results;
         });
  }

  void writeSteps(PlanTables &tables) {
    // What suits every pair stands in the plan while its steps are chosen.
    AffineMap all = AffineMap::getMultiDimIdentityMap(4, context);
    StepOp general = writeStep(tables, {"general", all});
    SmallVector<StepRange> ranges =
        planSteps(terms, general, rows, plan.getKeys());
    general.erase();
    for (const StepRange &range : ranges)
      writeStep(tables, range);
    specializeSteps(plan, rows);
  }

  StepOp writeStep(PlanTables &tables, const StepRange &range) {
    size_t pairs = 0;
    forFactors([&](auto...) { ++pairs; });
    SmallVector<Type> types(std::max<size_t>(1, queries.size() + pairs),
                            QueryType::get(context));
    size_t firstKey = types.size();
    types.append(std::max<size_t>(1, keys.size() + pairs),
                 KeyType::get(context));
    Block *step = addPart<StepOp>(builder, loc, types, range.name, range.until,
                                  range.isMaximum, range.hasWholeBlocks);
    fill(step, [&](OpBuilder &inner, Block &part) {
      VectorArguments vectors;
      for (auto [index, query] : llvm::enumerate(queries))
        vectors.ofKernel.map(query, part.getArgument(index));
      for (auto [index, key] : llvm::enumerate(keys))
        vectors.ofKernel.map(key, part.getArgument(firstKey + index));
      size_t query = queries.size(), key = firstKey + keys.size();
      forFactors([&](Operation *bias, auto &, auto &) {
        VectorArguments::Pair &pair = vectors.ofBiases[bias];
        pair.queries.push_back(part.getArgument(query++));
        pair.keys.push_back(part.getArgument(key++));
      });
      TermCloner cloner(inner, tables);
      SmallVector<Value> results =
          writeScores(terms, vectors, cloner, inner, range.isMasked);
      for (ValueTableOp table : output.tables) {
        results.push_back(cloner.cloneTable(
            table.getTable(), table.getRelation(), /*inlined=*/false));
        results.push_back(cloner.clone(table.getRelation()));
      }
      return results;
    });
    return cast<StepOp>(step->getParentOp());
  }

  void writeEpilogue(PlanTables &tables) {
    NormalizeOp normalize = output.normalize;
    fill(addPart<EpilogueOp>(builder, loc, StateType::get(context)),
         [&](OpBuilder &inner, Block &part) {
           Value state = part.getArgument(0), sink;
           if (normalize.getSink())
             sink = TermCloner(inner, tables)
                        .cloneTable(normalize.getSink(), Value(),
                                    /*inlined=*/true);
           double dropout = *output.dropout;
           Value result = TileNormalizeOp::create(
               inner, normalize.getLoc(), normalize.getKind(), state, sink,
               normalize.getBoundsAttr(),
               dropout > 0 ? inner.getF64FloatAttr(dropout) : FloatAttr());
           if (output.remainder)
             result = TileRemainderOp::create(inner, output.remainder.getLoc(),
                                              result, state);
           return SmallVector<Value>{result};
         });
  }

  KernelOp kernel;
  PlanOp plan;
  int64_t rows;
  MLIRContext *context;
  OpBuilder builder;
  Location loc;
  OutputTerms output;
  ScoreTerms terms;
  SmallVector<Value> queries, keys;
};
} // namespace

using TileChoices = llvm::StringMap<TileSizes>;

/// Null for f32, the default.
static TypeAttr getStorageType(Type type) {
  return type.isF32() ? TypeAttr() : TypeAttr::get(type);
}

/// Those that the caller wants, or the cheapest.
static TileSizes chooseTiles(KernelOp kernel, const InstructionSet &isa,
                             const TileChoices &wanted) {
  if (auto choice = wanted.find(isa.name); choice != wanted.end())
    return choice->second;
  return getTileCandidates(getTileWork(kernel, isa), isa).front().sizes;
}

/// Every height of tiles has code for all steps: where these are many, lower
/// tiles are left out.
static void limitTiles(PlanOp plan) {
  constexpr int64_t fewSteps = 2;
  int64_t steps = llvm::count_if(
      plan.getStepOps(), [](StepOp step) { return !step.getMaximum(); });
  if (steps > fewSteps)
    plan.setRows(plan.getRows().take_front());
}

/// What the tiles are predicted to cost, and the next best ones.
static void noteCost(KernelOp kernel, PlanOp plan, const InstructionSet &isa) {
  constexpr size_t kShown = 4;
  TileWork work = getTileWork(plan, isa);
  TileSizes sizes = getTileSizes(plan);
  TileCost cost = predictCost(work, sizes, isa);
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto percent = [&](double part) {
    return llvm::format("%.1f %%", 100 * part / cost.getTotal());
  };
  stream << "@" << plan.getSymName() << " is predicted to reach "
         << percent(cost.peak) << " of the peak with tiles of " << sizes.str()
         << "; of its time " << percent(cost.products) << " are products, "
         << percent(cost.softmax) << " softmax, " << percent(cost.terms)
         << " other terms, " << percent(cost.state) << " the state, "
         << percent(cost.traffic) << " reading keys and values, "
         << percent(cost.copies) << " copies, " << percent(cost.waste)
         << " rows and keys for nothing";
  size_t shown = 0;
  for (const TileCandidate &other : getTileCandidates(work, isa)) {
    if (other.sizes == sizes)
      continue;
    stream << (shown == 0 ? "; alternatives: " : ", ") << other.sizes.str()
           << llvm::format(" (%.3f of the time)",
                           other.cost.getTotal() / cost.getTotal());
    if (++shown == kShown)
      break;
  }
  noted(kernel, "Cost", text);
}

static void noteTiles(KernelOp kernel, PlanOp plan) {
  auto rows = llvm::map_range(
      plan.getRows(), [](int64_t rows) { return std::to_string(rows); });
  std::optional<int64_t> packed = plan.getPacked();
  noted(kernel, "Tiles",
        "@" + plan.getSymName() + " has tiles of " + llvm::join(rows, " or ") +
            (packed ? " rows" : " queries") + " and blocks of " +
            Twine(plan.getKeys()) + " keys" +
            (packed ? ", for sequences of at most " + Twine(*packed) +
                          " queries of " + Twine(plan.getGroup()) + " heads"
                    : ""));
  PairProducts pairs = getPairProducts(plan);
  if (pairs.scores || pairs.values)
    noted(kernel, "Pairs",
          "@" + plan.getSymName() + " multiplies pairs of bf16 for " +
              (pairs.scores && pairs.values ? "scores and values"
               : pairs.scores               ? "scores"
                                            : "values"));
}

//===----------------------------------------------------------------------===//
// Packed plans
//===----------------------------------------------------------------------===//

/// A tile for more queries of one head would be half full.
static constexpr int64_t kMostPackedQueries = 16;
/// Keys of a block, which stays in the fastest cache with its values.
static constexpr int64_t kPackedKeys = 16;

static bool readsHeads(Block &body) {
  return readsHeadTables(body.getTerminator()->getOperands());
}

/// Whether angles of a rotation of keys differ between heads.
static bool rotatesByHead(PlanOp plan) {
  auto rotations = plan.getKeysOp().getBody().front().getOps<TileRotateOp>();
  return llvm::any_of(rotations, [&](TileRotateOp rotation) {
    return readsHeads(
        plan.lookupPrepare(rotation.getTable()).getBody().front());
  });
}

/// Why heads cannot be packed, or not with a gain; "" if they are.
static StringRef findUnpackable(PlanOp plan) {
  if (plan.getBlocks())
    return "lists of blocks are those of one head";
  if (plan.getDescending())
    return "a scan sees all keys of a row at once";
  if (plan.getNormalizeOp().getDropout())
    return "each head drops weights by random words of its own";
  Block &body = plan.getStepOps().back().getBody().front();
  if (!body.getOps<HeadMlpOp>().empty())
    return "a network mixes the scores of all heads";
  bool hasValueTables =
      llvm::any_of(body.back().getOperandTypes(), llvm::IsaPred<TableType>);
  if (!body.getOps<TableDotOp>().empty() || hasValueTables)
    return "rows of a table are read for every pair, which takes longer than "
           "to read the keys";
  if (KeysOp keys = plan.getKeysOp();
      keys && plan.getGroup() > 1 &&
      (readsHeads(keys.getBody().front()) || rotatesByHead(plan)))
    return "key vectors differ between the heads that share a key head";
  return "";
}

/// As many rows as a vector has channels, or rows where channels are no lanes,
/// and fewer for single queries of few heads.
static SmallVector<int64_t> getPackedRows(PlanOp plan,
                                          const InstructionSet &isa) {
  int64_t channels = getChannelLanes(plan, isa.lanes);
  SmallVector<int64_t> rows = {channels ? channels
                                        : std::max(isa.lanes, isa.transpose)};
  int64_t group = llvm::PowerOf2Ceil(plan.getGroup());
  if (group < rows.front())
    rows.push_back(group);
  return rows;
}

/// The plan beside `plan` for few queries, without its parts.
static PlanOp createPacked(PlanOp plan, const InstructionSet &isa) {
  OpBuilder builder(plan.getContext());
  builder.setInsertionPointAfter(plan);
  auto packed = cast<PlanOp>(plan->cloneWithoutRegions());
  builder.insert(packed);
  packed.setSymName((plan.getSymName() + "_packed").str());
  packed.setRows(getPackedRows(plan, isa));
  packed.setKeys(kPackedKeys);
  packed.setPacked(kMostPackedQueries);
  return packed;
}

/// The parts of one instruction set's plan are those of another's.
static void copyParts(PlanOp from, PlanOp to) {
  IRMapping mapping;
  from.getBody().cloneInto(&to.getBody(), mapping);
  to.setDescending(from.getDescending());
  to.setFromAttr(from.getFromAttr());
}

/// What the tiles of every instruction set share is decided once.
static LogicalResult planKernel(KernelOp kernel,
                                ArrayRef<const InstructionSet *> isas,
                                const TileChoices &wanted) {
  if (!kernel.isExpanded())
    return kernel.emitOpError("has no body to plan; run "
                              "posenc-expand-encodings first");
  if (failed(checkNumbers(kernel)))
    return failure();
  OpBuilder builder(kernel.getContext());
  builder.setInsertionPointAfter(kernel);
  bool isAppend = kernel.isAppend(), isRecurrent(kernel.getRecurrence()),
       isPacked = false;
  int64_t tallest = 0;
  SmallVector<TileSizes> tiles;
  for (const InstructionSet *isa : isas) {
    tiles.push_back(isRecurrent ? getChunks(*isa)
                                : chooseTiles(kernel, *isa, wanted));
    tallest = std::max(tallest, tiles.back().rows.front());
  }
  PlanOp first, firstPacked;
  for (auto [isa, sizes] : llvm::zip_equal(isas, tiles)) {
    std::string name = getPlanName(kernel, isa->name);
    for (StringRef suffix : {"", "_packed"})
      if (Operation *other = SymbolTable::lookupNearestSymbolFrom(
              kernel, builder.getStringAttr(name + suffix)))
        return other->emitOpError("has the name '")
               << name << suffix << "', which the plan of a kernel needs";
    PlanOp plan = PlanOp::create(
        builder, kernel.getLoc(), name, kernel.getSymName(), isa->name,
        kernel.getHeads(), kernel.getNumKvHeads(), kernel.getHeadDim(),
        kernel.getValueSize(), sizes.rows, sizes.keys,
        /*descending=*/false, /*from=*/AffineMapAttr(),
        isAppend ? TypeAttr() : getStorageType(kernel.getElementType()),
        getStorageType(isAppend ? kernel.getElementType()
                                : kernel.getKeyElementType()),
        /*indirect=*/!isAppend && hasIndirectKeys(kernel), isAppend,
        kernel.getBlocksAttr(), /*packed=*/IntegerAttr());
    std::optional<PlanWriter> writer;
    if (first) {
      copyParts(first, plan);
    } else if (writer.emplace(kernel, plan, tallest); failed(writer->run())) {
      plan.erase();
      return failure();
    }
    if (isAppend || isRecurrent) {
      first = plan;
      builder.setInsertionPointAfter(plan);
      continue;
    }
    PlanOp packed;
    if (!first) {
      StringRef reason = findUnpackable(plan);
      isPacked = reason.empty();
      if (!isPacked)
        missed(kernel, "PackedTiles",
               "few queries have the tiles of many: " + reason);
    }
    if (isPacked) {
      packed = createPacked(plan, *isa);
      if (firstPacked)
        copyParts(firstPacked, packed);
      else
        writer->writePacked(packed);
    }
    limitTiles(plan);
    noteTiles(kernel, plan);
    noteCost(kernel, plan, *isa);
    if (packed)
      noteTiles(kernel, packed);
    if (!first) {
      first = plan;
      firstPacked = packed;
    }
    builder.setInsertionPointAfter(packed ? packed : plan);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct Plan : posenc::impl::PosencPlanBase<Plan> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<std::string> names(isa.begin(), isa.end());
    for (const std::string &name : names)
      if (!findInstructionSet(name)) {
        getOperation().emitError("expected 'isa' to be one of ")
            << listInstructionSets() << ", but got '" << name << "'";
        return signalPassFailure();
      }
    TileChoices wanted;
    for (StringRef choice : tiles) {
      auto [name, text] = choice.split('=');
      std::optional<TileSizes> sizes = TileSizes::parse(text);
      if (!findInstructionSet(name) || !sizes) {
        getOperation().emitError("expected 'tiles' to be like "
                                 "'x86-64-avx2=24+16x256', but got '")
            << choice << "'";
        return signalPassFailure();
      }
      if (!areHeightsOrdered(sizes->rows)) {
        getOperation().emitError("expected 'tiles' to have one height, or a "
                                 "second one of at least two thirds of the "
                                 "first, but got '")
            << choice << "'";
        return signalPassFailure();
      }
      wanted[name] = *sizes;
    }
    for (KernelOp kernel : llvm::to_vector(getOperation().getOps<KernelOp>()))
      if (failed(
              planKernel(kernel, selectInstructionSets(kernel, names), wanted)))
        signalPassFailure();
  }
};
} // namespace
