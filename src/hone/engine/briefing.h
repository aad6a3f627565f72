// What language models are told of the place and the run they write for: processor, build, measured peaks, what each
// workload must move and compute and how fast that can be, what the run spends. Pure text.
#pragma once
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "hone/evaluate/evaluator.h"
#include "hone/search/strategy.h"
#include "hone/target/calibrate/peaks.h"
#include "hone/target/card.h"
#include "hone/task/task.h"

namespace hone::engine {

struct RunOptions;

/// The processor (`machine` as Services::machine_json), "Instruction set extensions …", a line a compiler, from Toolchain::extensions(),
/// and the peaks measured on this CPU.
[[nodiscard]] std::string cpu_facts(const nlohmann::json& machine, const std::string& extensions, const target::CpuPeaks& peaks);

/// What a card is and does: multiprocessors, shared memory, peaks from its clocks.
[[nodiscard]] std::string card_facts(const target::CardInfo& card, const target::CpuPeaks& peaks);
/// "SMS 132, SHARED_MAX 232448, WAVE 32"
[[nodiscard]] std::string limits_text(const kernel::Limits& limits);

/// Files of the library's kernels among `seeds` that are written in `language`, two at the most, of different make where there are any.
[[nodiscard]] std::vector<std::string> worked_kernels(const std::vector<search::Seed>& seeds, kernel::Language language);

/// Directions for those who write kernels, most promising first: from what the task computes, the size of its workloads and what bounds
/// them. Never none.
[[nodiscard]] std::vector<std::string> directions_for(const task::Task& task, const std::vector<evaluate::LightBound>& bounds, const kernel::Limits& limits);

/// Lines on toolchain, `place` (cpu_facts, card_facts or what the emulator says), workloads and the run's budget. `bounds`: a
/// workload each, or empty where nobody knows.
[[nodiscard]] std::string briefing(const std::string& toolchain, const std::string& place, const task::Task& task,
                                   const std::vector<evaluate::LightBound>& bounds, const RunOptions& options);

}  // namespace hone::engine
