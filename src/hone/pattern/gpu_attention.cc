#include "hone/pattern/gpu_attention.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/attention.h"
#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/gpu_factor.h"
#include "hone/pattern/gpu_finish.h"
#include "hone/pattern/gpu_patterns.h"
#include "hone/pattern/gpu_writer.h"
#include "hone/pattern/template.h"

namespace hone::pattern {
namespace {

using task::DType;
using task::IntExpr;

/// Registers hold the queries and the result of 16 rows a warp: wider heads have no room beside the scores.
constexpr int64_t kWidestHead = 256;
/// Up to so many rows are one warp's: then warps share the keys.
constexpr int64_t kRowsOfAWarp = 16;

int64_t largest(const task::Task& task, const IntExpr& extent) {
  int64_t most = 0;
  for (const task::Workload& workload : task.workloads) most = std::max(most, extent.eval(workload.bindings).value_or(0));
  return most;
}

class AttentionWriter {
 public:
  AttentionWriter(const task::Task& task, const Attention& attention)
      : task_(task), all_(attention),
        query_(attention.scores_task, *attention.scores, attention.scores->a, attention.scores->row),
        key_(attention.scores_task, *attention.scores, attention.scores->b, attention.scores->column),
        value_(attention.values_task, *attention.values, attention.values->b, attention.values->column) {}

  [[nodiscard]] std::string obstacle() const {
    for (const DType type : {query_.dtype(), key_.dtype(), value_.dtype()})
      if (type != query_.dtype() || (type != DType::kBF16 && type != DType::kF16)) return "queries, keys and values of one 16-bit type";
    for (const auto& [name, type] : task_.outputs)
      if (type.dtype != DType::kBF16 && type.dtype != DType::kF16) return "outputs of 16 bits";
    if (largest(task_, head()) > kWidestHead || largest(task_, columns()) > kWidestHead) return "heads of up to 256";
    return {};
  }

  [[nodiscard]] bool has_few_rows() const { return largest(task_, all_.scores->row.extent) <= kRowsOfAWarp; }

  Result<Offer> offer(bool split) const {
    const std::string parameters = gpu_parameters_of(task_);
    HONE_TRY(const std::string score, value_text(*all_.scores, "score_of", parameters));
    HONE_TRY(const std::string finish, finish_text(*all_.values, parameters));
    const int64_t wide = std::max(rounded(head()), rounded(columns()));
    Slots slots;
    slots["language"] = kernel::name_of(kernel::Language::kCuda);
    slots["note"] = fmt::format("attention in one pass over the keys{}; then {}", split ? ", which blocks share" : "", finish_outline(*all_.values));
    slots["requires"] = requirements();
    slots["head"] = fmt::format("{}", rounded(head()));
    slots["value_head"] = fmt::format("{}", rounded(columns()));
    slots["row_warps"] = split ? "1" : wide > 128 ? "4, 8" : "4, 8, 2";
    slots["key_warps"] = split ? "4, 2, 8" : "1, 2";
    slots["keys"] = split ? "64, 128" : wide > 128 ? "32, 16" : "64, 32, 128";
    slots["stages"] = wide > 128 ? "2, 3" : "2, 3, 4";
    slots["parts"] = all_.rounds_weights ? "1, 2" : "2, 1";
    slots["shared"] = shared();
    slots["split_tunable"] = split ? ", WAVES = [2, 1, 4]" : "";
    slots["split_note"] = split ? "//   WAVES      times as many blocks as multiprocessors: so many stretches of keys a tile of queries gets\n" : "";
    slots["workspaces"] = split ? fmt::format("workspaces = {{ parts = \"f32[{} * ({}), {}, VALUE_HEAD + 2]\" }}\n", text(all_.scores->batch.extent),
                                              all_.scores->row.extent.to_string(), chunks()) : "";
    slots["launches"] = launches(split);
    slots["members"] = members(parameters);
    slots["names"] = names();
    slots["score"] = score;
    slots["finish"] = finish;
    slots["element"] = storage_type(query_.dtype());
    add_factor(slots, "query", query_);
    add_factor(slots, "key", key_);
    add_factor(slots, "value", value_);
    slots["row_count"] = cpp(all_.scores->row.extent);
    slots["key_count"] = cpp(all_.scores->column.extent);
    slots["depth_count"] = cpp(head());
    slots["column_count"] = cpp(columns());
    slots["last_key"] = last_key();
    slots["entries"] = entries(split);
    kernel::Kernel kernel = finished(fill_pattern("patterns/gpu/attention.cu", slots), "attention");
    kernel.header.action = split ? "one pass over the keys, shared between blocks" : "one pass over the keys";
    return Offer{kernel, "attention", kernel.header.action};
  }

