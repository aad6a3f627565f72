// Fills patterns/gpu/conv*.cu for a convolution. Pure.
#pragma once
#include <string>
#include <vector>

#include "hone/pattern/convolution.h"
#include "hone/pattern/gpu_matmul_writer.h"
#include "hone/pattern/library.h"
#include "hone/pattern/template.h"

namespace hone::pattern {

class GpuConvWriter {
 public:
  /// `finish`, `words`: of finish_text_of_images and words_text_of_images. Task and convolution must outlive the writer.
  GpuConvWriter(const task::Task& task, const Convolution& all, kernel::Language language, std::string finish, std::string words);

  [[nodiscard]] Offer simt() const;
  [[nodiscard]] Offer units(const GpuMethod& method) const;

  /// Whether runs of positions serve it: 16 channels, or depths of which the other dimensions' taps are a part, fill most of a stage.
  [[nodiscard]] bool has_runs() const;
  [[nodiscard]] Offer runs(const GroupMethod& method) const;
  /// Whether channel slices do (a launch writes x as words of channels): at least a quarter of a stage's depths is real.
  [[nodiscard]] bool has_slices() const;
  [[nodiscard]] Offer slices(const GroupMethod& method) const;

  /// Whether each group is one channel under a window that fits into registers.
  [[nodiscard]] bool is_depthwise() const;
  [[nodiscard]] Offer depthwise() const;

 private:
  [[nodiscard]] int64_t largest(const task::IntExpr& extent) const;
  /// Columns of a tile of `rows`: at most `columns`, less where the device would not be full of such tiles, not below `least`.
  [[nodiscard]] int64_t columns_for(int64_t rows, int64_t columns, int64_t least) const;
  [[nodiscard]] static std::string list(const std::vector<task::IntExpr>& extents);
  /// The convolution's numbers, as a constant of either kernel.
  [[nodiscard]] std::string shape() const;
  [[nodiscard]] Slots common(const std::string& note) const;
  [[nodiscard]] static Offer offer(const char* file, const Slots& slots, const std::string& action);

  /// Few channels under a window of several dimensions. A run that serves one tap only is no better than what mma.sync gathers.
  [[nodiscard]] bool folds() const;
  [[nodiscard]] task::IntExpr outer_window() const;
  /// What depths of a stage count: channels, or folded the other dimensions' taps as well.
  [[nodiscard]] task::IntExpr depths() const;
  /// Taps of a class or a phase along the last dimension: how many, where all that have any have as many (else 0); how many a stage
  /// serves; positions between them.
  struct Along {
    int64_t each, served, step, classes;
  };
  [[nodiscard]] Along along() const;
  /// Output channels of a tile on groups of warps.
  [[nodiscard]] int64_t channels_of_tile() const;
  /// Slots of both kernels on groups of warps.
  void add_group(Slots& slots, const GroupMethod& method) const;

  const task::Task& task_;
  const Convolution& all_;
  kernel::Language language_;
  std::string finish_, words_;
  task::IntExpr window_ = 1, depth_;
  task::IntExpr positions_, rows_, products_ = 1;   ///< positions of the largest phase, and rows of them; phases of all groups
};

}  // namespace hone::pattern
