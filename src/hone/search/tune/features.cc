#include "hone/search/tune/features.h"

#include <algorithm>
#include <cmath>

namespace hone::search::tune {
namespace {

/// Sizes that span this factor act by their logarithm.
constexpr double kSpan = 4;
/// Divisibility beyond this power of two makes no difference that we know of.
constexpr int kMostTwos = 6;
constexpr size_t kMostCategories = 12;

std::vector<float> scaled(const std::vector<double>& numbers) {
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  std::vector<float> result;
  for (const double number : numbers) result.push_back(*high > *low ? static_cast<float>((number - *low) / (*high - *low)) : 0.f);
  return result;
}

/// How often two divides each, where that is no matter of size alone.
std::vector<double> twos(const std::vector<Value>& values) {
  std::vector<double> count;
  for (const Value& value : values) {
    const auto* whole = std::get_if<int64_t>(&value);
    if (!whole || *whole <= 0) return {};
    count.push_back(std::min(kMostTwos, __builtin_ctzll(static_cast<uint64_t>(*whole))));
  }
  for (size_t i = 1; i < values.size(); ++i)
    if (count[i] < count[i - 1]) return count;
  return {};
}

}  // namespace

Features::Features(const Space& space) {
  for (const Parameter& parameter : space.parameters()) {
    Column column;
    column.first = size_;
    const size_t count = parameter.values.size();
    column.values.resize(count);
    const auto add = [&](const std::vector<float>& numbers) {
      for (size_t v = 0; v < count; ++v) column.values[v].push_back(numbers[v]);
      ++column.count;
    };
    if (count > 1 && parameter.numeric()) {
      std::vector<double> numbers;
      for (const Value& value : parameter.values) numbers.push_back(number_of(value));
      const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
      if (*low > 0 && *high >= kSpan * *low)
        for (double& number : numbers) number = std::log2(number);
      add(scaled(numbers));
      if (const auto alignment = twos(parameter.values); !alignment.empty()) add(scaled(alignment));
    } else if (count > 1) {
      // Text has no order; beyond a dozen values their order in the list has to do.
      if (count > kMostCategories) {
        std::vector<double> numbers(count);
        for (size_t v = 0; v < count; ++v) numbers[v] = static_cast<double>(v);
        add(scaled(numbers));
      } else {
        for (size_t v = count == 2 ? 1 : 0; v < count; ++v) {
          std::vector<float> is(count, 0.f);
          is[v] = 1;
          add(is);
        }
      }
    }
    size_ += column.count;
    columns_.push_back(std::move(column));
  }
}

void Features::encode(const Point& point, float* out) const {
  for (size_t p = 0; p < columns_.size(); ++p) {
    const Column& column = columns_[p];
    std::copy(column.values[point[p]].begin(), column.values[point[p]].end(), out + column.first);
  }
}

}  // namespace hone::search::tune
