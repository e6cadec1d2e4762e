// Rows of counter passes. Counters are rows of info_pmc, their values rows of pmc_event: one per
// hardware instance (docs/facts/rocpd.md "Counters").
#include "support/counter_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "support/prng.h"
#include "support/rocpd_writer.h"

namespace perflab::test {
namespace {

/// A permutation of 0..n-1; seed 0: none.
std::vector<std::size_t> order_of(std::size_t n, std::uint64_t seed) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (seed == 0) return order;
  Prng prng(seed);
  for (std::size_t i = n; i > 1; --i)
    std::swap(order[i - 1],
              order[static_cast<std::size_t>(prng.below(static_cast<std::int64_t>(i)))]);
  return order;
}

/// A whole number as so many whole numbers; anything else stays one value.
std::vector<double> spread(double total, std::int64_t instances, Prng& prng) {
  if (instances < 2 || total < 1 || total != std::floor(total)) return {total};
  std::vector<double> parts;
  auto left = static_cast<std::int64_t>(total);
  for (std::int64_t i = 1; i < instances; ++i) {
    const std::int64_t part = prng.below(left + 1);
    parts.push_back(static_cast<double>(part));
    left -= part;
  }
  parts.push_back(static_cast<double>(left));
  return parts;
}

/// The profiler's own formulas: reductions ("X_sum") and those in mixed case. They come as one
/// value, and without a block.
bool is_derived(std::string_view counter) {
  return std::ranges::any_of(counter, [](char c) { return c >= 'a' && c <= 'z'; });
}

CounterRow counter_row(const std::string& name) {
  CounterRow row{.name = name, .block = {}, .is_derived = is_derived(name)};
  if (!row.is_derived) row.block = name.substr(0, name.find('_'));
  return row;
}

std::string guid_of(const RunOptions& options) {
  return fmt::format("0000{:04x}-1bef-7bef-8000-{:0>12}", options.pass.value_or(0), options.stem);
}

struct Value {
  Id event, counter;
  double value;
};

std::map<std::string, Id> write_counters(RocpdWriter& writer, const RunOptions& options) {
  std::map<std::string, Id> ids;
  for (const std::size_t i : order_of(options.counters.size(), options.shuffle))
    ids[options.counters[i]] = writer.counter(counter_row(options.counters[i]));
  return ids;
}

/// The dispatch rows; their events in the order of the program.
std::vector<Id> write_dispatches(RocpdWriter& writer, const CountedProgram& program,
                                 const RunOptions& options) {
  std::map<std::string, Id> kernels;
  for (const std::size_t i : order_of(program.dispatches.size(), options.shuffle)) {
    const std::string& name = program.dispatches[i].kernel;
    if (!kernels.contains(name)) kernels[name] = writer.kernel({.name = name});
  }
  std::vector<std::int64_t> starts;
  std::int64_t at = options.start;
  for (const CountedDispatch& dispatch : program.dispatches) {
    starts.push_back(at);
    at += dispatch.duration + options.gap;
  }
  std::vector<Id> events(program.dispatches.size());
  for (const std::size_t i : order_of(program.dispatches.size(), options.shuffle)) {
    const CountedDispatch& dispatch = program.dispatches[i];
    events[i] = writer
                    .dispatch({.kernel = kernels[dispatch.kernel],
                               .start = starts[i],
                               .end = starts[i] + dispatch.duration,
                               .queue = 0,
                               .dispatch_id = options.first_dispatch_id +
                                              static_cast<Id>(i) * options.dispatch_id_step,
                               .workgroup = dispatch.workgroup,
                               .grid = dispatch.grid})
                    .event;
  }
  return events;
}

CountedGpu radeon(std::string gfx, std::string product, std::int64_t target_version,
                  std::int64_t cus, std::int64_t mhz) {
  return {.gfx = std::move(gfx),
          .product = std::move(product),
          .target_version = target_version,
          .cus = cus,
          .xccs = 1,
          .mhz = mhz,
          .wave_size = 32,
          .simds_per_cu = 2,
          .max_waves_per_cu = 32};
}

}  // namespace

