#include "hone/evaluate/stage.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <future>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "hone/base/random.h"
#include "hone/base/trace.h"
#include "hone/evaluate/oracle/card/card_reductions.h"
#include "hone/evaluate/oracle/attributes.h"
#include "hone/evaluate/oracle/number.h"
#include "hone/evaluate/oracle/runs.h"
#include "hone/evaluate/oracle/step.h"
#include "hone/evaluate/verify/alike.h"
#include "hone/evaluate/verify/bounds.h"
#include "hone/evaluate/verify/draw/draw_card.h"
#include "hone/evaluate/verify/draw/draw_kernels.h"
#include "hone/evaluate/verify/draw/draw_tensor.h"
#include "hone/evaluate/verify/integer_bounds.h"
#include "hone/evaluate/verify/lines.h"
#include "hone/evaluate/verify/low_half.h"
#include "hone/evaluate/verify/near_bound.h"
#include "hone/evaluate/verify/segments.h"
#include "hone/evaluate/verify/telling.h"
#include "hone/evaluate/parallel.h"
#include "hone/target/cpu.h"
#include "hone/target/device/evict.h"

namespace hone::evaluate {
namespace {

/// False where an answer is no number, or more than the output's type holds: outputs will have to be looked at whole.
bool all_finite(const Reference& reference, task::DType type) {
  for (const Answer& answer : reference.answers)
    for (size_t i = 0; i < answer.value.size(); ++i)  // or where the anchor's is none (gate.h)
      if (!std::isfinite(round_to(type, answer.value[i])) || std::isnan(answer.scale[i])) return false;
  return true;
}

constexpr int64_t kLine = 64;          ///< every tensor starts on a cache line,
constexpr int64_t kCardLine = 256;     ///< and on a card where its own allocator would put it
constexpr int64_t kGuard = 256;        ///< bytes on both sides of an output that must not change

constexpr unsigned char kGuardByte = 0xA7;

/// Elements at edges that are compared of an output of which only a sample is.
constexpr int64_t kEdges = 256;

/// Of the non-finite numbers of an output whose whole answers are too dear, so many are asked about.
constexpr size_t kPlacesNotFinite = 64;

/// Inputs of so many bytes are drawn on a card: smaller ones are uploaded sooner than a draw there is looked over.
constexpr int64_t kDrawnOnCard = int64_t{4} << 20;
/// Calls of so many bytes are drawn one after another, by all threads together; smaller ones side by side.
constexpr int64_t kDrawnByOne = int64_t{1} << 21;
/// Blocks of a tensor drawn on a card that are drawn here too, to be compared.
constexpr int kBlocksCompared = 3;
/// Bytes between two changed places of an input that go to a card with them: one way there takes as long as a megabyte on it.
constexpr int64_t kNearUploads = int64_t{1} << 19;

/// An extent many times that of any workload: a hidden shape is so to show what breaks at such lengths. As accurate as the anchor, which
/// splits its sums, a kernel need be at lengths that anybody asked for.
bool far_longer(const task::Task& task, const task::Bindings& bindings) {
  constexpr int64_t kLong = 8192, kTimes = 16;
  return std::any_of(bindings.begin(), bindings.end(), [&](const auto& symbol) {
    int64_t most = kLong / kTimes;
    for (const task::Workload& workload : task.workloads)
      if (const auto it = workload.bindings.find(symbol.first); it != workload.bindings.end()) most = std::max(most, it->second);
    return symbol.second > kTimes * most;
  });
}

/// How far an output may move from call to call: a page, or about its own size if it is small.
int64_t slack_of(int64_t bytes) { return std::clamp<int64_t>((bytes + 63) / 64 * 64, 512, 4096); }

int64_t round_up(int64_t bytes, int64_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

struct Stage::State {
  /// One drawn set of inputs and what is known of the right answers.
  struct Content {
    Family family = Family::kNormal;
    uint64_t seed = 0;
    int home = 0;                               ///< the slot whose inputs the oracle reads
    std::vector<int> slots;                     ///< that hold it
    std::vector<std::optional<Reference>> sampled, full;   ///< per output
    /// Per input: what the host's copy of `home` holds of it. Of what a card draws, only what somebody reads here.
    std::vector<std::vector<Segment>> here;
    bool altered = false;                       ///< more than its seed says: draw_near()
    std::string inputs;                         ///< how they were drawn, in words
  };

  /// Where an output of a slot lies: a cell with guards around the tensor.
  struct Cell {
    int region = 0;
    int64_t start = 0, size = 0;                ///< of the cell
    int64_t tensor = 0;                         ///< offset of the tensor in the region
    /// What it was filled with last; none where that was another call's answer.
    std::optional<PoisonPattern> poison;
  };

  const task::Task& task;
  StageOptions options;
  task::ConcreteGraph graph;
  std::optional<task::ConcreteGraph> low;               ///< what the mantissa family is judged by, where that is half of each number
  std::vector<int64_t> input_bytes, output_bytes;
  std::vector<DrawBounds> bounds_of_inputs;
  target::CardProgram* drawer = nullptr;                ///< on a card: what draws large inputs there
  std::vector<target::Region> regions;
  std::vector<std::vector<target::Placement>> inputs;   ///< [slot][input]
  std::vector<std::vector<Cell>> cells;                 ///< [slot][output]
  std::vector<int> content_of;                          ///< [slot]
  /// [slot]: seed of the content whose answer its outputs hold; none where they hold poison.
  std::vector<std::optional<uint64_t>> answered;
  std::vector<Content> contents;
  std::optional<Bounds> bounds;                         ///< made when first needed
  std::map<size_t, bool> non_finite;                    ///< outputs in which such numbers belong: whether they are judged whole
  std::vector<std::byte> sweep_area;                      ///< where lines cannot be evicted one by one
  base::Rng rng{base::secret_seed()};
  int non_finite_looks = 0;                             ///< of telling_seed()
  std::future<void> building;                           ///< of what reduces on the card, where that will be needed
  std::future<void> bounding;                           ///< fills `bounds`; last, so that it ends before what it uses

  State(const task::Task& t, const StageOptions& o) : task(t), options(o) {}

  [[nodiscard]] std::byte* at(int region, int64_t offset) const {
    return regions[static_cast<size_t>(region)].data() + offset;
  }
  [[nodiscard]] const task::Shape& output_shape(size_t output) const {
    return graph.shapes[static_cast<size_t>(graph.graph.outputs[output])];
  }
  [[nodiscard]] task::DType output_type(size_t output) const {
    return graph.graph.node(graph.graph.outputs[output]).type.dtype;
  }
  [[nodiscard]] std::byte* output(int slot, size_t index) const {
    const Cell& cell = cells[static_cast<size_t>(slot)][index];
    return at(cell.region, cell.tensor);
  }

  [[nodiscard]] const target::Region& region(int number) const { return regions[static_cast<size_t>(number)]; }
  Result<target::Region> allocate(int64_t bytes, target::Region::Access access) const {
    return options.card ? target::Region::create_on(*options.card, bytes, access) : target::Region::create(bytes, access);
  }
  /// The cell's bytes as the host sees them.
  void fetch(const Cell& cell) const { region(cell.region).download(cell.start, cell.size); }

  [[nodiscard]] const task::Shape& input_shape(size_t input) const {
    return graph.shapes[static_cast<size_t>(graph.graph.inputs[input])];
  }
  /// Each input has a stream of its own: equal specs must not give equal tensors.
  [[nodiscard]] static uint64_t seed_of(const Content& content, size_t input) { return content.seed * 0x9E3779B97F4A7C15 + input; }
  /// The host's copy of a content's input.
  [[nodiscard]] std::byte* home_of(const Content& content, size_t input) const {
    const target::Placement& place = inputs[static_cast<size_t>(content.home)][input];
    return at(place.region, place.offset);
  }
  [[nodiscard]] bool drawn_on_card(size_t input) const {
    return options.card && input_bytes[input] >= kDrawnOnCard && card_draws(task.inputs[input], bounds_of_inputs[input]);
  }
  [[nodiscard]] bool drawn_there(size_t input, Family family) const {
    return drawn_on_card(input) && card_draws(task.inputs[input], bounds_of_inputs[input], family);
  }
  /// Draws what is not there yet of the host's copy.
  void draw_here(Content& content, size_t input, std::vector<Segment> wanted, int threads) const;
  void draw_there(Content& content, size_t input, std::span<const target::Placement* const> places);
  void copy_from_home(const Content& content, size_t input, std::span<const target::Placement* const> places) const;
  /// Draws here what the oracle reads for these boxes of an output, beside what a card covers.
  void draw_for_oracle(Content& content, size_t output, std::span<const Box> boxes, bool whole_output, const Coverage& coverage) const;
  /// Begins to build the program of the card's that does large reductions, if there will be any: that takes seconds once.
  void expect_reductions();
  /// What does the large reductions on the way to these boxes; null where nobody does.
  [[nodiscard]] std::unique_ptr<ReductionHelper> reductions(const Content& content, size_t output, std::span<const Box> boxes) const;

  [[nodiscard]] int64_t line() const { return options.card ? kCardLine : kLine; }
  Status lay_out();
  Status lay_out_edges();
  void guard(const Cell& cell, int64_t bytes) const;
  [[nodiscard]] bool guard_intact(const Cell& cell, int64_t bytes) const;
  void fetch_boxes(const Cell& cell, size_t index, std::span<const Box> boxes) const;
  [[nodiscard]] bool clean_on_card(const Cell& cell, size_t index) const;
  [[nodiscard]] std::optional<PoisonPattern> looked_for(const Cell& cell, size_t index) const;
  [[nodiscard]] Content& content_in(int slot) { return contents[static_cast<size_t>(content_of[static_cast<size_t>(slot)])]; }
  /// The computation whose answers a content's are.
  [[nodiscard]] const task::ConcreteGraph& judged_by(const Content& content) const { return low && content.family == Family::kMantissa ? *low : graph; }
  /// A tensor of that content as that computation has it; `halves` has to live as long.
  [[nodiscard]] TensorView seen(const Content& content, const TensorView& tensor, std::vector<int32_t>& halves) const {
    return &judged_by(content) == &graph ? tensor : low_half(tensor, halves);
  }
  [[nodiscard]] OutputError compared(const Content& content, size_t output, const Reference& known, const std::byte* data, int threads) const;
  [[nodiscard]] Reference make_answers(Content& content, size_t output, const GateOptions& gate) const;
  /// The same at single places of an output.
  [[nodiscard]] Reference answers_at(Content& content, size_t output, std::span<const int64_t> places) const;
  [[nodiscard]] Reference answers_over(Content& content, size_t output, std::vector<Box> boxes, bool whole_output, const std::unique_ptr<ReductionHelper>& helper, int threads) const;
  /// Of integers any may be poison and an answer at once: those always.
  [[nodiscard]] bool whole_is_judged(size_t output) const {
    if (const auto known = non_finite.find(output); known != non_finite.end()) return known->second;
    return !task::is_float(output_type(output)) || work_of_whole(graph, static_cast<int>(output)) <= options.most_work_whole * options.threads;
  }
  const Reference& reference(Content& content, size_t output, bool whole_output);
  Verdict check_output(int slot, size_t index, bool with_gate);
  [[nodiscard]] Clue clue(size_t index, std::string drawn, std::string looks) const;
  [[nodiscard]] Verdict judged_at(size_t index, const OutputError& error, const OutputError& anchor, Family family, bool few = false);
  /// What the host draws of a content, and then all slots that hold it.
  void draw_content(const Draw& draw, int threads);
  void spread(Content& content);
  [[nodiscard]] std::optional<int> stale_source(int slot);
  void fill(int slot, std::optional<int> source, int threads);
  /// The refusal of an output in which the poison was left, or of bools that are none.
  [[nodiscard]] std::optional<Verdict> left_over(size_t index, std::optional<PoisonPattern> poison, const std::byte* data) const;
  Bounds& known_bounds();
  void sweep(int64_t bytes);
};

/// Reads memory that no kernel touches, so that little else stays in a cache.
void Stage::State::sweep(int64_t bytes) {
  if (static_cast<int64_t>(sweep_area.size()) < bytes) sweep_area.assign(static_cast<size_t>(bytes), std::byte{1});
  unsigned sum = 0;
  for (size_t i = 0; i < sweep_area.size(); i += kLine) sum += static_cast<unsigned>(sweep_area[i]);
  HONE_CHECK(sum != 0);
}

Status Stage::State::lay_out() {
  int64_t input_stride = 0, output_stride = 0;
  for (const int64_t bytes : input_bytes) input_stride += round_up(bytes, line()) + line();
  for (const int64_t bytes : output_bytes) output_stride += round_up(bytes, line()) + 2 * kGuard + slack_of(bytes);
  if (!input_bytes.empty()) {
    HONE_TRY(target::Region region, allocate(input_stride * options.calls, target::Region::Access::kInput));
    regions.push_back(std::move(region));
  }
  const int output_region = static_cast<int>(regions.size());
  HONE_TRY(target::Region region, allocate(output_stride * options.calls, target::Region::Access::kOutput));
  regions.push_back(std::move(region));
  for (int slot = 0; slot < options.calls; ++slot) {
    int64_t offset = slot * input_stride;
    auto& places = inputs.emplace_back();
    for (const int64_t bytes : input_bytes) {
      places.push_back({0, offset});
      offset += round_up(bytes, line()) + line();
    }
    offset = slot * output_stride;
    auto& row = cells.emplace_back();
    for (const int64_t bytes : output_bytes) {
      const int64_t size = round_up(bytes, line()) + 2 * kGuard + slack_of(bytes);
      row.push_back({output_region, offset, size, offset + kGuard, {}});
      offset += size;
    }
  }
  return {};
}

Status Stage::State::lay_out_edges() {
  // The runner maps nothing on either side of a region: a tensor at its end has a cliff after it, one at its beginning before it.
  std::vector<uint64_t> turn(input_bytes.size() + output_bytes.size());
  for (uint64_t& first : turn) first = rng.below(2);
  struct Place {
    int64_t offset;
    bool at_end;
  };
  const auto add = [&](int64_t bytes, target::Region::Access access, int slot, size_t tensor) -> Result<Place> {
    HONE_TRY(target::Region region, allocate(round_up(bytes, kLine) + kGuard, access));
    const bool at_end = (static_cast<uint64_t>(slot) + turn[tensor]) % 2 == 0;
    const int64_t offset = at_end ? region.size() - round_up(bytes, kLine) : 0;
    regions.push_back(std::move(region));
    return Place{offset, at_end};
  };
  for (int slot = 0; slot < options.calls; ++slot) {
    auto& places = inputs.emplace_back();
    for (size_t i = 0; i < input_bytes.size(); ++i) {
      HONE_TRY(const Place place, add(input_bytes[i], target::Region::Access::kInput, slot, i));
      places.push_back({static_cast<int32_t>(regions.size()) - 1, place.offset});
    }
    auto& row = cells.emplace_back();
    for (size_t i = 0; i < output_bytes.size(); ++i) {
      HONE_TRY(const Place place, add(output_bytes[i], target::Region::Access::kOutput, slot, input_bytes.size() + i));
      const int64_t start = place.at_end ? place.offset - kGuard : 0;
      const int64_t end = place.at_end ? regions.back().size() : round_up(output_bytes[i], kLine) + kGuard;
      row.push_back({static_cast<int>(regions.size()) - 1, start, end - start, place.offset, {}});
    }
  }
  return {};
}

void Stage::State::guard(const Cell& cell, int64_t bytes) const {
  const target::Region& home = region(cell.region);
  if (home.on_card()) {
    home.fill(cell.start, cell.tensor - cell.start, kGuardByte, 1);
    home.fill(cell.tensor + bytes, cell.start + cell.size - cell.tensor - bytes, kGuardByte, 1);
    return;
  }
  std::memset(at(cell.region, cell.start), kGuardByte, static_cast<size_t>(cell.tensor - cell.start));
  const int64_t end = cell.tensor + bytes;
  std::memset(at(cell.region, end), kGuardByte, static_cast<size_t>(cell.start + cell.size - end));
}

bool Stage::State::guard_intact(const Cell& cell, int64_t bytes) const {
  const auto intact = [&](int64_t from, int64_t to) {
    const auto* begin = reinterpret_cast<const unsigned char*>(at(cell.region, from));
    return std::all_of(begin, begin + (to - from), [](unsigned char b) { return b == kGuardByte; });
  };
  return intact(cell.start, cell.tensor) && intact(cell.tensor + bytes, cell.start + cell.size);
}

void Stage::State::fetch_boxes(const Cell& cell, size_t index, std::span<const Box> boxes) const {
  const task::Shape& shape = output_shape(index);
  const int64_t element = task::size_of(output_type(index));
  std::vector<target::Piece> pieces;
  for (const Box& box : boxes)
    for_each_piece(shape, box, [&](int64_t first, int64_t length) { pieces.push_back({cell.tensor + first * element, length * element}); });
  region(cell.region).download(pieces, static_cast<int>(element));
}

bool Stage::State::clean_on_card(const Cell& cell, size_t index) const {
  const target::Region& home = region(cell.region);
  const int64_t bytes = output_bytes[index], before = cell.tensor - cell.start, after = cell.start + cell.size - cell.tensor - bytes;
  const task::DType type = output_type(index);
  if (home.count(cell.start, before, 1, kGuardByte, 0) != before || home.count(cell.tensor + bytes, after, 1, kGuardByte, 0) != after) return false;
  const auto holding = [&](PoisonPattern of) {
    return home.count(cell.tensor, task::element_count(output_shape(index)), static_cast<int>(task::size_of(type)), of.bits, of.exponent);
  };
  if (type == task::DType::kBool) return holding({0, 0}) + holding({1, 0}) == task::element_count(output_shape(index));
  const auto unwanted = looked_for(cell, index);
  return !unwanted || holding(*unwanted) == 0;
}

/// What nobody should find in an output: elements that are not finite, or only its own poison where others belong there.
std::optional<PoisonPattern> Stage::State::looked_for(const Cell& cell, size_t index) const {
  if (output_type(index) == task::DType::kBool) return PoisonPattern{};  // whatever is neither 0 nor 1
  // Of 256 or 65,536 words any may be an answer.
  const task::DType type = output_type(index);
  if (task::is_f8(type) || (task::size_of(type) < 4 && !task::is_float(type))) return std::nullopt;
  std::optional<PoisonPattern> pattern = cell.poison;
  if (!pattern && task::is_float(output_type(index))) pattern = poison_pattern(output_type(index), 0);
  if (pattern && non_finite.contains(index)) pattern->exponent = 0;
  if (pattern && !cell.poison && pattern->exponent == 0) return std::nullopt;
  return pattern;
}

void Stage::State::draw_here(Content& content, size_t input, std::vector<Segment> wanted, int threads) const {
  const task::InputSpec& spec = task.inputs[input];
  // A symmetric matrix is mirrored whole.
  if (spec.structure == task::Structure::kSymmetric) wanted = {{0, task::element_count(input_shape(input))}};
  std::vector<Segment>& here = content.here[input];
  const std::vector<Segment> missing = without(wanted, here);
  if (missing.empty()) return;
  const base::Span span("draw on the host");
  evaluate::draw(spec, input_shape(input), bounds_of_inputs[input], content.family, seed_of(content, input), home_of(content, input), threads,
                 &missing);
  here.insert(here.end(), missing.begin(), missing.end());
  merge(here);
}

void Stage::State::draw_there(Content& content, size_t input, std::span<const target::Placement* const> places) {
  const task::InputSpec& spec = task.inputs[input];
  const int64_t count = task::element_count(input_shape(input)), element = task::size_of(spec.type.dtype);
  std::vector<Segment> compared;
  for (int i = 0; i < kBlocksCompared; ++i) {
    const auto first = static_cast<int64_t>(rng.below(static_cast<uint64_t>((count + kDrawBlock - 1) / kDrawBlock))) * kDrawBlock;
    compared.push_back({first, std::min(first + kDrawBlock, count)});
  }
  merge(compared);
  draw_here(content, input, compared, options.threads);
  const std::byte* const host = home_of(content, input);
  std::vector<std::byte> found;
  for (const target::Placement* place : places) {
    const target::Region& home = region(place->region);
    draw_on_card(*drawer, spec, input_shape(input), bounds_of_inputs[input], content.family, seed_of(content, input),
                 home.address() + static_cast<uint64_t>(place->offset));
    for (const Segment& s : compared) {
      found.resize(static_cast<size_t>((s.end - s.begin) * element));
      home.peek(place->offset + s.begin * element, found.data(), static_cast<int64_t>(found.size()));
      HONE_CHECK(std::memcmp(found.data(), host + s.begin * element, found.size()) == 0,
                 fmt::format("the card draws other bits than the host: input {}, {}, from element {}", spec.name, name_of(content.family), s.begin));
    }
  }
}

void Stage::State::copy_from_home(const Content& content, size_t input, std::span<const target::Placement* const> places) const {
  const std::byte* const data = home_of(content, input);
  for (const target::Placement* place : places) {
    std::byte* const to = at(place->region, place->offset);
    if (region(place->region).on_card()) {
      const base::Span uploading("upload");
      region(place->region).upload(place->offset, data, input_bytes[input]);
    } else if (to != data) {
      std::memcpy(to, data, static_cast<size_t>(input_bytes[input]));
    }
  }
}

void Stage::State::draw_for_oracle(Content& content, size_t output, std::span<const Box> boxes, bool whole_output,
                                   const Coverage& coverage) const {
  const size_t count = task.inputs.size();
  std::vector<size_t> partly;
  for (size_t i = 0; i < count; ++i)
    if (drawn_on_card(i)) partly.push_back(i);
  if (partly.empty()) return;
  std::vector<std::vector<Segment>> read(count);
  if (whole_output)
    for (size_t i = 0; i < count; ++i) read[i] = {{0, task::element_count(input_shape(i))}};
  else
    add_what_is_read(graph, static_cast<int>(output), boxes, read, coverage);
  for (const size_t i : partly) draw_here(content, i, std::move(read[i]), options.threads);
}

void Stage::State::expect_reductions() {
  if (!options.card) return;
  for (size_t output = 0; output < task.outputs.size(); ++output) {
    const std::vector<Box> boxes = plan_boxes(graph, static_cast<int>(output), {});
    if (cover_reductions(graph, task.track, static_cast<int>(output), boxes, 0).empty()) continue;
    building = std::async(std::launch::async, [card = options.card] { (void)card->program("reduce.cu", reduce_source()); });
    return;
  }
}

std::unique_ptr<ReductionHelper> Stage::State::reductions(const Content& content, size_t output, std::span<const Box> boxes) const {
  if (!options.card || &judged_by(content) != &graph) return nullptr;
  Coverage coverage = cover_reductions(graph, task.track, static_cast<int>(output), boxes, base::secret_seed());
  if (coverage.empty()) return nullptr;
  std::vector<uint64_t> addresses;
  for (const target::Placement& place : inputs[static_cast<size_t>(content.home)])
    addresses.push_back(region(place.region).address() + static_cast<uint64_t>(place.offset));
  auto made = CardReductions::create(*options.card, graph, task.track, std::move(coverage), std::move(addresses));
  if (!made) return nullptr;
  return std::move(*made);
}

Reference Stage::State::make_answers(Content& content, size_t output, const GateOptions& gate) const {
  const base::Span span("oracle");
  const bool whole_output = gate.full_limit == INT64_MAX;
  std::vector<Box> boxes = plan_boxes(graph, static_cast<int>(output), gate);
  const std::unique_ptr<ReductionHelper> helper = reductions(content, output, boxes);
  if (helper) boxes = plan_boxes(graph, static_cast<int>(output), gate, helper->coverage());
  return answers_over(content, output, std::move(boxes), whole_output, helper, gate.threads);
}

Reference Stage::State::answers_at(Content& content, size_t output, std::span<const int64_t> places) const {
  const base::Span span("oracle at some places");
  const task::Shape& shape = output_shape(output);
  std::vector<Box> boxes;
  for (int64_t place : places) {
    Box& box = boxes.emplace_back(Box{shape, task::Shape(shape.size(), 1)});
    for (size_t d = shape.size(); d-- > 0; place /= shape[d]) box.start[d] = place % shape[d];
  }
  const std::unique_ptr<ReductionHelper> helper = reductions(content, output, boxes);
  return answers_over(content, output, std::move(boxes), false, helper, options.threads);
}

Reference Stage::State::answers_over(Content& content, size_t output, std::vector<Box> boxes, bool whole_output, const std::unique_ptr<ReductionHelper>& helper,
                                     int threads) const {
  draw_for_oracle(content, output, boxes, whole_output, helper ? helper->coverage() : Coverage{});
  const task::ConcreteGraph& of = judged_by(content);
  std::vector<TensorView> views;
  std::vector<std::vector<int32_t>> halves(task.inputs.size());
  for (size_t i = 0; i < task.inputs.size(); ++i)
    views.push_back(seen(content, {task.inputs[i].type.dtype, input_shape(i), home_of(content, i)}, halves[i]));
  const Oracle oracle(of, std::move(views), task.track, threads, helper.get());
  return make_reference(of, oracle, task.track, static_cast<int>(output), std::move(boxes), threads);
}

OutputError Stage::State::compared(const Content& content, size_t output, const Reference& known, const std::byte* data, int threads) const {
  std::vector<int32_t> halves;
  const TensorView found = seen(content, {output_type(output), output_shape(output), data}, halves);
  return compare_output(judged_by(content), static_cast<int>(output), known, found.data, threads);
}

const Reference& Stage::State::reference(Content& content, size_t output, bool whole_output) {
  auto& kept = whole_output ? content.full[output] : content.sampled[output];
  if (!kept) {
    GateOptions gate;
    gate.sample_seed = base::secret_seed();
    gate.threads = options.threads;
    gate.edges = kEdges;
    if (whole_output) gate.full_limit = INT64_MAX;
    kept = make_answers(content, output, gate);
  }
  return *kept;
}

Bounds& Stage::State::known_bounds() {
  if (bounding.valid()) bounding.get();
  if (!bounds) bounds.emplace(task, graph, base::secret_seed(), options.threads, options.facts, options.card);
  return *bounds;
}

Clue Stage::State::clue(size_t index, std::string drawn, std::string looks) const {
  const auto at = std::ranges::find_if(task.workloads, [&](const task::Workload& workload) { return workload.bindings == graph.bindings; });
  return {task.outputs[index].first, std::move(drawn), at == task.workloads.end() ? "" : at->name, std::move(looks)};
}

std::optional<Verdict> Stage::State::left_over(size_t index, std::optional<PoisonPattern> poison, const std::byte* data) const {
  const task::DType type = output_type(index);
  if (task::is_int(type)) return std::nullopt;  // any integer may be right
  const int64_t count = task::element_count(output_shape(index));
  const std::string& name = task.outputs[index].first;
  const std::string where = fmt::format("(shape: {})", task::bindings_text(graph.bindings));
  if (type == task::DType::kBool)
    return Verdict{VerdictKind::kWrong,
                   fmt::format("{}: {} of {} elements are neither 0 nor 1, as a bool is {}", name, count_poison(type, {}, data, count, options.threads), count, where), {}, {},
                   clue(index, "", "bools that are neither 0 nor 1")};
  const int64_t unwritten = poison ? count_unwritten(type, *poison, data, count, options.threads) : 0;
  if (unwritten == 0) return std::nullopt;
  return Verdict{VerdictKind::kWrong, fmt::format("{}: nothing was written to {} of {} elements {}", name, unwritten, count, where), {}, {},
                 clue(index, "", unwritten == count ? "nothing was written to it" : "nothing was written to some of its elements")};
}

/// `few`: of a few rows, say, which may be more exposed than others; then what the anchor loses on them counts by itself.
Verdict Stage::State::judged_at(size_t index, const OutputError& error, const OutputError& anchor, Family family, bool few) {
  const std::string& name = task.outputs[index].first;
  Bound bound = options.nearest ? known_bounds().deciding(static_cast<int>(index), family, anchor, error, *options.nearest)
                                : known_bounds().of(static_cast<int>(index), family, anchor);
  if (few) {
    const Bound alone = bound_of(graph, task.track, static_cast<int>(index), {anchor}, Bounds::kSlack);
    bound = {std::max(bound.max, alone.max), std::max(bound.rms, alone.rms)};
  }
  Verdict verdict;
  verdict.accuracy = Accuracy{name, std::string(name_of(family)), task::bindings_text(graph.bindings), error.max, anchor.max, bound.max, error.rms, bound.rms};
  if (const auto why = judge(error, bound, name)) {
    const bool far_off = error.non_finite > 0 || error.mismatches > 0 || (error.max > 1e-2 && error.max > 2 * bound.max);
    if (!far_off && options.edge && far_longer(task, graph.bindings)) return {};
    verdict.kind = far_off ? VerdictKind::kWrong : VerdictKind::kLessAccurate;
    verdict.reason = fmt::format("{} (inputs: {}, shape: {})", *why, name_of(family), task::bindings_text(graph.bindings));
  }
  return verdict;
}

Verdict Stage::State::check_output(int slot, size_t index, bool with_gate) {
  const Cell& cell = cells[static_cast<size_t>(slot)][index];
  // Where a look on the card says that nothing is amiss, only what is compared need come here.
  const bool on_card = region(cell.region).on_card();
  const base::Span span("check an output");
  const bool clean = on_card && clean_on_card(cell, index);
  if (clean && !with_gate) return {};
  if (on_card && !clean) fetch(cell);
  if (!clean && !guard_intact(cell, output_bytes[index]))
    return {VerdictKind::kOutOfBounds,
            fmt::format("wrote outside output {} at {}", task.outputs[index].first, task::bindings_text(graph.bindings)), {}, {}};
  Content& content = content_in(slot);
  const std::byte* data = output(slot, index);
  const task::DType type = output_type(index);
  const auto unwanted = clean ? std::nullopt : looked_for(cell, index);
  const bool suspicious = unwanted && count_poison(type, *unwanted, data, task::element_count(output_shape(index)), options.threads) > 0;
  if (suspicious)
    if (auto refusal = left_over(index, cell.poison, data)) {
      refusal->clue->inputs = content.inputs;
      return std::move(*refusal);
    }
  if (!with_gate && !suspicious) return {};
  // Poison or a non-finite value somewhere: only the oracle can tell whether it belongs there, the whole one if need be.
  const bool asked = suspicious || non_finite.contains(index), whole = asked && whole_is_judged(index);
  const Reference& known = reference(content, index, whole);
  if (clean && asked && !whole) fetch(cell);
  else if (clean) fetch_boxes(cell, index, known.boxes);
  Verdict verdict = judged_at(index, compared(content, index, known, data, options.threads), known.anchor, content.family);
  if (verdict.accepted() && asked && !whole) {
    const auto places = places_not_finite(type, data, task::element_count(output_shape(index)), kPlacesNotFinite, base::secret_seed());
    const Reference there = answers_at(content, index, places);
    Verdict at = judged_at(index, compared(content, index, there, data, options.threads), there.anchor, content.family, true);
    if (!at.accepted()) return at;
  }
  if (verdict.accepted() && suspicious) non_finite.emplace(index, whole);
  return verdict;
}

Result<std::unique_ptr<Stage>> Stage::create(const task::Task& task, const task::Bindings& bindings,
                                             const StageOptions& options) {
  auto state = std::make_unique<State>(task, options);
  HONE_TRY(state->graph, task::instantiate(task.primitive, bindings));
  state->bounds_of_inputs = draw_bounds(task, state->graph);
  state->low = low_half(task, state->graph);
  if (state->low)
    for (DrawBounds& input : state->bounds_of_inputs) input.wrapping_bits = kWholeBits;
  for (size_t i = 0; i < task.inputs.size(); ++i) {
    const task::InputSpec& spec = task.inputs[i];
    state->input_bytes.push_back(task::element_count(state->input_shape(i)) * task::size_of(spec.type.dtype));
    if (!state->drawer && state->drawn_on_card(i)) {
      HONE_TRY(state->drawer, draw_program(*options.card));
    }
  }
  for (size_t i = 0; i < task.outputs.size(); ++i)
    state->output_bytes.push_back(task::element_count(state->output_shape(i)) *
                                  task::size_of(state->output_type(i)));
  HONE_TRY_VOID(options.edge ? state->lay_out_edges() : state->lay_out());
  state->expect_reductions();
  state->contents.resize(static_cast<size_t>(std::min(options.contents, options.calls)));
  std::vector<int> order(static_cast<size_t>(options.calls));
  for (int i = 0; i < options.calls; ++i) order[static_cast<size_t>(i)] = i % static_cast<int>(state->contents.size());
  state->rng.shuffle(order);
  state->content_of = order;
  state->answered.resize(order.size());
  for (int slot = 0; slot < options.calls; ++slot) state->content_in(slot).slots.push_back(slot);
  for (State::Content& content : state->contents) content.home = content.slots.front();
  return std::unique_ptr<Stage>(new Stage(std::move(state)));
}

Stage::Stage(std::unique_ptr<State> state) : state_(std::move(state)) {}
Stage::~Stage() = default;

std::vector<const target::Region*> Stage::regions() const {
  std::vector<const target::Region*> all;
  for (const target::Region& region : state_->regions) all.push_back(&region);
  return all;
}

target::Card* Stage::card() const { return state_->options.card.get(); }
bool Stage::edge() const { return state_->options.edge; }
int Stage::calls() const { return state_->options.calls; }
int Stage::contents() const { return static_cast<int>(state_->contents.size()); }
const task::Task& Stage::task() const { return state_->task; }
const task::ConcreteGraph& Stage::graph() const { return state_->graph; }
const task::Bindings& Stage::bindings() const { return state_->graph.bindings; }
int Stage::content_of(int slot) const { return state_->content_of[static_cast<size_t>(slot)]; }

int64_t Stage::call_bytes() const {
  const auto& s = *state_;
  return std::accumulate(s.input_bytes.begin(), s.input_bytes.end(), int64_t{0}) +
         std::accumulate(s.output_bytes.begin(), s.output_bytes.end(), int64_t{0});
}

void Stage::State::draw_content(const Draw& draw, int threads) {
  Content& content = contents[static_cast<size_t>(draw.content)];
  content.family = draw.family;
  content.seed = draw.seed;
  content.altered = false;
  content.inputs = name_of(draw.family);
  content.sampled.assign(task.outputs.size(), std::nullopt);
  content.full.assign(task.outputs.size(), std::nullopt);
  content.here.assign(task.inputs.size(), {});
  for (size_t i = 0; i < task.inputs.size(); ++i)
    if (!drawn_there(i, draw.family)) draw_here(content, i, {{0, task::element_count(input_shape(i))}}, threads);
}

void Stage::State::spread(Content& content) {
  for (size_t i = 0; i < task.inputs.size(); ++i) {
    std::vector<const target::Placement*> places;
    for (const int slot : content.slots) places.push_back(&inputs[static_cast<size_t>(slot)][i]);
    if (drawn_there(i, content.family)) draw_there(content, i, places);
    else copy_from_home(content, i, places);
  }
}

void Stage::draw(int content, Family family, uint64_t seed) {
  const Draw one{content, family, seed};
  draw({&one, 1});
}

void Stage::draw(std::span<const Draw> draws) {
  State& s = *state_;
  const base::Span span("draw");
  // A large input has threads enough of its own.
  const bool side_by_side = draws.size() > 1 && call_bytes() < kDrawnByOne;
  parallel_for(static_cast<int64_t>(draws.size()), side_by_side ? s.options.threads : 1,
               [&](int64_t i) { s.draw_content(draws[static_cast<size_t>(i)], side_by_side ? 1 : s.options.threads); });
  for (const Draw& draw : draws) s.spread(s.contents[static_cast<size_t>(draw.content)]);
}

uint64_t Stage::telling_seed(Family family) {
  constexpr int kTries = 64;
  State& s = *state_;
  uint64_t best = base::secret_seed();
  const bool nan = family == Family::kNonFinite && s.non_finite_looks++ % 2 == 0;
  if (family != Family::kSparse && !nan) return best;
  int most = -1;
  for (int i = 0; i < kTries && most < static_cast<int>(s.task.inputs.size()); ++i) {
    State::Content content;
    content.seed = base::secret_seed();
    int with = 0;
    for (size_t input = 0; input < s.task.inputs.size(); ++input) {
      const DrawnTensor drawn = drawn_tensor(s.task.inputs[input], s.input_shape(input), s.bounds_of_inputs[input], family, State::seed_of(content, input));
      with += nan ? drawn.surely_holds_nan() : !drawn.slabs.empty();
    }
    if (with > most) most = with, best = content.seed;
  }
  return best;
}

/// Draws a content whose inputs `alter` changes in memory, one after another.
void Stage::draw_altered(int number, Family family, uint64_t seed, std::string_view inputs, const std::function<void(size_t input, std::span<std::byte> data)>& alter) {
  State& s = *state_;
  HONE_CHECK(s.contents.size() == s.content_of.size(), "a content a slot");
  draw(number, family, seed);
  State::Content& content = s.contents[static_cast<size_t>(number)];
  content.altered = true;
  content.inputs = inputs;
  for (size_t i = 0; i < s.task.inputs.size(); ++i) {
    const task::InputSpec& spec = s.task.inputs[i];
    if (spec.structure != task::Structure::kNone || spec.domain == task::Domain::kSimplex || is_known(spec, s.input_shape(i))) continue;
    s.draw_here(content, i, {{0, task::element_count(s.input_shape(i))}}, s.options.threads);
    const std::span data(s.home_of(content, i), static_cast<size_t>(s.input_bytes[i]));
    alter(i, data);
    const target::Placement& home = s.inputs[static_cast<size_t>(content.home)][i];
    s.region(home.region).upload(home.offset, data.data(), s.input_bytes[i]);
  }
}

namespace {

bool compares_elements(const task::Node& node) {
  switch (node.prim) {
    case task::Prim::kMax: case task::Prim::kMin: case task::Prim::kArgMax: case task::Prim::kArgMin: case task::Prim::kSort:
    case task::Prim::kArgSort: case task::Prim::kCumMax: case task::Prim::kCumMin: case task::Prim::kPoolMax: case task::Prim::kScatterMax: case task::Prim::kScatterMin: return true;
    default: return false;
  }
}

}  // namespace

bool Stage::asks_for_equals() const {
  using task::Prim;
  const auto is_computed = [&](int id) {
    const Prim from = laid_out_from(graph().graph, id).prim;
    return from != Prim::kConstant && from != Prim::kSymbol && from != Prim::kIota;
  };
  return std::ranges::any_of(graph().graph.nodes, [&](const task::Node& node) {
    return (node.prim == Prim::kEq || node.prim == Prim::kNe) && std::ranges::all_of(node.operands, is_computed);
  });
}

void Stage::draw_alike(int number, uint64_t seed) {
  State& s = *state_;
  base::Rng rng(seed);
  // Sums of whole numbers are exact: those of many equal numbers are not, in any other order than the anchor's.
  // Whoever looks for the largest may guess from the order: mostly sorted lines where elements are compared with each other.
  const bool asks_for_equals = this->asks_for_equals();
  const bool sorted = rng.below(3) < (std::ranges::any_of(s.graph.graph.nodes, compares_elements) ? 2 : 1);
  draw_altered(number, sorted ? Family::kNormal : Family::kInteger, seed, sorted ? "nearly sorted" : "small whole numbers, many of them equal", [&](size_t i, std::span<std::byte> data) {
    const task::InputSpec& spec = s.task.inputs[i];
    const auto& content = s.contents[static_cast<size_t>(number)];
    for (size_t j = 0; j < i; ++j) {
      const task::InputSpec& other = s.task.inputs[j];
      const bool same_kind = other.type.dtype == spec.type.dtype && other.domain == spec.domain && other.structure == task::Structure::kNone &&
                             s.bounds_of_inputs[j].index == s.bounds_of_inputs[i].index && s.bounds_of_inputs[j].nonzero == s.bounds_of_inputs[i].nonzero;
      if (!same_kind || (asks_for_equals ? rng.below(4) == 0 : rng.below(3) != 0)) continue;
      const std::span from(s.home_of(content, j), static_cast<size_t>(s.input_bytes[j]));
      if (copy_but_one(data, s.input_shape(i), std::as_bytes(from), s.input_shape(j), spec.type.dtype, rng, s.options.threads)) return;
    }
    // What repeats everywhere hides which element was taken: half of the inputs stay as they are. Indices are in order then, but for some.
    const bool stays = i + 1 < s.task.inputs.size() && rng.below(2) == 0;
    // Halves of them are exact too, in sums and products, and on the middle between two whole numbers.
    if (spec.domain == task::Domain::kReal && !sorted && rng.below(3) == 0) halve(data, spec.type.dtype, s.options.threads);
    if (spec.domain == task::Domain::kIndex && !sorted && rng.below(2) == 0) displace_some(data, spec.type.dtype, rng);
    else if (stays) return;
    else if (sorted) sort_but_one(data, s.input_shape(i), spec.type.dtype, rng, s.options.threads);
    else make_alike(data, s.input_shape(i), spec.type.dtype, spec.domain == task::Domain::kReal && !s.bounds_of_inputs[i].nonzero, rng, s.options.threads);
  });
}

bool Stage::draw_telling(int number, uint64_t seed, std::span<const double> of_source, bool denormals) {
  constexpr size_t kMostOfSource = 24;
  State& s = *state_;
  const auto points = turning_points(s.graph);
  const bool elementwise = is_elementwise(s.graph.graph);
  base::Rng rng(seed);
  std::vector<Telling> all;
  for (size_t i = 0; i < s.task.inputs.size(); ++i) {
    std::vector<double> here(of_source.begin(), of_source.end());
    rng.shuffle(here);
    here.resize(std::min(here.size(), kMostOfSource));
    here.insert(here.end(), points[i].begin(), points[i].end());
    all.push_back(telling_of(s.task.inputs[i], s.bounds_of_inputs[i], std::move(here), elementwise, denormals));
  }
  if (std::ranges::all_of(all, [](const Telling& telling) { return telling.points.empty(); })) return false;
  draw_altered(number, Family::kNormal, seed, "normal, some beside numbers at which something changes", [&](size_t i, std::span<std::byte> data) {
    put_beside(data, s.task.inputs[i].type.dtype, all[i], rng, s.options.threads);
  });
  return true;
}

bool Stage::draw_lines(int number, uint64_t seed, bool denormals) {
  State& s = *state_;
  const std::vector<FilledLines> all = lines_of(s.task, s.graph, s.bounds_of_inputs, denormals);
  if (std::ranges::all_of(all, [](const FilledLines& lines) { return lines.kind == FilledLines::Kind::kNone; })) return false;
  base::Rng rng(seed);
  // In every second call masks, indices and numbers as a whole: where several inputs have to be of one kind for something to happen, they are.
  // And half of those are the plainest together: nothing is masked, and every index is the first.
  const bool whole = rng.below(2) == 0, plain = whole && rng.below(2) == 0;
  const auto some = static_cast<size_t>(std::ranges::count_if(all, [](const FilledLines& lines) { return lines.kind != FilledLines::Kind::kNone; }));
  draw_altered(number, Family::kNormal, seed, "normal, with whole lines of one kind (all equal, all zero, all masked, all small)", [&](size_t i, std::span<std::byte> data) {
    if (some > 1 && !whole && rng.below(4) == 0) return;
    fill_lines(data, s.input_shape(i), s.task.inputs[i].type.dtype, all[i], whole, plain, rng, s.options.threads);
  });
  return true;
}

void Stage::draw_near(int number, int like, int64_t changes, uint64_t seed) {
  State& s = *state_;
  HONE_CHECK(s.contents.size() == s.content_of.size(), "a content a slot");
  const Family family = s.contents[static_cast<size_t>(like)].family;
  const uint64_t same = s.contents[static_cast<size_t>(like)].seed;
  draw(number, family, same);
  State::Content& content = s.contents[static_cast<size_t>(number)];
  content.altered = true;
  content.inputs = fmt::format("{}, nearly those of the call before", name_of(family));
  base::Rng rng(seed);
  for (size_t i = 0; i < s.task.inputs.size(); ++i) {
    const task::InputSpec& spec = s.task.inputs[i];
    const task::Shape& shape = s.input_shape(i);
    const int64_t count = task::element_count(shape), element = task::size_of(spec.type.dtype);
    if (count == 0) continue;
    const bool symmetric = spec.structure == task::Structure::kSymmetric;
    const int64_t columns = shape.empty() ? 1 : shape.back();
    const int64_t together = spec.domain == task::Domain::kSimplex ? columns : 1;
    std::vector<Segment> places;
    for (int64_t c = 0; c < changes; ++c) {
      const auto first = static_cast<int64_t>(rng.below(static_cast<uint64_t>(count / together))) * together;
      places.push_back({first, first + together});
      const int64_t matrix = first / (columns * columns) * columns * columns, inside = first - matrix;
      if (symmetric) places.push_back({matrix + inside % columns * columns + inside / columns, matrix + inside % columns * columns + inside / columns + 1});
    }
    merge(places);
    s.draw_here(content, i, {{0, count}}, s.options.threads);
    // Not cleared: only what is drawn of it is touched.
    const auto other = std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(count * element));
    evaluate::draw(spec, shape, s.bounds_of_inputs[i], content.family, seed + i, other.get(), s.options.threads, symmetric ? nullptr : &places);
    std::byte* const data = s.home_of(content, i);
    for (const Segment& place : places)
      std::memcpy(data + place.begin * element, other.get() + place.begin * element, static_cast<size_t>((place.end - place.begin) * element));
    merge(places, kNearUploads / element);
    const target::Placement& home = s.inputs[static_cast<size_t>(content.home)][i];
    for (const Segment& part : places)
      s.region(home.region).upload(home.offset + part.begin * element, data + part.begin * element, (part.end - part.begin) * element);
  }
}

Family Stage::family_of(int content) const { return state_->contents[static_cast<size_t>(content)].family; }

void Stage::refine_bounds(Family family) {
  Bounds& bounds = state_->known_bounds();
  for (size_t output = 0; output < state_->task.outputs.size(); ++output)
    for (const Family of : std::set<Family>{family, Family::kNormal}) bounds.refine(static_cast<int>(output), of);
}

void Stage::begin_bounds() {
  State& s = *state_;
  if (s.bounds) return;
  std::set<Family> families = {Family::kNormal};
  for (const State::Content& content : s.contents) families.insert(content.family);
  // Beside a card half of the threads, as others prepare candidates meanwhile; beside checks, which leave many idle, all.
  s.bounds.emplace(s.task, s.graph, base::secret_seed(), s.options.card ? std::max(1, s.options.threads / 2) : s.options.threads, s.options.facts,
                   s.options.card);
  // What a card has a part in, now: later something may be being timed on it.
  const auto learn = [&bounds = *s.bounds, families, outputs = static_cast<int>(s.task.outputs.size())](bool on_card) {
    for (int output = 0; output < outputs; ++output)
      if (bounds.on_card(output) == on_card)
        for (const Family family : families) (void)bounds.further_anchors(output, family);
  };
  learn(true);
  s.bounding = std::async(std::launch::async, [learn] { learn(false); });
}

void Stage::end_bounds() { (void)state_->known_bounds(); }

void Stage::answer(std::span<const int> slots) {
  State& s = *state_;
  std::set<int> contents;
  for (const int slot : slots) contents.insert(content_of(slot));
  for (const int number : contents)
    for (size_t i = 0; i < s.output_bytes.size(); ++i) {
      State::Content& content = s.contents[static_cast<size_t>(number)];
      if (!s.non_finite.contains(i) && all_finite(s.reference(content, i, false), s.output_type(i))) continue;
      const bool whole = s.non_finite.emplace(i, s.whole_is_judged(i)).first->second;
      (void)s.reference(content, i, whole);
    }
}

target::Call Stage::call(int slot) const {
  target::Call call;
  call.tensors = state_->inputs[static_cast<size_t>(slot)];
  for (const State::Cell& cell : state_->cells[static_cast<size_t>(slot)]) call.tensors.push_back({cell.region, cell.tensor});
  const size_t inputs = state_->input_bytes.size();
  for (size_t t = 0; t < call.tensors.size(); ++t) call.tensors[t].bytes = t < inputs ? state_->input_bytes[t] : state_->output_bytes[t - inputs];
  return call;
}

/// A slot whose outputs hold an answer to other inputs than this one's.
std::optional<int> Stage::State::stale_source(int slot) {
  constexpr int kTries = 4;
  for (int i = 0; i < kTries; ++i) {
    // On a card only what is there already.
    const int other = options.card ? slot : static_cast<int>(rng.below(answered.size()));
    const auto& seed = answered[static_cast<size_t>(other)];
    if (seed && *seed != content_in(slot).seed && !options.edge) return other;
  }
  return std::nullopt;
}

/// Fills the outputs of a slot with another slot's, or with poison, and their surroundings with guards.
void Stage::State::fill(int slot, std::optional<int> source, int threads) {
  for (size_t i = 0; i < output_bytes.size(); ++i) {
    Cell& cell = cells[static_cast<size_t>(slot)][i];
    const task::DType type = output_type(i);
    const target::Region& home = region(cell.region);
    if (source && home.on_card()) {
      cell.poison.reset();
      continue;
    }
    const std::byte* const from = source ? output(*source, i) : nullptr;
    if (!options.edge) {
      const auto lines = static_cast<uint64_t>(slack_of(output_bytes[i]) / line() + 1);
      cell.tensor = cell.start + kGuard + line() * static_cast<int64_t>(base::secret_seed() % lines);
    }
    cell.poison = source ? std::nullopt : std::optional(poison_pattern(type, base::secret_seed()));
    if (home.on_card()) home.fill(cell.tensor, output_bytes[i], cell.poison->bits, static_cast<int>(task::size_of(type)));
    else if (source) std::memmove(output(slot, i), from, static_cast<size_t>(output_bytes[i]));
    else fill_poison(type, *cell.poison, output(slot, i), task::element_count(output_shape(i)), threads);
    guard(cell, output_bytes[i]);
  }
}

void Stage::poison(std::span<const int> slots, bool plausible) {
  const base::Span span("poison");
  State& s = *state_;
  std::vector<int> poisoned;
  for (const int slot : slots) {
    const auto source = plausible && s.rng.below(2) != 0 ? s.stale_source(slot) : std::nullopt;
    if (!source) {
      poisoned.push_back(slot);
      continue;
    }
    s.fill(slot, source, s.options.threads);
    s.answered[static_cast<size_t>(slot)] = s.answered[static_cast<size_t>(*source)];
  }
  // Only now: an answer may have been wanted elsewhere.
  const bool side_by_side = !s.options.card && poisoned.size() > 1;
  parallel_for(static_cast<int64_t>(poisoned.size()), side_by_side ? s.options.threads : 1, [&](int64_t i) {
    s.fill(poisoned[static_cast<size_t>(i)], std::nullopt, side_by_side ? 1 : s.options.threads);
    s.answered[static_cast<size_t>(poisoned[static_cast<size_t>(i)])].reset();
  });
}

void Stage::evict(std::span<const int> slots) {
  State& s = *state_;
  if (s.options.card) return;
  constexpr int64_t kPart = int64_t{1} << 20;
  std::vector<std::pair<const std::byte*, int64_t>> parts;
  const auto add = [&](const std::byte* at, int64_t bytes) {
    for (int64_t from = 0; from < bytes; from += kPart) parts.emplace_back(at + from, std::min(kPart, bytes - from));
  };
  for (const int slot : slots) {
    for (size_t i = 0; i < s.input_bytes.size(); ++i) {
      const target::Placement& place = s.inputs[static_cast<size_t>(slot)][i];
      add(s.at(place.region, place.offset), s.input_bytes[i]);
    }
    for (const State::Cell& cell : s.cells[static_cast<size_t>(slot)]) add(s.at(cell.region, cell.start), cell.size);
  }
  std::atomic<bool> done{true};
  parallel_for(static_cast<int64_t>(parts.size()), s.options.threads, [&](int64_t i) {
    const auto& [at, bytes] = parts[static_cast<size_t>(i)];
    if (!target::evict(at, static_cast<size_t>(bytes))) done = false;
  });
  if (!done) s.sweep(2 * target::cpu_info().l3_bytes);
}

namespace {

/// A refusal near the bound may not stand, so that the other outputs count too.
bool ends_check(const Verdict& verdict) { return !verdict.accepted() && !is_near_bound(verdict); }

void keep_worse(Verdict& kept, Verdict verdict) {
  if (kept.accepted() == verdict.accepted() ? nearer(verdict, kept) : kept.accepted()) kept = std::move(verdict);
}

}  // namespace

/// The whole oracle is asked only where it answered for the whole output before.
Clue Stage::look_at(int slot, size_t output) {
  State& s = *state_;
  State::Content& content = s.content_in(slot);
  Clue clue = s.clue(output, content.inputs, "");
  const int64_t count = task::element_count(s.output_shape(output));
  int64_t answered = 0;
  for (const Box& box : s.reference(content, output, false).boxes) answered += box.count();
  if (answered < count || (!edge() && count > kMostHiddenElements)) return clue;
  std::vector<int> others;
  for (int other = 0; edge() && count <= kMostHiddenElements && other < calls(); ++other)
    if (content_of(other) != content_of(slot)) others.push_back(other);
  clue.looks = looks_like(beside(slot, output, others));
  return clue;
}

Verdict Stage::check(int slot) {
  Verdict closest;
  for (size_t i = 0; i < state_->output_bytes.size(); ++i) {
    Verdict verdict = state_->check_output(slot, i, true);
    if (ends_check(verdict)) {
      if (verdict.kind == VerdictKind::kWrong && !verdict.clue) verdict.clue = look_at(slot, i);
      return verdict;
    }
    keep_worse(closest, std::move(verdict));
  }
  return closest;
}

Verdict Stage::check_quick(std::span<const int> slots) {
  State& s = *state_;
  for (const int slot : slots) {
    for (size_t i = 0; i < s.output_bytes.size(); ++i)
      if (Verdict verdict = s.check_output(slot, i, false); !verdict.accepted()) return verdict;
    s.answered[static_cast<size_t>(slot)] = s.content_in(slot).seed;
  }
  return {};
}

Verdict Stage::check_some(std::span<const int> slots) {
  const base::Span span("check some of each call");
  State& s = *state_;
  Verdict closest;
  for (size_t i = 0; i < s.output_bytes.size(); ++i) {
    struct Found {
      OutputError error, anchor;
    };
    std::vector<Found> found(slots.size());
    const bool side_by_side = !s.options.card && slots.size() > 1;
    parallel_for(static_cast<int64_t>(slots.size()), side_by_side ? s.options.threads : 1, [&](int64_t k) {
      const int slot = slots[static_cast<size_t>(k)];
      GateOptions gate;
      gate.full_limit = gate.sample_elements = kSomeElements;
      gate.sample_seed = base::secret_seed();
      gate.threads = side_by_side ? 1 : s.options.threads;
      const Reference answers = s.make_answers(s.content_in(slot), i, gate);
      s.fetch_boxes(s.cells[static_cast<size_t>(slot)][i], i, answers.boxes);
      found[static_cast<size_t>(k)] = {s.compared(s.content_in(slot), i, answers, s.output(slot, i), gate.threads), answers.anchor};
    });
    std::map<Family, Found> by_family;
    for (size_t k = 0; k < slots.size(); ++k) {
      Found& sum = by_family[s.content_in(slots[k]).family];
      sum.error.merge(found[k].error);
      sum.anchor.merge(found[k].anchor);
    }
    for (const auto& [family, sum] : by_family) {
      Verdict verdict = s.judged_at(i, sum.error, sum.anchor, family, true);
      if (verdict.kind == VerdictKind::kWrong) verdict.clue = s.clue(i, std::string(name_of(family)), "");
      if (ends_check(verdict)) return verdict;
      keep_worse(closest, std::move(verdict));
    }
  }
  return closest;
}

std::vector<std::span<const std::byte>> Stage::outputs(int slot) const {
  for (const State::Cell& cell : state_->cells[static_cast<size_t>(slot)]) state_->fetch(cell);
  std::vector<std::span<const std::byte>> outputs;
  for (size_t i = 0; i < state_->output_bytes.size(); ++i)
    outputs.emplace_back(state_->output(slot, i), static_cast<size_t>(state_->output_bytes[i]));
  return outputs;
}

Stage::Kept Stage::keep(int slot) const {
  Kept kept;
  for (const auto output : outputs(slot)) kept.outputs.emplace_back(output.begin(), output.end());
  for (const State::Cell& cell : state_->cells[static_cast<size_t>(slot)]) kept.poison.push_back(cell.poison);
  return kept;
}

Verdict Stage::check_against(int slot, const Kept& before) const {
  const auto now = outputs(slot);
  for (size_t i = 0; i < now.size(); ++i) {
    const std::string where = fmt::format("(shape: {})", task::bindings_text(state_->graph.bindings));
    const auto size = static_cast<size_t>(task::size_of(state_->output_type(i)));
    const auto &then_poison = before.poison[i], &now_poison = state_->cells[static_cast<size_t>(slot)][i].poison;
    const bool known = then_poison && now_poison && then_poison->bits != now_poison->bits;
    int64_t unwritten = 0, differ = 0, first = -1;
    for (size_t at = 0; at < now[i].size(); at += size) {
      const std::byte *a = before.outputs[i].data() + at, *b = now[i].data() + at;
      unwritten += known && std::memcmp(a, &then_poison->bits, size) == 0 && std::memcmp(b, &now_poison->bits, size) == 0;
      if (std::memcmp(a, b, size) != 0 && differ++ == 0) first = static_cast<int64_t>(at / size);
    }
    const std::string& name = state_->task.outputs[i].first;
    if (unwritten > 0) return {VerdictKind::kWrong, fmt::format("{}: nothing was written to {} elements {}", name, unwritten, where), {}, {},
                              state_->clue(i, "", "nothing was written to some of its elements")};
    if (differ > 0 && state_->task.deterministic)
      return {VerdictKind::kNotRepeatable,
              fmt::format("{}: two calls on equal inputs differ in {} of {} elements, the first of them element {} {}", name, differ, now[i].size() / size, first, where), {}, {}};
  }
  return {};
}

WrongOutput Stage::beside(int slot, size_t output, std::span<const int> before) {
  State& s = *state_;
  WrongOutput all;
  all.shape = s.output_shape(output);
  const auto count = static_cast<size_t>(task::element_count(all.shape));
  all.found.resize(count);
  std::vector<int32_t> halves;
  const TensorView found = s.seen(s.content_in(slot), {s.output_type(output), all.shape, outputs(slot)[output].data()}, halves);
  load_doubles(found.dtype, found.data, 0, static_cast<int64_t>(count), all.found.data());
  const auto spread = [&](int of, std::vector<double>& value) -> const Reference& {
    value.resize(count);
    const Reference& known = s.reference(s.content_in(of), output, true);
    for (size_t b = 0; b < known.boxes.size(); ++b) {
      size_t from = 0;
      for_each_piece(all.shape, known.boxes[b], [&](int64_t first, int64_t length) {
        for (int64_t i = 0; i < length; ++i, ++from) value[static_cast<size_t>(first + i)] = round_to(found.dtype, known.answers[b].value[from]);
      });
    }
    return known;
  };
  const Reference& known = spread(slot, all.expected);
  const double bound = s.known_bounds().of(static_cast<int>(output), s.content_in(slot).family, known.anchor).max;
  all.wrong = wrong_elements(s.judged_by(s.content_in(slot)), static_cast<int>(output), known, found.data, bound);
  for (const int other : before) (void)spread(other, all.before.emplace_back());
  return all;
}

std::optional<Instead> Stage::instead(int slot, size_t output, const WrongOutput& seen, int64_t until_ns) {
  State& s = *state_;
  State::Content& content = s.content_in(slot);
  // What half of each number is judged by has other inputs than the kernel had.
  if (&s.judged_by(content) != &s.graph) return std::nullopt;
  std::vector<TensorView> views;
  for (size_t i = 0; i < s.task.inputs.size(); ++i) views.push_back({s.task.inputs[i].type.dtype, s.input_shape(i), s.home_of(content, i)});
  const double bound = s.known_bounds().of(static_cast<int>(output), content.family, s.reference(content, output, true).anchor).max;
  return computed_instead(s.task, s.graph, views, {static_cast<int>(output), outputs(slot)[output].data(), seen.wrong, seen.expected, seen.found}, bound, until_ns);
}

Verdict Stage::check_vanished(int slot) {
  constexpr double kClearly = 1 + 0x1p-10;
  const State& s = *state_;
  const auto facts = facts_of(s.graph);
  for (size_t i = 0; i < s.task.outputs.size(); ++i) {
    const auto id = static_cast<size_t>(s.graph.graph.outputs[i]);
    const task::Node& node = s.graph.graph.nodes[id];
    const bool copied = facts[id].exact;  // a denormal number too is what it was
    const bool function = task::is_elementwise(node.prim) && node.operands.size() == 1 && facts[static_cast<size_t>(node.operands[0])].exact;
    if ((!copied && !function) || (node.type.dtype != task::DType::kF32 && node.type.dtype != task::DType::kF64)) continue;
    const double least = copied ? task::smallest_normal(node.type.dtype) * 2 * task::unit_roundoff(node.type.dtype) : kClearly * task::smallest_normal(node.type.dtype);
    const WrongOutput seen = beside(slot, i, {});
    for (size_t at = 0; at < seen.found.size(); ++at)
      if (seen.found[at] == 0 && std::abs(seen.expected[at]) >= least && std::isfinite(seen.expected[at]))
        return {VerdictKind::kLessAccurate,
                fmt::format("{}: element {} is 0 and should be {:.9g}{} (inputs where something changes, shape: {})", s.task.outputs[i].first, at, seen.expected[at],
                            copied ? ", which is copied" : ", a normal number", task::bindings_text(s.graph.bindings)),
                {}, {}, s.clue(i, "where something changes", copied ? "0 for a small number that is copied" : "0 for a small normal number")};
  }
  return {};
}

bool Stage::same_outputs(int slot_a, int slot_b) const {
  const State::Content &a = state_->content_in(slot_a), &b = state_->content_in(slot_b);
  HONE_CHECK(&a == &b || (a.family == b.family && a.seed == b.seed && !a.altered && !b.altered));
  return std::ranges::equal(outputs(slot_a), outputs(slot_b), [](auto mine, auto other) { return std::ranges::equal(mine, other); });
}

}  // namespace hone::evaluate
