#include "hone/agent/model/budget.h"

#include <algorithm>
#include <cmath>

namespace hone::agent {
namespace {

/// A dollar for a million tokens is a thousand nanodollars for one.
double nano(int64_t tokens, double dollars_per_million) { return static_cast<double>(tokens) * dollars_per_million * 1e3; }

int64_t rounded_up(double nanodollars) { return static_cast<int64_t>(std::ceil(nanodollars - 1e-6)); }

}  // namespace

Cost cost_of(const Usage& usage, const std::optional<Price>& price) {
  Cost cost{usage.total(), 0};
  if (price)
    cost.nanodollars = rounded_up(nano(usage.input, price->input) + nano(usage.cache_read, price->cache_read) +
                                  nano(usage.cache_write, price->cache_write) + nano(usage.output, price->output));
  return cost;
}

Cost most_cost_of(const Request& request, const std::optional<Price>& price) {
  const int64_t input = request.most_input_tokens(), output = request.max_output_tokens;
  Cost cost{input + output, 0};
  if (price)
    cost.nanodollars = rounded_up(nano(input, std::max({price->input, price->cache_read, price->cache_write})) + nano(output, price->output));
  return cost;
}

bool Budget::fits(const Cost& most) const {
  if (limits_.tokens > 0 && spent_.tokens + reserved_.tokens + most.tokens > limits_.tokens) return false;
  return limits_.nanodollars <= 0 || spent_.nanodollars + reserved_.nanodollars + most.nanodollars <= limits_.nanodollars;
}

bool Budget::reserve(const Cost& most) {
  const std::scoped_lock lock(mutex_);
  if (!fits(most)) return false;
  reserved_ += most;
  return true;
}

void Budget::settle(const Cost& reserved, const Cost& actual) {
  const std::scoped_lock lock(mutex_);
  reserved_.tokens -= reserved.tokens;
  reserved_.nanodollars -= reserved.nanodollars;
  spent_ += actual;
}

void Budget::charge(const Cost& cost) {
  const std::scoped_lock lock(mutex_);
  spent_ += cost;
}

bool Budget::allows(const Cost& most) const {
  const std::scoped_lock lock(mutex_);
  return fits(most);
}

Cost Budget::spent() const {
  const std::scoped_lock lock(mutex_);
  return spent_;
}

Cost charge_for(const Attempt& attempt, const Cost& most, const std::optional<Price>& price) {
  if (attempt.problem.empty() && attempt.usage) return cost_of(*attempt.usage, price);
  if (!attempt.began) return {};
  // A stream that broke has said what went in, not how much would have come out.
  return most;
}

void BudgetGate::settle(const Attempt& attempt) {
  const Cost cost = charge_for(attempt, most_, price_);
  budget_.settle(most_, cost);
  charged_ += cost;
}

}  // namespace hone::agent
