// Reading of trace descriptions: every field is checked, and a name that is not known is an error.
#include "support/trace_description.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "base/text/json.h"
#include "bundled_descriptions.h"

namespace perflab::test {
namespace {

constexpr std::int64_t kMaxSteps = 1'000'000;  // after repeats: a description stays small

/// Reads the fields of one JSON object. Remembers the first thing that is wrong, and which fields
/// were asked for, so that finish() can name a field that nobody knows.
class Fields {
 public:
  Fields(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) complain("is not an object");
  }

  bool has(const char* key) {
    known_.insert(key);
    return object_.is_object() && object_.contains(key);
  }

  std::string text(const char* key, const char* fallback = nullptr) {
    if (!has(key)) {
      if (fallback == nullptr) complain(fmt::format("lacks \"{}\"", key));
      return fallback == nullptr ? "" : fallback;
    }
    if (object_[key].is_string()) return object_[key].get<std::string>();
    complain(fmt::format("\"{}\" is not a string", key));
    return {};
  }

  std::int64_t integer(const char* key, std::int64_t fallback) {
    if (!has(key)) return fallback;
    if (object_[key].is_number_integer() && object_[key].get<std::int64_t>() >= 0)
      return object_[key].get<std::int64_t>();
    complain(fmt::format("\"{}\" is not a whole number from 0", key));
    return fallback;
  }

  double number(const char* key, double fallback) {
    if (!has(key)) return fallback;
    if (object_[key].is_number() && object_[key].get<double>() >= 0)
      return object_[key].get<double>();
    complain(fmt::format("\"{}\" is not a number from 0", key));
    return fallback;
  }

  /// A time given in microseconds, as whole nanoseconds.
  std::int64_t microseconds(const char* key, std::int64_t fallback_ns) {
    return has(key) ? std::llround(number(key, 0) * 1000.0) : fallback_ns;
  }

  std::vector<std::int64_t> integers(const char* key, std::size_t count,
                                     std::vector<std::int64_t> fallback) {
    if (!has(key)) return fallback;
    const Json& list = object_[key];
    std::vector<std::int64_t> values;
    if (list.is_array())
      for (const Json& item : list)
        if (item.is_number_integer() && item.get<std::int64_t>() >= 0)
          values.push_back(item.get<std::int64_t>());
    if (values.size() == count && list.size() == count) return values;
    complain(fmt::format("\"{}\" is not a list of {} whole numbers", key, count));
    return fallback;
  }

  const Json& list(const char* key) {
    static const Json empty = Json::array();
    if (has(key) && object_[key].is_array()) return object_[key];
    complain(fmt::format("lacks the list \"{}\"", key));
    return empty;
  }

  const Json& object(const char* key) {
    static const Json empty = Json::object();
    if (has(key) && object_[key].is_object()) return object_[key];
    complain(fmt::format("lacks the object \"{}\"", key));
    return empty;
  }

  void complain(const std::string& what) {
    if (problem_.empty()) problem_ = fmt::format("{}: {}", where_, what);
  }

  Result<void> finish() {
    if (object_.is_object())
      for (const auto& [key, value] : object_.items())
        if (!known_.contains(key)) complain(fmt::format("has an unknown field \"{}\"", key));
    if (!problem_.empty()) return fail(ErrorCode::bad_input, problem_);
    return {};
  }

