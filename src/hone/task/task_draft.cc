#include "hone/task/task_draft.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "hone/task/graph/build.h"
#include "hone/task/graph/check.h"
#include "hone/task/graph/infer.h"
#include "hone/task/language/limits.h"
#include "hone/task/language/syntax.h"

namespace hone::task {
namespace {

constexpr Word kDomains[] = {
    {"real", "any finite value; what an input has that says nothing"},
    {"positive", "above 0"},
    {"simplex", "not negative, with sum 1 along the last axis: probabilities"},
    {"index", "`index(N)`: integers from 0 to N - 1; N may use symbols"},
    {"sign", "-1 or 1"},
    {"near_one", "1 with a little noise: weights of norms, variances"},
    {"unit", "from 0 to 1"},
};
constexpr Word kStructures[] = {
    {"none", "nothing is promised; what an input has that says nothing"},
    {"triu", "zero below the diagonal of the last two axes"},
    {"tril", "zero above the diagonal of the last two axes"},
    {"symmetric", "equal to its transpose over the last two axes"},
};
constexpr Word kTracks[] = {
    {"f32", "as accurate as true fp32 arithmetic; what a task has that says nothing"},
    {"as-pytorch", "as PyTorch's defaults on a GPU: convolutions may round their operands to TF32"},
    {"tf32", "inputs, operands of products and convolutions, and sums may be kept in TF32"},
    {"bf16", "inputs, operands of products and convolutions, and sums may be kept in bf16"},
    {"f16", "inputs, operands of products and convolutions, and sums may be kept in f16"},
};
constexpr Word kTaskKeys[] = {
    {"name", "text; needed"},
    {"inputs", "table from names to types, or to tables (below); needed"},
    {"outputs", "table from names to types; left out: every name that is assigned and not used again"},
    {"compute", "text, the computation; needed"},
    {"workloads", "list of tables, the shapes to run at; needed where types use symbols"},
    {"default", "text, or a list: the workloads to run where none is asked for (-w); left out: all"},
    {"precision", "text, the accuracy track: one of those below"},
    {"nan", "true: NaN and infinite inputs are part of the contract: they are drawn, and must go where the formulas say"},
    {"deterministic", "true: two calls on equal inputs must agree bit for bit, else the kernel is refused"},
    {"start", "text, a kernel file to begin from, relative to the task file"},
};
constexpr Word kInputKeys[] = {
    {"type", "text, such as \"f32[B, D]\"; needed"},
    {"domain", "text, the values it may take: one of those below"},
    {"structure", "text: one of those below"},
    {"constant", "true: it does not change between calls, so that work on it may be done once"},
    {"values", "text, a .npy file relative to the task file: in its shape the input holds these and no others, such as a mask or a table of indices; kernels may rely on it"},
};
constexpr Word kWorkloadKeys[] = {
    {"name", "text; left out: w0, w1, …"},
    {"weight", "number above 0, how much the shape counts in the mean; left out: 1"},
};

template <class T>
std::optional<T> find_name(std::span<const Word> words, std::string_view name) {
  for (size_t i = 0; i < words.size(); ++i)
    if (words[i].name == name) return static_cast<T>(i);
  return std::nullopt;
}

/// Everything that assemble() checks, with positions in the file.
class Assembler {
 public:
  explicit Assembler(Draft draft) : draft_(std::move(draft)), task_(draft_.task) {}

  Result<Task> run() {
    if (task_.inputs.size() > kMaxInputs)
      return wrong(draft_.input_where[kMaxInputs], fmt::format("more than {} inputs", kMaxInputs),
                   "split the task, or stack inputs of one shape into one");
    if (task_.workloads.size() > kMaxWorkloads)
      return wrong(draft_.workload_where[kMaxWorkloads], fmt::format("more than {} workloads", kMaxWorkloads),
                   "each is measured on its own: a few shapes say more");
    for (size_t i = 0; i < task_.inputs.size(); ++i) HONE_TRY_VOID(check_input(i));
    HONE_TRY_VOID(build());
    HONE_TRY_VOID(check_outputs());
    HONE_TRY_VOID(check_workloads());
    return std::move(task_);
  }

