#include "hone/search/tune/forest.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hone::search::tune {

void Forest::fit(std::span<const float> rows, std::span<const float> values, base::Rng& rng) {
  nodes_.clear();
  roots_.clear();
  // Splits are drawn among columns that vary; others would only use up tries.
  varying_.clear();
  for (size_t c = 0; c < columns_; ++c)
    for (size_t at = c + columns_; at < rows.size(); at += columns_)
      if (rows[at] != rows[c]) {
        varying_.push_back(static_cast<uint16_t>(c));
        break;
      }
  std::vector<int> members(values.size());
  for (int tree = 0; tree < shape_.trees; ++tree) {
    std::iota(members.begin(), members.end(), 0);
    roots_.push_back(static_cast<int>(nodes_.size()));
    grow(rows, values, members, rng);
  }
}

void Forest::grow(std::span<const float> rows, std::span<const float> values, std::span<int> all, base::Rng& rng) {
  struct Task { int node; size_t begin, end; };
  nodes_.emplace_back();
  std::vector<Task> open{{static_cast<int>(nodes_.size()) - 1, 0, all.size()}};
  while (!open.empty()) {
    const Task task = open.back();
    open.pop_back();
    const std::span<int> members = all.subspan(task.begin, task.end - task.begin);
    double sum = 0, squares = 0;
    for (const int m : members) sum += values[static_cast<size_t>(m)], squares += double{values[static_cast<size_t>(m)]} * values[static_cast<size_t>(m)];
    const auto count = static_cast<double>(members.size());
    Node node;
    node.mean = static_cast<float>(sum / count);
    node.variance = static_cast<float>(std::max(0.0, squares / count - sum / count * (sum / count)));
    double best = -1;
    if (members.size() >= 2 * static_cast<size_t>(shape_.leaf) && node.variance > 1e-12f && !varying_.empty()) {
      for (int attempt = 0; attempt < shape_.tries; ++attempt) {
        const uint16_t a = varying_[rng.below(varying_.size())];
        auto b = a;
        float factor = 0;
        if (varying_.size() > 1 && rng.uniform() < shape_.oblique) {
          b = varying_[rng.below(varying_.size())];
          factor = rng.below(2) ? 1.f : -1.f;
        }
        const auto at = [&](int m) {
          const float* row = rows.data() + static_cast<size_t>(m) * columns_;
          return row[a] + factor * row[b];
        };
        float low = at(members[0]), high = low;
        for (const int m : members) {
          const float x = at(m);
          low = std::min(low, x), high = std::max(high, x);
        }
        if (!(high > low)) continue;
        const float threshold = low + (high - low) * static_cast<float>(0.02 + 0.96 * rng.uniform());
        double left = 0, left_count = 0;
        for (const int m : members)
          if (at(m) < threshold) left += values[static_cast<size_t>(m)], left_count += 1;
        const double right_count = count - left_count;
        if (left_count < shape_.leaf || right_count < shape_.leaf) continue;
        const double gain = left * left / left_count + (sum - left) * (sum - left) / right_count;
        if (best < 0 || gain > best) {
          best = gain;
          node.a = a, node.b = b, node.factor = factor, node.threshold = threshold;
        }
      }
    }
    if (best >= 0) {
      const auto middle = std::partition(members.begin(), members.end(), [&](int m) {
        const float* row = rows.data() + static_cast<size_t>(m) * columns_;
        return row[node.a] + node.factor * row[node.b] < node.threshold;
      });
      const size_t split = task.begin + static_cast<size_t>(middle - members.begin());
      node.left = static_cast<int>(nodes_.size());
      nodes_.emplace_back();
      nodes_.emplace_back();
      open.push_back({node.left, task.begin, split});
      open.push_back({node.left + 1, split, task.end});
    }
    nodes_[static_cast<size_t>(task.node)] = node;
  }
}

std::vector<Belief> Forest::predict(std::span<const float> rows) const {
  const size_t count = columns_ > 0 ? rows.size() / columns_ : 0;
  std::vector<Belief> beliefs(count);
  for (size_t i = 0; i < count; ++i) {
    const float* row = rows.data() + i * columns_;
    double sum = 0, squares = 0;
    for (const int root : roots_) {
      const Node* node = &nodes_[static_cast<size_t>(root)];
      while (node->left >= 0)
        node = &nodes_[static_cast<size_t>(node->left + (row[node->a] + node->factor * row[node->b] < node->threshold ? 0 : 1))];
      sum += node->mean;
      squares += double{node->mean} * node->mean + node->variance;
    }
    const double mean = sum / static_cast<double>(roots_.size());
    beliefs[i] = {mean, std::sqrt(std::max(0.0, squares / static_cast<double>(roots_.size()) - mean * mean))};
  }
  return beliefs;
}

}  // namespace hone::search::tune
