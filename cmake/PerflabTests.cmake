# perflab_test(<folder> SOURCES ... [OPTIMISED <source>...] [DEPS ...] [LABEL <label>] [SECONDS <n>]): the GoogleTest program of one
# folder of tests/, every suite its own ctest entry, <folder>.<Suite>. Tests read recorded inputs through PERFLAB_SHARED_DIR and project files through
# PERFLAB_SOURCE_DIR. Tests themselves are compiled without optimisation and, in preset dev, without the instructions of the sanitizers,
# which is half of the time of `make test`; what they test has both. OPTIMISED sources have both too: their own loops are long.
function(perflab_test name)
  cmake_parse_arguments(ARG "" "LABEL;SECONDS" "SOURCES;OPTIMISED;DEPS" ${ARGN})
  add_executable(test_${name} ${ARG_SOURCES})
  set(options ${PERFLAB_TEST_OPTIONS})
  target_compile_options(test_${name} PRIVATE ${options})
  perflab_test_compiled(test_${name} ${ARG_DEPS})
  perflab_precompiled(test_${name} test ${options})
  if(ARG_OPTIMISED)
    add_library(test_${name}_optimised OBJECT ${ARG_OPTIMISED})
    perflab_test_compiled(test_${name}_optimised ${ARG_DEPS})
    target_link_libraries(test_${name} PRIVATE test_${name}_optimised)
  endif()
  target_link_libraries(test_${name} PRIVATE GTest::gtest_main)

  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  if(NOT ARG_SECONDS)
    set(ARG_SECONDS ${PERFLAB_SUITE_SECONDS})
  endif()
  set(suites "${CMAKE_CURRENT_BINARY_DIR}/test_${name}_suites.cmake")
  add_custom_command(TARGET test_${name} POST_BUILD BYPRODUCTS "${suites}"
    COMMAND "${CMAKE_COMMAND}" -D NAME=${name} -D PROGRAM=$<TARGET_FILE:test_${name}> -D LABEL=${ARG_LABEL} -D OUT=${suites}
      -D "NAMED=$<JOIN:$<TARGET_PROPERTY:test_${name},PERFLAB_SUITES>,+>" -D SECONDS=${ARG_SECONDS}
      -D DIRECTORY=${CMAKE_CURRENT_BINARY_DIR} -D RESULTS=${PROJECT_BINARY_DIR}/test-results -P "${PROJECT_SOURCE_DIR}/cmake/discover_suites.cmake"
    VERBATIM)
  # A program that was not built has no list: it is a failing test, not a missing one.
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/test_${name}_include.cmake"
    "if(EXISTS \"${suites}\")\n  include(\"${suites}\")\nelse()\n  add_test(${name}_NOT_BUILT ${name}_NOT_BUILT)\n  set_tests_properties(${name}_NOT_BUILT PROPERTIES LABELS \"${ARG_LABEL}\")\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${CMAKE_CURRENT_BINARY_DIR}/test_${name}_include.cmake")
endfunction()

# A suite may take so many seconds. Limits find what hangs, they measure nothing: each is about twice or more of what the suite
# took on two cores beside four busy loops. Tests without suites have CMakePresets.json's limit.
set(PERFLAB_SUITE_SECONDS 240)

# perflab_suites(<folder> <Suite>... [SECONDS <n>] [LABELS ...]): a longer limit for some suites of a folder, or labels beside the folder's.
# With label `slow` they are left to CI (.ci/run): `make test` does without them. A suite that the program does not have is an error
# when it is linked.
function(perflab_suites name)
  cmake_parse_arguments(ARG "" "SECONDS" "LABELS" ${ARGN})
  string(REPLACE ";" "," labels "${ARG_LABELS}")
  foreach(suite IN LISTS ARG_UNPARSED_ARGUMENTS)
    set_property(TARGET test_${name} APPEND PROPERTY PERFLAB_SUITES "${suite}=${ARG_SECONDS}=${labels}")
  endforeach()
endfunction()

# How tests are compiled, beside CMAKE_CXX_FLAGS. Threads are another matter: there every access has to be seen.
set(PERFLAB_TEST_OPTIONS -Og)
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(PERFLAB_TEST_OPTIONS -O0)
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
    list(APPEND PERFLAB_TEST_OPTIONS -fno-sanitize=all)
  endif()
endif()

# perflab_as_tests(<target>...): writers, stand-ins' compilers and sample programs are test code, and compiled as that; what is opened
# into other processes keeps its sanitizers. Of release few are built (make demo): reading the headers once more costs less there.
function(perflab_as_tests)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE ${PERFLAB_TEST_OPTIONS})
    perflab_unity(${target})
    if(PERFLAB_SANITIZED)
      perflab_precompiled(${target} test ${PERFLAB_TEST_OPTIONS})
    endif()
  endforeach()
endfunction()

function(perflab_test_compiled target)
  perflab_unity(${target})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${target} PRIVATE perflab_flags ${ARGN} fmt::fmt GTest::gmock)
  target_compile_definitions(${target} PRIVATE
    PERFLAB_SOURCE_DIR="${PROJECT_SOURCE_DIR}" PERFLAB_SHARED_DIR="${PROJECT_SOURCE_DIR}/../shared"
    PERFLAB_BINARY_DIR="${PROJECT_BINARY_DIR}")
  if(PERFLAB_SANITIZED)
    target_compile_definitions(${target} PRIVATE PERFLAB_SANITIZED)  # tests/base/sizes.h
  endif()
endfunction()

# perflab_compile_cases(<test> <source> <last>): the source with PERFLAB_CASE=0 is accepted by the compiler, and with 1 to <last> refused.
function(perflab_compile_cases test source last)
  foreach(case RANGE ${last})
    add_test(NAME ${test}.case_${case}
      COMMAND "${CMAKE_CXX_COMPILER}" -std=c++23 -fsyntax-only "-I${PROJECT_SOURCE_DIR}/src" -DPERFLAB_CASE=${case}
              "${CMAKE_CURRENT_SOURCE_DIR}/${source}")
    set_tests_properties(${test}.case_${case} PROPERTIES LABELS unit TIMEOUT 60)
    if(case GREATER 0)
      set_tests_properties(${test}.case_${case} PROPERTIES WILL_FAIL ON)
    endif()
  endforeach()
endfunction()

# perflab_cupti_headers(<target> <source>...): these sources compare numbers and layouts with the toolkit's headers of CUDA 13, where
# they are installed. Elsewhere they say so and compare nothing. Their macros and global names stay out of other files.
function(perflab_cupti_headers target)
  find_path(PERFLAB_CUPTI_INCLUDE cupti.h PATHS /usr/local/cuda ENV CUDA_HOME ENV CUDA_PATH PATH_SUFFIXES include extras/CUPTI/include)
  mark_as_advanced(PERFLAB_CUPTI_INCLUDE)
  if(NOT PERFLAB_CUPTI_INCLUDE OR NOT EXISTS "${PERFLAB_CUPTI_INCLUDE}/cuda.h")
    return()
  endif()
  file(STRINGS "${PERFLAB_CUPTI_INCLUDE}/cupti_version.h" version REGEX "^#define CUPTI_API_VERSION 13[0-9][0-9][0-9][0-9]")
  if(version)
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON COMPILE_DEFINITIONS PERFLAB_CUPTI_HEADERS)
    target_include_directories(${target} SYSTEM PRIVATE "${PERFLAB_CUPTI_INCLUDE}")
  endif()
endfunction()
