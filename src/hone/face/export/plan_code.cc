#include "hone/face/export/plan_code.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include <fmt/format.h>

#include "hone/face/export/source_text.h"

namespace hone::face {
namespace {

using kernel::Argument;
using kernel::Kernel;
using kernel::Launch;
using task::IntExpr;

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return std::isdigit(static_cast<unsigned char>(c)); });
}

/// Writes the two functions of one kernel.
class Writer {
 public:
  Writer(const Kernel& kernel, const task::Task& task, const PlanNames& names, const ExportOptions& options,
         const std::string& space)
      : kernel_(kernel), header_(kernel.header), task_(task), names_(names), options_(options), space_(space) {}

  Result<PlanCode> write(const std::string& label) {
    for (const auto& [tunable, number] : kernel_.config)
      if (names_.has_symbol(tunable))
        return fail(ErrorCode::kInput, fmt::format("{} is a tunable of the kernel and a shape symbol of the task", tunable),
                    "give one of them another name");
    for (const kernel::Workspace& workspace : header_.workspaces)
      workspaces_[workspace.name] = names_.fresh(workspace.name);
    HONE_TRY(std::string applies, applies_body());
    code_.applies_threads = used_.count("THREADS") > 0 && pooled();
    std::vector<std::string> parameters = extents(applies);
    if (code_.applies_threads) parameters.emplace_back("int64_t THREADS");
    code_.applies = fmt::format("{} {{\n{}  return {};\n}}\n", with_arguments("bool " + label + "_applies", parameters, 4),
                                constants(!code_.applies_threads), applies);
    used_.clear();
    HONE_TRY(const std::string body, run_body());
    parameters.clear();
    for (const task::InputSpec& input : task_.inputs) add_tensor(parameters, "const ", input.name, input.type, body);
    for (const auto& [name, type] : task_.outputs) add_tensor(parameters, "", name, type, body);
    for (std::string& extent : extents(body)) parameters.push_back(std::move(extent));
    if (pooled()) parameters.push_back("int64_t THREADS");
    code_.run = fmt::format("{} {{\n{}{}}}\n", with_arguments("void " + label + "_run", parameters, 4),
                            constants(!pooled()), body);
    return std::move(code_);
  }

 private:
  [[nodiscard]] bool pooled() const { return options_.threads == ExportThreads::kPool; }

  /// "int64_t B", …; marked where `body` does not mention it.
  [[nodiscard]] std::vector<std::string> extents(const std::string& body) const {
    const auto pieces = tokenize_cpp(body);
    std::vector<std::string> all;
    for (const std::string& symbol : task_.symbols()) {
      const std::string& name = names_.symbol(symbol);
      all.push_back(fmt::format("{}int64_t {}", uses_word(pieces, name) ? "" : "[[maybe_unused]] ", name));
    }
    return all;
  }

  void add_tensor(std::vector<std::string>& parameters, std::string_view qualifier, const std::string& tensor,
                  const task::TensorType& type, const std::string& body) {
    const std::string& name = names_.tensor(tensor);
    code_.narrow_types = code_.narrow_types || task::is_narrow(type.dtype);
    parameters.push_back(fmt::format("{}{}{}* {}", uses_word(tokenize_cpp(body), name) ? "" : "[[maybe_unused]] ",
                                     qualifier, task::cpp_name_of(type.dtype), name));
  }

