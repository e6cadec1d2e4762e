# perflab_library(<folder> SOURCES ... [DEPS ...] [PRIVATE_DEPS ...]): the static library of one folder of src/.
function(perflab_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(perflab_${name} STATIC ${ARG_SOURCES})
  add_library(perflab::${name} ALIAS perflab_${name})
  target_include_directories(perflab_${name} PUBLIC "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(perflab_${name} PUBLIC ${ARG_DEPS} PRIVATE perflab_flags ${ARG_PRIVATE_DEPS})
endfunction()

# perflab_test(<name> SOURCES ... [DEPS ...] [LABELS <one>] [OPTIMISED]): one GoogleTest program, every TEST its own ctest entry.
# Tests read recorded inputs through PERFLAB_SHARED_DIR and project files through PERFLAB_SOURCE_DIR.
# Tests themselves are compiled without optimisation, which is half of the time of `make test`; OPTIMISED is for those whose own loops
# are long.
function(perflab_test name)
  cmake_parse_arguments(ARG "OPTIMISED" "" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(test_${name} ${ARG_SOURCES})
  target_include_directories(test_${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(test_${name} PRIVATE perflab_flags ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  target_compile_definitions(test_${name} PRIVATE
    PERFLAB_SOURCE_DIR="${PROJECT_SOURCE_DIR}" PERFLAB_SHARED_DIR="${PROJECT_SOURCE_DIR}/../shared"
    PERFLAB_BINARY_DIR="${PROJECT_BINARY_DIR}")
  if(NOT ARG_OPTIMISED AND CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_options(test_${name} PRIVATE -O0)
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)  # an empty list would swallow the next property
  endif()
  include(GoogleTest)
  gtest_discover_tests(test_${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 120 PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 300)
endfunction()

# perflab_fuzz(<name> SOURCES ... DEPS ...): a libFuzzer target. Without -fsanitize=fuzzer (every preset but `fuzz`)
# the same source is linked with fuzz/replay_main.cpp, which runs the files it is given: targets cannot rot, and the
# seed corpus is a test everywhere.
function(perflab_fuzz name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(fuzz_${name} ${ARG_SOURCES})
  target_link_libraries(fuzz_${name} PRIVATE perflab_flags ${ARG_DEPS})
  if(CMAKE_CXX_FLAGS MATCHES "fuzzer-no-link")
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(fuzz_${name} PRIVATE "${PROJECT_SOURCE_DIR}/fuzz/replay_main.cpp")
  endif()
endfunction()
