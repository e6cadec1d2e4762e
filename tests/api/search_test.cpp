// The search through the C interface: the proposals of tune::Search for the same values, and what a
// caller can get wrong.
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "api/perflab.h"
#include "base/temp_folder.h"
#include "base/text/json.h"
#include "tune/records/read_space.h"
#include "tune/search/search.h"

namespace perflab {
namespace {

using testing::HasSubstr;

constexpr const char* kSpace = R"({"tune_params": {"BM": [16, 32, 64, 128], "BN": [16, 32, 64, 128],
    "UNROLL": [1, 2, 3, 4, 5, 6, 7, 8], "LAYOUT": ["row", "col"]},
    "restrictions": ["BM * BN <= 8192"],
    "default": {"BM": 32, "BN": 16, "UNROLL": 1, "LAYOUT": "row"}})";

struct CloseSearch {
  void operator()(perflab_search* search) const { perflab_search_close(search); }
};
using OwnedSearch = std::unique_ptr<perflab_search, CloseSearch>;

perflab_search_inputs search_inputs(const char* space) {
  perflab_search_inputs inputs;
  std::memset(&inputs, 0, sizeof inputs);
  inputs.size = sizeof inputs;
  inputs.space = space;
  return inputs;
}

OwnedSearch opened(const perflab_search_inputs& inputs) {
  OwnedSearch search(perflab_search_open(&inputs));
  EXPECT_EQ(perflab_status(perflab_search_error(search.get())), 0)
      << perflab_message(perflab_search_error(search.get()));
  return search;
}

/// What a configuration takes; nothing: it fails.
std::optional<double> time_of(const tune::Space& space, std::uint32_t id) {
  const auto levels = space.levels(id);
  if (levels[0] == 3 && levels[2] == 7) return std::nullopt;
  return std::exp(0.3 * std::abs(levels[0] - 2.0) + 0.2 * std::abs(levels[1] - 1.0) +
                  0.1 * std::abs(levels[2] - 4.0) + (levels[3] == 0 ? 0.2 : 0));
}

tune::Space listed_space() {
  auto file = tune::parse_space(kSpace, "the space");
  return tune::Space::list(std::move(file).value().description).value();
}

// One after the other and by threes; the efforts decide when it ends, or the budget does.
TEST(ApiSearch, AsksForWhatTheSearchProposes) {
  const tune::Space space = listed_space();
  for (const auto& [effort, batch, budget] : std::vector<std::tuple<const char*, int, int>>{
           {nullptr, 1, 0}, {"quick", 3, 0}, {"full", 1, 30}, {"full", 4, 30}}) {
    perflab_search_inputs inputs = search_inputs(kSpace);
    inputs.seed = 7;
    inputs.effort = effort;
    inputs.budget = static_cast<std::uint64_t>(budget);
    const OwnedSearch search = opened(inputs);
    ASSERT_EQ(perflab_search_size(search.get()), space.size());
    tune::SearchOptions options;
    options.seed = 7;
    options.effort = effort == nullptr                  ? tune::Effort::automatic
                     : std::strcmp(effort, "full") == 0 ? tune::Effort::full
                                                        : tune::Effort::quick;
    options.first = {space.default_configuration()};
    tune::Search expected(space, options);
    std::size_t told = 0;
    for (;;) {
      std::array<std::uint32_t, 4> ids{};
      std::size_t asked = 0;
      ASSERT_EQ(
          perflab_search_ask(search.get(), static_cast<std::size_t>(batch), ids.data(), &asked), 0);
      if (asked == 0) break;
      EXPECT_STREQ(perflab_search_why_finished(search.get()), "");
      const auto proposals = expected.propose(asked);
      ASSERT_EQ(proposals.size(), asked);
      for (std::size_t i = 0; i < asked; ++i) {
        ASSERT_EQ(ids[i], proposals[i].id);
        const auto value = time_of(space, ids[i]);
        const std::array<double, 3> samples = {value.value_or(0), value.value_or(0), 99};
        EXPECT_EQ(perflab_search_tell(search.get(), ids[i], value ? nullptr : "runtime",
                                      samples.data(), value ? samples.size() : 0),
                  0);
        expected.tell(ids[i], value ? tune::Outcome::correct : tune::Outcome::run_failed, value);
        ++told;
      }
    }
    if (budget > 0) {
      EXPECT_EQ(told, 30U);
      EXPECT_STREQ(perflab_search_why_finished(search.get()),
                   "the budget of 30 evaluations was used");
    } else {
      EXPECT_LT(told, space.size());
      EXPECT_EQ(perflab_search_why_finished(search.get()), expected.why_finished());
    }
    std::uint32_t best = 0;
    double value = 0;
    ASSERT_EQ(perflab_search_best(search.get(), &best, &value), 1U);
    EXPECT_EQ(best, expected.best());
    EXPECT_EQ(value, expected.best_value());
  }
}

