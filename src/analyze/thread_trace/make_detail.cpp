// Rows are those of the kernel's code and, in functions that several kernels share, those that its
// waves executed.
#include "analyze/thread_trace/make_detail.h"

#include <algorithm>
#include <set>

#include "base/text/numbers.h"
#include "base/text/text.h"

namespace perflab::analyze {
namespace {

constexpr const char* kNoRoom =
    "the sources of this kernel are too large to keep; those with the most cycles come first";

std::string label_name(const att::CodeRow& row) {
  if (!row.source.empty()) return row.source;
  return std::string(trimmed(std::string_view(row.text).substr(1)));
}

/// Cycles of the rows that name a file in their chain, once for each row.
std::map<std::string, std::int64_t> cycles_by_file(const TraceDetail& detail) {
  std::map<std::string, std::int64_t> cycles;
  for (const DetailRow& row : detail.rows) {
    std::set<std::string> files;
    for (const std::string& frame : chain_of(row.source)) files.insert(split_frame(frame).path);
    for (const std::string& file : files)
      add_cycles(cycles[file], row.sums.cost() + row.wait_caused);
  }
  return cycles;
}

}  // namespace

SourceFrame split_frame(std::string_view frame) {
  const std::size_t colon = frame.rfind(':');
  SourceFrame out{.path = std::string(frame)};
  if (colon == std::string_view::npos || colon == 0) return out;
  const auto line = whole_number<std::uint32_t>(frame.substr(colon + 1));
  if (!line) return out;
  return {.path = std::string(frame.substr(0, colon)), .line = *line};
}

TraceDetail make_detail(const att::ThreadTrace& trace, const RowTable& table,
                        const TraceKernels& kernels, std::size_t kernel, const KernelFold& fold,
                        const std::vector<RowSum>& sums) {
  TraceDetail out;
  auto next = sums.begin();
  for (att::RowIndex index = 0; index < trace.code.size(); ++index) {
    const att::CodeRow& row = trace.code[index];
    const bool executed = next != sums.end() && next->row == index;
    if (!executed && kernels.of_row(index) != kernel) continue;
    if (!table.is_instruction(index)) {
      out.labels.push_back({.row = index, .name = label_name(row)});
      continue;
    }
    out.rows.push_back({.row = index,
                        .text = row.text,
                        .source = row.source,
                        .code_object = row.code_object,
                        .vaddr = row.vaddr,
                        .instruction_class = table.class_of(index),
                        .sums = executed ? next->sums : CycleSums{},
                        .wait_caused = executed ? next->wait_caused : 0});
    if (executed) ++next;
  }
  out.waits = wait_pairs(fold);
  for (const auto& [engine, bins] : fold.state_bins)
    if (!bins.bins().empty()) out.states.emplace(engine, bins);
  out.waves = fold.kept.waves();
  out.wave_count = fold.waves;
  return out;
}

void add_source_texts(const att::Found& found, const att::ThreadTrace& trace, TraceDetail& detail) {
  std::vector<std::pair<std::int64_t, std::string>> files;  // cycles below 0, for the order
  for (const auto& [file, cycles] : cycles_by_file(detail)) files.emplace_back(-cycles, file);
  std::ranges::sort(files);
  std::uint64_t bytes = 0;
  for (const auto& [cycles, file] : files) {
    DetailSource& source = detail.sources[file];
    Result<std::string> text = att::read_source(found, trace, file);
    if (!text) {
      source.missing = {.field = {}, .reason = text.error().message, .remedy = text.error().remedy};
    } else if (bytes + text->size() > kMostSourceBytesOfAKernel) {
      source.missing = {.field = {}, .reason = kNoRoom, .remedy = {}};
    } else {
      bytes += text->size();
      source.text = std::move(*text);
    }
  }
}

}  // namespace perflab::analyze
