// What language models are told of the place and the run they write for: processor, build, measured peaks, what each
// workload must move and compute and how fast that can be, what the run spends. Pure text.
#pragma once
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "hone/evaluate/evaluator.h"
#include "hone/target/calibrate/peaks.h"
#include "hone/target/card.h"
#include "hone/task/task.h"

namespace hone::engine {

struct RunOptions;

/// "Instruction set extensions …", a line a compiler, from Toolchain::extensions(), and the peaks measured on this CPU.
[[nodiscard]] std::string cpu_facts(const std::string& extensions, const target::CpuPeaks& peaks);

/// What a card is and does: multiprocessors, shared memory, peaks from its clocks.
[[nodiscard]] std::string card_facts(const target::CardInfo& card, const target::CpuPeaks& peaks);
/// "SMS 132, SHARED_MAX 232448, WAVE 32"
[[nodiscard]] std::string limits_text(const kernel::Limits& limits);

/// Lines on machine (as Services::machine_json), toolchain, `place` (cpu_facts, or empty), workloads and the run's
/// budget. `bounds`: a workload each, or empty where nobody knows.
[[nodiscard]] std::string briefing(const nlohmann::json& machine, const std::string& toolchain, const std::string& place, const task::Task& task,
                                   const std::vector<evaluate::LightBound>& bounds, const RunOptions& options);

}  // namespace hone::engine
