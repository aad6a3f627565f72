// A computed factor (operand.h) as text for a GPU: what a lane of hone/gpu/matmul_patches.h loads of a patch, and what an element is
// computed from that. Pure text.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hone/pattern/operand.h"

namespace hone::pattern {

class GpuOperand {
 public:
  /// `parameters`: the whole task's tensors and symbols. kUnavailable: an operation that no element has by itself. `operand` must outlive it.
  [[nodiscard]] static Result<GpuOperand> create(const Operand& operand, std::string parameters);

  /// `NAME(…, batch_at, line_at, depth_at)`: what node `node` of the operand's graph is there, as a float.
  [[nodiscard]] static Result<std::string> scalar_text(const Operand& operand, int node, const std::string& name, const std::string& parameters);

  /// Depths of a patch, and the numbers of lines that it may have, best first.
  [[nodiscard]] int run() const { return run_; }
  [[nodiscard]] const std::vector<int>& lines() const { return lines_; }
  /// Whether words are read along the depth, else along the lines.
  [[nodiscard]] bool along_depth() const { return along_depth_; }
  /// What has to hold of shapes for it to be computed at all.
  [[nodiscard]] const std::vector<task::IntExpr>& conditions() const { return operand_.nest.conditions; }
  /// When patches can be read in words: conditions on shapes and LINES. Nothing: never.
  [[nodiscard]] const std::optional<std::vector<std::string>>& wide() const { return wide_; }
  /// struct Patch, patch_of(…, batch_at, line_at, depth_at) and element_of(…, patch, l_at, d_at), by the macros LINES and RUN. Where wide().
  [[nodiscard]] const std::string& patch_text() const { return patch_text_; }
  /// single_of(…, batch_at, line_at, depth_at): one element, from memory.
  [[nodiscard]] const std::string& single_text() const { return single_text_; }

 private:
  /// How a patch moves along an axis: an index in the patch over `inner`, and modulo `count` where it has the `whole` axis.
  struct Move {
    bool line = false;     ///< by l_at, else d_at
    int inner = 1;
    std::string count;     ///< "RUN / 2"
    bool whole = false;    ///< all of the axis, so that patches begin at its beginning
  };
  GpuOperand(const Operand& operand, std::string parameters) : operand_(operand), parameters_(std::move(parameters)) {}

  Status write();
  void choose();
  [[nodiscard]] bool walk(const std::vector<Place>& places, bool line, const std::vector<int>& sizes, const char* macro);
  [[nodiscard]] std::string stride_text(int id, int axis) const;
  [[nodiscard]] std::string small(int axis) const;
  [[nodiscard]] std::string tensor(int id) const;
  [[nodiscard]] std::string decoded(const std::vector<Place>& places, const std::string& from, const std::string& indent, bool patch) const;
  [[nodiscard]] std::string positions(const std::string& indent, bool patch) const;
  [[nodiscard]] bool of_lines(int axis) const;
  [[nodiscard]] std::optional<int> vector_axis(int id) const;
  [[nodiscard]] std::vector<std::pair<task::IntExpr, std::optional<std::string>>> boundaries(int id, int along) const;
  Status write_patch();
  Result<std::string> value(int id, bool patch, std::map<int, std::string>& names, std::string& lines);

  const Operand& operand_;
  std::string parameters_;
  bool along_depth_ = true;
  int run_ = 8;
  std::vector<int> lines_;
  std::map<int, Move> moves_;
  std::set<int> stays_;          ///< axes whose place a patch remembers
  std::optional<std::vector<std::string>> wide_;
  std::string patch_text_, single_text_;
};

}  // namespace hone::pattern
