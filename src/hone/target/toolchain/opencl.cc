// OpenCL C on PoCL: hone-opencl has PoCL compile the source to one object file a kernel, in the jail; g++
// links those with generated entries that walk a range of the grid into the same kind of shared object
// that C++ becomes. So a candidate runs without PoCL's own threads, files and system calls: in the closed
// jail, checked as any other build, under the same clock.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "hone/base/file.h"
#include "hone/base/hash.h"
#include "hone/base/process/process.h"
#include "hone/target/cpu.h"
#include "hone/target/toolchain/build_cache.h"
#include "hone/target/toolchain/elf_check.h"
#include "hone/target/toolchain/toolchain.h"
#include "hone/target/worker/program.h"

namespace hone::target {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHint = "install PoCL (apt-get install pocl-opencl-icd)";
constexpr uint64_t kMostLocalBytes = 256 << 10;  ///< of a kernel's own __local variables: they lie on a stack

base::SpawnOptions jailed(std::vector<std::string> argv, const fs::path& folder, int cpu_seconds) {
  base::SpawnOptions spawn;
  spawn.argv = std::move(argv);
  const char* path = std::getenv("PATH");
  spawn.environment = {{"PATH", path ? path : "/usr/bin:/bin"}, {"LANG", "C"}, {"TMPDIR", folder.string()},
                       {"POCL_CACHE_DIR", folder.string()}, {"POCL_DEVICES", "pthread"}, {"POCL_MAX_PTHREAD_COUNT", "1"},
                       {"POCL_LEAVE_KERNEL_COMPILER_TEMP_FILES", "1"}};
  spawn.directory = folder;
  spawn.output_limit = 1 << 16;
  base::Jail jail;
  // The loader finds the installed platforms there.
  if (const fs::path vendors = "/etc/OpenCL"; fs::exists(vendors)) jail.readable.push_back(vendors);
  jail.writable = {folder};
  jail.memory_bytes = int64_t{8} << 30;
  jail.cpu_seconds = cpu_seconds;
  spawn.jail = jail;
  return spawn;
}

struct KernelFacts {
  size_t arguments = 0;
  uint64_t local_bytes = 0;
};

/// "softmax 4 256" lines.
std::map<std::string, KernelFacts> facts_of(const std::string& text) {
  std::map<std::string, KernelFacts> all;
  std::istringstream lines(text);
  std::string name;
  for (KernelFacts facts; lines >> name >> facts.arguments >> facts.local_bytes;) all[name] = facts;
  return all;
}

Result<std::string> source_of(const kernel::Kernel& kernel, const task::Bindings& bindings) {
  std::string text;
  for (const auto& [name, value] : kernel.config) text += fmt::format("#define {} {}\n", name, value);
  for (const std::string& symbol : kernel.header.specialise) {
    const auto it = bindings.find(symbol);
    if (it == bindings.end())
      return fail(ErrorCode::kInput, fmt::format("the header specialises {}, which is no shape symbol", symbol));
    text += fmt::format("#define {} {}L\n", symbol, it->second);
  }
  return text + "#line 1 \"kernel.cl\"\n" + kernel.source + "\n";
}

/// The generated translation unit: one entry a launch. A message when a launch does not fit its function.
Result<std::string> entries_of(const kernel::Kernel& kernel, const std::map<std::string, KernelFacts>& facts) {
  std::string text = "#include \"hone/pocl.h\"\n", table;
  for (const auto& [name, ignored] : facts)
    text += fmt::format("extern \"C\" void _pocl_kernel_{}_workgroup(unsigned char**, const hone::PoclContext*, uint64_t, uint64_t, "
                        "uint64_t);\n", name);
  for (size_t i = 0; i < kernel.header.launches.size(); ++i) {
    const kernel::Launch& launch = kernel.header.launches[i];
    const KernelFacts& fact = facts.at(launch.function);
    if (fact.arguments != launch.args.size())
      return fail(ErrorCode::kInput, fmt::format("{} takes {} arguments, but its launch gives {}", launch.function, fact.arguments,
                                                 launch.args.size()));
    if (fact.local_bytes > kMostLocalBytes)
      return fail(ErrorCode::kInput, fmt::format("{} declares {} KiB of __local variables; {} KiB are the most", launch.function,
                                                 fact.local_bytes >> 10, kMostLocalBytes >> 10));
    std::string local;
    for (const kernel::Argument& argument : launch.args)
      local += argument.kind == kernel::Argument::Kind::kShared ? "true, " : "false, ";
    text += fmt::format(
        "static void hone_entry_{0}(const uint64_t* a, void* shared, const int64_t* grid, int64_t begin, int64_t end) {{\n"
        "  static constexpr bool local[] = {{{1}false}};\n"
        "  hone::pocl_run<{2}, {3}, {4}>(_pocl_kernel_{5}_workgroup, a, local, shared, grid, begin, end);\n}}\n",
        i, local, launch.args.size(), launch.block.size(), (fact.local_bytes + 127) / 128 * 128, launch.function);
    table += fmt::format("{}hone_entry_{}", i ? ", " : "", i);
  }
  return text + fmt::format(
      "using hone_entry = void (*)(const uint64_t*, void*, const int64_t*, int64_t, int64_t);\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) const hone_entry hone_entries[] = {{{}}};\n", table);
}

class OpenClToolchain final : public Toolchain {
 public:
  OpenClToolchain(std::string version, fs::path program, std::string linker)
      : name_("PoCL " + version), program_(std::move(program)), linker_(std::move(linker)) {}

  std::string name() const override { return name_; }

