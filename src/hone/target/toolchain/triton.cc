// Triton kernels: a jailed Python process turns the module into TTIR, PTX or a code object (python_compiler.h); ptxas is run
// by us. What comes back is the candidate's word: it is held against the binary.
#include "hone/target/toolchain/triton.h"


#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/base/base64.h"
#include "hone/base/file.h"
#include "hone/base/hash.h"
#include "hone/kernel/build_case.h"
#include "hone/target/toolchain/build_cache.h"
#include "hone/target/toolchain/code_object.h"
#include "hone/target/toolchain/compiler_run.h"
#include "hone/target/toolchain/cubin_build.h"
#include "hone/target/toolchain/cuda_tools.h"
#include "hone/target/toolchain/python_compiler.h"
#include "hone/target/toolchain/shipped.h"
#include "hone/target/toolchain/tilelang.h"
#include "hone/target/worker/program.h"

namespace hone::target {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kTritonArchs[] = {"gfx942", "gfx950"};
constexpr const char* kTextArtifact = "kernel.ttir";

json request_for(const kernel::Kernel& kernel, const std::vector<kernel::FunctionCase>& cases, const std::string& target, const char* want) {
  json functions = json::array();
  for (const kernel::FunctionCase& its : cases) {
    json arguments = json::array();
    for (const kernel::ArgumentCase& argument : its.arguments)
      arguments.push_back({{"type", argument.type}, {"constant", argument.constant}, {"divisible", argument.divisible}});
    functions.push_back({{"name", its.function}, {"warps", its.warps}, {"stages", its.stages}, {"arguments", std::move(arguments)}});
  }
  return {{"source", kernel.source}, {"target", target}, {"want", want}, {"functions", std::move(functions)}};
}

/// What Triton answers, as a request's outcome: functions as many as asked for and of those names, or what is wrong with the kernel.
struct Answer {
  json functions, whole;
  std::optional<BuildFailure> failure;
};

Result<Answer> compiled(const json& request, std::chrono::seconds deadline) {
  auto got = ask_python(kTritonRow, request, deadline);
  if (!got) {
    if (got.error().code != ErrorCode::kExhausted) return tl::unexpected(got.error());
    return Answer{{}, {}, BuildFailure{got.error().message, {}, false}};
  }
  if (const std::string error = error_of(*got); !error.empty()) return Answer{{}, {}, BuildFailure{error, error, false}};
  Answer answer;
  answer.whole = std::move(*got);
  answer.functions = answer.whole.value("functions", json::array());
  const json& asked = request["functions"];
  bool fits = answer.functions.is_array() && answer.functions.size() == asked.size();
  for (size_t i = 0; fits && i < asked.size(); ++i) fits = answer.functions[i].is_object() && json(spoken(answer.functions[i], "name")) == asked[i]["name"];
  if (!fits) answer.failure = BuildFailure{"the compiler answered for other functions than were asked for", {}, false};
  return answer;
}

/// Bytes of the parameters that a binary of the case has, what Triton adds included.
std::vector<int64_t> parameters_of(const kernel::FunctionCase& its) {
  std::vector<int64_t> bytes;
  for (const kernel::ArgumentCase& argument : its.arguments)
    if (argument.constant.empty()) bytes.push_back(argument.type == "i32" || argument.type == "fp32" ? 4 : 8);
  bytes.insert(bytes.end(), {8, 8});
  return bytes;
}

std::string hash_for(const std::string& what, const std::string& triton, const kernel::Kernel& kernel, const std::string& the_case) {
  return base::Hasher().add("triton-build-1").add(what).add(triton).add(python_programs_hash(kTritonRow)).add(kernel.source).add(the_case).finish();
}

class TtirToolchain final : public Toolchain {
 public:
  explicit TtirToolchain(std::string version) : name_("Triton " + version) {}
  std::string name() const override { return name_; }