 private:
  [[nodiscard]] const IntExpr& head() const { return all_.scores->depth.extent; }
  [[nodiscard]] const IntExpr& columns() const { return all_.values->column.extent; }
  static std::string cpp(const IntExpr& e) { return wrapped(e.to_cpp()); }
  static std::string text(const IntExpr& e) { return wrapped(e.to_string()); }

  /// Up to the next multiple of 16, at the largest workload.
  [[nodiscard]] int64_t rounded(const IntExpr& extent) const { return (largest(task_, extent) + 15) / 16 * 16; }

  [[nodiscard]] std::string requirements() const {
    std::vector<std::string> all = {fmt::format("\"{} <= HEAD\"", head().to_string()), fmt::format("\"{} <= VALUE_HEAD\"", columns().to_string())};
    for (const Contraction* product : {all_.scores.get(), all_.values.get()})
      for (const IntExpr& condition : product->program.nest.conditions) all.push_back("\"" + condition.to_string() + "\"");
    return fmt::format("requires = [{}]\n", fmt::join(all, ", "));
  }

  [[nodiscard]] std::string shared() const {
    const std::string rows = "16 * ROW_WARPS";
    const auto tile = [](const GpuFactor& factor, const std::string& lines, const std::string& depth) {
      return factor.along_depth() ? fmt::format("{} * ({} + 8)", lines, depth) : fmt::format("{} * ({} + 8)", depth, lines);
    };
    return fmt::format("max(2 * ({} + STAGES * ({} + {})), 4 * (KEY_WARPS - 1) * {} * (VALUE_HEAD + 2))", tile(query_, rows, "HEAD"), tile(key_, "KEYS", "HEAD"),
                       tile(value_, "VALUE_HEAD", "KEYS"), rows);
  }

  [[nodiscard]] std::string tiles() const { return fmt::format("ceil_div({}, 16 * ROW_WARPS)", all_.scores->row.extent.to_string()); }
  /// Stretches of keys that a tile of queries is given: as many as fill the device, none shorter than four tiles.
  [[nodiscard]] std::string chunks() const {
    return fmt::format("max(1, min(ceil_div({}, 4 * KEYS), ceil_div(WAVES * SMS, {} * {})))", all_.scores->column.extent.to_string(), text(all_.scores->batch.extent), tiles());
  }

  /// When all three are read 16 bytes at a time; nothing where they never can.
  [[nodiscard]] std::optional<std::vector<std::string>> wide() const {
    std::vector<std::string> all;
    for (const GpuFactor* factor : {&query_, &key_, &value_}) {
      const auto conditions = factor->wide();
      if (!conditions) return std::nullopt;
      for (const std::string& condition : *conditions)
        if (std::find(all.begin(), all.end(), condition) == all.end()) all.push_back(condition);
    }
    return all;
  }

  [[nodiscard]] std::string names() const {
    std::vector<std::string> all;
    for (const auto& input : task_.inputs) all.push_back(input.name);
    for (const auto& [name, type] : task_.outputs) all.push_back(name);
    for (const std::string& symbol : task_.symbols()) all.push_back(symbol);
    return fmt::format("{}", fmt::join(all, ", "));
  }

  /// The parameters as members of a struct.
  static std::string members(const std::string& parameters) {
    std::string all;
    for (size_t at = 0; at < parameters.size();) {
      const size_t end = std::min(parameters.find(", ", at), parameters.size());
      all += "  " + parameters.substr(at, end - at) + ";\n";
      at = end + 2;
    }
    return all;
  }

  static void add_factor(Slots& slots, const std::string& name, const GpuFactor& factor) {
    slots[name + "_along"] = factor.along_depth() ? "true" : "false";
    slots[name + "_base"] = factor.base();
    slots[name + "_line"] = factor.line();
    slots[name + "_depth"] = factor.depth();
  }

