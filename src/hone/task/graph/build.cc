#include "hone/task/graph/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <set>

#include "hone/task/graph/bind.h"
#include "hone/task/graph/fold.h"
#include "hone/task/graph/foreign.h"
#include "hone/task/graph/infer.h"
#include "hone/task/language/int_expr_node.h"
#include "hone/task/language/limits.h"

namespace hone::task {
namespace {

using Kind = Value::Kind;
using Evaluated = Sourced<Value>;

constexpr Operator kBinary[] = {{"+", "add"},
                                {"-", "sub"},
                                {"*", "mul"},
                                {"/", "div"},
                                {"//", "floor_divide"},
                                {"%", "mod"},
                                {"**", "pow"},
                                {"@", "matmul"},
                                {"==", "eq"},
                                {"!=", "ne"},
                                {"<", "lt"},
                                {"<=", "le"},
                                {">", "gt"},
                                {">=", "ge"},
                                {"&", "logical_and"},
                                {"|", "logical_or"},
                                {"^", "logical_xor"},
                                {"<<", "left_shift"},
                                {">>", "right_shift"},
                                {"and", "logical_and"},
                                {"or", "logical_or"}};

class Builder {
 public:
  explicit Builder(std::span<const DeclaredInput> inputs) {
    for (const DeclaredInput& input : inputs) {
      Node node;
      node.op = "input";
      node.attrs["name"] = input.name;
      if (!input.structure.empty()) node.attrs["structure"] = input.structure;
      node.type = input.type;
      node.name = input.name;
      graph_.inputs.push_back(push(std::move(node)));
      names_[input.name] = Value::tensor(graph_.inputs.back());
      inputs_.insert(input.name);
      for (const IntExpr& dim : input.type.dims)
        for (const std::string& symbol : dim.symbols()) symbols_.insert(symbol);
    }
    binder_.as_tensor = [this](const Value& value, Where where) { return as_tensor(value, where); };
    binder_.rank_of = [this](int id) { return static_cast<int>(graph_.node(id).type.dims.size()); };
  }

  Sourced<Graph> run(const std::vector<Statement>& program, std::span<const std::string> outputs) {
    for (const Statement& statement : program)
      targets_.insert(statement.targets.begin(), statement.targets.end());
    for (const Statement& statement : program) HONE_TRY_VOID(execute(statement));
    std::vector<std::string> wanted(outputs.begin(), outputs.end());
    if (wanted.empty())
      for (const std::string& name : assigned_)
        if (!used_.contains(name)) wanted.push_back(name);
    if (wanted.empty()) return fail_at({1, 1}, "the computation assigns nothing", "write y = …");
    for (const std::string& name : wanted) {
      const auto it = names_.find(name);
      HONE_CHECK(it != names_.end(), name);
      if (inputs_.contains(name))
        return fail_at(where_of_[name], fmt::format("the output '{}' has the name of an input", name),
                       "give it another name");
      if (!is_operand(it->second))
        return fail_at(where_of_[name],
                       fmt::format("the output '{}' is {}, not a tensor", name, describe(it->second)),
                       it->second.is(Kind::kList) ? "take its parts: a, b = …" : "");
      HONE_TRY(const int id, as_tensor(it->second, where_of_[name]));
      graph_.outputs.push_back(id);
      graph_.output_names.push_back(name);
    }
    return std::move(graph_);
  }

 private:
  int push(Node node) {
    graph_.nodes.push_back(std::move(node));
    return static_cast<int>(graph_.nodes.size()) - 1;
  }

  /// What a name may not be assigned to: shape symbols, words of the language, the same name twice.
  [[nodiscard]] Sourced<void> check_targets(const Statement& statement) const {
    for (size_t i = 0; i < statement.targets.size(); ++i) {
      const std::string& name = statement.targets[i];
      const Where where = statement.target_where[i];
      if (symbols_.contains(name))
        return fail_at(where, fmt::format("'{}' is a shape symbol and cannot be assigned", name),
                       "give the result another name");
      if (is_word(name))
        return fail_at(where, fmt::format("'{}' is a word of the language and cannot be assigned", name),
                       "give the result another name");
      for (size_t k = 0; k < i; ++k)
        if (statement.targets[k] == name)
          return fail_at(where, fmt::format("'{}' stands twice on the left", name));
    }
    return {};
  }

