// Where a program is cut into tasks. A region is built around one heavy operator (a product, a convolution, attention) with
// what is element by element, a norm or a reduction around it; two heavy ones where what lies between them is larger than
// all else they read and write (attention written out). Views move no bytes: each region that reads one takes it along, except where
// something is taken apart into many equal pieces that are read by as many tasks, which is one step of PyTorch's: so a loop's steps are one task.
// What puts the results of a loop's steps together is a step of PyTorch's too. What an operator was written out as shares no region with
// anything else, so that PyTorch can run the operator in its place. Operators that the language lacks are steps of their own, for PyTorch. What hangs on weights alone is folded when they
// are loaded. Regions are in an order in which they can run. Pure.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hone/program/program.h"

namespace hone::program {

struct Region {
  enum class Kind : uint8_t {
    kTask,   ///< nodes that become a task
    kEager,  ///< PyTorch runs it: the language lacks it
    kFold,   ///< PyTorch runs it once for each set of weights
  } kind = Kind::kTask;
  std::vector<int> nodes;    ///< without views; in the program's order
  std::vector<int> inputs;   ///< nodes that it reads: the program's inputs or results of regions before it
  std::vector<int> results;  ///< nodes that others read, or the program gives: its own, or views of its own that the program gives
  std::string why;           ///< of eager ones: the reason
  int whole = -1;            ///< index into Program::wholes: a part of what that was written out as; those of one lie one behind the other
};

struct CutOptions {
  int most_operations = 100;   ///< of a region, views included
  int most_inputs = 64;
};

/// All of a normalised program. `views` are repeated where they are read and appear in no region's nodes.
[[nodiscard]] std::vector<Region> cut(const Program& program, const CutOptions& options = {});


/// Names of nodes that hang on arguments of forward() and that no task can say: what may be taken apart.
[[nodiscard]] std::set<std::string> without_words(const Program& program);
/// Of the operators that were taken apart those that it does no good, and why: no task can say one of their pieces, or the pieces are in more regions than
/// there are heavy operators among them, so that PyTorch could not run its kernel for the operator in their place.
[[nodiscard]] std::map<std::string, std::string> apart_for_nothing(const Program& program, const std::vector<Region>& regions);

/// The nodes a region has to write for its results: its own and the repeated ones between them and its inputs, in the
/// program's order.
[[nodiscard]] std::vector<int> body(const Program& program, const Region& region);

}  // namespace hone::program
