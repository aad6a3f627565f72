#include "hone/face/bench/work.h"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "hone/engine/workbench.h"
#include "hone/face/bench/apart.h"
#include "hone/face/bench/keep.h"
#include "hone/target/cpu.h"

namespace hone::face::bench {
namespace {

constexpr int kNobody = 0;

/// Which of the processes works on which task, in memory that all of them share.
class Claims {
 public:
  static Result<Claims> make(size_t tasks) {
    const size_t bytes = sizeof(Shared) + tasks * sizeof(std::atomic<int>);
    void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return fail(ErrorCode::kExhausted, fmt::format("no memory to share: {}", std::strerror(errno)));
    return Claims(static_cast<Shared*>(at), tasks, bytes);
  }
  Claims(Claims&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)), tasks_(other.tasks_), bytes_(other.bytes_) {}
  Claims& operator=(Claims&&) = delete;
  ~Claims() {
    if (shared_) ::munmap(shared_, bytes_);
  }

  /// The first task that has no row and nobody works on, now the worker's; none once there is to be an end.
  [[nodiscard]] std::optional<size_t> take(const State& state, int worker) const {
    for (size_t i = 0; i < tasks_ && !shared_->end; ++i) {
      int nobody = kNobody;
      if (!state.entries[i].row && owner(i).compare_exchange_strong(nobody, worker)) return i;
    }
    return std::nullopt;
  }
  /// The one of that worker's that has no row.
  [[nodiscard]] std::optional<size_t> at_hand(const State& state, int worker) const {
    for (size_t i = 0; i < tasks_; ++i)
      if (!state.entries[i].row && owner(i) == worker) return i;
    return std::nullopt;
  }
  [[nodiscard]] bool any_free(const State& state) const {
    for (size_t i = 0; i < tasks_; ++i)
      if (!state.entries[i].row && owner(i) == kNobody) return true;
    return false;
  }
  /// Nobody takes another.
  void end() const { shared_->end = true; }

 private:
  struct Shared {
    std::atomic<bool> end;
  };
  Claims(Shared* shared, size_t tasks, size_t bytes) : shared_(shared), tasks_(tasks), bytes_(bytes) {}
  [[nodiscard]] std::atomic<int>& owner(size_t task) const { return reinterpret_cast<std::atomic<int>*>(shared_ + 1)[task]; }

  Shared* shared_;
  size_t tasks_, bytes_;
};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free, "processes share them");

/// In the other process: what is left and nobody else works on, until something ends it.
Status play_what_is_left(State state, const std::string& target, int worker, const Claims& claims, const Work& work) {
  HONE_TRY(archive::Store store, work.open_archive());
  HONE_TRY(Services services, work.services(store, target));
  services.store = &store;
  services.progress = work.progress;
  services.save = [&](State& s, size_t index) { return keep_entry(work.home, s, index); };
  state.asked.options.target = target;
  state.conditions.place.target = target;
  for (;;) {
    if (work.interrupts() > 0) return fail(ErrorCode::kInterrupted, "interrupted");
    const auto index = claims.take(state, worker);
    if (!index) return {};
    HONE_TRY_VOID(play(state, *index, services));
  }
}

/// The task at hand of the worker that died.
Status blame(State& state, std::optional<size_t> index, const std::string& died_of, const Work& work) {
  if (!index) return {};
  Entry& entry = state.entries[*index];
  entry.row = failed_row(entry.name, {ErrorCode::kInternal, "the process that worked on it was " + died_of}, entry.spent);
  HONE_TRY_VOID(keep_entry(work.home, state, *index));
  if (work.progress) work.progress({Progress::Step::kDone, *index, &state, nullptr, false});
  return {};
}

/// Until nothing is left to take and everybody has ended: a process a target.
class Round {
 public:
  Round(State& state, const Work& work, Claims claims)
      : state_(state), work_(work), claims_(std::move(claims)), targets_(engine::targets_of(state.asked.options.target)), under_way_(targets_.size()) {}

  /// False where the user asked for an end.
  Result<bool> go() {
    for (;;) {
      bool any = false;
      for (size_t i = 0; i < targets_.size(); ++i) {
        HONE_TRY_VOID(look_after(i));
        any |= under_way_[i].has_value();
      }
      if (!any) break;
      std::this_thread::sleep_for(kPoll);
    }
    if (error_) return tl::unexpected(*error_);
    return !interrupted_;
  }

 private:
  Status look_after(size_t i) {
    const int worker = static_cast<int>(i) + 1;
    std::optional<Apart>& process = under_way_[i];
    if (!process) {
      if (error_ || interrupted_ || work_.interrupts() > 0 || !claims_.any_free(state_)) {
        interrupted_ |= work_.interrupts() > 0;
        return {};
      }
      const auto play = [&]() -> Result<std::string> {
        // Of the host too each has a share: checks of both at once, each by as many threads as there are CPUs, took 40 times as long.
        target::keep_to_share(i, targets_.size());
        return play_what_is_left(state_, targets_[i], worker, claims_, work_).map([] { return std::string(); });
      };
      HONE_TRY(process, Apart::begin(play, work_.interrupts));
      return {};
    }
    HONE_TRY(const std::optional<Ended> ended, process->ended(work_.interrupts));
    if (!ended) return {};
    process.reset();
    // Its memory is gone with it; what it kept is what happened.
    HONE_TRY(state_, kept(work_.home, state_.id));
    if (!ended->died_of.empty()) return blame(state_, claims_.at_hand(state_, worker), ended->died_of, work_);
    if (ended->said) return {};
    if (ended->said.error().code == ErrorCode::kInterrupted) {
      interrupted_ = true;
    } else if (!error_) {
      error_ = ended->said.error();
      claims_.end();
    }
    return {};
  }

  State& state_;
  const Work& work_;
  Claims claims_;
  std::vector<std::string> targets_;
  std::vector<std::optional<Apart>> under_way_;
  std::optional<Error> error_;
  bool interrupted_ = false;
};

}  // namespace

Result<bool> work_through(State& state, const Work& work) {
  HONE_TRY_VOID(keep(work.home, state));
  while (!state.finished()) {
    HONE_TRY(Claims claims, Claims::make(state.entries.size()));
    HONE_TRY(const bool goes_on, Round(state, work, std::move(claims)).go());
    if (!goes_on) return false;
  }
  return true;
}

}  // namespace hone::face::bench
