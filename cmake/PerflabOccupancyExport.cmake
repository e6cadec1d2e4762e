# The installed header perflab/occupancy.h and its package: find_package(perflab-occupancy) gives perflab::occupancy, an
# interface library that needs nothing but C++20. `cmake --install BUILD --component occupancy` installs it alone.
include(CMakePackageConfigHelpers)
add_executable(make_occupancy_header "${PROJECT_SOURCE_DIR}/src/hal/installed/make_occupancy_header.cpp")
target_link_libraries(make_occupancy_header PRIVATE perflab_flags perflab::hal fmt::fmt)

set(occupancy_include "${PROJECT_BINARY_DIR}/include")
set(occupancy_header "${occupancy_include}/perflab/occupancy.h")
set(occupancy_parts "")
foreach(part occupancy_model.h occupancy_next_step.h installed/occupancy_lookup.h)
  list(APPEND occupancy_parts "${PROJECT_SOURCE_DIR}/src/hal/${part}")
endforeach()
add_custom_command(
  OUTPUT "${occupancy_header}"
  COMMAND "${CMAKE_COMMAND}" -E make_directory "${occupancy_include}/perflab"
  COMMAND make_occupancy_header "${occupancy_header}" "${PROJECT_VERSION}" ${occupancy_parts}
  DEPENDS make_occupancy_header ${occupancy_parts}
  VERBATIM)
add_custom_target(occupancy_header ALL DEPENDS "${occupancy_header}")

add_library(perflab_occupancy INTERFACE)
add_dependencies(perflab_occupancy occupancy_header)
set_target_properties(perflab_occupancy PROPERTIES EXPORT_NAME occupancy)
target_compile_features(perflab_occupancy INTERFACE cxx_std_20)
target_include_directories(perflab_occupancy INTERFACE
  "$<BUILD_INTERFACE:${occupancy_include}>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
add_library(perflab::occupancy ALIAS perflab_occupancy)

set(occupancy_package "${CMAKE_INSTALL_DATADIR}/cmake/perflab-occupancy")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/perflab-occupancy-config.cmake.in"
  "${PROJECT_BINARY_DIR}/perflab-occupancy-config.cmake" INSTALL_DESTINATION "${occupancy_package}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/perflab-occupancy-config-version.cmake"
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES "${occupancy_header}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/perflab" COMPONENT occupancy)
install(TARGETS perflab_occupancy EXPORT perflab-occupancy COMPONENT occupancy)
install(EXPORT perflab-occupancy NAMESPACE perflab:: DESTINATION "${occupancy_package}"
  FILE perflab-occupancy-targets.cmake COMPONENT occupancy)
install(FILES "${PROJECT_BINARY_DIR}/perflab-occupancy-config.cmake" "${PROJECT_BINARY_DIR}/perflab-occupancy-config-version.cmake"
  DESTINATION "${occupancy_package}" COMPONENT occupancy)
