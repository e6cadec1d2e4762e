# perflab_embed(<target> NAMESPACE <ns> NAME <identifier> FILES <file>... [BYTES]): puts text files into the binary.
# Generates <identifier>.h/.cpp with `std::span<const EmbeddedFile> <identifier>()`, each entry {file name, text}, sorted by name.
# BYTES: written byte by byte, for files that are not our own: raw literals cut UTF-8 apart, and lose carriage returns.
function(perflab_embed target)
  cmake_parse_arguments(ARG "BYTES" "NAMESPACE;NAME" "FILES" ${ARGN})
  set(out_dir "${CMAKE_CURRENT_BINARY_DIR}/embedded")
  set(header "${out_dir}/${ARG_NAME}.h")
  set(source "${out_dir}/${ARG_NAME}.cpp")
  list(SORT ARG_FILES)
  add_custom_command(
    OUTPUT "${source}" "${header}"
    COMMAND "${CMAKE_COMMAND}" "-DNS=${ARG_NAMESPACE}" "-DNAME=${ARG_NAME}" "-DHEADER=${header}" "-DSOURCE=${source}" "-DBYTES=${ARG_BYTES}"
            "-DFILES=${ARG_FILES}" -P "${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake"
    DEPENDS ${ARG_FILES} "${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake"
    VERBATIM)
  target_sources(${target} PRIVATE "${source}" "${header}")
  set_source_files_properties("${source}" PROPERTIES
    SKIP_UNITY_BUILD_INCLUSION ON              # every one has the same names
    COMPILE_OPTIONS -Wno-overlength-strings)  # clang's limit is that of the standard, a page's length is not
  target_include_directories(${target} PRIVATE "${out_dir}")
endfunction()
