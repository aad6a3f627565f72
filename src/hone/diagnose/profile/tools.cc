#include "hone/diagnose/profile/tools.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace hone::diagnose {

std::string first_tool(std::initializer_list<const char*> names) {
  const char* const path = std::getenv("PATH");
  for (const char* name : names) {
    std::stringstream folders(path ? path : "/usr/bin:/bin");
    for (std::string folder; std::getline(folders, folder, ':');)
      if (::access((std::filesystem::path(folder) / name).c_str(), X_OK) == 0) return name;
  }
  return {};
}

}  // namespace hone::diagnose
