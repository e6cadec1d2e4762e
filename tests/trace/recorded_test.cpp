// Recorded databases against plain SQL over the same files, and against the facts that stand in the
// SOURCE.md beside them. The databases are not part of the project: without them these tests are
// skipped.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/test_database.h"
#include "trace/trace_checks.h"

namespace perflab::trace {
namespace {

namespace fs = std::filesystem;
using test::TestDatabase;

/// One of rocprofv3's own databases, read whole.
class Rocprofv3 : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    path_ = recorded_folder() / "emulated_mi300x" / GetParam();
    PERFLAB_SKIP_WITHOUT(path_);
    trace_ = read_ok({path_}, 2);
    db_ = std::make_unique<TestDatabase>(path_);
  }
  std::size_t count(const std::string& table) {
    return static_cast<std::size_t>(db_->number("SELECT count(*) FROM rocpd_" + table));
  }
  std::string start(const RegionColumns& r, Index i) { return std::to_string(r.start[i]); }

  fs::path path_;
  Trace trace_;
  std::unique_ptr<TestDatabase> db_;
};

TEST_P(Rocprofv3, IsReadWhole) {
  EXPECT_EQ(trace_.sources.size(), 1U);
  EXPECT_EQ(trace_.sources[0].schema_version, "3.0.1");
  EXPECT_EQ(trace_.sources[0].collector, "rocprofv3");
  EXPECT_EQ(trace_.dispatches.size(), count("kernel_dispatch"));
  EXPECT_EQ(trace_.regions.size(), count("region"));
  EXPECT_EQ(trace_.copies.size(), count("memory_copy"));
  EXPECT_EQ(trace_.allocations.size(), count("memory_allocate"));
  EXPECT_EQ(trace_.agents.size(), count("info_agent"));
  EXPECT_EQ(trace_.queues.size(), count("info_queue"));
  EXPECT_EQ(trace_.streams.size(), count("info_stream"));
  EXPECT_EQ(trace_.code_objects.size(), count("info_code_object"));
  EXPECT_EQ(trace_.kernel_symbols.size(), count("info_kernel_symbol"));
  std::uint64_t instances = 0;
  for (const std::uint32_t many : trace_.counters.instances) instances += many;
  EXPECT_EQ(instances, count("pmc_event"));
  EXPECT_EQ(trace_.report.dropped, (std::map<ReadReport::Key, std::uint64_t>{}));
}

TEST_P(Rocprofv3, DispatchesEqualPlainSql) {
  const auto expected = db_->rows(
      "SELECT d.start, d.end, d.dispatch_id, k.display_name, a.name, q.name, s.name, d.tid, "
      "d.workgroup_size_x * d.workgroup_size_y * d.workgroup_size_z, d.grid_size_x, d.grid_size_y, "
      "d.grid_size_z, d.group_segment_size, d.private_segment_size, k.arch_vgpr_count, "
      "k.accum_vgpr_count, k.sgpr_count FROM rocpd_kernel_dispatch d LEFT JOIN "
      "rocpd_info_kernel_symbol k ON k.id = d.kernel_id LEFT JOIN rocpd_info_agent a ON a.id = "
      "d.agent_id LEFT JOIN rocpd_info_queue q ON q.id = d.queue_id LEFT JOIN rocpd_info_stream s "
      "ON s.id = d.stream_id ORDER BY d.start, d.end, d.id");
  std::vector<std::vector<std::string>> read;
  const DispatchColumns& d = trace_.dispatches;
  for (std::size_t i = 0; i < d.size(); ++i) {
    const Track& t = trace_.tracks[d.track[i]];
    const KernelSymbol& k = trace_.kernel_symbols[d.kernel[i]];
    const LaunchConfig& c = trace_.launch_configs[d.config[i]];
    std::vector<std::string>& row = read.emplace_back();
    for (const std::int64_t value : {d.start[i], d.end[i], d.dispatch_id[i]})
      row.push_back(std::to_string(value));
    row.emplace_back(kernel_name(trace_, i));
    row.push_back(trace_.agents[t.agent].name);
    row.push_back(trace_.queues[t.queue].name);
    row.push_back(t.stream == kNone ? "NULL" : trace_.streams[t.stream].name);
    row.push_back(std::to_string(trace_.threads[t.thread].tid));
    row.push_back(std::to_string(c.workgroup[0] * c.workgroup[1] * c.workgroup[2]));
    for (const std::uint32_t value :
         {c.grid[0], c.grid[1], c.grid[2], c.lds_bytes, c.scratch_bytes})
      row.push_back(std::to_string(value));
    for (const auto& value : {k.arch_vgprs, k.accum_vgprs, k.sgprs})
      row.push_back(std::to_string(value.value()));
  }
  EXPECT_EQ(read, expected);
}