  Sourced<void> execute(const Statement& statement) {
    HONE_TRY_VOID(check_targets(statement));
    HONE_TRY(Value value, evaluate(statement.value));
    if (statement.targets.size() == 1) {
      assign(statement.targets[0], statement.target_where[0], std::move(value));
      return {};
    }
    if (!value.is(Kind::kList) || value.items.size() != statement.targets.size())
      return fail_at(statement.target_where[0],
                     fmt::format("{} names on the left, but {} on the right", statement.targets.size(),
                                 value.is(Kind::kList) && value.items.size() != 1
                                     ? fmt::format("{} values", value.items.size())
                                     : "one value"));
    for (size_t i = 0; i < statement.targets.size(); ++i)
      assign(statement.targets[i], statement.target_where[i], std::move(value.items[i]));
    return {};
  }

  void assign(const std::string& name, Where where, Value value) {
    if (value.is(Kind::kTensor)) {
      Node& node = graph_.nodes[static_cast<size_t>(value.node)];
      if (node.name.empty()) node.name = name;
    }
    names_[name] = std::move(value);
    where_of_[name] = where;
    used_.erase(name);
    std::erase(assigned_, name);
    assigned_.push_back(name);
  }

  Sourced<int> as_tensor(const Value& value, Where where) {
    Node node;
    node.where = where;
    node.attrs["weak"] = true;
    switch (value.kind) {
      case Kind::kTensor:
        return value.node;
      case Kind::kReal:
        node.op = "constant";
        node.attrs["value"] = value.real;
        node.type = {DType::kF64, {}};
        break;
      case Kind::kBool:
        node.op = "constant";
        node.attrs["value"] = value.truth;
        node.type = {DType::kBool, {}};
        break;
      case Kind::kInt:
        node.op = value.integer.is_constant() ? "constant" : "symbol";
        if (value.integer.is_constant())
          node.attrs["value"] = value.integer.constant();
        else
          node.attrs["value"] = value.integer;
        node.type = {DType::kI64, {}};
        break;
      default:
        return fail_at(where, fmt::format("expected a tensor or a number, found {}", describe(value)));
    }
    return push(std::move(node));
  }

  Evaluated evaluate(const Expr& e) {
    switch (e.kind) {
      case Expr::Kind::kInteger:
        return integer(e);
      case Expr::Kind::kFloat:
        return real(e);
      case Expr::Kind::kString:
        return Value::of_text(e.text);
      case Expr::Kind::kName:
        return name(e);
      case Expr::Kind::kUnary:
        return unary(e);
      case Expr::Kind::kBinary:
        return binary(e);
      case Expr::Kind::kCall:
        return call(e);
      case Expr::Kind::kAttribute:
        return attribute(e);
      case Expr::Kind::kList:
        return list(e);
      case Expr::Kind::kSubscript:
        return subscript(e);
      case Expr::Kind::kSlice:
      case Expr::Kind::kEllipsis:
      case Expr::Kind::kAbsent:
        break;
    }
    return fail_at(e.where, "a slice stands only inside [ ]");
  }

  static Evaluated integer(const Expr& e) {
    int64_t value = 0;
    const auto result = std::from_chars(e.text.data(), e.text.data() + e.text.size(), value);
    if (result.ec != std::errc()) return fail_at(e.where, fmt::format("{} does not fit 64 bits", e.text));
    return Value::of(IntExpr(value));
  }

  static Evaluated real(const Expr& e) {
    double value = 0;
    const auto result = std::from_chars(e.text.data(), e.text.data() + e.text.size(), value);
    if (result.ec != std::errc()) return fail_at(e.where, fmt::format("{} is out of range", e.text));
    return Value::of_real(value);
  }

