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

/// How blocks share the work: tiles of queries by groups of four warps (Hopper), fed by the copy engine or by themselves, or by warps; or
/// segments of the keys as well.
enum class Form { kTensor, kGroups, kTiles, kSplit };

/// As hone/gpu/attention_wgmma.h has it.
int64_t group_columns(int64_t columns) {
  for (const int64_t most : {16, 32, 48, 64, 96, 128})
    if (columns <= most) return most;
  return 256;
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
      if (type != query_.dtype() || (type != DType::kBF16 && type != DType::kF16 && type != DType::kF32)) return "queries, keys and values of one type, 16 bits or fp32";
    for (const auto& [name, type] : task_.outputs)
      if (type.dtype != DType::kBF16 && type.dtype != DType::kF16 && (!floats() || type.dtype != DType::kF32)) return "outputs as wide as the factors";
    if (largest(task_, head()) > kWidestHead || largest(task_, columns()) > kWidestHead) return "heads of up to 256";
    return {};
  }

  [[nodiscard]] bool has_few_rows() const { return largest(task_, all_.scores->row.extent) <= kRowsOfAWarp; }

  [[nodiscard]] std::vector<Form> forms() const {
    if (has_few_rows()) return {Form::kSplit, Form::kTiles};
    // Queries become the units' left factor as they lie in memory: along the depth.
    std::vector<Form> all{Form::kTiles};
    if (floats()) return all;
    if (query_.along_depth() && largest(task_, all_.scores->row.extent) >= 64) all.insert(all.begin(), Form::kGroups);
    if (all.size() > 1 && wide() && is_matrix(key_) && is_matrix(value_)) all.insert(all.begin(), Form::kTensor);
    return all;
  }

  Result<Offer> offer(Form form) const {
    const std::string parameters = gpu_parameters_of(task_);
    HONE_TRY(std::string score, value_text(*all_.scores, "score", parameters));
    if (all_.plain) {
      HONE_TRY(const std::string plain, value_text(*all_.plain, "plain", parameters));
      score += "\n/// The same of a key that counts.\n" + plain;
    }
    HONE_TRY(std::string finish, finish_text(*all_.values, parameters));
    if (form == Form::kTensor) {
      HONE_TRY(const std::string words, words_text(*all_.values, parameters));
      finish += words;
    }
    const bool wide = std::max(rounded(head()), rounded(columns())) > 128, split = form == Form::kSplit, groups = form == Form::kGroups, tensor = form == Form::kTensor;
    Slots slots;
    slots["language"] = kernel::name_of(kernel::Language::kCuda);
    slots["note"] = fmt::format("attention in one pass over the keys{}; then {}", split ? ", which blocks share" : "", finish_outline(*all_.values));
    slots["requires"] = requirements(form);
    slots["head"] = fmt::format("{}", rounded(head()));
    slots["value_head"] = fmt::format("{}", rounded(columns()));
    if (tensor) {
      slots["tunables"] = fmt::format("STAGES = [{}]", wide ? "2" : "2, 3, 4");
      slots["constraints"] = "";
      slots["header"] = "hone/gpu/attention_tensor.h";
      slots["tile"] = "hone::gpu::TensorAttention<Graph<V>, KEYS, HEAD, VALUE_HEAD, STAGES, PARTS>";
      slots["legend"] = "//   STAGES     tiles of keys, and of values, in shared memory: one is computed on, the others are on their way\n";
    } else if (groups) {
      slots["tunables"] = "GROUPS = [2, 3, 1]";
      slots["constraints"] = "";
      slots["header"] = "hone/gpu/attention_wgmma.h";
      slots["tile"] = "hone::gpu::GroupAttention<Graph<V>, GROUPS, KEYS, HEAD, VALUE_HEAD, PARTS>";
      slots["legend"] = "//   GROUPS     groups of four warps that share a tile of queries, 64 rows each\n";
    } else {
      slots["tunables"] = fmt::format("ROW_WARPS = [{}], KEY_WARPS = [{}], STAGES = [{}]{}", split ? "1" : wide ? "4, 8" : "4, 8, 2", split ? "4, 2, 8" : "1, 2",
                                      wide ? "2, 3" : "2, 3, 4", split ? ", WAVES = [2, 1, 4]" : "");
      slots["constraints"] = "\"KEYS % (16 * KEY_WARPS) == 0\", \"ROW_WARPS * KEY_WARPS <= 8\", ";
      slots["header"] = "hone/gpu/attention.h";
      slots["tile"] = "hone::gpu::Attention<Graph<V>, ROW_WARPS, KEY_WARPS, KEYS, HEAD, VALUE_HEAD, STAGES, PARTS>";
      slots["legend"] = fmt::format("//   ROW_WARPS  warps that share a tile of queries, 16 rows each\n"
                                    "//   KEY_WARPS  warps that share a tile of keys\n"
                                    "//   STAGES     tiles of keys and values in shared memory: one is computed on, the others are on their way\n{}",
                                    split ? "//   WAVES      times as many blocks as multiprocessors: so many segments of keys a tile of queries gets\n" : "");
    }
    slots["keys"] = floats() ? (split && !wide ? "64, 32, 128" : wide && !split ? "16, 32" : "32, 64, 16") : split ? "64, 128" : tensor ? (wide ? "64" : "128, 64") : groups ? (wide ? "64, 32" : "128, 64") : wide ? "32, 16" : "64, 32, 128";
    slots["parts"] = floats() ? "1" : all_.rounds_weights ? "1, 2" : "2, 1";
    slots["shared"] = shared(form);
    slots["spare"] = tensor ? " + 2048" : "";   // barriers
    slots["bodies"] = split ? kSegments : tensor ? "" : fmt::format(kTiles, groups ? 1024 : 16);
    slots["tensors"] = tensor ? tensors() : "";
    slots["workspaces"] = tensor ? fmt::format("workspaces = {{ maps = \"i8[{}, 512]\" }}\n", blocks()) : split ? fmt::format("workspaces = {{ parts = \"f32[{} * ({}), {}, VALUE_HEAD + 2]\" }}\n", text(all_.scores->batch.extent),
                                              all_.scores->row.extent.to_string(), chunks()) : "";
    slots["launches"] = launches(form);
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
    slots["plain"] = all_.plain ? "plain" : "score";
    slots["plain_row"] = all_.plain ? "\n    plain_row plain;" : "";
    slots["plain_row_of"] = all_.plain ? fmt::format(", plain_row_of({}, line_at)", names()) : "";
    slots["first_key"] = first_key();
    slots["last_key"] = last_key();
    slots["all_count"] = all_count();
    slots["entries"] = entries(form);
    kernel::Kernel kernel = finished(fill_pattern("patterns/gpu/attention.cu", slots), "attention");
    kernel.header.action = fmt::format("one pass over the keys{}", tensor ? ", fed by the copy engine" : split ? ", shared between blocks" : groups ? ", by groups of warps" : "");
    return Offer{kernel, "attention", kernel.header.action};
  }

 private:
  [[nodiscard]] bool floats() const { return query_.dtype() == DType::kF32; }
  [[nodiscard]] const IntExpr& head() const { return all_.scores->depth.extent; }
  [[nodiscard]] const IntExpr& columns() const { return all_.values->column.extent; }
  static std::string cpp(const IntExpr& e) { return wrapped(e.to_cpp()); }
  static std::string text(const IntExpr& e) { return wrapped(e.to_string()); }

  /// Up to the next multiple of 16, at the largest workload.
  [[nodiscard]] int64_t rounded(const IntExpr& extent) const { return (largest(task_, extent) + 15) / 16 * 16; }

  /// Read as a matrix with one step along the lines and one along the depth.
  static bool is_matrix(const GpuFactor& factor) { return factor.steady() && factor.line() != "0" && factor.depth() != "0"; }

  [[nodiscard]] std::string requirements(Form form) const {
    std::vector<std::string> all = {fmt::format("\"{} <= HEAD\"", head().to_string()), fmt::format("\"{} <= VALUE_HEAD\"", columns().to_string())};
    for (const Contraction* product : {all_.scores.get(), all_.values.get()})
      for (const IntExpr& condition : product->program.nest.conditions) all.push_back("\"" + condition.to_string() + "\"");
    if (const auto conditions = wide(); form == Form::kTensor)
      for (const std::string& condition : *conditions) all.push_back("\"" + condition + "\"");
    return fmt::format("requires = [{}]\n", fmt::join(all, ", "));
  }

  /// What a Graph has for the copy engine.
  [[nodiscard]] std::string tensors() const {
    const auto tensor = [&](const char* name, const GpuFactor& factor, const char* lines, const char* depth) {
      return fmt::format("  __device__ auto {}_tensor([[maybe_unused]] int64_t batch_at) const {{\n"
                         "    return hone::gpu::tensor_factor<T, {}>({}(), {}(), 1, [&](int64_t) {{ return {}; }}, [&](int64_t line_at) -> int64_t {{ return {}; }},\n"
                         "                                           [&](int64_t depth_at) -> int64_t {{ return {}; }});\n  }}\n",
                         name, factor.along_depth(), lines, depth, factor.base(), factor.line(), factor.depth());
    };
    return tensor("key", key_, "keys", "depth") + tensor("value", value_, "columns", "keys") +
           fmt::format("  __device__ int64_t batches() const {{ return {0}; }}\n"
                       "  __device__ bool on_words(int64_t line_at, int64_t column) const {{ return finish_on_words<hone::gpu::kMany>({1}, line_at, column); }}\n"
                       "  template <class Moved>\n"
                       "  __device__ auto reads(Moved, int64_t line_at, int64_t column) const {{\n    return finish_reads<hone::gpu::kMany, Moved::kBoundary>({1}, line_at, column);\n  }}\n"
                       "  template <class Moved, class Given>\n"
                       "  __device__ void store_words(Moved, int64_t line_at, int64_t column, const float (&x)[hone::gpu::kMany], const Given& given) const {{\n"
                       "    finish_words<hone::gpu::kMany, Moved::kBoundary>({1}, line_at, column, x, given);\n  }}\n", cpp(all_.scores->batch.extent), names());
  }

  static constexpr const char* kTiles = R"(/// A tile of queries to a block, the last ones first: where keys are left out, those have most of them.
