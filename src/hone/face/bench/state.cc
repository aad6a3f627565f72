#include "hone/face/bench/state.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/fields.h"
#include "hone/base/file.h"
#include "hone/base/json.h"
#include "hone/face/bench/suite.h"

namespace hone::face::bench {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

json to_json(const Asked& asked) {
  return {{"suite", asked.suite}, {"drawn", asked.drawn}, {"only", asked.only}, {"workloads", asked.workloads}, {"track", asked.track},
          {"options", json::parse(asked.options.to_json())}, {"cold", asked.cold}};
}

json to_json(const Conditions& c) {
  return {{"target", c.place.target}, {"device", c.place.device}, {"toolchain", c.place.toolchain},
          {"machine", json::parse(c.machine_json)}, {"pytorch", c.pytorch}, {"hone", c.hone}};
}

json to_json(const Entry& e) {
  return {{"name", e.name}, {"file", e.file}, {"toml", e.toml}, {"start_source", e.start_source}, {"unreadable", e.unreadable},
          {"run", e.run}, {"spent", e.spent}, {"search", e.search}, {"row", e.row ? bench::to_json(*e.row) : json()}};
}

Result<Entry> entry_from(const json& value) {
  Entry e;
  e.name = value.at("name");
  e.file = value.at("file");
  e.toml = value.at("toml");
  e.start_source = value.at("start_source");
  e.unreadable = value.at("unreadable");
  e.run = value.at("run");
  e.spent = value.at("spent");
  e.search = value.at("search");
  if (!value.at("row").is_null()) {
    HONE_TRY(e.row, row_from(value.at("row")));
  }
  return e;
}

Conditions read_conditions(const json& value) {
  Conditions c;
  c.place = {value.at("target"), value.at("device"), value.at("toolchain")};
  c.machine_json = value.at("machine").dump();
  c.pytorch = value.at("pytorch");
  c.hone = value.at("hone");
  return c;
}

Result<State> read_state(const json& value) {
  State s;
  s.id = value.at("id");
  s.created_unix_ms = base::exactly<int64_t>(value.at("created_unix_ms"));
  s.updated_unix_ms = base::exactly<int64_t>(value.at("updated_unix_ms"));
  s.command = value.at("command");
  const json& asked = value.at("asked");
  s.asked.suite = asked.at("suite").get<std::vector<std::string>>();
  s.asked.drawn = asked.value("drawn", "");  // older records have none
  s.asked.only = asked.at("only");
  s.asked.workloads = asked.at("workloads").get<std::vector<std::string>>();
  s.asked.track = asked.value("track", "");  // older records have none
  HONE_TRY(s.asked.options, engine::RunOptions::from_json(asked.at("options").dump()));
  s.asked.cold = asked.at("cold");
  s.conditions = read_conditions(value.at("conditions"));
  for (const json& item : value.at("entries")) {
    HONE_TRY(Entry entry, entry_from(item));
    s.entries.push_back(std::move(entry));
  }
  return s;
}

Entry read_entry(const fs::path& file) {
  Entry entry;
  entry.name = file.stem().string();
  entry.file = file.string();
  auto text = base::read_file(file);
  if (!text) {
    entry.unreadable = text.error().message;
    return entry;
  }
  entry.toml = std::move(*text);
  const auto task = task::parse_task(entry.toml, file.filename().string());
  if (!task || !task->start) return entry;
  auto start = base::read_file(file.parent_path() / *task->start);
  if (start) entry.start_source = std::move(*start);
  else entry.unreadable = "its start kernel: " + start.error().message;
  return entry;
}

}  // namespace

std::vector<Row> State::rows() const {
  std::vector<Row> all;
  for (const Entry& entry : entries)
    if (entry.row) all.push_back(*entry.row);
  return all;
}

size_t State::left() const {
  return static_cast<size_t>(std::count_if(entries.begin(), entries.end(), [](const Entry& e) { return !e.row; }));
}

std::string to_text(const Conditions& conditions) { return base::canonical_json(to_json(conditions)); }

Result<Conditions> conditions_from(const std::string& text) try {
  HONE_TRY(const json value, base::parse_json(text, "conditions"));
  return read_conditions(value);
} catch (const json::exception& e) {
  return fail(ErrorCode::kCorrupt, fmt::format("the conditions of the bench cannot be read: {}", e.what()));
}

std::string to_text(const State& state) {
  json entries = json::array();
  for (const Entry& entry : state.entries) entries.push_back(to_json(entry));
  return base::canonical_json({{"id", state.id}, {"created_unix_ms", state.created_unix_ms}, {"updated_unix_ms", state.updated_unix_ms},
                               {"command", state.command}, {"asked", to_json(state.asked)},
                               {"conditions", to_json(state.conditions)}, {"entries", entries}});
}

Result<State> state_from(const std::string& text, const std::string& name) {
  const auto corrupt = [&](std::string_view why) {
    return fail(ErrorCode::kCorrupt, fmt::format("{} is no record of a bench: {}", name, why), "start the bench anew, with the same command");
  };
  try {
    const auto value = base::parse_json(text, name);
    return value ? read_state(*value) : corrupt(value.error().message);
  } catch (const json::exception& e) {
    return corrupt(e.what());
  }
}

bool same_bench(const Asked& a, const Conditions& ca, const Asked& b, const Conditions& cb) {
  return to_json(a) == to_json(b) && to_json(ca) == to_json(cb);
}

Result<std::vector<Entry>> read_entries(const Asked& asked) {
  HONE_TRY(const std::vector<fs::path> files, suite_files(asked.suite, asked.only));
  std::vector<Entry> entries;
  std::transform(files.begin(), files.end(), std::back_inserter(entries), read_entry);
  return entries;
}

std::vector<Entry> drawn_entries(const std::vector<task::drawn::DrawnTask>& tasks) {
  std::vector<Entry> entries;
  for (const task::drawn::DrawnTask& task : tasks) {
    Entry& entry = entries.emplace_back();
    entry.name = task.name;
    entry.file = task.name + ".toml";
    entry.toml = task.toml;
  }
  return entries;
}

std::vector<Entry> carried_over(std::vector<Entry> fresh, const std::vector<Entry>& old) {
  for (Entry& entry : fresh) {
    const auto it = std::find_if(old.begin(), old.end(), [&](const Entry& o) { return o.file == entry.file; });
    if (it == old.end()) continue;
    const auto text = [](const Entry& e) { return std::tie(e.toml, e.start_source, e.unreadable); };
    if (text(*it) == text(entry)) entry = *it;
  }
  return fresh;
}

}  // namespace hone::face::bench
