// Evaluates one node over one box: pulls the box back through the graph, cuts it into tiles whose
// intermediates fit the second-level cache, computes once what every tile needs whole, and streams
// reductions over operands too large to hold. One evaluator belongs to one thread and one call; given several
// threads it shares what is too large to hold out among them, tile by tile, with the same result. Reductions that
// a helper covers are its affair: nothing below them is evaluated here but what it is given, and its spots.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "hone/evaluate/oracle/reduction_helper.h"
#include "hone/evaluate/oracle/step.h"

namespace hone::evaluate {

/// What a box of one node needs of the nodes below it.
struct Needs {
  std::vector<Box> box;       ///< by node; meaningful where used
  std::vector<uint8_t> used;
};

class TiledEvaluator {
 public:
  TiledEvaluator(const task::ConcreteGraph& graph, std::span<const NodeFacts> facts,
            std::span<const TensorView> inputs, Arithmetic arithmetic, bool want_scale,
            const Summation* summation = nullptr, int threads = 1, ReductionHelper* helper = nullptr, NarrowRoundings narrow = {})
      : graph_(graph), facts_(facts), inputs_(inputs), arithmetic_(arithmetic),
        want_scale_(want_scale), summation_(summation), threads_(threads), helper_(helper), narrow_(narrow),
        coverage_(helper ? &helper->coverage() : nullptr), kept_(graph.graph.nodes.size()) {}

  /// For questions of costs, tiles and needs only: as if a helper had this coverage.
  void assume_covered(const Coverage& coverage) { coverage_ = &coverage; }

  /// Results computed before, by node (those without memory are unset): used where they cover a need.
  void keep(const std::vector<Tensor>& kept) { kept_ = kept; }
  [[nodiscard]] const std::vector<Tensor>& kept() const { return kept_; }

  [[nodiscard]] Tensor compute(int root, const Box& box);

  /// Computes and keeps the expensive nodes that every element of `box` needs in full.
  void settle_invariants(int root, const Box& box);
  /// Keeps what `find` has of them, which may know other evaluators' results.
  void settle_invariants(int root, const Box& box, const std::function<Tensor(int id, const Box& need)>& find);

  /// The same without computing anything: what follows can only ask for costs and tiles.
  void assume_invariants(int root, const Box& box);

  /// Extents of tiles that `box` of `root` may be cut into at little extra work, none of whose
  /// working sets (in doubles) exceeds `budget` if that can be helped.
  [[nodiscard]] task::Shape choose_tile(int root, const Box& box, double budget) const;

  struct Cost {
    double held = 0;  ///< doubles of intermediate results
    double work = 0;  ///< rough operations
  };
  [[nodiscard]] Cost cost_of(int root, const Box& box) const;

  [[nodiscard]] Needs needs_of(int root, const Box& box) const { return pull_back(root, box); }

  /// For each input of the graph, in declared order, the box of it that compute(root, box) may read: the whole
  /// where elements are picked by index, an empty box where it reads nothing. What covered reductions need is not in it.
  [[nodiscard]] std::vector<Box> inputs_read(int root, const Box& box) const;

 private:
  [[nodiscard]] Needs pull_back(int root, const Box& box) const;
  [[nodiscard]] Cost cost_of(const Needs& needs) const;
  [[nodiscard]] bool is_kept(int id, const Box& need) const;
  [[nodiscard]] bool is_covered(int id) const { return coverage_ && coverage_->contains(id); }
  [[nodiscard]] Tensor covered(int id, const Box& box);
  /// The helper's result of a part of the operand against ours; stops the program where they differ.
  void look_over(int id, std::span<const Tensor> given);
  [[nodiscard]] Tensor run_tile(int root, const Box& box);
  [[nodiscard]] Tensor stream_reduction(int root, const Box& box);
  /// What each region of the operand of a streamed reduction, `box` of whose results is wanted, gives to them.
  [[nodiscard]] std::vector<Tensor> partial_reductions(int root, const Box& box, const Tiling& regions);
  /// Has work(evaluator, i) done for each i of `count`, by as many evaluators at once as there are threads.
  template <class Work>
  void share_out(int64_t count, const Work& work);
  [[nodiscard]] Tensor stream_dot(int root, const Box& box);
  [[nodiscard]] double budget_of(int root, const Box& box) const;
  /// What compute() does when the working set of the whole box is too large.
  [[nodiscard]] Tensor compute_large(int root, const Box& box);
  [[nodiscard]] Tensor compute_in_tiles(int root, const Box& box, const task::Shape& tile);
  /// Computes and keeps the expensive nodes that `box` needs, one after another; whether any was not
  /// kept before.
  bool keep_heavy(int root, const Box& box);
  void keep_shared(int root, const Box& box, const Box& tile);
  [[nodiscard]] Step step_of(int id, const Box& box, std::span<const Tensor> operands);

  const task::ConcreteGraph& graph_;
  std::span<const NodeFacts> facts_;
  std::span<const TensorView> inputs_;
  Arithmetic arithmetic_;
  bool want_scale_;
  const Summation* summation_;
  int threads_;
  ReductionHelper* helper_;
  NarrowRoundings narrow_;
  const Coverage* coverage_;
  std::vector<Tensor> kept_;
  Pool pool_;
};

}  // namespace hone::evaluate
