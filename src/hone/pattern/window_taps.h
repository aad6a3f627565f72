// Where the taps of a window look, in the Python that Triton and TileLang take: of a convolution, transposed or not, or of a pooling. Divisions may
// round towards zero or down: what they make of negative numbers lies outside either way. Pure text.
#pragma once
#include <string>
#include <vector>

#include "hone/base/result.h"
#include "hone/pattern/convolution.h"
#include "hone/pattern/triton_tile.h"

namespace hone::pattern {

[[nodiscard]] task::IntExpr all_of(const std::vector<task::IntExpr>& extents);   ///< their product

/// Names in the text around it: `image` and `channel`, which plane; `column`, the place in space of the result, and `tap` within the window.
class Taps {
 public:
  Taps(const Convolution& its, TritonParameters& parameters) : its_(its), parameters_(parameters) {}

  /// Lines that set c0, c1, …: what follows from the place alone of where taps look; and those that set t0, … of the tap, and both together where it takes that.
  [[nodiscard]] std::string columns(const std::string& indent) const;
  [[nodiscard]] std::string places(const std::string& indent) const;
  /// " & (p0 >= 0) & …": that it lies within the image; `both` stands before each condition.
  [[nodiscard]] std::string within(std::string_view both = " & ") const;
  /// The index of the element there.
  [[nodiscard]] std::string element() const;

  /// Of a convolution: lines that set image, part (which group), channel and tap by `batch` (a group of an image) and `depth` (channels times taps).
  [[nodiscard]] std::string planes(const std::string& indent) const;
  /// The index of the weight of output channel `line` at `depth`.
  [[nodiscard]] std::string weight() const;

 private:
  [[nodiscard]] std::string digit(std::string from, const std::vector<task::IntExpr>& extents, size_t at) const;

  const Convolution& its_;
  TritonParameters& parameters_;
};

/// The one pooling of a graph as a window over planes of one channel.
struct PlanePool {
  int node = -1, input = -1;
  Convolution window;
};
/// kUnavailable where there is not one, or it is of anything but an input of floats, cast at most.
[[nodiscard]] Result<PlanePool> find_plane_pool(const task::Graph& graph);

}  // namespace hone::pattern