  Result<BuildOutcome> build(const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings, const BuildOptions& options) override {
    // A sanitized build is the same: the interpreter looks at every access as it is.
    HONE_TRY(const auto cases, kernel::cases_of(kernel, task, bindings));
    const std::string hash = hash_for("ttir", name_, kernel, kernel::case_name(kernel, task, bindings));
    HONE_TRY(const fs::path runner, worker_program("hone-ttir"));
    const auto finished = [&](Build build) {
      build.runner = runner;
      build.emulates = simt_device(kernel::Language::kTriton);
      return BuildOutcome(std::move(build));
    };
    if (auto kept = kept_build(hash, name_)) return finished(std::move(*kept));
    HONE_TRY(const Answer answer, compiled(request_for(kernel, cases, "cuda:90", "ttir"), options.deadline));
    if (answer.failure) return BuildOutcome(*answer.failure);
    Build build;
    build.hash = hash;
    build.toolchain = name_;
    build.command = "triton (TTIR)";
    std::vector<std::string> names;
    for (const kernel::Launch& launch : kernel.header.launches) names.push_back(launch.function);
    std::string text = fmt::format("hone-ttir 1\n{}\n", fmt::join(names, " "));
    for (const json& function : answer.functions) {
      const std::string name = spoken(function, "name");
      text += spoken(function, "ttir");
      build.symbols[name] = name;
    }
    HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("triton"));
    HONE_TRY_VOID(base::write_file_atomic(scratch.path() / kTextArtifact, text));
    HONE_TRY(build, keep_build(std::move(build), scratch.path() / kTextArtifact));
    return finished(std::move(build));
  }

 private:
  std::string name_;
};

/// ptxas as hone runs it.
struct Ptxas {
  fs::path program;
  std::string version;     ///< "13.0.88"
  int ptx = 90;            ///< the version of PTX that it reads
};

Ptxas ptxas_of(const fs::path& program) {
  Ptxas found{program, {}, 0};
  const auto run = run_compiler({program.string(), "--version"}, fs::temp_directory_path(), program.parent_path(), std::chrono::seconds(20));
  if (!run || !run->ok) return found;
  const size_t at = run->out.find(", V");
  if (at == std::string::npos) return found;
  found.version = run->out.substr(at + 3, run->out.find_first_of(" \n", at + 3) - at - 3);
  const int major = std::atoi(found.version.c_str()), minor = std::atoi(found.version.c_str() + found.version.find('.') + 1);
  found.ptx = major >= 13 ? 90 + (major - 13) * 10 + minor : 80 + (minor < 6 ? minor : minor - 1);
  return found;
}

Result<Ptxas> find_ptxas(const PythonInstall& install, const std::optional<CudaToolkit>& toolkit) {
  for (const fs::path& program : {toolkit ? toolkit->root / "bin/ptxas" : fs::path(), install.package / "backends/nvidia/bin/ptxas"}) {
    if (std::error_code ignored; program.empty() || !fs::exists(program, ignored)) continue;
    if (Ptxas found = ptxas_of(program); !found.version.empty()) return found;
  }
  return fail(ErrorCode::kUnavailable, "Triton kernels for NVIDIA's cards need ptxas, and there is none", "install NVIDIA's CUDA toolkit 12 or later");
}

/// Builds of Triton kernels among those that ship.
bool is_of_triton(std::string_view toolchain) { return toolchain.starts_with("Triton "); }

std::string shipped_triton(const ShippedBuilds& shipped, const std::string& arch) {
  std::vector<std::string> names = shipped.toolchains(arch);
  std::erase_if(names, [](const std::string& name) { return !is_of_triton(name); });
  return names.empty() ? "" : as_shipped(fmt::format("{}", fmt::join(names, ", ")));
}

std::string arch_of(std::string_view target) { return std::string(target.substr(target.find(':') + 1)); }

class TritonToolchain final : public Toolchain {
 public:
  /// Without a version there is no compiler, and what ships is all that there is.
  TritonToolchain(std::string target, const std::string& version, std::optional<Ptxas> ptxas, std::optional<Disassembler> disassembler, ShippedBuilds shipped)
      : target_(std::move(target)), arch_(arch_of(target_)), compiles_(!version.empty()), ptxas_(std::move(ptxas)), disassembler_(std::move(disassembler)),
        shipped_(std::move(shipped)), name_(compiles_ ? "Triton " + version + (ptxas_ ? ", ptxas " + ptxas_->version : "") : shipped_triton(shipped_, arch_)) {}
  std::string name() const override { return name_; }

