// Recurrent operators of PyTorch's (LSTM, GRU, plain recurrent nets) written out as nodes that tasks are made of: for each layer and
// direction the input's product for all time steps at once, then a loop over time whose steps are alike, then the states put
// together. The operator itself is kept beside them (Program::wholes). Pure.
#pragma once
#include <string>

#include "hone/program/program.h"

namespace hone::program {

/// All that can be. Results of the operator become nodes of the same values up to rounding.
[[nodiscard]] Program write_out_loops(Program program);

/// Why a recurrent operator is not written out; empty for one that is, and for all others.
[[nodiscard]] std::string not_written_out(const Program& program, const Node& node);

}  // namespace hone::program
