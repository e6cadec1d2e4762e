// Rows of a rocpd database (docs/facts/rocpd.md, docs/facts/rocpd_cuda.md) and the few settings
// of SQLite that matter: a rollback journal without fsync, so that a killed process loses at most
// what was not committed, and a power cut may lose the file.
#include "record/database/database.h"

#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "record/database/machine.h"
#include "record/database/schema.h"

namespace perflab::record {
namespace {

/// So many rows of a table are written together: a few hundred kB.
constexpr std::size_t kRowsTogether = 2048;
constexpr std::string_view kNoJson = "{}";
constexpr const char* kEventColumns =
    "id, guid, category_id, stack_id, parent_stack_id, correlation_id, call_stack, line_info, "
    "extdata";

/// Times and ids of SQLite are signed.
std::int64_t as_signed(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

}  // namespace

std::string Database::table(std::string_view base) const {
  return physical_table(base, guid_);
}

Database::Database(std::string path, const Process& process)
    : path_(std::move(path)),
      guid_(new_guid(process.start)),
      pid_(process.pid),
      ppid_(process.ppid),
      calls_(table("event"), kEventColumns),
      events_(table("event"), kEventColumns),
      dispatches_rows_(table("kernel_dispatch"),
                       "id, guid, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, "
                       "stream_id, start, end, private_segment_size, group_segment_size, "
                       "workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, "
                       "grid_size_y, grid_size_z, region_name_id, event_id, extdata"),
      copies_(table("memory_copy"),
              "id, guid, nid, pid, tid, start, end, name_id, dst_agent_id, dst_address, "
              "src_agent_id, src_address, size, queue_id, stream_id, region_name_id, event_id, "
              "extdata"),
      regions_(table("region"), "id, guid, nid, pid, tid, start, end, name_id, event_id, extdata"),
      arguments_(table("arg"), "id, guid, event_id, position, type, name, value, extdata"),
      allocations_(table("memory_allocate"),
                   "id, guid, nid, pid, tid, agent_id, type, level, start, end, address, size, "
                   "queue_id, stream_id, event_id, extdata"),
      samples_(table("sample"), "id, guid, track_id, timestamp, event_id, extdata"),
      values_(table("pmc_event"), "id, guid, event_id, pmc_id, value, extdata"),
      pc_counts_(table("pc_sample_count"),
                 "id, guid, nid, pid, agent_id, cubin_crc, function_id, pc_offset, reason_id, "
                 "samples") {}

Result<std::unique_ptr<Database>> Database::create(const std::string& path,
                                                   const Process& process) {
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
  std::unique_ptr<Database> made(new Database(path, process));
  const bool opened = made->open();
  if (opened) made->write_start(process);
  if (opened) made->commit();
  if (const Error* failure = made->failure()) return std::unexpected(*failure);
  return made;
}

Database::~Database() {
  close();
}

void Database::close() {
  for (Rows* rows : {&calls_, &events_, &dispatches_rows_, &copies_, &regions_, &arguments_,
                     &allocations_, &samples_, &values_, &pc_counts_})
    RowWriter::release(*rows);
  sqlite3_close_v2(handle_);
  handle_ = nullptr;
}

void Database::discard() {
  close();
  const std::string partial = path_ + std::string(kPartialSuffix);
  std::remove(partial.c_str());
  std::remove((partial + "-journal").c_str());
}

bool Database::open() {
  const std::string partial = path_ + std::string(kPartialSuffix);
  std::remove(partial.c_str());  // of an earlier process with this number
  std::remove((partial + "-journal").c_str());
  if (sqlite3_open_v2(partial.c_str(), &handle_,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                      nullptr) != SQLITE_OK) {
    remember("cannot be made");
    return false;
  }
  writer_ = std::make_unique<RowWriter>(handle_);
  return execute("PRAGMA page_size=16384") && execute("PRAGMA journal_mode=DELETE") &&
         execute("PRAGMA synchronous=OFF") && execute("PRAGMA foreign_keys=OFF") &&
         execute("PRAGMA temp_store=MEMORY") && execute("PRAGMA cache_size=-32768");
}

void Database::write_start(const Process& process) {
  begin();
  for (const std::string& statement : schema_statements(guid_))
    if (!execute(statement)) return;
  const std::string suffix = table("").substr(std::strlen("rocpd_"));
  const std::array<std::array<std::string, 2>, 7> tags = {{{"schema_version", "3.0.1"},
                                                           {"schema_version_major", "3"},
                                                           {"schema_version_minor", "0"},
                                                           {"schema_version_patch", "1"},
                                                           {"schema_creation_time", utc_now()},
                                                           {"uuid", suffix},
                                                           {"guid", guid_}}};
  std::int64_t id = 0;
  for (const auto& [tag, value] : tags) {
    const std::array<Cell, 3> cells = {Cell(++id), Cell(tag), Cell(value)};
    insert("metadata", "id, tag, value", cells);
  }
  string_id("");
  write_node();
  const std::array<Cell, 12> cells = {Cell(pid_),
                                      Cell(guid_),
                                      Cell(node_),
                                      Cell(ppid_),
                                      Cell(pid_),
                                      Cell(process.start),
                                      Cell(),
                                      Cell(process.start),
                                      Cell(),
                                      Cell(process.command),
                                      Cell(process.extdata),
                                      Cell(process.environment)};
  insert("info_process",
         "id, guid, nid, ppid, pid, init, fini, start, end, command, extdata, environment", cells);
  need_thread(pid_);
  Agent host;
  host.type = "CPU";
  host.name = processor_name();
  host.product = host.name;
  host.vendor = "CPU";
  add(host);
}

void Database::write_node() {
  const Machine machine = this_machine();
  node_ = machine.id;
  const std::array<Cell, 10> cells = {
      Cell(node_),           Cell(guid_),           Cell(machine.hash),
      Cell(machine.name),    Cell(machine.system),  Cell(machine.host),
      Cell(machine.release), Cell(machine.version), Cell(machine.hardware),
      Cell(machine.domain)};
  insert("info_node",
         "id, guid, hash, machine_id, system_name, hostname, release, version, hardware_name, "
         "domain_name",
         cells);
}

void Database::remember(std::string_view doing) {
  if (failure_) return;
  const char* why = handle_ != nullptr ? sqlite3_errmsg(handle_) : "no memory";
  failure_ = std::make_unique<Error>(Error{
      .code = ErrorCode::usage,
      .message = path_ + std::string(kPartialSuffix) + ": " + std::string(doing) + " (" + why + ")",
      .notes = {},
      .remedy = "give a folder that can be written and has room"});
}

bool Database::execute(const std::string& sql) {
  if (failure_) return false;
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return true;
  remember("cannot be written");
  return false;
}

void Database::begin() {
  if (!in_transaction_) in_transaction_ = execute("BEGIN");
}

void Database::insert(std::string_view base, std::string_view columns,
                      std::span<const Cell> cells) {
  begin();
  Rows rows(table(base), std::string(columns));
  rows.add(cells);
  flush(rows);
  RowWriter::release(rows);
}

void Database::flush(Rows& rows) {
  if (failure_ || !in_transaction_) return rows.forget();
  if (!writer_->write(rows)) remember("cannot be written");
}

void Database::wait(Rows& rows, std::span<const Cell> cells) {
  if (failure_) return;
  begin();
  rows.add(cells);
  if (rows.size() >= kRowsTogether) flush(rows);
}

void Database::commit() {
  if (!in_transaction_) return;
  for (Rows* rows : {&calls_, &events_, &dispatches_rows_, &copies_, &regions_, &arguments_,
                     &allocations_, &samples_, &values_, &pc_counts_})
    flush(*rows);
  write_late_threads();
  execute("COMMIT");
  in_transaction_ = false;
}

Result<void> Database::finish() {
  commit();
  for (Rows* rows : {&calls_, &events_, &dispatches_rows_, &copies_, &regions_, &arguments_,
                     &allocations_, &samples_, &values_, &pc_counts_})
    RowWriter::release(*rows);
  if (failure_) return std::unexpected(*failure_);
  if (sqlite3_close(handle_) != SQLITE_OK) {
    remember("cannot be closed");
    return std::unexpected(*failure_);
  }
  handle_ = nullptr;
  const std::string partial = path_ + std::string(kPartialSuffix);
  if (std::rename(partial.c_str(), path_.c_str()) != 0)
    return fail(ErrorCode::usage, path_ + ": cannot be written (" + std::strerror(errno) + ")");
  return {};
}

std::int64_t Database::refused_rows() const {
  return writer_ ? writer_->refused() : 0;
}

void Database::set_process(std::int64_t end, const std::string& extdata) {
  begin();
  if (failure_) return;
  sqlite3_stmt* update = nullptr;
  const std::string sql = "UPDATE `" + table("info_process") +
                          "` SET fini = nullif(?1, 0), end = nullif(?1, 0), extdata = ?2";
  if (sqlite3_prepare_v2(handle_, sql.c_str(), -1, &update, nullptr) == SQLITE_OK) {
    sqlite3_bind_int64(update, 1, end);
    sqlite3_bind_text(update, 2, extdata.c_str(), -1, SQLITE_STATIC);
  }
  if (sqlite3_step(update) != SQLITE_DONE) remember("cannot be written");
  sqlite3_finalize(update);
}

std::int64_t Database::string_id(std::string_view text) {
  if (const auto found = strings_.find(text); found != strings_.end()) return found->second;
  const auto id = static_cast<std::int64_t>(strings_.size()) + 1;
  strings_.emplace(text, id);
  const std::array<Cell, 3> cells = {Cell(id), Cell(guid_), Cell(text)};
  insert("string", "id, guid, string", cells);
  return id;
}

void Database::need_thread(std::int64_t tid) {
  if (!threads_.insert(tid).second) return;
  const Cell name =
      tid == kUnknownThread ? Cell(std::string_view("unknown: no record of the call")) : Cell();
  const std::array<Cell, 7> cells = {Cell(tid),  Cell(guid_), Cell(node_), Cell(ppid_),
                                     Cell(pid_), Cell(tid),   name};
  insert("info_thread", "id, guid, nid, ppid, pid, tid, name", cells);
}

std::int64_t Database::rows(OfThread table) const {
  switch (table) {
    case OfThread::dispatches:
      return dispatches_;
    case OfThread::copies:
      return copies_count_;
    case OfThread::allocations:
      break;
  }
  return allocations_count_;
}

void Database::set_thread(OfThread table, std::int64_t row, std::int64_t tid) {
  need_thread(tid);
  late_threads_.push_back({.table = table, .row = row, .tid = tid});
}

void Database::write_late_threads() {
  static constexpr std::array<std::string_view, 3> kTables = {"kernel_dispatch", "memory_copy",
                                                              "memory_allocate"};
  for (const LateThread& late : std::exchange(late_threads_, {}))
    execute("UPDATE `" + table(kTables[static_cast<std::size_t>(late.table)]) +
            "` SET tid = " + std::to_string(late.tid) + " WHERE id = " + std::to_string(late.row));
}

void Database::add(const Agent& agent) {
  const std::array<Cell, 14> cells = {
      Cell(agent.id),      Cell(guid_),        Cell(node_),        Cell(pid_),
      Cell(agent.type),    Cell(agent.id),     Cell(agent.id),     Cell(agent.type_index),
      Cell(agent.uuid),    Cell(agent.name),   Cell(agent.vendor), Cell(agent.product),
      Cell(agent.product), Cell(agent.extdata)};
  insert("info_agent",
         "id, guid, nid, pid, type, absolute_index, logical_index, type_index, uuid, name, "
         "vendor_name, product_name, user_name, extdata",
         cells);
}

void Database::add_stream(std::int64_t id, std::string_view name) {
  const bool first = streams_.insert(id).second;
  for (const std::string_view base : {"info_stream", "info_queue"}) {
    if (!first) execute("DELETE FROM `" + table(base) + "` WHERE id = " + std::to_string(id));
    const std::array<Cell, 5> cells = {Cell(id), Cell(guid_), Cell(node_), Cell(pid_), Cell(name)};
    insert(base, "id, guid, nid, pid, name", cells);
  }
}

std::int64_t Database::code_object(std::int64_t agent) {
  const auto [found, first] =
      code_objects_.try_emplace(agent, static_cast<std::int64_t>(code_objects_.size()) + 1);
  if (first) {
    const std::array<Cell, 6> cells = {Cell(found->second), Cell(guid_), Cell(node_),
                                       Cell(pid_),          Cell(agent), Cell("cuda:unknown")};
    insert("info_code_object", "id, guid, nid, pid, agent_id, uri", cells);
  }
  return found->second;
}

std::int64_t Database::add(const Symbol& symbol) {
  const std::int64_t code = code_object(symbol.agent);
  const std::int64_t id = ++symbols_;
  const std::array<Cell, 11> cells = {Cell(id),
                                      Cell(guid_),
                                      Cell(node_),
                                      Cell(pid_),
                                      Cell(code),
                                      Cell(symbol.name),
                                      Cell(symbol.display),
                                      Cell(symbol.static_shared_bytes),
                                      Cell(symbol.local_bytes),
                                      Cell(symbol.registers),
                                      Cell(std::int64_t{0})};
  insert("info_kernel_symbol",
         "id, guid, nid, pid, code_object_id, kernel_name, display_name, group_segment_size, "
         "private_segment_size, arch_vgpr_count, accum_vgpr_count",
         cells);
  return id;
}

std::int64_t Database::add(const Counter& counter) {
  const std::int64_t id = ++counters_;
  const std::array<Cell, 13> cells = {Cell(id),
                                      Cell(guid_),
                                      Cell(node_),
                                      Cell(pid_),
                                      Cell(counter.agent),
                                      Cell("GPU"),
                                      Cell(counter.name),
                                      Cell(counter.name),
                                      Cell(counter.description),
                                      Cell("cuda"),
                                      Cell(counter.units),
                                      Cell("ABS"),
                                      Cell(std::int64_t{counter.derived ? 1 : 0})};
  insert("info_pmc",
         "id, guid, nid, pid, agent_id, target_arch, name, symbol, description, component, units, "
         "value_type, is_derived",
         cells);
  return id;
}

std::int64_t Database::add_event(std::string_view category, std::int64_t call,
                                 std::string extdata) {
  const std::int64_t id = next_event_++;
  const std::array<Cell, 9> cells = {
      Cell(id),
      Cell(guid_),
      Cell(string_id(category)),
      Cell(call),
      Cell(call),
      Cell(std::int64_t{0}),
      Cell(kNoJson),
      Cell(kNoJson),
      extdata.empty() ? Cell(kNoJson) : Cell(events_.keep(std::move(extdata)))};
  wait(events_, cells);
  return id;
}

std::int64_t Database::add(Dispatch row) {
  need_thread(row.tid);
  const std::int64_t event = add_event("KERNEL_DISPATCH", row.call, std::move(row.extdata));
  const std::int64_t id = ++dispatches_;
  const auto& size = row.block_size;
  const std::array<Cell, 23> cells = {Cell(id),
                                      Cell(guid_),
                                      Cell(node_),
                                      Cell(pid_),
                                      Cell(row.tid),
                                      Cell(row.agent),
                                      Cell(row.symbol),
                                      Cell(id),
                                      Cell(row.stream),
                                      Cell(row.stream),
                                      Cell(row.start),
                                      Cell(row.end),
                                      Cell(row.local_bytes),
                                      Cell(row.shared_bytes),
                                      Cell(size[0]),
                                      Cell(size[1]),
                                      Cell(size[2]),
                                      Cell(row.blocks[0] * size[0]),
                                      Cell(row.blocks[1] * size[1]),
                                      Cell(row.blocks[2] * size[2]),
                                      Cell(string_id("")),
                                      Cell(event),
                                      Cell(kNoJson)};
  wait(dispatches_rows_, cells);
  return event;
}

void Database::add(Copy row) {
  need_thread(row.tid);
  const std::int64_t event = add_event("MEMORY_COPY", row.call, std::move(row.extdata));
  const std::array<Cell, 18> cells = {
      Cell(++copies_count_), Cell(guid_),           Cell(node_),      Cell(pid_),
      Cell(row.tid),         Cell(row.start),       Cell(row.end),    Cell(string_id(row.name)),
      Cell(row.destination), Cell(std::int64_t{0}), Cell(row.source), Cell(std::int64_t{0}),
      Cell(row.bytes),       Cell(row.stream),      Cell(row.stream), Cell(string_id("")),
      Cell(event),           Cell(kNoJson)};
  wait(copies_, cells);
}

void Database::add(Call row) {
  need_thread(row.tid);
  const std::array<Cell, 9> event = {
      Cell(row.call),
      Cell(guid_),
      Cell(string_id(row.category)),
      Cell(row.call),
      Cell(std::int64_t{0}),
      Cell(std::int64_t{0}),
      Cell(kNoJson),
      Cell(kNoJson),
      row.extdata.empty() ? Cell(kNoJson) : Cell(calls_.keep(std::move(row.extdata)))};
  wait(calls_, event);
  const std::array<Cell, 10> cells = {
      Cell(++regions_count_), Cell(guid_),   Cell(node_),    Cell(pid_),     Cell(row.tid),
      Cell(row.start),        Cell(row.end), Cell(row.name), Cell(row.call), Cell(kNoJson)};
  wait(regions_, cells);
}

void Database::add(const Argument& row) {
  const std::array<Cell, 8> cells = {Cell(++arguments_count_),
                                     Cell(guid_),
                                     Cell(row.call),
                                     Cell(row.position),
                                     Cell("uint64_t"),
                                     Cell(row.name),
                                     Cell(arguments_.keep(std::to_string(row.value))),
                                     Cell(kNoJson)};
  wait(arguments_, cells);
}

void Database::add(Allocation row) {
  need_thread(row.tid);
  const std::int64_t event = add_event("MEMORY_ALLOCATION", row.call, std::move(row.extdata));
  const std::array<Cell, 16> cells = {Cell(++allocations_count_),
                                      Cell(guid_),
                                      Cell(node_),
                                      Cell(pid_),
                                      Cell(row.tid),
                                      Cell(row.agent),
                                      Cell(row.release ? "FREE" : "ALLOC"),
                                      Cell(row.virtual_level ? "VIRTUAL" : "REAL"),
                                      Cell(row.time),
                                      Cell(row.time),
                                      Cell(as_signed(row.address)),
                                      Cell(row.bytes),
                                      Cell(row.stream),
                                      Cell(row.stream),
                                      Cell(event),
                                      Cell(kNoJson)};
  wait(allocations_, cells);
}

std::int64_t Database::track(std::int64_t tid, std::string_view name) {
  const auto [found, first] =
      tracks_.try_emplace(tid, static_cast<std::int64_t>(tracks_.size()) + 1);
  if (first) {
    const std::array<Cell, 6> cells = {Cell(found->second), Cell(guid_), Cell(node_),
                                       Cell(pid_),          Cell(tid),   Cell(string_id(name))};
    insert("track", "id, guid, nid, pid, tid, name_id", cells);
  }
  return found->second;
}

void Database::add(Range row) {
  need_thread(row.tid);
  const std::int64_t event = add_event("MARKER_CORE_RANGE_API", 0, std::move(row.extdata));
  if (row.start == row.end) {
    const std::array<Cell, 6> cells = {
        Cell(++samples_count_), Cell(guid_), Cell(track(row.tid, row.function)),
        Cell(row.start),        Cell(event), Cell(kNoJson)};
    return wait(samples_, cells);
  }
  const std::array<Cell, 10> cells = {Cell(++regions_count_),
                                      Cell(guid_),
                                      Cell(node_),
                                      Cell(pid_),
                                      Cell(row.tid),
                                      Cell(row.start),
                                      Cell(row.end),
                                      Cell(string_id(row.function)),
                                      Cell(event),
                                      Cell(kNoJson)};
  wait(regions_, cells);
}

void Database::make_pc_counts() {
  for (const std::string& statement : pc_count_statements(guid_))
    if (!execute(statement)) return;
}

void Database::add(const PcCount& row) {
  const std::array<Cell, 10> cells = {Cell(++pc_counts_count_),
                                      Cell(guid_),
                                      Cell(node_),
                                      Cell(pid_),
                                      Cell(row.agent),
                                      Cell(as_signed(row.cubin_crc)),
                                      Cell(string_id(row.function)),
                                      Cell(as_signed(row.offset)),
                                      Cell(string_id(row.reason)),
                                      Cell(as_signed(row.samples))};
  wait(pc_counts_, cells);
}

void Database::add_value(std::int64_t event, std::int64_t counter, double value) {
  const std::array<Cell, 6> cells = {Cell(++values_count_), Cell(guid_), Cell(event),
                                     Cell(counter),         Cell(value), Cell(kNoJson)};
  wait(values_, cells);
}

}  // namespace perflab::record
