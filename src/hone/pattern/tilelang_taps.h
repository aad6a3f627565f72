// Where the taps of a window look, in TileLang: of a convolution, transposed or not, or of a pooling. Pure text.
#pragma once
#include <string>
#include <vector>

#include "hone/pattern/convolution.h"
#include "hone/pattern/triton_tile.h"

namespace hone::pattern::tile {

[[nodiscard]] task::IntExpr all_of(const std::vector<task::IntExpr>& extents);   ///< their product

/// Names in the text around it: `image` and `channel`, which plane; `column`, the place in space of the result, and `tap` within the window.
class Taps {
 public:
  Taps(const Convolution& its, TritonParameters& parameters) : its_(its), parameters_(parameters) {}

  /// Lines that set p0, p1, …: where the tap looks, in space.
  [[nodiscard]] std::string places(const std::string& indent) const;
  /// " & (p0 >= 0) & …": that it lies within the image.
  [[nodiscard]] std::string within() const;
  /// The index of the element there.
  [[nodiscard]] std::string element() const;

 private:
  [[nodiscard]] std::string digit(std::string from, const std::vector<task::IntExpr>& extents, size_t at) const;

  const Convolution& its_;
  TritonParameters& parameters_;
};

}  // namespace hone::pattern::tile
