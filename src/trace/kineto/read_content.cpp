// One pass over the text with simdjson's on-demand parser: what no reader asks for is skipped, and
// numbers are taken from their digits. Which fields there are: docs/facts/kineto.md "Events".
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <limits>

#include "base/text/numbers.h"
#include "trace/kineto/content.h"
#include "trace/kineto/times.h"

namespace perflab::trace::kineto {
namespace {

namespace ondemand = simdjson::ondemand;

/// What an event is, by its category.
enum class Category : std::uint8_t {
  other,
  metadata,  ///< phase M
  kernel,
  copy,
  runtime,
  driver,
  range,
  host_operation,
  sync,
  known,  ///< of the profiler's, but not read
};

constexpr auto kCategories = std::to_array<std::pair<std::string_view, Category>>({
    {"kernel", Category::kernel},
    {"gpu_memcpy", Category::copy},
    {"gpu_memset", Category::copy},
    {"cuda_runtime", Category::runtime},
    {"privateuse1_runtime", Category::runtime},
    {"cuda_driver", Category::driver},
    {"privateuse1_driver", Category::driver},
    {"user_annotation", Category::range},
    {"cpu_op", Category::host_operation},
    {"cuda_sync", Category::sync},
    {"gpu_user_annotation", Category::known},
    {"python_function", Category::known},
    {"cpu_instant_event", Category::known},
    {"overhead", Category::known},
    {"ac2g", Category::known},
    {"Trace", Category::known},
});

/// The host operation that says what a communication is.
constexpr std::string_view kCommOperation = "record_param_comms";

Category category_of(std::string_view name) {
  const auto* const found =
      std::ranges::find(kCategories, name, &std::pair<std::string_view, Category>::first);
  return found == kCategories.end() ? Category::other : found->second;
}

/// The text of a number or word without what follows it.
std::string_view token_of(ondemand::value& value) {
  const std::string_view raw = value.raw_json_token();
  std::size_t end = 0;
  while (end < raw.size() && static_cast<unsigned char>(raw[end]) > ' ') ++end;
  return raw.substr(0, end);
}

std::string_view string_in(ondemand::value value) {
  std::string_view text;
  if (value.get_string().get(text) != simdjson::SUCCESS) return {};
  return text;
}

/// A whole number, also one in quotes.
std::optional<std::int64_t> integer_in(ondemand::value value) {
  std::string_view token = token_of(value);
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"')
    token = token.substr(1, token.size() - 2);
  return whole_number<std::int64_t>(token);
}

std::optional<Extent> extent_in(ondemand::value value) {
  ondemand::array list;
  if (value.get_array().get(list) != simdjson::SUCCESS) return std::nullopt;
  Extent extent{};
  std::size_t n = 0;
  for (auto element : list) {
    ondemand::value axis;
    if (element.get(axis) != simdjson::SUCCESS) return std::nullopt;
    const auto size = integer_in(axis);
    if (!size || *size < 0 || *size > std::numeric_limits<std::uint32_t>::max() || n == 3)
      return std::nullopt;
    extent[n++] = static_cast<std::uint32_t>(*size);
  }
  return n == 3 ? std::optional(extent) : std::nullopt;
}

/// Ranks: a list, or one as text. Empty where the list is not whole ("[0, 1, ..., 7]").
std::vector<std::int64_t> ranks_in(ondemand::value value) {
  std::vector<std::int64_t> ranks;
  ondemand::json_type type{};
  if (value.type().get(type) != simdjson::SUCCESS) return ranks;
  if (type == ondemand::json_type::array) {
    ondemand::array list;
    if (value.get_array().get(list) != simdjson::SUCCESS) return ranks;
    for (auto element : list) {
      ondemand::value rank;
      if (element.get(rank) != simdjson::SUCCESS) return {};
      const auto number = integer_in(rank);
      if (!number) return {};
      ranks.push_back(*number);
    }
    return ranks;
  }
  if (type != ondemand::json_type::string) return ranks;
  std::string_view text = string_in(value);
  while (!text.empty()) {
    const std::size_t begin = text.find_first_not_of("[], ");
    if (begin == text.npos) break;
    const std::size_t end = std::min(text.find_first_of("], ", begin), text.size());
    const auto number = whole_number<std::int64_t>(text.substr(begin, end - begin));
    if (!number) return {};
    ranks.push_back(*number);
    text.remove_prefix(end);
  }
  return ranks;
}

/// An event while it is read.
struct Event {
  char phase = 0;
  Category category = Category::other;
  std::string_view category_name, name;
  std::optional<std::int64_t> start, duration, pid, tid;
  bool has_duration = false;
  Args args;
};

/// Reads one file. Use once.
class Reader {
 public:
  Reader(std::string& text, std::string_view name, StringPool& strings)
      : text_(text), name_(name), strings_(strings) {}