  Evaluated name(const Expr& e) {
    if (const auto it = names_.find(e.text); it != names_.end()) {
      used_.insert(e.text);
      return it->second;
    }
    if (symbols_.contains(e.text)) return Value::of(IntExpr::symbol(e.text));
    if (e.text == "true" || e.text == "True") return Value::of_bool(true);
    if (e.text == "false" || e.text == "False") return Value::of_bool(false);
    if (e.text == "none" || e.text == "None") return Value();
    if (e.text == "inf") return Value::of_real(std::numeric_limits<double>::infinity());
    if (e.text == "nan") return Value::of_real(std::numeric_limits<double>::quiet_NaN());
    if (e.text == "pi") return Value::of_real(std::numbers::pi);
    if (const auto dtype = dtype_from(e.text)) return Value::of_dtype(*dtype);
    if (find_op(e.text) != nullptr)
      return fail_at(e.where, fmt::format("'{}' is an operation and needs arguments", e.text),
                     find_op(e.text)->signature);
    for (const std::string_view module : {"torch", "np", "numpy", "math", "F", "nn", "jnp"})
      if (e.text == module)
        return fail_at(e.where, fmt::format("there are no modules such as '{}'", module),
                       "operations stand alone: softmax(x), not torch.softmax(x)");
    if (targets_.contains(e.text))
      return fail_at(e.where, fmt::format("'{}' is used before it is assigned", e.text),
                     "a statement sees the names of the lines above it");
    std::vector<std::string> known(symbols_.begin(), symbols_.end());
    for (const auto& [text, value] : names_) known.push_back(text);
    std::string hint = did_you_mean(e.text, known);
    if (hint.empty()) hint = foreign_dtype_hint(e.text);
    return fail_at(e.where, fmt::format("unknown name '{}'", e.text), std::move(hint));
  }

  Evaluated list(const Expr& e) {
    std::vector<Value> items;
    for (const Expr& item : e.args) {
      HONE_TRY(Value value, evaluate(item));
      items.push_back(std::move(value));
    }
    return Value::list(std::move(items));
  }

  static bool is_operand(const Value& value) {
    return value.is(Kind::kTensor) || value.is(Kind::kInt) || value.is(Kind::kReal) || value.is(Kind::kBool);
  }

  static bool is_spelt_out(std::string_view text) { return text == "and" || text == "or"; }

  /// &, |, ^ and ~ are of truth values; with a tensor of integers, or of numbers that are integers, of their bits.
  [[nodiscard]] std::string_view of_bits(std::string_view op, std::initializer_list<const Value*> operands) const {
    if (!op.starts_with("logical_")) return op;
    bool whole = false, all = true;
    for (const Value* value : operands) {
      const bool is_whole = value->is(Kind::kTensor) ? is_int(graph_.node(value->node).type.dtype) : value->is(Kind::kInt);
      whole |= value->is(Kind::kTensor) && is_whole;
      all &= is_whole;
    }
    if (!whole && !all) return op;
    return op == "logical_and" ? "bitwise_and" : op == "logical_or" ? "bitwise_or" : op == "logical_xor" ? "bitwise_xor" : "bitwise_not";
  }

  Evaluated unary(const Expr& e) {
    HONE_TRY(Value value, evaluate(e.args[0]));
    if (!is_operand(value))
      return fail_at(e.args[0].where, fmt::format("'{}' stands before a tensor or a number, found {}", e.text,
                                                  describe(value)));
    if (e.text == "-" && value.is(Kind::kInt)) return Value::of(IntExpr(-1) * value.integer);
    if (e.text == "-" && value.is(Kind::kReal)) return Value::of_real(-value.real);
    if (e.text != "-" && value.is(Kind::kBool)) return Value::of_bool(!value.truth);
    const std::string_view op = e.text == "-" ? "neg" : e.text == "~" ? of_bits("logical_not", {&value}) : "logical_not";
    return apply(op, {{"", std::move(value), e.args[0].where}}, e.where);
  }

  Evaluated binary(const Expr& e) {
    HONE_TRY(Value a, evaluate(e.args[0]));
    HONE_TRY(Value b, evaluate(e.args[1]));
    for (const auto& [value, side, at] :
         {std::tuple{&a, "left", e.args[0].where}, {&b, "right", e.args[1].where}})
      if (!is_operand(*value))
        return fail_at(at, fmt::format("the {} side of '{}' is a tensor or a number, found {}", side, e.text,
                                       describe(*value)));
    const bool divides = e.text == "//" || e.text == "%";
    if (divides && a.is(Kind::kInt) && b.is(Kind::kInt) && b.integer == IntExpr(0))
      return fail_at(e.where, fmt::format("'{}' divides by 0", e.text));
    if (auto known = binary_known(e.text, a, b)) return bounded(std::move(*known), e.where);
    for (const Operator& row : kBinary)
      if (row.text == e.text)
        return apply(is_spelt_out(e.text) ? row.op : of_bits(row.op, {&a, &b}), {{"", std::move(a), e.args[0].where}, {"", std::move(b), e.args[1].where}},
                     e.where);
    HONE_CHECK(false, e.text);
  }

