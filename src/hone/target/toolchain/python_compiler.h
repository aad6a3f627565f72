// Compilers written in Python, each as a process in a jail, kept warm: text of a module in, text and binaries out. They read hostile
// source, so whatever they answer is a claim about the kernel and no more. Thread-safe: several compile at once, each in a
// process of its own.
#pragma once
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "hone/base/result.h"

namespace hone::target {

/// One of them.
struct PythonRow {
  const char* title;                            ///< "Triton"
  const char* module;                           ///< "triton": what is imported; `make triton` installs it
  const char* variable;                         ///< "HONE_TRITON_PYTHON"
  const char* programs[2];                      ///< of toolchain/python, beside what they share; the first is run
};
extern const PythonRow kTritonRow, kTileLangRow;

struct PythonInstall {
  std::filesystem::path python;
  std::string version;                          ///< of the module: "3.9.0"
  std::filesystem::path package;                ///< the module's folder
  std::vector<std::filesystem::path> readable;  ///< what the interpreter and its packages need
};

/// $HONE_TRITON_PYTHON (a Python with Triton, or "none"), else what `make triton` installed: $HONE_HOME/triton, else ./.venv-triton.
/// kUnavailable with what to do. Looked for once in a process.
[[nodiscard]] const Result<PythonInstall>& find_python(const PythonRow& row);

/// "Triton 3.9.0 (/opt/triton/bin/python)", for hone targets; kUnavailable with what to do.
[[nodiscard]] Result<std::string> python_compiler(const PythonRow& row);

/// The programs in Python, and what names them.
[[nodiscard]] std::string python_programs_hash(const PythonRow& row);

/// One request (triton_build.py, tilelang_build.py say of what) answered. Its process is gone where it did not finish in
/// time (kExhausted) or ended, or talked nonsense (kInput).
[[nodiscard]] Result<nlohmann::json> ask_python(const PythonRow& row, const nlohmann::json& request, std::chrono::seconds deadline);

/// A text and an integer of an answer, or nothing.
[[nodiscard]] std::string spoken(const nlohmann::json& from, const char* key);
[[nodiscard]] int64_t counted(const nlohmann::json& from, const char* key);

/// What an answer says is wrong with the kernel, with its line ("kernel.py:3:1: error: …"); empty: nothing.
[[nodiscard]] std::string error_of(const nlohmann::json& answer);

}  // namespace hone::target