TEST_P(Rocprofv3, RegionsEqualPlainSql) {
  const auto expected = db_->rows(
      "SELECT r.start, r.end, s.string, c.string, r.tid FROM rocpd_region r JOIN rocpd_string s ON "
      "s.id = r.name_id JOIN rocpd_event e ON e.id = r.event_id JOIN rocpd_string c ON c.id = "
      "e.category_id ORDER BY r.start, r.end DESC, r.id");
  std::vector<std::vector<std::string>> read;
  const RegionColumns& r = trace_.regions;
  for (std::size_t i = 0; i < r.size(); ++i)
    read.push_back({std::to_string(r.start[i]), std::to_string(r.end[i]),
                    std::string(trace_.strings.view(r.name[i])),
                    std::string(trace_.strings.view(r.category[i])),
                    std::to_string(trace_.threads[r.thread[i]].tid)});
  EXPECT_EQ(read, expected);
}

TEST_P(Rocprofv3, LaunchesEqualAJoinByStackId) {
  for (const char* table : {"kernel_dispatch", "memory_copy"}) {
    const bool dispatches = std::string(table) == "kernel_dispatch";
    // Every row with the region of its stack id; NULL when there is none.
    const auto expected = db_->rows(fmt::format(
        "SELECT d.start, d.end, r.start, r.end, s.string FROM rocpd_{} d LEFT JOIN rocpd_event de "
        "ON de.id = d.event_id LEFT JOIN (rocpd_region r JOIN rocpd_event re ON re.id = r.event_id "
        "JOIN rocpd_string s ON s.id = r.name_id) ON re.stack_id = de.stack_id AND de.stack_id <> "
        "0 "
        "ORDER BY d.start, d.end, d.id",
        table));
    const auto& starts = dispatches ? trace_.dispatches.start : trace_.copies.start;
    const auto& ends = dispatches ? trace_.dispatches.end : trace_.copies.end;
    const auto& launches = dispatches ? trace_.dispatches.launch : trace_.copies.launch;
    std::vector<std::vector<std::string>> read;
    const RegionColumns& r = trace_.regions;
    for (std::size_t i = 0; i < launches.size(); ++i) {
      std::vector<std::string> row = {std::to_string(starts[i]), std::to_string(ends[i])};
      if (launches[i] == kNone)
        row.insert(row.end(), 3, "NULL");
      else
        row.insert(row.end(),
                   {std::to_string(r.start[launches[i]]), std::to_string(r.end[launches[i]]),
                    std::string(trace_.strings.view(r.name[launches[i]]))});
      read.push_back(row);
    }
    EXPECT_EQ(read, expected) << table;
  }
}

