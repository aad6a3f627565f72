// Host and server: Python processes that import and compile once, and fork.
#include <fmt/format.h>

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "hone/evaluate/baseline/pytorch_state.h"
#include "hone/target/cpu.h"

namespace hone::evaluate {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kControl = 3;  // the host's descriptor, as the helper sees it
constexpr std::chrono::minutes kImport{5};
constexpr std::chrono::minutes kFork{1};  // mapping gigabytes takes a while

std::string_view matmul_precision(task::Track track) {
  switch (track) {
    case task::Track::kTf32:
    case task::Track::kF16:  // the same mantissa
      return "high";
    case task::Track::kBf16:
      return "medium";
    case task::Track::kStrict:
    case task::Track::kAsPytorch:
      break;
  }
  return "highest";
}

Result<nlohmann::json> tensor_type(const task::TensorType& type, const task::Bindings& bindings) {
  nlohmann::json shape = nlohmann::json::array();
  for (const task::IntExpr& dim : type.dims) {
    HONE_TRY(const int64_t extent, dim.eval(bindings));
    shape.push_back(extent);
  }
  return nlohmann::json{{"dtype", task::numpy_name_of(type.dtype)}, {"shape", std::move(shape)}};
}

/// What server and session have in common at their start: forked, and not ready yet.
struct Forked {
  ForkedProcess process;
  Channel channel;
};

/// Asks `parent` for a child that talks over a socket of its own. `message` follows the command.
Result<Forked> ask_for_fork(Channel& parent, char command, std::string_view message,
                            std::vector<int> descriptors) {
  const auto deadline = SteadyClock::now() + kFork;
  HONE_TRY(auto pair, socket_pair());
  descriptors.insert(descriptors.begin(), pair.second.get());
  Reply forked{Reply::How::kClosed, {}};
  int64_t pid = 0;
  if (parent.send(command, descriptors) && parent.send(message, deadline)) forked = parent.receive(sizeof pid, deadline);
  if (forked.how != Reply::How::kDone)
    return fail(ErrorCode::kUnavailable, "PyTorch's process forks no other: " + (forked.text.empty() ? "it has ended" : forked.text));
  std::memcpy(&pid, forked.text.data(), sizeof pid);
  return Forked{ForkedProcess(static_cast<int>(pid)), Channel(std::move(pair.first))};
}

std::string why(const Reply& reply) {
  switch (reply.how) {
    case Reply::How::kError: return reply.text;
    case Reply::How::kDeadline: return "no answer before the deadline";
    default: return "its process has ended";
  }
}

/// Hosts that opponents share.
struct Known {
  std::mutex mutex;
  std::map<std::pair<int, bool>, Result<std::shared_ptr<PytorchHost>>> hosts;
};

/// Never destroyed: threads may still use it while the process ends, and the hosts end with the process.
Known& known_hosts() {
  static Known& known = *new Known;
  return known;
}

/// A mode of torch.compile, nothing for eager.
const char* compile_mode(PytorchMode mode) {
  switch (mode) {
    case PytorchMode::kEager: return "";
    case PytorchMode::kCompiled: return "default";
    case PytorchMode::kAutotuned: return "max-autotune-no-cudagraphs";
  }
  return "";
}

std::pair<int, bool> host_key(int threads, bool on_card) { return {threads > 0 ? threads : target::cpu_info().threads, on_card}; }

Result<nlohmann::json> job_for(const task::Task& task, const task::Bindings& bindings, PytorchMode mode, int threads) {
  HONE_TRY(std::string source, emit_pytorch(task, bindings));
  nlohmann::json job = {{"source", std::move(source)},
                        {"compile", compile_mode(mode)},
                        {"threads", threads},
                        {"matmul_precision", matmul_precision(task.track)},
                        {"inputs", task.inputs.size()},
                        {"tensors", nlohmann::json::array()},
                        {"regions", nlohmann::json::array()}};
  for (const task::InputSpec& input : task.inputs) {
    HONE_TRY(auto type, tensor_type(input.type, bindings));
    job["tensors"].push_back(std::move(type));
  }
  for (const auto& [name, output] : task.outputs) {
    HONE_TRY(auto type, tensor_type(output, bindings));
    job["tensors"].push_back(std::move(type));
  }
  return job;
}

}  // namespace

Status PytorchHost::State::await() {
  if (ready) return {};
  if (const Reply reply = channel.receive(0, SteadyClock::now() + kImport); reply.how != Reply::How::kDone) {
    ended = true;
    return fail(ErrorCode::kUnavailable, "PyTorch does not start: " + why(reply));
  }
  ready = true;
  return {};
}

PytorchHost::PytorchHost(std::unique_ptr<State> state) : state_(std::move(state)) {}
PytorchHost::~PytorchHost() = default;
PytorchServer::PytorchServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
PytorchServer::~PytorchServer() = default;