TEST(ApiSearch, NamesAndFindsConfigurations) {
  const test::TempFolder folder;
  perflab_search_inputs inputs = search_inputs(nullptr);
  const std::string file = folder.write("space.json", kSpace);
  inputs.space_file = file.c_str();
  const OwnedSearch search = opened(inputs);
  std::uint32_t id = 0;
  std::size_t asked = 0;
  ASSERT_EQ(perflab_search_ask(search.get(), 1, &id, &asked), 0);
  EXPECT_EQ(parse_json(perflab_search_configuration(search.get(), id), "it").value(),
            Json::parse(R"({"BM": 32, "BN": 16, "UNROLL": 1, "LAYOUT": "row"})"));
  std::uint32_t found = 0;
  EXPECT_EQ(perflab_search_find(search.get(),
                                R"({"LAYOUT": "row", "UNROLL": 1.0, "BN": 16, "BM": 32})", &found),
            0);
  EXPECT_EQ(found, id);
  EXPECT_EQ(perflab_search_configuration(search.get(), 100'000), nullptr);
  EXPECT_EQ(perflab_status(perflab_search_error(search.get())), 2);
}

// Told before it was asked for: it is known, and never asked for.
TEST(ApiSearch, TakesWhatWasMeasuredBefore) {
  const OwnedSearch search = opened(search_inputs(R"([{"A": 1}, {"A": 2}, {"A": 3}])"));
  const double two = 2, one = 1;
  EXPECT_EQ(perflab_search_tell(search.get(), 1, "correct", &two, 1), 0);
  std::array<std::uint32_t, 5> ids{};
  std::size_t asked = 0;
  ASSERT_EQ(perflab_search_ask(search.get(), 5, ids.data(), &asked), 0);
  EXPECT_EQ(asked, 2U);
  EXPECT_EQ(ids[0], 0U);
  EXPECT_EQ(ids[1], 2U);
  ASSERT_EQ(perflab_search_ask(search.get(), 1, ids.data(), &asked), 0);
  EXPECT_EQ(asked, 0U);
  EXPECT_THAT(perflab_search_why_finished(search.get()), HasSubstr("not told"));
  EXPECT_EQ(perflab_search_tell(search.get(), 0, nullptr, &one, 1), 0);  // late, and it counts
  EXPECT_EQ(perflab_search_tell(search.get(), 2, "compile", nullptr, 0), 0);
  ASSERT_EQ(perflab_search_ask(search.get(), 1, ids.data(), &asked), 0);
  EXPECT_STREQ(perflab_search_why_finished(search.get()), "every configuration was evaluated");
  double value = 0;
  EXPECT_EQ(perflab_search_best(search.get(), nullptr, &value), 1U);
  EXPECT_EQ(value, 1);
}

TEST(ApiSearch, MaximizesAndKeepsToTheLimitsOfAnArchitecture) {
  perflab_search_inputs inputs = search_inputs(R"({"tune_params": {"threads": [64, 1024, 2048]}})");
  inputs.architecture = "gfx942";
  inputs.maximize = 1;
  const OwnedSearch search = opened(inputs);
  EXPECT_EQ(perflab_search_size(search.get()), 2U);
  const std::array<double, 2> values = {5, 6};
  EXPECT_EQ(perflab_search_best(search.get(), nullptr, nullptr), 0U);
  for (std::uint32_t id = 0; id < 2; ++id)
    EXPECT_EQ(perflab_search_tell(search.get(), id, nullptr, &values[id], 1), 0);
  std::uint32_t best = 0;
  EXPECT_EQ(perflab_search_best(search.get(), &best, nullptr), 1U);
  EXPECT_EQ(best, 1U);
}

TEST(ApiSearch, SaysWhyASpaceCannotBeSearched) {
  const auto refused = [](const perflab_search_inputs* inputs, int status) {
    const OwnedSearch search(perflab_search_open(inputs));
    const perflab_documents* error = perflab_search_error(search.get());
    EXPECT_EQ(perflab_status(error), status);
    std::uint32_t id = 0;
    std::size_t asked = 0;
    EXPECT_EQ(perflab_search_ask(search.get(), 1, &id, &asked), status);
    EXPECT_EQ(perflab_search_size(search.get()), 0U);
    EXPECT_EQ(perflab_search_best(search.get(), nullptr, nullptr), 0U);
    EXPECT_EQ(perflab_search_configuration(search.get(), 0), nullptr);
    return std::string(perflab_message(error));
  };
  EXPECT_THAT(refused(nullptr, 2), HasSubstr("perflab_search_inputs: size is not set"));
  perflab_search_inputs inputs = search_inputs(nullptr);
  EXPECT_THAT(refused(&inputs, 2), HasSubstr("one of space and space_file"));
  inputs.space = kSpace;
  inputs.effort = "lazy";
  EXPECT_THAT(refused(&inputs, 2), HasSubstr("\"lazy\" is no effort"));
  inputs.effort = nullptr;
  inputs.architecture = "gfx1";
  EXPECT_THAT(refused(&inputs, 3), HasSubstr("gfx1"));
  inputs = search_inputs(R"({"tune_params": {"A": [1, 2]}, "restrictions": ["A > 2"]})");
  EXPECT_THAT(refused(&inputs, 3), HasSubstr("A > 2"));
  inputs = search_inputs("{");
  EXPECT_THAT(refused(&inputs, 3), HasSubstr("the space"));
  inputs = search_inputs(nullptr);
  inputs.space_file = "/no/such/space.json";
  EXPECT_THAT(refused(&inputs, 3), HasSubstr("/no/such/space.json"));
}

TEST(ApiSearch, RefusesResultsThatSayNothing) {
  const OwnedSearch search = opened(search_inputs(kSpace));
  const auto refused = [&](int status) {
    EXPECT_EQ(status, 2);
    EXPECT_EQ(perflab_status(perflab_search_error(search.get())), 2);
    return std::string(perflab_error_text(perflab_search_error(search.get())));
  };
  const double one = 1, infinite = std::numeric_limits<double>::infinity();
  perflab_search* const it = search.get();
  EXPECT_THAT(refused(perflab_search_tell(it, 100'000, nullptr, &one, 1)), HasSubstr("100000"));
  EXPECT_THAT(refused(perflab_search_tell(it, 0, "bad", nullptr, 0)), HasSubstr("\"bad\""));
  EXPECT_THAT(refused(perflab_search_tell(it, 0, nullptr, nullptr, 1)), HasSubstr("samples"));
  EXPECT_THAT(refused(perflab_search_tell(it, 0, "compile", &one, 1)), HasSubstr("samples"));
  EXPECT_THAT(refused(perflab_search_tell(it, 0, nullptr, &infinite, 1)), HasSubstr("infinite"));
  EXPECT_EQ(perflab_search_tell(it, 0, nullptr, &one, 1), 0);
  EXPECT_STREQ(perflab_message(perflab_search_error(it)), "");
  EXPECT_THAT(refused(perflab_search_tell(it, 0, nullptr, &one, 1)), HasSubstr("told before"));
  std::uint32_t id = 0;
  std::size_t asked = 0;
  refused(perflab_search_ask(it, 0, &id, &asked));
  refused(perflab_search_ask(it, 1, nullptr, &asked));
  refused(perflab_search_find(it, nullptr, &id));
  EXPECT_THAT(refused(perflab_search_find(it, "[1]", &id)), HasSubstr("no JSON object"));
  EXPECT_THAT(refused(perflab_search_find(it, R"({"BM": 16})", &id)),
              HasSubstr("no configuration"));
  EXPECT_EQ(perflab_search_find(it, "{", &id), 3);
  EXPECT_EQ(perflab_search_tell(nullptr, 0, nullptr, &one, 1), 2);
  perflab_search_close(nullptr);
}

}  // namespace
}  // namespace perflab
