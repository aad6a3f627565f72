#include "hone/target/toolchain/tilelang.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/base/file.h"
#include "hone/base/hash.h"
#include "hone/kernel/write_header.h"
#include "hone/target/toolchain/python_compiler.h"
#include "hone/target/toolchain/shipped.h"

namespace hone::target {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kNotSense = "the compiler's answer makes no sense";

bool emulated(const std::string& target) { return target.starts_with("emulator:"); }
bool amd(const std::string& target) { return target.starts_with("hip:") || target == "emulator:hip"; }

json request_for_tiles(const kernel::Kernel& kernel, const std::vector<kernel::TileLaunch>& launches, const std::string& target) {
  json functions = json::array();
  for (const kernel::TileLaunch& launch : launches) {
    json arguments = json::array();
    for (const kernel::TileArgument& its : launch.arguments)
      arguments.push_back(its.shape ? json{{"dtype", its.dtype}, {"shape", *its.shape}} : json{{"dtype", its.dtype}, {"value", its.value}});
    functions.push_back({{"name", launch.function}, {"constants", launch.constants}, {"arguments", std::move(arguments)}});
  }
  return {{"source", kernel.source}, {"target", target}, {"want", "source"}, {"functions", std::move(functions)}};
}

std::vector<task::IntExpr> extents_of(const json& from) {
  std::vector<task::IntExpr> all;
  for (const json& extent : from) all.emplace_back(extent.get<int64_t>());
  return all;
}

/// A launch of the header as the compiler says it is made. Throws what nlohmann::json throws where it says something else.
kernel::Launch launch_from(const json& said, const std::vector<kernel::TileLaunch>& launches) {
  const kernel::TileLaunch& of = launches.at(said.at("of").get<size_t>());
  kernel::Launch launch;
  launch.function = said.at("symbol").get<std::string>();
  launch.grid = extents_of(said.at("grid"));
  launch.block = extents_of(said.at("block"));
  launch.shared = said.at("shared").get<int64_t>();
  for (const json& argument : said.at("arguments")) {
    kernel::Argument& its = launch.args.emplace_back();
    if (argument.contains("argument")) {
      its.tensor = of.tensors.at(argument.at("argument").get<size_t>());
    } else {
      its.kind = argument.at("bits").get<int>() == 64 ? kernel::Argument::Kind::kI64 : kernel::Argument::Kind::kI32;
      its.value = argument.at("value").get<int64_t>();
    }
  }
  return launch;
}

/// Source for the emulator: it includes nothing and asks nothing (hone/tilelang/plain.h has what plain source calls), and where a kernel has a blockIdx of
/// its own, an order of blocks, that gets another name.
std::string plain_source(const std::string& text) {
  constexpr std::string_view kOwn = "const dim3 blockIdx = ", kKernel = "extern \"C\"", kWord = "blockIdx";
  std::string out;
  bool own = false;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with('#') && !line.starts_with("#line ") && !line.starts_with("#pragma ")) line.clear();
    if (line.starts_with(kKernel)) own = false;
    const size_t at = line.find(kOwn);
    if (own && at == std::string::npos) {
      for (size_t found = line.find(kWord); found != std::string::npos; found = line.find(kWord, found + 8)) line.replace(found, kWord.size(), "tile_idx");
    } else if (at != std::string::npos) {
      line.replace(at + 11, kWord.size(), "tile_idx");
      own = true;
    }
    out += line + "\n";
  }
  return out;
}

/// Workspaces with their extents as numbers: no tunable reaches what was compiled.
Result<std::vector<kernel::Workspace>> fixed_workspaces(const kernel::Kernel& kernel, const task::Bindings& bindings) {
  task::Bindings values = bindings;
  for (const auto& [name, value] : kernel.config) values[name] = value;
  std::vector<kernel::Workspace> all = kernel.header.workspaces;
  for (kernel::Workspace& workspace : all)
    for (task::IntExpr& extent : workspace.type.dims) {
      HONE_TRY(const int64_t value, extent.eval(values));
      extent = value;
    }
  return all;
}

class WithTileLang final : public Toolchain {
 public:
  WithTileLang(std::unique_ptr<Toolchain> own, std::string target) : own_(std::move(own)), target_(std::move(target)), shipped_(ShippedBuilds::here()) {}

  std::string name() const override { return own_->name(); }
  std::vector<std::string> other_compilers() const override { return own_->other_compilers(); }
  std::string extensions() const override { return own_->extensions(); }

  Result<BuildOutcome> build(const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings, const BuildOptions& options) override {
    if (kernel.header.language != kernel::Language::kTileLang) return own_->build(kernel, task, bindings, options);
    const auto& install = find_python(kTileLangRow);
    HONE_TRY(auto lowered, lower(install, kernel, task, bindings, options.deadline));
    if (auto* const failure = std::get_if<BuildFailure>(&lowered)) return BuildOutcome(std::move(*failure));
    BuildOptions with = options;
    with.compile = options.compile && install;  // the templates are TileLang's
    if (install && !emulated(target_)) with.includes = {install->package / "src", amd(target_) ? install->package.parent_path() / "triton/backends/amd" : install->package / "3rdparty/cutlass/include"};
    auto& made = std::get<Lowered>(lowered);
    HONE_TRY(BuildOutcome outcome, own_->build(made.kernel, task, bindings, with));
    if (auto* const build = std::get_if<Build>(&outcome)) {
      build->toolchain = fmt::format("{}, {}", made.by, build->toolchain);
      build->lowered = std::make_shared<const kernel::Kernel>(std::move(made.kernel));
      build->lowered_key = tilelang_key(target_, kernel, task, bindings);
    } else if (auto& failure = std::get<BuildFailure>(outcome); failure.unshipped && !install) {
      failure = unshipped();
    }
    return outcome;
  }