 private:
  [[nodiscard]] tl::unexpected<Error> wrong(Where where, std::string message, std::string hint = {}) const {
    return tl::unexpected<Error>(
        readable({ErrorCode::kInput, std::move(message), std::move(hint), draft_.context(where)}));
  }

  Status check_input(size_t i) {
    const InputSpec& input = task_.inputs[i];
    const Where where = draft_.input_where[i];
    for (size_t k = 0; k < i; ++k)
      if (task_.inputs[k].name == input.name)
        return wrong(where, fmt::format("the input '{}' is declared twice", input.name));
    if (is_word(input.name))
      return wrong(where,
                   fmt::format("an input cannot be called '{}': it is a word of the language", input.name),
                   "give it another name");
    if (input.name.size() > kMaxName)
      return wrong(where, fmt::format("the name '{}' has more than {} characters", input.name, kMaxName));
    if (input.type.dims.size() > kMaxRank)
      return wrong(where, fmt::format("the input '{}' has {} dimensions: {} at most", input.name,
                                      input.type.dims.size(), kMaxRank));
    for (const IntExpr& dim : input.type.dims) {
      if (dim.size() > kMaxExprSize)
        return wrong(where, fmt::format("the input '{}' has an extent of more than {} terms", input.name,
                                        kMaxExprSize));
      if (dim.is_constant() && dim.constant() < 1)
        return wrong(where, fmt::format("the input '{}' has an extent of {}: every extent must be at least 1",
                                        input.name, dim.constant()));
      for (const std::string& symbol : dim.symbols()) {
        if (symbol == "name" || symbol == "weight")
          return wrong(where,
                       fmt::format("a shape symbol cannot be called '{}': workloads use that key", symbol),
                       "give it another name");
        if (is_word(symbol))
          return wrong(
              where,
              fmt::format("a shape symbol cannot be called '{}': it is a word of the language", symbol),
              "give it another name");
        if (symbol.size() > kMaxName)
          return wrong(where, fmt::format("the name '{}' has more than {} characters", symbol, kMaxName));
        for (const InputSpec& other : task_.inputs)
          if (other.name == symbol)
            return wrong(where, fmt::format("'{}' is both an input and a shape symbol", symbol));
      }
    }
    const DType dtype = input.type.dtype;
    if (input.domain == Domain::kIndex) {
      if (!is_int(dtype))
        return wrong(where, fmt::format("the domain index needs an integer type, found {}", name_of(dtype)));
      for (const std::string& symbol : input.index_bound.symbols())
        HONE_TRY_VOID(check_symbol(symbol, where));
    } else if (input.domain == Domain::kSign && dtype == DType::kBool) {
      return wrong(where, "the domain sign needs a float or integer type, found bool");
    } else if (input.domain != Domain::kReal && input.domain != Domain::kSign && !is_float(dtype)) {
      return wrong(where, fmt::format("the domain {} needs a float type, found {}", name_of(input.domain),
                                      name_of(dtype)));
    }
    if (input.domain == Domain::kSimplex && input.type.dims.empty())
      return wrong(where, "the domain simplex needs a last axis to sum over");
    if (input.structure != Structure::kNone) {
      const size_t rank = input.type.dims.size();
      if (rank < 2)
        return wrong(where, fmt::format("the structure {} needs a matrix, found {}", name_of(input.structure),
                                        input.type.to_string()));
      if (input.structure == Structure::kSymmetric &&
          !may_equal(input.type.dims[rank - 1], input.type.dims[rank - 2]))
        return wrong(where, fmt::format("a symmetric input is square, found {}", input.type.to_string()));
      if (input.structure == Structure::kSymmetric && input.domain == Domain::kSimplex)
        return wrong(where, "an input cannot be both symmetric and simplex");
    }
    return {};
  }