TEST_P(Rocprofv3, CopiesAndAllocationsEqualPlainSql) {
  const auto copies = db_->rows(
      "SELECT m.start, m.end, m.size, s.string, d.name, f.name FROM rocpd_memory_copy m JOIN "
      "rocpd_string s ON s.id = m.name_id LEFT JOIN rocpd_info_agent d ON d.id = m.dst_agent_id "
      "LEFT JOIN rocpd_info_agent f ON f.id = m.src_agent_id ORDER BY m.start, m.end, m.id");
  const auto agent = [&](Index index) {
    return index == kNone ? std::string("NULL") : trace_.agents[index].name;
  };
  std::vector<std::vector<std::string>> read;
  const CopyColumns& c = trace_.copies;
  for (std::size_t i = 0; i < c.size(); ++i)
    read.push_back({std::to_string(c.start[i]), std::to_string(c.end[i]),
                    std::to_string(c.bytes[i]), std::string(trace_.strings.view(c.kind[i])),
                    agent(trace_.tracks[c.track[i]].agent), agent(c.source_agent[i])});
  EXPECT_EQ(read, copies);

  const auto allocations = db_->rows(
      "SELECT m.start, m.size, m.address, m.type, m.level, a.name FROM rocpd_memory_allocate m "
      "LEFT "
      "JOIN rocpd_info_agent a ON a.id = m.agent_id ORDER BY m.start, m.end, m.id");
  read.clear();
  const AllocationColumns& a = trace_.allocations;
  for (std::size_t i = 0; i < a.size(); ++i)
    read.push_back({std::to_string(a.start[i]), std::to_string(a.bytes[i]),
                    std::to_string(a.address[i]), std::string(trace_.strings.view(a.type[i])),
                    std::string(trace_.strings.view(a.level[i])), agent(a.agent[i])});
  EXPECT_EQ(read, allocations);
}

TEST_P(Rocprofv3, CountersEqualPlainSql) {
  const auto expected = db_->rows(
      "SELECT d.dispatch_id, p.name, count(*), CAST(sum(v.value) AS INTEGER), CAST(min(v.value) AS "
      "INTEGER), CAST(max(v.value) AS INTEGER) FROM rocpd_pmc_event v JOIN rocpd_info_pmc p ON "
      "p.id "
      "= v.pmc_id JOIN rocpd_kernel_dispatch d ON d.event_id = v.event_id GROUP BY 1, 2");
  std::vector<std::vector<std::string>> read;
  const CounterColumns& c = trace_.counters;
  for (std::size_t i = 0; i < c.size(); ++i)
    read.push_back({std::to_string(trace_.dispatches.dispatch_id[c.dispatch[i]]),
                    std::string(trace_.strings.view(trace_.counter_infos[c.counter[i]].name)),
                    std::to_string(c.instances[i]), fmt::format("{:.0f}", c.sum[i]),
                    fmt::format("{:.0f}", c.min[i]), fmt::format("{:.0f}", c.max[i])});
  // SQL orders by text and number, the Trace by its own numbers.
  auto sorted = expected;
  std::ranges::sort(sorted);
  std::ranges::sort(read);
  EXPECT_EQ(read, sorted);
}

INSTANTIATE_TEST_SUITE_P(Emulated, Rocprofv3,
                         testing::Values("copies.db", "crash_abort.db", "graph.db",
                                         "kernel_only.db", "multi.db", "multi_runtime.db",
                                         "multiproc/process_1.db", "multiproc/process_2.db",
                                         "pmc_multi_serial.db", "pmc_single2.db", "pmc_tcc.db",
                                         "rawhsa.db", "single.db", "single_hsa.db", "streams.db",
                                         "streams_sys.db", "vmm_sys.db"),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           name.resize(name.size() - 3);
                           std::ranges::replace(name, '/', '_');
                           return name;
                         });

TEST(Emulated, EveryDatabaseIsInTheList) {
  const fs::path folder = recorded_folder() / "emulated_mi300x";
  PERFLAB_SKIP_WITHOUT(folder);
  std::size_t databases = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".db") ++databases;
  EXPECT_EQ(databases, 17U);
}

