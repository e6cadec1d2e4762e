# The Debian packages: `make package` (release build, stripped). Depends comes from dpkg-shlibdeps; what is opened or started at run time
# is recommended or suggested. The same commit gives the same bytes: cpack takes times from SOURCE_DATE_EPOCH, sorts what it packs, and
# owners are root (scripts/package sets the variable, scripts/reproducible proves it).
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME rocm-perf-lab)
set(CPACK_PACKAGE_VENDOR "The rocm-perf-lab authors")
set(CPACK_PACKAGE_CONTACT "The rocm-perf-lab authors <maintainers@users.noreply.a-seed-461982ea.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "performance lab for HIP kernels on AMD GPUs")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"rocm-perf reads what rocprofv3 recorded and says which kernel matters, how
long it ran, how stable that is, what it uses and what limits it: critical
path, roofline, occupancy, thread traces, one verdict per kernel. It tunes
configurations, captures and replays single dispatches, and proposes faster
kernels with a proof. Documents are JSON with schemas, or one HTML page.

Recording, capturing and replaying need an AMD GPU; analysing does not. The
package also holds librocm-perf-lab, the header perflab/occupancy.h, examples
and a sample trace.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_MONOLITHIC_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS ${CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS})

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
configure_file("${PROJECT_SOURCE_DIR}/packaging/debian/shlibs.in" "${PROJECT_BINARY_DIR}/packaging/shlibs" @ONLY)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${PROJECT_BINARY_DIR}/packaging/shlibs" "${PROJECT_SOURCE_DIR}/packaging/debian/triggers")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# libclang and its headers: the optimiser's guards. libcurl: language models. llvm-objdump: instruction mixes.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libclang1-19, libclang-common-19-dev, libcurl4, llvm-19, bubblewrap")
# The HIP compiler without ROCm, Debian's HSA runtime, the compiler of host builds, a proposer among the examples, a cluster. rocprofv3 is AMD's own package.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
  "clang-19, lld-19, rocm-device-libs, libamdhip64-dev, libhsa-runtime64-1, g++, python3:any, slurm-client, rocprofiler-sdk")

# The Python package is one of its own, without a machine's code: everything else is rocm-perf-lab. Components are named one by one since a
# package of all in one (CPACK_MONOLITHIC_INSTALL) cannot leave one out otherwise.
get_cmake_property(perflab_components COMPONENTS)
list(REMOVE_ITEM perflab_components python)
set(CPACK_INSTALL_CMAKE_PROJECTS "")
foreach(component ${perflab_components})
  list(APPEND CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR}" "${PROJECT_NAME}" "${component}" /)
endforeach()

set(CPACK_PERFLAB_PACKAGING "${PROJECT_SOURCE_DIR}/packaging/debian")
set(CPACK_PRE_BUILD_SCRIPTS "${CPACK_PERFLAB_PACKAGING}/finish.cmake")
include(CPack)
configure_file("${PROJECT_SOURCE_DIR}/packaging/debian/python.cmake.in" "${PROJECT_BINARY_DIR}/CPackPythonConfig.cmake" @ONLY)
