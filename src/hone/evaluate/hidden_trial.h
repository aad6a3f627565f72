// Correctness on hidden shapes: small, odd and aligned ones that nobody was told of, and some on each side of what the
// kernel's own plan tells apart; every input family, tensors that end where mapped memory ends. One thread.
#pragma once
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "hone/evaluate/loader.h"
#include "hone/evaluate/shape_search.h"
#include "hone/evaluate/stage.h"

namespace hone::evaluate {

class HiddenTrial {
 public:
  /// Draws its shapes secretly. The loader must outlive the trial.
  explicit HiddenTrial(Loader& loader) : loader_(loader) {}

  /// On the first `most` shapes that the kernel's requirements admit: a refusal, or the verdict that came
  /// closest to its bound. Every kernel meets every family: one that admits no hidden shape does so on the
  /// task's smallest workload, gigabytes of it only if `thorough`. Shapes for which it did not ship, where nothing compiles, are passed over.
  [[nodiscard]] Result<Verdict> check(const kernel::Kernel& kernel, int most, bool thorough, Spent& spent);

  /// Of a task with symbols: the workloads' shapes, where the kernel that was checked last admits none of the hidden ones.
  [[nodiscard]] std::vector<std::string> only_at() const;

  /// The first `most` shapes that the kernel admits, as it would be checked at them: symbols that it bakes
  /// in keep the first workload's values. Beside them check() looks for shapes at which the kernel's plan takes other ways.
  [[nodiscard]] std::vector<task::Bindings> admitted(const kernel::Kernel& kernel, int most);
  /// All shapes that kernels were checked at so far, or will be: nobody is told of them.
  [[nodiscard]] std::set<task::Bindings> secret() const;

 private:
  [[nodiscard]] std::optional<task::Bindings> own_shape(const kernel::Kernel& kernel) const;
  /// Shapes that only this kernel is tried on: where its plan goes ways that it does not go at those of `tried`.
  [[nodiscard]] std::vector<task::Bindings> other_sides(const kernel::Kernel& kernel, std::span<const task::Bindings> tried, bool thorough);
  /// Whether its conditions hold there, and what it bakes in has the first workload's values.
  [[nodiscard]] bool admits(const kernel::Kernel& kernel, const task::Bindings& bindings) const;
  /// Small shapes that the kernel admits; for the emulator such as cost it little. `kernel` must outlive it.
  [[nodiscard]] Fits small_ones(const kernel::Kernel& kernel) const;
  /// For the emulator: shapes that are long in one symbol and nothing else. How long a call may be, those before tell (check()).
  [[nodiscard]] std::vector<task::Bindings> emulated_longs(const kernel::Kernel& kernel) const;
  /// Shapes at which symbols that it bakes in have other values than any workload's. None for a kernel that bakes in nothing.
  [[nodiscard]] std::vector<task::Bindings> baked_otherwise(const kernel::Kernel& kernel);
  /// Whether it was built elsewhere, for other shapes, and there is no compiler: nobody can judge it at this one here.
  [[nodiscard]] bool unshipped(const kernel::Kernel& kernel, const task::Bindings& bindings);
  [[nodiscard]] Result<std::unique_ptr<Stage>> make_stage(const task::Bindings& bindings);
  [[nodiscard]] Result<Verdict> check_at(const kernel::Kernel& kernel, const task::Bindings& bindings, Stage& stage,
                                         std::chrono::seconds deadline, bool thorough);
  /// The device's, or half of the time those of one with a few multiprocessors: blocks that live as long as the launch then have many tiles
  /// each, which a large device gives them at large shapes alone.
  [[nodiscard]] kernel::Limits limits_at(const kernel::Kernel& kernel, const task::Bindings& bindings) const;
  [[nodiscard]] Result<Verdict> check_planned(const kernel::Kernel& kernel, const task::Bindings& bindings, const kernel::Limits& limits, Stage& stage,
                                              std::chrono::seconds deadline, bool thorough);
  /// Where the last call was, with nearly its inputs, and with whatever the kernel keeps: it may know a tensor by its address and a few of
  /// its elements.
  [[nodiscard]] Verdict check_nearly_again(Stage& stage, target::Session& session, int slot, std::chrono::seconds deadline) const;
  [[nodiscard]] Verdict check_again(const kernel::Kernel& kernel, Stage& stage, target::Session& session, int slot, std::chrono::seconds deadline) const;
  void ask_of_order(Verdict& verdict, Stage& stage, target::Session& session, const target::Call& call, int slot, std::chrono::seconds deadline) const;
  [[nodiscard]] Result<Stage*> stage_at(const task::Bindings& bindings);

  Loader& loader_;
  bool generic_ = true;  ///< the kernel that was checked last admits a hidden shape
  std::map<bool, std::vector<task::Bindings>> shapes_;       ///< by whether the emulator runs the kernel; drawn when first needed
  double longest_s_ = 0;  ///< of the batches of the shape that was checked last
  std::set<task::Bindings> tried_;
  std::shared_ptr<double> nearest_ = std::make_shared<double>(0);  ///< of the kernel being checked, on all stages
  std::map<task::Bindings, std::unique_ptr<Stage>> stages_;  ///< made when first needed
};

}  // namespace hone::evaluate
