#include "hone/target/toolchain/cuda_tools.h"

#include <cstdlib>
#include <sstream>

#include "hone/base/process/process.h"

namespace hone::target {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// All that a program of the toolkit's says; nothing when it does not run. It is trusted and reads nothing of anybody's.
std::optional<std::string> words_of(const std::string& program, std::vector<std::string> options) {
  base::SpawnOptions spawn;
  spawn.argv = std::move(options);
  spawn.argv.insert(spawn.argv.begin(), program);
  const std::string path = variable("PATH");
  spawn.environment = {{"PATH", path.empty() ? "/usr/bin:/bin" : path}, {"LANG", "C"}};
  const auto exit = base::run(spawn, std::chrono::seconds(20));
  if (!exit || !exit->ok()) return std::nullopt;
  return exit->out + exit->err;
}

/// What follows `mark` up to the end of its word or line.
std::string after(const std::string& words, std::string_view mark, std::string_view ends) {
  const size_t at = words.find(mark);
  if (at == std::string::npos) return {};
  const size_t begin = at + mark.size();
  return words.substr(begin, words.find_first_of(ends, begin) - begin);
}

std::optional<CudaToolkit> toolkit_of(const std::string& program) {
  const auto says = words_of(program, {"--version"});
  const auto plan = says ? words_of(program, {"--dryrun", "-x", "cu", "-cubin", "/dev/null", "-o", "/dev/null"}) : std::nullopt;
  const auto list = plan ? words_of(program, {"--list-gpu-code"}) : std::nullopt;
  if (!list) return std::nullopt;
  CudaToolkit toolkit;
  toolkit.version = after(*says, ", V", " \n");
  // The program found may be a script or a link: the toolkit itself says where it is.
  const std::string top = after(*plan, "#$ TOP=", "\n");
  std::error_code ignored;
  toolkit.root = fs::weakly_canonical(top, ignored);
  toolkit.nvcc = toolkit.root / "bin/nvcc";
  if (toolkit.version.empty() || top.empty() || !fs::exists(toolkit.nvcc, ignored)) return std::nullopt;
  std::istringstream lines(*list);
  for (std::string arch; lines >> arch;) toolkit.archs.push_back(arch);
  return toolkit;
}

/// Folders in which a virtual environment's packages put NVIDIA's programs.
std::vector<fs::path> package_folders() {
  std::vector<fs::path> found;
  for (const fs::path& environment : {fs::path(variable("VIRTUAL_ENV")), fs::path(".venv")}) {
    std::error_code ignored;
    if (environment.empty()) continue;
    for (const auto& python : fs::directory_iterator(environment / "lib", ignored))
      for (const auto& package : fs::directory_iterator(python.path() / "site-packages/nvidia", ignored))
        if (fs::is_directory(package.path() / "bin", ignored)) found.push_back(fs::absolute(package.path() / "bin"));
  }
  return found;
}

}  // namespace

std::optional<CudaToolkit> find_cuda() {
  if (const std::string asked = variable("HONE_NVCC"); !asked.empty()) return toolkit_of(asked);
  if (auto found = toolkit_of("nvcc")) return found;
  return toolkit_of("/usr/local/cuda/bin/nvcc");
}

std::optional<Disassembler> find_disassembler(const CudaToolkit& toolkit) {
  const auto tried = [](const fs::path& program) -> std::optional<Disassembler> {
    const auto says = words_of(program.string(), {"--version"});
    if (!says || says->find("release") == std::string::npos) return std::nullopt;
    const bool dump = program.filename() == "cuobjdump";
    const std::string name = std::string(dump ? "cuobjdump " : "nvdisasm ") + after(*says, ", V", " \n");
    return Disassembler{program, name, dump ? std::vector<std::string>{"-sass"} : std::vector<std::string>{"-c"}};
  };
  if (const std::string asked = variable("HONE_NVDISASM"); !asked.empty()) return tried(asked);
  std::vector<fs::path> folders{toolkit.root / "bin", fs::path()};
  for (const fs::path& folder : package_folders()) folders.push_back(folder);
  for (const char* program : {"nvdisasm", "cuobjdump"})
    for (const fs::path& folder : folders)
      if (auto found = tried(folder / program)) return found;
  return std::nullopt;
}

}  // namespace hone::target