  [[nodiscard]] Status check_symbol(const std::string& symbol, Where where) const {
    const std::vector<std::string> known = task_.symbols();
    if (std::find(known.begin(), known.end(), symbol) != known.end()) return {};
    std::string hint = did_you_mean(symbol, known);
    if (hint.empty())
      hint = known.empty() ? "the shapes of the inputs use no symbols"
                           : "symbols come from the shapes of the inputs";
    return wrong(where, fmt::format("unknown shape symbol '{}'", symbol), hint);
  }

  Status build() {
    std::vector<DeclaredInput> inputs;
    for (const InputSpec& input : task_.inputs)
      inputs.push_back({input.name, input.type,
                        input.structure == Structure::kNone ? "" : std::string(name_of(input.structure))});
    std::vector<std::string> outputs;
    for (const auto& [name, type] : draft_.outputs) outputs.push_back(name);
    const auto located = [&](SourceError error) {
      const Where where = error.where.line == 0 ? Where{} : draft_.to_file(error.where);
      error.error.context = draft_.context(where);
      return tl::unexpected<Error>(readable(std::move(error.error)));
    };
    auto program = parse_program(task_.compute);
    if (!program) return located(std::move(program).error());
    HONE_TRY_VOID(check_assigned(*program));
    auto graph = build_graph(*program, inputs, outputs);
    if (!graph) return located(std::move(graph).error());
    task_.surface = std::move(*graph);
    for (Node& node : task_.surface.nodes)
      if (node.where.line != 0) node.where = draft_.to_file(node.where);
    for (size_t i = 0; i < inputs.size(); ++i)
      task_.surface.nodes[static_cast<size_t>(task_.surface.inputs[i])].where = draft_.input_where[i];
    HONE_TRY_VOID(check_inputs_used());
    task_.primitive = lower(task_.surface);
    return {};
  }

  [[nodiscard]] Status check_assigned(const std::vector<Statement>& program) const {
    std::vector<std::string> assigned;
    for (const Statement& statement : program)
      assigned.insert(assigned.end(), statement.targets.begin(), statement.targets.end());
    for (size_t i = 0; i < draft_.outputs.size(); ++i) {
      const std::string& name = draft_.outputs[i].first;
      if (std::find(assigned.begin(), assigned.end(), name) == assigned.end())
        return wrong(draft_.output_where[i],
                     fmt::format("the computation never assigns the output '{}'", name),
                     did_you_mean(name, assigned));
    }
    return {};
  }

  [[nodiscard]] Status check_inputs_used() const {
    const Graph& graph = task_.surface;
    std::vector<bool> live(graph.nodes.size());
    for (const int id : graph.outputs) live[static_cast<size_t>(id)] = true;
    for (size_t id = live.size(); id-- > 0;)
      if (live[id])
        for (const int operand : graph.nodes[id].operands) live[static_cast<size_t>(operand)] = true;
    for (size_t i = 0; i < graph.inputs.size(); ++i)
      if (!live[static_cast<size_t>(graph.inputs[i])])
        return wrong(draft_.input_where[i],
                     fmt::format("no output depends on the input '{}'", task_.inputs[i].name),
                     "remove it, or use it in the computation");
    return {};
  }

