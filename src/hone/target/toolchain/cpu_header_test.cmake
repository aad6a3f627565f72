# cpu_header_test.cc once for each instruction set that hone/cpu.h knows. The programs skip themselves
# on a CPU that lacks theirs.
set(cpu_header ${CMAKE_CURRENT_LIST_DIR})
set(cpu_header_tests hone_target_toolchain_cpu_header_test)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  foreach(isa avx2 avx512)
    set(test hone_target_toolchain_cpu_header_${isa}_test)
    list(APPEND cpu_header_tests ${test})
    add_executable(${test} ${cpu_header}/cpu_header_test.cc)
    gtest_discover_tests(${test} DISCOVERY_MODE PRE_TEST TEST_PREFIX ${isa}. PROPERTIES LABELS unit TIMEOUT 120)
  endforeach()
  target_compile_options(hone_target_toolchain_cpu_header_avx2_test PRIVATE -mavx2 -mfma -mf16c)
  target_compile_options(hone_target_toolchain_cpu_header_avx512_test PRIVATE
    -mavx512f -mavx512vl -mavx512bw -mavx512dq -mfma -mf16c)
endif()
foreach(test ${cpu_header_tests})
  target_include_directories(${test} PRIVATE ${cpu_header}/include)
  set_target_properties(${test} PROPERTIES LINK_LIBRARIES GTest::gtest_main  # the header needs no room
    DISABLE_PRECOMPILE_HEADERS ON)
  # -O3 again: here the code under test is compiled into the test.
  target_compile_options(${test} PRIVATE $<$<CONFIG:Release>:-O3> -fno-math-errno -fno-trapping-math -ffp-contract=fast)
endforeach()
