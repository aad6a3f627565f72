#include "hone/program/task_text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/program/aten.h"
#include "hone/program/recurrent.h"
#include "hone/task/task.h"

namespace hone::program {

std::string short_name(std::string_view op) {
  if (op == "getitem") return "part";
  if (op.starts_with("aten.")) op.remove_prefix(5);
  if (op.starts_with("prims.")) op.remove_prefix(6);
  op = op.substr(0, op.find('.'));
  while (op.starts_with("_")) op.remove_prefix(1);
  if (op == "scaled_dot_product_attention") return "attention";
  if (op.find("batch_norm") != std::string_view::npos) return "batch_norm";
  return std::string(op);
}

namespace {

class Writer {
 public:
  /// `bounds`: null where it is only asked whether there are words: what is known of inputs is left out then.
  Writer(const Program& program, const Bounds* bounds) : program_(program), bounds_(bounds) {}

  Result<TaskText> write(const std::vector<int>& nodes, const std::vector<int>& results) {
    for (const int id : nodes) HONE_TRY_VOID(statement(id));
    drop_unread(results);
    std::string text = "compute = \"\"\"\n";
    for (const std::string& line : lines_) text += line + "\n";
    text += "\"\"\"\n[inputs]\n";
    for (const std::string& row : input_rows_) text += row + "\n";
    text += "[outputs]\n";
    for (const int id : results) {
      const std::string& name = terms_[id].at(0);
      const ValueType& type = program_.nodes[static_cast<size_t>(id)].type();
      if (!type.dtype) return fail(ErrorCode::kUnavailable, fmt::format("{} has an element type that the language lacks", program_.nodes[static_cast<size_t>(id)].op));
      text += fmt::format("{} = \"{}\"\n", name, type.to_string());
    }
    return TaskText{std::move(text), std::move(inputs_)};
  }

 private:
  Status input(int id) {
    const Node& node = program_.nodes[static_cast<size_t>(id)];
    auto& term = terms_[id];
    if (node.number && node.number->number()) {
      const std::string value = node.number->integer() && !task::is_float(node.type().dtype.value_or(task::DType::kF32)) ? fmt::format("{}", *node.number->integer())
                                                                                                                         : number_text(*node.number->number());
      term = {value.front() == '-' ? "(" + value + ")" : value};
      return {};
    }
    if (!node.type().dtype || node.several) return fail(ErrorCode::kUnavailable, fmt::format("it reads {}, whose type the language lacks", node.name));
    const bool constant = node.is_input() && node.role != Role::kUser;
    term = {fmt::format("{}{}", constant ? "w" : "x", constant ? weights_++ : tensors_++)};
    std::string extra;
    if (constant) extra += ", constant = true";
    if (const auto bound = bound_of(id); bound && task::is_int(*node.type().dtype)) extra += fmt::format(", domain = \"index({})\"", *bound);
    else if (positive_.count(id) > 0) extra += ", domain = \"positive\"";
    if (const std::string values = known_values(id); !values.empty()) extra += fmt::format(", values = \"{}\"", values);
    input_rows_.push_back(extra.empty() ? fmt::format("{} = \"{}\"", term.front(), node.type().to_string())
                                        : fmt::format("{} = {{ type = \"{}\"{} }}", term.front(), node.type().to_string(), extra));
    inputs_.push_back(id);
    return {};
  }