  /// The expression over the names of generated code; notes which limits and tunables it needs.
  Result<IntExpr> resolve(const IntExpr& expression) {
    for (const std::string& name : expression.symbols()) {
      const bool limit = name == "THREADS" || name == "VECTOR_BYTES" || options_.limits.count(name) > 0;
      if (kernel_.config.count(name) > 0 || (limit && !names_.has_symbol(name))) {
        used_.insert(name);
        code_.vector_bytes = code_.vector_bytes || name == "VECTOR_BYTES";
      } else if (!names_.has_symbol(name)) {
        return fail(ErrorCode::kInput,
                    fmt::format("the plan uses {} in \"{}\", which is no shape symbol, no tunable and no limit known here",
                                name, expression.to_string()),
                    "limits such as L2_BYTES come from the machine that the kernel was verified on");
      }
    }
    return names_.renamed(expression);
  }
  /// With the tunables' values put in.
  [[nodiscard]] IntExpr configured(const IntExpr& expression) const {
    std::map<std::string, IntExpr, std::less<>> with;
    for (const auto& [tunable, number] : kernel_.config) with.emplace(tunable, IntExpr(number));
    return expression.substitute(with);
  }
  Result<std::string> value(const IntExpr& expression) {
    HONE_TRY(const IntExpr resolved, resolve(expression));
    return resolved.to_cpp();
  }
  /// A condition without the cast that keeps sums of conditions 64 bits wide.
  Result<std::string> truth(const IntExpr& expression) {
    HONE_TRY(std::string text, value(expression));
    constexpr std::string_view kCast = "int64_t(";
    int depth = 0;
    for (size_t i = 0; text.rfind(kCast, 0) == 0 && i < text.size(); ++i) {
      if (text[i] == '(') ++depth;
      if (text[i] == ')' && --depth == 0 && i + 1 < text.size()) return fmt::format("({}) != 0", text);
    }
    if (text.rfind(kCast, 0) == 0) return text.substr(kCast.size(), text.size() - kCast.size() - 1);
    return fmt::format("({}) != 0", text);
  }

  /// Definitions of what the functions just written use.
  [[nodiscard]] std::string constants(bool threads) const {
    std::string text;
    for (const std::string& name : used_) {
      if (const auto it = kernel_.config.find(name); it != kernel_.config.end()) {
        text += fmt::format("  constexpr int64_t {} = {};\n", name, it->second);
      } else if (name == "VECTOR_BYTES") {
        text += "  constexpr int64_t VECTOR_BYTES = HONE_VECTOR_BYTES;\n";
      } else if (name != "THREADS") {
        text += fmt::format("  constexpr int64_t {} = {};  // of the machine it was verified on\n", name,
                            options_.limits.find(name)->second);
      } else if (threads) {
        text += "  constexpr int64_t THREADS = 1;\n";
      }
    }
    return text;
  }

  /// True where the value is at least 1 whatever the extents: sums and products of positive things.
  [[nodiscard]] bool surely_positive(const IntExpr& expression) const {
    for (const CppPiece& piece : tokenize_cpp(expression.to_string())) {
      if (piece.kind == CppToken::kSpace) continue;
      if (piece.kind == CppToken::kNumber) {
        if (piece.text == "0") return false;
      } else if (piece.kind == CppToken::kWord) {
        if (piece.text == "ceil_div" || piece.text == "min" || piece.text == "max" || piece.text == "align") continue;
        const auto tunable = kernel_.config.find(piece.text);
        if (tunable != kernel_.config.end() && tunable->second < 1) return false;
        const auto limit = options_.limits.find(piece.text);
        if (limit != options_.limits.end() && limit->second < 1) return false;
        if (piece.text == "and" || piece.text == "or" || piece.text == "not" || piece.text == "select" ||
            piece.text == "abs")
          return false;
      } else if (std::string_view("+*(),").find(piece.text[0]) == std::string_view::npos) {
        return false;
      }
    }
    return true;
  }

  /// Adds "expression >= least" unless that is plain; for people as `what`.
  Status demand(std::vector<std::string>& conditions, const IntExpr& expression, int64_t least) {
    if (surely_positive(expression)) return {};
    if (expression.is_constant() && expression.constant() >= least) return {};
    HONE_TRY(const std::string text, value(expression));
    conditions.push_back(fmt::format("{} >= {}", text, least));
    return {};
  }