TEST(Emulated, CountsOfTheSource) {
  const fs::path folder = recorded_folder() / "emulated_mi300x";
  PERFLAB_SKIP_WITHOUT(folder);
  struct Counts {
    const char* file;
    std::size_t dispatches, regions, copies, allocations, queues;
  };
  for (const Counts& expected :
       {Counts{"single.db", 4, 18, 0, 0, 2}, Counts{"multi.db", 28, 88, 0, 0, 2},
        Counts{"multi_runtime.db", 28, 32, 0, 7, 2}, Counts{"kernel_only.db", 28, 0, 0, 0, 2},
        Counts{"streams.db", 14, 57, 0, 0, 4}, Counts{"copies.db", 6, 24, 10, 12, 3},
        Counts{"graph.db", 14, 25, 0, 0, 3}, Counts{"crash_abort.db", 3, 14, 0, 0, 2}}) {
    const Trace trace = read_ok({folder / expected.file});
    EXPECT_EQ(trace.dispatches.size(), expected.dispatches) << expected.file;
    EXPECT_EQ(trace.regions.size(), expected.regions) << expected.file;
    EXPECT_EQ(trace.copies.size(), expected.copies) << expected.file;
    EXPECT_EQ(trace.allocations.size(), expected.allocations) << expected.file;
    EXPECT_EQ(trace.queues.size(), expected.queues) << expected.file;
  }
}

TEST(Emulated, ProcessesOfOneRunMerge) {
  const fs::path folder = recorded_folder() / "emulated_mi300x/multiproc";
  PERFLAB_SKIP_WITHOUT(folder);
  const Trace trace = read_ok({folder / "process_1.db", folder / "process_2.db"}, 2);
  EXPECT_EQ(trace.sources.size(), 2U);
  EXPECT_EQ(trace.processes.size(), 2U);
  EXPECT_EQ(trace.nodes.size(), 1U);
  EXPECT_EQ(trace.dispatches.size(), 18U);
  EXPECT_EQ(trace.regions.size(), 43U);
  EXPECT_EQ(std::ranges::count(trace.dispatches.launch, kNone), 0);
  EXPECT_TRUE(std::ranges::is_sorted(trace.dispatches.start));
  std::vector<std::size_t> per_source(2, 0);
  Index gpu = kNone;
  for (const Index track : trace.dispatches.track) {
    ++per_source[trace.source_of_track(track)];
    if (gpu == kNone) gpu = trace.tracks[track].agent;
    EXPECT_EQ(trace.tracks[track].agent, gpu);  // both ran on the one GPU
  }
  EXPECT_EQ(per_source, (std::vector<std::size_t>{4, 14}));
}

TEST(Emulated, CountersAreAllZero) {
  const fs::path path = recorded_folder() / "emulated_mi300x/pmc_multi_serial.db";
  PERFLAB_SKIP_WITHOUT(path);
  const Trace trace = read_ok({path});
  EXPECT_EQ(trace.counters.size(), 56U);  // 28 dispatches, 2 counters
  for (std::size_t i = 0; i < trace.counters.size(); ++i) {
    EXPECT_EQ(trace.counters.instances[i], 32U);
    EXPECT_EQ(trace.counters.sum[i], 0);
    EXPECT_EQ(trace.counters.max[i], 0);
  }
}

