// What models may cost. Every attempt's most possible cost is reserved before it is sent, and settled when
// it is over: what is spent and what is reserved together never exceed the limits. Thread-safe. Money is
// counted in billionths of a dollar.
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "hone/agent/model/client.h"
#include "hone/agent/model/message.h"

namespace hone::agent {

/// Dollars for a million tokens.
struct Price {
  double input = 0, cache_read = 0, cache_write = 0, output = 0;
  std::string as_of;   ///< the day it was looked up; empty: given by the user
};

struct Cost {
  int64_t tokens = 0;
  int64_t nanodollars = 0;
  Cost& operator+=(const Cost& o) { tokens += o.tokens, nanodollars += o.nanodollars; return *this; }
  bool operator==(const Cost&) const = default;
};

/// Exact to a billionth of a dollar, rounded up. Without a price money is 0.
[[nodiscard]] Cost cost_of(const Usage& usage, const std::optional<Price>& price);
/// The most that one attempt at `request` can cost.
[[nodiscard]] Cost most_cost_of(const Request& request, const std::optional<Price>& price);

struct ModelLimits {
  int64_t tokens = 0;        ///< 0: none
  int64_t nanodollars = 0;   ///< 0: none
  int calls = 0;             ///< 0: none
};

class Budget {
 public:
  explicit Budget(ModelLimits limits) : limits_(limits) {}
  /// False, and nothing happens, where spent and reserved would go beyond a limit.
  [[nodiscard]] bool reserve(const Cost& most);
  void settle(const Cost& reserved, const Cost& actual);
  /// What a recorded call cost: a replay spends it again, on paper.
  void charge(const Cost& cost);
  [[nodiscard]] bool allows(const Cost& most) const;
  [[nodiscard]] Cost spent() const;
  [[nodiscard]] const ModelLimits& limits() const { return limits_; }

 private:
  [[nodiscard]] bool fits(const Cost& most) const;
  ModelLimits limits_;
  mutable std::mutex mutex_;
  Cost spent_, reserved_;
};

/// What an attempt is charged: what the provider counted; where an answer began and nothing is known, the
/// most it can have been; nothing where nobody answered.
[[nodiscard]] Cost charge_for(const Attempt& attempt, const Cost& most, const std::optional<Price>& price);

/// Reserves for one request's attempts, one by one.
class BudgetGate final : public Gate {
 public:
  BudgetGate(Budget& budget, Cost most, std::optional<Price> price) : budget_(budget), most_(most), price_(std::move(price)) {}
  bool admit() override { return budget_.reserve(most_); }
  void settle(const Attempt& attempt) override;
  [[nodiscard]] const Cost& charged() const { return charged_; }

 private:
  Budget& budget_;
  Cost most_, charged_;
  std::optional<Price> price_;
};

}  // namespace hone::agent
