// Running results that the blocks of a row, or of columns, leave for each other. Pure text.
#pragma once
#include <string>
#include <vector>

#include <fmt/format.h>

#include "hone/pattern/gpu_rounds.h"
#include "hone/pattern/gpu_writer.h"

namespace hone::pattern::gpu {

inline std::string workspace_type(const std::string& accumulator) {
  if (accumulator.find("double") != std::string::npos) return "f64";
  if (accumulator.find("int64_t") != std::string::npos) return "i64";
  return accumulator.find("int32_t") != std::string::npos ? "i32" : "f32";
}
inline const char* cpp_type(const std::string& workspace) {
  return workspace == "f64" ? "double" : workspace == "i64" ? "int64_t" : workspace == "i32" ? "int32_t" : "float";
}

/// What a member of running result number `id` is called where it is left. No coordinate is called so.
inline std::string left_name(const std::string& field, int id) { return fmt::format("{}_left{}", field, id); }

/// Workspaces in which the blocks of a row leave their running results: [rows, blocks] of each.
struct Partials {
  Partials(const GpuWriter& writer, const std::vector<Round>& rounds, const std::string& rows, const std::string& blocks) : facts(writer) {
    for (const Round& round : rounds)
      for (const Running& result : round.results)
        for (const std::string& field : fields(result)) {
          const std::string type = field == "at" ? "i64" : workspace_type(facts.accumulator(result)), name = left_name(field, result.first);
          workspaces += fmt::format("{}{} = \"{}[{}, {}]\"", workspaces.empty() ? "" : ", ", name, type, rows, blocks);
          parameters += fmt::format(", {}* __restrict__ {}", cpp_type(type), name);
          names.push_back(name);
        }
  }
  /// Members of a running result, in their order.
  [[nodiscard]] std::vector<std::string> fields(const Running& result) const {
    if (result.kind == Running::Kind::kExpSum) return {"value", "second"};
    if (result.kind == Running::Kind::kMoments) return {"value", "second", "count"};
    return facts.is_arg(result.first) ? std::vector<std::string>{"value", "at"} : std::vector<std::string>{"value"};
  }
  /// value_left7[AT] = r7.value; …
  [[nodiscard]] std::string leave(const Round& round, const std::string& at, const std::string& indent) const {
    std::string text;
    for (const Running& result : round.results)
      for (const std::string& field : fields(result)) text += fmt::format("{}{}[{}] = r{}.{};\n", indent, left_name(field, result.first), at, result.first, field);
    return text;
  }
  /// What all `blocks` blocks of the row left, a share to each thread, as r7, …
  [[nodiscard]] std::string gather(const Round& round, const std::string& blocks, const std::string& indent) const {
    std::string text;
    for (const Running& result : round.results) {
      std::vector<std::string> parts;
      for (const std::string& field : fields(result)) parts.push_back(fmt::format("{}[row * {} + c]", left_name(field, result.first), blocks));
      text += fmt::format("{0}{1} r{2};\n{0}for (int64_t c = thread; c < {3}; c += THREADS) r{2}.merge({{{4}}});\n", indent,
                          facts.accumulator(result), result.first, blocks,
                          fmt::join(parts, ", "));
    }
    return text;
  }
  const GpuWriter& facts;
  std::string workspaces, parameters;
  std::vector<std::string> names;
};

}  // namespace hone::pattern::gpu