  Result<Content> read() {
    constexpr std::size_t kMost = simdjson::SIMDJSON_MAXSIZE_BYTES - simdjson::SIMDJSON_PADDING;
    if (text_.size() > kMost)
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: is larger than 4 GiB, the most that can be read", name_),
                  "profile fewer steps");
    text_.reserve(text_.size() + simdjson::SIMDJSON_PADDING);
    ondemand::parser parser;
    ondemand::document document;
    ondemand::object root;
    simdjson::error_code error =
        parser.iterate(simdjson::padded_string_view(text_.data(), text_.size(), text_.capacity()))
            .get(document);
    if (error == simdjson::SUCCESS) error = document.get_object().get(root);
    if (error == simdjson::SUCCESS) error = read_root(root);
    // Behind the last bracket there is no place to be at.
    if (error == simdjson::SUCCESS &&
        document.current_location().error() != simdjson::OUT_OF_BOUNDS)
      error = simdjson::TAPE_ERROR;
    if (error != simdjson::SUCCESS) return refused(error);
    if (!has_events_ || !content_.known_category)
      return fail(
          ErrorCode::bad_input,
          fmt::format("{}: is a Chrome trace without an event of PyTorch's profiler", name_),
          "give the file that torch.profiler's export_chrome_trace() wrote");
    return std::move(content_);
  }

 private:
  [[nodiscard]] std::unexpected<Error> refused(simdjson::error_code error) const {
    std::string_view words = "is not JSON, or only a part of it";
    if (error == simdjson::UTF8_ERROR) words = "is not JSON: it holds bytes that are not UTF-8";
    if (error == simdjson::UNCLOSED_STRING) words = "is not JSON: it ends inside a text";
    if (error == simdjson::MEMALLOC) words = "does not fit into memory";
    if (error == simdjson::DEPTH_ERROR) words = "is nested too deeply";
    return fail(ErrorCode::bad_input, fmt::format("{}: {}", name_, words),
                "give the trace as torch.profiler wrote it, once the program has ended");
  }

  simdjson::error_code read_root(ondemand::object& root) {
    for (auto&& result : root) {
      ondemand::field field;
      if (const auto error = std::move(result).get(field)) return error;
      std::string_view key;
      if (const auto error = field.unescaped_key().get(key)) return error;
      ondemand::value value = field.value();
      if (key == "traceEvents") {
        if (const auto error = read_events(value)) return error;
      } else if (key == "deviceProperties") {
        if (const auto error = read_devices(value)) return error;
      } else if (key == "distributedInfo") {
        if (const auto error = read_distributed(value)) return error;
      } else if (key == "baseTimeNanoseconds") {
        content_.base = std::clamp(integer_in(value).value_or(0), -kLatest, kLatest);
      } else if (key == "schemaVersion") {
        content_.schema_version = token_of(value);
      } else if (key == "hostname") {
        content_.hostname = string_in(value);
      }
    }
    return simdjson::SUCCESS;
  }

