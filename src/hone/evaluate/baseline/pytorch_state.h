// What a PyTorch host, its servers and their sessions hold; private to the PyTorch opponent.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/process/process.h"
#include "hone/evaluate/baseline/pytorch.h"
#include "hone/evaluate/baseline/pytorch_process.h"

namespace hone::evaluate {

struct PytorchHost::State {
  explicit State(base::Child its) : child(std::move(its)) {}
  base::Child child;
  std::mutex mutex;  ///< of the channel: one asks for a server at a time
  Channel channel;
  bool ready = false;               ///< it has said so; under the mutex
  std::atomic<bool> ended = false;  ///< it answered no more

  /// Waits for what it does before its first job. Under the mutex.
  [[nodiscard]] Status await();
  int threads = 1;
  std::string torch_version;
  bool on_card = false;
};

struct PytorchServer::State {
  std::shared_ptr<PytorchHost> host;
  ForkedProcess process;
  Channel channel;
  std::string description;                     ///< of its sessions
  std::vector<target::Region::Access> access;  ///< of each region
  size_t inputs = 0, tensors = 0;
  bool on_card = false;
};

struct PytorchSession::State {
  std::shared_ptr<PytorchServer> server;
  ForkedProcess process;
  Channel channel;
  std::string description;
  std::vector<target::Region::Access> access;  ///< of each region
  size_t inputs = 0, tensors = 0;
  bool on_card = false;
  size_t warmed = 0;  ///< calls in the largest batch so far
  std::string over;   ///< why the session is over; empty while it is not
  int64_t dispatch = -1;  ///< nanoseconds; -1: not measured yet

  /// One command and its reply. False when the session is over; `outcome` then says how.
  bool ask(std::string_view command, size_t payload, Channel::Deadline deadline, std::string& text,
           target::BatchOutcome& outcome);
  /// The same for commands that are not timed.
  bool ask(std::string_view command, target::BatchOutcome& outcome);
  bool prepare(std::span<const target::Call> calls, target::BatchOutcome& outcome);
};

}  // namespace hone::evaluate
