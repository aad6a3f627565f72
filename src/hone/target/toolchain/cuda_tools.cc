#include "hone/target/toolchain/cuda_tools.h"

#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include <fmt/format.h>

#include "hone/base/process/process.h"
#include "hone/target/worker/program.h"

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

/// NVIDIA's Python packages: "…/site-packages/nvidia/cu13", with bin, lib and include.
std::vector<fs::path> packages() {
  std::vector<fs::path> found;
  std::error_code ignored;
  const fs::path python = variable("HONE_PYTHON");
  for (const fs::path& root : {python.empty() ? fs::path() : python.parent_path().parent_path(), fs::path(variable("VIRTUAL_ENV")), fs::path(".venv"),
                               fs::path("/usr/local"), fs::path("/usr")}) {
    if (root.empty()) continue;
    for (const auto& version : fs::directory_iterator(root / "lib", ignored)) {
      if (!version.path().filename().string().starts_with("python3")) continue;
      for (const char* folder : {"site-packages/nvidia", "dist-packages/nvidia"})
        for (const auto& package : fs::directory_iterator(version.path() / folder, ignored)) found.push_back(fs::absolute(package.path()));
    }
  }
  return found;
}

/// The library that is called libnvrtc.so.13 or 12 in `folder`; empty where there is none.
fs::path nvrtc_in(const fs::path& folder) {
  std::error_code ignored;
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12"})
    if (fs::exists(folder / name, ignored)) return folder / name;
  return {};
}

}  // namespace

std::optional<CudaToolkit> find_cuda() {
  if (const std::string asked = variable("HONE_NVCC"); !asked.empty()) return toolkit_of(asked);
  if (auto found = toolkit_of("nvcc")) return found;
  return toolkit_of("/usr/local/cuda/bin/nvcc");
}

std::optional<Nvrtc> find_nvrtc(const std::optional<CudaToolkit>& toolkit) {
  Nvrtc found;
  const std::string asked = variable("HONE_NVRTC");
  if (asked == "none") return std::nullopt;
  std::vector<fs::path> libraries;
  if (!asked.empty()) libraries.push_back(fs::absolute(asked));
  if (asked.empty()) {
    if (toolkit)
      for (const char* folder : {"lib64", "targets/x86_64-linux/lib"}) libraries.push_back(nvrtc_in(toolkit->root / folder));
    for (const fs::path& package : packages()) libraries.push_back(nvrtc_in(package / "lib"));
  }
  const auto program = worker_program("hone-nvrtc");
  if (!program) return std::nullopt;
  std::error_code ignored;
  for (const fs::path& library : libraries) {
    if (library.empty() || !fs::exists(library, ignored)) continue;
    for (const fs::path& include : {toolkit ? toolkit->root / "include" : fs::path(), library.parent_path().parent_path() / "include",
                                    library.parent_path().parent_path().parent_path() / "cuda_runtime/include"})
      if (!include.empty() && fs::exists(include / "cuda_fp16.h", ignored) && found.include.empty()) found.include = include;
    const auto says = found.include.empty() ? std::nullopt : words_of(program->string(), {"probe", library.string()});
    if (!says) continue;
    std::istringstream words(*says);
    words >> found.version;
    // The toolkit's headers are for its own version.
    const auto major = [](const std::string& version) { return version.substr(0, version.find('.')); };
    if (toolkit && major(found.version) != major(toolkit->version)) continue;
    found.archs.clear();
    for (std::string arch; words >> arch;) found.archs.push_back(arch);
    found.library = library;
    found.program = *program;
    return found;
  }
  return std::nullopt;
}

std::optional<Disassembler> find_disassembler(const std::optional<CudaToolkit>& toolkit) {
  const auto tried = [](const fs::path& program) -> std::optional<Disassembler> {
    const auto says = words_of(program.string(), {"--version"});
    if (!says || says->find("release") == std::string::npos) return std::nullopt;
    const bool dump = program.filename() == "cuobjdump";
    const std::string name = std::string(dump ? "cuobjdump " : "nvdisasm ") + after(*says, ", V", " \n");
    return Disassembler{program, name, dump ? std::vector<std::string>{"-sass"} : std::vector<std::string>{"-c"}};
  };
  if (const std::string asked = variable("HONE_NVDISASM"); !asked.empty()) return tried(asked);
  // With its folder: the jail shows the program by it.
  std::vector<fs::path> folders;
  std::istringstream path(variable("PATH"));
  for (std::string folder; std::getline(path, folder, ':');)
    if (fs::path(folder).is_absolute()) folders.emplace_back(folder);
  if (toolkit) folders.push_back(toolkit->root / "bin");
  for (const fs::path& package : packages()) folders.push_back(package / "bin");
  for (const char* program : {"nvdisasm", "cuobjdump"})
    for (const fs::path& folder : folders)
      if (std::error_code ignored; fs::exists(folder / program, ignored))
        if (auto found = tried(folder / program)) return found;
  return std::nullopt;
}

Result<std::filesystem::path> find_card_tool(const std::string& name, const char* variable) {
  const auto runs = [](const std::filesystem::path& file) { return ::access(file.c_str(), X_OK) == 0; };
  if (const char* given = std::getenv(variable); given && *given) {
    if (std::string_view(given) != "none" && runs(given)) return std::filesystem::absolute(given);
    return fail(ErrorCode::kUnavailable, fmt::format("{} is switched off or wrong: {}", variable, given));
  }
  const char* const path = std::getenv("PATH");
  std::stringstream folders(std::string(path ? path : "/usr/bin:/bin") + ":/usr/local/cuda/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::filesystem::path file = std::filesystem::path(folder) / name; !folder.empty() && runs(file)) return file;
  return fail(ErrorCode::kUnavailable, fmt::format("there is no {}", name), "it comes with NVIDIA's CUDA toolkit");
}

}  // namespace hone::target
