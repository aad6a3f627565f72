// Prints the names and sizes of all embedded files of the hone that it is linked with. Built twice,
// inside the build and against the installed package: both must print the same.
#include <hone/base/embedded.h>

#include <cstdio>

int main() {
  for (const std::string_view name : hone::base::list_embedded(""))
    std::printf("%.*s %zu\n", static_cast<int>(name.size()), name.data(),
                hone::base::find_embedded(name)->size());
}
