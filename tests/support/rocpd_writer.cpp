// Row by row, what rocprofv3 writes: the order of columns, ids, events and strings.
#include "support/rocpd_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text/json.h"

namespace perflab::test {
namespace {

constexpr Id kFirstCounterId = 3641;          // ids of counters are those of the architecture
constexpr Id kDanglingEvent = 9'000'000'000;  // no event row is ever written with it
constexpr std::array<std::string_view, 5> kHabitCategories = {
    "HIP_RUNTIME_API_EXT", "KERNEL_DISPATCH", "MEMORY_COPY", "MEMORY_ALLOCATION",
    "MARKER_CORE_API"};

std::string without_kd(std::string_view name) {
  if (name.ends_with(".kd")) name.remove_suffix(3);
  return std::string(name);
}

RowValue view_of(const Cell& cell) {
  return std::visit(
      [](const auto& value) -> RowValue {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Cell::Blob>) {
          RowValue blob{std::string_view(value.bytes)};
          blob.kind = RowValue::Kind::blob;
          return blob;
        } else {
          return RowValue(value);
        }
      },
      cell.value());
}

/// The JSON that rocprofv3 keeps beside a kernel symbol.
std::string kernel_extdata(const KernelRow& row, Id id, const std::string& name,
                           const std::string& display, std::int64_t object) {
  const std::string plain = without_kd(name);
  Json json;
  json["size"] = 88;
  json["kernel_id"] = id;
  json["code_object_id"] = row.code_object;
  json["kernel_name"] = name;
  json["kernel_object"] = object;
  json["kernarg_segment_size"] = row.kernarg_segment_size;
  json["kernarg_segment_alignment"] = 16;
  json["group_segment_size"] = row.group_segment_size;
  json["private_segment_size"] = row.private_segment_size;
  json["sgpr_count"] = row.sgpr_count;
  json["arch_vgpr_count"] = row.arch_vgpr_count;
  json["accum_vgpr_count"] = row.accum_vgpr_count;
  json["kernel_code_entry_byte_offset"] = 4096 + 256 * id;
  json["kernel_address"]["handle"] = object + 4096 + 256 * id;
  json["formatted_kernel_name"] = display;
  json["demangled_kernel_name"] = display == plain ? name : display + " [clone .kd]";
  json["truncated_kernel_name"] = display == plain ? name : display.substr(0, display.find('('));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string code_object_extdata(const CodeObjectRow& row, Id id, const std::string& uri) {
  Json json;
  json["size"] = 88;
  json["code_object_id"] = id;
  json["agent_id"]["handle"] = 38667 + row.agent.value_or(0);
  json["uri"] = uri;
  json["load_base"] = row.load_base;
  json["load_size"] = row.load_size;
  json["load_delta"] = row.load_base;
  json["storage_type"] = uri.starts_with("file:") ? 1 : 2;
  json["memory_base"] = 94'240'450'198'576 + 65'536 * id;
  json["memory_size"] = row.load_size - 1024;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

RocpdWriter::RocpdWriter(const std::filesystem::path& path, WriterOptions options,
                         FileOptions file_options)
    : options_(std::move(options)),
      owned_file_(std::make_unique<RocpdFile>(path, file_options)),
      file_(owned_file_.get()) {
  create_tables();
}

RocpdWriter::RocpdWriter(RocpdFile& file, WriterOptions options)
    : options_(std::move(options)), file_(&file) {
  create_tables();
}

void RocpdWriter::create_tables() {
  for (const TableSpec& spec : rocpd_tables()) {
    physical_names_.push_back(physical_name(spec.table, options_.guid));
    plain_columns_.push_back(plain_columns(spec.table));
    missing_.push_back(std::ranges::find(options_.missing_tables, spec.name) !=
                       options_.missing_tables.end());
    last_ids_.push_back(0);
    feeds_.push_back(kNoFeed);
    if (!missing_.back())
      file_->execute(create_table_sql(spec.table, options_.guid, options_.schema_version,
                                      options_.strictness));
  }
  last_ids_[static_cast<std::size_t>(Table::info_agent)] = -1;
  last_ids_[static_cast<std::size_t>(Table::info_queue)] = -1;
  last_ids_[static_cast<std::size_t>(Table::info_stream)] = -1;
  last_ids_[static_cast<std::size_t>(Table::info_pmc)] = kFirstCounterId - 1;
  begin_guid();
}

void RocpdWriter::begin_guid() {
  strings_.clear();
  habit_categories_.assign(kHabitCategories.size(), 0);
  write_metadata();
  empty_string_ = string_id("");
  write_host();
}

void RocpdWriter::rows_of(std::string guid, NodeRow node, ProcessRow process) {
  row_guid_ = guid;
  options_.guid = std::move(guid);
  options_.node = std::move(node);
  options_.process = std::move(process);
  begin_guid();
}

void RocpdWriter::write_metadata() {
  std::vector<std::pair<std::string, std::string>> tags;
  const std::string& version = options_.schema_version;
  tags.emplace_back("schema_version", version);
  if (const auto dot = version.find('.'); dot != std::string::npos) {
    const auto second = version.find('.', dot + 1);
    tags.emplace_back("schema_version_major", version.substr(0, dot));
    tags.emplace_back("schema_version_minor", version.substr(dot + 1, second - dot - 1));
    tags.emplace_back("schema_version_patch",
                      second == std::string::npos ? "0" : version.substr(second + 1));
    tags.emplace_back("schema_creation_time", options_.creation_time);
  }
  tags.emplace_back("uuid", table_suffix(options_.guid));
  tags.emplace_back("guid", options_.guid);
  tags.insert(tags.end(), options_.metadata.begin(), options_.metadata.end());
  if (!options_.synthetic.empty()) tags.emplace_back("synthetic", options_.synthetic);
  for (const auto& [tag, value] : tags) {
    const std::array<RowValue, 3> row = {next_id(Table::metadata), tag, value};
    put(Table::metadata, row, {}, {});
  }
}

void RocpdWriter::write_host() {
  const NodeRow& node = options_.node;
  const std::array<RowValue, 9> node_values = {node.id,
                                               node.hash,
                                               node.machine_id,
                                               std::string_view("Linux"),
                                               node.hostname,
                                               std::string_view("6.8.0"),
                                               std::string_view("#1 SMP"),
                                               std::string_view("x86_64"),
                                               std::string_view("(none)")};
  put(Table::info_node, node_values, {}, node.overrides);
  const ProcessRow& process = options_.process;
  const std::array<RowValue, 9> process_values = {process.pid,   node.id,       process.ppid,
                                                  process.pid,   process.start, process.end,
                                                  process.start, process.end,   process.command};
  put(Table::info_process, process_values,
      {{"environment", process.environment}, {"extdata", process.extdata}}, process.overrides);
  if (process.with_thread) thread({.tid = process.pid, .name = {}, .overrides = {}});
}

bool RocpdWriter::missing(Table table) const {
  return missing_[static_cast<std::size_t>(table)];
}

Id RocpdWriter::claim_id(Table table, const std::optional<Id>& wanted) {
  if (!wanted) return next_id(table);
  Id& last = last_ids_[static_cast<std::size_t>(table)];
  last = std::max(last, *wanted);
  return *wanted;
}

Id RocpdWriter::put(Table table, std::span<const RowValue> values, const Overrides& extras,
                    const Overrides& overrides) {
  if (!extras.empty() || !overrides.empty() || !row_guid_.empty())
    return put_changed(table, values, extras, overrides);
  if (missing(table)) return values[0].integer;
  const auto index = static_cast<std::size_t>(table);
  if (feeds_[index] == kNoFeed)
    feeds_[index] = file_->make_feed(physical_names_[index], plain_columns_[index]);
  file_->add(feeds_[index], values);
  return values[0].integer;
}

Id RocpdWriter::put_changed(Table table, std::span<const RowValue> values, const Overrides& extras,
                            const Overrides& overrides) {
  std::vector<std::string_view> columns = plain_columns_[static_cast<std::size_t>(table)];
  std::vector<RowValue> row(values.begin(), values.end());
  const auto set = [&](std::string_view column, RowValue value) {
    const auto at = std::ranges::find(columns, column);
    if (at != columns.end()) {
      row[static_cast<std::size_t>(at - columns.begin())] = value;
      return;
    }
    columns.push_back(column);
    row.push_back(value);
  };
  if (!row_guid_.empty() && table != Table::metadata) set("guid", row_guid_);
  for (const auto& [column, cell] : extras) set(column, view_of(cell));
  for (const auto& [column, cell] : overrides) set(column, view_of(cell));
  if (!missing(table))
    file_->insert(physical_names_[static_cast<std::size_t>(table)], columns, row);
  return row[0].integer;
}

Id RocpdWriter::raw_row(Table table, const Overrides& columns) {
  std::vector<std::string_view> names;
  std::vector<RowValue> values;
  const Id id = next_id(table);
  if (std::ranges::none_of(columns, [](const auto& column) { return column.first == "id"; })) {
    names.emplace_back("id");
    values.emplace_back(id);
  }
  for (const auto& [name, cell] : columns) {
    names.emplace_back(name);
    values.push_back(view_of(cell));
  }
  if (!missing(table))
    file_->insert(physical_names_[static_cast<std::size_t>(table)], names, values);
  return id;
}

Id RocpdWriter::string_id(std::string_view text) {
  const auto at = strings_.find(text);
  return at != strings_.end() ? at->second : duplicate_string(text);
}

Id RocpdWriter::duplicate_string(std::string_view text) {
  const std::array<RowValue, 2> row = {next_id(Table::string), text};
  return strings_[std::string(text)] = put(Table::string, row, {}, {});
}

Id RocpdWriter::thread(const ThreadRow& row) {
  const std::array<RowValue, 8> values = {
      row.tid, options_.node.id, options_.process.ppid, options_.process.pid, row.tid, row.name,
      nullptr, nullptr};
  return put(Table::info_thread, values, {}, row.overrides);
}

Id RocpdWriter::agent(const AgentRow& row) {
  const std::array<RowValue, 13> values = {claim_id(Table::info_agent, row.id),
                                           options_.node.id,
                                           options_.process.pid,
                                           row.type,
                                           row.absolute_index,
                                           row.logical_index,
                                           row.type_index,
                                           row.uuid,
                                           row.name,
                                           row.model_name,
                                           row.vendor_name,
                                           row.product_name,
                                           row.user_name};
  return put(Table::info_agent, values, {{"extdata", row.extdata}}, row.overrides);
}

Id RocpdWriter::queue(const QueueRow& row) {
  const Id id = claim_id(Table::info_queue, row.id);
  const std::string usual = id == 0 ? "Default Queue" : fmt::format("Queue {}", id - 1);
  const std::array<RowValue, 4> values = {id, options_.node.id, options_.process.pid,
                                          row.name.empty() ? usual : row.name};
  return put(Table::info_queue, values, {}, row.overrides);
}

Id RocpdWriter::stream(const QueueRow& row) {
  const Id id = claim_id(Table::info_stream, row.id);
  const std::string usual = id == 0 ? "Default Stream" : fmt::format("Stream {}", id - 1);
  const std::array<RowValue, 4> values = {id, options_.node.id, options_.process.pid,
                                          row.name.empty() ? usual : row.name};
  return put(Table::info_stream, values, {}, row.overrides);
}

Id RocpdWriter::code_object(const CodeObjectRow& row) {
  const Id id = claim_id(Table::info_code_object, row.id);
  const std::string uri = row.uri.empty()
                              ? fmt::format("memory://{}#offset=0x55b6108e{:04x}&size={}",
                                            options_.process.pid, 256 * id, row.load_size - 1024)
                              : row.uri;
  const std::array<RowValue, 9> values = {id,
                                          options_.node.id,
                                          options_.process.pid,
                                          row.agent,
                                          uri,
                                          row.load_base,
                                          row.load_size,
                                          row.load_base,
                                          row.storage_type};
  const std::string extdata = row.extdata ? *row.extdata : code_object_extdata(row, id, uri);
  return put(Table::info_code_object, values, {{"extdata", extdata}}, row.overrides);
}

Id RocpdWriter::kernel(const KernelRow& row) {
  const Id id = claim_id(Table::info_kernel_symbol, row.id);
  const std::string name =
      row.add_kd_suffix && !row.name.ends_with(".kd") ? row.name + ".kd" : row.name;
  const std::string display = row.display_name.empty() ? without_kd(name) : row.display_name;
  const std::int64_t object =
      row.kernel_object != 0 ? row.kernel_object : 360'777'281'536 + 64 * id;
  const std::array<RowValue, 14> values = {id,
                                           options_.node.id,
                                           options_.process.pid,
                                           row.code_object,
                                           name,
                                           display,
                                           object,
                                           row.kernarg_segment_size,
                                           std::int64_t{16},
                                           row.group_segment_size,
                                           row.private_segment_size,
                                           row.sgpr_count,
                                           row.arch_vgpr_count,
                                           row.accum_vgpr_count};
  const std::string extdata =
      row.extdata ? *row.extdata : kernel_extdata(row, id, name, display, object);
  return put(Table::info_kernel_symbol, values, {{"extdata", extdata}}, row.overrides);
}

Id RocpdWriter::counter(const CounterRow& row) {
  const std::array<RowValue, 18> values = {claim_id(Table::info_pmc, row.id),
                                           options_.node.id,
                                           options_.process.pid,
                                           row.agent,
                                           row.target_arch,
                                           nullptr,
                                           nullptr,
                                           row.name,
                                           row.symbol.empty() ? row.name : row.symbol,
                                           row.description,
                                           std::string_view(""),
                                           row.component,
                                           row.units,
                                           row.value_type,
                                           row.block,
                                           row.expression,
                                           std::int64_t{row.is_constant},
                                           std::int64_t{row.is_derived}};
  return put(Table::info_pmc, values, {}, row.overrides);
}

Id RocpdWriter::category_id(const EventRow& row, Habit habit) {
  if (!row.category.empty()) return string_id(row.category);
  Id& id = habit_categories_[static_cast<std::size_t>(habit)];
  if (id == 0) id = string_id(kHabitCategories[static_cast<std::size_t>(habit)]);
  return id;
}

std::optional<Id> RocpdWriter::event_of(const EventRow& row, Habit habit) {
  if (row.link == EventLink::existing) return row.existing;
  if (row.link == EventLink::dangling) return kDanglingEvent;
  if (row.link == EventLink::null) return std::nullopt;
  // rocprofv3 repeats the stack id as its own parent for work on the GPU; host calls have none.
  const bool repeats = habit == Habit::dispatch || habit == Habit::copy;
  const Id parent = row.parent_stack_id.value_or(repeats ? row.stack_id : 0);
  const std::array<RowValue, 5> values = {next_id(Table::event), category_id(row, habit),
                                          row.stack_id, parent, row.correlation_id};
  if (row.extdata == "{}") return put(Table::event, values, {}, row.overrides);
  return put(Table::event, values, {{"extdata", row.extdata}}, row.overrides);
}

Written RocpdWriter::region(const RegionRow& row) {
  const std::optional<Id> event = event_of(row.event, Habit::region);
  const std::array<RowValue, 8> values = {next_id(Table::region),
                                          options_.node.id,
                                          options_.process.pid,
                                          row.tid.value_or(options_.process.pid),
                                          row.start,
                                          row.end,
                                          string_id(row.name),
                                          event};
  const Id id = put(Table::region, values, {}, row.overrides);
  std::int64_t position = 0;
  for (const ArgumentRow& argument : row.arguments) {
    const std::array<RowValue, 6> argument_values = {next_id(Table::arg), event.value_or(0),
                                                     position++,          argument.type,
                                                     argument.name,       argument.value};
    put(Table::arg, argument_values, {}, {});
  }
  return {.id = id, .event = event.value_or(0)};
}

Written RocpdWriter::dispatch(const DispatchRow& row) {
  const std::optional<Id> event = event_of(row.event, Habit::dispatch);
  const Id dispatch_id = row.dispatch_id.value_or(last_dispatch_id_ + 1);
  last_dispatch_id_ = std::max(last_dispatch_id_, dispatch_id);
  const Id region_name = row.region_name.empty() ? empty_string_ : string_id(row.region_name);
  const std::array<RowValue, 21> values = {next_id(Table::kernel_dispatch),
                                           options_.node.id,
                                           options_.process.pid,
                                           row.tid.value_or(options_.process.pid),
                                           row.agent,
                                           row.kernel,
                                           dispatch_id,
                                           row.queue,
                                           row.stream,
                                           row.start,
                                           row.end,
                                           row.private_segment_size,
                                           row.group_segment_size,
                                           row.workgroup.x,
                                           row.workgroup.y,
                                           row.workgroup.z,
                                           row.grid.x,
                                           row.grid.y,
                                           row.grid.z,
                                           region_name,
                                           event};
  const Id id = put(Table::kernel_dispatch, values, {}, row.overrides);
  return {.id = id, .event = event.value_or(0)};
}

Written RocpdWriter::copy(const CopyRow& row) {
  const std::optional<Id> event = event_of(row.event, Habit::copy);
  const std::array<RowValue, 16> values = {next_id(Table::memory_copy),
                                           options_.node.id,
                                           options_.process.pid,
                                           row.tid.value_or(options_.process.pid),
                                           row.start,
                                           row.end,
                                           string_id(row.name),
                                           row.dst_agent,
                                           row.dst_address,
                                           row.src_agent,
                                           row.src_address,
                                           row.size,
                                           row.queue,
                                           row.stream,
                                           nullptr,
                                           event};
  const Id id = put(Table::memory_copy, values, {}, row.overrides);
  return {.id = id, .event = event.value_or(0)};
}

Written RocpdWriter::allocation(const AllocationRow& row) {
  const std::optional<Id> event = event_of(row.event, Habit::allocation);
  const std::array<RowValue, 14> values = {next_id(Table::memory_allocate),
                                           options_.node.id,
                                           options_.process.pid,
                                           row.tid.value_or(options_.process.pid),
                                           row.agent,
                                           row.type,
                                           row.level,
                                           row.start,
                                           row.end,
                                           row.address,
                                           row.size,
                                           row.queue,
                                           row.stream,
                                           event};
  const Id id = put(Table::memory_allocate, values, {}, row.overrides);
  return {.id = id, .event = event.value_or(0)};
}

Id RocpdWriter::track(const TrackRow& row) {
  const std::array<RowValue, 5> values = {
      next_id(Table::track), options_.node.id, options_.process.pid,
      row.tid.value_or(options_.process.pid), string_id(row.name)};
  return put(Table::track, values, {}, row.overrides);
}

Written RocpdWriter::sample(const SampleRow& row) {
  const std::optional<Id> event = event_of(row.event, Habit::sample);
  const std::array<RowValue, 4> values = {next_id(Table::sample), row.track, row.timestamp, event};
  return {.id = put(Table::sample, values, {}, row.overrides), .event = event.value_or(0)};
}

Id RocpdWriter::counter_value(Id event, Id counter, double value) {
  const std::array<RowValue, 4> values = {next_id(Table::pmc_event), event, counter, value};
  return put(Table::pmc_event, values, {}, {});
}

void RocpdWriter::counter_values(Id event, Id counter, std::span<const double> instances) {
  for (const double value : instances) counter_value(event, counter, value);
}

Launched RocpdWriter::launch(RegionRow region_row, DispatchRow dispatch_row) {
  const Id stack = next_stack_id();
  region_row.event.stack_id = stack;
  dispatch_row.event.stack_id = stack;
  const Written host = region(region_row);
  return {.region = host, .dispatch = dispatch(dispatch_row), .stack_id = stack};
}

Launched RocpdWriter::launch_copy(RegionRow region_row, CopyRow copy_row) {
  const Id stack = next_stack_id();
  region_row.event.stack_id = stack;
  copy_row.event.stack_id = stack;
  const Written host = region(region_row);
  return {.region = host, .dispatch = copy(copy_row), .stack_id = stack};
}

Result<void> RocpdWriter::close() {
  if (owned_file_ != nullptr) return owned_file_->close();
  return file_->error();
}

}  // namespace perflab::test
