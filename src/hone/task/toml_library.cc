// The functions of toml++, compiled once for the whole program: with TOML_IMPLEMENTATION, as CMakeLists.txt says.
#include <toml++/toml.h>
