// What was measured, as a sum of effects: log score = base + effect of the source + effect of each
// tunable's value, shrunk towards zero where there is little evidence. Ridge regression on indicator
// columns; small spaces need no more. One thread.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "hone/kernel/kernel.h"

namespace hone::search {

class AdditiveModel {
 public:
  /// Log score of a configuration of source number `source`.
  void add(int source, const kernel::Config& config, double log_score);
  /// Prediction; 0 evidence gives the mean of all.
  [[nodiscard]] double predict(int source, const kernel::Config& config);
  [[nodiscard]] size_t size() const { return rows_.size(); }

 private:
  [[nodiscard]] std::vector<int> columns(int source, const kernel::Config& config, bool grow);
  void fit();

  struct Row {
    std::vector<int> columns;
    double value;
  };
  std::map<std::string, int> index_;   ///< "0/ROWS=4" -> column
  std::vector<Row> rows_;
  std::vector<double> effect_;
  double mean_ = 0;
  bool stale_ = true;
};

}  // namespace hone::search
