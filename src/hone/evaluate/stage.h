// The stage on which one workload is played: shared memory for inputs and outputs of several calls,
// the drawn contents, the poison, the guards, and the check afterwards. The grader's side only: no
// session ever sees an expected answer. One thread drives a stage.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/evaluate/error_kind.h"
#include "hone/evaluate/facts.h"
#include "hone/evaluate/oracle/oracle.h"
#include "hone/evaluate/verdict.h"
#include "hone/evaluate/verify/inputs.h"
#include "hone/target/card.h"
#include "hone/target/device/session.h"
#include "hone/task/task.h"

namespace hone::evaluate {

/// Elements of an output that check_some() compares in a slot.
inline constexpr int64_t kSomeElements = 1 << 12;

struct StageOptions {
  int calls = 1;        ///< separate sets of buffers: the most calls that one batch may hold
  int contents = 4;     ///< different input contents among them
  /// Every tensor begins or ends where mapped memory does, so that reading or writing past it faults: in some slots
  /// the one, in others the other. Takes a region a tensor and call: few calls only.
  bool edge = false;
  int threads = 2;      ///< for drawing and checking
  /// The largest share of its bound that an error of the kernel in question had so far, on whichever stage; none: bounds are always
  /// learnt to the end.
  std::shared_ptr<double> nearest;
  /// Where the buffers lie; none: in this machine's memory.
  std::shared_ptr<target::Card> card;
  /// Where non-finite numbers are found the whole output is judged, if that costs the oracle no more for each thread (work_of_whole(); four
  /// seconds); else the usual sample and some of those numbers.
  double most_work_whole = 0x1p32;
  /// Where what is known of the task at this shape is looked up and kept; none: nowhere.
  std::shared_ptr<const Facts> facts;
};

/// A stage with edges has no more regions than a session's table holds.
inline constexpr int kMostEdgeRegions = 60;

class Stage {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Stage>> create(const task::Task& task,
                                                             const task::Bindings& bindings,
                                                             const StageOptions& options);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  [[nodiscard]] std::vector<const target::Region*> regions() const;
  [[nodiscard]] target::Card* card() const;   ///< that its buffers are on; null on a CPU
  [[nodiscard]] int calls() const;
  [[nodiscard]] bool edge() const;
  [[nodiscard]] int contents() const;
  /// Bytes of inputs and outputs of one call.
  [[nodiscard]] int64_t call_bytes() const;
  [[nodiscard]] const task::Task& task() const;
  [[nodiscard]] const task::ConcreteGraph& graph() const;
  [[nodiscard]] const task::Bindings& bindings() const;

  /// Draws content number `content` anew in every slot that holds it. On a card large inputs are drawn there, and here
  /// only what answers need, when they are asked for.
  void draw(int content, Family family, uint64_t seed);
  /// Several contents, side by side where they are small.
  struct Draw {
    int content = 0;
    Family family = Family::kNormal;
    uint64_t seed = 0;
  };
  void draw(std::span<const Draw> draws);
  /// A secret seed for one look at a family: of sparse inputs one with which as many as can be have their slabs of zeros,
  /// of non-finite ones, at the first look and every second, one with which as many as can be hold a NaN.
  [[nodiscard]] uint64_t telling_seed(Family family);
  /// The task asks whether numbers of its inputs are the same: drawn one by one they never are.
  [[nodiscard]] bool asks_for_equals() const;
  /// Small whole numbers much of which repeats, or normal values nearly sorted (verify/alike.h); where there is a content a slot.
  void draw_alike(int content, uint64_t seed);
  /// Normal values, with others beside the numbers at which something changes (verify/telling.h), in the task or in a source; where there is
  /// a content a slot. `denormals`: the target keeps them. False where there are no such numbers.
  bool draw_telling(int content, uint64_t seed, std::span<const double> of_source, bool denormals);
  /// Normal values, with whole lines of one kind in some inputs (verify/lines.h); where there is a content a slot. `denormals` as before. False
  /// where no input may have such lines.
  bool draw_lines(int content, uint64_t seed, bool denormals);
  /// Content number `content` becomes nearly the same as `like` was drawn, which may be the same content: of each input so many elements,
  /// at secret places, are those of another draw (a row of a simplex, both of a symmetric pair).
  void draw_near(int content, int like, int64_t changes, uint64_t seed);
  /// Begins, on a thread of its own, what check() will ask about all contents beside the oracle's answers: the anchor's errors on
  /// further inputs. Contents are drawn. Not while a CPU is being timed. Nothing where that is known or begun. What of it is a
  /// card's work is done when this returns.
  void begin_bounds();
  /// Waits for what begin_bounds() began.
  void end_bounds();
  /// Has the oracle answer now what check() would ask it about these slots; of an output in which it accepted non-finite numbers
  /// before, all.
  void answer(std::span<const int> slots);

