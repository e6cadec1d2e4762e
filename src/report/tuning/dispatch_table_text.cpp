#include "report/tuning/dispatch_table_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"
#include "report/tuning/autotune_chart.h"

namespace perflab::report {
namespace {

std::string question_text(const Json& node) {
  const Json& feature = node["feature"];
  const Json& names = feature["of"];
  std::string text = names[0].get<std::string>();
  if (feature["kind"] != "size")
    text += fmt::format(" {} {}", feature["kind"] == "product" ? "*" : "/",
                        names[1].get<std::string>());
  return fmt::format("{} < {}", text, node["below"].get<double>());
}

bool is_leaf(const Json& node) {
  return !node["feature"].is_object();
}

/// Says nodes in words.
class RuleWords {
 public:
  explicit RuleWords(const Json& nodes) : nodes_(nodes) {
    const Json* first = nullptr;
    for (const Json& node : nodes_) {
      if (!is_leaf(node)) continue;
      if (first == nullptr) first = &node["configuration"];
      for (const auto& [name, value] : node["configuration"].items())
        if (first->at(name) != value) differs_.push_back(name);
    }
    common_ = shown(*first, false);
  }

  Json words() {
    branch("always:", 0, 0);
    if (nodes_.size() > 1 && !common_.empty())
      line("in all of them: " + configuration_words(common_), 0);
    return std::move(words_);
  }

 private:
  /// The values that differ between leaves, or the others.
  [[nodiscard]] Json shown(const Json& configuration, bool differing) const {
    Json out = Json::object();
    for (const auto& [name, value] : configuration.items())
      if ((std::ranges::find(differs_, name) != differs_.end()) == differing) out[name] = value;
    return out;
  }

  void line(const std::string& text, std::size_t depth) {
    words_.push_back({{"depth", depth}, {"text", text}});
  }

  /// What follows "if ...:" or "else:".
  void branch(const std::string& lead, std::size_t at, std::size_t depth) {
    const Json& node = nodes_[at];
    if (is_leaf(node)) {
      const Json& all = node["configuration"];
      return line(lead + " " + configuration_words(nodes_.size() > 1 ? shown(all, true) : all),
                  depth);
    }
    if (at == 0) return question("", at, depth);
    line(lead, depth);
    question("", at, depth + 1);
  }

  void question(const std::string& before, std::size_t at, std::size_t depth) {
    const Json& node = nodes_[at];
    const auto yes = node["yes"].get<std::size_t>(), no = node["no"].get<std::size_t>();
    branch(fmt::format("{}if {}:", before, question_text(node)), yes, depth);
    if (!is_leaf(nodes_[no])) return question("else ", no, depth);
    branch("else:", no, depth);
  }

  const Json& nodes_;
  std::vector<std::string> differs_;
  Json common_;
  Json words_ = Json::array();
};

std::string share_or_dash(const Json& share) {
  return share.is_number() ? percent(share.get<double>()) : kDash;
}

std::string problems_text(const Json& document, std::size_t width) {
  const std::string unit = document["objective"]["unit"].is_string()
                               ? document["objective"]["unit"].get<std::string>()
                               : std::string();
  const auto value = [&](const Json& number) {
    return number.is_number() ? objective_text(number.get<double>(), unit) : kDash;
  };
  TextTable table({{.title = "best"},
                   {.title = "chosen"},
                   {.title = "loses"},
                   {.title = "one for all"},
                   {.title = "left out"},
                   {.title = "measured", .expendable = 1},
                   {.title = "problem", .align = TextTable::Align::left, .flexible = true}});
  for (const Json& problem : document["problems"])
    table.add({value(problem["best"]["value"]), value(problem["chosen"]["value"]),
               dispatch_loss_text(problem["chosen"]), dispatch_loss_text(problem["single"]),
               dispatch_loss_text(problem["unseen"]),
               fmt::format("{}", problem["worked"].get<std::size_t>()),
               dispatch_size_text(problem["size"])});
  return table.text(width);
}

/// The losses as excerpts have them.
Json losses_of(const Json& document) {
  Json rows = Json::array();
  for (const auto& [name, what] : kDispatchLosses) {
    Json row = document["losses"][name];
    row["what"] = what;
    if (row["worst_problem"].is_number())
      row["size"] = document["problems"][row["worst_problem"].get<std::size_t>()]["size"];
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::string dispatch_size_text(const Json& size) {
  std::string out;
  for (const auto& [name, value] : size.items())
    if (name != "from")
      out += fmt::format("{}{}={}", out.empty() ? "" : " ", name, value.get<double>());
  return out;
}

std::string dispatch_loss_text(const Json& choice) {
  if (choice["loss"].is_number()) return percent(choice["loss"].get<double>());
  return choice["state"] == "failed" ? "fails" : "not measured";
}

Json dispatch_rule_words(const Json& nodes) {
  return RuleWords(nodes).words();
}

std::string dispatch_rule_text(const Json& words, std::size_t width) {
  constexpr std::size_t kIndent = 2, kContinued = 4, kLeastRoom = 24;
  std::string out;
  for (const Json& one : words) {
    const std::size_t margin = kIndent * (1 + one["depth"].get<std::size_t>());
    bool first = true;
    for (const std::string& line :
         wrapped(one["text"].get<std::string>(),
                 std::max(width, margin + kContinued + kLeastRoom) - margin - kContinued)) {
      out += fmt::format("{:{}}{}\n", "", margin + (first ? 0 : kContinued), line);
      first = false;
    }
  }
  return out;
}

std::string dispatch_losses_text(const Json& rows, std::size_t width) {
  using enum TextTable::Align;
  TextTable table({{.title = "mean"},
                   {.title = "worst"},
                   {.title = "problems"},
                   {.title = "of", .align = left},
                   {.title = "worst at", .align = left, .flexible = true}});
  for (const Json& row : rows) {
    const auto known = row["known"].get<std::size_t>();
    const std::size_t all =
        known + row["not_measured"].get<std::size_t>() + row["failed"].get<std::size_t>();
    table.add(
        {share_or_dash(row["mean"]), share_or_dash(row["worst"]),
         known == all ? fmt::format("{}", all) : fmt::format("{} of {}", known, all),
         row["what"].get<std::string>(),
         row.contains("size") && row["worst"] != 0 ? dispatch_size_text(row["size"]) : kDash});
  }
  return table.text(width);
}

std::string dispatch_table_section(const Json& document, std::string_view name,
                                   const TerminalStyle& style) {
  const Paint paint(style.colour);
  if (name == "problems")
    return heading(paint, "Problems").substr(1) + problems_text(document, style.width);
  return heading(paint, "The rule").substr(1) +
         dispatch_rule_text(document["rule"]["words"], style.width) +
         heading(paint, "What it loses against the best of each problem") +
         dispatch_losses_text(losses_of(document), style.width);
}

}  // namespace perflab::report
