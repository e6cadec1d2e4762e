// Scans of rocpd_arg (streams, events and devices that API calls name, all that those of RCCL say)
// and of the texts of user ranges in rocpd_event. What the arguments mean: ../call_argument_rows.h.
#include <algorithm>
#include <iterator>

#include "base/text/json.h"
#include "trace/call_argument_rows.h"
#include "trace/rocpd/recording_loader.h"

namespace perflab::trace::rocpd {
namespace {

constexpr std::uint8_t kStream = CallArgumentColumns::kStream;

constexpr std::array<std::string_view, 3> kArgumentColumns = {"event_id", "name", "value"};

/// Texts of ranges are short; what is larger than this is damage.
constexpr std::size_t kMostExtdata = 1 << 20;

struct ArgumentChunk {
  std::vector<CallArgument> rows;
  std::vector<RcclValue> rccl;
  HandleSamples samples;
  std::uint64_t read = 0, odd = 0, no_event = 0;

  void clear() { *this = {}; }
};

struct RangeChunk {
  std::vector<std::pair<Index, std::string>> texts;  ///< region, text
  std::uint64_t malformed = 0;

  void clear() { *this = {}; }
};

/// The text of a user range: {"message": "…"}. Empty when it has none, nullopt when it is damaged.
std::optional<std::string> message_of(std::string_view extdata) {
  if (extdata.empty()) return std::string();
  if (extdata.size() > kMostExtdata) return std::nullopt;
  const auto parsed = parse_json(extdata, "extdata");
  if (!parsed || !parsed->is_object()) return std::nullopt;
  const auto found = parsed->find("message");
  if (found == parsed->end()) return std::string();
  if (!found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

}  // namespace

void RecordingLoader::prepare_wanted_regions() {
  const Table* arguments = set_.find("arg");
  const bool readable = arguments != nullptr &&
                        !(arguments->has_rowid && arguments->max_rowid < arguments->min_rowid) &&
                        std::ranges::all_of(kArgumentColumns, [&](auto column) {
                          return arguments->has_column(column);
                        });
  std::vector<bool> markers, rccl;
  for (const std::int64_t id : events_.categories) {
    const std::string_view name = trace_.strings.view(string_of(id));
    markers.push_back(name == "MARKER_CORE_RANGE_API" || name == "MARKER_CORE_API");
    rccl.push_back(is_rccl_category(name));
    if (rccl.back()) rccl_categories_.push_back(string_of(id));
  }
  wanted_.begin(events_.index.size(), readable, std::move(markers), std::move(rccl));
}

std::vector<std::uint16_t> RecordingLoader::streams_of_calls() const {
  std::vector<std::uint16_t> streams(events_.stack_limit);
  const auto note = [&](const PackedColumn<Index>& launches, const PackedColumn<Index>& tracks,
                        std::size_t first) {
    for (std::size_t i = first; i < launches.size(); ++i) {
      if (launches[i] == 0) continue;
      const Index stream = state_.tracks.values()[tracks[i]].stream;
      const Index number = stream == kNone ? 1 : stream - first_stream_ + 2;
      std::uint16_t& of_call = streams[launches[i] - state_.stack_base];
      of_call = std::max(of_call, static_cast<std::uint16_t>(std::min<Index>(number, 0xFFFF)));
    }
  };
  note(trace_.dispatches.launch, trace_.dispatches.track, first_dispatch_);
  note(trace_.copies.launch, trace_.copies.track, first_copy_);
  return streams;
}

Result<void> RecordingLoader::load_call_arguments() {
  const bool ordered = wanted_.needs_arguments_read();
  if (!ordered && !wanted_.has_rccl()) return {};
  const RegionColumns& regions = trace_.regions;
  const std::vector<std::uint16_t> streams =
      ordered ? streams_of_calls() : std::vector<std::uint16_t>();
  const auto decode = [&](const auto& row, ArgumentChunk& chunk) {
    const std::string_view name = row.text(1);
    const std::uint8_t which = call_argument_of(name);
    const RcclArgument of_rccl = wanted_.has_rccl() ? rccl_argument_of(name) : RcclArgument::none;
    if (which == 0 && of_rccl == RcclArgument::none) return;
    const auto event_id = row.integer(0);
    const Index event = event_id ? events_.index.find(*event_id) : kNone;
    if (event == kNone) ++chunk.no_event;
    const Index region = wanted_.region_of(event);
    if (region == kNone) return;
    if (std::ranges::find(rccl_categories_, regions.category[region]) != rccl_categories_.end()) {
      if (of_rccl == RcclArgument::none) return;
      ++chunk.read;
      chunk.rccl.push_back({.region = region, .which = of_rccl, .value = std::string(row.text(2))});
      return;
    }
    if (which == 0) return;
    const CallKind call = wanted_.kind(regions.name[region]);
    const bool needed = needs_arguments(call);
    if (!needed && (!ordered || !WantedRegions::submits(call) || which != kStream)) return;
    ++chunk.read;
    const auto value = parse_argument(row.text(2));
    if (!value)
      ++chunk.odd;
    else if (needed)
      chunk.rows.push_back({.region = region, .which = which, .value = *value});
    else if (const std::uint16_t stream = streams[events_.stack[event]]; stream != 0)
      chunk.samples.add(regions, {.handle = *value, .name = regions.name[region], .stream = stream},
                        region);
  };
  std::vector<CallArgument> rows;
  std::vector<RcclValue> rccl;
  HandleSamples samples;
  const auto commit = [&](ArgumentChunk& chunk) {
    rows.insert(rows.end(), chunk.rows.begin(), chunk.rows.end());
    std::ranges::move(chunk.rccl, std::back_inserter(rccl));
    samples.add(regions, chunk.samples);
    trace_.report.rows["arg"] += chunk.read;
    odd("arg", "a stream, event or device that is not a number: taken as missing", chunk.odd);
    if (part_.is_all()) dropped("arg", "its event is not there", chunk.no_event);
  };
  PERFLAB_TRY_VOID(
      scan<ArgumentChunk>(file_, *set_.find("arg"), filter_, kArgumentColumns, decode, commit));
  report_rccl(append_rccl_calls(rccl, trace_), trace_.report);
  samples.append_to(rows);
  odd("arg", "named twice in one call: the smallest value is taken",
      append_calls(rows, trace_.call_arguments));
  return {};
}

Result<void> RecordingLoader::load_range_texts() {
  if (!wanted_.has_markers()) return {};
  const Table* table = set_.find("event");
  if (!table->has_column("extdata")) return {};
  constexpr std::array<std::string_view, 2> kEventColumns = {"id", "extdata"};
  const auto decode = [&](const auto& row, RangeChunk& chunk) {
    std::int64_t id = 0;
    if (!row.integer(0, id)) return;
    const Index event = events_.index.find(id);
    if (event == kNone || !wanted_.marker_categories()[events_.category[event]]) return;
    const Index region = wanted_.region_of(event);
    if (region == kNone) return;  // a mark: an instant, not a range
    auto text = message_of(row.text(1));
    if (!text)
      ++chunk.malformed;
    else if (!text->empty())
      chunk.texts.emplace_back(region, std::move(*text));
  };
  std::vector<std::pair<Index, Index>> texts;
  const auto commit = [&](const RangeChunk& chunk) {
    for (const auto& [region, text] : chunk.texts)
      texts.emplace_back(region, trace_.strings.intern(text));
    odd("event", "text of a user range that cannot be read: taken as missing", chunk.malformed);
  };
  RowFilter filter = filter_;
  filter.strangers = nullptr;  // counted when the events were read
  PERFLAB_TRY_VOID(scan<RangeChunk>(file_, *table, filter, kEventColumns, decode, commit));
  std::ranges::stable_sort(texts, {}, &std::pair<Index, Index>::first);
  for (const auto& [region, text] : texts) {
    if (!trace_.ranges.region.empty() && trace_.ranges.region.back() == region) continue;
    trace_.ranges.region.push_back(region);
    trace_.ranges.message.push_back(text);
  }
  return {};
}

}  // namespace perflab::trace::rocpd