 private:
  const Json& object_;
  std::string where_;
  std::set<std::string> known_;
  std::string problem_;
};

Extent extent_of(const std::vector<std::int64_t>& values) {
  return {.x = values[0], .y = values[1], .z = values[2]};
}

/// A number of bytes that whole requests of that size can move.
std::int64_t bytes_of(Fields& fields, const char* key, std::int64_t request) {
  const std::int64_t bytes = fields.integer(key, 0);
  if (bytes % request != 0)
    fields.complain(fmt::format("\"{}\" is not a multiple of {} bytes", key, request));
  return bytes;
}

/// Instructions of one wave that are neither floating-point, memory nor LDS ones.
Result<void> read_per_wave(const Json& json, const std::string& where, DescribedCounts& counts) {
  Fields fields(json, where + ": per_wave");
  counts.valu = fields.integer("valu", 0);
  counts.salu = fields.integer("salu", 0);
  counts.smem = fields.integer("smem", 0);
  counts.branch = fields.integer("branch", 0);
  return fields.finish();
}

Result<DescribedCounts> read_counts(const Json& json, const std::string& where) {
  DescribedCounts counts;
  Fields fields(json, where + ": counts");
  if (fields.has("flop")) {
    Fields flop(fields.object("flop"), where + ": flop");
    counts.matrix_bf16 = flop.integer("matrix_bf16", 0);
    counts.fma = flop.integer("fma", 0);
    counts.add = flop.integer("add", 0);
    counts.mul = flop.integer("mul", 0);
    counts.trans = flop.integer("trans", 0);
    PERFLAB_TRY_VOID(flop.finish());
  }
  counts.lanes = fields.number("lanes", 64);
  if (counts.lanes < 1 || counts.lanes > 64) fields.complain("\"lanes\" is not from 1 to 64");
  counts.read = bytes_of(fields, "read", 128);
  counts.write = bytes_of(fields, "write", 64);
  counts.l2_read = bytes_of(fields, "l2_read", 128);
  counts.l2_write = bytes_of(fields, "l2_write", 64);
  if (counts.read > counts.l2_read || counts.write > counts.l2_write)
    fields.complain("more bytes leave L2 than L1 asks it for");
  counts.lds = bytes_of(fields, "lds", 128);
  counts.lds_conflicts = fields.number("lds_conflicts", 0);
  counts.lane_bytes = fields.integer("lane_bytes", 16);
  counts.lds_lane_bytes = fields.integer("lds_lane_bytes", 16);
  if (counts.lane_bytes < 1 || counts.lds_lane_bytes < 1)
    fields.complain("a lane moves at least 1 byte");
  PERFLAB_TRY_VOID(read_per_wave(fields.object("per_wave"), where, counts));
  fields.text("why");
  PERFLAB_TRY_VOID(fields.finish());
  return counts;
}

Result<DescribedKernel> read_kernel(const Json& json, const std::string& where) {
  Fields fields(json, where);
  DescribedKernel kernel;
  kernel.symbol = fields.text("symbol");
  kernel.display = fields.text("display", "");
  kernel.code_object = fields.integer("code_object", 1);
  kernel.api = fields.text("api", "hipLaunchKernel");
  kernel.groups = extent_of(fields.integers("groups", 3, {1, 1, 1}));
  kernel.workgroup = extent_of(fields.integers("workgroup", 3, {256, 1, 1}));
  kernel.lds = fields.integer("lds", 0);
  kernel.scratch = fields.integer("scratch", 0);
  kernel.sgpr = fields.integer("sgpr", 32);
  const std::vector<std::int64_t> vgpr = fields.integers("vgpr", 2, {32, 0});
  kernel.arch_vgpr = vgpr[0];
  kernel.accum_vgpr = vgpr[1];
  kernel.kernarg = fields.integer("kernarg", 64);
  const auto bytes = static_cast<double>(fields.integer("bytes", 0));
  const double tb_per_s = fields.number("tb_per_s", 4.0);
  if (tb_per_s <= 0) fields.complain("\"tb_per_s\" must be positive");
  // 1 TB/s is 1000 bytes per ns.
  kernel.duration = fields.microseconds("fixed_us", 0) + std::llround(bytes / (tb_per_s * 1000.0));
  fields.text("why", "");
  if (fields.has("counts")) {
    PERFLAB_TRY(kernel.counts, read_counts(fields.object("counts"), where));
  }
  PERFLAB_TRY_VOID(fields.finish());
  return kernel;
}

Result<void> read_kernels(const Json& kernels, TraceDescription& out, std::string_view what) {
  for (const auto& [name, json] : kernels.items()) {
    PERFLAB_TRY(DescribedKernel kernel,
                read_kernel(json, fmt::format("{}: kernel {}", what, name)));
    if (kernel.code_object < 1 || kernel.code_object > static_cast<Id>(out.code_objects.size()))
      return fail(ErrorCode::bad_input, fmt::format("{}: kernel {}: there is no code object {}",
                                                    what, name, kernel.code_object));
    out.kernel_order.push_back(name);
    kernel.id = static_cast<Id>(out.kernel_order.size());
    out.kernels.emplace(name, std::move(kernel));
  }
  return {};
}

Result<void> read_timing(const Json& json, DescribedTiming& out, std::string_view what) {
  Fields fields(json, fmt::format("{}: timing", what));
  out.call = fields.microseconds("call_us", out.call);
  out.between_calls = fields.microseconds("between_calls_us", out.between_calls);
  out.start = fields.microseconds("start_us", out.start);
  out.kernel_gap = fields.microseconds("kernel_gap_us", out.kernel_gap);
  out.wake = fields.microseconds("wake_us", out.wake);
  out.jitter_permille = fields.integer("jitter_permille", 0);
  out.tail_every = fields.integer("tail_every", 0);
  out.tail_permille = fields.integer("tail_permille", 0);
  fields.text("why", "");
  return fields.finish();
}

Result<DescribedCounting> read_counting(const Json& json, std::string_view what) {
  Fields fields(json, fmt::format("{}: counting", what));
  DescribedCounting out;
  out.clock_mhz = fields.number("clock_mhz", 0);
  if (out.clock_mhz <= 0) fields.complain("\"clock_mhz\" must be positive");
  out.launch = fields.microseconds("launch_us", 0);
  out.gap = fields.microseconds("gap_us", 0);
  out.slower_permille = fields.integer("slower_permille", 0);
  Fields latency(fields.object("latency_cycles"), fmt::format("{}: latency_cycles", what));
  out.read_cycles = latency.number("read", 0);
  out.write_cycles = latency.number("write", 0);
  out.l2_cycles = latency.number("l2", 0);
  out.lds_cycles = latency.number("lds", 0);
  out.smem_cycles = latency.number("smem", 0);
  out.fetch_cycles = latency.number("fetch", 0);
  PERFLAB_TRY_VOID(latency.finish());
  fields.text("why");
  PERFLAB_TRY_VOID(fields.finish());
  return out;
}

Result<void> read_machine(Fields& top, TraceDescription& out, std::string_view what) {
  Fields process(top.object("process"), fmt::format("{}: process", what));
  out.pid = process.integer("pid", out.pid);
  out.ppid = process.integer("ppid", out.ppid);
  out.command = process.text("command", "");
  PERFLAB_TRY_VOID(process.finish());
  for (const Json& agent : top.list("agents"))
    out.agents.push_back(agent.is_string() ? agent.get<std::string>() : "");
  for (const std::string& agent : out.agents)
    if (agent != "host" && agent != "mi300x")
      top.complain(fmt::format("agents: \"{}\" is neither host nor mi300x", agent));
  out.gpu = top.integer("gpu", 1);
  if (out.gpu >= static_cast<Id>(out.agents.size()))
    top.complain("\"gpu\" is not the position of an agent");
  for (const Json& json : top.list("streams")) {
    Fields stream(json, fmt::format("{}: stream {}", what, out.streams.size()));
    DescribedStream read{.name = stream.text("name"),
                         .queue = stream.text("queue"),
                         .handle = stream.text("handle", "0x0")};
    for (const DescribedStream& other : out.streams)
      read.queue_id =
          other.queue == read.queue ? other.queue_id : std::max(read.queue_id, other.queue_id + 1);
    out.streams.push_back(read);
    PERFLAB_TRY_VOID(stream.finish());
  }
  for (const Json& json : top.list("code_objects")) {
    Fields code(json, fmt::format("{}: code object {}", what, out.code_objects.size() + 1));
    out.code_objects.push_back({.uri = code.text("uri"), .bytes = code.integer("bytes", 0)});
    PERFLAB_TRY_VOID(code.finish());
  }
  for (const auto& [direction, json] : top.object("copies").items()) {
    Fields rate(json, fmt::format("{}: copies {}", what, direction));
    CopyRate& copy = out.copies[direction];
    copy = {.gb_per_s = rate.number("gb_per_s", 50), .fixed = rate.microseconds("fixed_us", 0)};
    if (copy.gb_per_s <= 0) rate.complain("\"gb_per_s\" must be positive");
    rate.text("why", "");
    PERFLAB_TRY_VOID(rate.finish());
  }
  return {};
}

/// Reads program steps; `budget` is what is left of the steps that a program may come to.
class ProgramReader {
 public:
  ProgramReader(const TraceDescription& description, std::string_view what)
      : description_(description), what_(what) {}