  Status check_outputs() {
    for (size_t i = 0; i < task_.surface.outputs.size(); ++i) {
      const TensorType& type = task_.surface.node(task_.surface.outputs[i]).type;
      const std::string& name = task_.surface.output_names[i];
      task_.outputs.emplace_back(name, type);
      if (draft_.outputs.empty()) continue;
      const TensorType& declared = draft_.outputs[i].second;
      bool agrees = declared.dtype == type.dtype && declared.dims.size() == type.dims.size();
      for (size_t k = 0; agrees && k < type.dims.size(); ++k)
        agrees = may_equal(type.dims[k], declared.dims[k]);
      const std::string hint = agrees || declared.dtype == type.dtype
                                   ? ""
                                   : fmt::format("convert explicitly: {} = {}(…)", name,
                                                 name_of(declared.dtype));
      for (const IntExpr& dim : declared.dims)
        for (const std::string& symbol : dim.symbols())
          HONE_TRY_VOID(check_symbol(symbol, draft_.output_where[i]));
      if (!agrees)
        return wrong(draft_.output_where[i],
                     fmt::format("the output '{}' is declared {} but computed as {}", name,
                                 declared.to_string(), type.to_string()),
                     hint);
    }
    return {};
  }

  Status check_workloads() {
    const std::vector<std::string> symbols = task_.symbols();
    if (task_.workloads.empty()) {
      std::string example;
      for (const std::string& symbol : symbols)
        example += fmt::format("{}{} = 64", example.empty() ? "" : ", ", symbol);
      if (!symbols.empty())
        return wrong({}, fmt::format("the shapes use '{}' but there are no workloads", symbols[0]),
                     fmt::format("workloads = [ {{ {} }} ]", example));
      task_.workloads.push_back({"w0", {}, 1});
      draft_.workload_where.emplace_back();
    }
    std::set<std::string> names;
    for (size_t i = 0; i < task_.workloads.size(); ++i) {
      const Workload& workload = task_.workloads[i];
      const Where where = draft_.workload_where[i];
      if (!names.insert(workload.name).second)
        return wrong(where, fmt::format("two workloads are called '{}'", workload.name));
      for (const auto& [symbol, value] : workload.bindings) {
        const Where at = binding_where(i, symbol);
        HONE_TRY_VOID(check_symbol(symbol, at));
        if (value < 1)
          return wrong(at, fmt::format("{} = {}: every symbol must be at least 1", symbol, value));
      }
      for (const std::string& symbol : symbols)
        if (!workload.bindings.contains(symbol))
          return wrong(where,
                       fmt::format("the workload '{}' gives no value for '{}'", workload.name, symbol));
      HONE_TRY_VOID(check_workload(workload, where));
    }
    for (size_t i = 0; i < task_.default_workloads.size(); ++i) {
      const std::string& name = task_.default_workloads[i];
      if (!names.contains(name))
        return wrong(draft_.default_where[i], fmt::format("there is no workload '{}'", name),
                     fmt::format("the workloads: {}", fmt::join(names, ", ")));
    }
    return check_values();
  }

  /// What is known of inputs: in a shape that they have, within their domain, and not all that there is.
  [[nodiscard]] Status check_values() const {
    size_t packed = 0, known = 0;
    for (size_t i = 0; i < task_.inputs.size(); ++i) {
      const InputSpec& input = task_.inputs[i];
      if (!input.values) continue;
      ++known;
      const std::string of = fmt::format("the values of '{}'{}", input.name, input.values->file.empty() ? "" : " in " + input.values->file);
      const Where where = draft_.input_where[i];
      if (input.structure != Structure::kNone || input.domain == Domain::kSimplex)
        return wrong(where, fmt::format("'{}' has known values, and needs no {}", input.name, input.structure != Structure::kNone ? "structure" : "domain"));
      bool fits = false;
      for (const Workload& workload : task_.workloads) {
        if (shape_at(input, workload) != input.values->shape) continue;
        fits = true;
        const auto bound = input.domain == Domain::kIndex ? input.index_bound.eval(workload.bindings) : Result<int64_t>(0);
        for (int64_t e = 0; bound && e < element_count(input.values->shape); ++e)
          if (const double value = value_at(*input.values, input.type.dtype, e); !may_hold(input, value, *bound))
            return wrong(where, fmt::format("{}: element {} is {}, which {} does not have", of, e, value, domain_of(input, *bound)),
                         std::isfinite(value) ? "mend the domain or the file" : "with nan = true the task may hold what is not finite");
      }
      if (!fits)
        return wrong(where, fmt::format("{} have the shape [{}], and '{}' is {}{}", of, fmt::join(input.values->shape, ", "), input.name, input.type.to_string(),
                                        task_.workloads.front().bindings.empty() ? "" : " in no workload of that shape"));
      packed += pack_values(*input.values, input.type.dtype).size();
    }
    if (packed > kMaxPackedValues)
      return wrong({}, fmt::format("known values of {} KiB, packed, where a task's text takes {}", packed >> 10, kMaxPackedValues >> 10),
                   "leave out 'values' of the largest: it is drawn then");
    if (known > 0 && known == task_.inputs.size()) return wrong(draft_.input_where.front(), "all inputs have known values: there is nothing to compute");
    return {};
  }

