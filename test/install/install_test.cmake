# Installs a build into a scratch folder, then builds and runs programs that find it there with
# find_package(hone).
#   cmake -D BUILD=<build folder> -D SOURCE=<hone> -D SCRATCH=<folder> -D TASK=<task file>
#         -D NAMES=<embedded_names of the build> -D COMPILER=<c++> -D FLAGS=<its flags> -P install_test.cmake
file(REMOVE_RECURSE ${SCRATCH})
set(prefix ${SCRATCH}/prefix)

function(run)
  execute_process(COMMAND ${ARGV} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}\nended with ${status}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(build_against_package source)
  run(${CMAKE_COMMAND} -S ${source} -B ${SCRATCH}/build -G Ninja -D CMAKE_PREFIX_PATH=${prefix}
      -D CMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS}")
  run(${CMAKE_COMMAND} --build ${SCRATCH}/build)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})

build_against_package(${SOURCE}/test/install)
run(${NAMES})
set(expected "${output}")
run(${SCRATCH}/build/embedded_names)
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "the installed library embeds\n${output}\nthe build\n${expected}")
endif()
file(READ ${SCRATCH}/build/program.txt program)
if(NOT EXISTS ${program})
  message(FATAL_ERROR "hone::program is ${program}, which does not exist")
endif()
file(REMOVE_RECURSE ${SCRATCH}/build)

set(ENV{HONE_HOME} ${SCRATCH}/home)
build_against_package(${SOURCE}/examples/embed)
run(${SCRATCH}/build/embed ${TASK})
if(NOT output MATCHES "softmax")
  message(FATAL_ERROR "examples/embed printed\n${output}")
endif()
file(REMOVE_RECURSE ${SCRATCH})