  /// Shape expressions share their parts, so a few lines could write one that takes forever to print.
  static Evaluated bounded(Value value, Where where) {
    if (!value.is(Kind::kInt) || value.integer.size() <= kMaxExprSize) return value;
    return fail_at(where, fmt::format("a shape expression of more than {} terms", kMaxExprSize),
                   "such a shape is better given by a symbol of its own");
  }

  /// Arithmetic of numbers and shape expressions, where the result is known without a tensor.
  static std::optional<Value> binary_known(std::string_view op, const Value& a, const Value& b) {
    if (a.is(Kind::kInt) && b.is(Kind::kInt)) {
      const IntExpr& x = a.integer;
      const IntExpr& y = b.integer;
      if (op == "+") return Value::of(x + y);
      if (op == "-") return Value::of(x - y);
      if (op == "*") return Value::of(x * y);
      if (op == "//") return Value::of(IntExpr::floor_div(x, y));
      if (op == "%") return Value::of(IntExpr::mod(x, y));
      if (op == "**" && y.is_constant() && y.constant() >= 0 && y.constant() <= 64) {
        IntExpr power = 1;
        for (int64_t i = 0; i < y.constant(); ++i) power = power * x;
        return Value::of(power);
      }
    }
    if (!a.is_number() || !b.is_number()) return std::nullopt;
    for (const Operator& row : kBinary) {
      const Op* found = row.text == op ? find_op(row.op) : nullptr;
      if (found == nullptr || found->prim == Prim::kInput) continue;
      const Attr values[] = {a.number(), b.number()};
      const auto value = fold_constant(found->prim, values, DType::kF64);
      if (!value) return std::nullopt;
      if (const bool* truth = std::get_if<bool>(&*value)) return Value::of_bool(*truth);
      return Value::of_real(std::get<double>(*value));
    }
    return std::nullopt;
  }

  Evaluated attribute(const Expr& e) {
    HONE_TRY(Value value, evaluate(e.args[0]));
    if (!value.is(Kind::kTensor))
      return fail_at(e.where,
                     fmt::format("'.{}' needs a tensor on its left, found {}", e.text, describe(value)));
    const TensorType& type = graph_.node(value.node).type;
    const auto rank = static_cast<int64_t>(type.dims.size());
    if (e.text == "shape") {
      std::vector<Value> dims;
      for (const IntExpr& dim : type.dims) dims.push_back(Value::of(dim));
      return Value::list(std::move(dims));
    }
    if (e.text == "T") return apply("transpose", {{"", std::move(value), e.where}}, e.where);
    if (e.text == "mT") {
      if (rank < 2) return fail_at(e.where, ".mT needs two dimensions or more");
      return apply("transpose",
                   {{"", std::move(value), e.where},
                    {"", Value::of(IntExpr(rank - 2)), e.where},
                    {"", Value::of(IntExpr(rank - 1)), e.where}},
                   e.where);
    }
    return fail_at(e.where, fmt::format("a tensor has no attribute '{}'", e.text),
                   "attributes: shape, T, mT");
  }

  Evaluated call(const Expr& e) {
    std::vector<Argument> args;
    for (size_t i = 0; i < e.args.size(); ++i) {
      HONE_TRY(Value value, evaluate(e.args[i]));
      args.push_back({e.names[i], std::move(value), e.args[i].where});
    }
    if (auto known = call_known(e.text, args)) return bounded(std::move(*known), e.where);
    if (const auto dtype = dtype_from(e.text)) {
      if (args.size() != 1)
        return fail_at(e.where,
                       fmt::format("{0}(x) takes one tensor, found {1} arguments", e.text, args.size()));
      args.push_back({"", Value::of_dtype(*dtype), e.where});
      return apply("cast", std::move(args), e.where);
    }
    // As in PyTorch, max and min of two tensors are element-wise.
    const bool pair = args.size() == 2 && args[1].keyword.empty() &&
                      (args[1].value.is(Kind::kTensor) || args[1].value.is(Kind::kReal));
    if (pair && (e.text == "max" || e.text == "min")) return apply(e.text + "imum", std::move(args), e.where);
    return apply(e.text, std::move(args), e.where);
  }