  [[nodiscard]] static std::optional<Shape> shape_at(const InputSpec& input, const Workload& workload) {
    Shape shape;
    for (const IntExpr& dim : input.type.dims) {
      const auto extent = dim.eval(workload.bindings);
      if (!extent) return std::nullopt;
      shape.push_back(*extent);
    }
    return shape;
  }

  [[nodiscard]] bool may_hold(const InputSpec& input, double value, int64_t bound) const {
    if (!std::isfinite(value)) return task_.nan_policy && (input.domain == Domain::kReal || input.domain == Domain::kPositive);
    switch (input.domain) {
      case Domain::kPositive: return value > 0;
      case Domain::kIndex: return value >= 0 && value < static_cast<double>(bound);
      case Domain::kSign: return value == 1 || value == -1;
      case Domain::kUnit: return value >= 0 && value <= 1;
      default: return true;
    }
  }

  static std::string domain_of(const InputSpec& input, int64_t bound) {
    return input.domain == Domain::kIndex ? fmt::format("index({})", bound) : fmt::format("the domain {}", name_of(input.domain));
  }

  [[nodiscard]] Where binding_where(size_t workload, const std::string& symbol) const {
    if (workload < draft_.binding_where.size()) {
      const auto it = draft_.binding_where[workload].find(symbol);
      if (it != draft_.binding_where[workload].end()) return it->second;
    }
    return draft_.workload_where[workload];
  }

  [[nodiscard]] Status check_workload(const Workload& workload, Where where) const {
    for (const InputSpec& input : task_.inputs) {
      const size_t rank = input.type.dims.size();
      if (input.structure != Structure::kSymmetric) continue;
      const auto rows = input.type.dims[rank - 2].eval(workload.bindings);
      const auto columns = input.type.dims[rank - 1].eval(workload.bindings);
      if (rows && columns && *rows != *columns)
        return wrong(where, fmt::format("the symmetric input '{}' is {} by {} (workload '{}')", input.name,
                                        *rows, *columns, workload.name));
    }
    Status surface = check_surface(task_.surface, workload.bindings);
    auto concrete = surface ? instantiate(task_.primitive, workload.bindings)
                            : Result<ConcreteGraph>(tl::unexpected(std::move(surface).error()));
    if (!concrete) {
      Error error = std::move(concrete).error();
      Where inner;
      if (std::sscanf(error.context.c_str(), "%d:%d", &inner.line, &inner.column) != 2) inner = where;
      error.context = draft_.context(inner);
      if (task_.workloads.size() > 1 || !workload.bindings.empty())
        error.message += fmt::format(" (workload '{}')", workload.name);
      return tl::unexpected(readable(std::move(error)));
    }
    for (const InputSpec& input : task_.inputs) {
      if (input.domain != Domain::kIndex) continue;
      const auto bound = input.index_bound.eval(workload.bindings);
      if (!bound)
        return wrong(where, fmt::format("in the bound of the input '{}': {} (workload '{}')", input.name,
                                        bound.error().message, workload.name));
      if (*bound < 1)
        return wrong(where,
                     fmt::format("index({}) of the input '{}' is index({}): the bound must be at least 1 "
                                 "(workload '{}')",
                                 input.index_bound.to_string(), input.name, *bound, workload.name));
      const int bits = 8 * size_of(input.type.dtype) - 1;
      if (bits < 63 && *bound - 1 >= int64_t{1} << bits)
        return wrong(where,
                     fmt::format("index({}) of the input '{}' goes beyond {} (workload '{}')", *bound,
                                 input.name, name_of(input.type.dtype), workload.name),
                     "give it a wider integer type");
    }
    for (size_t i = 0; i < draft_.outputs.size(); ++i) {
      const Shape& shape = concrete->shapes[static_cast<size_t>(concrete->graph.outputs[i])];
      for (size_t k = 0; k < shape.size(); ++k) {
        const auto declared = draft_.outputs[i].second.dims[k].eval(workload.bindings);
        if (!declared || *declared != shape[k])
          return wrong(draft_.output_where[i],
                       fmt::format("the output '{}' is declared {} but dimension {} is {} (workload '{}')",
                                   draft_.outputs[i].first, draft_.outputs[i].second.to_string(), k, shape[k],
                                   workload.name));
      }
    }
    return {};
  }

