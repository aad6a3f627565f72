// A piece of work in a process of its own, so that whatever ends that process ends nothing else.
#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "hone/base/file.h"
#include "hone/base/result.h"

namespace hone::face::bench {

/// How long whoever waits for such work sleeps between two looks.
inline constexpr std::chrono::milliseconds kPoll{50};
/// A compiler, a card's first context or an opponent that is made ready polls nothing; nobody who said "at once" waits for these.
inline constexpr std::chrono::milliseconds kPatience{5000};

struct Ended {
  Result<std::string> said;   ///< what the work returned; an error's context is left out
  std::string died_of;        ///< empty, or why it returned nothing: "killed by signal 6 (Aborted)"
};

/// Work under way in a process of its own.
class Apart {
 public:
  /// Forks. What apart() says of this process holds, except that others of this kind may be under way.
  [[nodiscard]] static Result<Apart> begin(const std::function<Result<std::string>()>& work, const std::function<int()>& interrupts);
  /// How it ended; nothing while it goes on. Passes on how often the user asked for an end (twice: at once),
  /// and kills what has not ended `patience` after it was asked to end at once: then it "said" kInterrupted.
  [[nodiscard]] Result<std::optional<Ended>> ended(const std::function<int()>& interrupts, std::chrono::milliseconds patience = kPatience);

 private:
  Apart(int child, base::Fd in, int passed_on) : child_(child), in_(std::move(in)), passed_on_(passed_on) {}
  int child_;
  base::Fd in_;
  int passed_on_;
  std::optional<std::chrono::steady_clock::time_point> at_once_;   // when the user asked for that
};

/// Forks, does `work` in the child and waits. The child is in a process group of its own, out of the terminal's reach,
/// and dies with us; `interrupts` says how often the user asked for an end so far: the child is told the same.
/// Nothing is shared but what is in memory at the fork: until then this process must not have started a thread, a
/// program (base/process) or have an archive open. What the work says is at most 32 KiB.
[[nodiscard]] Result<Ended> apart(const std::function<Result<std::string>()>& work, const std::function<int()>& interrupts);

}  // namespace hone::face::bench
