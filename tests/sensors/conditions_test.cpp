// Readings as documents have them and as processes hand them over.
#include "sensors/conditions.h"

#include <gmock/gmock.h>

namespace perflab::sensors {
namespace {

Reading full() {
  Reading reading;
  reading.core_mhz = 1980;
  reading.memory_mhz = 2619;
  reading.temperature_c = 41;
  reading.power_w = 312.5;
  reading.throttled.emplace().add(Throttle::power_brake);
  return reading;
}

TEST(Conditions, OfADocumentHaveATurnEach) {
  TurnWatch watch({.clock_change = 0.1, .most_repeats = 0});
  ASSERT_TRUE(watch.take(std::array{Span{full(), full()}}));
  Span bare;
  bare.before.core_mhz = bare.after.core_mhz = 1000;
  ASSERT_TRUE(watch.take(std::array{bare}));
  Conditions& conditions = watch.conditions();
  conditions.source = "nvml";
  conditions.missing = {{"power_w", "NVML: Not Supported"}};
  const Json json = conditions_json(conditions);
  EXPECT_EQ(json["source"], "nvml");
  EXPECT_EQ(json["limits"], (Json{{"clock_change", 0.1}, {"most_repeats", 0}}));
  EXPECT_EQ(json["disturbed"], 1);
  EXPECT_EQ(json["turns"][0]["core_mhz"], Json::array({1980, 1980}));
  EXPECT_EQ(json["turns"][0]["throttled"], Json::array({"power_brake"}));
  EXPECT_EQ(json["turns"][0]["disturbed"], "throttled: power_brake");
  EXPECT_EQ(json["turns"][1]["power_w"], nullptr);
  EXPECT_EQ(json["turns"][1]["throttled"], nullptr);
  EXPECT_EQ(json["turns"][1]["disturbed"], nullptr);
  EXPECT_EQ(json["no_source_because"], nullptr);
  EXPECT_EQ(json["missing"],
            Json::array({{{"field", "power_w"}, {"reason", "NVML: Not Supported"}}}));
}

TEST(Conditions, ThatWereNotReadAreNullWithAReason) {
  const Json json = conditions_json(no_conditions("no NVML"));
  EXPECT_EQ(json["source"], nullptr);
  EXPECT_EQ(json["no_source_because"], "no NVML");
  EXPECT_TRUE(json["turns"].empty());
}

TEST(Conditions, SpansComeBackAsTheyWere) {
  Span span{full(), {}};
  span.after.throttled_for = {1, 2, 3, 4, 5};
  const auto back = span_from_json(span_json(span), "here");
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(span_json(*back), span_json(span));
  EXPECT_EQ(back->before.throttled, span.before.throttled);
  EXPECT_EQ(back->after.throttled_for, span.after.throttled_for);
  for (const Json& damaged :
       {Json(nullptr), Json{{"before", 1}}, Json{{"before", {{"core_mhz", "x"}}}, {"after", {}}}})
    EXPECT_FALSE(span_from_json(damaged, "here").has_value()) << damaged;
  Json wrong = span_json(span);
  wrong["before"]["throttled"] = Json::array({"tired"});
  EXPECT_FALSE(span_from_json(wrong, "here").has_value());
}

}  // namespace
}  // namespace perflab::sensors