  Draft draft_;
  Task task_;
};

}  // namespace

std::span<const Word> domain_words() { return kDomains; }
std::span<const Word> structure_words() { return kStructures; }
std::span<const Word> track_words() { return kTracks; }
std::span<const Word> task_keys() { return kTaskKeys; }
std::span<const Word> input_keys() { return kInputKeys; }
std::span<const Word> workload_keys() { return kWorkloadKeys; }

std::optional<Domain> domain_from(std::string_view name) { return find_name<Domain>(kDomains, name); }
std::string_view name_of(Domain domain) { return kDomains[static_cast<size_t>(domain)].name; }
std::optional<Structure> structure_from(std::string_view name) {
  return find_name<Structure>(kStructures, name);
}
std::string_view name_of(Structure structure) { return kStructures[static_cast<size_t>(structure)].name; }
std::optional<Track> track_from(std::string_view name) { return find_name<Track>(kTracks, name); }
std::string_view name_of(Track track) { return kTracks[static_cast<size_t>(track)].name; }

std::string nearest_word(std::string_view text, std::span<const Word> words, std::string_view all) {
  std::vector<std::string> names;
  for (const Word& word : words) names.emplace_back(word.name);
  std::string hint = did_you_mean(text, names);
  return hint.empty() ? std::string(all) : hint;
}

Error readable(Error error) {
  constexpr size_t kLongestWord = 60;
  constexpr size_t kLongest = 400;
  const auto fit = [&](const std::string& text) {
    std::string out;
    size_t word = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      const auto c = static_cast<unsigned char>(text[i]);
      if (c < 0x20 || c == 0x7f) {
        out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : fmt::format("\\x{:02x}", c);
        continue;
      }
      word = c == ' ' ? 0 : word + 1;
      const bool continues = (c & 0xc0U) == 0x80U;
      if (!continues && out.size() >= kLongest) return out + "…";
      if (word <= kLongestWord || (continues && word <= kLongestWord + 3)) {
        out += text[i];
        continue;
      }
      // The rest of the word goes, but a quote that closes it stays.
      size_t end = std::min(text.find(' ', i), text.size());
      const size_t quote = text.find('\'', i);
      if (quote < end) end = quote;
      out += "…";
      i = end - 1;
      word = 0;
    }
    return out;
  };
  error.message = fit(error.message);
  error.hint = fit(error.hint);
  return error;
}

bool is_identifier(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

Result<Task> assemble(Draft draft) { return Assembler(std::move(draft)).run(); }

}  // namespace hone::task
