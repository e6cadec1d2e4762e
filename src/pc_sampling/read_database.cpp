// Counts become rows with weights: of a place in the code one for each stall reason.
#include "pc_sampling/read_database.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/system/sqlite.h"
#include "base/system/unpacked_database.h"
#include "base/text/json.h"
#include "base/text/json_fields.h"
#include "pc_sampling/read_pc_samples.h"

namespace perflab::pc_sampling {
namespace {

constexpr std::string_view kTable = "rocpd_pc_sample_count_";

/// The part behind a table's name that all tables of a recording have; empty: SQL must not be made
/// of it.
std::string suffix_of(std::string_view table) {
  const std::string_view suffix = table.substr(std::min(kTable.size(), table.size()));
  const bool good = std::ranges::all_of(
      suffix, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '_'; });
  return good ? std::string(suffix) : std::string();
}

/// Reads one recording of a database.
class DatabaseReader {
 public:
  DatabaseReader(Connection& connection, const std::string& file, std::string suffix,
                 PcSamples& samples)
      : connection_(connection), file_(file), suffix_(std::move(suffix)), samples_(samples) {}

  Result<void> read() {
    source_ = static_cast<Index>(samples_.sources.size());
    samples_.sources.push_back({.file = file_, .element = source_});
    PERFLAB_TRY_VOID(read_process());
    PERFLAB_TRY_VOID(read_agents());
    PERFLAB_TRY_VOID(read_kernels());
    return read_counts();
  }

 private:
  [[nodiscard]] std::string table(std::string_view base) const {
    return fmt::format("`rocpd_{}_{}`", base, suffix_);
  }

  Result<void> read_process() {
    PERFLAB_TRY(
        Statement rows,
        connection_.prepare("SELECT pid, extdata FROM " + table("info_process"), "info_process"));
    PERFLAB_TRY(const bool there, rows.step());
    if (!there) return {};
    samples_.sources[source_].pid = rows.integer(0).value_or(0);
    const auto extdata = parse_json(rows.text(1), file_);
    if (!extdata) return {};
    const Json* said = member(*extdata, "pc_sampling");
    if (said == nullptr) return {};
    const auto count = [&](std::string_view key) {
      return member_as<std::uint64_t>(*said, key).value_or(0);
    };
    samples_.counts.lost += count("dropped");
    samples_.counts.not_user += count("other_kernels");
    if (const std::uint64_t cycles = count("period_cycles"); cycles != 0 && !samples_.interval)
      samples_.interval = Interval{.value = cycles, .unit = IntervalUnit::cycles};
    if (const Json* problem = member(*said, "problem"))
      samples_.sources[source_].problem = member_as<std::string>(*problem, "reason").value_or("");
    return {};
  }

  Result<void> read_agents() {
    PERFLAB_TRY(Statement rows,
                connection_.prepare("SELECT id, name, product_name, extdata FROM " +
                                        table("info_agent") + " WHERE type = 'GPU' ORDER BY id",
                                    "info_agent"));
    while (true) {
      PERFLAB_TRY(const bool more, rows.step());
      if (!more) return {};
      const std::int64_t id = rows.integer(0).value_or(0);
      agents_[id] = static_cast<Index>(samples_.agents.size());
      Agent& agent = samples_.agents.emplace_back();
      agent.source = source_;
      agent.handle = static_cast<std::uint64_t>(id);
      agent.arch = rows.text(1);
      agent.product = rows.text(2);
      const auto extdata = parse_json(rows.text(3), file_);
      if (!extdata) continue;
      const auto count = [&](std::string_view key) {
        return member_as<std::uint32_t>(*extdata, key).value_or(0);
      };
      agent.wave_size = count("wave_front_size");
      agent.cus = count("cu_count");
    }
  }

  Result<void> read_kernels() {
    PERFLAB_TRY(Statement rows,
                connection_.prepare("SELECT kernel_name, display_name, arch_vgpr_count FROM " +
                                        table("info_kernel_symbol") + " ORDER BY id",
                                    "info_kernel_symbol"));
    while (true) {
      PERFLAB_TRY(const bool more, rows.step());
      if (!more) return {};
      const std::int64_t registers = rows.integer(2).value_or(0);
      known_.try_emplace(std::string(rows.text(0)),
                         Kernel{.mangled_name = std::string(rows.text(0)),
                                .name = std::string(rows.text(1)),
                                .begin = {},
                                .vgprs = static_cast<std::uint32_t>(
                                    std::clamp<std::int64_t>(registers, 0, UINT32_MAX))});
    }
  }

  Index code_object(std::uint64_t crc, Index agent) {
    const auto [found, added] = code_objects_.try_emplace(
        std::pair(crc, agent), static_cast<Index>(samples_.code_objects.size()));
    if (added)
      samples_.code_objects.push_back({.source = source_, .id = crc, .agent = agent, .uri = {}});
    return found->second;
  }

  Index kernel(const std::string& function, Index object) {
    const auto [found, added] = kernels_.try_emplace(std::pair(function, object),
                                                     static_cast<Index>(samples_.kernels.size()));
    if (!added) return found->second;
    const auto known = known_.find(function);
    // A device function that was not inlined is in no list of kernels.
    Kernel row = known != known_.end()
                     ? known->second
                     : Kernel{.mangled_name = function, .name = function, .begin = {}};
    row.source = source_;
    row.code_object = object;
    samples_.kernels.push_back(std::move(row));
    return found->second;
  }

