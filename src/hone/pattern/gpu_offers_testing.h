// What tests of offers for GPUs share.
#pragma once
#include <string>
#include <vector>

#include "hone/pattern/library.h"

namespace hone::pattern {

inline task::Task task_of(const std::string& compute, const std::vector<std::string>& inputs, const std::string& workload) {
  return task::task_from_expressions(compute, inputs, {workload}).value();
}

inline std::vector<std::string> actions(const std::vector<Offer>& offers) {
  std::vector<std::string> all;
  for (const Offer& offer : offers) all.push_back(offer.action);
  return all;
}

}  // namespace hone::pattern
