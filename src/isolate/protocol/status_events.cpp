// The status folder, as the command reads it. The counters of a process are as many 64-bit numbers
// as there are slots, in this machine's byte order.
#include "isolate/protocol/status_events.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>

#include "base/enum_names.h"
#include "base/system/files.h"
#include "base/text/json_fields.h"
#include "isolate/protocol/kernels.h"
#include "isolate/protocol/settings.h"

namespace perflab::isolate {
namespace {

// The counters of a process; empty when it left none.
std::string counters_of(const std::filesystem::path& folder, std::int64_t pid) {
  auto text = read_file(folder / (kCountsPrefix + std::to_string(pid)));
  return text ? std::move(*text) : std::string();
}

// A kernel launched once and killed at once may not be counted yet: its event says 1 at least.
std::uint64_t count_at(std::string_view counters, std::uint64_t slot) {
  std::uint64_t count = 0;
  if (slot < counters.size() / sizeof(count))
    std::memcpy(&count, counters.data() + slot * sizeof(count), sizeof(count));
  return std::max<std::uint64_t>(count, 1);
}

// A text of an event; empty: it has none there.
std::string text_member(const Json& event, std::string_view key) {
  return member_as<std::string>(event, key).value_or("");
}

class Reader {
 public:
  explicit Reader(const std::filesystem::path& folder) : folder_(folder) {}

  void take(std::string_view line) {
    const auto event = parse_json(line, "an event");
    if (!event || !event->is_object()) return;
    const std::string name = text_member(*event, "event");
    if (name == "loaded") ++events_.loaded;
    if (name == "hooked") hooked(*event);
    if (name == "note") note(text_member(*event, "sentence"));
    if (name == "unusable") events_.unusable.push_back(text_member(*event, "reason"));
    if (name == "captured") events_.captured = true;
    if (name == "refused" && !events_.refused) events_.refused = text_member(*event, "reason");
    if (name == "kernel") kernel(*event);
  }

  Events finish() {
    for (const auto& [symbol, dispatches] : dispatches_)
      events_.kernels.push_back(
          {.symbol = symbol, .demangled = demangled(symbol), .dispatches = dispatches});
    std::ranges::sort(events_.kernels, {},
                      [](const SeenKernel& one) { return std::tie(one.demangled, one.symbol); });
    std::ranges::sort(events_.unusable);
    return std::move(events_);
  }

 private:
  void hooked(const Json& event) {
    ++events_.hooked;
    if (const auto platform = from_name<capture::Platform>(text_member(event, "platform")))
      events_.platform = *platform;
  }
  void note(std::string sentence) {
    if (std::ranges::find(events_.notes, sentence) == events_.notes.end())
      events_.notes.push_back(std::move(sentence));
  }
  void kernel(const Json& event) {
    const auto pid = member_as<std::uint64_t>(event, "pid"),
               slot = member_as<std::uint64_t>(event, "slot");
    if (!pid || !slot) return;
    const auto process = static_cast<std::int64_t>(*pid);
    auto counters = counters_.find(process);
    if (counters == counters_.end())
      counters = counters_.emplace(process, counters_of(folder_, process)).first;
    dispatches_[text_member(event, "name")] += count_at(counters->second, *slot);
  }

  const std::filesystem::path& folder_;
  Events events_;
  std::map<std::int64_t, std::string> counters_;
  std::map<std::string, std::uint64_t> dispatches_;
};

}  // namespace

Result<Events> read_events(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kEventsFile;
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return Events{};
  PERFLAB_TRY(const std::string text, read_file(file));
  Reader reader(folder);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    reader.take(std::string_view(text).substr(at, end - at));
    at = end + 1;
  }
  return reader.finish();
}

}  // namespace perflab::isolate
