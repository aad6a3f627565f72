// Numbers and tables for people: times with units, ratios, aligned columns, colours where the output
// is a terminal. Pure but for is_terminal().
#pragma once
#include <string>
#include <vector>

#include "hone/evaluate/verdict.h"
#include "hone/task/task.h"

namespace hone::face {

[[nodiscard]] bool is_terminal(int fd);

[[nodiscard]] std::string time_text(double ns);          ///< "4.21 ms"
[[nodiscard]] std::string ratio_text(const evaluate::Ratio& ratio);  ///< "9.84x [9.71, 9.93]"
[[nodiscard]] std::string bytes_text(double bytes);      ///< "128 MiB"

/// Columns as wide as their widest cell, two spaces between; the first row is the head, underlined.
class Table {
 public:
  explicit Table(std::vector<std::string> head) { rows_.push_back(std::move(head)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::string to_string(const std::string& indent = "  ") const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// The result of a promotion: a row a workload and opponent, then accuracy and what was absent.
[[nodiscard]] std::string promotion_text(const evaluate::Promotion& promotion, const task::Task& task);

}  // namespace hone::face
