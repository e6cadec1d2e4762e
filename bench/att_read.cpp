// What bench/att_read.py runs: writes a folder of a thread trace with random waves, reads one as
// `analyze --att` does, or only parses the same files with simdjson's DOM. Prints one JSON line.
#include <fmt/format.h>
#include <simdjson.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "att/read_thread_trace.h"
#include "reader_cost.h"
#include "support/prng.h"

namespace {

using perflab::bench::cpu_seconds;

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kLines = 2000, kInstructions = 60'000;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Of this process, all threads: what a busy machine changes least.
std::int64_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// A wave of a loop over kLines: numbers as long as those of recorded captures, a wait for two
/// loads at every twelfth instruction.
std::string wave_text(perflab::test::Prng& random) {
  std::string instructions, timeline, links;
  const std::int64_t begin = 20'000 + random.below(1'000'000);
  std::int64_t time = begin;
  auto out = std::back_inserter(instructions);
  for (std::int64_t i = 0; i < kInstructions; ++i) {
    const bool wait = i % 12 == 11;
    const std::int64_t stall = wait ? 4 * random.below(300) : random.below(4) == 0 ? 4 : 0;
    const std::int64_t line = 1 + i % (kLines - 1);
    fmt::format_to(out, "{}[{},{},{},{},{}]", i == 0 ? "" : ",", time,
                   wait ? 9 : 1 + random.below(6), stall, stall + 4, line);
    if (wait)
      fmt::format_to(std::back_inserter(links), "{}[{},[[{},0],[{},0]]]", i == 11 ? "" : ",", line,
                     line - 3, line - 5);
    if (stall > 0)
      fmt::format_to(std::back_inserter(timeline), "{}[{},{}],[2,4]", timeline.empty() ? "" : ",",
                     wait ? 3 : 4, stall);
    time += stall + 4 + (random.below(5) == 0 ? 8 : 0);
  }
  return fmt::format(
      R"({{"duration":{},"name":"SE0","num_insts":{},"num_stitched":{},"wave":{{"begin":{},"cu":1,)"
      R"("end":{},"id":0,"instructions":[{}],"simd":0,"slot":0,"timeline":[{}],"waitcnt":[{}]}}}})",
      time - begin, kInstructions, kInstructions, begin, time, instructions, timeline, links);
}

int generate(const fs::path& folder, std::uint64_t bytes) {
  fs::create_directories(folder);
  std::string code = R"({"code":[["; _Z6kernelv",0,0,"kernel",1,4096,0,0,0,0])";
  for (std::int64_t i = 1; i < kLines; ++i)
    code += fmt::format(R"(,["v_add_f32 v{}, v1, v2",0,{},"a.cpp:{}",1,{},1,4,0,0])", i % 256, i, i,
                        4096 + 8 * i);
  write_text(folder / "code.json", code + R"(],"version":"3.1.0"})");
  perflab::test::Prng random(1);
  std::uint64_t written = 0;
  for (int wave = 0; written < bytes; ++wave) {
    const std::string text = wave_text(random);
    written += text.size();
    write_text(folder / fmt::format("se{}_sm{}_sl{}_wv{}.json", wave % 4, wave / 4 % 4,
                                    wave / 16 % 8, wave / 128),
               text);
  }
  return 0;
}

int ours(const fs::path& folder, unsigned threads) {
  const auto begin = Clock::now();
  const auto found = perflab::att::find(folder);
  auto trace = found ? perflab::att::read(found->front())
                     : perflab::Result<perflab::att::ThreadTrace>(std::unexpected(found.error()));
  std::atomic<std::uint64_t> instructions = 0;
  const auto visit = [&](std::size_t, const perflab::att::Wave& wave) {
    instructions += wave.instructions.size();
  };
  const auto waves = trace ? perflab::att::read_waves(found->front(), *trace, visit, threads)
                           : perflab::Result<void>(std::unexpected(trace.error()));
  if (!waves) {
    fmt::print(stderr, "{}\n", describe(waves.error()));
    return 1;
  }
  fmt::print(
      "{{\"s\": {:.4f}, \"cpu_s\": {:.4f}, \"bytes\": {}, \"peak\": {}, \"instructions\": {}}}\n",
      seconds_since(begin), cpu_seconds(), trace->bytes, peak_bytes(), instructions.load());
  return 0;
}

/// Reads and parses every file, one after the other, with one parser.
int dom(const fs::path& folder) {
  const auto begin = Clock::now();
  simdjson::dom::parser parser;
  std::uint64_t bytes = 0;
  double parsing = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    simdjson::padded_string text;
    if (simdjson::padded_string::load(entry.path().string()).get(text) != simdjson::SUCCESS)
      return 1;
    bytes += text.size();
    const double parse_begin = cpu_seconds();
    simdjson::dom::element root;
    if (parser.parse(text).get(root) != simdjson::SUCCESS) return 1;
    parsing += cpu_seconds() - parse_begin;
  }
  fmt::print(
      "{{\"s\": {:.4f}, \"cpu_s\": {:.4f}, \"parse_cpu_s\": {:.4f}, \"bytes\": {}, \"peak\": "
      "{}}}\n",
      seconds_since(begin), cpu_seconds(), parsing, bytes, peak_bytes());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "generate" && argc == 4)
    return generate(argv[2], std::strtoull(argv[3], nullptr, 10));
  if (mode == "ours" && argc == 4)
    return ours(argv[2], static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10)));
  if (mode == "dom" && argc == 3) return dom(argv[2]);
  std::fputs("usage: bench_att_read generate FOLDER BYTES | ours FOLDER THREADS | dom FOLDER\n",
             stderr);
  return 2;
}
