// Chains and lines are numbered in the order in which rows first have them, files by their paths.
#include "report/kit/trace_sources.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/thread_trace/cycles.h"
#include "analyze/thread_trace/row_table.h"
#include "report/kit/document.h"

namespace perflab::report {
namespace {

constexpr const char* kNoRoom =
    "the document has no room for it: files with more cycles come first";

Json parts_json(const SourceParts& parts) {
  Json out = Json::array();
  for (const SourcePart& part : parts.parts)
    out.push_back({{"first_line", part.first_line}, {"text", part.text}});
  return out;
}

}  // namespace

TraceSources::TraceSources(const analyze::TraceDetail& detail, const std::vector<std::size_t>& rows)
    : detail_(detail) {
  struct Chain {
    std::vector<analyze::SourceFrame> frames;
    std::int64_t cycles = 0;
  };
  std::vector<Chain> chains;
  for (const std::size_t index : rows) {
    const analyze::DetailRow& row = detail.rows[index];
    const auto [place, added] = chain_of_source_.try_emplace(row.source, chains.size());
    if (added) {
      Chain& chain = chains.emplace_back();
      for (const std::string& frame : analyze::chain_of(row.source))
        chain.frames.push_back(analyze::split_frame(frame));
      if (chain.frames.empty()) {
        chains.pop_back();
        chain_of_source_.erase(place);
        continue;
      }
    }
    analyze::add_cycles(chains[place->second].cycles, row.sums.cost() + row.wait_caused);
  }
  std::map<std::string, std::size_t> files;
  for (const Chain& chain : chains)
    for (const analyze::SourceFrame& frame : chain.frames) files.emplace(frame.path, 0);
  for (auto& [path, number] : files) {
    number = files_.size();
    files_.push_back({.path = path, .cycles = 0, .lines = {}, .parts = {}});
  }
  std::map<std::pair<std::size_t, std::int64_t>, std::size_t> numbers;
  for (const Chain& chain : chains) {
    std::vector<std::size_t>& indices = chains_.emplace_back();
    std::set<std::size_t> named;
    for (const analyze::SourceFrame& frame : chain.frames) {
      const std::pair line(files[frame.path], frame.line);
      const auto [known, fresh] = numbers.try_emplace(line, lines_.size());
      if (fresh) lines_.push_back(line);
      indices.push_back(known->second);
      named.insert(line.first);
      files_[line.first].lines.insert(frame.line);
    }
    for (const std::size_t file : named) analyze::add_cycles(files_[file].cycles, chain.cycles);
  }
  for (File& file : files_)
    if (const auto source = detail.sources.find(file.path);
        source != detail.sources.end() && source->second.text)
      file.parts = source_parts(*source->second.text, file.lines);
}

std::optional<std::size_t> TraceSources::chain(const analyze::DetailRow& row) const {
  const auto found = chain_of_source_.find(row.source);
  if (found == chain_of_source_.end()) return std::nullopt;
  return found->second;
}

std::size_t TraceSources::lines() const {
  std::size_t lines = 0;
  for (const File& file : files_)
    if (file.parts) lines += file.parts->lines_shown();
  return lines;
}

Json TraceSources::chains_json() const {
  Json out = Json::array();
  for (const std::vector<std::size_t>& chain : chains_) out.push_back(chain);
  return out;
}

Json TraceSources::lines_json() const {
  Json out = Json::array();
  for (const auto& [file, line] : lines_) out.push_back(Json::array({file, line}));
  return out;
}

std::vector<bool> TraceSources::files_with_room(std::size_t room) const {
  std::vector<std::size_t> order(files_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t i) { return files_[i].cycles; });
  std::vector<bool> has_room(files_.size(), false);
  for (const std::size_t i : order) {
    if (!files_[i].parts || files_[i].parts->lines_shown() > room) continue;
    room -= files_[i].parts->lines_shown();
    has_room[i] = true;
  }
  return has_room;
}

Json TraceSources::files_json(std::size_t room, NullReasons& reasons) const {
  if (files_.empty())
    return reasons.null("sources", {.field = {},
                                    .reason = "its instructions name no source line",
                                    .remedy = "compile with -g"});
  const std::vector<bool> has_room = files_with_room(room);
  Json out = Json::array();
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const File& file = files_[i];
    Json one = object_with_room(3);
    one["path"] = file.path;
    const std::string field = fmt::format("sources[{}]", i);
    if (!file.parts) {
      const auto source = detail_.sources.find(file.path);
      const Missing why =
          source == detail_.sources.end()
              ? Missing{.field = {}, .reason = "its text was not read", .remedy = {}}
              : source->second.missing;
      one["line_count"] = reasons.null(field + ".line_count", why);
      one["parts"] = reasons.null(field + ".parts", why);
    } else {
      one["line_count"] = file.parts->line_count;
      one["parts"] =
          has_room[i] ? parts_json(*file.parts) : reasons.null(field + ".parts", {}, kNoRoom);
    }
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace perflab::report
