// Code and waves in memory, for tests of what is concluded from them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "att/thread_trace.h"

namespace perflab::analyze {

/// One execution. Category by the caller: 9 for waits, 6 for all else unless said otherwise.
struct Step {
  att::RowIndex row = 0;
  std::int64_t duration = 4, stall = 0, gap = 0;
  att::Category category = att::Category::valu;
};

/// A wait that stalls for so many cycles, as CDNA records one.
inline Step waited(att::RowIndex row, std::int64_t cycles) {
  return {.row = row, .duration = cycles, .stall = cycles, .category = att::Category::other_salu};
}

/// Instructions of these texts, 8 bytes each from 4096 on; a text that begins with ';' is a label.
inline std::vector<att::CodeRow> code_of(std::initializer_list<const char*> texts) {
  std::vector<att::CodeRow> code;
  std::uint64_t vaddr = 4096;
  for (const char* text : texts) {
    att::CodeRow row;
    row.text = text;
    row.line = static_cast<std::int64_t>(code.size());
    row.code_object = 1;
    row.vaddr = vaddr;
    if (!row.is_label()) vaddr += 8;
    code.push_back(std::move(row));
  }
  return code;
}

/// The wave that executes the steps one after the other from `begin` on.
inline att::Wave wave_of(std::initializer_list<Step> steps, std::int64_t begin = 1000) {
  att::Wave wave;
  wave.place = {.shader_engine = 0, .cu = 1, .simd = 0, .slot = 0, .id = 0};
  wave.begin = begin;
  wave.end = begin;
  for (const Step& step : steps) {
    wave.end += step.gap;
    wave.instructions.push_back({.time = wave.end,
                                 .stall = step.stall,
                                 .duration = step.duration,
                                 .row = step.row,
                                 .category = step.category});
    wave.end += step.duration;
  }
  return wave;
}

/// Rows executed in this order, with default cycles.
inline att::Wave wave_of_rows(std::initializer_list<att::RowIndex> rows) {
  att::Wave wave = wave_of({});
  for (const att::RowIndex row : rows) {
    wave.instructions.push_back({.time = wave.end, .duration = 4, .row = row});
    wave.end += 4;
  }
  return wave;
}

inline void add_link(att::Wave& wave, att::RowIndex wait,
                     std::initializer_list<att::RowIndex> causes) {
  wave.links.push_back({.row = wait,
                        .first = static_cast<std::uint32_t>(wave.link_targets.size()),
                        .count = static_cast<std::uint32_t>(causes.size())});
  wave.link_targets.insert(wave.link_targets.end(), causes);
}

}  // namespace perflab::analyze
