// Kernels: headers and plans.
#include "fuzz.h"
#include "hone/kernel/build_case.h"
#include "hone/kernel/kernel.h"
#include "hone/kernel/write_header.h"

namespace hone::kernel {
namespace {

HONE_FUZZ(kernel) {
  if (input.size() > fuzz::kMostBytes) return;
  static const auto task = task::parse_task(
      "name = \"t\"\ncompute = \"y = x * w\"\nworkloads = [ { B = 5, D = 48 } ]\n[inputs]\nx = \"f32[B, D]\"\nw = \"f32[D]\"\n", "task.toml");
  static const task::Bindings shape{{"B", 5}, {"D", 48}};
  static_cast<void>(kernel::without_marks(input));
  const auto kernel = kernel::parse_kernel(input, "kernel");
  if (!kernel) return;
  const auto same = kernel::parse_kernel(kernel::with_config(*kernel, kernel->config), "kernel");
  fuzz::require(same.has_value() && same->hash() == kernel->hash(), "with its own configuration a kernel is the same");
  const auto verified = kernel::parse_kernel(kernel::with_verified(input, {"t", "hash", "cpu", "a */ \"\"\" device", "g++", {"B=5"}, "2026-01-01", "0"}), "kernel");
  fuzz::require(verified.has_value() && verified->hash() == kernel->hash(), "where it was verified changes no kernel");
  const auto written = kernel::with_header(*kernel, kernel->header);
  fuzz::require(written.has_value(), written ? "" : "a header that is written parses: " + written.error().to_string());
  for (const auto& [limits, says] : {std::pair<kernel::Limits, int>{{{"THREADS", 2}, {"L1_BYTES", 32768}, {"L2_BYTES", 1 << 20}, {"L3_BYTES", 0}, {"VECTOR_BYTES", 64}}, 0},
                                     {{{"SMS", 132}, {"SHARED_MAX", 232448}, {"WAVE", 32}}, 1}}) {
    static_cast<void>(kernel::applies(*kernel, shape, limits)), static_cast<void>(kernel::allowed(kernel->header, kernel->config, limits));
    static_cast<void>(kernel::bind(*kernel, *task, shape, limits));
  }
  static_cast<void>(kernel::case_name(*kernel, *task, shape));
}

}  // namespace
}  // namespace hone::kernel