  /// Calls visit(object) for the objects of a list; what else is in it is left out.
  template <class Visit>
  simdjson::error_code each_object(ondemand::value& value, const Visit& visit) {
    ondemand::json_type type{};
    if (const auto error = value.type().get(type)) return error;
    if (type != ondemand::json_type::array) return simdjson::SUCCESS;
    ondemand::array list;
    if (const auto error = value.get_array().get(list)) return error;
    for (auto result : list) {
      ondemand::value element;
      if (const auto error = result.get(element)) return error;
      if (const auto error = element.type().get(type)) return error;
      if (type != ondemand::json_type::object) {
        ++content_.strangers;
        continue;
      }
      ondemand::object object;
      if (const auto error = element.get_object().get(object)) return error;
      if (const auto error = visit(object)) return error;
    }
    return simdjson::SUCCESS;
  }

  /// Calls visit(key, value) for the fields of an object.
  template <class Visit>
  simdjson::error_code each_field(ondemand::object& object, const Visit& visit) {
    for (auto&& result : object) {
      ondemand::field field;
      if (const auto error = std::move(result).get(field)) return error;
      std::string_view key;
      if (const auto error = field.unescaped_key().get(key)) return error;
      ondemand::value value = field.value();
      if (const auto error = visit(key, value)) return error;
    }
    return simdjson::SUCCESS;
  }

  simdjson::error_code read_devices(ondemand::value& value) {
    return each_object(value, [&](ondemand::object& object) {
      Device device;
      std::optional<std::int64_t> id;
      const auto error = each_field(object, [&](std::string_view key, ondemand::value& field) {
        if (key == "id") id = integer_in(field);
        if (key == "name") device.name = string_in(field);
        if (key == "totalGlobalMem") device.memory_bytes = integer_in(field);
        if (key == "computeMajor") device.major = integer_in(field);
        if (key == "computeMinor") device.minor = integer_in(field);
        if (key == "maxThreadsPerMultiprocessor") device.threads_per_sm = integer_in(field);
        if (key == "warpSize") device.wave_size = integer_in(field);
        if (key == "numSms") device.sms = integer_in(field);
        if (key == "regsPerMultiprocessor") device.registers_per_sm = integer_in(field);
        if (key == "sharedMemPerBlockOptin") device.shared_optin = integer_in(field);
        if (key == "sharedMemPerMultiprocessor" || key == "maxSharedMemoryPerMultiProcessor")
          device.shared_per_sm = integer_in(field);
        device.cuda = device.cuda || key == "regsPerMultiprocessor";
        return simdjson::SUCCESS;
      });
      if (id) device.id = *id;
      if (id) content_.devices.push_back(std::move(device));
      return error;
    });
  }

  simdjson::error_code read_distributed(ondemand::value& value) {
    ondemand::object object;
    const auto error = value.get_object().get(object);
    if (error == simdjson::INCORRECT_TYPE) return simdjson::SUCCESS;
    if (error != simdjson::SUCCESS) return error;
    return each_field(object, [&](std::string_view key, ondemand::value& field) {
      if (key == "rank") content_.rank = integer_in(field);
      if (key == "world_size") content_.world_size = integer_in(field);
      if (key == "pg_config") return read_groups(field);
      return simdjson::SUCCESS;
    });
  }

  simdjson::error_code read_groups(ondemand::value& value) {
    return each_object(value, [&](ondemand::object& object) {
      Index name = kNone;
      std::vector<std::int64_t> members;
      const auto error = each_field(object, [&](std::string_view key, ondemand::value& field) {
        if (key == "pg_name") name = string_or_number(field);
        if (key == "ranks") members = ranks_in(field);
        return simdjson::SUCCESS;
      });
      if (name != kNone && !members.empty()) content_.group_members[name] = std::move(members);
      return error;
    });
  }

  /// A name, which older versions wrote as a number.
  Index string_or_number(ondemand::value& value) {
    ondemand::json_type type{};
    if (value.type().get(type) != simdjson::SUCCESS) return kNone;
    if (type == ondemand::json_type::string) {
      const std::string_view text = string_in(value);
      return text.empty() ? kNone : strings_.intern(text);
    }
    return type == ondemand::json_type::number ? strings_.intern(token_of(value)) : kNone;
  }

