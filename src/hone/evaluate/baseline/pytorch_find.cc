// Finding a Python that has torch.
#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "hone/base/process/process.h"
#include "hone/evaluate/baseline/pytorch.h"
#include "hone/evaluate/baseline/pytorch_process.h"

namespace hone::evaluate {
namespace {

constexpr const char* kHint =
    "`make pytorch` creates a virtual environment with the pinned torch; HONE_PYTHON names another "
    "Python";

constexpr const char* kProbeProgram =
    "import json, platform, sys, torch\n"
    "print(json.dumps([sys.executable, platform.python_version(), torch.__version__]))\n";

std::string last_line(const std::string& text) {
  const size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return {};
  const size_t begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     begin == std::string::npos ? end + 1 : end - begin);
}

Result<PythonTorch> search() {
  // Importing torch from a cold disk takes a while.
  constexpr std::chrono::seconds kDeadline{60};
  if (const char* chosen = std::getenv("HONE_PYTHON"); chosen != nullptr && *chosen != '\0')
    return probe_pytorch(chosen, kDeadline);
  const std::filesystem::path own = base::data_directory() / "venv" / "bin" / "python";
  if (std::error_code ignored; std::filesystem::exists(own, ignored))
    if (auto found = probe_pytorch(own, kDeadline)) return found;
  if (auto found = probe_pytorch("python3", kDeadline)) return found;
  return fail(ErrorCode::kUnavailable,
              fmt::format("no Python with torch: neither {} nor python3 in PATH", own.string()), kHint);
}

}  // namespace

std::map<std::string, std::string> pytorch_environment(bool on_card) {
  std::map<std::string, std::string> environment = {
      {"LANG", "C.UTF-8"},
      {"PYTHONDONTWRITEBYTECODE", "1"},
      {"PYTHONUNBUFFERED", "1"},
      // Results are allocated from a heap that only grows, so after the first batch a call finds its
      // memory mapped, as it would in a long-running program with a caching allocator.
      {"GLIBC_TUNABLES",
       "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=1099511627776:"
       "glibc.malloc.top_pad=67108864:glibc.malloc.arena_max=1:glibc.malloc.hugetlb=1"},
      // Compiled code is kept between runs; no pool of compiler processes stays behind.
      {"TORCHINDUCTOR_CACHE_DIR", (base::cache_directory() / "torchinductor").string()},
      {"TORCHINDUCTOR_COMPILE_THREADS", "1"},
  };
  for (const char* name : {"PATH", "HOME", "USER", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH", "CXX"})
    if (const char* value = std::getenv(name)) environment[name] = value;
  if (!on_card) {
    environment["CUDA_VISIBLE_DEVICES"] = "";
    return environment;
  }
  // The same cards in the same order as we see them; Triton builds with what it finds.
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "HONE_CUDA_DRIVER", "CUDA_HOME", "CC"})
    if (const char* value = std::getenv(name)) environment[name] = value;
  // To ask whether there are cards must not begin to use them: processes are forked from the one that asks.
  environment["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1";
  environment["TRITON_CACHE_DIR"] = (base::cache_directory() / "triton").string();
  return environment;
}

Result<PythonTorch> probe_pytorch(const std::filesystem::path& python, std::chrono::nanoseconds deadline) {
  base::SpawnOptions options;
  options.argv = {python.string(), "-c", kProbeProgram};
  options.environment = pytorch_environment();
  HONE_TRY(const base::Exit exit, base::run(options, deadline));
  if (!exit.ok())
    return fail(ErrorCode::kUnavailable,
                fmt::format("{} has no usable torch: {}", python.string(),
                            exit.err.empty() ? exit.describe() : last_line(exit.err)),
                kHint);
  const auto answer = nlohmann::json::parse(last_line(exit.out), nullptr, false);
  if (!answer.is_array() || answer.size() != 3 || !answer[0].is_string())
    return fail(ErrorCode::kUnavailable, fmt::format("{} does not answer as a Python would", python.string()),
                kHint);
  return PythonTorch{answer[0].get<std::string>(), answer[1].get<std::string>(),
                     answer[2].get<std::string>()};
}

const Result<PythonTorch>& find_pytorch() {
  static const Result<PythonTorch> found = search();
  return found;
}

}  // namespace hone::evaluate
