// A module of the pretend card: the names of the functions in a cubin, which nvcc made of a test's kernel, or in a text in PTX.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>

#include "pretend_kernels.h"

namespace hone::pretend {

struct Function {
  const Kernel* kernel = nullptr;
  unsigned most_shared = 48 << 10;       ///< dynamic, until it is set
  unsigned most_blocks = 8;              ///< of a cluster, likewise
};

class Module {
 public:
  /// Null where the image is no cubin.
  [[nodiscard]] static std::unique_ptr<Module> load(const void* image);
  /// Null where it has no such function.
  [[nodiscard]] Function* find(const std::string& name);
  [[nodiscard]] bool dies_when_unloaded() const { return dies_; }
  [[nodiscard]] size_t counts() const { return counts_; }   ///< words of its variable hone_counts; 0: it has none

 private:
  std::set<std::string> names_;
  std::map<std::string, Function> functions_;
  bool dies_ = false;
  size_t counts_ = 0;
};

}  // namespace hone::pretend
