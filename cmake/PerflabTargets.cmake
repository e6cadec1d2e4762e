# perflab_unity(<target>): with PERFLAB_UNITY (40) so many of the target's files are compiled as one, which costs less than half of
# compiling each alone: most of the time goes into headers and into templates that every file instantiates again.
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
set(PERFLAB_FUZZED_LIBRARIES sqlite trace att code capture mcp tune_inputs isolate record)
set(PERFLAB_FUZZERS OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
  set(PERFLAB_FUZZERS ON)
endif()
# Libraries with long loops, where a user or a test waits. The others are compiled with -Og, in two thirds of the time (in Debug builds
# with -O0).
set(PERFLAB_OPTIMISED_LIBRARIES base packed sqlite stats hal code trace att pc_sampling capture mcp analyze ranks tune tune_inputs replay isolate record)
set(PERFLAB_UNOPTIMISED -Og)
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(PERFLAB_UNOPTIMISED -O0)
endif()

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
  set(options "")
  if(NOT name IN_LIST PERFLAB_OPTIMISED_LIBRARIES)
    list(APPEND options ${PERFLAB_UNOPTIMISED})
  endif()
  if(PERFLAB_FUZZERS AND name IN_LIST PERFLAB_FUZZED_LIBRARIES)
    list(APPEND options -fsanitize=fuzzer-no-link)
  endif()
  target_compile_options(perflab_${name} PRIVATE ${options})
  perflab_unity(perflab_${name})
  perflab_precompiled(perflab_${name} library ${options})
endfunction()

# perflab_optimised_first(<target> <library>...): of a template that several libraries instantiate the linker keeps the first. It is to be an
# optimised one: otherwise the program runs those of libraries without long loops, and takes up to three times as long (bench/README.md).
function(perflab_optimised_first target)
  set(archives "")
  foreach(name IN LISTS ARGN)
    list(APPEND archives "$<TARGET_FILE:perflab_${name}>")
    add_dependencies(${target} perflab_${name})  # an option of the linker is none
  endforeach()
  list(JOIN archives "," archives)
  target_link_options(${target} BEFORE PRIVATE "LINKER:--whole-archive,${archives},--no-whole-archive")
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
    perflab_precompiled(fuzz_${name} library -fsanitize=fuzzer-no-link)
  else()
    target_sources(fuzz_${name} PRIVATE "${PROJECT_SOURCE_DIR}/fuzz/replay_main.cpp")
  endif()
endfunction()