  Result<std::string> applies_body() {
    std::vector<std::string> conditions;
    for (const std::string& symbol : task_.symbols()) conditions.push_back(names_.symbol(symbol) + " >= 1");
    for (const std::string& symbol : header_.specialise) {
      const auto it = options_.specialised.find(symbol);
      if (it == options_.specialised.end() || !names_.has_symbol(symbol))
        return fail(ErrorCode::kInput, fmt::format("the kernel is specialised for one value of {}, and none was given", symbol),
                    "export it with the shape that it was built for");
      conditions.push_back(fmt::format("{} == {}", names_.symbol(symbol), it->second));
      code_.conditions.push_back(conditions.back());
    }
    for (const IntExpr& condition : header_.require) {
      HONE_TRY(std::string text, truth(condition));
      conditions.push_back(std::move(text));
      code_.conditions.push_back(names_.renamed(configured(condition)).to_string());
    }
    for (const kernel::Workspace& workspace : header_.workspaces)
      for (const IntExpr& extent : workspace.type.dims) HONE_TRY_VOID(demand(conditions, extent, 1));
    std::vector<std::string> whens;
    size_t optional = 0;
    for (const Launch& launch : header_.launches) {
      std::vector<std::string> own;
      for (const IntExpr& extent : launch.grid) HONE_TRY_VOID(demand(own, extent, 1));
      HONE_TRY_VOID(demand(own, launch.shared, 0));
      for (const Argument& argument : launch.args) {
        if (argument.kind != Argument::Kind::kI32) continue;
        const IntExpr known = configured(argument.value);
        if (known.is_constant() && known.constant() == static_cast<int32_t>(known.constant())) continue;
        HONE_TRY(const std::string text, value(argument.value));
        own.push_back(fmt::format("static_cast<int32_t>({0}) == {0}", text));
      }
      if (!launch.when) {
        conditions.insert(conditions.end(), own.begin(), own.end());
        continue;
      }
      HONE_TRY(const std::string when, truth(*launch.when));
      ++optional;
      if (std::find(whens.begin(), whens.end(), when) == whens.end()) whens.push_back(when);
      if (!own.empty()) conditions.push_back(fmt::format("!({}) || ({})", when, fmt::join(own, " && ")));
    }
    if (optional == header_.launches.size()) conditions.push_back(fmt::format("{}", fmt::join(whens, " || ")));
    // `&&` is about to bind them together.
    for (std::string& condition : conditions)
      if (condition.find("||") != std::string::npos || condition.find('?') != std::string::npos)
        condition = "(" + condition + ")";
    return conditions.empty() ? "true" : fmt::format("{}", fmt::join(conditions, " &&\n         "));
  }

  /// Workspaces and shared bytes of all threads, out of one block.
  Result<std::string> memory() {
    std::vector<std::string> sizes;
    std::string pointers;
    for (const kernel::Workspace& workspace : header_.workspaces) {
      IntExpr bytes = task::size_of(workspace.type.dtype);
      for (const IntExpr& extent : workspace.type.dims) bytes = bytes * extent;
      HONE_TRY(const std::string size, value(bytes));
      const std::string_view type = task::cpp_name_of(workspace.type.dtype);
      code_.narrow_types = code_.narrow_types || type.substr(0, 6) == "hone::";
      const std::string& name = workspaces_[workspace.name];
      pointers += fmt::format("  [[maybe_unused]] {0}* const {1} = reinterpret_cast<{0}*>(memory + at[{2}]);\n",
                              type, name, sizes.size());
      if (workspace.zero) pointers += fmt::format("  memset({}, 0, static_cast<size_t>({}));\n", name, size);
      sizes.push_back(size);
    }
    std::string text;
    IntExpr most = 0;
    for (const Launch& launch : header_.launches) {
      if (launch.shared == IntExpr(0)) continue;
      // A launch whose `when` does not hold may ask for a negative number.
      const IntExpr bytes = surely_positive(launch.shared) ? launch.shared : IntExpr::max(launch.shared, 0);
      most = most == IntExpr(0) ? bytes : IntExpr::max(most, bytes);
    }
    if (!(most == IntExpr(0))) {
      HONE_TRY(const std::string size, value(most));
      text += fmt::format("  const int64_t shared_bytes = (({}) + 63) / 64 * 64;\n", size);
      sizes.emplace_back(pooled() ? "THREADS * shared_bytes" : "shared_bytes");
      pointers += fmt::format("  [[maybe_unused]] unsigned char* const shared = memory + at[{}];\n", sizes.size() - 1);
    }
    if (sizes.empty()) return std::string();
    code_.scratch = true;
    for (std::string& size : sizes) size = fmt::format("layout.add({})", size);
    return fmt::format("{}  runtime::Layout layout;\n  const int64_t at[] = {{\n      {}}};\n"
                       "  unsigned char* const memory = runtime::scratch(layout.bytes());\n{}",
                       text, fmt::join(sizes, ",\n      "), pointers);
  }

