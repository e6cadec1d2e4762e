// Small written files, one of each form that device code comes in: what the mutation tests damage
// and the fuzz targets start from.
#pragma once

#include <string>
#include <vector>

namespace perflab::test {

/// One file.
struct CodeSample {
  std::string name;
  std::string bytes;
};

/// Bare code objects: versions 3 to 6, with .dynsym, .symtab or neither.
std::vector<CodeSample> code_object_samples();

/// Plain bundles and compressed ones of every version and method.
std::vector<CodeSample> bundle_samples();

/// Host files: bundles one after the other, wrappers, packager images, no section table.
std::vector<CodeSample> host_file_samples();

/// Cubins of both layouts.
std::vector<CodeSample> cubin_samples();

/// Fat binaries, plain and compressed, and host files with them.
std::vector<CodeSample> cubin_file_samples();

}  // namespace perflab::test
