// From a surface graph to the text of forward(). A value used once stays inside the expression that
// uses it, as a person would write it; others get names. Names are freed at their last use (rebound,
// or del): a temporary that lives on would make PyTorch fetch fresh memory for the next one.
#include "hone/evaluate/baseline/pytorch_emit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "hone/evaluate/baseline/pytorch.h"

namespace hone::evaluate {

namespace {

/// What products of bytes are on a card, where PyTorch has functions of their own for them.
constexpr std::string_view kF8ProductText = R"py(def _f8_product(a, b):
    """a @ b in float32 of two matrices of 8-bit floats; on a card by its units for them, which want b's columns dense."""
    if not a.is_cuda:
        return a.to(torch.float32) @ b.to(torch.float32)
    one = torch.ones((), device=a.device)
    b = b if b.stride(0) == 1 else b.t().contiguous().t()
    return torch._scaled_mm(a.contiguous(), b, scale_a=one, scale_b=one, out_dtype=torch.float32)
)py";
constexpr std::string_view kI8ProductText = R"py(def _i8_product(a, b):
    """a @ b in int32 of two matrices of int8; on a card by its units for them."""
    return torch._int_mm(a, b) if a.is_cuda else a.to(torch.int32) @ b.to(torch.int32)
)py";

constexpr size_t kLongLine = 76;

/// Names that the source itself uses, and Python's words.
const std::set<std::string, std::less<>> kTaken = {
    "torch",    "F",       "math",  "forward", "float",  "False",    "None",   "True",  "and",  "as",
    "assert",   "async",   "await", "break",   "class",  "continue", "def",    "del",   "elif", "else",
    "except",   "finally", "for",   "from",    "global", "if",       "import", "in",    "is",   "lambda",
    "nonlocal", "not",     "or",    "pass",    "raise",  "return",   "try",    "while", "with", "yield"};

struct Variable {
  std::string name;
  int uses = 0;  // by nodes and outputs not yet written
  bool input = false;
  bool bound = true;  // the name still means this value
};

class Emitter {
 public:
  Emitter(const task::Graph& graph, const task::Bindings& bindings)
      : graph_(graph), bindings_(bindings), uses_(graph.nodes.size(), 0), terms_(graph.nodes.size()) {}

  Result<std::string> run() {
    count_uses();
    std::vector<std::string> parameters;
    for (const int id : graph_.inputs) {
      terms_[index(id)] = variable(free_name(graph_.node(id).attr<std::string>("name"), {}), uses_[index(id)],
                                   true);
      terms_[index(id)]->alias = true;
      parameters.push_back(terms_[index(id)]->text);
    }
    for (size_t id = 0; id < graph_.nodes.size(); ++id)
      if (uses_[id] > 0 && !terms_[id]) HONE_TRY_VOID(write_node(static_cast<int>(id)));
    std::vector<std::string> results;
    for (const int id : graph_.outputs) results.push_back(result(*terms_[index(id)]));
    body_ += fmt::format("    return {}\n", fmt::join(results, ", "));
    const std::string_view math = body_.find("math.") == std::string::npos ? "" : "import math\n\n";
    std::string helpers;
    for (const auto& [call, text] : {std::pair{kF8Product, kF8ProductText}, {kI8Product, kI8ProductText}})
      if (body_.find(call) != std::string::npos) helpers += fmt::format("{}\n\n", text);
    return fmt::format("{}import torch\nimport torch.nn.functional as F\n\n\n{}def forward({}):\n{}", math, helpers,
                       fmt::join(parameters, ", "), body_);
  }

 private:
  static size_t index(int id) { return static_cast<size_t>(id); }

  /// Uses by live nodes only: what no output needs is not written.
  void count_uses() {
    for (const int id : graph_.outputs) ++uses_[index(id)];
    for (size_t id = graph_.nodes.size(); id-- > 0;)
      if (uses_[id] > 0)
        for (const int operand : graph_.nodes[id].operands) ++uses_[index(operand)];
  }

  Status write_node(int id) {
    const task::Node& node = graph_.node(id);
    std::vector<Term> operands;
    for (const int operand : node.operands) operands.push_back(*terms_[index(operand)]);
    const WriterRow* row = find_writer(node.op);
    if (row == nullptr)
      return fail(ErrorCode::kUnavailable, fmt::format("hone cannot write {}() as PyTorch", node.op));
    HONE_TRY(Term term, row->write(Site(graph_, node, operands, bindings_), row->detail));
    for (const Term& operand : operands) {
      // PyTorch keeps the layout of what it is given where it can. A needless contiguous() is free.
      term.strided |= operand.strided && !term.number;
      for (const auto& [variable, count] : operand.reads) term.reads[variable] += count;
    }
    if (!row->parts.empty()) {
      const std::vector<int> group = results_of(id);
      if (group.size() > 1) {
        share(std::move(term), group, row->parts);
        return {};
      }
      term.text += "." + std::string(row->parts[part_of(id)]);
    }
    const bool only_returned = std::count(graph_.outputs.begin(), graph_.outputs.end(), id) == 1;
    const bool inlined = uses_[index(id)] == 1 && term.text.size() < kLongLine &&
                         (node.name.empty() || only_returned);
    if (inlined || term.number) {
      // A number is repeated wherever it is used; it reads no variables.
      terms_[index(id)] = std::move(term);
    } else {
      terms_[index(id)] = assign(std::move(term), uses_[index(id)], node.name);
    }
    return {};
  }