  Status statement(int id) {
    const Node& node = program_.nodes[static_cast<size_t>(id)];
    if (const Argument* variance = node.find("running_var"); variance != nullptr && variance->ref() != nullptr) positive_.insert(variance->ref()->node);
    for (const int operand : operands(node))
      if (terms_[operand].empty()) HONE_TRY_VOID(input(operand));
    auto& term = terms_[id];
    if (node.op == "getitem") {  // a tuple's results are written where they are taken, as some are not
      const int source = node.find("source")->ref()->node;
      const auto& whole = terms_[source];
      const auto index = static_cast<size_t>(node.find("index")->integer().value_or(0));
      if (index >= whole.size() || whole[index].empty()) return fail(ErrorCode::kUnavailable, fmt::format("{}: the language does not give result {}", program_.nodes[static_cast<size_t>(source)].op, index));
      term = {named(short_name(program_.nodes[static_cast<size_t>(source)].op), whole[index])};
      return {};
    }
    const Row* row = find_row(node.op);
    if (row == nullptr) return fail(ErrorCode::kUnavailable, fmt::format("{}: the language has nothing for it", node.op));
    const std::map<int, std::string> bare = say_types_of_numbers(node, *row);
    auto written = program::write(*row, Site(program_, node, terms_));
    for (const auto& [number, term] : bare) terms_[number].front() = term;
    HONE_TRY(std::vector<std::string> texts, std::move(written));
    if (node.several) term = std::move(texts);
    else if (texts.empty()) return fail(ErrorCode::kUnavailable, fmt::format("{}: the language does not give it", node.op));
    else term = {named(short_name(node.op), std::move(texts.front()))};
    return {};
  }

  /// A number takes the type of the tensors that it meets, as PyTorch's tensors of rank 0 do. Where it meets none of its kind, as where(mask, 1.0, 0.0) or a
  /// number that is spread out, it is of its own type. Gives what such numbers were called.
  std::map<int, std::string> say_types_of_numbers(const Node& node, const Row& row) {
    const auto kind = [&](int id) {
      const auto dtype = program_.nodes[static_cast<size_t>(id)].type().dtype;
      return !dtype || *dtype == task::DType::kBool ? 0 : task::is_int(*dtype) ? 1 : 2;
    };
    const auto is_number = [&](int id) { return program_.nodes[static_cast<size_t>(id)].number.has_value() && program_.nodes[static_cast<size_t>(id)].type().dtype.has_value(); };
    const std::span<const Row> alike = elementwise_rows();
    int met = -1;
    if (&row >= alike.data() && &row < alike.data() + alike.size())
      for (const int operand : operands(node))
        if (!is_number(operand)) met = std::max(met, kind(operand));
    std::map<int, std::string> before;
    for (const int operand : operands(node)) {
      if (!is_number(operand) || kind(operand) <= met) continue;
      std::string& term = terms_[operand].front();
      if (before.emplace(operand, term).second) term = fmt::format("cast({}, {})", term, task::name_of(*program_.nodes[static_cast<size_t>(operand)].type().dtype));
    }
    return before;
  }

  [[nodiscard]] std::optional<int64_t> bound_of(int id) const { return bounds_ == nullptr ? std::nullopt : (*bounds_)[static_cast<size_t>(id)]; }

  /// Of a constant, as long as a task takes them and they are within its domain.
  std::string known_values(int id) {
    const Node& node = program_.nodes[static_cast<size_t>(id)];
    const task::DType type = *node.type().dtype;
    if (!node.values || task::is_f8(type) || bounds_ == nullptr) return {};
    const auto bound = bound_of(id);
    for (int64_t i = 0; i < task::element_count(node.values->shape); ++i) {
      const double value = task::value_at(*node.values, type, i);
      const bool outside = task::is_int(type) && bound && (value < 0 || value >= static_cast<double>(*bound));
      if (outside || !std::isfinite(value) || (positive_.count(id) > 0 && value <= 0)) return {};
    }
    std::string packed = task::pack_values(*node.values, type);
    if (known_bytes_ + packed.size() > task::kMaxPackedValues) return {};
    known_bytes_ += packed.size();
    return packed;
  }

