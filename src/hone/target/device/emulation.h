// What a session does besides for a GPU kernel on the emulator: refuses launches that the device would not take,
// gives the emulator room, and puts what it found into words. Thread-safe.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "hone/target/device/session.h"
#include "hone/target/simt_device.h"
#include "hone/target/worker/protocol.h"

namespace hone::target {

/// Static shared memory of launch `number`, as the build's facts have it (bytes).
[[nodiscard]] int64_t static_shared(const std::map<std::string, double>& facts, const std::string& function);

/// Why the device refuses a launch of the plan; empty when it takes them all.
[[nodiscard]] std::string refuse_launches(const SimtDevice& device, const kernel::BoundPlan& plan,
                                          const std::map<std::string, double>& facts);

/// Fills in what the emulator needs. Buffers and launches are there already.
void prepare_emulation(const SimtDevice& device, const kernel::BoundPlan& plan, const std::map<std::string, double>& facts,
                       std::span<const int64_t> tensor_bytes, worker::Control& control);

/// Reads the report of a process that ended (it is the candidate's: it is believed against the candidate only).
void describe_finding(const simt::Report& report, const std::filesystem::path& artifact, const std::vector<std::string>& names,
                      BatchOutcome& outcome);

}  // namespace hone::target
