// Triton's compiler as a Python process in a jail, kept warm: text of a module in, text and binaries out. It reads hostile
// source, so whatever it answers is a claim about the kernel and no more. Thread-safe: several compile at once, each in a
// process of its own.
#pragma once
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "hone/base/result.h"

namespace hone::target {

struct TritonInstall {
  std::filesystem::path python;
  std::string version;                          ///< "3.9.0"
  std::vector<std::filesystem::path> readable;  ///< what the interpreter and its packages need
  std::filesystem::path ptxas;                  ///< the one that came with Triton; empty: none
};

/// $HONE_TRITON_PYTHON (a Python with Triton, or "none"), else what `make triton` installed: $HONE_HOME/triton, else ./.venv-triton.
/// kUnavailable with what to do. Looked for once in a process.
[[nodiscard]] const Result<TritonInstall>& find_triton();

/// The programs in Python, and what names them.
[[nodiscard]] std::string triton_programs_hash();

/// One request (triton_build.py says of what) answered. kExhausted: it did not finish in time, and its process is gone.
[[nodiscard]] Result<nlohmann::json> ask_triton(const nlohmann::json& request, std::chrono::seconds deadline);

}  // namespace hone::target
