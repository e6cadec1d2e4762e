// Finding and opening libcuda.so.1 and libcupti of a CUDA installation at run time. A library that
// was opened is never closed: what it gave out is used until the process ends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/api.h"

namespace perflab::cuda {

/// Why a library cannot be used.
enum class LibraryProblem : std::uint8_t {
  none,
  not_found,
  unknown_version,  ///< of CUPTI: see api_generation
  missing_entry,    ///< it lacks a needed entry point
};

struct DriverLibrary {
  LibraryProblem problem = LibraryProblem::not_found;
  std::string detail;      ///< with a problem: what was looked for, or which entry point is missing
  std::string path;        ///< of the file, as far as the loader tells
  void* handle = nullptr;  ///< dlopen's, for other entry points; null if not found
  Driver api{};
};

struct CuptiLibrary {
  LibraryProblem problem = LibraryProblem::not_found;
  std::string detail;  ///< with a problem: what was looked for, or what is wrong with which file
  std::string path;
  void* handle = nullptr;     ///< dlopen's, for other entry points; null if not found
  std::uint32_t version = 0;  ///< cuptiGetVersion
  ApiGeneration generation = ApiGeneration::unknown;
  Cupti api{};
};

/// libcuda.so.1: the one in the process, else the loader's.
DriverLibrary open_driver();

/// The libcupti that the process has already (a second one would record nothing: CUPTI knows one
/// client per process), else the first usable of libcupti.so.13, then .12: the loader's, then those
/// in cupti_folders(). Its cuptiGetVersion is called, nothing else.
CuptiLibrary open_cupti();

/// Folders of toolkits in which open_cupti() looks, in order: lib64 and extras/CUPTI/lib64 of
/// /usr/local/cuda, $CUDA_HOME and $CUDA_PATH (absolute ones).
std::vector<std::string> cupti_folders();

}  // namespace perflab::cuda
