// What restoring the write set of a capture costs next to restoring everything. Writes a capture
// with incompressible memory of which a share of the pages changes (scattered), opens it on
// whatever libhsa-runtime64.so.1 the loader finds, and alternates both restores.
//   bench_replay_restore FOLDER MIB PERCENT RUNS
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <random>
#include <vector>

#include "capture/capture_reader.h"
#include "capture/writer.h"
#include "hsa/types.h"
#include "hsa_sim/sim_code_objects.h"
#include "replay/hsa/hsa_device.h"
#include "replay/session/session.h"

namespace {

using namespace perflab;
constexpr std::uint64_t kBase = 0x2000'0000'0000;
constexpr std::size_t kPiece = std::size_t{8} << 20U;

// The bytes of a piece, before or after the dispatch: every `every`th page of 4 KiB changes.
void fill(std::vector<std::byte>& bytes, std::uint64_t offset, std::uint64_t every, bool after) {
  std::mt19937_64 random(offset);
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    const std::uint64_t word = random();
    std::memcpy(&bytes[at], &word, 8);
  }
  if (!after) return;
  for (std::size_t page = 0; page < bytes.size() / capture::kPageBytes; ++page)
    if ((offset / capture::kPageBytes + page) % every == 0)
      bytes[page * capture::kPageBytes] ^= std::byte{1};
}

Result<void> write_capture(const std::filesystem::path& folder, std::uint64_t size,
                           std::uint64_t every) {
  PERFLAB_TRY(capture::Writer writer, capture::Writer::create(folder));
  capture::MemoryRegion region;
  region.base = kBase;
  region.bytes = size;
  region.pool_flags = hsa::pool_coarse_grained;
  region.granule = 4096;
  region.recommended_granule = 2U << 20U;
  PERFLAB_TRY(const std::size_t number, writer.add_region(region));
  std::vector<std::byte> bytes(kPiece);
  for (std::uint64_t at = 0; at < size; at += kPiece) {
    fill(bytes, at, every, false);
    PERFLAB_TRY_VOID(writer.append(bytes));
  }
  PERFLAB_TRY_VOID(writer.changed(number));
  for (std::uint64_t at = 0; at < size; at += kPiece) {
    fill(bytes, at, every, true);
    PERFLAB_TRY_VOID(writer.append(bytes));
  }
  capture::Description description;
  capture::Dispatch& dispatch = description.dispatch;
  dispatch.kernel = dispatch.demangled = "inplace";
  dispatch.ordinal = 1;
  dispatch.grid = {64, 1, 1};
  dispatch.workgroup = {64, 1, 1};
  dispatch.header = 0x1502;
  dispatch.setup = 1;
  const std::string object = test::sim_code_object({{.name = "inplace"}});
  std::vector<std::byte> kernarg(test::sim_kernarg_bytes("inplace"));
  std::memcpy(kernarg.data(), &kBase, sizeof(kBase));
  const std::uint32_t count = 64;
  std::memcpy(&kernarg[8], &count, sizeof(count));
  dispatch.kernarg_bytes = static_cast<std::uint32_t>(kernarg.size());
  dispatch.kernarg_align = 16;
  dispatch.packet = std::string(128, '0');
  description.machine.isa = "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-";
  description.machine.agent_name = "gfx942";
  description.machine.gpu_count = 1;
  description.machine.address_mode = "mmap";
  PERFLAB_TRY([[maybe_unused]] const auto written, writer.finish(description, object, kernarg));
  return {};
}

double seconds_of(const std::function<Result<replay::Restored>()>& restore, std::uint64_t& bytes) {
  const auto start = std::chrono::steady_clock::now();
  const auto done = restore();
  PERFLAB_CHECK(done.has_value());
  bytes = done->bytes;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Result<void> bench(const std::filesystem::path& folder, std::uint64_t size, std::uint64_t every,
                   int runs) {
  if (!std::filesystem::exists(folder)) PERFLAB_TRY_VOID(write_capture(folder, size, every));
  PERFLAB_TRY(const capture::Capture capture, capture::Capture::open(folder));
  PERFLAB_TRY(const auto device, replay::open_hsa_device(capture.description()));
  PERFLAB_TRY(replay::Session session, replay::Session::open(capture, *device, {}));
  double all = 1e9, writes = 1e9;
  std::uint64_t all_bytes = 0, write_bytes = 0;
  for (int run = 0; run < runs; ++run) {
    all = std::min(all, seconds_of([&] { return session.restore_all(); }, all_bytes));
    writes = std::min(writes, seconds_of([&] { return session.restore_writes(); }, write_bytes));
  }
  fmt::print(
      "everything   {:7.1f} MiB  {:.4f} s\nwrite set    {:7.1f} MiB  {:.4f} s\nratio {:.4f}\n",
      static_cast<double>(all_bytes) / (1 << 20), all, static_cast<double>(write_bytes) / (1 << 20),
      writes, writes / all);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: bench_replay_restore FOLDER MIB PERCENT RUNS\n");
    return 2;
  }
  const auto percent = std::strtod(argv[3], nullptr);
  const auto done = bench(argv[1], std::strtoull(argv[2], nullptr, 10) << 20U,
                          static_cast<std::uint64_t>(100 / percent), std::atoi(argv[4]));
  if (!done) fmt::print(stderr, "{}\n", describe(done.error()));
  return done ? 0 : 3;
}
