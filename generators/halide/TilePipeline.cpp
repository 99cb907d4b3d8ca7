// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TilePipeline.h"
#include "Epilogue.h"
#include "KeyTransform.h"
#include "Network.h"
#include "OnlineSoftmax.h"
#include "Prologue.h"
#include "Recurrence.h"
#include "Scans.h"

using namespace posenc;
using mlir::FailureOr;

/// What code is generated for.
namespace {
struct Machine {
  const InstructionSet &isa;
  Halide::Target target;
};
} // namespace

/// Plain functions: no checks (the driver makes the buffers), no runtime of
/// Halide's, no second entry point and no metadata.
static Halide::Target getTarget(const InstructionSet &isa,
                                const Platform &platform) {
  auto [architecture, features] = isa.halideTarget.split("-linux");
  return Halide::Target(
             (architecture + "-" + platform.halideSystem + features).str())
      .with_feature(Halide::Target::NoAsserts)
      .with_feature(Halide::Target::NoBoundsQuery)
      .with_feature(Halide::Target::NoRuntime);
}

static Halide::Module lower(Halide::Pipeline pipeline, const TileParams &params,
                            const TileFunction &function,
                            const Machine &machine) {
  return pipeline.compile_to_module(params.inputs(), function.symbol,
                                    machine.target,
                                    Halide::LinkageType::External);
}

/// The vectors that the scores of a tile are made of.
static FailureOr<StepVectors> buildVectors(PlanOp plan,
                                           const TileContext &context) {
  FailureOr<std::vector<Halide::Func>> queries =
      buildPrologue(plan.getPrologueOp(), context);
  if (mlir::failed(queries))
    return mlir::failure();
  StepVectors vectors(plan, *queries, context.params);
  if (context.shape.pairs.scores)
    vectors.queryPairs = buildQueryPairs(plan.getPrologueOp(), context);
  return vectors;
}

static FailureOr<Halide::Module> buildTile(PlanOp plan, const TileShape &shape,
                                           const TileFunction &function,
                                           const Machine &machine) {
  TileContext context{shape, TileParams(function, machine.isa)};
  FailureOr<StepVectors> vectors = buildVectors(plan, context);
  if (mlir::failed(vectors))
    return mlir::failure();
  Scans scans(context, *vectors);
  for (StepOp step : getTileSteps(plan))
    if (mlir::failed(scans.add(step)))
      return mlir::failure();
  OnlineSoftmax softmax(context, WeightKind(plan), *vectors, scans.getFuncs());
  for (StepOp step : getTileSteps(plan))
    if (mlir::failed(softmax.addStep(step)))
      return mlir::failure();
  FailureOr<std::vector<Halide::Func>> epilogue =
      buildEpilogue(plan.getEpilogueOp(), context, softmax.getState());
  if (mlir::failed(epilogue))
    return mlir::failure();
  // In the order of the signature.
  std::vector<Halide::Func> outputs{softmax.getState()};
  llvm::append_range(outputs, scans.getOutputs());
  llvm::append_range(outputs, *epilogue);
  Halide::Pipeline pipeline(outputs);
  return lower(pipeline, context.params, function, machine);
}

/// What a network takes of one head.
static FailureOr<Halide::Module> buildScores(PlanOp plan, HeadMlpOp op,
                                             const TileShape &shape,
                                             const TileFunction &function,
                                             const Machine &machine) {
  TileContext context{shape, TileParams(function, machine.isa)};
  FailureOr<StepVectors> vectors = buildVectors(plan, context);
  if (mlir::failed(vectors))
    return mlir::failure();
  NetworkInputs inputs(context, *vectors);
  if (mlir::failed(inputs.build(op)))
    return mlir::failure();
  return lower(Halide::Pipeline(inputs.getOutput()), context.params, function,
               machine);
}

static FailureOr<Halide::Module> buildMixed(HeadMlpOp op,
                                            const TileShape &shape,
                                            const TileFunction &function,
                                            const Machine &machine) {
  TileContext context{shape, TileParams(function, machine.isa)};
  FailureOr<Halide::Func> mixed = buildNetwork(op, context);
  if (mlir::failed(mixed))
    return mlir::failure();
  return lower(Halide::Pipeline(*mixed), context.params, function, machine);
}

static mlir::LogicalResult addNetworks(PlanOp plan, const TileShape &shape,
                                       const TileFunction &tile,
                                       const Machine &machine,
                                       std::vector<Halide::Module> &modules) {
  for (auto [op, functions] :
       llvm::zip_equal(getNetworks(plan), getNetworkFunctions(plan, tile))) {
    auto scores = buildScores(plan, op, shape, functions.scores, machine);
    if (mlir::failed(scores))
      return mlir::failure();
    modules.push_back(*scores);
    auto mixed = buildMixed(op, shape, functions.network, machine);
    if (mlir::failed(mixed))
      return mlir::failure();
    modules.push_back(*mixed);
  }
  return mlir::success();
}

static mlir::LogicalResult addTiles(PlanOp plan, const Machine &machine,
                                    std::vector<Halide::Module> &modules) {
  // The second asks the first again: one diagnostic is enough.
  auto shapes = getTileShapes(plan);
  if (mlir::failed(shapes))
    return mlir::failure();
  auto functions = getTileFunctions(plan);
  for (auto [shape, function] : llvm::zip_equal(*shapes, *functions)) {
    FailureOr<Halide::Module> module =
        buildTile(plan, shape, function, machine);
    if (mlir::failed(module))
      return mlir::failure();
    modules.push_back(*module);
    if (mlir::failed(addNetworks(plan, shape, function, machine, modules)))
      return mlir::failure();
  }
  return mlir::success();
}

static mlir::LogicalResult addChunks(PlanOp plan, const Machine &machine,
                                     std::vector<Halide::Module> &modules) {
  auto shapes = getTileShapes(plan);
  if (mlir::failed(shapes))
    return mlir::failure();
  auto functions = getChunkFunctions(plan);
  for (auto [shape, chunk] : llvm::zip_equal(*shapes, *functions)) {
    TileParams outputs(chunk.outputs, machine.isa),
        state(chunk.state, machine.isa);
    FailureOr<Halide::Pipeline> pipeline =
        buildChunkOutputs(plan, shape, outputs);
    if (mlir::failed(pipeline))
      return mlir::failure();
    modules.push_back(lower(*pipeline, outputs, chunk.outputs, machine));
    modules.push_back(lower(buildChunkState(plan, shape, state), state,
                            chunk.state, machine));
  }
  return mlir::success();
}

FailureOr<std::vector<Halide::Module>>
posenc::buildTileModules(PlanOp plan, const InstructionSet &isa,
                         const Platform &platform) {
  Machine machine{isa, getTarget(isa, platform)};
  std::vector<Halide::Module> modules;
  auto add = plan.getChunkOp() ? addChunks : addTiles;
  if (!plan.getAppend() && mlir::failed(add(plan, machine, modules)))
    return mlir::failure();
  if (std::optional<TileFunction> function = getKeyFunction(plan)) {
    TileParams params(*function, machine.isa);
    FailureOr<Halide::Pipeline> pipeline =
        buildKeyTransform(plan, params, machine.isa.lanes);
    if (mlir::failed(pipeline))
      return mlir::failure();
    modules.push_back(lower(*pipeline, params, *function, machine));
  }
  return modules;
}