  simdjson::error_code read_events(ondemand::value& value) {
    ondemand::json_type type{};
    if (const auto error = value.type().get(type)) return error;
    has_events_ = has_events_ || type == ondemand::json_type::array;
    return each_object(value, [&](ondemand::object& object) {
      Event event;
      const auto error = each_field(object, [&](std::string_view key, ondemand::value& field) {
        return read_field(key, field, event);
      });
      if (error == simdjson::SUCCESS) add(event);
      return error;
    });
  }

  simdjson::error_code read_field(std::string_view key, ondemand::value& value, Event& event) {
    if (key == "ph") {
      const std::string_view phase = string_in(value);
      event.phase = phase.empty() ? char{0} : phase.front();
      if (event.phase == 'M') event.category = Category::metadata;
    } else if (key == "cat") {
      event.category_name = string_in(value);
      if (event.phase != 'M') event.category = category_of(event.category_name);
    } else if (key == "name") {
      if (event.category != Category::known) event.name = string_in(value);
    } else if (key == "ts") {
      event.start = microseconds(token_of(value));
    } else if (key == "dur") {
      event.has_duration = true;
      event.duration = microseconds(token_of(value));
    } else if (key == "pid") {
      event.pid = integer_in(value);
    } else if (key == "tid") {
      event.tid = integer_in(value);
    } else if (key == "args" && event.category != Category::known &&
               event.category != Category::range &&
               (event.category != Category::host_operation || event.name.empty() ||
                event.name == kCommOperation)) {
      return read_args(value, event.args);
    }
    return simdjson::SUCCESS;
  }

  simdjson::error_code read_args(ondemand::value& value, Args& args) {
    ondemand::json_type type{};
    if (const auto error = value.type().get(type)) return error;
    if (type != ondemand::json_type::object) return simdjson::SUCCESS;
    ondemand::object object;
    if (const auto error = value.get_object().get(object)) return error;
    return each_field(object, [&](std::string_view key, ondemand::value& field) {
      if (!read_argument(key, field, args)) read_communication(key, field, args.communication);
      return simdjson::SUCCESS;
    });
  }

  /// Whether it was one of these.
  static bool read_argument(std::string_view key, ondemand::value& value, Args& args) {
    using Number = std::optional<std::int64_t> Args::*;
    static constexpr auto kNumbers = std::to_array<std::pair<std::string_view, Number>>({
        {"External id", &Args::external_id},
        {"correlation", &Args::correlation},
        {"device", &Args::device},
        {"stream", &Args::stream},
        {"hsa_queue", &Args::queue},
        {"queue", &Args::queue},
        {"bytes", &Args::bytes},
        {"registers per thread", &Args::registers},
        {"shared memory", &Args::shared_memory},
        {"fromDevice", &Args::from_device},
        {"toDevice", &Args::to_device},
        {"wait_on_stream", &Args::wait_on_stream},
        {"wait_on_cuda_event_id", &Args::event},
        {"wait_on_cuda_event_record_corr_id", &Args::record},
        {"external id", &Args::external_id},
    });
    for (const auto& [name, member] : kNumbers)
      if (key == name) {
        args.*member = integer_in(value);
        return true;
      }
    if (key == "grid") args.grid = extent_in(value);
    if (key == "block") args.block = extent_in(value);
    return key == "grid" || key == "block";
  }

  void read_communication(std::string_view key, ondemand::value& value, CommFacts& facts) {
    if (key == "Collective name") facts.function = string_or_number(value);
    if (key == "Process Group Name") facts.group = string_or_number(value);
    if (key == "dtype") facts.data_type = string_or_number(value);
    if (key == "Seq") facts.sequence = integer_in(value);
    if (key == "Group size") facts.group_size = integer_in(value);
    if (key == "In msg nelems") facts.in_count = integer_in(value);
    if (key == "Out msg nelems") facts.out_count = integer_in(value);
    if (key == "Src Rank") facts.source = integer_in(value);
    if (key == "Dst Rank") facts.destination = integer_in(value);
    if (key == "Process Group Ranks") facts.members = ranks_in(value);
  }

