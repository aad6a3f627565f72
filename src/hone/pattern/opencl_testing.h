// What tests of the patterns in OpenCL C share.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "hone/evaluate/evaluator.h"
#include "hone/kernel/kernel.h"
#include "hone/target/toolchain/toolchain.h"
#include "hone/task/task.h"

namespace hone::pattern::opencl_testing {

/// The toolchain of this machine, once OpenCL is known to be there; null with the test skipped where it is not.
inline std::shared_ptr<target::Toolchain> toolchain() {
  if (const auto opencl = target::opencl_toolchain(); !opencl) return nullptr;
  return target::local_toolchain().value();
}

inline void expect_accepted(evaluate::Evaluator& evaluator, const kernel::Kernel& kernel, const std::string& what) {
  const auto screening = evaluator.screen(kernel);
  ASSERT_TRUE(screening) << screening.error().to_string();
  const auto& verdict = screening->verdict;
  EXPECT_TRUE(verdict.accepted()) << what << ": " << evaluate::name_of(verdict.kind) << ": " << verdict.reason << "\n"
                                  << verdict.detail << "\n" << kernel::with_config(kernel, kernel.config);
}

}  // namespace hone::pattern::opencl_testing
