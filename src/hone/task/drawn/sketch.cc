#include "hone/task/drawn/sketch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hone/base/result.h"

namespace hone::task::drawn {
namespace {

bool is_sum(const std::string& text) { return text.find_first_of(" ") != std::string::npos; }
bool is_number(const std::string& text) { return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos; }

/// What the mix says an extent of that role is at `full`.
int64_t drawn_extent(const Mix& mix, const std::string& role, base::Rng& rng) {
  const std::string section = "extent." + role;
  const std::string& kind = mix.pick(section, rng);
  const std::vector<int64_t>& numbers = mix.numbers(section, kind);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(rng.below(static_cast<uint64_t>(n))); };
  if (kind == "odd") return std::min(numbers[2] | 1, (numbers[1] + below(numbers[2] - numbers[1] + 1)) | 1);
  const int64_t one = numbers[static_cast<size_t>(1 + below(static_cast<int64_t>(numbers.size()) - 1))];
  if (kind != "near") return one;
  const int64_t off = 1 + below(3);
  return below(2) == 0 ? one - off : one + off;
}

}  // namespace

std::string type_text(const std::string& dtype, const Extents& dims) { return fmt::format("{}[{}]", dtype, fmt::join(dims, ", ")); }
std::string shape_text(const Extents& dims) { return fmt::format("[{}]", fmt::join(dims, ", ")); }

std::string product_text(const Extents& factors) {
  std::string text;
  int64_t number = 1;
  for (const std::string& factor : factors) {
    if (is_number(factor)) {
      number *= std::stoll(factor);
      continue;
    }
    text += (text.empty() ? "" : "*") + (is_sum(factor) ? "(" + factor + ")" : factor);
  }
  if (text.empty()) return std::to_string(number);
  return number == 1 ? (factors.size() == 1 ? factors[0] : text) : fmt::format("{}*{}", number, text);
}

std::string plus(const std::string& extent, int64_t more) {
  if (more == 0) return extent;
  if (is_number(extent)) return std::to_string(std::stoll(extent) + more);
  return more > 0 ? fmt::format("{} + {}", extent, more) : fmt::format("{} - {}", extent, -more);
}

std::string Sketch::new_name(std::string_view hint) {
  for (int n = 1;; ++n) {
    std::string name = n == 1 ? std::string(hint) : fmt::format("{}{}", hint, n);
    if (std::find(names_.begin(), names_.end(), name) != names_.end()) continue;
    names_.push_back(name);
    return name;
  }
}

std::string Sketch::extent(std::string_view letter, std::string_view role, int64_t least) {
  Symbol symbol{new_name(letter), std::string(role)};
  symbol.full = drawn_extent(mix_, symbol.role, rng_);
  const std::vector<int64_t>& tiny = mix_.numbers("tiny", role);
  symbol.tiny = tiny[static_cast<size_t>(below(static_cast<int64_t>(tiny.size())))];
  symbols_.push_back(symbol);
  at_least(symbol.name, least);
  return symbol.name;
}

void Sketch::at_least(const std::string& symbol, int64_t least) {
  for (Symbol& s : symbols_) {
    if (s.name != symbol) continue;
    s.least = std::max(s.least, least);
    s.full = std::max(s.full, s.least);
    s.tiny = std::max(s.tiny, s.least);
  }
}

Value Sketch::input(std::string_view hint, Extents dims, std::string_view dtype, std::string_view domain) {
  Value value{new_name(hint), std::string(dtype.empty() ? type_ : dtype), std::move(dims)};
  const std::string type = type_text(value.dtype, value.dims);
  const std::string_view key = domain.starts_with("tri") || domain == "symmetric" ? "structure" : "domain";
  inputs_.push_back({value.name, domain.empty() ? fmt::format("\"{}\"", type) : fmt::format("{{ type = \"{}\", {} = \"{}\" }}", type, key, domain)});
  value.positive = domain == "positive" || domain == "unit" || domain == "simplex" || domain == "near_one";
  value.bounded = domain == "unit" || domain == "simplex" || domain == "sign" || domain == "near_one";
  value.centred = domain == "simplex";
  loads_.push_back({value.dims, value.dtype, true, true});
  return value;
}

Value Sketch::new_value(std::string_view hint, const Extents& dims, std::string_view dtype) {
  Value value{new_name(hint), std::string(dtype.empty() ? type_ : dtype), dims};
  loads_.push_back({value.dims, value.dtype, false});
  return value;
}

Value Sketch::let(std::string_view hint, std::string expression, Extents dims, std::string_view dtype) {
  Value value = new_value(hint, dims, dtype);
  statements_.push_back({value.name, std::move(expression)});
  return value;
}

std::vector<Value> Sketch::let_all(const std::vector<std::string>& hints, std::string expression, const Extents& dims, std::string_view dtype) {
  std::vector<Value> values;
  std::string names;
  for (const std::string& hint : hints) {
    values.push_back(new_value(hint, dims, dtype));
    names += (names.empty() ? "" : ", ") + values.back().name;
  }
  statements_.push_back({names, std::move(expression)});
  return values;
}

void Sketch::output(const Value& value, std::string_view name) {
  // The newest statement is used by nobody yet, so it may be called as its output should be.
  std::string called = value.name;
  if (statements_.back().name == value.name && value.name != name) called = statements_.back().name = new_name(name);
  outputs_.push_back({called, type_text(value.dtype, value.dims)});
  loads_.push_back({value.dims, value.dtype, true});
}

void Sketch::work(Extents factors, bool half) { works_.push_back({std::move(factors), half}); }

void Sketch::hint(std::string_view word) {
  if (std::find(hints_.begin(), hints_.end(), word) == hints_.end()) hints_.emplace_back(word);
}

std::string Sketch::to_toml(const std::string& name, const std::string& comment) const {
  std::string text = comment + fmt::format("name    = \"{}\"\n", name);
  size_t width = 0;
  for (const Named& input : inputs_) width = std::max(width, input.name.size());
  for (const Named& input : inputs_) text += fmt::format("inputs.{:{}} = {}\n", input.name, width, input.text);
  for (const Named& output : outputs_) text += fmt::format("outputs.{} = \"{}\"\n", output.name, output.text);
  if (nan_) text += "nan     = true\n";
  text += "compute = \"\"\"\n";
  for (const Named& statement : statements_) text += fmt::format("{} = {}\n", statement.name, statement.text);
  text += "\"\"\"\nworkloads = [\n";
  const std::pair<const char*, int64_t Symbol::*> all[] = {{"full", &Symbol::full}, {"small", &Symbol::small}, {"tiny", &Symbol::tiny}};
  for (const auto& [workload, extent] : all) {
    std::vector<std::string> parts{fmt::format("name = \"{}\"", workload)};
    for (const Symbol& symbol : symbols_) parts.push_back(fmt::format("{} = {}", symbol.name, symbol.*extent));
    text += fmt::format("  {{ {} }},\n", fmt::join(parts, ", "));
  }
  return text + "]\ndefault = \"small\"\n";
}

}  // namespace hone::task::drawn