template <int V>
__device__ void attend_tile(const Graph<V>& graph) {{
  extern __shared__ __align__({}) unsigned char memory_at[];
  constexpr int kRows = Tile<V>::kRows;
  const int64_t tiles = (graph.rows() + kRows - 1) / kRows, batch = blockIdx.x / tiles;
  hone::gpu::attend<Tile<V>>(graph, batch, (tiles - 1 - blockIdx.x % tiles) * kRows, memory_at);
}}
)";

  static constexpr const char* kSegments = R"(/// A segment of the keys of a tile of queries to a block.
template <int V>
__device__ void attend_segment(const Graph<V>& graph, float* parts, int64_t chunks) {
  extern __shared__ __align__(16) unsigned char memory_at[];
  hone::gpu::attend_part<Tile<V>>(graph, blockIdx.x, parts, chunks, memory_at);
}

__device__ void bring_together(const Graph<1>& graph, const float* parts, int64_t chunks) {
  hone::gpu::close_parts<VALUE_HEAD>(graph, blockIdx.x, parts, chunks);
}
)";

  [[nodiscard]] std::string shared(Form form) const {
    if (form == Form::kTensor)  // queries of two groups, or what they write; keys and values
      return fmt::format("2 * max(128 * align(HEAD, 64), 16384) + STAGES * 2 * KEYS * (align(HEAD, 64) + {})", (group_columns(rounded(columns())) + 63) / 64 * 64);
    if (form == Form::kGroups) {  // SwizzledTile: 64 numbers along memory are a panel
      const int64_t across = group_columns(rounded(columns()));
      const auto panels = [](bool along_depth, const std::string& lines, const std::string& depth) {
        return fmt::format("align({}, 64) * {}", along_depth ? depth : lines, along_depth ? lines : depth);
      };
      return fmt::format("128 * GROUPS * HEAD + 4 * ({} + {})", panels(key_.along_depth(), "KEYS", "HEAD"),
                         panels(value_.along_depth(), fmt::format("{}", across), "KEYS"));
    }
    const std::string rows = "16 * ROW_WARPS";
    const auto tile = [this](const GpuFactor& factor, const std::string& lines, const std::string& depth) {   // as SharedTile pads
      return factor.along_depth() ? fmt::format("{} * ({} + {})", lines, depth, floats() ? 4 : 8) : fmt::format("{} * ({} + 8)", depth, lines);
    };
    return fmt::format("max({} * ({} + STAGES * ({} + {})), 4 * (KEY_WARPS - 1) * {} * (VALUE_HEAD + 2))", floats() ? 4 : 2, tile(query_, rows, "HEAD"), tile(key_, "KEYS", "HEAD"),
                       tile(value_, "VALUE_HEAD", "KEYS"), rows);
  }

  [[nodiscard]] std::string tiles(Form form) const {
    return fmt::format("ceil_div({}, {})", all_.scores->row.extent.to_string(), form == Form::kTensor ? "128" : form == Form::kGroups ? "64 * GROUPS" : "16 * ROW_WARPS");
  }
  /// Blocks that live as long as the launch.
  [[nodiscard]] std::string blocks() const { return fmt::format("min(SMS, {} * {})", text(all_.scores->batch.extent), tiles(Form::kTensor)); }
  static std::string threads(Form form) { return form == Form::kTensor ? "384" : form == Form::kGroups ? "128 * GROUPS" : "32 * ROW_WARPS * KEY_WARPS"; }
  /// Segments of keys that a tile of queries is given: as many as fill the device, none shorter than four tiles.
  [[nodiscard]] std::string chunks() const {
    return fmt::format("max(1, min(ceil_div({}, 4 * KEYS), ceil_div(WAVES * SMS, {} * {})))", all_.scores->column.extent.to_string(), text(all_.scores->batch.extent), tiles(Form::kSplit));
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

  [[nodiscard]] std::string names() const { return gpu_names_of(task_); }

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

  /// Rows are walked as one, the queries of one head, say, after the other's: how many follow each other.
  [[nodiscard]] std::string along() const { return cpp(all_.scores->extents.at(all_.scores->row.letters.back())); }
  static std::string last_at() { return "    const int64_t last_at = row_at + rows_at < rows() ? row_at + rows_at - 1 : rows() - 1;\n"; }
  [[nodiscard]] std::string unless_apart(const std::string& otherwise) const {
    return fmt::format("{}    if (row_at / {} != last_at / {}) return {};\n", last_at(), along(), along(), otherwise);
  }

  /// Where keys begin, and end, that any of the rows [row_at, row_at + rows_at) sees.
  [[nodiscard]] std::string first_key() const {
    if (!all_.visible || !all_.visible->from) return "    return 0;\n";
    return unless_apart("0") + fmt::format("    const int64_t first_at = row_at % {} + {};\n    return first_at < 0 ? 0 : first_at;\n", along(), cpp(*all_.visible->from));
  }
  [[nodiscard]] std::string last_key() const {
    if (!all_.visible || !all_.visible->to) return "    return keys();\n";
    return unless_apart("keys()") + fmt::format("    const int64_t end_at = last_at % {} + {} + 1;\n    return end_at < 1 ? 1 : end_at < keys() ? end_at : keys();\n", along(),
                                                cpp(*all_.visible->to));
  }
  /// Whether all of the rows see all of the keys [key_at, key_at + keys_at).
  [[nodiscard]] std::string all_count() const {
    if (!all_.plain) return all_.visible ? "    return false;\n" : "    return true;\n";
    std::string all = unless_apart("false") + "    return true";
    if (all_.visible->to) all += fmt::format(" && key_at + keys_at - 1 <= row_at % {} + {}", along(), cpp(*all_.visible->to));
    if (all_.visible->from) all += fmt::format(" && key_at >= last_at % {} + {}", along(), cpp(*all_.visible->from));
    return all + ";\n";
  }

  struct Entry {
    std::string name, when;
    int vector;
  };
  [[nodiscard]] std::vector<Entry> both() const {
    const auto conditions = wide();
    if (!conditions) return {{"attention", "", 1}};
    const std::string all = fmt::format("{}", fmt::join(*conditions, " and "));
    if (all.empty()) return {{"attention", "", query_.vector()}};
    return {{"attention_wide", all, query_.vector()}, {"attention_any", "not (" + all + ")", 1}};
  }

  [[nodiscard]] std::string launches(Form form) const {
    if (form == Form::kTensor)
      return fmt::format("[[launch]]\nkernel = \"attention\"\ngrid   = [\"{}\"]\nblock  = [\"384\"]\nshared = \"{}\"\nargs   = [{}, \"maps\"]\n", blocks(), shared(form), arguments_of(task_));
    const bool split = form == Form::kSplit;
    std::string launches_text;
    const std::string more = split ? ", \"parts\", \"i64:" + chunks() + "\"" : "";
    for (const Entry& entry : both())
      launches_text += fmt::format("[[launch]]\nkernel = \"{}\"\n{}grid   = [\"{} * {}{}\"]\nblock  = [\"{}\"]\nshared = \"{}\"\nargs   = [{}{}]\n",
                                   entry.name, entry.when.empty() ? "" : "when   = \"" + entry.when + "\"\n", text(all_.scores->batch.extent), tiles(form),
                                   split ? " * " + chunks() : "", threads(form), shared(form), arguments_of(task_), more);
    if (split)
      launches_text += fmt::format("[[launch]]\nkernel = \"bring_together\"\ngrid   = [\"{} * ({})\"]\nblock  = [\"128\"]\nargs   = [{}{}]\n",
                                   text(all_.scores->batch.extent), all_.scores->row.extent.to_string(), arguments_of(task_), more);
    return launches_text;
  }

  [[nodiscard]] std::string entries(Form form) const {
    const bool split = form == Form::kSplit;
    const std::string parameters = gpu_parameters_of(task_);
    if (form == Form::kTensor)
      return fmt::format("\n__global__ void __launch_bounds__(384, 1) attention({}, int8_t* __restrict__ maps) {{\n  extern __shared__ __align__(1024) char memory_at[];\n"
                         "  __shared__ Tile<8>::Shared shared_at;\n"
                         "  Tile<8>::run(Graph<8>{{{}}}, memory_at, reinterpret_cast<hone::prim::TensorMap*>(maps) + Tile<8>::kMaps * blockIdx.x, shared_at);\n}}\n", parameters, names());
    std::string all;
    for (const Entry& entry : both())
      all += fmt::format("\n__global__ void __launch_bounds__({}) {}({}{}) {{\n  {}<{}>(Graph<{}>{{{}}}{});\n}}\n", threads(form), entry.name, parameters,
                         split ? ", float* __restrict__ parts, int64_t chunks" : "", split ? "attend_segment" : "attend_tile", entry.vector, entry.vector, names(),
                         split ? ", parts, chunks" : "");
    if (split)
      all += fmt::format("\n/// A row's segments of keys in one: a block each.\n__global__ void __launch_bounds__(128) bring_together({}, float* __restrict__ parts, int64_t chunks) {{\n"
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
  for (const Form form : writer.forms()) {
    auto offer = writer.offer(form);
    if (!offer) return none(offer.error().message);
    offers.push_back(std::move(*offer));
  }
  return offers;
}

}  // namespace hone::pattern
