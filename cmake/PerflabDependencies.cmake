# Every third-party package of the project, by its Debian 12 name (Ubuntu 24.04 has the same); scripts/bootstrap installs them.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)            # libfmt-dev: text formatting (g++ 12 has no <format>)
find_package(CLI11 REQUIRED)          # libcli11-dev: command line
find_package(nlohmann_json REQUIRED)  # nlohmann-json3-dev: JSON values
find_package(valijson REQUIRED)       # libvalijson-dev: JSON Schema validation
if(NOT TARGET ValiJSON::valijson)     # the target's name in newer versions
  add_library(ValiJSON::valijson ALIAS valijson)
endif()
find_package(SQLite3 REQUIRED)        # libsqlite3-dev: the rocpd format is SQLite
find_library(SQLITE3_STATIC_LIBRARY libsqlite3.a REQUIRED)  # libsqlite3-dev: in librocm_perf_record.so
find_package(ZLIB REQUIRED)             # zlib1g-dev: compressed offload bundles
find_package(zstd REQUIRED)             # libzstd-dev: compressed offload bundles (the default of hipcc --offload-compress)
find_package(simdjson REQUIRED)         # libsimdjson-dev: thread traces, hundreds of MB of JSON
find_package(Eigen3 REQUIRED)           # libeigen3-dev: dense linear algebra of the tuning models
find_package(GTest REQUIRED)          # libgtest-dev, libgmock-dev

# libclang-19-dev: declarations of libclang's C interface. The library itself is opened at run time: a user's ROCm headers need the
# user's clang, and starting rocm-perf must not cost what LLVM costs.
find_path(CLANG_C_INCLUDE_DIR clang-c/Index.h PATHS /usr/lib/llvm-19/include /usr/lib/llvm-20/include REQUIRED)  # libclang-19-dev
add_library(perflab_clang_headers INTERFACE)
target_include_directories(perflab_clang_headers SYSTEM INTERFACE "${CLANG_C_INCLUDE_DIR}")

find_package(CURL REQUIRED)           # libcurl4-openssl-dev: chat completions over HTTPS

find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)  # libxxhash-dev (header-only use): keys, frames of captures
find_package(OpenSSL 3 REQUIRED COMPONENTS Crypto)  # libssl-dev: SHA-256 of what is evidence

# libre2-dev (Debian's has no CMake config): patterns for kernel names, matched in linear time
find_path(RE2_INCLUDE_DIR re2/re2.h REQUIRED)
find_library(RE2_LIBRARY re2 REQUIRED)
add_library(perflab_re2 INTERFACE)
target_include_directories(perflab_re2 SYSTEM INTERFACE "${RE2_INCLUDE_DIR}")
target_link_libraries(perflab_re2 INTERFACE "${RE2_LIBRARY}")

# libjemalloc-dev: the memory of rocm-perf. An analysis fills a column for every dispatch a dozen times over; jemalloc uses again what
# was freed, and takes it in large pages (src/cli/kit/malloc_conf.cpp).
find_library(JEMALLOC_LIBRARY jemalloc REQUIRED)

# libcsv-dev (LGPL, no CMake config): the event parser behind base/csv.h
find_path(CSV_INCLUDE_DIR csv.h REQUIRED)
find_library(CSV_LIBRARY csv REQUIRED)
add_library(perflab_csv INTERFACE)
target_include_directories(perflab_csv SYSTEM INTERFACE "${CSV_INCLUDE_DIR}")
target_link_libraries(perflab_csv INTERFACE "${CSV_LIBRARY}")

# libmuparser-dev: the formulas of the counter tables are text; muParser evaluates them and names their variables
find_path(MUPARSER_INCLUDE_DIR muParser.h REQUIRED)
find_library(MUPARSER_LIBRARY muparser REQUIRED)
add_library(perflab_muparser INTERFACE)
target_include_directories(perflab_muparser SYSTEM INTERFACE "${MUPARSER_INCLUDE_DIR}")
target_link_libraries(perflab_muparser INTERFACE "${MUPARSER_LIBRARY}")
