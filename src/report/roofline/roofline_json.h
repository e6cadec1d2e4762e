// The parts of roofline.json that stand in it many times: figures, ceilings, counters, levels; and
// the reasons of those that are null.
#pragma once

#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/roofline/roofline.h"
#include "base/text/json.h"

namespace perflab::report {

/// Figures of kernels and, once for all kernels of an architecture, what their formulas are:
/// `formulas` of roofline.json.
class FigureWriter {
 public:
  /// A figure of a kernel on that architecture (definition `counter_figure` of the schema).
  Json figure(const std::string& architecture, const analyze::Figure& figure);

  /// Figures in groups by the part of their names before the dot, in order of appearance.
  Json groups(const std::string& architecture, const std::vector<analyze::Figure>& figures);

  /// The formulas of all figures that were written, in the order in which they came.
  [[nodiscard]] const Json& formulas() const { return formulas_; }

 private:
  /// The note of the figure's formula, which is added when it is new.
  const std::string& note_of(const std::string& architecture, const analyze::Figure& figure);

  Json formulas_ = Json::array();
  std::map<std::pair<std::string, std::string>, std::string> notes_;  ///< by architecture and name
};

/// A ceiling (definition `ceiling`).
Json ceiling_json(const analyze::Ceiling& ceiling);

/// A counter of a kernel.
Json counter_json(const analyze::CounterValue& counter);

/// The figure of that name among a kernel's features; nullptr: there is none.
const analyze::Figure* find_feature(const analyze::KernelRoofline& kernel, std::string_view name);

/// `missing` of a kernel's object. The analysis names figures as its model does; the document has
/// them in groups: this finds the reason of each null and names it as the document does.
class MissingReasons {
 public:
  explicit MissingReasons(const analyze::KernelRoofline& kernel) : kernel_(kernel) {}

  /// The field of the document is null. Its reason is that of the first of `names` for which the
  /// analysis has one, else `otherwise`.
  void is_null(std::string field, std::initializer_list<std::string> names,
               const std::string& otherwise);
  /// What the analysis has under this name stands elsewhere: a ceiling carries its own reason.
  void stands_elsewhere(std::string name) { used_.insert(std::move(name)); }
  /// All that were named.
  [[nodiscard]] const std::vector<Missing>& fields() const { return fields_; }
  /// All that were named, then what else the analysis found missing.
  [[nodiscard]] std::vector<Missing> all() const;

 private:
  const analyze::KernelRoofline& kernel_;
  std::vector<Missing> fields_;
  std::set<std::string, std::less<>> used_;  ///< names of the analysis
};

}  // namespace perflab::report
