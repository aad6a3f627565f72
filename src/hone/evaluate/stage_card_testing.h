// What the tests of a stage on a card have in common: a task played on a card that is none. Include it in one file of a test.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "hone/evaluate/fake_card_testing.h"
#include "hone/evaluate/oracle/number.h"
#include "hone/evaluate/stage.h"

namespace hone::evaluate {

inline task::Task task_of(const std::string& inputs, const std::string& compute, const std::string& workload) {
  const auto task = task::parse_task("name = \"t\"\ninputs = { " + inputs + " }\ncompute = \"\"\"\n" + compute + "\n\"\"\"\nworkloads = [ { " + workload + " } ]\n", "t.toml");
  EXPECT_TRUE(task) << task.error().to_string();
  return *task;
}

/// A stage with two slots of one content on a fake card.
struct Played {
  std::shared_ptr<FakeCard> card = std::make_shared<FakeCard>();
  task::Task task;
  std::unique_ptr<Stage> stage;

  Played(const std::string& inputs, const std::string& compute, const std::string& workload) : task(task_of(inputs, compute, workload)) {
    StageOptions options;
    options.calls = 2;
    options.contents = 1;
    options.card = card;
    auto made = Stage::create(task, task.workloads.front().bindings, options);
    EXPECT_TRUE(made) << made.error().to_string();
    stage = std::move(*made);
  }
  [[nodiscard]] const target::Region& region(const target::Placement& place) const {
    return *stage->regions()[static_cast<size_t>(place.region)];
  }
  [[nodiscard]] int64_t input_elements(size_t i) const {
    return task::element_count(stage->graph().shapes[static_cast<size_t>(stage->graph().graph.inputs[i])]);
  }
  /// What the card has of an input of a slot.
  [[nodiscard]] std::vector<double> input(int slot, size_t i) const {
    const task::DType type = task.inputs[i].type.dtype;
    const target::Placement place = stage->call(slot).tensors[i];
    std::vector<std::byte> bytes(static_cast<size_t>(input_elements(i) * task::size_of(type)));
    region(place).peek(place.offset, bytes.data(), static_cast<int64_t>(bytes.size()));
    std::vector<double> values(static_cast<size_t>(input_elements(i)));
    load_doubles(type, bytes.data(), 0, input_elements(i), values.data());
    return values;
  }
  void put_output(int slot, const std::vector<float>& values) const {
    const target::Placement place = stage->call(slot).tensors[task.inputs.size()];
    region(place).upload(place.offset, reinterpret_cast<const std::byte*>(values.data()), static_cast<int64_t>(values.size() * sizeof(float)));
  }
  /// Zeros in the host's copies of input i.
  void forget(size_t i) {
    for (int slot = 0; slot < 2; ++slot) {
      const target::Placement place = stage->call(slot).tensors[i];
      std::memset(region(place).data() + place.offset, 0, static_cast<size_t>(input_elements(i)) * sizeof(float));
    }
  }
  /// Parts of an input's copy on the host, of 8192 elements, that hold nothing but zeros.
  [[nodiscard]] int parts_untouched(size_t i) const {
    int untouched = 0;
    for (int slot = 0; slot < 2; ++slot) {
      const target::Placement place = stage->call(slot).tensors[i];
      const auto* values = reinterpret_cast<const float*>(region(place).data() + place.offset);
      for (int64_t first = 0; first + 8192 <= input_elements(i); first += 8192)
        untouched += std::all_of(values + first, values + first + 8192, [](float v) { return v == 0; });
    }
    return untouched;
  }
};

}  // namespace hone::evaluate
