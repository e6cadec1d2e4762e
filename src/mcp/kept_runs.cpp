// Documents of earlier calls: a list of runs in the order of their use, so few that it is searched.
#include "mcp/kept_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/hash.h"
#include "base/text/numbers.h"
#include "mcp/shortened.h"

namespace perflab::mcp {
namespace {

std::size_t bytes_of(const KeptRun& run) {
  std::size_t bytes = 0;
  for (const KeptDocument& one : run.documents) bytes += one.text.size();
  return bytes;
}

/// Text of a part of a URI; nothing: a "%" without two hex digits.
std::optional<std::string> unescaped(std::string_view part) {
  std::string out;
  while (!part.empty()) {
    if (part.front() != '%') {
      out += part.front();
      part.remove_prefix(1);
      continue;
    }
    const auto byte =
        part.size() < 3 ? std::nullopt : whole_number<std::uint8_t>(part.substr(1, 2), 16);
    if (!byte) return std::nullopt;
    out += static_cast<char>(*byte);
    part.remove_prefix(3);
  }
  return out;
}

/// The part that a query asks for.
Result<Selection> selection_in(std::string_view query) {
  Json arguments = Json::object();
  while (!query.empty()) {
    const std::string_view one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(one.size() + 1, query.size()));
    const std::size_t equals = std::min(one.find('='), one.size());
    const std::string name(one.substr(0, equals));
    const auto value = unescaped(one.substr(std::min(equals + 1, one.size())));
    if (!is_selection_argument(name) || !value ||
        !Json::accept(Json(*value).dump(-1, ' ', false, Json::error_handler_t::replace)))
      return fail(ErrorCode::usage, "the URI has a query of another form",
                  "?section=...&kernel=...&top=...&offset=..., each may be missing");
    const auto number = whole_number<std::uint64_t>(*value);
    const bool is_count = name == "top" || name == "offset";
    arguments[name] = is_count && number ? Json(*number) : Json(*value);
  }
  return selection_of(arguments);
}

}  // namespace

std::shared_ptr<const KeptRun> KeptRuns::keep(Json call, std::vector<KeptDocument> documents) {
  PERFLAB_CHECK(!documents.empty());
  std::string all;
  for (const KeptDocument& one : documents) all += fmt::format("{}\n{}\n", one.name, one.text);
  auto run =
      std::make_shared<KeptRun>(KeptRun{.uri = fmt::format("{}{:016x}", prefix_, content_hash(all)),
                                        .call = std::move(call),
                                        .documents = std::move(documents)});
  const std::lock_guard lock(mutex_);
  std::erase_if(runs_, [&](const auto& one) {
    const bool same = one->uri == run->uri;
    if (same) bytes_ -= bytes_of(*one);
    return same;
  });
  bytes_ += bytes_of(*run);
  runs_.push_front(run);
  drop_oldest();
  return run;
}

void KeptRuns::drop_oldest() {
  for (auto one = std::prev(runs_.end()); one != runs_.begin() && bytes_ > most_bytes_; --one) {
    if ((*one)->documents.empty()) continue;
    bytes_ -= bytes_of(**one);
    *one = std::make_shared<KeptRun>(
        KeptRun{.uri = (*one)->uri, .call = (*one)->call, .documents = {}});
  }
  while (runs_.size() > kMostRememberedCalls) {
    bytes_ -= bytes_of(*runs_.back());
    runs_.pop_back();
  }
}

std::shared_ptr<const KeptRun> KeptRuns::find(std::string_view run_uri) {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::ranges::find_if(runs_, [&](const auto& one) { return one->uri == run_uri; });
  if (found == runs_.end()) return nullptr;
  runs_.splice(runs_.begin(), runs_, found);
  return runs_.front();
}

std::vector<std::shared_ptr<const KeptRun>> KeptRuns::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const KeptRun>> out;
  std::ranges::copy_if(runs_, std::back_inserter(out),
                       [](const auto& one) { return !one->documents.empty(); });
  return out;
}

Result<std::optional<KeptPlace>> KeptRuns::place_of(std::string_view uri) const {
  if (!uri.starts_with(prefix_)) return std::optional<KeptPlace>();
  const std::size_t query = std::min(uri.find('?'), uri.size());
  const std::string_view path = uri.substr(0, query);
  const std::size_t slash = std::min(path.find('/', prefix_.size()), path.size());
  KeptPlace place{.run = std::string(path.substr(0, slash)), .selection = {}};
  PERFLAB_TRY(place.selection, selection_in(uri.substr(std::min(query + 1, uri.size()))));
  std::string_view name = path.substr(std::min(slash + 1, path.size()));
  if (name.ends_with(".json")) name.remove_suffix(5);
  if (place.selection.document.empty()) place.selection.document = name;
  return place;
}

std::string KeptRuns::uri_template() const {
  return prefix_ + "{run}/{document}{?section,kernel,top,offset}";
}

Result<const KeptDocument*> document_in(const KeptRun& run, std::string_view name) {
  if (run.documents.empty())
    return fail(ErrorCode::usage,
                "the documents of this call are no longer kept: newer ones needed the room",
                "make the call again");
  if (name.empty()) return &run.documents.front();
  const auto found = std::ranges::find(run.documents, name, &KeptDocument::name);
  if (found != run.documents.end()) return &*found;
  std::vector<std::string_view> names;
  for (const KeptDocument& one : run.documents) names.push_back(one.name);
  return fail(ErrorCode::usage,
              fmt::format("the call has no document '{}'", name.substr(0, utf8_cut(name, 60))),
              fmt::format("one of: {}", fmt::join(names, ", ")));
}

}  // namespace perflab::mcp