  /// Where keys end that any of the rows [row_at, row_at + rows_at) sees.
  [[nodiscard]] std::string last_key() const {
    if (!all_.sees_up_to) return "    return keys();\n";
    const std::string along = cpp(all_.scores->extents.at(all_.scores->row.letters.back()));
    return fmt::format(
        "    const int64_t last_at = row_at + rows_at < rows() ? row_at + rows_at - 1 : rows() - 1;\n"
        "    if (row_at / {0} != last_at / {0}) return keys();\n"
        "    const int64_t end_at = last_at % {0} + {1};\n"
        "    return end_at < 1 ? 1 : end_at < keys() ? end_at : keys();\n", along, *all_.sees_up_to + 1);
  }

  struct Entry {
    std::string name, when;
    int vector;
  };
  [[nodiscard]] std::vector<Entry> both() const {
    const auto conditions = wide();
    if (!conditions) return {{"attention", "", 1}};
    const std::string all = fmt::format("{}", fmt::join(*conditions, " and "));
    if (all.empty()) return {{"attention", "", 8}};
    return {{"attention_wide", all, 8}, {"attention_any", "not (" + all + ")", 1}};
  }

  [[nodiscard]] std::string launches(bool split) const {
    std::string launches_text;
    const std::string more = split ? ", \"parts\", \"i64:" + chunks() + "\"" : "";
    for (const Entry& entry : both())
      launches_text += fmt::format("[[launch]]\nkernel = \"{}\"\n{}grid   = [\"{} * {}{}\"]\nblock  = [\"32 * ROW_WARPS * KEY_WARPS\"]\nshared = \"{}\"\nargs   = [{}{}]\n",
                                   entry.name, entry.when.empty() ? "" : "when   = \"" + entry.when + "\"\n", text(all_.scores->batch.extent), tiles(),
                                   split ? " * " + chunks() : "", shared(), arguments_of(task_), more);
    if (split)
      launches_text += fmt::format("[[launch]]\nkernel = \"bring_together\"\ngrid   = [\"{} * ({})\"]\nblock  = [\"128\"]\nargs   = [{}{}]\n",
                                   text(all_.scores->batch.extent), all_.scores->row.extent.to_string(), arguments_of(task_), more);
    return launches_text;
  }

  [[nodiscard]] std::string entries(bool split) const {
    const std::string parameters = gpu_parameters_of(task_);
    std::string all;
    for (const Entry& entry : both())
      all += fmt::format("\n__global__ void __launch_bounds__(32 * ROW_WARPS * KEY_WARPS) {}({}{}) {{\n  {}<{}>(Graph<{}>{{{}}}{});\n}}\n", entry.name, parameters,
                         split ? ", float* __restrict__ parts, int64_t chunks" : "", split ? "attend_stretch" : "attend_tile", entry.vector, entry.vector, names(),
                         split ? ", parts, chunks" : "");
    if (split)
      all += fmt::format("\n/// A row's stretches of keys in one: a block each.\n__global__ void __launch_bounds__(128) bring_together({}, float* __restrict__ parts, int64_t chunks) {{\n"
                         "  const Graph<1> graph{{{}}};\n  bring_together(graph, parts, chunks);\n}}\n", parameters, names());
    return all;
  }

  const task::Task& task_;
  const Attention& all_;
  GpuFactor query_, key_, value_;
};

}  // namespace

std::vector<Offer> gpu_attention_offers(const task::Task& task, kernel::Language language, std::vector<std::string>& why_not) {
  std::vector<Offer> offers;
  const auto none = [&](const std::string& why) {
    why_not.push_back("attention: " + why);
    return offers;
  };
  if (language != kernel::Language::kCuda) return none("in CUDA only");
  const auto found = find_attention(task);
  if (!found) return none(found.error().message);
  const AttentionWriter writer(task, *found);
  if (const std::string why = writer.obstacle(); !why.empty()) return none(why);
  for (const bool split : writer.has_few_rows() ? std::vector<bool>{true, false} : std::vector<bool>{false}) {
    auto offer = writer.offer(split);
    if (!offer) return none(offer.error().message);
    offers.push_back(std::move(*offer));
  }
  return offers;
}

}  // namespace hone::pattern
