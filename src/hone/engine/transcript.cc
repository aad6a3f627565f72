#include "hone/engine/transcript.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/fields.h"
#include "hone/base/file.h"
#include "hone/base/hash.h"
#include "hone/base/json.h"
#include "hone/engine/recall.h"
#include "hone/engine/workbench.h"
#include "hone/target/target.h"

namespace hone::engine {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;

void add_line(std::string& out, const json& line) { out += base::canonical_json(line) + "\n"; }

json parsed(const std::string& text) { return json::parse(text, nullptr, false); }

/// What a transcript holds, put into an archive of its own.
struct Unpacked {
  archive::RunInfo run;
  std::vector<archive::Event> events;
  std::map<std::string, std::string> sources;    ///< by their hash
  std::string system;                            ///< of the questions that follow
};

tl::unexpected<Error> damaged(const std::string& what) {
  return fail(ErrorCode::kCorrupt, "the transcript contradicts itself: " + what, "it was changed after it was written");
}

Status take_run(const json& line, archive::Store& store, Unpacked& out) {
  const json& run = line.at("run");
  out.run.id = run.at("id");
  out.run.task_name = run.at("task_name");
  out.run.task_hash = run.at("task_hash");
  out.run.target = run.at("target");
  json options = run.at("options");
  options["diagnose"] = false;   // diagnoses advise the search, whose decisions are taken as written
  out.run.options_json = base::canonical_json(options);
  out.run.task_toml = run.at("task");
  out.run.created_unix_ms = out.run.updated_unix_ms = base::exactly<int64_t>(run.at("created_unix_ms"));
  out.run.champion = run.at("champion");
  out.run.summary_json = base::canonical_json(run.at("summary"));
  out.run.status = "finished";
  return store.create_run(out.run);
}

Status take_kernel(const json& line, archive::Store& store, const Unpacked& known) {
  archive::KernelRow row;
  row.hash = line.at("kernel");
  const auto source = known.sources.find(line.at("source").get<std::string>());
  if (source == known.sources.end()) return damaged("a kernel without its source");
  row.source = source->second;
  row.language = line.at("language");
  row.config_json = base::canonical_json(line.at("config"));
  row.parent = line.at("parent");
  row.author = line.at("author");
  row.action = line.at("action");
  row.note = line.at("note");
  row.task_hash = line.at("task_hash");
  HONE_TRY(const kernel::Kernel kernel, kernel_from(row));
  if (kernel.hash() != row.hash) return damaged("kernel " + base::short_hash(row.hash) + " is another one");
  return store.put_kernel(row);
}

Status take_question(const json& line, archive::Store& store, const Unpacked& known) {
  json request = line.at("request");
  request["system"] = known.system;
  HONE_TRY(const std::string hash, store.put_blob(base::canonical_json(request)));
  if (hash != line.at("question")) return damaged("a question's text is not the one its hash names");
  return {};
}

Result<Unpacked> unpack(std::string_view text, archive::Store& store) {
  Unpacked out;
  bool begun = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const json line = base::parse_json(text.substr(at, end - at), "transcript").value_or(json());
    at = end + 1;
    if (!begun && (!line.is_object() || line.value("hone_transcript", json()) != kVersion))
      return fail(ErrorCode::kInput, "not a transcript that this version reads", "hone transcript RUN writes one");
    if (!line.is_object()) return damaged("a line that is no JSON object");
    if (line.contains("run")) {
      HONE_TRY_VOID(take_run(line, store, out));
    } else if (line.contains("text")) {
      std::string source = line.at("text");
      out.sources.emplace(base::content_hash(source), std::move(source));
    } else if (line.contains("kernel")) {
      HONE_TRY_VOID(take_kernel(line, store, out));
    } else if (line.contains("system")) {
      out.system = line.at("system");
    } else if (line.contains("question")) {
      HONE_TRY_VOID(take_question(line, store, out));
    } else if (line.contains("event")) {
      if (line.at("event") == event::Diagnosed::kKind) continue;
      const auto seq = static_cast<int64_t>(out.events.size());
      out.events.push_back({seq, line.at("event"), base::canonical_json(line.at("body"))});
      HONE_TRY_VOID(store.append_event(out.run.id, seq, out.events.back().kind, out.events.back().json));
    } else {
      return damaged("a line of no known kind");
    }
    begun = true;
  }
  if (!begun) return fail(ErrorCode::kInput, "an empty transcript", "hone transcript RUN writes one");
  return out;
}

/// What was proposed, as a screening or a duplicate tells it; null for other events.
struct Proposed {
  const std::string *kernel = nullptr, *parent = nullptr, *author = nullptr, *action = nullptr, *reason = nullptr;
};
Proposed proposed_in(const LoggedEvent& logged) {
  const auto of = [](const auto& e) { return Proposed{&e.kernel, &e.parent, &e.author, &e.action, &e.reason}; };
  if (const auto* const e = logged.as<event::Screened>()) return of(*e);
  if (const auto* const e = logged.as<event::Duplicate>()) return of(*e);
  return {};
}

