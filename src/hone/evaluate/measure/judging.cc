#include "hone/evaluate/measure/judging.h"

#include <algorithm>
#include <cmath>

#include "hone/base/random.h"
#include "hone/base/result.h"

namespace hone::evaluate {

int calls_to_judge(double share, double probability) {
  HONE_CHECK(share > 0 && share < 1 && probability > 0 && probability < 1);
  return static_cast<int>(std::ceil(std::log1p(-probability) / std::log1p(-share)));
}

std::vector<int> choose_judged(std::span<const int> calls, int count) {
  std::vector<int> chosen(calls.begin(), calls.end());
  const size_t wanted = std::min(chosen.size(), static_cast<size_t>(std::max(count, 0)));
  base::Rng rng(base::secret_seed());
  for (size_t i = 0; i < wanted; ++i) std::swap(chosen[i], chosen[i + rng.below(chosen.size() - i)]);
  chosen.resize(wanted);
  return chosen;
}

}  // namespace hone::evaluate