  std::uint8_t reason(std::string_view name) {
    const StallReason reason = cuda_reason(name);
    const auto found = std::ranges::find_if(samples_.reasons, [&](const StallReason& each) {
      return each.name == reason.name && each.scheduler_idle == reason.scheduler_idle;
    });
    const auto row = static_cast<std::size_t>(found - samples_.reasons.begin());
    if (found == samples_.reasons.end()) samples_.reasons.push_back(reason);
    return static_cast<std::uint8_t>(row);
  }

  Result<void> read_counts() {
    PERFLAB_TRY(
        Statement rows,
        connection_.prepare(
            fmt::format("SELECT c.agent_id, c.cubin_crc, f.string, c.pc_offset, r.string, "
                        "sum(c.samples) FROM {} c JOIN {} f ON f.id = c.function_id JOIN {} r ON "
                        "r.id = c.reason_id GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5",
                        table("pc_sample_count"), table("string"), table("string")),
            "pc_sample_count"));
    while (true) {
      PERFLAB_TRY(const bool more, rows.step());
      if (!more) return {};
      const auto agent = rows.integer(0), crc = rows.integer(1), offset = rows.integer(3),
                 count = rows.integer(5);
      // More reasons than a column of bytes counts are damage.
      if (!agent || !crc || !offset || !count || *count <= 0 || samples_.reasons.size() == 255) {
        ++samples_.counts.dropped;
        continue;
      }
      const auto gpu = agents_.find(*agent);
      const Index object =
          code_object(static_cast<std::uint64_t>(*crc), gpu == agents_.end() ? kNone : gpu->second);
      const Index function = kernel(std::string(rows.text(2)), object);
      add(object, function, static_cast<std::uint64_t>(*offset), reason(rows.text(4)),
          static_cast<std::uint64_t>(*count));
    }
  }

  /// Rows come by place: those of one follow each other.
  void add(Index object, Index function, std::uint64_t offset, std::uint8_t reason,
           std::uint64_t count) {
    if (samples_.pcs.empty() || samples_.pcs.back().source != source_ ||
        samples_.pcs.back().code_object != object || samples_.pcs.back().kernel != function ||
        samples_.pcs.back().offset != offset)
      samples_.pcs.push_back({.source = source_,
                              .code_object = object,
                              .offset = offset,
                              .kernel = function,
                              .decoded = true,
                              .instruction = fmt::format("+{:#x}", offset),
                              .source_line = {}});
    const StallReason& named = samples_.reasons[reason];
    if (named.kind == StallKind::unknown) {
      samples_.counts.unknown_reason += count;
      samples_.counts.unknown_names[named.name] += count;
    }
    samples_.source.push_back(source_);
    samples_.pc.push_back(static_cast<Index>(samples_.pcs.size() - 1));
    samples_.flags.push_back(named.kind == StallKind::selected ? kIssued : 0);
    samples_.reason.push_back(reason);
    samples_.weight.push_back(count);
    samples_.sources[source_].samples += count;
  }

  Connection& connection_;
  const std::string& file_;
  std::string suffix_;
  PcSamples& samples_;
  Index source_ = 0;
  std::map<std::int64_t, Index> agents_;
  std::map<std::string, Kernel> known_;
  std::map<std::pair<std::uint64_t, Index>, Index> code_objects_;
  std::map<std::pair<std::string, Index>, Index> kernels_;
};

/// Of the recordings in a database that have PC samples.
Result<std::vector<std::string>> suffixes_of(Connection& connection) {
  std::vector<std::string> suffixes;
  PERFLAB_TRY(Statement tables,
              connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name "
                                 "LIKE 'rocpd_pc_sample_count_%' ORDER BY name",
                                 "sqlite_master"));
  while (true) {
    PERFLAB_TRY(const bool more, tables.step());
    if (!more) return suffixes;
    if (std::string suffix = suffix_of(tables.text(0)); !suffix.empty())
      suffixes.push_back(std::move(suffix));
  }
}

}  // namespace

bool has_pc_samples(const std::filesystem::path& file) {
  Result<Connection> connection = Connection::open(file);
  if (!connection) return false;
  const auto suffixes = suffixes_of(*connection);
  return suffixes && !suffixes->empty();
}

Result<void> read_database(const std::filesystem::path& file, PcSamples& samples) {
  PERFLAB_TRY(const std::optional<UnpackedDatabase> unpacked, UnpackedDatabase::of(file));
  PERFLAB_TRY(Connection connection,
              unpacked ? Connection::open_nameless(unpacked->path(), file.string())
                       : Connection::open(file));
  PERFLAB_TRY_VOID(connection.begin_read());
  PERFLAB_TRY(std::vector<std::string> suffixes, suffixes_of(connection));
  if (suffixes.empty())
    return fail(ErrorCode::bad_input,
                fmt::format("{}: this database has no PC samples", file.string()),
                std::string(kRecordAgain));
  if (samples.size() > 0 && samples.method != Method::cupti)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: holds samples of method {}, those before are of method {}",
                            file.string(), to_string(Method::cupti), to_string(samples.method)),
                "give the files of one method");
  if (samples.method != Method::cupti) samples.reasons.clear();
  samples.method = Method::cupti;
  samples.form = Form::cuda_recording;
  const std::string name = file.string();
  for (std::string& suffix : suffixes)
    PERFLAB_TRY_VOID(DatabaseReader(connection, name, std::move(suffix), samples).read());
  return {};
}

}  // namespace perflab::pc_sampling
