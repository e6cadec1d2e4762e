// Pieces that all text views share: colours by meaning, headings, figures that may be missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hal/occupancy_model.h"
#include "hal/terms.h"

namespace perflab::report {

/// Colours by meaning; empty without colour.
struct Paint {
  explicit Paint(bool on)
      : heading(on ? "\033[1m" : ""),
        warning(on ? "\033[33m" : ""),
        bad(on ? "\033[31m" : ""),
        good(on ? "\033[32m" : ""),
        end(on ? "\033[0m" : "") {}
  std::string_view heading, warning, bad, good, end;
};

/// In place of what is not known.
inline const std::string kDash = "—";
/// Columns of a bar at most.
inline constexpr std::size_t kMostBar = 96;

/// An empty line, the heading, a newline.
std::string heading(const Paint& paint, std::string_view text);

/// "12.5 %".
std::string percent(double fraction);

/// The number, or a dash where it is missing.
std::string number_or_dash(const std::optional<std::int64_t>& value);

/// "… and 12 more" when a table was cut; empty otherwise.
std::string cut_note(std::size_t all, std::size_t shown);

/// The limiters' names, joined by commas: AMD's as documents have them, NVIDIA's in words.
std::string limiter_names(const std::vector<hal::Limiter>& limiters,
                          hal::Platform platform = hal::Platform::amd);

/// "12 kernels", "1 kernel", "3 dispatches".
std::string counted(std::size_t count, std::string_view thing);

/// The words of a text in lines of at most `room` columns, one line at least; a longer word has a
/// line of its own, a percentage stays in one piece. The lines are printable.
std::vector<std::string> wrapped(std::string_view text, std::size_t room);

/// The words of a text in lines of at most `width` columns that begin two columns from the left.
std::string indented(std::string_view text, std::size_t width);

/// "  label      text", broken between words into lines of at most `width` columns.
std::string labelled(std::string_view label, std::string_view text, std::size_t width);

/// The line that says that a trace was made up, with its note, broken likewise.
std::string synthetic_line(std::string_view note, std::size_t width, const Paint& paint);

/// The warnings, each broken into lines of at most `width` columns, behind an empty line; empty
/// without warnings.
std::string warnings_section(const std::vector<std::string>& warnings, std::size_t width,
                             const Paint& paint);

}  // namespace perflab::report