  Result<std::vector<Step>> read(const Json& list, std::int64_t times) {
    std::vector<Step> steps;
    for (const Json& json : list) {
      steps_ += times;
      if (steps_ > kMaxSteps)
        return fail(ErrorCode::bad_input,
                    fmt::format("{}: the program comes to more than {} steps", what_, kMaxSteps));
      PERFLAB_TRY(Step step, read_step(json, times));
      PERFLAB_TRY_VOID(check(step));
      steps.push_back(std::move(step));
    }
    return steps;
  }

 private:
  Result<Step> read_step(const Json& json, std::int64_t times) {
    Step step;
    if (json.is_string()) {
      step.name = json.get<std::string>();
      return step;
    }
    Fields fields(json, fmt::format("{}: program step {}", what_, json.dump().substr(0, 60)));
    step.stream = static_cast<std::size_t>(fields.integer("stream", 0));
    step.agent = fields.integer("agent", description_.gpu);
    if (fields.has("repeat") || fields.has("range")) {
      const bool repeat = fields.has("repeat");
      step.kind = repeat ? Step::Kind::repeat : Step::Kind::range;
      step.value = repeat ? fields.integer("repeat", 1) : 1;
      if (!repeat) step.name = fields.text("range");
      if (step.value > kMaxSteps) fields.complain("\"repeat\" is too large");
      const Json& body = fields.list("do");
      PERFLAB_TRY_VOID(fields.finish());
      PERFLAB_TRY(step.body, read(body, times * step.value));
      return step;
    }
    read_simple(fields, step);
    PERFLAB_TRY_VOID(fields.finish());
    return step;
  }