AgentRow CountedGpu::agent() const {
  return {.absolute_index = number,
          .logical_index = number,
          .name = gfx,
          .product_name = product,
          .extdata =
              fmt::format(R"({{"cu_count":{},"num_xcc":{},"simd_per_cu":{},"simd_count":{},)"
                          R"("wave_front_size":{},"max_waves_per_cu":{},"max_waves_per_simd":{},)"
                          R"("max_engine_clk_fcompute":{},"gfx_target_version":{}}})",
                          cus, xccs, simds_per_cu, cus * simds_per_cu, wave_size, max_waves_per_cu,
                          max_waves_per_cu / simds_per_cu, mhz, target_version)};
}

double CountedGpu::cycles(std::int64_t ns) const {
  return static_cast<double>(ns) * static_cast<double>(mhz) / 1000 * static_cast<double>(xccs);
}

CountedGpu mi210() {
  return {.gfx = "gfx90a",
          .product = "AMD Instinct MI210",
          .target_version = 90010,
          .cus = 104,
          .xccs = 1,
          .mhz = 1700};
}

CountedGpu mi300x() {
  return {};
}

CountedGpu mi350x() {
  return {.gfx = "gfx950",
          .product = "AMD Instinct MI350X",
          .target_version = 90500,
          .cus = 256,
          .xccs = 8,
          .mhz = 2200};
}

CountedGpu rx6900xt() {
  return radeon("gfx1030", "AMD Radeon RX 6900 XT", 100300, 80, 2250);
}

CountedGpu rx7900xtx() {
  return radeon("gfx1100", "AMD Radeon RX 7900 XTX", 110000, 96, 2500);
}

CountedGpu rx9070xt() {
  return radeon("gfx1201", "AMD Radeon RX 9070 XT", 120001, 64, 2970);
}

Result<std::filesystem::path> write_run(const std::filesystem::path& folder,
                                        const CountedProgram& program, const RunOptions& options) {
  std::filesystem::path path = folder;
  if (options.pass) path /= fmt::format("pass_{}", *options.pass);
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    return fail(ErrorCode::bad_input, fmt::format("{}: {}", path.string(), error.message()));
  path /= options.stem + "_results.db";
  WriterOptions writer_options;
  writer_options.guid = guid_of(options);
  writer_options.process.pid = std::stoll(options.stem);
  RocpdWriter writer(path, writer_options);
  writer.agent(host_agent());
  writer.agent(program.gpu.agent());
  writer.queue();
  writer.stream();
  writer.code_object();
  const std::map<std::string, Id> counters = write_counters(writer, options);
  const std::vector<Id> events = write_dispatches(writer, program, options);
  std::vector<Value> values;
  Prng prng(options.split);
  for (std::size_t i = 0; i < events.size(); ++i)
    for (const auto& [name, id] : counters) {
      if (options.has && !options.has(i, name)) continue;
      const auto& counts = program.dispatches[i].counts;
      const auto found = counts.find(name);
      const double total = found == counts.end() ? 0 : found->second;
      const std::int64_t instances = is_derived(name) ? 1 : options.instances;
      for (const double part : spread(total, instances, prng))
        values.push_back({.event = events[i], .counter = id, .value = part});
    }
  for (const std::size_t i : order_of(values.size(), options.shuffle))
    writer.counter_value(values[i].event, values[i].counter, values[i].value);
  PERFLAB_TRY_VOID(writer.close());
  return path;
}

Result<std::vector<std::filesystem::path>> write_runs(
    const std::filesystem::path& folder, const CountedProgram& program,
    const std::vector<std::vector<std::string>>& sets, const RunOptions& options) {
  std::vector<std::filesystem::path> files;
  RunOptions timing = options;
  timing.pass.reset();
  timing.counters.clear();
  PERFLAB_TRY(std::filesystem::path file, write_run(folder, program, timing));
  files.push_back(std::move(file));
  for (std::size_t i = 0; i < sets.size(); ++i) {
    RunOptions pass = options;
    pass.pass = static_cast<int>(i) + 1;
    pass.counters = sets[i];
    pass.stem = std::to_string(std::stoll(options.stem) + *pass.pass);
    pass.start += std::int64_t{1'000'000'000} * *pass.pass;
    PERFLAB_TRY(std::filesystem::path written, write_run(folder, program, pass));
    files.push_back(std::move(written));
  }
  return files;
}

}  // namespace perflab::test
