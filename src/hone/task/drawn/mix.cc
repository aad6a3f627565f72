#include "hone/task/drawn/mix.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>

#include "hone/base/embedded.h"
#include "hone/base/hash.h"
#include "hone/task/graph/op_table.h"
#include "hone/task/toml_guard.h"

namespace hone::task::drawn {
namespace {

constexpr int64_t kMostNumber = int64_t{1} << 40;

class MixReader {
 public:
  explicit MixReader(std::string path) : path_(std::move(path)) {}

  Result<Mix> read(std::string_view text) {
    if (const auto problem = toml_guard(text)) return wrong(problem->where.line, problem->message, problem->hint);
    const toml::parse_result parsed = toml::parse(text, path_);
    if (!parsed) {
      const int line = static_cast<int>(parsed.error().source().begin.line);
      const TomlProblem problem = toml_problem(parsed.error().description(), text, {line, static_cast<int>(parsed.error().source().begin.column)});
      return wrong(line, problem.message, problem.hint);
    }
    for (const auto& [key, value] : parsed.table()) HONE_TRY_VOID(read_top(std::string(key.str()), value));
    for (auto& [name, section] : mix_.sections) HONE_TRY_VOID(in_file_order(name, section));
    return std::move(mix_);
  }

 private:
  struct Found {
    int line;
    std::string key;
    std::vector<int64_t> numbers;
  };

  [[nodiscard]] tl::unexpected<Error> wrong(int line, std::string message, std::string hint = {}) const {
    return fail(ErrorCode::kInput, std::move(message), std::move(hint), line > 0 ? fmt::format("{}:{}", path_, line) : path_);
  }
  static int line_of(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

  Status read_top(const std::string& key, const toml::node& value) {
    if (key == "name") {
      mix_.name = value.value<std::string>().value_or("");
      const bool plain = !mix_.name.empty() && mix_.name.size() <= 20 && mix_.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789") == std::string::npos;
      if (!plain) return wrong(line_of(value), "'name' is a word of small letters and digits, 20 at most", "tasks are named after it: name = \"drawn\"");
      return {};
    }
    if (key == "version") {
      mix_.version = value.value<int64_t>().value_or(0);
      if (mix_.version < 1) return wrong(line_of(value), "'version' is a whole number above 0");
      return {};
    }
    if (!value.is_table()) return wrong(line_of(value), fmt::format("'{}' is a table of numbers", key), fmt::format("begin a section: [{}]", key));
    if (key != "extent") return read_section(key, *value.as_table());
    for (const auto& [inner, table] : *value.as_table()) {
      const std::string name = "extent." + std::string(inner.str());
      if (!table.is_table()) return wrong(line_of(table), fmt::format("'{}' is a table of numbers", name));
      HONE_TRY_VOID(read_section(name, *table.as_table()));
    }
    return {};
  }

  Status read_section(const std::string& name, const toml::table& table) {
    for (const auto& [key, value] : table) {
      HONE_TRY(std::vector<int64_t> numbers, numbers_of(fmt::format("{}.{}", name, key.str()), value));
      found_[name].push_back({line_of(value), std::string(key.str()), std::move(numbers)});
    }
    mix_.sections[name];
    return {};
  }

  Result<std::vector<int64_t>> numbers_of(const std::string& key, const toml::node& value) {
    std::vector<int64_t> numbers;
    const auto add = [&](const toml::node& node) {
      const auto number = node.value_exact<int64_t>();
      const bool fits = number && *number >= 0 && *number <= kMostNumber;
      if (fits) numbers.push_back(*number);
      return fits;
    };
    bool fine = true;
    if (const toml::array* list = value.as_array()) {
      for (const toml::node& node : *list) fine = fine && add(node);
    } else {
      fine = add(value);
    }
    if (!fine || numbers.empty())
      return wrong(line_of(value), fmt::format("'{}' is a whole number from 0 or a list of such", key), "see docs/drawn.md");
    return numbers;
  }

  Status in_file_order(const std::string& name, Mix::Section& section) {
    auto& found = found_[name];
    std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.line < b.line; });
    for (Found& one : found) {
      lines_[name + "." + one.key] = one.line;
      section.emplace_back(std::move(one.key), std::move(one.numbers));
    }
    return {};
  }

  std::string path_;
  Mix mix_;
  std::map<std::string, std::vector<Found>> found_;

 public:
  std::map<std::string, int> lines_;

