// The offers in Triton: which patterns suit a task, most promising first.
#include "hone/pattern/names.h"
#include "hone/pattern/normal_form.h"
#include "hone/pattern/parts.h"
#include "hone/pattern/plain.h"
#include "hone/pattern/triton_patterns.h"

namespace hone::pattern {
namespace {

std::vector<Offer> direct_triton_offers(const task::Task& task, std::vector<std::string>& why_not) {
  std::vector<Offer> offers;
  const auto add = [&](const char* pattern, const char* action, Result<kernel::Kernel> kernel) {
    if (!kernel) return why_not.push_back(std::string(pattern) + ": " + kernel.error().message);
    kernel->header.action = action;
    offers.push_back({std::move(*kernel), pattern, action});
  };
  add("attention", "one pass over the keys", triton::attention(task));
  if (!offers.empty()) return offers;
  add("pool", "windows tap by tap", triton::pool(task));
  if (!offers.empty()) return offers;
  const auto program = find_program(task, {.columns = false, .scans = true, .slices = true});
  if (!program) why_not.push_back("map, rows: " + program.error().message);
  else if (program->has_reductions() || program->has_scans()) add("rows", "keep rows in registers", triton::rows(*program));
  else add("map", "fuse into one loop", triton::map(*program));
  return offers;
}

std::vector<Offer> triton_part_offers(const task::Task& part) {
  std::vector<std::string> ignored;
  std::vector<Offer> offers = triton::products(part, ignored);
  return offers.empty() ? direct_triton_offers(part, ignored) : offers;
}

bool has_triton_part_offer(const task::Task& part) { return !triton_part_offers(part).empty(); }

}  // namespace

std::vector<Offer> offers_triton(const task::Task& given, std::vector<std::string>& why_not) {
  const Names names(given);
  std::vector<Offer> offers = triton::products(names.task(), why_not);
  const task::Task task = normal_form(names.task());
  if (offers.empty()) offers = direct_triton_offers(task, why_not);
  if (offers.empty())
    offers = offers_in_parts(task, {has_triton_part_offer, triton_part_offers, [](const task::Task& part) { return Offer{plain_triton_kernel(part), "plain", "plain loops", 1}; }});
  return names.given(std::move(offers));
}

}  // namespace hone::pattern
