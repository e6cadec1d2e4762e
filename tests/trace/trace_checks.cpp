// Helpers of the reader tests.
#include "trace/trace_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "trace/rocpd/read_rocpd.h"

namespace perflab::trace {
namespace {

std::string text_of(const std::optional<std::int64_t>& value) {
  return value ? fmt::format("{}", *value) : "none";
}

void dump_tables(const Trace& trace, std::string& out) {
  const auto add = [&](std::string line) { out += line + "\n"; };
  for (const Source& s : trace.sources)
    add(fmt::format("source {} {} {} {} {} {}", s.file, s.guid, s.schema_version, s.collector,
                    s.synthetic, s.pass.value_or(-1)));
  for (const Node& n : trace.nodes)
    add(fmt::format("node {} {} {}", n.machine_id, n.hash, n.hostname));
  for (const Process& p : trace.processes)
    add(fmt::format("process {} {} {} {} {} {} {} {} {} {}", p.source, p.node, p.pid, p.command,
                    text_of(p.start), text_of(p.end), text_of(p.rank.rank), text_of(p.rank.size),
                    text_of(p.rank.local_rank), p.rank.from));
  for (const Thread& t : trace.threads) add(fmt::format("thread {} {}", t.process, t.tid));
  for (const Agent& a : trace.agents) {
    const AgentFacts& f = a.facts;
    add(fmt::format("agent {} {} {} {} {} {} {} {}", a.node, a.id, a.absolute_index, a.type, a.name,
                    a.product, a.model, a.uuid));
    for (const auto& fact :
         {f.compute_units, f.xcc_count, f.simds_per_cu, f.wave_size, f.max_waves_per_simd,
          f.max_waves_per_cu, f.lds_bytes_per_cu, f.clock_mhz, f.target_version, f.device_id})
      add("  " + text_of(fact));
  }
  for (const Queue& q : trace.queues) add(fmt::format("queue {} {} {}", q.source, q.id, q.name));
  for (const Stream& s : trace.streams) add(fmt::format("stream {} {} {}", s.source, s.id, s.name));
  for (const Track& t : trace.tracks)
    add(fmt::format("track {} {} {} {} {}", t.process, t.thread, t.agent, t.queue, t.stream));
  for (const CodeObject& c : trace.code_objects)
    add(fmt::format("code object {} {} {} {} {} {} {}", c.source, c.id, c.agent, c.uri, c.load_base,
                    c.load_size, c.of_runtime));
  for (const KernelSymbol& k : trace.kernel_symbols)
    add(fmt::format("kernel {} {} {} '{}' '{}' {} {} {} {} {} {} {}", k.source, k.id, k.code_object,
                    trace.strings.view(k.name), trace.strings.view(k.mangled_name), k.known,
                    text_of(k.static_lds_bytes), text_of(k.scratch_bytes_per_lane),
                    text_of(k.kernarg_bytes), text_of(k.sgprs), text_of(k.arch_vgprs),
                    text_of(k.accum_vgprs)));
  for (const LaunchConfig& c : trace.launch_configs)
    add(fmt::format("config {} {} {} {}", c.workgroup, c.grid, c.lds_bytes, c.scratch_bytes));
  for (const CounterInfo& c : trace.counter_infos)
    add(fmt::format("counter {} {} {} {} {}", trace.strings.view(c.name), c.block, c.units,
                    c.description, c.derived));
}

void dump_columns(const Trace& trace, std::string& out) {
  const auto to = std::back_inserter(out);
  const DispatchColumns& d = trace.dispatches;
  for (std::size_t i = 0; i < d.size(); ++i)
    fmt::format_to(to, "dispatch {} {} {} {} {} {} {}\n", d.start[i], d.end[i], d.dispatch_id[i],
                   d.kernel[i], d.config[i], d.track[i], d.launch[i]);
  const RegionColumns& r = trace.regions;
  for (std::size_t i = 0; i < r.size(); ++i)
    fmt::format_to(to, "region {} {} {} {} {} {}\n", r.start[i], r.end[i],
                   trace.strings.view(r.name[i]), trace.strings.view(r.category[i]), r.thread[i],
                   r.parent[i]);
  const CopyColumns& c = trace.copies;
  for (std::size_t i = 0; i < c.size(); ++i)
    fmt::format_to(to, "copy {} {} {} {} {} {} {}\n", c.start[i], c.end[i], c.bytes[i],
                   trace.strings.view(c.kind[i]), c.source_agent[i], c.track[i], c.launch[i]);
  const AllocationColumns& a = trace.allocations;
  for (std::size_t i = 0; i < a.size(); ++i)
    fmt::format_to(to, "allocation {} {} {} {} {} {} {} {}\n", a.start[i], a.end[i], a.address[i],
                   a.bytes[i], trace.strings.view(a.type[i]), trace.strings.view(a.level[i]),
                   a.agent[i], a.process[i]);
  const CallArgumentColumns& g = trace.call_arguments;
  for (std::size_t i = 0; i < g.size(); ++i)
    fmt::format_to(to, "arguments {} {} {:x} {:x} {}\n", g.region[i], g.has[i], g.stream[i],
                   g.event[i], g.device[i]);
  for (std::size_t i = 0; i < trace.ranges.size(); ++i)
    fmt::format_to(to, "range {} '{}'\n", trace.ranges.region[i],
                   trace.strings.view(trace.ranges.message[i]));
  const auto said = [&](Index text) {
    return text == kNone ? std::string_view("-") : trace.strings.view(text);
  };
  for (const Communication& one : trace.communications)
    fmt::format_to(to, "communication {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}\n",
                   one.of_region, one.row, said(one.function), said(one.group), said(one.handle),
                   said(one.data_type), text_of(one.sequence), text_of(one.group_size),
                   text_of(one.in_count), text_of(one.out_count), text_of(one.count),
                   text_of(one.bytes), text_of(one.root), text_of(one.peer), text_of(one.stream),
                   one.members);
  const CounterColumns& v = trace.counters;
  for (std::size_t i = 0; i < v.size(); ++i)
    fmt::format_to(to, "value {} {} {} {} {} {}\n", v.dispatch[i], v.counter[i], v.instances[i],
                   v.sum[i], v.min[i], v.max[i]);
}

std::uint64_t count_of(const std::map<ReadReport::Key, std::uint64_t>& counts,
                       const std::string& table, const std::string& reason) {
  const auto found = counts.find({table, reason});
  return found == counts.end() ? 0 : found->second;
}

}  // namespace

std::filesystem::path recorded_folder() {
  return std::filesystem::path(PERFLAB_SHARED_DIR) / "data/rocpd";
}

Trace read_ok(const Paths& files, unsigned threads) {
  Result<Trace> trace = rocpd::read(files, {.threads = threads});
  if (!trace) {
    ADD_FAILURE() << describe(trace.error());
    return {};
  }
  constexpr std::size_t kMostCompared = 20'000;
  if (trace->dispatches.size() <= kMostCompared) {
    const Result<Trace> judge = rocpd::read(files, {.threads = threads, .sqlite_only = true});
    EXPECT_TRUE(judge && dump(*judge) == dump(*trace)) << "through SQLite it is another Trace";
  }
  return std::move(*trace);
}

Error read_error(const Paths& files, unsigned threads) {
  Result<Trace> trace = rocpd::read(files, {.threads = threads});
  if (trace) {
    ADD_FAILURE() << files.front() << " was read, with " << trace->dispatches.size()
                  << " dispatches";
    return {};
  }
  Error error = std::move(trace).error();
  const Result<Trace> judge = rocpd::read(files, {.threads = threads, .sqlite_only = true});
  EXPECT_TRUE(!judge && judge.error().message == error.message) << error.message;
  EXPECT_EQ(error.code, ErrorCode::bad_input) << error.message;
  EXPECT_TRUE(is_one_sentence(error.message)) << error.message;
  EXPECT_TRUE(error.message.find(files.front().string()) != std::string::npos) << error.message;
  return error;
}

bool is_one_sentence(std::string_view text) {
  return !text.empty() && text.size() < 400 && !text.ends_with('.') && !text.ends_with(' ') &&
         std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

void add_machine(test::RocpdWriter& writer) {
  writer.agent(test::host_agent());
  writer.agent(test::mi300x_agent());
  writer.queue();
  writer.queue();
  writer.stream();
  writer.code_object();
  writer.kernel({.name = "_Z4axpyPf", .display_name = "axpy(float*)"});
}

test::DispatchRow dispatch_at(std::int64_t start, std::int64_t length) {
  return {.start = kT0 + start, .end = kT0 + start + length};
}

void finish(test::RocpdWriter& writer) {
  const Result<void> done = writer.close();
  EXPECT_TRUE(done) << describe(done.error());
}

std::string_view kernel_name(const Trace& trace, std::size_t dispatch) {
  return trace.strings.view(trace.kernel_symbols[trace.dispatches.kernel[dispatch]].name);
}

std::string_view launch_name(const Trace& trace, std::size_t dispatch) {
  const Index region = trace.dispatches.launch[dispatch];
  return region == kNone ? "" : trace.strings.view(trace.regions.name[region]);
}

std::vector<std::string> kernel_names(const Trace& trace) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < trace.dispatches.size(); ++i)
    names.emplace_back(kernel_name(trace, i));
  return names;
}

std::uint64_t dropped(const Trace& trace, const std::string& table, const std::string& reason) {
  return count_of(trace.report.dropped, table, reason);
}

std::uint64_t odd(const Trace& trace, const std::string& table, const std::string& reason) {
  return count_of(trace.report.odd, table, reason);
}

std::string dump(const Trace& trace) {
  std::string out;
  dump_tables(trace, out);
  dump_columns(trace, out);
  for (const auto& [key, rows] : trace.report.dropped)
    out += fmt::format("dropped {} '{}' {}\n", key.first, key.second, rows);
  for (const auto& [key, rows] : trace.report.odd)
    out += fmt::format("odd {} '{}' {}\n", key.first, key.second, rows);
  for (const auto& [table, rows] : trace.report.rows)
    out += fmt::format("rows {} {}\n", table, rows);
  return out;
}

}  // namespace perflab::trace