  /// Functions of numbers and shape expressions.
  static std::optional<Value> call_known(std::string_view name, const std::vector<Argument>& args) {
    const bool ints = !args.empty() && std::all_of(args.begin(), args.end(), [](const Argument& a) {
      return a.keyword.empty() && a.value.is(Kind::kInt);
    });
    if (ints && args.size() >= 2 && (name == "min" || name == "max")) {
      IntExpr result = args[0].value.integer;
      for (const Argument& arg : args)
        result = name == "min" ? IntExpr::min(result, arg.value.integer)
                               : IntExpr::max(result, arg.value.integer);
      return Value::of(result);
    }
    if (ints && args.size() == 2 && name == "ceil_div")
      return Value::of(IntExpr::ceil_div(args[0].value.integer, args[1].value.integer));
    if (args.size() != 1 || !args[0].keyword.empty() || !args[0].value.is_number()) return std::nullopt;
    const Op* op = find_op(name);
    if (op == nullptr || op->prim == Prim::kInput) return std::nullopt;
    const auto value = fold_real(op->prim, args[0].value.number());
    return value ? std::optional(Value::of_real(*value)) : std::nullopt;
  }

  Evaluated apply(std::string_view name, std::vector<Argument> args, Where where) {
    const Op* op = find_op(name);
    if (op == nullptr) {
      std::string hint(foreign_op_hint(name));
      if (hint.empty()) hint = did_you_mean(name, all_op_names());
      if (names_.contains(std::string(name)))
        hint = fmt::format("'{}' is a value; a product needs '*'", name);
      return fail_at(where, fmt::format("there is no operation '{}'", name), hint);
    }
    HONE_TRY(Bound bound, bind_arguments(*op, args, where, binder_));
    if (op->results == nullptr) return add_node(*op, std::move(bound), where);
    // An op with several results becomes as many nodes; `result` tells them apart.
    std::vector<Value> results;
    for (int64_t i = 0; i == 0 || i < count_; ++i) {
      Bound one = bound;
      one.attrs["result"] = i;
      HONE_TRY(Value value, add_node(*op, std::move(one), where));
      results.push_back(std::move(value));
    }
    return Value::list(std::move(results));
  }

  Evaluated add_node(const Op& op, Bound bound, Where where) {
    Call call{op, {}, std::move(bound.attrs)};
    bool weak = !bound.operands.empty();
    for (int& id : bound.operands) {
      if (is_f8(graph_.node(id).type.dtype) && !keeps_elements(op)) id = widened(id, where);
      const Node& operand = graph_.node(id);
      call.operands.push_back({operand.type, operand.attrs.contains("weak")});
      weak = weak && call.operands.back().weak;
    }
    auto type = op.infer(call);
    if (type && op.results != nullptr) count_ = op.results(call);
    if (!type) return tl::unexpected(SourceError{std::move(type).error(), where});
    HONE_TRY_VOID(check_result(op, *type, where));
    Node node;
    node.op = op.name;
    node.operands = std::move(bound.operands);
    node.attrs = std::move(call.attrs);
    if (weak && type->dims.empty() && op.name != "cast") node.attrs["weak"] = true;
    node.type = std::move(*type);
    node.where = where;
    return Value::tensor(push(std::move(node)));
  }

  /// A float of one byte as f32: numbers are kept in such types, not computed with.
  int widened(int id, Where where) {
    const auto [it, fresh] = widened_.try_emplace(id, 0);
    if (fresh) {
      Node node;
      node.op = "cast";
      node.operands = {id};
      node.attrs["dtype"] = std::string(name_of(DType::kF32));
      node.type = {DType::kF32, graph_.node(id).type.dims};
      node.where = where;
      it->second = push(std::move(node));
    }
    return it->second;
  }

  Sourced<void> check_result(const Op& op, const TensorType& type, Where where) const {
    if (graph_.nodes.size() >= kMaxOperations)
      return fail_at(where, fmt::format("a computation of more than {} operations", kMaxOperations),
                     "split it into several tasks");
    if (type.dims.size() > kMaxRank)
      return fail_at(where, fmt::format("{} gives a tensor of {} dimensions: {} at most", op.name,
                                        type.dims.size(), kMaxRank));
    for (const IntExpr& dim : type.dims) {
      if (dim.is_constant() && dim.constant() < 1)
        return fail_at(
            where, fmt::format("{} gives {}: every extent must be at least 1", op.name, type.to_string()));
      HONE_TRY_VOID(bounded(Value::of(dim), where));
    }
    return {};
  }

