// What tests of the patterns in OpenCL C share.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "hone/evaluate/verifier.h"
#include "hone/kernel/kernel.h"
#include "hone/target/toolchain/toolchain.h"
#include "hone/task/task.h"

namespace hone::pattern::opencl_testing {

/// A judge of kernels for `task`; null where there is no PoCL. Toolchain and inputs only: no clock, so no calibration.
inline std::unique_ptr<evaluate::Verifier> verifier(const task::Task& task) {
  if (!target::opencl_toolchain()) return nullptr;
  auto verifier = evaluate::Verifier::create(task, target::local_toolchain().value(), {});
  EXPECT_TRUE(verifier) << verifier.error().to_string();
  return verifier ? std::move(*verifier) : nullptr;
}

inline void expect_accepted(evaluate::Verifier& verifier, const kernel::Kernel& kernel, const std::string& what) {
  const auto verdict = verifier.verify(kernel);
  ASSERT_TRUE(verdict) << verdict.error().to_string();
  EXPECT_TRUE(verdict->accepted()) << what << ": " << evaluate::name_of(verdict->kind) << ": " << verdict->reason << "\n"
                                   << verdict->detail << "\n" << kernel::with_config(kernel, kernel.config);
}

}  // namespace hone::pattern::opencl_testing