  /// An operand that gives nothing but its type or shape (zeros_like) is no input, nor is what is computed for it alone.
  void drop_unread(const std::vector<int>& results) {
    std::set<std::string> words;
    for (const int id : results) words.insert(terms_[id].at(0));
    std::vector<std::string> kept;
    for (size_t i = lines_.size(); i-- > 0;) {
      const std::string& line = lines_[i];
      if (words.count(line.substr(0, line.find(' '))) == 0) continue;
      kept.push_back(line);
      for (size_t at = 0; at < line.size();) {
        size_t end = at;
        while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) != 0 || line[end] == '_')) ++end;
        words.insert(line.substr(at, end - at));
        at = std::max(end, at + 1);
      }
    }
    lines_.assign(kept.rbegin(), kept.rend());
    for (size_t i = inputs_.size(); i-- > 0;) {
      if (words.count(terms_[inputs_[i]].front()) > 0) continue;
      inputs_.erase(inputs_.begin() + static_cast<std::ptrdiff_t>(i));
      input_rows_.erase(input_rows_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  std::string named(const std::string& base, std::string text) {
    std::string name = fmt::format("{}_{}", base, lines_.size());
    lines_.push_back(fmt::format("{} = {}", name, text));
    return name;
  }

  const Program& program_;
  const Bounds* bounds_;
  Terms terms_;
  std::set<int> positive_;
  std::vector<std::string> lines_, input_rows_;
  std::vector<int> inputs_;
  int weights_ = 0, tensors_ = 0;
  size_t known_bytes_ = 0;   ///< packed
};

}  // namespace

Result<TaskText> task_text(const Program& program, const std::vector<int>& body, const std::vector<int>& results, const Bounds& bounds) {
  return Writer(program, &bounds).write(body, results);
}

std::string task_name(const Program& program, const std::vector<int>& nodes) {
  std::vector<std::string> words;
  for (const bool heavy : {true, false})
    for (const int id : nodes) {
      const Node& node = program.nodes[static_cast<size_t>(id)];
      const Row* row = find_row(node.op);
      if (row == nullptr || row->heavy != heavy || words.size() >= 3) continue;
      if (std::string word = short_name(node.op); std::find(words.begin(), words.end(), word) == words.end()) words.push_back(std::move(word));
    }
  return fmt::format("{}", fmt::join(words, "_"));
}

Words::Words(const Program& program) : program_(program), users_(users(program)) {}

std::string Words::lacks(int id) {
  const Node& node = program_.nodes[static_cast<size_t>(id)];
  if (node.is_input() || is_tuple_part(node)) return {};
  if (is_taking_apart(node)) return std::string(kView);
  if (find_row(node.op) == nullptr) {
    if (node.op == "aten.clone.default") return "a copy";
    if (node.op == "aten.view_as_real.default" || node.op == "aten.view_as_complex.default") return std::string(kView);
    const std::string why = not_written_out(program_, node);
    if (const auto kept = program_.kept.find(node.name); why.empty() && kept != program_.kept.end()) return fmt::format("{}: {}", node.op, kept->second);
    return why.empty() ? fmt::format("{}: the language has nothing for it", node.op) : why;
  }
  for (const ValueType& type : node.types) {
    if (node.several) continue;
    if (!type.dtype) return fmt::format("{}: its element type is none of the language's", node.op);
    if (task::element_count(type.shape) == 0) return fmt::format("{}: it gives no elements", node.op);
  }
  std::vector<int> body{id}, results;
  if (node.several) {
    for (const int user : users_[static_cast<size_t>(id)])
      if (is_tuple_part(program_.nodes[static_cast<size_t>(user)])) results.push_back(user);
    body.insert(body.end(), results.begin(), results.end());
  } else {
    results = {id};
  }
  const auto text = Writer(program_, nullptr).write(body, results);
  if (!text) return text.error().message.starts_with("aten.") ? text.error().message : fmt::format("{}: {}", node.op, text.error().message);
  if (text->inputs.empty() || results.empty()) return {};  // of numbers alone: no task by itself
  const auto [known, fresh] = known_.emplace(text->text, std::string());
  if (fresh)
    if (const auto task = task::parse_task("name = \"one\"\n" + text->text, "one"); !task) known->second = fmt::format("{}: {}", node.op, task.error().message);
  return known->second;
}

}  // namespace hone::program
