// From positions inside a TOML string to positions in the file: undoes quotes, escapes and the
// newline that follows """. Pure.
#pragma once
#include <string_view>
#include <vector>

#include "hone/task/graph/graph.h"

namespace hone::task {

class SourceMap {
 public:
  /// `begin` is where the string's opening quote stands in `file`, in lines and columns (code points)
  /// from 1.
  SourceMap(std::string_view file, Where begin);
  /// A position in the string's value, in lines and byte columns from 1.
  [[nodiscard]] Where to_file(Where inside) const;

 private:
  struct Line {
    std::vector<Where> bytes;  ///< of each byte of the value's line, and of its end
  };
  std::vector<Line> lines_;
};

}  // namespace hone::task
