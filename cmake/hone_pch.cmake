# Precompiled headers: most of what a source of ours reads is the standard library, fmt and, in tests,
# GoogleTest, the same text each time. It is parsed twice for rooms and twice for tests:
# a precompiled header is of one level of optimisation.
# This changes what is fast, not what is allowed: every source includes what it uses, and -DHONE_PCH=OFF
# builds without. Left out are headers of our own (a change to one would rebuild everything) and
# nlohmann/json.hpp: the templates that its inline functions need are instantiated anew in every source
# that reads the precompiled header, 0.8 s each with g++ 12, and one source in ten uses it.
#
# hone_pch(TARGET sources|light_sources|unit_tests|busy_tests) has TARGET use one. Private to it: nothing reaches who links TARGET.
# Sources with compiler options of their own need SKIP_PRECOMPILE_HEADERS: the flags must agree.
option(HONE_PCH "Precompile the headers that most sources include" ON)

set(hone_pch_sources <algorithm> <cmath> <cstdint> <cstring> <filesystem> <functional> <map> <memory> <optional>
  <set> <span> <string> <string_view> <thread> <vector> <fmt/format.h> <fmt/ranges.h> <tl/expected.hpp>)
set(hone_pch_tests ${hone_pch_sources} <gmock/gmock.h> <gtest/gtest.h>)
set(hone_pch_links Threads::Threads ${HONE_FMT} nlohmann_json::nlohmann_json)  # for their definitions
# What ccache asks for: g++ leaves the include of the header in preprocessed text, and clang leaves the
# time out of the header, which else is another one each time.
set(hone_pch_options $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
  "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC bug 105651 again: with <string> precompiled its false alarms come under two more names. A build
  # without precompiled headers keeps both warnings.
  list(APPEND hone_pch_options -Wno-stringop-overflow -Wno-array-bounds)
endif()

# Who owns a header is of its users' kind, library or program: -fPIC and -fPIE are flags too.
if(HONE_PCH)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/hone_pch.cc CONTENT "int main() {}\n")
  foreach(kind sources light_sources)
    set(owner hone_pch_${kind})
    add_library(${owner} OBJECT ${CMAKE_BINARY_DIR}/hone_pch.cc)
    target_link_libraries(${owner} PRIVATE ${hone_pch_links})
    target_compile_options(${owner} PRIVATE ${hone_pch_options})
    target_precompile_headers(${owner} PRIVATE ${hone_pch_sources})
  endforeach()
  target_compile_options(hone_pch_light_sources PRIVATE ${HONE_LIGHT_OPTIONS})
  if(HONE_TESTS)
    foreach(kind unit busy)
      string(TOUPPER ${kind} options)
      set(owner hone_pch_${kind}_tests)
      add_executable(${owner} ${CMAKE_BINARY_DIR}/hone_pch.cc)
      target_link_libraries(${owner} PRIVATE ${hone_pch_links} GTest::gmock)
      target_compile_options(${owner} PRIVATE ${hone_pch_options} ${HONE_${options}_TEST_OPTIONS})
      target_precompile_headers(${owner} PRIVATE ${hone_pch_tests})
    endforeach()
  endif()
endif()

function(hone_pch target kind)
  if(HONE_PCH)
    target_compile_options(${target} PRIVATE ${hone_pch_options})
    target_precompile_headers(${target} REUSE_FROM hone_pch_${kind})
  endif()
endfunction()