Result<TranscriptReplay> replay(std::string_view text) {
  HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("transcript"));
  HONE_TRY(archive::Store store, archive::Store::open(scratch.path() / "archive.db"));
  HONE_TRY(const Unpacked unpacked, unpack(text, store));
  HONE_TRY(const task::Task task, task::parse_task(unpacked.run.task_toml, "run " + unpacked.run.id));
  const std::vector<LoggedEvent> events = read_events(unpacked.events);
  for (const LoggedEvent& logged : events)
    if (!logged.problem.empty()) return damaged(fmt::format("event {}: {}", logged.seq, logged.problem));
  HONE_TRY(std::vector<search::RecordedStep> steps, recorded_steps(events, store));
  const auto* const started = events.empty() ? nullptr : events.front().as<event::Started>();
  if (!started) return damaged("it does not begin");
  HONE_TRY(const RunOptions options, RunOptions::from_json(unpacked.run.options_json));
  HONE_TRY(const WorkbenchOptions asked, workbench_options(options));
  Services services;
  // What models are asked to write in. A target that nobody knows any more takes C++.
  if (std::vector<kernel::Language> taken = target::languages_of(started->target); !taken.empty()) services.languages = std::move(taken);
  if (!asked.languages.empty())
    std::erase_if(services.languages, [&](kernel::Language l) { return std::find(asked.languages.begin(), asked.languages.end(), l) == asked.languages.end(); });
  if (services.languages.empty()) return damaged("its target takes none of its languages");
  services.clock = &base::system_clock();
  services.store = &store;
  services.target = started->target;
  services.device = started->device;
  services.toolchain = started->toolchain;
  services.machine_json = started->machine.dump();
  services.strategy = [&steps] { return search::recorded_strategy(std::move(steps)); };
  TranscriptReplay out;
  HONE_TRY(out.result, replay_run(unpacked.run, task, services));
  out.events = static_cast<int>(unpacked.events.size());
  std::set<std::string> written;
  for (const LoggedEvent& logged : events) {
    out.questions += logged.is<event::Asked>();
    const auto* const screened = logged.as<event::Screened>();
    if (!screened || !screened->author.starts_with("model:")) continue;
    HONE_TRY(const archive::KernelRow row, store.kernel(screened->kernel));
    written.insert(row.source);
  }
  out.kernels = static_cast<int>(written.size());
  return out;
}

}  // namespace

Result<std::vector<search::RecordedStep>> recorded_steps(const std::vector<LoggedEvent>& events, archive::Store& store) {
  std::vector<search::RecordedStep> steps;
  search::Skipped skipped;
  bool apart = true;
  for (const LoggedEvent& logged : events) {
    const bool looked = proposed_in(logged).kernel || logged.is<event::Yardstick>();
    if (const auto* const considered = logged.as<event::Considered>()) {
      skipped = {considered->constraint, considered->duplicate, considered->predicted_slower};
    } else if (logged.is<event::Waited>()) {
      steps.push_back({std::nullopt, std::exchange(skipped, {}), true});
    } else if (const Proposed proposed = proposed_in(logged); proposed.kernel) {
      HONE_TRY(const archive::KernelRow row, store.kernel(*proposed.kernel));
      HONE_TRY(kernel::Kernel kernel, kernel_from(row));
      kernel.parent = *proposed.parent;
      kernel.author = *proposed.author;
      steps.push_back({search::Proposal{std::move(kernel), *proposed.action, *proposed.reason}, std::exchange(skipped, {}), apart});
    }
    apart = !looked;
  }
  return steps;
}

Result<std::string> transcript_of(archive::Store& store, const archive::RunInfo& run) {
  HONE_TRY(const auto events, store.events(run.id));
  if (run.status != "finished" || events.empty())
    return fail(ErrorCode::kInput, fmt::format("run {} has not come to an end", run.id), fmt::format("hone resume {}", run.id));
  std::string out;
  add_line(out, {{"hone_transcript", kVersion},
                 {"run", {{"id", run.id}, {"task_name", run.task_name}, {"task_hash", run.task_hash}, {"target", run.target},
                          {"options", parsed(run.options_json)}, {"task", run.task_toml}, {"created_unix_ms", run.created_unix_ms},
                          {"champion", run.champion}, {"summary", parsed(run.summary_json)}}}});
  std::set<std::string> told;
  std::string system;
  for (const archive::Event& event : events) {
    const LoggedEvent logged = read_event(event);
    if (const Proposed proposed = proposed_in(logged); proposed.kernel && told.insert(*proposed.kernel).second) {
      HONE_TRY(const archive::KernelRow row, store.kernel(*proposed.kernel));
      const std::string source = base::content_hash(row.source);
      if (told.insert(source).second) add_line(out, {{"text", row.source}});
      add_line(out, {{"kernel", row.hash}, {"source", source}, {"language", row.language}, {"config", parsed(row.config_json)}, {"parent", row.parent},
                     {"author", row.author}, {"action", row.action}, {"note", row.note}, {"task_hash", row.task_hash}});
    }
    if (const auto* const asked = logged.as<event::Asked>()) {
      HONE_TRY(const std::string blob, store.blob(asked->request));
      json request = parsed(blob);
      // The same for all of a run, and long.
      if (const std::string its = request.at("system"); its != system) add_line(out, {{"system", system = its}});
      request.erase("system");
      if (told.insert(asked->request).second) add_line(out, {{"question", asked->request}, {"request", request}});
    }
    add_line(out, {{"event", event.kind}, {"body", parsed(event.json)}});
  }
  return out;
}

Result<TranscriptReplay> replay_transcript(std::string_view text) try {
  return replay(text);
} catch (const json::exception& e) {
  return fail(ErrorCode::kCorrupt, fmt::format("the transcript lacks what it must have ({})", e.what()));
}

}  // namespace hone::engine
