// make-agent-inputs FOLDER: what the scripted agent is asked about and nothing else writes: two
// captures, of which only "first.capture" can be replayed, and "kernels.hsaco", 300 kernels of
// which number 41 spills.
#include <cstdio>
#include <filesystem>

#include "base/system/files.h"
#include "capture/sample_capture.h"
#include "support/code_writer.h"

namespace {

using namespace perflab;

Result<void> write_inputs(const std::filesystem::path& folder) {
  PERFLAB_TRY_VOID(make_directories(folder));
  for (const auto& [name, pointer] : {std::pair{"first.capture", test::kSampleCaptureBase + 8},
                                      std::pair{"second.capture", std::uint64_t{0x555500000000}}}) {
    const auto written = test::write_capture(folder / name, test::sample_capture(pointer));
    if (!written) return std::unexpected(written.error());
  }
  test::WrittenCodeObject object = test::sample_code_object(300);
  object.kernels.at(41).metadata[".vgpr_spill_count"] = 12;
  return write_file_atomically(folder / "kernels.hsaco", test::write_code_object(object));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: make-agent-inputs FOLDER\n", stderr);
    return 2;
  }
  const auto written = write_inputs(argv[1]);
  if (written) return 0;
  std::fprintf(stderr, "%s\n", describe(written.error()).c_str());
  return exit_code(written.error().code);
}