  Result<std::string> assembly(const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings) override {
    if (kernel.header.language != kernel::Language::kTileLang) return own_->assembly(kernel, task, bindings);
    return Toolchain::assembly(kernel, task, bindings);
  }

 private:
  struct Lowered {
    kernel::Kernel kernel;
    std::string by;  ///< "TileLang 0.1.15"
  };

  static BuildFailure unshipped() { return {"this kernel does not ship built for these shapes, and TileLang is not installed here", {}, false, true}; }

  /// The text of a pack; where TileLang is here, if its version made it.
  std::optional<Lowered> shipped_text(const std::string& key, const std::string& by) const {
    const auto found = shipped_.find(key, [&](const Pack::Entry& entry) { return entry.arch.empty() && (by.empty() || entry.toolchain == by); });
    if (!found) return std::nullopt;
    auto packed = found->pack->read(key);
    auto kernel = packed ? kernel::parse_kernel(packed->image, amd(target_) ? "kernel.hip" : "kernel.cu") : tl::unexpected(packed.error());
    if (kernel) return Lowered{*std::move(kernel), found->entry->toolchain};
    warn_once(fmt::format("a kernel of the pack in {} is not taken: {}", found->pack->file().string(), kernel.error().message));
    return std::nullopt;
  }

  /// Out of the cache or a pack, where it was made before: source of a kernel is text, its header says the rest.
  Result<std::variant<Lowered, BuildFailure>> lower(const Result<PythonInstall>& install, const kernel::Kernel& kernel, const task::Task& task,
                                                    const task::Bindings& bindings, std::chrono::seconds deadline) {
    using Outcome = std::variant<Lowered, BuildFailure>;
    HONE_TRY(const auto launches, kernel::tile_launches(kernel, task, bindings));
    const std::string key = tilelang_key(target_, kernel, task, bindings), by = install ? "TileLang " + install->version : "";
    if (!install) {
      if (auto text = shipped_text(key, by)) return Outcome(*std::move(text));
      if (shipped_.to_string(target_.substr(target_.find(':') + 1)).empty()) return tl::unexpected(install.error());
      return Outcome(unshipped());
    }
    const std::string hash = base::Hasher().add("tilelang-lower-1").add(key).add(by).finish();
    const fs::path kept = base::cache_directory() / "tilelang" / (base::short_hash(hash) + (amd(target_) ? ".hip" : ".cu"));
    if (const auto text = base::read_file(kept))
      if (auto found = kernel::parse_kernel(*text, kept.string())) return Outcome(Lowered{*std::move(found), by});
    if (auto text = shipped_text(key, by)) return Outcome(*std::move(text));
    const auto answer = ask_python(kTileLangRow, request_for_tiles(kernel, launches, target_), deadline);
    if (!answer) {
      if (answer.error().code != ErrorCode::kExhausted && answer.error().code != ErrorCode::kInput) return tl::unexpected(answer.error());
      return Outcome(BuildFailure{answer.error().message, {}, false});
    }
    if (const std::string error = error_of(*answer); !error.empty()) return Outcome(BuildFailure{error, error, false});
    auto made = kernel_of_tiles(*answer, launches, target_);
    if (!made) return Outcome(BuildFailure{made.error().message, {}, false});
    HONE_TRY(made->header.workspaces, fixed_workspaces(kernel, bindings));
    made->header.note = "lowered by " + by;
    HONE_TRY(kernel::Kernel whole, kernel::with_header(*made, made->header));
    HONE_TRY_VOID(base::make_directories(kept.parent_path()));
    HONE_TRY_VOID(base::write_file_once(kept, whole.source));
    return Outcome(Lowered{std::move(whole), by});
  }

  std::unique_ptr<Toolchain> own_;
  std::string target_;
  ShippedBuilds shipped_;
};

}  // namespace

Result<kernel::Kernel> kernel_of_tiles(const json& answer, const std::vector<kernel::TileLaunch>& launches, const std::string& target) {
  kernel::Kernel made;
  made.header.language = amd(target) ? kernel::Language::kHip : kernel::Language::kCuda;
  std::string text = emulated(target) ? "#include \"hone/tilelang/plain.h\"\n" : "";
  try {
    for (const json& launch : answer.at("launches")) made.header.launches.push_back(launch_from(launch, launches));
    for (const std::string& source : answer.at("sources").get<std::vector<std::string>>()) text += emulated(target) ? plain_source(source) : source + "\n";
  } catch (const std::exception&) {
    return fail(ErrorCode::kInput, kNotSense);
  }
  made.source = kernel::header_comment(made.header) + "\n" + text;
  // Names that are none, extents that are not positive: what a hostile answer may hold ends here.
  return kernel::parse_kernel(made.source, amd(target) ? "kernel.hip" : "kernel.cu");
}

std::string tilelang_key(const std::string& target, const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings) {
  return base::Hasher().add("tilelang-key-1").add(target).add(python_programs_hash(kTileLangRow)).add(kernel.source).add(kernel::case_name(kernel, task, bindings)).finish();
}

Result<kernel::BoundPlan> plan_of(const kernel::Kernel& kernel, const Build& build, const task::Task& task, const task::Bindings& bindings,
                                  const kernel::Limits& limits) {
  auto plan = kernel::bind(kernel, task, bindings, limits);
  return plan && build.lowered ? kernel::bind(*build.lowered, task, bindings, limits) : plan;
}

std::unique_ptr<Toolchain> with_tilelang(std::unique_ptr<Toolchain> own, std::string target) {
  return std::make_unique<WithTileLang>(std::move(own), std::move(target));
}

}  // namespace hone::target
