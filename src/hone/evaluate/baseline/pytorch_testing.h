// For tests that need PyTorch: finds the source tree's own environment, else skips and says why; sessions.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "hone/evaluate/baseline/pytorch.h"

namespace hone::evaluate {

/// What scripts/setup_python.sh made, unless HONE_PYTHON says otherwise.
inline const Result<PythonTorch>& pytorch_for_tests() {
  constexpr const char* kOwn = HONE_SOURCE_DIR "/.venv/bin/python";
  if (std::filesystem::exists(kOwn)) setenv("HONE_PYTHON", kOwn, /*overwrite=*/0);
  return find_pytorch();
}

/// A session of `host` with a server of its own.
inline Result<std::unique_ptr<PytorchSession>> start_pytorch(Result<std::shared_ptr<PytorchHost>> host, const task::Task& task,
                                                             const task::Bindings& bindings,
                                                             const std::vector<const target::Region*>& regions,
                                                             const PytorchOptions& options) {
  HONE_TRY(auto ready, std::move(host));
  HONE_TRY(auto server, PytorchServer::start(std::move(ready), task, bindings, regions, options));
  return PytorchServer::fork(std::move(server));
}

}  // namespace hone::evaluate

#define SKIP_WITHOUT_TORCH()                                             \
  if (const auto& torch = ::hone::evaluate::pytorch_for_tests(); !torch) \
  GTEST_SKIP() << torch.error().to_string()
