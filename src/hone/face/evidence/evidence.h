// Evidence: one file with all that a claim about a kernel rests on, so that somebody else can see what of it holds on
// another machine. Its JSON form is stable (docs/json.md). Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/result.h"
#include "hone/evaluate/verdict.h"
#include "hone/target/target.h"

namespace hone::face::evidence {

/// What was timed: the kernel itself ("kernel"), or an opponent that is a kernel of ours.
struct Binary {
  std::string of;
  std::string build;    ///< of source, flags and compiler
  std::string code;     ///< names the machine code: the same for sources that became the same
  std::string content;  ///< of the file that was loaded; empty where there is none
  std::string command;  ///< that made it
};

struct Evidence {
  std::string hone;     ///< version
  std::string run;      ///< empty: made by itself
  int64_t unix_ms = 0;
  std::string task, task_hash, task_toml;
  std::string kernel_hash, source, plan;  ///< `source`: a whole file, configuration included; `plan`: its header alone
  target::Place place;
  int threads = 0;      ///< 0: all
  std::vector<Binary> binaries;
  evaluate::Promotion promotion;          ///< seeds, raw samples, verdict, comparisons
  bool sealed = true;   ///< read only: the file is as it was written
};

/// The whole file. It ends with a hash of all the rest: of use against slips, none against somebody who computes it anew.
[[nodiscard]] std::string to_text(const Evidence& evidence);
/// kInput for what is no evidence; a file that was changed is read, with `sealed` false.
[[nodiscard]] Result<Evidence> evidence_from(std::string_view text, const std::string& name);

}  // namespace hone::face::evidence
