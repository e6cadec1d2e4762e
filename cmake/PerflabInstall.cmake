# What `cmake --install` puts where, beside the program (src/cli), the libraries for other processes (src/isolate, src/record) and the occupancy header
# (PerflabOccupancyExport): the library, find_package(rocm-perf-lab), examples, the sample trace, schemas and the documents to read.
# Everything has fixed permissions: the umask of who builds is in no package.
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(perflab_data "${CMAKE_INSTALL_DATADIR}/rocm-perf-lab")

# All that is installed; `make release` builds it.
add_custom_target(installed DEPENDS rocm-perf rocm_perf_isolate rocm_perf_record occupancy_header sample_trace)

# Examples and the sample trace. Programs among the examples stay programs; what trying the examples left there stays behind.
set(perflab_left_by_use PATTERN "optimization" EXCLUDE PATTERN "rules" EXCLUDE PATTERN "ideas" EXCLUDE PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${perflab_data}"
  FILES_MATCHING PATTERN "*.hip" PATTERN "*.cu" PATTERN "*.h" PATTERN "*.cpp" PATTERN "*.json" PATTERN "*.md" PATTERN "*.yml" ${perflab_left_by_use})
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${perflab_data}"
  FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE
  FILES_MATCHING PATTERN "*.py" PATTERN "*.sh" ${perflab_left_by_use})
install(FILES "${PROJECT_BINARY_DIR}/share/decode_step.db" DESTINATION "${perflab_data}")
install(DIRECTORY "${PROJECT_BINARY_DIR}/share/decode_step_counters" DESTINATION "${perflab_data}")
install(DIRECTORY "${PROJECT_BINARY_DIR}/share/decode_step_recorded" DESTINATION "${perflab_data}" OPTIONAL)

# The schemas, complete (src/report/kit/schema_source.h), for all who do not ask the program: installations, the page's types, the
# documents. They are written when a schema changed, not after every link.
set(perflab_schemas "${PROJECT_BINARY_DIR}/schemas")
file(GLOB schema_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/schemas/*.json")
set(schema_names ${schema_sources})
list(FILTER schema_names INCLUDE REGEX "\\.schema\\.json$")
list(TRANSFORM schema_names REPLACE "^.*/([^/]*)\\.schema\\.json$" "\\1")
add_custom_command(OUTPUT "${perflab_schemas}/analysis.schema.json"
  COMMAND "${CMAKE_COMMAND}" -D PROGRAM=$<TARGET_FILE:rocm-perf> -D "NAMES=${schema_names}" -D "OUT=${perflab_schemas}"
    -P "${PROJECT_SOURCE_DIR}/cmake/write_schemas.cmake"
  DEPENDS ${schema_sources} "${PROJECT_SOURCE_DIR}/src/report/kit/schema_source.cpp" "${PROJECT_SOURCE_DIR}/cmake/write_schemas.cmake"
  COMMENT "The complete schemas" VERBATIM)
add_custom_target(complete_schemas ALL DEPENDS "${perflab_schemas}/analysis.schema.json")
add_dependencies(complete_schemas rocm-perf)
add_dependencies(installed complete_schemas)
install(DIRECTORY "${perflab_schemas}" DESTINATION "${perflab_data}")

# The documents to read, with links between them intact.
install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md" "${PROJECT_SOURCE_DIR}/HACKING.md" "${PROJECT_SOURCE_DIR}/LICENSE"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
  FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png")
# Every field of every document, as tables beside FORMATS.md: where there is a python3, as on every machine that makes packages.
find_program(PERFLAB_PYTHON NAMES python3)
if(PERFLAB_PYTHON)
  set(format_pages "${PROJECT_BINARY_DIR}/formats")
  add_custom_command(OUTPUT "${format_pages}/common.md"
    COMMAND "${PERFLAB_PYTHON}" "${PROJECT_SOURCE_DIR}/scripts/formats" --only-pages --schemas "${perflab_schemas}"
      --pages "${format_pages}"
    DEPENDS "${perflab_schemas}/analysis.schema.json" "${PROJECT_SOURCE_DIR}/scripts/formats"
    COMMENT "The pages of the formats" VERBATIM)
  add_custom_target(format_pages ALL DEPENDS "${format_pages}/common.md")
  add_dependencies(format_pages complete_schemas)
  add_dependencies(installed format_pages)
  install(DIRECTORY "${format_pages}" DESTINATION "${CMAKE_INSTALL_DOCDIR}/docs")
endif()
foreach(folder bench examples)
  install(FILES "${PROJECT_SOURCE_DIR}/${folder}/README.md" DESTINATION "${CMAKE_INSTALL_DOCDIR}/${folder}")
endforeach()

# find_package(rocm-perf-lab): rocm-perf-lab::occupancy (a header) and, in builds that have it, rocm-perf-lab::perflab.
set(perflab_package "${CMAKE_INSTALL_LIBDIR}/cmake/rocm-perf-lab")
set(perflab_exported perflab_occupancy)
if(TARGET perflab_shared)
  list(APPEND perflab_exported perflab_shared)
  add_dependencies(installed perflab_shared)
  install(FILES "${PROJECT_SOURCE_DIR}/src/api/perflab.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/perflab" COMPONENT library)
endif()
# The Python package over it, as Debian's python3 finds it under /usr; a Debian package of its own (PerflabPackage).
if(TARGET perflab_shared)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/python/rocm_perf" DESTINATION lib/python3/dist-packages COMPONENT python
    FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)
endif()
# The exported target needs its header, also where this component alone is installed.
install(FILES "${PROJECT_BINARY_DIR}/include/perflab/occupancy.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/perflab" COMPONENT library)
install(TARGETS ${perflab_exported} EXPORT rocm-perf-lab LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library)
install(EXPORT rocm-perf-lab NAMESPACE rocm-perf-lab:: DESTINATION "${perflab_package}" FILE rocm-perf-lab-targets.cmake COMPONENT library)
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/rocm-perf-lab-config.cmake.in"
  "${PROJECT_BINARY_DIR}/rocm-perf-lab-config.cmake" INSTALL_DESTINATION "${perflab_package}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/rocm-perf-lab-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/rocm-perf-lab-config.cmake" "${PROJECT_BINARY_DIR}/rocm-perf-lab-config-version.cmake"
  DESTINATION "${perflab_package}" COMPONENT library)
