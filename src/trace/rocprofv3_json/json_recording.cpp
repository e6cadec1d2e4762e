// What a recording says of itself: metadata, agents, counters, names, code objects and symbols.
// The tool's configuration is never read: it can hold what a user typed.
#include "trace/rocprofv3_json/json_recording.h"

#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "trace/agent_facts.h"

namespace perflab::trace::rocprofv3_json {
namespace {

/// Sections that are read at once are small: what is larger is damage.
constexpr std::size_t kMostSection = std::size_t{64} << 20;

/// Of rocprofiler_agent_type_t (rocprofiler-sdk/agent.h).
std::string type_name(std::optional<std::int64_t> type) {
  if (type == 1) return "CPU";
  if (type == 2) return "GPU";
  return "UNK";
}

const Json* member_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::optional<std::uint64_t> handle_of(const Json& object, const char* key) {
  const Json* id = member_of(object, key);
  if (id == nullptr || !id->is_object()) return std::nullopt;
  const Json* handle = member_of(*id, "handle");
  return handle != nullptr && handle->is_number_integer()
             ? std::optional(handle->get<std::uint64_t>())
             : std::nullopt;
}

}  // namespace

Result<std::optional<Json>> JsonRecording::section(od::object& recording, std::string_view key) {
  od::value value;
  if (!cursor_.good(cursor_.field(recording, key).get(value))) return std::nullopt;
  std::string_view text;
  // Scalars have no raw JSON: they are no section either.
  od::json_type type{};
  if (!cursor_.good(value.type().get(type))) return std::nullopt;
  if (type == od::json_type::object) {
    od::object object;
    if (!cursor_.good(value.get_object().get(object)) || !cursor_.good(object.raw_json().get(text)))
      return std::nullopt;
  } else if (type == od::json_type::array) {
    od::array array;
    if (!cursor_.good(value.get_array().get(array)) || !cursor_.good(array.raw_json().get(text)))
      return std::nullopt;
  } else {
    return std::nullopt;
  }
  if (text.size() > kMostSection)
    return fail(ErrorCode::bad_input, fmt::format("{}: \"{}\" is larger than 64 MiB", file_, key));
  PERFLAB_TRY(Json parsed, parse_json(text, fmt::format("{}: {}", file_, key)));
  return parsed;
}

Result<void> JsonRecording::load(od::object& recording, std::size_t number) {
  PERFLAB_TRY_VOID(start_recording(recording, number));
  PERFLAB_TRY_VOID(load_agents(recording));
  PERFLAB_TRY_VOID(load_counter_infos(recording));
  od::object found;
  if (cursor_.object_in(recording, "strings", found)) {
    PERFLAB_TRY_VOID(load_names(found));
    load_messages(found);
  }
  load_code_objects(recording);
  load_kernel_symbols(recording);
  // Counters come first in the file; dispatches that only they name are added at the end.
  if (cursor_.object_in(recording, "callback_records", found)) load_counters(found);
  if (cursor_.object_in(recording, "buffer_records", found)) load_records(found);
  if (cursor_.damaged()) return {};  // said by the caller
  return rows_->finish_recording();
}

Result<void> JsonRecording::start_recording(od::object& recording, std::size_t number) {
  Node node;
  Process process;
  std::int64_t host_hash = 0;
  od::object metadata;
  if (cursor_.object_in(recording, "metadata", metadata)) {
    PERFLAB_TRY(const std::optional<Json> host, section(metadata, "node"));
    if (host && host->is_object()) {
      node.machine_id = json_text(*host, "machine_id");
      node.hostname = json_text(*host, "hostname");
      host_hash = json_integer(*host, "hash").value_or(0);
    }
    process.pid = cursor_.integer(metadata, "pid").value_or(0);
    process.start = cursor_.integer(metadata, "init_time");
    process.end = cursor_.integer(metadata, "fini_time");
    od::array words;
    if (cursor_.array_in(metadata, "command", words))
      for (auto word : words) {
        std::string_view text;
        if (!cursor_.good(word.get_string().get(text))) break;
        if (!process.command.empty()) process.command += ' ';
        process.command += text;
      }
  } else {
    count(trace_.report.odd, {"info_process", "recording without a process row"}, 1);
  }
  node.hash = host_hash;
  if (!node.machine_id.empty() || !node.hostname.empty()) {
    // The hash is 0 in some versions, and two hosts can share a machine id: the host's name tells
    // them apart.
    const auto [same, added] =
        state_.nodes.try_emplace(std::pair{node.hash, node.machine_id + "\n" + node.hostname},
                                 static_cast<Index>(trace_.nodes.size()));
    if (added) trace_.nodes.push_back(node);
    node_ = same->second;
  }
  process.node = node_;
  // The format has no id of its own: what tells processes apart stands for it.
  const std::string guid =
      process.start ? fmt::format("{}-{}-{}", node.machine_id, process.pid, *process.start)
                    : fmt::format("{}#{}", file_, number);
  if (!state_.recordings.insert(guid).second)
    return given_twice(file_, guid, "name every file once");
  Source source{.file = file_,
                .guid = guid,
                .schema_version = {},
                .collector = "rocprofv3",
                .synthetic = {},
                .pass = pass_of(file_)};
  rows_.emplace(state_, std::move(source), std::move(process), expected_calls_);
  return {};
}

Result<void> JsonRecording::load_agents(od::object& recording) {
  PERFLAB_TRY(const std::optional<Json> agents, section(recording, "agents"));
  if (!agents || !agents->is_array()) return {};
  for (const Json& each : *agents) {
    const auto handle = each.is_object() ? handle_of(each, "id") : std::nullopt;
    const auto number = each.is_object() ? json_integer(each, "node_id") : std::nullopt;
    if (!handle || !number) {
      rows_->malformed("info_agent");
      continue;
    }
    Agent agent;
    agent.node = node_;
    agent.id = agent.absolute_index = *number;
    agent.type = type_name(json_integer(each, "type"));
    agent.name = json_text(each, "name");
    agent.product = json_text(each, "product_name");
    agent.model = json_text(each, "model_name");
    agent.uuid = json_integer(each, "device_id").value_or(0);
    agent.facts = agent_facts(each);
    const auto [same, added] = state_.agents.try_emplace(
        std::tuple{agent.node, agent.id, agent.type, agent.name, agent.product},
        static_cast<Index>(trace_.agents.size()));
    agents_[*handle] = same->second;
    if (added) trace_.agents.push_back(std::move(agent));
  }
  return {};
}

Result<void> JsonRecording::load_counter_infos(od::object& recording) {
  PERFLAB_TRY(const std::optional<Json> counters, section(recording, "counters"));
  if (!counters || !counters->is_array()) return {};
  for (const Json& each : *counters) {
    const auto handle = each.is_object() ? handle_of(each, "id") : std::nullopt;
    const std::string name = each.is_object() ? json_text(each, "name") : std::string();
    if (!handle || name.empty()) {
      rows_->malformed("info_pmc");
      continue;
    }
    const std::size_t before = trace_.counter_infos.size();
    const Index counter = state_.counter(name);
    counters_[*handle] = counter;
    if (counter < before) continue;
    CounterInfo& about = trace_.counter_infos[counter];
    about.block = json_text(each, "block");
    about.description = json_text(each, "description");
    const Json* derived = member_of(each, "is_derived");
    about.derived = derived != nullptr && ((derived->is_boolean() && derived->get<bool>()) ||
                                           (derived->is_number_integer() && *derived != 0));
  }
  return {};
}

Result<void> JsonRecording::load_names(od::object& strings) {
  PERFLAB_TRY(const std::optional<Json> kinds, section(strings, "buffer_records"));
  if (!kinds || !kinds->is_array()) return {};
  for (const Json& each : *kinds) {
    KindNames names;
    if (each.is_object()) {
      names.kind = trace_.strings.intern(json_text(each, "kind"));
      const Json* operations = member_of(each, "operations");
      if (operations != nullptr && operations->is_array())
        for (const Json& name : *operations)
          names.operations.push_back(
              trace_.strings.intern(name.is_string() ? name.get<std::string>() : ""));
    }
    kinds_.push_back(std::move(names));
  }
  return {};
}

void JsonRecording::load_messages(od::object& strings) {
  od::array pairs;
  if (!cursor_.array_in(strings, "marker_api", pairs)) return;
  cursor_.each(pairs, [&](od::object& pair) {
    const auto correlation = cursor_.whole(pair, "key");
    const auto text = cursor_.text(pair, "value");
    if (correlation && text) messages_.try_emplace(*correlation, *text);
  });
}

void JsonRecording::load_code_objects(od::object& recording) {
  od::array objects;
  if (!cursor_.array_in(recording, "code_objects", objects)) return;
  cursor_.each(objects, [&](od::object& each) {
    CodeObject object;
    const auto id = cursor_.whole(each, "code_object_id");
    if (!id) return rows_->malformed("info_code_object");
    if (*id == 0) return;  // the list is indexed by id: its first element stands for none
    object.source = rows_->source();
    object.id = static_cast<std::int64_t>(*id);
    object.agent = agent_of(cursor_.handle(each, "agent_id"));
    object.uri = cursor_.text(each, "uri").value_or("");
    object.load_base = cursor_.whole(each, "load_base").value_or(0);
    object.load_size = cursor_.whole(each, "load_size").value_or(0);
    if (const auto delta = cursor_.whole(each, "load_delta"))
      object.load_delta = static_cast<std::int64_t>(*delta);
    const auto bytes = cursor_.integer(each, "memory_size");
    if (bytes && *bytes > 0) object.file_bytes = bytes;
    if (code_objects_.try_emplace(*id, static_cast<Index>(trace_.code_objects.size())).second)
      trace_.code_objects.push_back(std::move(object));
  });
}

void JsonRecording::load_kernel_symbols(od::object& recording) {
  od::array symbols;
  if (!cursor_.array_in(recording, "kernel_symbols", symbols)) return;
  cursor_.each(symbols, [&](od::object& each) {
    const auto id = cursor_.integer(each, "kernel_id");
    if (!id) return rows_->malformed("info_kernel_symbol");
    if (*id == 0) return;
    KernelSymbol symbol;
    symbol.id = *id;
    symbol.known = true;
    const auto object = code_objects_.find(cursor_.whole(each, "code_object_id").value_or(0));
    if (object != code_objects_.end()) symbol.code_object = object->second;
    const std::string_view mangled = without_kd(cursor_.text(each, "kernel_name").value_or(""));
    symbol.mangled_name = trace_.strings.intern(mangled);
    if (const auto address = cursor_.whole(each, "kernel_object"))
      symbol.descriptor_address = static_cast<std::int64_t>(*address);
    std::uint64_t negative = 0;
    const auto size = [&](std::string_view key) {
      const auto value = cursor_.integer(each, key);
      if (value.value_or(0) >= 0) return value;
      ++negative;
      return std::optional<std::int64_t>();
    };
    symbol.kernarg_bytes = size("kernarg_segment_size");
    symbol.static_lds_bytes = size("group_segment_size");
    symbol.scratch_bytes_per_lane = size("private_segment_size");
    symbol.sgprs = size("sgpr_count");
    symbol.arch_vgprs = size("arch_vgpr_count");
    symbol.accum_vgprs = size("accum_vgpr_count");
    count(trace_.report.odd,
          {"info_kernel_symbol", "a register count or size below 0: taken as missing"}, negative);
    const std::string_view display =
        without_kd(cursor_.text(each, "formatted_kernel_name").value_or(""));
    symbol.name =
        trace_.strings.intern(!display.empty()   ? display
                              : !mangled.empty() ? mangled
                                                 : std::string_view(fmt::format("kernel {}", *id)));
    rows_->add_kernel(std::move(symbol));
  });
}

}  // namespace perflab::trace::rocprofv3_json