  Result<BuildOutcome> build(const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings, const BuildOptions& options) override {
    if (options.sanitize)
      return fail(ErrorCode::kUnavailable, "Triton kernels for cards have no sanitized builds", "the interpreter (emulator:triton) looks at every access");
    HONE_TRY(const auto cases, kernel::cases_of(kernel, task, bindings));
    const std::string the_case = kernel::case_name(kernel, task, bindings);
    const std::string hash = hash_for(target_, name_ + (disassembler_ ? disassembler_->name : ""), kernel, the_case);
    // Of no machine and no version but hone's own.
    const std::string key = base::Hasher().add("triton-key-1").add(target_).add(python_programs_hash(kTritonRow)).add(kernel.source).add(the_case).finish();
    if (compiles_)
      if (auto kept = kept_build(hash, name_)) return finished(std::move(*kept), key, options);
    HONE_TRY(std::optional<Build> ready, shipped_build(key, cases));
    if (ready) return finished(*std::move(ready), key, options);
    if (!compiles_) return BuildOutcome(BuildFailure{"this kernel does not ship built for these shapes, and Triton is not installed here", {}, false, true});
    const auto begin = std::chrono::steady_clock::now();
    HONE_TRY(const Answer answer, compiled(request_for_binary(kernel, cases), options.deadline));
    if (answer.failure) return BuildOutcome(*answer.failure);
    HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("triton"));
    Build build;
    build.hash = hash;
    build.toolchain = name_;
    HONE_TRY(const std::string refused, ptxas_ ? assemble(answer.whole, scratch.path(), cases, build, options) : unpack(answer.whole, scratch.path(), cases, build));
    if (!refused.empty()) return BuildOutcome(BuildFailure{first_error(refused), refused, false});
    if (const std::string why = believe(answer.functions, cases, build); !why.empty()) return BuildOutcome(BuildFailure{why, {}, false});
    build.wall_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
    HONE_TRY(build, keep_build(std::move(build), scratch.path() / kBinary));
    return finished(std::move(build), key, options);
  }

  Result<std::string> assembly(const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings) override {
    if (!ptxas_ || !compiles_) return Toolchain::assembly(kernel, task, bindings);
    HONE_TRY(const auto cases, kernel::cases_of(kernel, task, bindings));
    HONE_TRY(const Answer answer, compiled(request_for_binary(kernel, cases), BuildOptions().deadline));
    if (answer.failure) return fail(ErrorCode::kInput, answer.failure->reason);
    return spoken(answer.whole, "ptx");
  }

 private:
  static constexpr const char* kBinary = "kernel.bin";

  [[nodiscard]] json request_for_binary(const kernel::Kernel& kernel, const std::vector<kernel::FunctionCase>& cases) const {
    // Triton calls Hopper 90 and writes sm_90a.
    std::string asked = "hip:" + arch_;
    if (ptxas_) asked = "cuda:" + std::string(arch_.begin() + 3, std::find_if(arch_.begin() + 3, arch_.end(), [](unsigned char c) { return !std::isdigit(c); }));
    json request = request_for(kernel, cases, asked, "binary");
    if (ptxas_) request["ptx"] = ptxas_->ptx;
    return request;
  }

  /// PTX to a cubin, looked over. Says why it is not taken.
  Result<std::string> assemble(const json& answer, const fs::path& folder, const std::vector<kernel::FunctionCase>& cases, Build& build, const BuildOptions& options) {
    HONE_TRY_VOID(base::write_file_atomic(folder / "kernel.ptx", spoken(answer, "ptx")));
    const std::vector<std::string> argv = {ptxas_->program.string(), "-lineinfo", "-v", "--regAllocOptLevel=2", "--gpu-name=" + arch_, "kernel.ptx", "-o", kBinary};
    build.command = fmt::format("triton (PTX) && {}", fmt::join(argv, " "));
    HONE_TRY(const CompilerRun run, run_compiler(argv, folder, ptxas_->program.parent_path(), options.deadline));
    if (run.late) return fmt::format("error: ptxas was stopped after {} s", options.deadline.count());
    if (!run.ok) return run.log.empty() ? std::string("error: ptxas failed") : run.log;
    return look_over_cubin(folder / kBinary, cases, run.log, build);
  }

  static Result<std::string> look_over_cubin(const fs::path& file, const std::vector<kernel::FunctionCase>& cases, const std::string& log, Build& build) {
    HONE_TRY(const CubinFacts cubin, read_cubin(file));
    if (!cubin.undefined.empty()) return fmt::format("error: it calls {}, which a kernel may not", fmt::join(cubin.undefined, ", "));
    std::map<std::string, const GpuEntry*> plan;
    if (std::string why = match(cubin.entries, cases, 32, plan); !why.empty()) return why;
    add_cubin_facts(cubin, plan, read_ptxas(log), build);
    return std::string();
  }

  Result<std::string> unpack(const json& answer, const fs::path& folder, const std::vector<kernel::FunctionCase>& cases, Build& build) {
    if (cases.size() != 1) return std::string("error: a Triton kernel for AMD's cards has one function here: several are not linked");
    const json objects = answer.value("objects", json::array());
    const std::string text = objects.is_array() && objects.size() == 1 && objects[0].is_string() ? objects[0].get<std::string>() : "";
    const auto binary = base::from_base64(text);
    if (!binary) return std::string("error: the compiler answered no binary");
    HONE_TRY_VOID(base::write_file_atomic(folder / kBinary, *binary));
    build.command = "triton (code object)";
    return look_over_object(folder / kBinary, cases, build);
  }

  static Result<std::string> look_over_object(const fs::path& file, const std::vector<kernel::FunctionCase>& cases, Build& build) {
    HONE_TRY(const CodeObject object, read_code_object(file));
    std::map<std::string, const GpuEntry*> plan;
    if (std::string why = match(object.entries, cases, 64, plan); !why.empty()) return why;
    build.facts["writable_global_bytes"] = static_cast<double>(object.global_bytes);
    for (const auto& [function, entry] : plan) {
      build.symbols[function] = entry->symbol;
      for (const auto& [fact, value] : entry->facts) build.facts[fact + "/" + function] = static_cast<double>(value);
    }
    return std::string();
  }

  /// Each function's one entry, with the parameters and threads that its launch will give.
  static std::string match(const std::vector<GpuEntry>& entries, const std::vector<kernel::FunctionCase>& cases, int64_t wave, std::map<std::string, const GpuEntry*>& found) {
    for (const kernel::FunctionCase& its : cases) {
      const auto entry = find_entry(entries, its.function);
      if (!entry) return "error: " + entry.error();
      const std::vector<int64_t> wanted = parameters_of(its);
      if ((*entry)->parameters != wanted)
        return fmt::format("error: the binary of {} takes parameters of {} bytes, its launch gives {}", its.function, fmt::join((*entry)->parameters, ", "), fmt::join(wanted, ", "));
      const int64_t threads = (*entry)->exact.value_or((*entry)->facts.count("max_threads") ? (*entry)->facts.at("max_threads") : 0);
      if (threads != its.warps * wave) return fmt::format("error: the binary of {} wants {} threads, its launch gives {}", its.function, threads, its.warps * wave);
      found[its.function] = *entry;
    }
    return {};
  }

  /// What only Triton can say, within bounds; the rest the binary has said already.
  static std::string believe(const json& functions, const std::vector<kernel::FunctionCase>& cases, Build& build) {
    constexpr int64_t kMostShared = int64_t{1} << 20, kMostScratch = int64_t{1} << 20;
    for (size_t i = 0; i < cases.size(); ++i) {
      const std::string& name = cases[i].function;
      const json metadata = functions[i].value("metadata", json());
      if (!metadata.is_object()) return fmt::format("the compiler says nothing of {}", name);
      if (spoken(functions[i], "symbol") != build.symbols[name]) return fmt::format("the compiler calls {} otherwise than its binary", name);
      if (counted(metadata, "num_warps") != cases[i].warps)
        return fmt::format("{} was built for {} warps, its launch has {}", name, counted(metadata, "num_warps"), cases[i].warps);
      if (counted(metadata, "num_ctas") > 1 || metadata.value("launch_cooperative_grid", json()) == true || counted(metadata, "profile_scratch_size") != 0 || counted(metadata, "tmem_size") != 0)
        return fmt::format("{} needs a launch that hone does not make (clusters, cooperative grids, profiling)", name);
      const int64_t shared = counted(metadata, "shared"), scratch = counted(metadata, "global_scratch_size");
      if (shared < 0 || shared > kMostShared || scratch < 0 || scratch > kMostScratch) return fmt::format("{} asks for {} bytes of shared memory and {} of its own a block", name, shared, scratch);
      build.facts["dynamic_shared_bytes/" + name] = static_cast<double>(shared);
      if (scratch > 0) build.facts["scratch_bytes/" + name] = static_cast<double>(scratch);
    }
    return {};
  }

  Result<std::optional<Build>> shipped_build(const std::string& key, const std::vector<kernel::FunctionCase>& cases) {
    const auto found = shipped_.find(key, [&](const Pack::Entry& entry) { return entry.arch == arch_ && (!compiles_ || entry.toolchain == name_); });
    if (!found) return std::nullopt;
    return build_of(*found, key, "triton" + (disassembler_ ? disassembler_->name : ""), [&](const fs::path& file, Build& build) {
      return target_.starts_with("cuda:") ? look_over_cubin(file, cases, {}, build) : look_over_object(file, cases, build);
    });
  }

  Result<BuildOutcome> finished(Build build, const std::string& key, const BuildOptions& options) {
    build.key = key;
    if (options.mix && ptxas_ && disassembler_ && !has_mix(build)) {
      HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("triton"));
      HONE_TRY(const std::string image, base::read_file(build.artifact));
      HONE_TRY_VOID(base::write_file_atomic(scratch.path() / kBinary, image));
      HONE_TRY_VOID(add_sass_mix(*disassembler_, scratch.path(), kBinary, options.deadline, build));
      if (has_mix(build)) {
        HONE_TRY(build, keep_build(std::move(build), scratch.path() / kBinary));
      }
    }
    build.card_arch = arch_;
    return BuildOutcome(std::move(build));
  }

  std::string target_, arch_;
  bool compiles_;
  std::optional<Ptxas> ptxas_;
  std::optional<Disassembler> disassembler_;
  ShippedBuilds shipped_;
  std::string name_;
};

}  // namespace

