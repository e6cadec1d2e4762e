// What reading PC samples costs beside simdjson: writes a JSON of as many synthetic samples as
// asked for, reads it as `analyze` does, or only parses it with simdjson's DOM, the whole file in
// memory. Prints one JSON line: processor seconds and peak memory.
#include <fmt/format.h>
#include <simdjson.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "pc_sampling/read_pc_samples.h"
#include "reader_cost.h"
#include "support/pc_samples_writer.h"

namespace {

using perflab::bench::cpu_seconds;
using perflab::bench::print_cost;

/// An MI300X has 304 CUs: so many samples per tick.
int generate(const char* file, std::int64_t samples) {
  perflab::test::PcRun run;
  run.kernels = {perflab::test::pc_copy_kernel(), perflab::test::pc_matrix_kernel()};
  run.agents[0].engines = 19;
  run.ticks = 20;
  const std::int64_t of_dispatch = run.ticks * run.agents[0].xccs * run.agents[0].engines * 2;
  for (perflab::test::PcKernel& kernel : run.kernels)
    kernel.dispatches = (samples / of_dispatch + 1) / 2;
  std::ofstream out(file, std::ios::binary);
  perflab::test::write_pc_json(out, {run});
  return out.good() ? 0 : 1;
}

int read_samples(const std::filesystem::path& file) {
  const double begin = cpu_seconds();
  const auto samples = perflab::pc_sampling::read(std::span(&file, 1));
  if (!samples) return 1;
  return print_cost("read", cpu_seconds() - begin, std::filesystem::file_size(file), "samples",
                    samples->size());
}

int parse_only(const char* file) {
  const double begin = cpu_seconds();
  simdjson::padded_string text;
  if (simdjson::padded_string::load(file).get(text) != simdjson::SUCCESS) return 1;
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(text).get(root) != simdjson::SUCCESS) return 1;
  return print_cost("parse", cpu_seconds() - begin, text.size(), "samples", 0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 2 ? argv[1] : "";
  if (what == "generate" && argc > 3) return generate(argv[2], std::atoll(argv[3]));
  if (what == "read") return read_samples(argv[2]);
  if (what == "parse") return parse_only(argv[2]);
  fmt::print(stderr, "usage: {} generate FILE SAMPLES | read FILE | parse FILE\n", argv[0]);
  return 2;
}