  /// The same sections and keys as `model`, enough numbers in each, and something to pick in each.
  Status same_keys(const Mix& mix, const Mix& model) const {
    if (mix.name.empty() || mix.version < 1) return wrong(0, "a mix has a 'name' and a 'version'", "name = \"mine\" and version = 1");
    for (const auto& [name, section] : mix.sections) {
      if (!model.sections.contains(name)) return unknown(0, name, sections_of(model));
      int64_t total = 0;
      for (const auto& [key, numbers] : section) {
        const int line = lines_.at(name + "." + key);
        if (!model.has(name, key)) return unknown(line, name + "." + key, keys_of(model, name));
        HONE_TRY_VOID(check_numbers(line, name, key, numbers));
        total += numbers.front();
      }
      if (total == 0) return wrong(0, fmt::format("[{}] has nothing to draw: every weight is 0", name));
    }
    for (const auto& [name, section] : model.sections)
      for (const auto& [key, numbers] : section)
        if (!mix.has(name, key)) return wrong(0, fmt::format("the mix has no '{}.{}'", name, key), "give it weight 0 where it is not wanted");
    return {};
  }

 private:
  [[nodiscard]] Status check_numbers(int line, const std::string& name, const std::string& key, const std::vector<int64_t>& numbers) const {
    const auto say = [&](const char* what) -> Status { return wrong(line, fmt::format("'{}.{}' is {}", name, key, what), "see docs/drawn.md"); };
    if (name == "time" && (numbers.size() != 3 || numbers[1] > numbers[2])) return say("a weight, then the least and the most microseconds");
    if (!name.starts_with("extent.") && name != "tiny" && name != "time" && numbers.size() != 1) return say("one number");
    if (name == "tiny" && *std::min_element(numbers.begin(), numbers.end()) < 1) return say("a list of extents, each 1 at least");
    if (!name.starts_with("extent.")) return {};
    if (numbers.size() < 2 || *std::min_element(numbers.begin() + 1, numbers.end()) < 1) return say("a weight, then extents, each 1 at least");
    if (key == "near" && *std::min_element(numbers.begin() + 1, numbers.end()) < 5) return say("a weight, then extents, each 5 at least");
    if (key == "odd" && (numbers.size() != 3 || numbers[1] > numbers[2])) return say("a weight, then the least and the largest extent");
    return {};
  }

  static std::vector<std::string> sections_of(const Mix& mix) {
    std::vector<std::string> names;
    for (const auto& [name, section] : mix.sections) names.push_back(name);
    return names;
  }
  static std::vector<std::string> keys_of(const Mix& mix, const std::string& section) {
    std::vector<std::string> names;
    for (const auto& [key, numbers] : mix.sections.at(section)) names.push_back(section + "." + key);
    return names;
  }
  [[nodiscard]] Status unknown(int line, const std::string& key, const std::vector<std::string>& known) const {
    std::string hint = did_you_mean(key, known);
    if (hint.empty()) hint = "docs/drawn.md lists the keys";
    return wrong(line, fmt::format("a mix has no key '{}'", key), hint);
  }
};

const std::vector<int64_t>* find_numbers(const Mix& mix, std::string_view section, std::string_view key) {
  const auto it = mix.sections.find(section);
  if (it == mix.sections.end()) return nullptr;
  const auto found = std::find_if(it->second.begin(), it->second.end(), [&](const auto& entry) { return entry.first == key; });
  return found == it->second.end() ? nullptr : &found->second;
}

}  // namespace

bool Mix::has(std::string_view section, std::string_view key) const { return find_numbers(*this, section, key) != nullptr; }

const std::vector<int64_t>& Mix::numbers(std::string_view section, std::string_view key) const {
  const std::vector<int64_t>* found = find_numbers(*this, section, key);
  HONE_CHECK(found != nullptr, fmt::format("{}.{}", section, key));
  return *found;
}

const std::string& Mix::pick(std::string_view section, base::Rng& rng) const {
  const auto it = sections.find(section);
  HONE_CHECK(it != sections.end(), section);
  int64_t total = 0;
  for (const auto& [key, numbers] : it->second) total += numbers.front();
  int64_t at = static_cast<int64_t>(rng.below(static_cast<uint64_t>(total)));
  for (const auto& [key, numbers] : it->second) {
    if (at < numbers.front()) return key;
    at -= numbers.front();
  }
  HONE_CHECK(false, section);
}

std::string Mix::hash() const {
  base::Hasher hasher;
  hasher.add(name);
  hasher.add(std::to_string(version));
  for (const auto& [section, entries] : sections)
    for (const auto& [key, numbers] : entries) {
      hasher.add(section + "." + key);
      for (const int64_t number : numbers) hasher.add(std::to_string(number));
      hasher.add("");
    }
  return base::short_hash(hasher.finish());
}

Result<Mix> parse_mix(std::string_view toml, const std::string& path) {
  MixReader reader(path);
  HONE_TRY(Mix mix, reader.read(toml));
  HONE_TRY_VOID(reader.same_keys(mix, builtin_mix()));
  return mix;
}

const Mix& builtin_mix() {
  static const Mix mix = [] {
    const auto text = base::find_embedded("drawn/mix.toml");
    HONE_CHECK(text.has_value(), "the program carries its mix");
    MixReader reader("mix.toml");
    auto read = reader.read(*text);
    HONE_CHECK(read.has_value(), read ? "" : read.error().to_string());
    return std::move(*read);
  }();
  return mix;
}

}  // namespace hone::task::drawn
