#include "hone/target/gpu/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "hone/base/clock.h"
#include "hone/target/gpu/driver.h"
#include "hone/target/worker/program.h"

namespace hone::target {

using worker::GpuCommand;
using worker::GpuControl;
using worker::GpuState;

namespace {

constexpr std::chrono::seconds kStartDeadline{60};
constexpr size_t kMostWords = 4096;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

Result<std::vector<std::string>> worker_command(const CardInfo& card) {
  HONE_TRY(const std::filesystem::path program, worker_program("hone-gpu"));
  return std::vector{program.string(), card.driver};
}

std::map<std::string, std::string> driver_environment(const CardInfo& card) {
  const gpu::DriverRow* const row = gpu::find_driver(card.driver);
  HONE_CHECK(row, card.driver);
  std::map<std::string, std::string> all = {{"LANG", "C"}};
  std::vector<const char*> names(row->environment.begin(), row->environment.end());
  names.insert(names.end(), {row->library, "LD_LIBRARY_PATH"});
  for (const char* const name : names)
    if (const char* const value = std::getenv(name)) all[name] = value;
  // The process has a folder of its own.
  if (const auto it = all.find(row->library); it != all.end() && it->second.find('/') != std::string::npos)
    it->second = std::filesystem::absolute(it->second).string();
  return all;
}

Result<std::unique_ptr<GpuWorker>> GpuWorker::start(const CardInfo& card) {
  auto made = std::unique_ptr<GpuWorker>(new GpuWorker);
  HONE_TRY_VOID(made->launch(card));
  return made;
}

GpuWorker::~GpuWorker() {
  if (control_) munmap(control_, sizeof(GpuControl));
}

GpuWorker::Answer GpuWorker::ask(GpuCommand command, std::chrono::nanoseconds deadline, std::span<const int> descriptors) {
  control_->outside = 0;
  const int64_t start = base::system_clock().now_ns();
  if (!send(command, descriptors)) return died();
  return await(start, deadline);
}

bool GpuWorker::alive() const {
  // Nobody has asked it anything: whatever it says is its end.
  pollfd watched[2] = {{child_->pidfd(), POLLIN, 0}, {socket_.get(), POLLIN, 0}};
  return usable_ && poll(watched, 2, 0) == 0;
}

Status GpuWorker::launch(const CardInfo& card) {
  const auto exhausted = [](const char* what) { return fail(ErrorCode::kExhausted, fmt::format("cannot {}: {}", what, std::strerror(errno))); };
  fd_ = base::Fd(memfd_create("hone-control", MFD_CLOEXEC));
  if (!fd_ || ftruncate(fd_.get(), sizeof(GpuControl)) != 0) return exhausted("allocate shared memory");
  void* memory = mmap(nullptr, sizeof(GpuControl), PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (memory == MAP_FAILED) return exhausted("map shared memory");
  control_ = static_cast<GpuControl*>(memory);
  control_->card = card.ordinal;
  control_->flush_bytes = flush_bytes(card);
  words_ = base::Fd(memfd_create("hone-words", MFD_CLOEXEC));
  if (!words_ || fcntl(words_.get(), F_SETFL, O_APPEND) != 0) return exhausted("make a file for what a worker prints");
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return exhausted("make a socket");
  socket_ = base::Fd(pair[0]);
  base::Fd other(pair[1]);
  base::SpawnOptions spawn;
  HONE_TRY(spawn.argv, worker_command(card));
  spawn.environment = driver_environment(card);
  spawn.directory = "/";
  spawn.output_limit = kMostWords;
  spawn.descriptors[worker::kGpuControlFd] = fd_.get();
  spawn.descriptors[worker::kGpuSocketFd] = other.get();
  spawn.descriptors[worker::kGpuWordsFd] = words_.get();
  HONE_TRY(base::Child child, base::Child::spawn(spawn));
  child_ = std::make_unique<base::Child>(std::move(child));
  // While we hold the other end too, the worker's end cannot be seen.
  other = base::Fd();
  const Answer answer = await(base::system_clock().now_ns(), kStartDeadline);
  if (!answer.done()) return fail(ErrorCode::kUnavailable, fmt::format("card {} cannot be used: {}", card.ordinal, answer.why));
  usable_ = true;
  return {};
}

bool GpuWorker::send(GpuCommand command, std::span<const int> descriptors) {
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int) * (worker::kMaxRegions + 1))] = {};
  iovec part{&command, sizeof command};
  msghdr message{};
  message.msg_iov = &part, message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = space, message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(head), descriptors.data(), descriptors.size_bytes());
  }
  return sendmsg(socket_.get(), &message, MSG_NOSIGNAL) == sizeof command;
}

