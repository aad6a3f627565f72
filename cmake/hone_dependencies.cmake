# The libraries that every room may use. Included by the build and, installed beside
# hone-config.cmake, by whoever links hone::hone: one list for both.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(sodium REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(seccomp REQUIRED IMPORTED_TARGET libseccomp)
pkg_check_modules(sqlite3 REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(zlib REQUIRED IMPORTED_TARGET zlib)
find_package(Eigen3 REQUIRED NO_MODULE)
pkg_check_modules(curl REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(httplib REQUIRED IMPORTED_TARGET cpp-httplib)