TEST(Mi350x, HasTheFactsOfItsSource) {
  const fs::path path = recorded_folder() / "mi350x_rocprofsys/rocpd.db";
  PERFLAB_SKIP_WITHOUT(path);
  const Trace trace = read_ok({path});
  EXPECT_EQ(trace.sources[0].schema_version, "3");
  EXPECT_EQ(trace.sources[0].guid, "3224963d0bd2e790224c3b2186eb8bd0");
  EXPECT_EQ(trace.sources[0].collector, "rocprofiler-systems");

  ASSERT_EQ(trace.dispatches.size(), 1U);
  EXPECT_EQ(kernel_name(trace, 0),
            "bit_extract_kernel(unsigned int*, unsigned int const*, unsigned long)");
  EXPECT_EQ(trace.strings.view(trace.kernel_symbols[trace.dispatches.kernel[0]].mangled_name),
            "_Z18bit_extract_kernelPjPKjm");
  EXPECT_EQ(trace.dispatches.end[0] - trace.dispatches.start[0], 10920);
  EXPECT_EQ(launch_name(trace, 0), "hipLaunchKernel");  // most stack ids are 0 here, not this one
  const LaunchConfig& config = trace.launch_configs[trace.dispatches.config[0]];
  EXPECT_EQ(config.workgroup, (std::array<std::uint32_t, 3>{256, 1, 1}));
  EXPECT_EQ(config.grid, (std::array<std::uint32_t, 3>{512 * 256, 1, 1}));
  const Agent& agent = trace.agents[trace.tracks[trace.dispatches.track[0]].agent];
  EXPECT_EQ(agent.product, "AMD Instinct MI350X");
  EXPECT_EQ(agent.uuid, 30112);
  EXPECT_EQ(agent.facts.compute_units, std::nullopt);

  EXPECT_EQ(trace.regions.size(), 59U);
  EXPECT_EQ(std::ranges::count(trace.regions.parent, kNone), 59);
  ASSERT_EQ(trace.copies.size(), 2U);
  EXPECT_EQ(trace.copies.bytes, (std::vector<std::int64_t>{4'000'000, 4'000'000}));
  EXPECT_EQ(trace.copies.end[0] - trace.copies.start[0], 78000);
  EXPECT_EQ(trace.copies.end[1] - trace.copies.start[1], 76321);
  ASSERT_EQ(trace.allocations.size(), 1U);
  EXPECT_EQ(trace.allocations.agent[0], kNone);
  EXPECT_EQ(trace.counters.size(), 0U);
  EXPECT_EQ(trace.report.dropped,
            (std::map<ReadReport::Key, std::uint64_t>{
                {{"pmc_event", "not of a kernel dispatch (device telemetry)"}, 880}}));
}

/// Sum of a counter over the dispatches.
double total_of(const Trace& trace, const std::string& name) {
  double total = 0;
  for (std::size_t i = 0; i < trace.counters.size(); ++i)
    if (trace.strings.view(trace.counter_infos[trace.counters.counter[i]].name) == name)
      total += trace.counters.sum[i];
  return total;
}

TEST(Mi210, FirstPassHasTheValuesOfItsSource) {
  const fs::path path = recorded_folder() / "mi210_vcopy_13_passes/pass_1/1001_results.db";
  PERFLAB_SKIP_WITHOUT(path);
  const Trace trace = read_ok({path});
  EXPECT_EQ(trace.sources[0].pass, 1);
  ASSERT_EQ(trace.dispatches.size(), 3U);
  EXPECT_EQ(kernel_name(trace, 2), "vecCopy(double*, double*, double*, int, int)");
  std::vector<std::int64_t> durations;
  for (std::size_t i = 0; i < 3; ++i)
    durations.push_back(trace.dispatches.end[i] - trace.dispatches.start[i]);
  EXPECT_EQ(durations, (std::vector<std::int64_t>{19200, 16320, 16320}));
  EXPECT_EQ(trace.counters.size(), 3U * 49U);
  EXPECT_EQ(total_of(trace, "TCC_MISS_sum"), 393239);
  EXPECT_EQ(total_of(trace, "TA_TOTAL_WAVEFRONTS_sum"), 3 * 32768);
}

TEST(Mi210, PassesAreSourcesOfOneTrace) {
  const fs::path folder = recorded_folder() / "mi210_vcopy_13_passes";
  PERFLAB_SKIP_WITHOUT(folder);
  Paths files;
  for (int pass = 1; pass <= 13; ++pass)
    files.push_back(folder / fmt::format("pass_{}/{}_results.db", pass, 1000 + pass));
  const Trace trace = read_ok(files, 2);
  ASSERT_EQ(trace.sources.size(), 13U);
  for (int pass = 1; pass <= 13; ++pass)
    EXPECT_EQ(trace.sources[static_cast<std::size_t>(pass) - 1].pass, pass);
  EXPECT_EQ(trace.dispatches.size(), 39U);
  EXPECT_EQ(trace.agents.size(), 1U);
  EXPECT_EQ(total_of(trace, "TCC_MISS_sum"), 393239);
}

}  // namespace
}  // namespace perflab::trace
