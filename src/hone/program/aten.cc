#include "hone/program/aten.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/base/result.h"

namespace hone::program {
namespace {

const std::map<std::string_view, const Row*>& all_rows() {
  static const std::map<std::string_view, const Row*> table = [] {
    std::map<std::string_view, const Row*> all;
    for (const auto rows : {elementwise_rows(), reduction_rows(), product_rows(), window_rows(), shape_rows(), index_rows(), scatter_rows(), loss_rows()})
      for (const Row& row : rows) HONE_CHECK(all.emplace(row.op, &row).second, row.op);
    return all;
  }();
  return table;
}

}  // namespace

const Row* find_row(std::string_view op) {
  const auto it = all_rows().find(op);
  return it == all_rows().end() ? nullptr : it->second;
}

std::vector<std::string> known_operators() {
  std::vector<std::string> names;
  for (const auto& [name, row] : all_rows()) names.emplace_back(name);
  return names;
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "(-inf)";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return value < 0 || text.front() == '-' ? "(" + text + ")" : text;
}

std::string list_text(std::span<const int64_t> values) { return fmt::format("[{}]", fmt::join(values, ", ")); }

tl::unexpected<Error> no_word(const Site& site, std::string_view reason) {
  return fail(ErrorCode::kUnavailable, fmt::format("{}: {}", site.node().op, reason));
}

const ValueType& Site::type_of(std::string_view argument) const {
  const Argument* value = node_.find(argument);
  if (value == nullptr || value->ref() == nullptr) throw std::out_of_range(std::string(argument));
  return program_.nodes[static_cast<size_t>(value->ref()->node)].type();
}

const Argument::List& Site::list(std::string_view argument) const {
  const Argument* value = node_.find(argument);
  if (value == nullptr || value->list() == nullptr) throw std::out_of_range(std::string(argument));
  return *value->list();
}

Written write(const Row& row, const Site& site) {
  try {
    return row.write(site, row.detail);
  } catch (const std::out_of_range&) {  // a capture is what some process says
    return no_word(site, "called as nobody calls it");
  }
}

bool Site::has(std::string_view argument) const {
  const Argument* value = node_.find(argument);
  return value != nullptr && !value->is_none();
}

std::string Site::term(const Argument& argument) const {
  if (argument.is_none()) return "none";
  if (const auto* flag = std::get_if<bool>(&argument.value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<int64_t>(&argument.value)) return *whole < 0 ? fmt::format("({})", *whole) : fmt::format("{}", *whole);
  if (const auto* real = std::get_if<double>(&argument.value)) return number_text(*real);
  if (const auto* type = std::get_if<task::DType>(&argument.value)) return std::string(task::name_of(*type));
  if (const Ref* ref = argument.ref()) return terms_.at(ref->node).at(0);
  if (const Argument::List* list = argument.list()) {
    std::vector<std::string> all;
    for (const Argument& item : *list) all.push_back(term(item));
    return fmt::format("[{}]", fmt::join(all, ", "));
  }
  return "?";
}

std::string Site::text(std::string_view argument) const {
  const Argument* value = node_.find(argument);
  return value == nullptr ? "none" : term(*value);
}

std::string Site::any(std::initializer_list<std::string_view> arguments) const {
  for (const std::string_view name : arguments)
    if (has(name)) return text(name);
  return "none";
}

double Site::number(std::string_view argument, double fallback) const {
  const Argument* value = node_.find(argument);
  return value == nullptr ? fallback : value->number().value_or(fallback);
}

int64_t Site::integer(std::string_view argument, int64_t fallback) const {
  const Argument* value = node_.find(argument);
  return value == nullptr ? fallback : value->integer().value_or(fallback);
}

std::string Site::word(std::string_view argument) const {
  const Argument* value = node_.find(argument);
  const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(&value->value);
  return text == nullptr ? std::string() : *text;
}

std::vector<int64_t> Site::integers(std::string_view argument, size_t count) const {
  std::vector<int64_t> all;
  const Argument* value = node_.find(argument);
  if (value == nullptr || value->is_none()) return all;
  if (const Argument::List* list = value->list()) {
    for (const Argument& item : *list) all.push_back(item.integer().value_or(0));
  } else {
    all.push_back(value->integer().value_or(0));
  }
  if (all.size() == 1 && count > 1) all.resize(count, all.front());
  return all;
}

int64_t Site::axis(std::string_view argument, std::string_view of, int64_t fallback) const {
  const int64_t value = integer(argument, fallback);
  return value < 0 ? value + rank(of) : value;
}

}  // namespace hone::program
