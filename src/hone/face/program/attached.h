// hone at the other end of torch.compile's backend (python/hone_torch): started by the user's process for one graph, which it
// asks for everything else over a socket. It decides what runs by a kernel: of champions that the archive knows at once, of
// others once they are found, and only where the whole is FASTER than the nested backend alone.
#pragma once
#include <string>

#include "hone/base/result.h"

namespace hone::face {

struct AttachArguments {
  int descriptor = -1;           ///< the socket
  std::string when = "later";    ///< a search: "now", "later" (the user's process goes on meanwhile) or "never"
  std::string budget = "60s";
  std::string nested;            ///< name of the backend that runs what hone does not
  int threads = 0;
  std::string target = "cpu";    ///< that the graph's tensors lie on
};

[[nodiscard]] Result<int> attach(const AttachArguments& arguments);

}  // namespace hone::face
