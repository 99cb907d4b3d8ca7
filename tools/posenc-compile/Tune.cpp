// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sizes of tiles by measuring them.
#include "Tune.h"

#include "posenc/Analysis/CostModel.h"
#include "posenc/Analysis/PairProducts.h"
#include "posenc/Tools/Workload.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace mlir;
using namespace posenc;

/// Beside the one that is predicted to be best.
static constexpr size_t kCandidates = 6;
static constexpr int kRounds = 7;
/// The share of the predicted one's time that is no noise.
static constexpr double kWorthIt = 0.99;

namespace {
struct Timed {
  TileCandidate candidate;
  std::unique_ptr<Workload> workload;
  double seconds = 1e30;
};
} // namespace

static LogicalResult time(KernelOp kernel, Timed &timed) {
  auto start = std::chrono::steady_clock::now();
  if (llvm::Error error = timed.workload->run())
    return kernel.emitError("cannot time tiles of ")
           << timed.candidate.sizes.str() << ": "
           << llvm::toString(std::move(error));
  std::chrono::duration<double> passed =
      std::chrono::steady_clock::now() - start;
  timed.seconds = std::min(timed.seconds, passed.count());
  return success();
}

/// The plan for many queries.
static FailureOr<std::vector<TileCandidate>>
getCandidates(KernelOp kernel, const InstructionSet &isa) {
  FailureOr<OwningOpRef<ModuleOp>> plans =
      lowerToPlans(kernel, {isa.name.str()});
  if (failed(plans))
    return failure();
  for (PlanOp plan : (*plans)->getOps<PlanOp>())
    if (!plan.getPacked() && !plan.getAppend()) {
      std::vector<TileCandidate> candidates =
          getTileCandidates(getTileWork(plan, isa), isa);
      if (candidates.size() > kCandidates)
        candidates.resize(kCandidates);
      return candidates;
    }
  return kernel.emitError("has no plan to tune");
}

static LogicalResult tune(KernelOp kernel, const InstructionSet &isa,
                          CompileOptions &options) {
  constexpr WorkloadSize size = {1, kPredictedLength, kPredictedLength};
  llvm::errs() << kernel.getSymName() << " on " << isa.name << ", "
               << kPredictedLength << " queries and keys:\n";
  auto candidates = getCandidates(kernel, isa);
  if (failed(candidates))
    return failure();
  std::vector<Timed> all;
  for (TileCandidate &candidate : *candidates) {
    CompileOptions one = options;
    one.kernel = kernel.getSymName().str();
    one.isas = {isa.name.str()};
    one.emitAssembly = false;
    one.tiles = {(isa.name + "=" + candidate.sizes.str()).str()};
    auto compiled = compile(kernel->getParentOfType<ModuleOp>(), one);
    if (failed(compiled))
      return failure();
    auto workload =
        Workload::create(compiled->front(), kernel, size, /*pool=*/nullptr);
    if (!workload)
      return kernel.emitError("cannot time its tiles: ")
             << llvm::toString(workload.takeError());
    all.push_back({std::move(candidate), std::move(*workload)});
  }
  for (int round = 0; round <= kRounds; ++round)
    for (Timed &timed : all) {
      if (round == 1)
        timed.seconds = 1e30; // the first calls warm caches and pages
      if (failed(time(kernel, timed)))
        return failure();
    }
  const Timed *best = &all.front();
  double predicted = best->candidate.cost.getTotal(), first = best->seconds;
  for (const Timed &timed : all) {
    llvm::errs() << llvm::format(
        "  %-12s predicted %.3f, measured %.3f (%.3f ms)\n",
        timed.candidate.sizes.str().c_str(),
        timed.candidate.cost.getTotal() / predicted, timed.seconds / first,
        1e3 * timed.seconds);
    if (timed.seconds < std::min(best->seconds, kWorthIt * first))
      best = &timed;
  }
  options.tiles.push_back((isa.name + "=" + best->candidate.sizes.str()).str());
  llvm::errs() << "  chosen: " << best->candidate.sizes.str() << "\n";
  return success();
}

LogicalResult posenc::tuneTiles(KernelOp kernel, const Target &target,
                                CompileOptions &options) {
  if (kernel.hasState()) {
    llvm::errs() << kernel.getSymName()
                 << " is computed in chunks, which are not tuned\n";
    return success();
  }
  uint64_t features = posenc_cpu_features();
  for (const InstructionSet *isa : selectInstructionSets(kernel, target.isas))
    if (target.platform != &getHostPlatform() ||
        (isa->features & ~features) != 0)
      llvm::errs() << kernel.getSymName() << " on " << isa->name
                   << ": this CPU cannot time it; predicted\n";
    else if (failed(tune(kernel, *isa, options)))
      return failure();
  return success();
}
