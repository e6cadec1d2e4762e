# perflab_unity(<target>): with PERFLAB_UNITY (presets release, dev and tsan) so many of the target's files are compiled as one, which
# costs less than half of compiling each alone: most of the time goes into headers and into templates that every file instantiates again.
# Names in unnamed namespaces have to be distinct within a target therefore. Preset clang19 compiles every file alone: there a missing
# include shows, and so it does with `cmake --preset dev -D PERFLAB_UNITY=OFF`.
function(perflab_unity target)
  if(PERFLAB_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${PERFLAB_UNITY})
  endif()
endfunction()

# Whether what is built runs under sanitizers (presets dev and tsan), which make long loops ten times as long.
set(PERFLAB_SANITIZED OFF)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
  set(PERFLAB_SANITIZED ON)
endif()
# Libraries that read what others wrote: where the fuzz targets are linked, the fuzzer sees which of their branches an input takes.
set(PERFLAB_FUZZED_LIBRARIES trace att code capture mcp tune_inputs isolate)
set(PERFLAB_FUZZERS OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
  set(PERFLAB_FUZZERS ON)
endif()
# Libraries with long loops, where a user or a test waits. The others are compiled with -O1 (under sanitizers -O0, which takes two thirds of
# the time).
set(PERFLAB_OPTIMISED_LIBRARIES base stats hal code trace att capture analyze tune tune_inputs replay isolate)

# perflab_library(<folder> SOURCES ... [DEPS ...] [PRIVATE_DEPS ...] [SHAREABLE]): the static library of one folder of src/. SHAREABLE:
# it also becomes part of librocm_perf_isolate.so and is position-independent therefore.
function(perflab_library name)
  cmake_parse_arguments(ARG "SHAREABLE" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(perflab_${name} STATIC ${ARG_SOURCES})
  add_library(perflab::${name} ALIAS perflab_${name})
  target_include_directories(perflab_${name} PUBLIC "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(perflab_${name} PUBLIC ${ARG_DEPS} PRIVATE perflab_flags ${ARG_PRIVATE_DEPS})
  if(ARG_SHAREABLE)
    set_target_properties(perflab_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  if(NOT name IN_LIST PERFLAB_OPTIMISED_LIBRARIES)
    target_compile_options(perflab_${name} PRIVATE $<IF:$<BOOL:${PERFLAB_SANITIZED}>,-O0,-O1>)
  endif()
  if(PERFLAB_FUZZERS AND name IN_LIST PERFLAB_FUZZED_LIBRARIES)
    target_compile_options(perflab_${name} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  perflab_unity(perflab_${name})
endfunction()

# perflab_test(<name> SOURCES ... [DEPS ...] [LABELS <one>] [OPTIMISED]): one GoogleTest program, every suite its own ctest entry.
# Tests read recorded inputs through PERFLAB_SHARED_DIR and project files through PERFLAB_SOURCE_DIR.
# Tests themselves are compiled without optimisation and, in preset dev, without the instructions of the sanitizers, which is half of
# the time of `make test`; what they test has both. OPTIMISED is for those whose own loops are long.
function(perflab_test name)
  cmake_parse_arguments(ARG "OPTIMISED" "" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(test_${name} ${ARG_SOURCES})
  perflab_unity(test_${name})
  target_include_directories(test_${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(test_${name} PRIVATE perflab_flags ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  target_compile_definitions(test_${name} PRIVATE
    PERFLAB_SOURCE_DIR="${PROJECT_SOURCE_DIR}" PERFLAB_SHARED_DIR="${PROJECT_SOURCE_DIR}/../shared"
    PERFLAB_BINARY_DIR="${PROJECT_BINARY_DIR}")
  if(PERFLAB_SANITIZED)
    target_compile_definitions(test_${name} PRIVATE PERFLAB_SANITIZED)  # tests/base/sizes.h
  endif()
  if(NOT ARG_OPTIMISED AND CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_options(test_${name} PRIVATE -O0)
    if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")  # threads are another matter: there every access has to be seen
      target_compile_options(test_${name} PRIVATE -fno-sanitize=all)
    endif()
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)  # an empty list would swallow the next property
  endif()
  set(suites "${CMAKE_CURRENT_BINARY_DIR}/test_${name}_suites.cmake")
  add_custom_command(TARGET test_${name} POST_BUILD BYPRODUCTS "${suites}"
    COMMAND "${CMAKE_COMMAND}" -D NAME=${name} -D PROGRAM=$<TARGET_FILE:test_${name}> -D LABELS=${ARG_LABELS} -D OUT=${suites}
      -D DIRECTORY=${CMAKE_CURRENT_BINARY_DIR} -D RESULTS=${PROJECT_BINARY_DIR}/test-results -P "${PROJECT_SOURCE_DIR}/cmake/discover_suites.cmake"
    VERBATIM)
  # A program that was not built has no list: it is a failing test, not a missing one.
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/test_${name}_include.cmake"
    "if(EXISTS \"${suites}\")\n  include(\"${suites}\")\nelse()\n  add_test(${name}_NOT_BUILT ${name}_NOT_BUILT)\n  set_tests_properties(${name}_NOT_BUILT PROPERTIES LABELS \"${ARG_LABELS}\")\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${CMAKE_CURRENT_BINARY_DIR}/test_${name}_include.cmake")
endfunction()

# perflab_fuzz(<name> SOURCES ... DEPS ...): a libFuzzer target (preset `dev`). In every other preset the same source is linked with
# fuzz/replay_main.cpp, which runs the files it is given: targets cannot rot.
function(perflab_fuzz name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(fuzz_${name} ${ARG_SOURCES})
  target_link_libraries(fuzz_${name} PRIVATE perflab_flags ${ARG_DEPS})
  if(PERFLAB_FUZZERS)
    target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer-no-link)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(fuzz_${name} PRIVATE "${PROJECT_SOURCE_DIR}/fuzz/replay_main.cpp")
  endif()
endfunction()
