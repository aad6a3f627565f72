#include "hone/evaluate/program/program_session.h"

#include <cstring>
#include <random>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/embedded.h"
#include "hone/base/fields.h"
#include "hone/base/process/process.h"
#include "hone/evaluate/baseline/pytorch.h"
#include "hone/evaluate/baseline/pytorch_process.h"
#include "hone/target/cpu.h"

namespace hone::evaluate {
namespace {

using base::Json;
namespace fs = std::filesystem;

constexpr int kRequests = 3;  // the process's descriptor
constexpr std::chrono::minutes kLoad{20}, kCompose{20}, kQuick{1};
constexpr std::chrono::minutes kRuns{20};
constexpr uint32_t kMostAnswer = uint32_t{256} << 20;  // bytes: a capture of a large model takes a few MiB
constexpr std::chrono::hours kAttached{24};  // it answers when the user calls the model the next time

/// A text that the process sent, or what it sent instead.
std::string text_of(const Json& json) { return json.is_string() ? json.get<std::string>() : base::canonical_json(json); }

/// Folders that a Python reads its modules from.
Result<std::vector<fs::path>> folders_of(const fs::path& python) {
  base::SpawnOptions spawn;
  spawn.argv = {python.string(), "-c", "import json, sys\nprint(json.dumps([p for p in (sys.prefix, sys.base_prefix, *sys.path) if p]))"};
  spawn.environment = pytorch_environment();
  HONE_TRY(const base::Exit exit, base::run(spawn, std::chrono::minutes(1)));
  const Json list = Json::parse(exit.out, nullptr, false);
  if (!exit.ok() || !list.is_array()) return fail(ErrorCode::kUnavailable, fmt::format("{} does not say where its modules are: {}", python.string(), exit.describe()));
  std::vector<fs::path> folders;
  for (const Json& one : list) {
    std::error_code ignored;
    if (fs::path path = text_of(one); fs::exists(path, ignored)) folders.push_back(std::move(path));
  }
  return folders;
}

/// What a process needs that computes on a card: its devices, and how they are found.
void let_use_cards(base::Jail& jail) {
  jail.card = true;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/dev", ignored))
    if (entry.path().filename().string().starts_with("nvidia")) jail.writable.push_back(entry.path());
  for (const char* path : {"/sys/bus/pci", "/sys/devices", "/sys/module"})
    if (fs::exists(path, ignored)) jail.readable.emplace_back(path);
}

/// Compilers that inductor and Triton call, where they are installed beside /usr: their own folders.
void show_compilers(base::Jail& jail, const std::map<std::string, std::string>& environment) {
  std::vector<fs::path> programs;
  for (const char* name : {"CC", "CXX"})
    if (const auto named = environment.find(name); named != environment.end()) programs.emplace_back(named->second);
  if (const auto path = environment.find("PATH"); path != environment.end())
    for (std::string_view rest = path->second; !rest.empty();) {
      const std::string_view folder = rest.substr(0, rest.find(':'));
      rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
      for (const char* name : {"gcc", "g++", "cc", "c++", "clang", "clang++"}) programs.push_back(fs::path(folder) / name);
    }
  std::error_code ignored;
  for (const fs::path& program : programs) {
    const fs::path real = fs::canonical(program, ignored);
    for (const fs::path& each : {program, real})
      if (each.is_absolute() && !real.empty() && each.parent_path().filename() == "bin")
        for (const char* part : {"bin", "lib", "lib64", "libexec", "include"})
          if (const fs::path folder = each.parent_path().parent_path() / part; fs::exists(folder, ignored)) jail.readable.push_back(folder);
  }
}

base::SpawnOptions process_for(const fs::path& python, std::vector<fs::path> readable, const fs::path& scratch, int threads, bool on_card) {
  base::SpawnOptions spawn;
  const auto session = base::find_embedded("hone_torch/_session.py");
  HONE_CHECK(session.has_value(), "the helper is built in");
  spawn.argv = {python.string(), "-c", fmt::format("{}\n{}", *session, helper_text("program/program_helper.py"))};
  spawn.environment = pytorch_environment(on_card);
  spawn.environment["OMP_NUM_THREADS"] = std::to_string(threads);
  for (const char* name : {"HOME", "TMPDIR", "XDG_CACHE_HOME", "TRITON_CACHE_DIR"}) spawn.environment[name] = scratch.string();
  // PyTorch asks for the user's name, and whoever we are inside need not be listed.
  spawn.environment["USER"] = "hone";
  spawn.environment["TORCHINDUCTOR_CACHE_DIR"] = (scratch / "torchinductor").string();
  spawn.capture_output = false;
  base::Jail jail;
  jail.readable = std::move(readable);
  jail.writable = {scratch};
  jail.file_bytes = int64_t{64} << 30;
  jail.processes = 1024;
  show_compilers(jail, spawn.environment);
  if (on_card) let_use_cards(jail);
  spawn.jail = jail;
  return spawn;
}

/// An output as the process tells it. What it tells amiss is passed over: it can tell us anything anyway.
struct ToldOutput {
  std::string name, dtype;
  bool same_type = false;
  Json ours, eager;
  template <class F>
  void fields(F& f) {
    f.later("name", name), f.later("dtype", dtype), f.later("same_type", same_type), f.later("ours", ours), f.later("eager", eager);
  }
};

OutputOff off_of(const Json& json) {
  OutputOff off;
  base::Notes passed_over;
  base::read_fields(json, off, passed_over);
  return off;
}

/// A message of two lines is one with its hint.
tl::unexpected<Error> refused(const std::string& text) {
  const size_t line = text.find('\n');
  if (line == std::string::npos) return fail(ErrorCode::kInput, text);
  return fail(ErrorCode::kInput, text.substr(0, line), text.substr(line + 1));
}

}  // namespace

struct ProgramSession::State {
  std::optional<base::Child> child;   ///< none: attached
  Channel channel;
  uint64_t seed = 0;
};

std::optional<ProgramSource> program_source(const std::string& text) {
  if (text.ends_with(".py") || text.ends_with(".json")) return ProgramSource{text, {}};
  const size_t colon = text.rfind(".py:");
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  return ProgramSource{text.substr(0, colon + 3), text.substr(colon + 4)};
}

fs::path workloads_of(const fs::path& definition) {
  std::error_code ignored;
  for (const char* name : {"workload.jsonl", "workloads.jsonl"})
    if (const fs::path path = definition.parent_path() / name; fs::exists(path, ignored)) return path;
  fs::path mirrored;
  for (const fs::path& part : definition) mirrored /= part == "definitions" ? "workloads" : part;
  mirrored.replace_extension(".jsonl");
  return fs::exists(mirrored, ignored) ? mirrored : fs::path();
}

ProgramSession::ProgramSession(std::unique_ptr<State> state, base::ScratchDirectory scratch) : state_(std::move(state)), scratch_(std::move(scratch)) {}
ProgramSession::~ProgramSession() = default;

fs::path ProgramSession::constants() const { return scratch_.path() / "constants.pt"; }

Result<std::unique_ptr<ProgramSession>> ProgramSession::start(const ProgramSource& source) {
  std::error_code ignored;
  if (!fs::is_regular_file(source.file, ignored)) return fail(ErrorCode::kNotFound, fmt::format("there is no file {}", source.file.string()));
  const Result<PythonTorch>& python = find_pytorch();
  if (!python) return tl::unexpected(python.error());
  const fs::path file = fs::canonical(source.file, ignored);
  HONE_TRY(auto readable, folders_of(python->python));
  readable.push_back(file.parent_path());
  const fs::path workloads = file.extension() == ".json" ? workloads_of(file) : fs::path();
  for (fs::path up = file.parent_path(); !workloads.empty() && up.has_relative_path(); up = up.parent_path())
    if (up.filename() == "definitions") readable.push_back(up.parent_path());  // tensors of the set's workloads lie there
  HONE_TRY(base::ScratchDirectory scratch, base::ScratchDirectory::create("program"));
  const int threads = source.threads > 0 ? source.threads : target::cpu_info().threads;
  base::SpawnOptions spawn = process_for(python->python, std::move(readable), scratch.path(), threads, source.target != "cpu");
  HONE_TRY(auto pair, socket_pair());
  spawn.descriptors[kRequests] = pair.second.get();
  HONE_TRY(base::Child child, base::Child::spawn(spawn));
  pair.second = base::Fd();  // else nobody would see that the process has ended
  auto state = std::make_unique<State>();
  state->child = std::move(child);
  state->channel = Channel(std::move(pair.first));
  state->seed = std::random_device()();
  std::unique_ptr<ProgramSession> session(new ProgramSession(std::move(state), std::move(scratch)));
  session->description_ = fmt::format("PyTorch {}, {} thread{}", python->torch_version, threads, threads == 1 ? "" : "s");
  HONE_TRY(const Json program, session->ask({{"do", "load"}, {"file", file.string()}, {"function", source.function.empty() ? Json() : Json(source.function)},
                                             {"workload", source.workload}, {"workloads", workloads.empty() ? Json() : Json(workloads.string())}, {"train", source.train}, {"threads", threads}, {"seed", session->state_->seed % 1000000},
                                             {"device", source.target}, {"constants", session->constants().string()}}, kLoad));
  session->capture_ = base::canonical_json(program);
  return session;
}

Result<std::unique_ptr<ProgramSession>> ProgramSession::attach(int descriptor) {
  HONE_TRY(base::ScratchDirectory scratch, base::ScratchDirectory::create("program"));
  auto state = std::make_unique<State>();
  state->channel = Channel(base::Fd(descriptor));
  state->seed = std::random_device()();
  std::unique_ptr<ProgramSession> session(new ProgramSession(std::move(state), std::move(scratch)));
  HONE_TRY(const Json program, session->ask({{"do", "load"}, {"constants", session->constants().string()}}, kLoad));
  session->description_ = fmt::format("PyTorch {}", text_of(program.value("torch", Json())));
  session->capture_ = base::canonical_json(program);
  return session;
}

Status ProgramSession::take_apart(const std::set<std::string>& nodes, const std::vector<std::string>& known) {
  HONE_TRY(const Json program, ask({{"do", "apart"}, {"nodes", nodes}, {"known", known}, {"constants", constants().string()}}, kLoad));
  capture_ = base::canonical_json(program);
  return {};
}

Status ProgramSession::tell(const std::string& what, const Json& more) {
  Json request = more;
  request["do"] = what;
  HONE_TRY([[maybe_unused]] const Json answer, ask(request, kQuick));
  return {};
}

Result<Json> ProgramSession::ask(const Json& request, std::chrono::nanoseconds deadline) {
  if (!state_->child) deadline = kAttached;
  const std::string message = framed(request.dump());
  const auto until = std::chrono::steady_clock::now() + deadline;
  Reply reply{Reply::How::kClosed, {}};
  if (state_->channel.send(message, until)) reply = state_->channel.receive(sizeof(uint32_t), until);
  if (reply.how == Reply::How::kDone) {
    uint32_t length = 0;
    std::memcpy(&length, reply.text.data(), sizeof length);
    if (length > kMostAnswer) return fail(ErrorCode::kUnavailable, fmt::format("the program's process answers {} bytes ({})", length, request.value("do", "")));
    reply = state_->channel.receive(length, until);
  }
  switch (reply.how) {
    case Reply::How::kDone: break;
    case Reply::How::kError: return refused(reply.text);
    case Reply::How::kDeadline: return fail(ErrorCode::kExhausted, fmt::format("the program gives no answer ({})", request.value("do", "")), "try smaller shapes");
    case Reply::How::kClosed:
      return fail(ErrorCode::kUnavailable, fmt::format("the program's process has ended ({}): {}", request.value("do", ""), state_->child ? state_->child->wait(std::chrono::seconds(1)).describe() : "it hung up"),
                  "does it fit into memory, and does python run it?");
  }
  HONE_TRY(Json answer, base::parse_json(reply.text, "the program's process"));
  if (!answer.is_object()) return fail(ErrorCode::kUnavailable, fmt::format("the program's process answers no object ({})", request.value("do", "")));
  return answer;
}

fs::path ProgramSession::package_folder(const fs::path& kept) const { return state_->child ? scratch_.path() : kept; }

Result<std::map<std::string, std::string>> ProgramSession::compose(const fs::path& folder, const std::string& package) {
  HONE_TRY(const Json answer, ask({{"do", "compose"}, {"folder", folder.string()}, {"package", package}}, kCompose));
  std::map<std::string, std::string> refusals;
  const Json reasons = answer.value("refused", Json::object());
  for (const auto& [task, reason] : reasons.items()) refusals[task] = text_of(reason);
  return refusals;
}

Status ProgramSession::use(const std::map<std::string, bool>& tasks) {
  HONE_TRY([[maybe_unused]] const Json answer, ask({{"do", "use"}, {"steps", tasks}}, kQuick));
  return {};
}

Result<ProgramSession::Recording> ProgramSession::record(bool on) {
  HONE_TRY(const Json answer, ask({{"do", "record"}, {"on", on}}, kRuns));
  return Recording{answer.value("on", Json()) == true, text_of(answer.value("why", Json("")))};
}

Result<std::vector<OutputCheck>> ProgramSession::check(int set, int weights) {
  HONE_TRY(const Json answer, ask({{"do", "errors"}, {"set", set}, {"weights", weights}, {"seed", state_->seed % 1000000}}, kRuns));
  std::vector<OutputCheck> all;
  if (answer.contains("wrong")) all.push_back({"results", "", {}, {}, text_of(answer["wrong"])});
  const Json outputs = answer.value("outputs", Json::array());
  for (const Json& row : outputs) {
    ToldOutput told;
    base::Notes passed_over;
    base::read_fields(row, told, passed_over);
    OutputCheck check;
    check.name = told.name;
    check.dtype = told.dtype;
    if (told.ours.contains("wanted")) check.wrong = fmt::format("its shape is {} where the module's is {}", text_of(told.ours.value("shape", Json())), text_of(told.ours["wanted"]));
    if (!told.same_type) check.wrong = "its element type is not the module's";
    check.ours = off_of(told.ours);
    check.eager = off_of(told.eager);
    all.push_back(std::move(check));
  }
  return all;
}

Result<std::map<std::string, StepTime>> ProgramSession::step_times(const std::vector<std::string>& tasks, const std::vector<std::string>& written, double seconds) {
  HONE_TRY(const Json answer, ask({{"do", "steps"}, {"steps", tasks}, {"written", written}, {"seconds", seconds}}, kRuns));
  std::map<std::string, StepTime> times;
  const Json eager = answer.value("eager", Json::object()), kernel = answer.value("kernel", Json::object());
  for (const auto& [step, ns] : eager.items()) times[step].eager_ns = ns.is_number() ? ns.get<double>() : 0;
  for (const auto& [step, ns] : kernel.items()) times[step].kernel_ns = ns.is_number() ? ns.get<double>() : 0;
  return times;
}

Result<ProgramSession::Times> ProgramSession::times(const std::string& against, int pairs, double seconds) {
  HONE_TRY(const Json answer, ask({{"do", "times"}, {"against", against}, {"pairs", pairs}, {"seconds", seconds}, {"seed", state_->seed % 1000000}}, kRuns));
  Times times;
  const Json ours = answer.value("ours", Json::array()), theirs = answer.value("theirs", Json::array());
  for (const Json& ns : ours) times.ours_ns.push_back(ns.is_number() ? ns.get<double>() : 0);
  for (const Json& ns : theirs) times.theirs_ns.push_back(ns.is_number() ? ns.get<double>() : 0);
  if (times.ours_ns.size() != times.theirs_ns.size()) return fail(ErrorCode::kInternal, "times are no pairs");
  return times;
}

}  // namespace hone::evaluate
