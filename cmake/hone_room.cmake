# hone_room(NAME [APART] [LIGHT] [ROOMS a b ...] [USES target ...] [BUSY test ...] [FIRST test ...] [ALONE test ...]
#           [TOGETHER suite ...])
# One static library per room from src/hone/NAME/**.cc, and a test program for each label of its *_test.cc: hone_NAME_test,
# hone_NAME_slow_test and so on, of which ctest runs each test by itself. The name of the file says the label, and the label
# when it runs:
#   *_test.cc        unit   `make check`, side by side
#   *_slow_test.cc   slow   `make check`, side by side; its tests whose names begin with Long are labelled long
#   *_timed_test.cc  timed  `make check`, one by one, because it measures time or is held to tight deadlines
#   *_long_test.cc   long   `make check-long`
# A LIGHT room's own computing takes no time worth optimising for: it is compiled with HONE_LIGHT_OPTIONS.
# BUSY names tests (folder_file_test) that compute much in code of their own: they are optimised, as are those
# that measure time, and are programs of their own (hone_NAME_busy_test, hone_NAME_slow_busy_test); all others are compiled as
# unit tests are. FIRST names those to start first: what takes long and starts last has the other cores wait. ALONE names
# those with options, a main() or symbols of their own, a program each: hone_NAME_folder_file_test. TOGETHER names slow suites whose
# tests are run by one process, one test to ctest: what they share takes longer to set up than each of them.
#
# With HONE_UNITY a room's sources are compiled a dozen at a time, and so are its tests: what they include is read, and the
# templates that they share are compiled, once for all of them, which takes less than half the time, of tests a quarter. Sources with options of their
# own are compiled alone, and so are those of a room that is APART: small programs take single files from it.
# This changes what is fast, not what is allowed. The presets develop, debug and sanitize compile each source by
# itself, so every source includes what it uses; and what anonymous namespaces declare has another name in each
# file of a room (scripts/check_rooms.py), so that nothing means something else beside another file.
option(HONE_UNITY "Compile a room's sources a dozen at a time" OFF)
set(HONE_UNITY_SOURCES 12)

function(hone_room name)
  cmake_parse_arguments(ARG "APART;LIGHT" "" "ROOMS;USES;BUSY;FIRST;ALONE;TOGETHER" ${ARGN})
  set(dir ${CMAKE_SOURCE_DIR}/src/hone/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${dir}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_(test|main)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(links Threads::Threads ${HONE_FMT} nlohmann_json::nlohmann_json ${ARG_USES})
  set_property(GLOBAL APPEND PROPERTY HONE_USES ${links})  # for cmake/hone_install.cmake
  foreach(room ${ARG_ROOMS})
    list(APPEND links hone_${room})
  endforeach()
  if(sources)
    set_property(GLOBAL APPEND PROPERTY HONE_ROOMS hone_${name})
    add_library(hone_${name} STATIC ${sources})
    target_include_directories(hone_${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src>)
    target_link_libraries(hone_${name} PUBLIC ${links})
    if(ARG_LIGHT)
      target_compile_options(hone_${name} PRIVATE ${HONE_LIGHT_OPTIONS})
      hone_pch(hone_${name} light_sources)
    else()
      hone_pch(hone_${name} sources)
    endif()
    if(HONE_UNITY AND NOT ARG_APART)
      set_target_properties(hone_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${HONE_UNITY_SOURCES})
    endif()
  else()
    add_library(hone_${name} INTERFACE)
    target_link_libraries(hone_${name} INTERFACE ${links})
  endif()
  if(NOT HONE_TESTS)
    return()
  endif()
  set(programs)
  foreach(test ${tests})
    file(RELATIVE_PATH id ${dir} ${test})
    string(REGEX REPLACE "[/.]" "_" id "${id}")
    string(REGEX REPLACE "_cc$" "" id "${id}")
    set(label unit)
    if(test MATCHES "_(slow|timed|long)_test\\.cc$")
      set(label ${CMAKE_MATCH_1})
    endif()
    set(kind unit)
    if(id IN_LIST ARG_BUSY OR label STREQUAL "timed")
      set(kind busy)
    endif()
    if(id IN_LIST ARG_ALONE)
      set(program hone_${name}_${id})
    elseif(label STREQUAL "unit" AND kind STREQUAL "unit")
      set(program hone_${name}_test)
    elseif(label STREQUAL "unit" OR (kind STREQUAL "busy" AND NOT label STREQUAL "timed"))
      string(REPLACE "unit_" "" program "hone_${name}_${label}_busy_test")
    else()
      set(program hone_${name}_${label}_test)
    endif()
    list(APPEND programs ${program})
    list(APPEND sources_of_${program} ${test})
    set(label_of_${program} ${label})
    set(kind_of_${program} ${kind})
    if(id IN_LIST ARG_FIRST)
      set(cost_of_${program} 1000)
    endif()
  endforeach()
  list(REMOVE_DUPLICATES programs)
  foreach(program ${programs})
    add_executable(${program} ${sources_of_${program}})
    target_link_libraries(${program} PRIVATE hone_${name} GTest::gmock GTest::gtest_main)
    target_compile_definitions(${program} PRIVATE HONE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    string(TOUPPER ${kind_of_${program}} options)
    target_compile_options(${program} PRIVATE ${HONE_${options}_TEST_OPTIONS})
    hone_pch(${program} ${kind_of_${program}}_tests)
    if(HONE_UNITY)
      set_target_properties(${program} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${HONE_UNITY_SOURCES})
      target_compile_options(${program} PRIVATE -Wno-shadow)  # a local name hides one of another test's
    endif()
    set(label ${label_of_${program}})
    set(timeout 600)
    if(label STREQUAL "unit")
      set(timeout 120)
    elseif(label STREQUAL "long")
      set(timeout 7200)
    endif()
    set(cost 0)
    if(cost_of_${program})
      set(cost ${cost_of_${program}})
    endif()
    if(label STREQUAL "slow")
      set(others "-Long*:*.Long*")
      if(program STREQUAL "hone_${name}_slow_test")
        foreach(suite ${ARG_TOGETHER})
          string(APPEND others ":*${suite}.*")
          add_test(NAME ${suite} COMMAND ${program} "--gtest_filter=*${suite}.*-Long*:*.Long*")
          set_tests_properties(${suite} PROPERTIES LABELS slow TIMEOUT ${timeout} SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
        endforeach()
      endif()
      gtest_discover_tests(${program} DISCOVERY_MODE PRE_TEST TEST_FILTER "${others}"
        PROPERTIES LABELS slow TIMEOUT ${timeout} COST ${cost})
      gtest_discover_tests(${program} DISCOVERY_MODE PRE_TEST TEST_FILTER "Long*:*.Long*"
        PROPERTIES LABELS long TIMEOUT 7200)
    else()
      gtest_discover_tests(${program} DISCOVERY_MODE PRE_TEST PROPERTIES LABELS ${label} TIMEOUT ${timeout} COST ${cost})
    endif()
  endforeach()
endfunction()