  Evaluated subscript(const Expr& e) {
    HONE_TRY(Value value, evaluate(e.args[0]));
    if (value.is(Kind::kTensor)) return index_tensor(std::move(value), e);
    if (!value.is(Kind::kList))
      return fail_at(e.where, fmt::format("expected a tensor before '[', found {}", describe(value)));
    const auto size = static_cast<int64_t>(value.items.size());
    if (size == 0) return fail_at(e.where, "the list is empty");
    if (e.args[1].kind == Expr::Kind::kSlice || e.args[1].kind == Expr::Kind::kEllipsis)
      return fail_at(e.args[1].where, "a list is indexed by one integer, not by a slice");
    HONE_TRY(const Value index, evaluate(e.args[1]));
    if (e.args.size() != 2 || !index.is(Kind::kInt) || !index.integer.is_constant() ||
        index.integer.constant() < -size || index.integer.constant() >= size)
      return fail_at(e.where, fmt::format("a list of {} is indexed by one integer below {}", size, size));
    const int64_t i = index.integer.constant();
    return value.items[static_cast<size_t>(i < 0 ? i + size : i)];
  }

  /// x[a:b, None, ..., 3, indices]: one index after the other, each an op of the table.
  Evaluated index_tensor(Value x, const Expr& e) {
    const auto rank_of = [&] { return static_cast<int64_t>(graph_.node(x.node).type.dims.size()); };
    const auto takes_axis = [&](const Expr& index) {
      return index.kind != Expr::Kind::kEllipsis &&
             !(index.kind == Expr::Kind::kName && is_new_axis(index.text));
    };
    const int64_t used = std::count_if(e.args.begin() + 1, e.args.end(), takes_axis);
    const int64_t rank = rank_of();
    if (used > rank)
      return fail_at(e.where, fmt::format("{} {} for {} dimension{}", used, used == 1 ? "index" : "indices",
                                          rank, rank == 1 ? "" : "s"));
    int64_t axis = 0;
    bool dots = false;
    bool gathered = false;
    for (size_t i = 1; i < e.args.size(); ++i) {
      const Expr& index = e.args[i];
      if (index.kind == Expr::Kind::kEllipsis) {
        if (dots) return fail_at(index.where, "'...' stands in an index once at most");
        dots = true;
        axis += rank - used;
      } else if (!takes_axis(index)) {
        HONE_TRY(x, apply("unsqueeze",
                          {{"", std::move(x), e.where}, {"", Value::of(IntExpr(axis++)), index.where}},
                          index.where));
      } else if (index.kind == Expr::Kind::kSlice) {
        HONE_TRY(x, slice_axis(std::move(x), axis++, index));
      } else {
        HONE_TRY(Value at, evaluate(index));
        if (at.is(Kind::kInt)) {
          HONE_TRY(x, apply("select",
                            {{"", std::move(x), e.where},
                             {"", Value::of(IntExpr(axis)), index.where},
                             {"", std::move(at), index.where}},
                            index.where));
        } else if (at.is(Kind::kTensor)) {
          if (gathered)
            return fail_at(index.where, "one index is a tensor at most",
                           "take_along_axis combines indices with positions");
          gathered = true;
          const auto added = static_cast<int64_t>(graph_.node(at.node).type.dims.size());
          HONE_TRY(x, apply("take",
                            {{"", std::move(x), e.where},
                             {"", std::move(at), index.where},
                             {"", Value::of(IntExpr(axis)), index.where}},
                            index.where));
          axis += added;
        } else {
          return fail_at(
              index.where,
              fmt::format("an index is an integer, a slice or an integer tensor, found {}", describe(at)));
        }
      }
    }
    return x;
  }

  static bool is_new_axis(std::string_view name) {
    return name == "None" || name == "none" || name == "newaxis";
  }