  void add(Event& event) {
    if (event.category != Category::other && event.category != Category::metadata)
      content_.known_category = true;
    if (event.category == Category::metadata) return;
    const bool host = event.category == Category::host_operation;
    if (event.category == Category::other || event.category == Category::known ||
        (host && event.name != kCommOperation))
      return;
    if (event.phase == 'B' || event.phase == 'E') {
      ++content_.split;
      return;
    }
    if (event.phase != 'X') return;
    const auto counted = [&](auto& counts) {
      const auto found = counts.find(event.category_name);
      if (found != counts.end())
        ++found->second;
      else
        counts.emplace(std::string(event.category_name), 1);
    };
    if (event.category == Category::sync) {
      if (event.args.correlation)
        content_.syncs.push_back({.correlation = *event.args.correlation,
                                  .stream = event.args.stream,
                                  .wait_on_stream = event.args.wait_on_stream,
                                  .event = event.args.event,
                                  .record = event.args.record});
      return counted(event.args.correlation ? content_.rows : content_.malformed);
    }
    if (!event.has_duration) return counted(content_.unfinished);
    if (!event.start || !event.duration || !event.pid || event.name.empty() ||
        std::clamp(*event.start, -kLatest, kLatest) != *event.start || *event.duration > kLatest)
      return counted(content_.malformed);
    if (*event.duration < 0) return counted(content_.unfinished);
    counted(content_.rows);
    keep(event);
  }

  Index communication(CommFacts& facts) {
    if (!facts.any()) return kNone;
    content_.communications.push_back(std::move(facts));
    return static_cast<Index>(content_.communications.size() - 1);
  }

  void keep(Event& event) {
    const std::int64_t start = *event.start, end = start + *event.duration;
    const Place place{.pid = *event.pid, .tid = event.tid.value_or(0)};
    Args& args = event.args;
    switch (event.category) {
      case Category::kernel:
        content_.kernels.push_back({.start = start,
                                    .end = end,
                                    .name = strings_.intern(event.name),
                                    .place = place,
                                    .device = args.device,
                                    .stream = args.stream,
                                    .queue = args.queue,
                                    .correlation = args.correlation,
                                    .external_id = args.external_id,
                                    .registers = args.registers,
                                    .shared = args.shared_memory,
                                    .grid = args.grid,
                                    .block = args.block,
                                    .communication = communication(args.communication)});
        break;
      case Category::copy:
        content_.copies.push_back({.start = start,
                                   .end = end,
                                   .name = strings_.intern(event.name),
                                   .place = place,
                                   .device = args.device,
                                   .stream = args.stream,
                                   .queue = args.queue,
                                   .correlation = args.correlation,
                                   .bytes = args.bytes,
                                   .from_device = args.from_device,
                                   .to_device = args.to_device});
        break;
      case Category::runtime:
      case Category::driver:
        content_.calls.push_back({.start = start,
                                  .end = end,
                                  .name = strings_.intern(event.name),
                                  .driver = event.category == Category::driver,
                                  .place = place,
                                  .correlation = args.correlation,
                                  .shared = args.shared_memory,
                                  .grid = args.grid,
                                  .block = args.block});
        break;
      case Category::range:
        content_.ranges.push_back(
            {.start = start, .end = end, .text = strings_.intern(event.name), .place = place});
        break;
      case Category::host_operation:
        content_.operations.push_back({.start = start,
                                       .end = end,
                                       .place = place,
                                       .external_id = args.external_id,
                                       .communication = communication(args.communication)});
        break;
      default:
        break;
    }
  }

  /// Sums of three such times fit 64 bits: 97 years.
  static constexpr std::int64_t kLatest = std::numeric_limits<std::int64_t>::max() / 3;

  std::string& text_;
  std::string_view name_;
  StringPool& strings_;
  Content content_;
  bool has_events_ = false;
};

}  // namespace

Result<Content> read_content(std::string& text, std::string_view name, StringPool& strings) {
  return Reader(text, name, strings).read();
}

}  // namespace perflab::trace::kineto
