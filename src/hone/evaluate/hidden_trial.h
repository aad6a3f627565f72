// Correctness on hidden shapes: small, odd and aligned ones that nobody was told of, every input family,
// tensors that end where mapped memory ends. One thread.
#pragma once
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "hone/evaluate/loader.h"
#include "hone/evaluate/stage.h"

namespace hone::evaluate {

class HiddenTrial {
 public:
  /// Draws its shapes secretly. The loader must outlive the trial.
  explicit HiddenTrial(Loader& loader) : loader_(loader) {}

  /// On the first `most` shapes that the kernel's requirements admit: a refusal, or the verdict that came
  /// closest to its bound. Every kernel meets every family: one that admits no hidden shape does so on the
  /// task's smallest workload, gigabytes of it only if `thorough`.
  [[nodiscard]] Result<Verdict> check(const kernel::Kernel& kernel, int most, bool thorough, Spent& spent);

  /// The first `most` shapes that the kernel admits, as it would be checked at them: symbols that it bakes
  /// in keep the first workload's values.
  [[nodiscard]] std::vector<task::Bindings> admitted(const kernel::Kernel& kernel, int most);

 private:
  [[nodiscard]] std::optional<task::Bindings> own_shape(const kernel::Kernel& kernel) const;
  [[nodiscard]] Result<Verdict> check_at(const kernel::Kernel& kernel, const task::Bindings& bindings, Stage& stage,
                                         std::chrono::seconds deadline);
  [[nodiscard]] Result<Stage*> stage_at(const task::Bindings& bindings);

  Loader& loader_;
  std::map<bool, std::vector<task::Bindings>> shapes_;       ///< by whether the emulator runs the kernel; drawn when first needed
  std::map<task::Bindings, std::unique_ptr<Stage>> stages_;  ///< made when first needed
};

}  // namespace hone::evaluate