  /// start:stop:step of one axis. Negative constants count from the end; a constant stop beyond a
  /// constant extent is cut to it.
  Evaluated slice_axis(Value x, int64_t axis, const Expr& e) {
    const Dims dims = graph_.node(x.node).type.dims;
    const IntExpr& extent = dims[static_cast<size_t>(axis)];
    std::optional<IntExpr> parts[3];
    for (size_t i = 0; i < 3; ++i) {
      if (e.args[i].kind == Expr::Kind::kAbsent) continue;
      HONE_TRY(const Value part, evaluate(e.args[i]));
      if (part.is(Kind::kNone)) continue;
      if (!part.is(Kind::kInt))
        return fail_at(e.args[i].where,
                       fmt::format("the bounds of a slice are integers, found {}", describe(part)));
      parts[i] = part.integer;
    }
    if (parts[2] && !parts[2]->is_constant())
      return fail_at(e.args[2].where, "the step of a slice is a constant");
    int64_t step = parts[2] ? parts[2]->constant() : 1;
    if (step == 0) return fail_at(e.args[2].where, "the step of a slice is not 0");
    const auto bound = [&](const IntExpr& value) {
      if (!value.is_constant()) return value;
      if (value.constant() < 0)
        return extent.is_constant() ? IntExpr(std::max<int64_t>(0, extent.constant() + value.constant()))
                                    : extent + value;
      return extent.is_constant() ? IntExpr(std::min(value.constant(), extent.constant())) : value;
    };
    if (step < 0) {
      if (parts[0] || parts[1])
        return fail_at(e.where, "a negative step takes the whole axis, as in [::-1]",
                       "slice first, then reverse: x[2:8][::-1]");
      HONE_TRY(
          x, apply("flip", {{"", std::move(x), e.where}, {"", Value::of(IntExpr(axis)), e.where}}, e.where));
      step = -step;
    }
    const IntExpr start = parts[0] ? bound(*parts[0]) : IntExpr(0);
    const IntExpr stop = parts[1] ? bound(*parts[1]) : extent;
    const IntExpr size = IntExpr::ceil_div(stop - start, step);
    if (size.is_constant() && size.constant() < 1)
      return fail_at(e.where, fmt::format("the slice [{}:{}] of axis {} of extent {} is empty",
                                          parts[0] ? parts[0]->to_string() : "",
                                          parts[1] ? parts[1]->to_string() : "", axis, extent.to_string()));
    if (start == IntExpr(0) && size == extent) return x;
    std::vector<Value> starts(dims.size(), Value::of(IntExpr(0)));
    std::vector<Value> extents;
    std::vector<Value> steps(dims.size(), Value::of(IntExpr(1)));
    for (const IntExpr& dim : dims) extents.push_back(Value::of(dim));
    const auto at = static_cast<size_t>(axis);
    starts[at] = Value::of(start);
    extents[at] = Value::of(size);
    steps[at] = Value::of(IntExpr(step));
    return apply("slice",
                 {{"", std::move(x), e.where},
                  {"", Value::list(std::move(starts)), e.where},
                  {"", Value::list(std::move(extents)), e.where},
                  {"", Value::list(std::move(steps)), e.where}},
                 e.where);
  }

  Graph graph_;
  std::map<std::string, Value, std::less<>> names_;
  std::map<std::string, Where, std::less<>> where_of_;
  std::vector<std::string> assigned_;  ///< in the order of the last assignment
  std::set<std::string, std::less<>> used_;
  std::set<std::string, std::less<>> inputs_;
  std::set<std::string, std::less<>> symbols_;
  std::set<std::string, std::less<>> targets_;  ///< of all statements
  std::map<int, int> widened_;  ///< floats of one byte as f32
  Binder binder_;
  int64_t count_ = 1;  ///< results of the op added last
};

}  // namespace

bool is_word(std::string_view name) {
  constexpr std::string_view kWords[] = {"true", "True", "false",   "False", "none",
                                         "None", "inf",  "newaxis", "nan",   "pi"};
  return dtype_from(name) || is_reserved(name) ||
         std::find(std::begin(kWords), std::end(kWords), name) != std::end(kWords);
}

std::span<const Operator> operator_table() { return kBinary; }

Sourced<Graph> build_graph(const std::vector<Statement>& program, std::span<const DeclaredInput> inputs,
                           std::span<const std::string> outputs) {
  return Builder(inputs).run(program, outputs);
}

}  // namespace hone::task