Result<std::unique_ptr<Toolchain>> ttir_toolchain() {
  const auto& install = find_python(kTritonRow);
  if (!install) return tl::unexpected(install.error());
  return std::unique_ptr<Toolchain>(std::make_unique<TtirToolchain>(install->version));
}

Result<std::unique_ptr<Toolchain>> emulator_toolchain(kernel::Language language) {
  if (language == kernel::Language::kTriton) return ttir_toolchain();
  HONE_TRY(auto simt, simt_toolchain());
  return with_tilelang(std::move(simt), language == kernel::Language::kHip ? "emulator:hip" : "emulator:cuda");
}

Result<std::unique_ptr<Toolchain>> triton_toolchain(std::string target) {
  const auto& install = find_python(kTritonRow);
  ShippedBuilds shipped = ShippedBuilds::here();
  std::optional<Ptxas> ptxas;
  std::optional<Disassembler> disassembler;
  if (!install) {
    if (shipped_triton(shipped, arch_of(target)).empty()) return tl::unexpected(install.error());
    if (target.starts_with("cuda:")) disassembler = find_disassembler(find_cuda());
    return std::unique_ptr<Toolchain>(std::make_unique<TritonToolchain>(std::move(target), "", std::nullopt, std::move(disassembler), std::move(shipped)));
  }
  if (target.starts_with("cuda:")) {
    const auto toolkit = find_cuda();
    HONE_TRY(ptxas, find_ptxas(*install, toolkit));
    disassembler = find_disassembler(toolkit);
  } else if (const std::string arch = target.substr(target.find(':') + 1); std::find(std::begin(kTritonArchs), std::end(kTritonArchs), arch) == std::end(kTritonArchs)) {
    return fail(ErrorCode::kInput, fmt::format("Triton kernels are not built for \"{}\"", arch), fmt::format("of AMD's cards for {}", fmt::join(kTritonArchs, ", ")));
  }
  return std::unique_ptr<Toolchain>(std::make_unique<TritonToolchain>(std::move(target), install->version, std::move(ptxas), std::move(disassembler), std::move(shipped)));
}

bool builds_triton(const std::string& target) { return find_python(kTritonRow) || !shipped_triton(ShippedBuilds::here(), arch_of(target)).empty(); }

Result<Toolchain*> OtherLanguage::toolchain() {
  const std::scoped_lock lock(mutex_);
  if (!triton_) {
    HONE_TRY(triton_, triton_toolchain(target_));
  }
  return triton_.get();
}

}  // namespace hone::target