Result<std::shared_ptr<PytorchHost>> PytorchHost::start(int threads, bool on_card, Readiness readiness) {
  const Result<PythonTorch>& python = find_pytorch();
  if (!python) return tl::unexpected(python.error());
  HONE_TRY(auto pair, socket_pair());
  if (threads <= 0) threads = target::cpu_info().threads;
  base::SpawnOptions spawn;
  spawn.argv = {python->python.string(), "-c", helper_text("baseline/pytorch_helper.py")};
  if (readiness != Readiness::kImported) spawn.argv.emplace_back(readiness == Readiness::kCompiler ? "compile" : "modules");
  spawn.environment = pytorch_environment(on_card);
  spawn.environment["OMP_NUM_THREADS"] = std::to_string(threads);
  spawn.descriptors[kControl] = pair.second.get();
  spawn.capture_output = false;
  HONE_TRY(base::Child child, base::Child::spawn(spawn));
  pair.second = base::Fd();
  auto state = std::make_unique<State>(std::move(child));
  state->channel = Channel(std::move(pair.first));
  state->threads = threads;
  state->torch_version = python->torch_version;
  state->on_card = on_card;
  if (readiness == Readiness::kCompiler) {
    HONE_TRY_VOID(state->await());
  }
  return std::shared_ptr<PytorchHost>(new PytorchHost(std::move(state)));
}

Result<std::shared_ptr<PytorchHost>> PytorchHost::shared(int threads, bool on_card, Readiness readiness) {
  Known& known = known_hosts();
  const std::scoped_lock lock(known.mutex);
  const auto key = host_key(threads, on_card);
  if (const auto it = known.hosts.find(key); it != known.hosts.end()) return it->second;
  return known.hosts.emplace(key, start(threads, on_card, readiness)).first->second;
}

bool PytorchHost::forget_ended(const std::shared_ptr<PytorchHost>& host) {
  if (!host->state_->ended) return false;
  Known& known = known_hosts();
  const std::scoped_lock lock(known.mutex);
  std::erase_if(known.hosts, [&](const auto& one) { return one.second && *one.second == host; });
  return true;
}

std::string_view name_of(PytorchMode mode) {
  switch (mode) {
    case PytorchMode::kEager: return "eager";
    case PytorchMode::kCompiled: return "compiled";
    case PytorchMode::kAutotuned: return "autotuned";
  }
  return "";
}

Result<std::shared_ptr<PytorchServer>> PytorchServer::start(std::shared_ptr<PytorchHost> host, const task::Task& task,
                                                            const task::Bindings& bindings,
                                                            const std::vector<const target::Region*>& regions,
                                                            const PytorchOptions& options) {
  const int threads = options.threads > 0 ? options.threads : host->state_->threads;
  HONE_TRY(nlohmann::json job, job_for(task, bindings, options.mode, threads));
  if (options.card) {
    HONE_CHECK(host->state_->on_card);
    job["card"] = options.card->ordinal;
    job["cudnn_tf32"] = task.track != task::Track::kStrict;
    job["flush_bytes"] = target::flush_bytes(*options.card);
  }
  auto state = std::make_unique<State>();
  std::vector<int> descriptors;
  for (const target::Region* region : regions) {
    const bool writable = region->access() == target::Region::Access::kOutput;
    job["regions"].push_back({{"bytes", region->size()}, {"writable", writable}});
    descriptors.push_back(region->fd());
    state->access.push_back(region->access());
  }
  const std::string message = framed(job.dump());
  const auto deadline = SteadyClock::now() + options.start_deadline;
  std::unique_lock lock(host->state_->mutex);
  HONE_TRY_VOID(host->state_->await());
  auto asked = ask_for_fork(host->state_->channel, 'J', message, std::move(descriptors));
  if (!asked) {
    host->state_->ended = true;
    return tl::unexpected(asked.error());
  }
  lock.unlock();
  Forked forked = std::move(*asked);
  const std::string_view mode = name_of(options.mode);
  if (const Reply ready = forked.channel.receive(0, deadline); ready.how != Reply::How::kDone)
    return fail(ErrorCode::kUnavailable, fmt::format("PyTorch ({}) cannot run task {}: {}", mode, task.name, why(ready)));
  state->on_card = options.card.has_value();
  state->description = fmt::format("PyTorch {} {}, ", host->state_->torch_version, mode) +
                       (options.card ? options.card->name : fmt::format("{} thread{}", threads, threads == 1 ? "" : "s"));
  state->host = std::move(host);
  state->process = std::move(forked.process);
  state->channel = std::move(forked.channel);
  state->inputs = task.inputs.size();
  state->tensors = task.inputs.size() + task.outputs.size();
  return std::shared_ptr<PytorchServer>(new PytorchServer(std::move(state)));
}

Result<std::unique_ptr<PytorchSession>> PytorchServer::fork(std::shared_ptr<PytorchServer> server) {
  State& s = *server->state_;
  HONE_TRY(Forked forked, ask_for_fork(s.channel, 'F', {}, {}));
  if (const Reply ready = forked.channel.receive(0, SteadyClock::now() + kFork); ready.how != Reply::How::kDone)
    return fail(ErrorCode::kUnavailable, fmt::format("{} does not start: {}", s.description, why(ready)));
  forked.process.freeze();
  auto state = std::make_unique<PytorchSession::State>();
  state->on_card = s.on_card;
  state->process = std::move(forked.process);
  state->channel = std::move(forked.channel);
  state->description = s.description;
  state->access = s.access;
  state->inputs = s.inputs;
  state->tensors = s.tensors;
  state->server = std::move(server);
  return std::unique_ptr<PytorchSession>(new PytorchSession(std::move(state)));
}

}  // namespace hone::evaluate