GpuWorker::Answer GpuWorker::await(int64_t start, std::chrono::nanoseconds deadline) {
  const int64_t end = start + deadline.count();
  for (;;) {
    const int64_t left = end - base::system_clock().now_ns();
    pollfd word{socket_.get(), POLLIN, 0};
    const int got = poll(&word, 1, static_cast<int>(std::clamp<int64_t>((left + 999'999) / 1'000'000, 0, 1000)));
    if (got < 0 && errno != EINTR) return died();
    if (got > 0) {
      Answer answer;
      if (recv(socket_.get(), &answer.state, sizeof answer.state, 0) != sizeof answer.state) return died();
      answer.wall_ns = base::system_clock().now_ns() - start;
      control_->why[sizeof control_->why - 1] = 0;
      answer.why = control_->why;
      if (answer.state != GpuState::kFault && answer.state != GpuState::kBroken) return answer;
      usable_ = false;
      answer.words = words();
      // A device's assert says where it was.
      if (!answer.words.empty()) answer.why += ": " + first_line(answer.words);
      return answer;
    }
    if (left <= 0) {
      usable_ = false;
      child_->kill();
      return {Answer::How::kDeadline, GpuState::kBroken, 0,
              fmt::format("did not finish within {:.1f} s", static_cast<double>(deadline.count()) * 1e-9), words()};
    }
  }
}

GpuWorker::Answer GpuWorker::died() {
  usable_ = false;
  const base::Exit exit = child_->wait(std::chrono::seconds(5));
  std::string said = exit.err + words();
  std::string why = "the card's worker has ended, " + exit.describe();
  if (!said.empty()) why += ": " + first_line(said);
  return {Answer::How::kDied, GpuState::kBroken, 0, std::move(why), std::move(said)};
}

std::string GpuWorker::words() const {
  std::string text(kMostWords, '\0');
  const ssize_t got = pread(words_.get(), text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

GpuWorkers::GpuWorkers() : starter_([this] { start_for_others(); }) {}

GpuWorkers::~GpuWorkers() {
  {
    const std::scoped_lock lock(starts_mutex_);
    over_ = true;
  }
  asked_.notify_one();
  starter_.join();
}

void GpuWorkers::start_for_others() {
  std::unique_lock lock(starts_mutex_);
  for (;;) {
    asked_.wait(lock, [this] { return over_ || !starts_.empty(); });
    if (starts_.empty()) return;
    Start next = std::move(starts_.front());
    starts_.pop_front();
    lock.unlock();
    next();
    lock.lock();
  }
}

void GpuWorkers::ask_for(Start start) {
  {
    const std::scoped_lock lock(starts_mutex_);
    starts_.push_back(std::move(start));
  }
  asked_.notify_one();
}

Result<std::unique_ptr<GpuWorker>> GpuWorkers::start(const CardInfo& card) {
  Start task([&card] { return GpuWorker::start(card); });
  auto started = task.get_future();
  ask_for(std::move(task));
  return started.get();
}

void GpuWorkers::expect(const CardInfo& card, int sessions) {
  int count;
  {
    const std::scoped_lock lock(mutex_);
    // The last one to be had has a choice too.
    count = sessions + static_cast<int>(kChoice) - 1 - static_cast<int>(waiting_.size()) - expected_;
    expected_ += std::max(count, 0);
  }
  for (; count > 0; --count)
    ask_for(Start([this, card]() -> Result<std::unique_ptr<GpuWorker>> {
      bool over;
      {
        const std::scoped_lock lock(starts_mutex_);
        over = over_;
      }
      auto started = over ? nullptr : GpuWorker::start(card);
      {
        const std::scoped_lock lock(mutex_);
        --expected_;
        // Why one does not start is said to whoever needs one and starts it.
        if (started && *started) waiting_.push_back(std::move(*started));
      }
      came_.notify_all();
      return nullptr;
    }));
}

Result<std::unique_ptr<GpuWorker>> GpuWorkers::take(const CardInfo& card) {
  std::unique_lock lock(mutex_);
  for (;;) {
    std::erase_if(waiting_, [](const auto& worker) { return !worker->alive(); });
    if (waiting_.size() >= kChoice) break;
    if (expected_ > 0) {
      came_.wait(lock);
      continue;
    }
    lock.unlock();
    HONE_TRY(auto started, start(card));
    lock.lock();
    waiting_.push_back(std::move(started));
  }
  std::swap(waiting_[rng_.below(waiting_.size())], waiting_.back());
  auto worker = std::move(waiting_.back());
  waiting_.pop_back();
  return worker;
}

void GpuWorkers::give_back(std::unique_ptr<GpuWorker> worker) {
  const std::scoped_lock lock(mutex_);
  waiting_.push_back(std::move(worker));
}

}  // namespace hone::target