  size_t part_of(int id) const { return index(static_cast<int>(graph_.node(id).attr<int64_t>("result"))); }

  /// The live nodes that are results of one call: equal but for the attribute `result`.
  std::vector<int> results_of(int id) const {
    const auto call = [this](int i) {
      task::Attrs attrs = graph_.node(i).attrs;
      attrs.erase("result");
      return attrs;
    };
    std::vector<int> group;
    for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i)
      if (uses_[index(i)] > 0 && graph_.node(i).op == graph_.node(id).op &&
          graph_.node(i).operands == graph_.node(id).operands && call(i) == call(id))
        group.push_back(i);
    return group;
  }

  /// Computes a call once for all its results.
  void share(Term call, const std::vector<int>& group, std::span<const std::string_view> parts) {
    int uses = 0;
    for (const int id : group) uses += uses_[index(id)];
    // Each node of the group counted its own use of the operands; they are read once.
    for (auto& [variable, count] : call.reads) count *= static_cast<int>(group.size());
    const Term shared = assign(std::move(call), uses, {});
    for (const int id : group) {
      Term part = shared;
      part.text += "." + std::string(parts[part_of(id)]);
      terms_[index(id)] = std::move(part);
    }
  }

  Term variable(std::string name, int uses, bool input) {
    Term term;
    term.text = name;
    term.reads[static_cast<int>(variables_.size())] = 1;
    variables_.push_back({std::move(name), uses, input});
    return term;
  }

  /// Writes `name = term`, and frees what is no longer needed.
  Term assign(Term term, int uses, const std::string& wanted) {
    std::vector<int> dying;
    for (const auto& [number, count] : term.reads) {
      Variable& read = variables_[index(number)];
      read.uses -= count;
      HONE_CHECK(read.uses >= 0 && read.bound, read.name);
      if (read.uses == 0) dying.push_back(number);
    }
    const std::string name = choose_name(wanted, dying);
    body_ += fmt::format("    {} = {}\n", name, term.text);
    std::vector<std::string> deleted;
    for (const int number : dying) {
      Variable& dead = variables_[index(number)];
      dead.bound = false;
      if (!dead.input && dead.name != name) deleted.push_back(dead.name);
    }
    if (!deleted.empty()) body_ += fmt::format("    del {}\n", fmt::join(deleted, ", "));
    Term result = variable(name, uses, false);
    result.strided = term.strided;
    result.alias = term.alias;
    return result;
  }

  /// The user's name; else the name of a temporary that ends here; else a new one.
  std::string choose_name(const std::string& wanted, const std::vector<int>& dying) {
    if (!wanted.empty()) return free_name(wanted, dying);
    for (const int number : dying)
      if (!variables_[index(number)].input) return variables_[index(number)].name;
    return free_name(fmt::format("t{}", ++temporaries_), dying);
  }

  std::string free_name(const std::string& wanted, const std::vector<int>& dying) const {
    const auto taken = [&](const std::string& name) {
      if (kTaken.contains(name)) return true;
      for (size_t i = 0; i < variables_.size(); ++i)
        if (variables_[i].bound && variables_[i].name == name &&
            std::find(dying.begin(), dying.end(), static_cast<int>(i)) == dying.end())
          return true;
      return false;
    };
    std::string name = wanted;
    while (taken(name)) name += '_';
    return name;
  }

  /// Outputs are dense and their own memory, as a kernel's are.
  static std::string result(const Term& term) {
    if (term.number) return term.text;
    if (term.alias) {
      return bracket(term, Binding::kPrimary) +
             (term.strided ? ".clone(memory_format=torch.contiguous_format)" : ".clone()");
    }
    return term.strided ? bracket(term, Binding::kPrimary) + ".contiguous()" : term.text;
  }

  const task::Graph& graph_;
  const task::Bindings& bindings_;
  std::vector<int> uses_;
  std::vector<std::optional<Term>> terms_;
  std::vector<Variable> variables_;
  std::string body_;
  int temporaries_ = 0;
};

}  // namespace

const WriterRow* find_writer(std::string_view op) {
  static const auto writers = [] {
    std::map<std::string_view, const WriterRow*> index;
    for (const auto rows :
         {elementwise_writers(), activation_writers(), reduction_writers(), norm_writers(), product_writers(),
          window_writers(), loss_writers(), shape_writers(), index_writers()})
      for (const WriterRow& row : rows) HONE_CHECK(index.emplace(row.op, &row).second, row.op);
    return index;
  }();
  const auto it = writers.find(op);
  return it == writers.end() ? nullptr : it->second;
}

Result<std::string> emit_pytorch(const task::Task& task, const task::Bindings& bindings) {
  for (const task::Node& node : task.surface.nodes)
    for (const task::IntExpr& dim : node.type.dims) HONE_TRY_VOID(dim.eval(bindings));
  return Emitter(task.surface, bindings).run();
}

}  // namespace hone::evaluate