  static void read_simple(Fields& fields, Step& step) {
    constexpr std::pair<const char*, Step::Kind> kNamed[] = {{"launch", Step::Kind::launch},
                                                             {"copy", Step::Kind::copy},
                                                             {"record", Step::Kind::record},
                                                             {"wait", Step::Kind::wait},
                                                             {"allocate", Step::Kind::allocate}};
    for (const auto& [key, kind] : kNamed)
      if (fields.has(key)) {
        step.kind = kind;
        step.name = fields.text(key);
        step.value = fields.integer("bytes", 0);
        return;
      }
    if (fields.has("synchronize")) {
      step.kind = Step::Kind::synchronize;
      step.stream = static_cast<std::size_t>(fields.integer("synchronize", 0));
    } else if (fields.has("host_us")) {
      step.kind = Step::Kind::host;
      step.value = fields.microseconds("host_us", 0);
    } else {
      fields.complain("says nothing that a program can do");
    }
  }

  [[nodiscard]] Result<void> check(const Step& step) const {
    const auto wrong = [&](std::string_view problem) {
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: program: {} \"{}\"", what_, problem, step.name));
    };
    if (step.stream >= description_.streams.size()) return wrong("no such stream, in step");
    if (step.kind == Step::Kind::launch && !description_.kernels.contains(step.name))
      return wrong("there is no kernel");
    if (step.kind == Step::Kind::copy && !description_.copies.contains(step.name))
      return wrong("there is no copy rate for");
    if (step.kind == Step::Kind::allocate && step.name != "hipMalloc" &&
        step.name != "hipHostMalloc")
      return wrong("memory is not allocated by");
    return {};
  }

  const TraceDescription& description_;
  std::string_view what_;
  std::int64_t steps_ = 0;
};

}  // namespace

Result<TraceDescription> read_description(std::string_view json_text, std::string_view what) {
  PERFLAB_TRY(const Json json, parse_json(json_text, what));
  TraceDescription out;
  Fields top(json, std::string(what));
  out.synthetic = top.text("synthetic", "");
  if (top.has("about")) top.list("about");
  out.guid = top.text("guid");
  out.creation_time = top.text("creation_time", "2026-01-01 00:00:00");
  out.seed = static_cast<std::uint64_t>(top.integer("seed", 1));
  out.clock_start = top.integer("clock_start_ns", 5'000'000'000'000);
  PERFLAB_TRY_VOID(read_machine(top, out, what));
  PERFLAB_TRY_VOID(read_timing(top.object("timing"), out.timing, what));
  if (top.has("counting")) {
    PERFLAB_TRY(out.counting, read_counting(top.object("counting"), what));
  }
  PERFLAB_TRY_VOID(read_kernels(top.object("kernels"), out, what));
  PERFLAB_TRY(out.program, ProgramReader(out, what).read(top.list("program"), 1));
  PERFLAB_TRY_VOID(top.finish());
  return out;
}

std::string_view sample_description() {
  for (const EmbeddedFile& file : bundled_descriptions())
    if (file.name == "decode_step.json") return file.text;
  return {};
}

Result<void> write_sample(const std::filesystem::path& path) {
  PERFLAB_TRY(const TraceDescription description,
              read_description(sample_description(), "examples/decode_step.json"));
  return write_described_trace(description, path);
}

}  // namespace perflab::test