  Result<BuildOutcome> build(const kernel::Kernel& kernel, const task::Task&, const task::Bindings& bindings,
                             const BuildOptions& options) override {
    if (options.sanitize) return fail(ErrorCode::kUnavailable, "OpenCL kernels have no sanitized build");
    HONE_TRY(const std::string source, source_of(kernel, bindings));
    std::vector<std::string> functions;
    base::Hasher hasher;
    hasher.add("opencl-build-1").add(name_).add(program_.filename().string()).add(cpu_info().model).add(cpu_info().isa).add(source);
    for (const kernel::Launch& launch : kernel.header.launches) {
      if (std::find(functions.begin(), functions.end(), launch.function) == functions.end()) functions.push_back(launch.function);
      hasher.add(launch.function).add(std::to_string(launch.block.size()));
      for (const kernel::Argument& argument : launch.args) hasher.add(std::to_string(static_cast<int>(argument.kind)));
    }
    const std::string hash = hasher.finish();
    if (auto kept = kept_build(hash, name_)) return BuildOutcome(std::move(*kept));

    HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("opencl"));
    HONE_TRY_VOID(base::write_file_atomic(scratch.path() / "unit.cl", source));
    std::vector<std::string> argv = {program_.string(), "build", "unit.cl"};
    argv.insert(argv.end(), functions.begin(), functions.end());
    HONE_TRY(const base::Exit compiled, base::run(jailed(argv, scratch.path(), static_cast<int>(options.deadline.count()) + 5), options.deadline));
    if (auto failure = failed(compiled, options)) return BuildOutcome(std::move(*failure));
    const auto entries = entries_of(kernel, facts_of(compiled.out));
    if (!entries) return BuildOutcome(BuildFailure{entries.error().message, compiled.err});
    HONE_TRY(const fs::path headers, device_headers());
    HONE_TRY_VOID(base::write_file_atomic(scratch.path() / "entries.cc", *entries));
    std::vector<std::string> link = {linker_, "-std=c++20", "-O2", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden", "-fPIC", "-shared",
                                     "-I" + headers.string(), "-o", "kernel.so", "entries.cc"};
    for (const std::string& function : functions) link.push_back(function + ".o");
    link.emplace_back("-lm");
    base::SpawnOptions linking = jailed(link, scratch.path(), static_cast<int>(options.deadline.count()) + 5);
    linking.jail->readable.push_back(headers);
    HONE_TRY(const base::Exit linked, base::run(linking, options.deadline));
    if (auto failure = failed(linked, options)) return BuildOutcome(std::move(*failure));
    HONE_TRY(const ElfFacts facts, read_elf(scratch.path() / "kernel.so"));
    if (std::string why = refuse(facts, false); !why.empty()) return BuildOutcome(BuildFailure{std::move(why), compiled.err});
    Build build;
    build.hash = hash;
    build.toolchain = name_;
    build.command = fmt::format("hone-opencl build unit.cl {}", fmt::join(functions, " "));
    build.facts = {{"text_bytes", static_cast<double>(facts.text_bytes)}, {"data_bytes", static_cast<double>(facts.data_bytes)}};
    build.log = compiled.err;
    build.wall_ns = compiled.wall_ns + linked.wall_ns;
    HONE_TRY(build, keep_build(std::move(build), scratch.path() / "kernel.so"));
    return BuildOutcome(std::move(build));
  }

 private:
  static std::optional<BuildFailure> failed(const base::Exit& exit, const BuildOptions& options) {
    if (exit.ok()) return std::nullopt;
    if (exit.how == base::Exit::How::kDeadline)
      return BuildFailure{fmt::format("the compiler was stopped after {} s", options.deadline.count()), exit.err};
    return BuildFailure{exit.err.empty() ? "the compiler " + exit.describe() : first_error(exit.err), exit.err};
  }

  std::string name_;
  fs::path program_;
  std::string linker_;
};

/// The version of a PoCL that was found to work is kept: compiling the probe takes a second.
Result<std::string> probed(const fs::path& program) {
  const fs::path folder = base::cache_directory() / "opencl";
  // A PoCL that was updated has other files; its library is what the answer hangs on.
  base::Hasher key;
  key.add(program.filename().string());
  std::error_code error;
  for (const fs::path& vendors : {fs::path("/etc/OpenCL/vendors")})
    for (fs::directory_iterator it(vendors, error), end; !error && it != end; it.increment(error)) {
      const std::string library = base::read_file(it->path()).value_or("");
      key.add(it->path().string()).add(library);
    }
  for (const char* library : {"/usr/lib/x86_64-linux-gnu/libpocl.so.2", "/usr/lib/aarch64-linux-gnu/libpocl.so.2"})
    if (const auto time = fs::last_write_time(library, error); !error) key.add(std::to_string(time.time_since_epoch().count()));
  const fs::path file = folder / key.finish();
  if (auto known = base::read_file(file)) return *known;
  HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("opencl"));
  HONE_TRY(const base::Exit exit, base::run(jailed({program.string(), "probe"}, scratch.path(), 60), std::chrono::seconds(60)));
  if (!exit.ok())
    return fail(ErrorCode::kUnavailable, "no OpenCL: " + (exit.err.empty() ? "the probe " + exit.describe() : first_error(exit.err)), kHint);
  const std::string version = exit.out.substr(0, exit.out.find('\n'));
  if (base::make_directories(folder)) static_cast<void>(base::write_file_atomic(file, version));
  return version;
}

}  // namespace

Result<std::unique_ptr<Toolchain>> opencl_toolchain() {
  HONE_TRY(const fs::path program, worker_program("hone-opencl"));
  HONE_TRY(const std::string version, probed(program));
  const char* chosen = std::getenv("HONE_CXX");
  return std::unique_ptr<Toolchain>(std::make_unique<OpenClToolchain>(version, program, chosen && *chosen ? chosen : "g++"));
}

}  // namespace hone::target
