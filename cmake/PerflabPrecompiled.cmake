# perflab_precompiled(<target> <kind> [<option>...]): the headers of cmake/precompiled/<kind>.h are compiled once for all targets whose
# compile options are the same (presets with PERFLAB_PRECOMPILED: dev, release, tsan). The options are those that the target has beside
# perflab_flags and CMAKE_CXX_FLAGS: compilers refuse precompiled headers of other options.
#
# ccache: a precompiled header names the folder that it was made in, so it is compiled without ccache, and what ccache compares is a hash
# of what is in it (FILE.sum, CCACHE_PCH_EXTSUM): clones in other folders share what they compile, as without precompiled headers.
function(perflab_precompiled target kind)
  if(NOT PERFLAB_PRECOMPILED)
    return()
  endif()
  get_target_property(type ${target} TYPE)
  get_target_property(independent ${target} POSITION_INDEPENDENT_CODE)
  set(options ${ARGN})
  if(independent AND type STREQUAL "EXECUTABLE")
    list(APPEND options -fPIE)  # what CMake gives to programs; to libraries -fPIC
    set(independent OFF)
  endif()
  string(SHA256 key "${kind};${independent};${options}")
  string(SUBSTRING "${key}" 0 8 key)
  set(owner "precompiled_${kind}_${key}")
  if(NOT TARGET ${owner})
    perflab_precompiled_owner(${owner} ${kind} "${independent}" ${options})
  endif()
  target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
  target_precompile_headers(${target} REUSE_FROM ${owner})
  if(TARGET ${owner}_sum)
    add_dependencies(${target} ${owner}_sum)
  endif()
endfunction()

# What is compiled once for all of them.
function(perflab_precompiled_owner owner kind independent)
  add_library(${owner} OBJECT EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/cmake/precompiled/empty.cpp")
  set_target_properties(${owner} PROPERTIES POSITION_INDEPENDENT_CODE ${independent} CXX_COMPILER_LAUNCHER "")
  target_link_libraries(${owner} PRIVATE perflab_flags nlohmann_json::nlohmann_json fmt::fmt)
  if(kind STREQUAL "test")
    target_link_libraries(${owner} PRIVATE GTest::gmock)
  endif()
  target_compile_options(${owner} PRIVATE ${ARGN})
  set(header "${PROJECT_SOURCE_DIR}/cmake/precompiled/${kind}.h")
  target_precompile_headers(${owner} PRIVATE "${header}")
  if(NOT CCACHE_PROGRAM)
    return()
  endif()
  list(JOIN ARGN " " options)
  set(made "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${owner}.dir/cmake_pch.hxx")
  string(APPEND made $<IF:$<STREQUAL:${CMAKE_CXX_COMPILER_ID},Clang>,.pch,.gch>)
  add_custom_command(OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${owner}.stamp"
    COMMAND "${CMAKE_COMMAND}" "-DCOMPILER=${CMAKE_CXX_COMPILER}" "-DFLAGS=${CMAKE_CXX_FLAGS} ${options}" "-DHEADER=${header}" "-DOUT=${made}.sum"
      -P "${PROJECT_SOURCE_DIR}/cmake/precompiled_sum.cmake"
    COMMAND "${CMAKE_COMMAND}" -E touch "${CMAKE_CURRENT_BINARY_DIR}/${owner}.stamp"
    DEPENDS "${made}" "${PROJECT_SOURCE_DIR}/cmake/precompiled_sum.cmake"
    VERBATIM)
  add_custom_target(${owner}_sum DEPENDS "${CMAKE_CURRENT_BINARY_DIR}/${owner}.stamp")
endfunction()
