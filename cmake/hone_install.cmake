# hone_install(PROGRAM)
# What `cmake --install` puts into place: PROGRAM, the headers, and all rooms as one archive, libhone.a,
# with the CMake package that makes find_package(hone) and hone::hone work. Call it after the last
# hone_room() and hone_embed().
#
# Embedded files reach a program only when the linker takes their objects out of the archive, and
# nothing refers to those. So hone::hone carries one --undefined option for each.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

function(hone_install program)
  get_property(rooms GLOBAL PROPERTY HONE_ROOMS)
  get_property(uses GLOBAL PROPERTY HONE_USES)
  get_property(embedded GLOBAL PROPERTY HONE_EMBEDDED)
  list(REMOVE_DUPLICATES uses)

  add_library(hone_library STATIC)
  set_target_properties(hone_library PROPERTIES OUTPUT_NAME hone EXPORT_NAME hone LINKER_LANGUAGE CXX)
  foreach(objects ${rooms} ${embedded})
    target_sources(hone_library PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
  foreach(id ${embedded})
    target_link_options(hone_library INTERFACE LINKER:--undefined=${id}_anchor)
  endforeach()
  target_link_libraries(hone_library INTERFACE ${uses})
  target_include_directories(hone_library INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(hone_library INTERFACE cxx_std_20)

  set_target_properties(${program} PROPERTIES EXPORT_NAME program)
  install(TARGETS ${program} hone_library EXPORT hone)
  # Not installed: helpers of tests, and the headers for kernels (the program carries those itself).
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/src/hone DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h" PATTERN testing EXCLUDE PATTERN include EXCLUDE)

  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/hone)
  configure_package_config_file(cmake/hone_config.cmake.in ${CMAKE_BINARY_DIR}/hone-config.cmake
    INSTALL_DESTINATION ${package})
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/hone-config-version.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/hone-config.cmake ${CMAKE_BINARY_DIR}/hone-config-version.cmake
    cmake/hone_dependencies.cmake DESTINATION ${package})
  install(EXPORT hone NAMESPACE hone:: FILE hone_targets.cmake DESTINATION ${package})
endfunction()
