// A schema as a document is put in order and checked by, read once: of the keywords of draft 7, the
// ones that schemas/ uses. A general validator takes 7,000 instructions for each value of a
// document, which was half of what documents took.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/json.h"

namespace perflab::report {

class CompiledSchema {
 public:
  /// `root`: a complete schema (schema_source.h).
  explicit CompiledSchema(const Json& root) { compile(root, root); }

  /// Puts every object's keys into the order of its schema's `properties`; other keys behind, as
  /// they were. What stands under anyOf or additionalProperties stays as it is.
  void put_in_order(Json& document) const { put_in_order(0, document); }

  /// True: the document satisfies the schema. False: it does not, or nobody here knows; a
  /// validator has to say.
  [[nodiscard]] bool surely_allows(const Json& document) const {
    return surely_allows(0, document);
  }

 private:
  using Rule = std::size_t;  ///< of `rules_`

  struct Member {
    std::string name;
    Rule rule = 0;
    bool required = false;
  };

  struct Rules {
    /// The place of a member, which may be the likely one; members.size(): it has none.
    [[nodiscard]] std::size_t find(std::string_view name, std::size_t likely) const;

    bool understood = true;  ///< no keyword says more than is kept here
    unsigned types = 0;      ///< bits by Json::value_t
    double least = -std::numeric_limits<double>::infinity();
    double above = -std::numeric_limits<double>::infinity();
    double most = std::numeric_limits<double>::infinity();
    std::vector<Json> options;  ///< any where empty
    std::vector<Member> members;
    bool allows_others = true;  ///< members that are not in `members`
    std::optional<Rule> others, items;
    std::size_t fewest = 0, many = std::numeric_limits<std::size_t>::max();  ///< items
    std::vector<Rule> either;                                                ///< any where empty
  };

  Rule compile(const Json& root, const Json& schema);
  void take(const Json& root, const std::string& keyword, const Json& value, Rules& rules);
  void take_members(const Json& root, const Json& schema, Rules& rules);
  void put_in_order(Rule rule, Json& value) const;
  [[nodiscard]] bool surely_allows(Rule rule, const Json& value) const;
  [[nodiscard]] bool surely_allows_members(const Rules& rules, const Json& value) const;

  std::vector<Rules> rules_;                           ///< the document's first
  std::map<std::string, Rule, std::less<>> referred_;  ///< by $ref
};

}  // namespace perflab::report
