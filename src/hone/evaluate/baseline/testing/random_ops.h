// All generators, by operation. An operation of the table without one fails pytorch_random_test.
#pragma once
#include <map>

#include "hone/evaluate/baseline/testing/random_activation.h"
#include "hone/evaluate/baseline/testing/random_elementwise.h"
#include "hone/evaluate/baseline/testing/random_index.h"
#include "hone/evaluate/baseline/testing/random_loss.h"
#include "hone/evaluate/baseline/testing/random_norm.h"
#include "hone/evaluate/baseline/testing/random_product.h"
#include "hone/evaluate/baseline/testing/random_reduction.h"
#include "hone/evaluate/baseline/testing/random_shape.h"
#include "hone/evaluate/baseline/testing/random_window.h"

namespace hone::evaluate::testing {

[[nodiscard]] inline const std::map<std::string_view, Generator>& generators() {
  static const auto all = [] {
    std::map<std::string_view, Generator> map;
    const auto add = [&](std::span<const Generator> rows) {
      for (const Generator& row : rows) HONE_CHECK(map.emplace(row.op, row).second, row.op);
    };
    add(elementwise::kRows);
    add(activation::kRows);
    add(activation::kSoftmaxRows);
    add(reduction::kRows);
    add(reduction::kScanRows);
    add(norm::kRows);
    add(product::kRows);
    add(product::kAttentionRows);
    add(window::kConvRows);
    add(window::kPoolRows);
    add(loss::kRows);
    add(shape::kRows);
    add(shape::kCreationRows);
    add(index::kRows);
    return map;
  }();
  return all;
}

[[nodiscard]] inline RandomCase random_case(const task::Op& op, const Generator& generator, int number) {
  Draft draft(op, number, generator.torch);
  generator.make(draft);
  return draft.result();
}

}  // namespace hone::evaluate::testing
