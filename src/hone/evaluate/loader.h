// From a kernel to a process that runs it: built (once for a kernel and the shapes baked into it), its
// plan bound to a stage's shapes, loaded in a jailed runner. build() is thread-safe, load() is not.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hone/evaluate/stage.h"
#include "hone/evaluate/verdict.h"
#include "hone/kernel/kernel.h"
#include "hone/target/card.h"
#include "hone/target/device/session.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::evaluate {

/// A loaded kernel, or the verdict that keeps it from being one.
struct Loaded {
  std::unique_ptr<target::Session> session;
  Verdict verdict;
};

/// Bytes of inputs, then outputs, of a task's instance.
[[nodiscard]] std::vector<int64_t> tensor_bytes(const task::ConcreteGraph& graph);

class Loader {
 public:
  /// `threads` of the runner; at least 1. The task must outlive the loader.
  Loader(const task::Task& task, std::shared_ptr<target::Toolchain> toolchain, int threads,
         target::BuildOptions build_options = {});
  /// For kernels on a card, which `toolchain` builds for; stages must lie on it.
  Loader(const task::Task& task, std::shared_ptr<target::Toolchain> toolchain, std::shared_ptr<target::Card> card);

  [[nodiscard]] Result<target::BuildOutcome> build(const kernel::Kernel& kernel, const task::Bindings& bindings,
                                                   bool sanitize = false);
  /// An Error is our own failure; whatever the kernel does wrong is a verdict. With `sanitize`, kUnavailable
  /// means that this machine cannot run sanitized kernels.
  [[nodiscard]] Result<Loaded> load(const kernel::Kernel& kernel, const Stage& stage, bool sanitize = false) { return load(kernel, stage, limits_for(kernel), sanitize); }
  /// With a plan for other limits than the device's.
  [[nodiscard]] Result<Loaded> load(const kernel::Kernel& kernel, const Stage& stage, const kernel::Limits& limits, bool sanitize = false);

  [[nodiscard]] const task::Task& task() const { return task_; }
  /// Of the device that runs the kernel.
  [[nodiscard]] kernel::Limits limits_for(const kernel::Kernel& kernel) const;
  [[nodiscard]] target::Toolchain& toolchain() const { return *toolchain_; }
  [[nodiscard]] const std::shared_ptr<target::Toolchain>& shared_toolchain() const { return toolchain_; }
  /// Null: the CPU under us.
  [[nodiscard]] const std::shared_ptr<target::Card>& card() const { return card_; }
  /// The emulator of the GPU that the kernel is for runs it.
  [[nodiscard]] bool emulates(const kernel::Kernel& kernel) const;

 private:
  const task::Task& task_;
  std::shared_ptr<target::Toolchain> toolchain_;
  std::shared_ptr<target::Card> card_;
  int threads_;
  target::BuildOptions build_options_;
  kernel::Limits limits_;
  std::mutex builds_mutex_;
  std::map<std::string, target::BuildOutcome> builds_;
};

}  // namespace hone::evaluate