  /// The call of slot `slot`; its outputs are poisoned by poison().
  [[nodiscard]] target::Call call(int slot) const;
  [[nodiscard]] int content_of(int slot) const;
  [[nodiscard]] Family family_of(int content) const;
  /// Has bounds of inputs of `family` hang less on which draws they come from.
  void refine_bounds(Family family);

  /// Poisons the outputs of these slots and moves them to fresh addresses, each with a word of its own that nobody can
  /// foresee. `plausible`: half of them, chosen at random, get what a call on other inputs has answered instead, so that
  /// nobody can tell by looking whether an output has been poisoned.
  void poison(std::span<const int> slots, bool plausible = false);
  /// Takes the inputs and outputs of these slots out of every cache of the CPU; where it has no instruction for
  /// that, reads twice the last-level cache's size of other memory. On a card Call::cold does what is to be done.
  void evict(std::span<const int> slots);

  /// Checks the outputs of one slot: guards, poison, and the accuracy gate on the content's reference.
  /// A refusal or the accuracy found.
  [[nodiscard]] Verdict check(int slot);
  /// On a target that keeps denormal numbers: a refusal where an output is zero and should be a normal number, being a function of an exact number,
  /// or any other number, being a copy of one. The gate lets that pass below twice the smallest normal number, as hardware may flush what is on the
  /// way there. After check().
  [[nodiscard]] Verdict check_vanished(int slot);
  /// Guards and poison over everything, the gate on nothing: what every timed call gets at least.
  [[nodiscard]] Verdict check_quick(std::span<const int> slots);
  /// The gate on some elements of each of these slots, chosen now: any place as likely as any other, and the ends of
  /// every axis. Errors count for all slots together, as one output's.
  [[nodiscard]] Verdict check_some(std::span<const int> slots);
  /// What the outputs of one slot hold now, in the task's order.
  [[nodiscard]] std::vector<std::span<const std::byte>> outputs(int slot) const;
  /// One output of a slot beside what it should be, element by element, and what the slots `before` should have answered. For explanations:
  /// the whole oracle is asked.
  [[nodiscard]] WrongOutput beside(int slot, size_t output, std::span<const int> before);
  /// What the kernel computed instead in `output` of a slot, `seen` being what beside() says of it; until `until_ns` (computed_instead.h).
  [[nodiscard]] std::optional<Instead> instead(int slot, size_t output, const WrongOutput& seen, int64_t until_ns);
  /// What a call has left in the outputs of a slot, to compare the next one on the same inputs with.
  struct Kept {
    std::vector<std::vector<std::byte>> outputs;
    std::vector<std::optional<PoisonPattern>> poison;
  };
  [[nodiscard]] Kept keep(int slot) const;
  /// A refusal where two calls left the poison in the same place, or differ though the task is deterministic.
  [[nodiscard]] Verdict check_against(int slot, const Kept& before) const;
  /// True when outputs of two slots with the same content, or the same draw of it, are bitwise equal.
  [[nodiscard]] bool same_outputs(int slot_a, int slot_b) const;

 private:
  struct State;
  [[nodiscard]] Clue look_at(int slot, size_t output);
  /// `inputs`: how, in words.
  void draw_altered(int content, Family family, uint64_t seed, std::string_view inputs, const std::function<void(size_t input, std::span<std::byte> data)>& alter);
  explicit Stage(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Small odd shapes, and aligned ones, that a kernel generic in the task's symbols must get right.
/// The same list for a given seed; shapes on which the task itself makes no sense are left out, and those with a
/// tensor of more than `most_elements`, or with more operations than the oracle does in tens of milliseconds. `most_long`: likewise of
/// shapes of which one extent is as large as fits; 0 for none of those.
constexpr int64_t kMostHiddenElements = 1 << 17;
[[nodiscard]] std::vector<task::Bindings> hidden_shapes(const task::Task& task, uint64_t seed, int64_t most_elements = kMostHiddenElements,
                                                        int64_t most_long = kMostHiddenElements);

}  // namespace hone::evaluate