  Result<std::string> argument(const Argument& argument, const Launch& launch) {
    switch (argument.kind) {
      case Argument::Kind::kTensor: {
        if (const auto it = workspaces_.find(argument.tensor); it != workspaces_.end()) return it->second;
        if (!names_.has_tensor(argument.tensor))
          return fail(ErrorCode::kInput, fmt::format("{} takes \"{}\", which is no input, output or workspace",
                                                     launch.function, argument.tensor));
        return names_.tensor(argument.tensor);
      }
      case Argument::Kind::kI32: {
        HONE_TRY(const std::string text, value(argument.value));
        return fmt::format("static_cast<int32_t>({})", text);
      }
      case Argument::Kind::kI64: {
        HONE_TRY(const std::string text, value(argument.value));
        return is_number(text) ? fmt::format("int64_t{{{}}}", text) : text;
      }
      case Argument::Kind::kShared:
        if (launch.shared == IntExpr(0)) return std::string("nullptr");
        return std::string(pooled() ? "shared + slot * shared_bytes" : "shared");
      default: HONE_CHECK(false, "an argument that only Triton's kernels have");
    }
    return std::string();
  }

  Result<std::string> one_launch(const Launch& launch) {
    std::vector<std::string> args, shown;
    bool slot = false;
    for (const Argument& item : launch.args) {
      HONE_TRY(std::string text, argument(item, launch));
      slot = slot || text.rfind("shared +", 0) == 0;
      args.push_back(std::move(text));
    }
    const size_t rank = launch.grid.size();
    static constexpr char kAxis[] = {'x', 'y', 'z'};
    std::string extents, product;
    for (size_t d = 0; d < rank; ++d) {
      HONE_TRY(const std::string text, value(launch.grid[d]));
      extents += fmt::format("    const int64_t grid_{} = {};\n", kAxis[d], text);
      product += fmt::format("{}grid_{}", d ? " * " : "", kAxis[d]);
      shown.push_back(launch.grid[d].to_string());
    }
    if (rank == 1) {
      args.emplace_back(pooled() ? "block" : "index_x");
    } else if (!pooled()) {
      for (size_t d = 0; d < rank; ++d) args.push_back(fmt::format("index_{}", kAxis[d]));
    } else {
      args.emplace_back("block % grid_x");
      args.emplace_back(rank == 2 ? "block / grid_x" : "block / grid_x % grid_y");
      if (rank == 3) args.emplace_back("block / (grid_x * grid_y)");
    }
    std::string condition;
    if (launch.when) {
      HONE_TRY(const std::string when, truth(*launch.when));
      condition = fmt::format("if ({}) ", when);
    }
    const std::string function = fmt::format("{}::{}", space_, launch.function);
    std::string text = fmt::format("  // {} on a grid of {}\n  {}{{\n{}", launch.function, fmt::join(shown, " by "),
                                   condition, extents);
    if (pooled()) {
      text += fmt::format("    runtime::for_blocks({}, THREADS, [=](int64_t{}, int64_t begin, int64_t end) {{\n"
                          "      for (int64_t block = begin; block < end; ++block)\n{};\n    }});\n",
                          product, slot ? " slot" : "", with_arguments("        " + function, args, 12));
    } else {
      for (size_t d = rank; d-- > 0;)
        text += fmt::format("    {0}for (int64_t index_{1} = 0; index_{1} < grid_{1}; ++index_{1})\n",
                            std::string(2 * (rank - 1 - d), ' '), kAxis[d]);
      text += with_arguments(std::string(4 + 2 * rank, ' ') + function, args, 8 + 2 * rank) + ";\n";
    }
    return text + "  }\n";
  }

  Result<std::string> run_body() {
    HONE_TRY(std::string text, memory());
    for (const Launch& launch : header_.launches) {
      HONE_TRY(const std::string one, one_launch(launch));
      text += one;
    }
    return text;
  }

  const Kernel& kernel_;
  const kernel::Header& header_;
  const task::Task& task_;
  const PlanNames& names_;
  const ExportOptions& options_;
  const std::string& space_;
  std::map<std::string, std::string> workspaces_;
  std::set<std::string> used_;  ///< tunables and limits in the function being written
  PlanCode code_;
};

}  // namespace

Result<PlanCode> write_plan(const Kernel& kernel, const task::Task& task, const PlanNames& names,
                            const ExportOptions& options, const std::string& space, const std::string& label) {
  return Writer(kernel, task, names, options, space).write(label);
}

}  // namespace hone::face
