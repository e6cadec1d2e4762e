// Sorting is by cost and then by place in the code, so that equal costs keep one order.
#include "analyze/thread_trace/cycles.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text/text.h"

namespace perflab::analyze {
namespace {

using code::InstructionClass;

InstructionCycles instruction_of(const att::ThreadTrace& trace, const RowTable& table,
                                 const RowSum& sum) {
  const att::CodeRow& row = trace.code[sum.row];
  return {.row = sum.row,
          .text = row.text,
          .code_object = row.code_object,
          .vaddr = row.vaddr,
          .chain = chain_of(row.source),
          .instruction_class = table.class_of(sum.row),
          .sums = sum.sums,
          .wait_caused = sum.wait_caused};
}

/// The rows with the largest `figure` above 0, at most kMostHotRows.
template <class Figure>
std::vector<RowSum> largest(std::vector<RowSum> rows, const Figure& figure) {
  std::erase_if(rows, [&](const RowSum& row) { return figure(row) <= 0; });
  const auto before = [&](const RowSum& a, const RowSum& b) {
    const std::int64_t of_a = figure(a);
    const std::int64_t of_b = figure(b);
    return of_a != of_b ? of_a > of_b : a.row < b.row;
  };
  const std::size_t kept = std::min(rows.size(), kMostHotRows);
  std::ranges::partial_sort(rows, rows.begin() + static_cast<std::ptrdiff_t>(kept), before);
  rows.resize(kept);
  return rows;
}

void add_classes(const RowTable& table, const std::vector<RowSum>& rows, KernelThreadTrace& out) {
  std::map<InstructionClass, ClassCycles> classes;
  for (const RowSum& row : rows) {
    const InstructionClass instruction_class = table.class_of(row.row);
    ClassCycles& sum = classes[instruction_class];
    sum.instruction_class = instruction_class;
    add_sums(row.sums, sum.sums);
    add_sums(row.sums, out.sums);
    add_cycles(sum.wait_caused, row.wait_caused);
    if (row.wait_caused > 0) add_cycles(out.wait_by_class[instruction_class], row.wait_caused);
  }
  for (const auto& [instruction_class, sum] : classes) out.classes.push_back(sum);
  std::ranges::stable_sort(out.classes, std::ranges::greater{},
                           [](const ClassCycles& sum) { return sum.sums.cost(); });
}

void add_lines(const att::ThreadTrace& trace, const std::vector<RowSum>& rows,
               KernelThreadTrace& out) {
  struct Line {
    CycleSums sums;
    std::int64_t wait_caused = 0;
    std::int64_t most = -1;  // cost of the row whose chain is shown
    att::RowIndex row = att::kNoRow;
  };
  std::map<std::string_view, Line> lines;
  bool known = false;
  for (const RowSum& row : rows) {
    const std::string_view source = trace.code[row.row].source;
    const std::string_view innermost = trimmed(source.substr(0, source.find(" -> ")));
    known = known || !innermost.empty();
    Line& line = lines[innermost];
    add_sums(row.sums, line.sums);
    add_cycles(line.wait_caused, row.wait_caused);
    const std::int64_t cost = row.sums.cost() + row.wait_caused;
    if (cost > line.most) {
      line.most = cost;
      line.row = row.row;
    }
  }
  if (!known) return;
  std::vector<std::pair<std::string_view, Line>> sorted(lines.begin(), lines.end());
  std::ranges::stable_sort(sorted, std::ranges::greater{},
                           [](const auto& line) { return line.second.sums.cost(); });
  if (sorted.size() > kMostHotRows) sorted.resize(kMostHotRows);
  for (const auto& [text, line] : sorted)
    out.lines.push_back({.line = std::string(text),
                         .chain = chain_of(trace.code[line.row].source),
                         .sums = line.sums,
                         .wait_caused = line.wait_caused});
}

/// Everything that needs sums by row only. `rows` ascending.
void add_rows(const att::ThreadTrace& trace, const RowTable& table, const std::vector<RowSum>& rows,
              KernelThreadTrace& out) {
  add_classes(table, rows, out);
  add_lines(trace, rows, out);
  for (const RowSum& row : largest(rows, [](const RowSum& sum) { return sum.sums.cost(); }))
    out.hot.push_back(instruction_of(trace, table, row));
  for (const RowSum& row : largest(rows, [](const RowSum& sum) { return sum.wait_caused; }))
    out.causes.push_back(instruction_of(trace, table, row));
}

void add_pairs(const att::ThreadTrace& trace, const KernelFold& fold, KernelThreadTrace& out) {
  out.waits = wait_pairs(fold);
  if (out.waits.size() > kMostHotRows) out.waits.resize(kMostHotRows);
  for (WaitPair& pair : out.waits) {
    pair.wait_text = trace.code[pair.wait].text;
    pair.cause_text = trace.code[pair.cause].text;
  }
}

void add_rates(const KernelFold& fold, KernelThreadTrace& out) {
  const auto instructions = static_cast<double>(fold.instructions);
  out.instructions_per_wave = instructions / static_cast<double>(fold.waves);
  if (fold.wave_cycles > 0) out.wave_ipc = instructions / static_cast<double>(fold.wave_cycles);
  double cycles = 0;
  for (const auto& [place, use] : fold.simds) cycles += static_cast<double>(use.end - use.begin);
  if (cycles > 0) out.simd_ipc = instructions / cycles;
}

std::uint64_t rows_differing(const att::ThreadTrace& trace, const std::vector<RowSum>& rows) {
  return static_cast<std::uint64_t>(std::ranges::count_if(rows, [&](const RowSum& sum) {
    const att::CodeRow& row = trace.code[sum.row];
    return row.hits != sum.sums.hits || row.latency != sum.sums.latency ||
           row.stall != sum.sums.stall || row.idle != sum.sums.idle;
  }));
}

}  // namespace

std::vector<std::string> chain_of(std::string_view source) {
  constexpr std::string_view kBetween = " -> ";
  std::vector<std::string> chain;
  while (!trimmed(source).empty()) {
    const std::size_t cut = source.find(kBetween);
    if (const std::string_view frame = trimmed(source.substr(0, cut)); !frame.empty())
      chain.emplace_back(frame);
    if (cut == std::string_view::npos) break;
    source.remove_prefix(cut + kBetween.size());
  }
  return chain;
}

std::vector<RowSum> row_sums(const KernelFold& fold) {
  std::vector<RowSum> rows;
  rows.reserve(fold.rows.size());
  for (const auto& [row, cycles] : fold.rows)
    rows.push_back({.row = row, .sums = cycles.sums, .wait_caused = cycles.wait_caused});
  std::ranges::sort(rows, {}, &RowSum::row);
  return rows;
}

std::vector<RowSum> row_sums(const att::ThreadTrace& trace,
                             const std::vector<att::RowIndex>& rows) {
  std::vector<RowSum> sums;
  for (const att::RowIndex index : rows) {
    const att::CodeRow& row = trace.code[index];
    if (row.hits <= 0) continue;
    sums.push_back({.row = index,
                    .sums = {.hits = std::clamp<std::int64_t>(row.hits, 0, kMostCycles),
                             .latency = std::clamp<std::int64_t>(row.latency, 0, kMostCycles),
                             .stall = std::clamp<std::int64_t>(row.stall, 0, kMostCycles),
                             .idle = std::clamp<std::int64_t>(row.idle, 0, kMostCycles)}});
  }
  return sums;
}

std::vector<WaitPair> wait_pairs(const KernelFold& fold) {
  std::vector<WaitPair> pairs;
  pairs.reserve(fold.pairs.size());
  for (const auto& [key, pair] : fold.pairs)
    pairs.push_back({.wait = static_cast<att::RowIndex>(key >> 32),
                     .cause = static_cast<att::RowIndex>(key & UINT32_MAX),
                     .wait_text = {},
                     .cause_text = {},
                     .cycles = pair.cycles,
                     .times = pair.times});
  std::ranges::sort(pairs, [](const WaitPair& a, const WaitPair& b) {
    return std::tuple(-a.cycles, a.wait, a.cause) < std::tuple(-b.cycles, b.wait, b.cause);
  });
  return pairs;
}

void add_fold(const att::ThreadTrace& trace, const RowTable& table, const KernelFold& fold,
              KernelThreadTrace& out) {
  const std::vector<RowSum> rows = row_sums(fold);
  add_rows(trace, table, rows, out);
  add_pairs(trace, fold, out);
  add_rates(fold, out);
  out.wave_cycles = fold.wave_cycles;
  out.time = fold.time;
  out.states = fold.states;
  out.wait_unattributed = fold.wait_unattributed;
  out.wait_other = fold.wait_other;
  if (fold.waits > 0)
    out.links = fold.links > fold.links_unused ? WaitLinks::trace : WaitLinks::rule;
  TraceCoverage& coverage = out.coverage;
  coverage.cus.assign(fold.cus.begin(), fold.cus.end());
  coverage.waves = fold.waves;
  coverage.unattributed = fold.unattributed;
  coverage.rows_differing = rows_differing(trace, rows);
  coverage.waits = fold.waits;
  coverage.waits_by_rule = fold.waits_by_rule;
}

void add_code_rows(const att::ThreadTrace& trace, const RowTable& table, const WaitRule& rule,
                   const std::vector<att::RowIndex>& rows, KernelThreadTrace& out) {
  const std::vector<RowSum> sums = row_sums(trace, rows);
  for (const auto& [index, cycles, caused] : sums) {
    add_cycles(out.time.idle, cycles.idle);
    switch (table.part_of(index)) {
      case TimePart::wait:
        add_cycles(out.time.wait, cycles.latency);
        add_cycles(rule.waits(index) ? out.wait_unattributed : out.wait_other, cycles.latency);
        break;
      case TimePart::barrier:
        add_cycles(out.time.barrier, cycles.latency);
        break;
      case TimePart::issue:
        add_cycles(out.time.issue, cycles.issue());
        add_cycles(out.time.issue_stall, cycles.stall);
        break;
    }
  }
  add_rows(trace, table, sums, out);
}

}  // namespace perflab::analyze
