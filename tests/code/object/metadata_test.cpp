// The metadata note: wrong types and values by kernel and key, what may be missing, what is
// skipped, and bytes that try to exhaust the reader.
#include "code/object/metadata.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/code_writer.h"

namespace perflab::code {
namespace {

using testing::HasSubstr;

std::string pack(const Json& value) {
  const std::vector<std::uint8_t> bytes = Json::to_msgpack(value);
  return {bytes.begin(), bytes.end()};
}

Json document() {
  Json top = test::object_metadata(5, "amdgcn-amd-amdhsa--gfx942");
  top["amdhsa.kernels"] = Json::array({test::kernel_metadata(
      "k", std::vector<test::WrittenArgument>{{0, 8, "global_buffer"}, {8, 4, "by_value"}})});
  return top;
}

std::string metadata_error(std::string_view note) {
  const auto metadata = read_metadata(note, "file.co");
  if (metadata) return "no error";
  EXPECT_EQ(metadata.error().code, ErrorCode::bad_input);
  return metadata.error().message;
}

KernelMetadata kernel_with(const char* key, const Json& value) {
  Json top = document();
  top["amdhsa.kernels"][0][key] = value;
  auto metadata = read_metadata(pack(top), "file.co");
  EXPECT_TRUE(metadata.has_value()) << key << ": " << metadata.error().message;
  return metadata && metadata->kernels.size() == 1 ? metadata->kernels[0] : KernelMetadata{};
}

TEST(Metadata, WrongTypesNameKernelAndKey) {
  const struct {
    const char* key;
    Json value;
    std::string_view problem;
  } cases[] = {
      {".vgpr_count", "8", "must be a whole number below 2^32, not negative"},
      {".vgpr_count", -1, "must be a whole number"},
      {".vgpr_count", 1.5, "must be a whole number"},
      {".vgpr_count", nullptr, "must be a whole number"},
      {".vgpr_count", true, "must be a whole number"},
      {".sgpr_count", std::int64_t{1} << 32, "must be a whole number"},
      {".agpr_count", Json::array({1}), "must be a whole number"},
      {".agpr_count", {{"a", 1}}, "must be a whole number"},
      {".symbol", 5, "must be a text"},
      {".language", Json::array(), "must be a text"},
      {".uses_dynamic_stack", 2, "must be true or false"},
      {".uses_dynamic_stack", "yes", "must be true or false"},
      {".workgroup_processor_mode", -1, "must be true or false"},
      {".args", 5, "must be a list"},
      {".args", {{"a", 1}}, "must be a list"},
      {".args", Json::array({5}), "must be a list of maps"},
      {".args", Json::array({Json::array()}), "must be a list of maps"},
      {".reqd_workgroup_size", 64, "must be a list"},
      {".reqd_workgroup_size", Json::array({64, 1}), "must have three numbers"},
      {".reqd_workgroup_size", Json::array({64, 1, 1, 1, 1}), "must have three numbers"},
      {".reqd_workgroup_size", Json::array({64, "1", 1}), "must be a list of whole numbers"},
      {".language_version", Json::array({2}), "must have two numbers"},
  };
  for (const auto& wrong : cases) {
    Json top = document();
    top["amdhsa.kernels"][0][wrong.key] = wrong.value;
    EXPECT_THAT(metadata_error(pack(top)),
                testing::StartsWith(fmt::format("file.co: metadata: kernel 1 \"k\": \"{}\" {}",
                                                wrong.key, wrong.problem)))
        << wrong.value;
  }
  Json top = document();
  top["amdhsa.kernels"][0][".wavefront_size"] = 48;
  EXPECT_EQ(metadata_error(pack(top)),
            "file.co: metadata: kernel 1 \"k\": \".wavefront_size\" is 48, not 32 or 64");
}

TEST(Metadata, WrongArgumentsAreNamed) {
  Json top = document();
  top["amdhsa.kernels"][0][".args"][1][".offset"] = "8";
  EXPECT_THAT(metadata_error(pack(top)),
              HasSubstr("kernel 1 \"k\": argument 2: \".offset\" must be"));
  top = document();
  top["amdhsa.kernels"][0][".args"][0].erase(".value_kind");
  EXPECT_THAT(metadata_error(pack(top)),
              HasSubstr("kernel 1 \"k\": argument 1: \".value_kind\" is missing"));
}

TEST(Metadata, RequiredKeysMustBeThere) {
  for (const char* key :
       {".name", ".symbol", ".kernarg_segment_size", ".kernarg_segment_align",
        ".group_segment_fixed_size", ".private_segment_fixed_size", ".wavefront_size"}) {
    Json top = document();
    top["amdhsa.kernels"].push_back(top["amdhsa.kernels"][0]);
    top["amdhsa.kernels"][1].erase(key);
    EXPECT_THAT(metadata_error(pack(top)), HasSubstr(fmt::format("\"{}\" is missing", key)));
    EXPECT_THAT(metadata_error(pack(top)), HasSubstr("kernel 2"));
  }
  Json top = document();
  top.erase("amdhsa.kernels");
  EXPECT_EQ(metadata_error(pack(top)), "file.co: metadata: \"amdhsa.kernels\" is missing");
}

TEST(Metadata, OptionalKeysStayMissing) {
  Json top = document();
  for (const char* key : {".vgpr_count", ".sgpr_count", ".sgpr_spill_count", ".vgpr_spill_count",
                          ".max_flat_workgroup_size", ".args"})
    top["amdhsa.kernels"][0].erase(key);
  const auto metadata = read_metadata(pack(top), "file.co");
  ASSERT_TRUE(metadata.has_value());
  const KernelMetadata& kernel = metadata->kernels.at(0);
  EXPECT_EQ(kernel.vgpr_count, std::nullopt);
  EXPECT_EQ(kernel.agpr_count, std::nullopt);
  EXPECT_EQ(kernel.sgpr_count, std::nullopt);
  EXPECT_EQ(kernel.sgpr_spills, std::nullopt);
  EXPECT_EQ(kernel.vgpr_spills, std::nullopt);
  EXPECT_EQ(kernel.max_workgroup_size, std::nullopt);
  EXPECT_EQ(kernel.required_workgroup_size, std::nullopt);
  EXPECT_EQ(kernel.language_version, std::nullopt);
  EXPECT_EQ(kernel.wgp_mode, std::nullopt);
  EXPECT_TRUE(kernel.arguments.empty());
}

TEST(Metadata, KnownKeysAreKept) {
  EXPECT_EQ(kernel_with(".agpr_count", 64).agpr_count, 64);
  EXPECT_EQ(kernel_with(".sgpr_spill_count", 101).sgpr_spills, 101);
  EXPECT_EQ(kernel_with(".max_flat_workgroup_size", 4294967295U).max_workgroup_size, 4294967295);
  EXPECT_EQ(kernel_with(".workgroup_processor_mode", 0).wgp_mode, false);
  EXPECT_EQ(kernel_with(".workgroup_processor_mode", true).wgp_mode, true);
  EXPECT_TRUE(kernel_with(".uniform_work_group_size", 1).uniform_workgroups);
  EXPECT_TRUE(kernel_with(".uses_dynamic_stack", true).dynamic_stack);
  EXPECT_EQ(kernel_with(".kind", "init").kind, "init");
  EXPECT_EQ(kernel_with(".reqd_workgroup_size", {64, 2, 1}).required_workgroup_size,
            (std::array<std::int64_t, 3>{64, 2, 1}));
  Json argument = {{".offset", 0},
                   {".size", 8},
                   {".value_kind", "global_buffer"},
                   {".name", "x"},
                   {".type_name", "int*"},
                   {".address_space", "global"},
                   {".access", "read_only"},
                   {".actual_access", "write_only"},
                   {".is_const", true},
                   {".is_restrict", true},
                   {".is_volatile", true},
                   {".is_pipe", true}};
  const KernelMetadata kernel = kernel_with(".args", Json::array({argument}));
  ASSERT_EQ(kernel.arguments.size(), 1U);
  const KernelArgument& read = kernel.arguments[0];
  EXPECT_EQ(read.name, "x");
  EXPECT_EQ(read.type_name, "int*");
  EXPECT_EQ(read.address_space, "global");
  EXPECT_EQ(read.access, "read_only");
  EXPECT_EQ(read.actual_access, "write_only");
  EXPECT_TRUE(read.is_const && read.is_restrict && read.is_volatile);
}

TEST(Metadata, UnknownKeysOfAnyShapeAreSkipped) {
  for (const Json& value :
       {Json(1), Json(-1), Json(2.5), Json("x"), Json(nullptr), Json::array({1, {{"a", {1}}}}),
        Json{{".name", "not this"}, {".args", {1, 2}}}, Json::binary({1, 2, 3})}) {
    EXPECT_EQ(kernel_with(".new_key", value).name, "k");
    Json top = document();
    top["amdhsa.new"] = value;
    top["amdhsa.kernels"][0][".args"][0][".new"] = value;
    const auto metadata = read_metadata(pack(top), "file.co");
    ASSERT_TRUE(metadata.has_value()) << metadata.error().message;
    EXPECT_EQ(metadata->kernels.at(0).arguments.size(), 2U);
  }
}

TEST(Metadata, OrderOfKeysDoesNotMatter) {
  Json top = document();
  const Json forward = top["amdhsa.kernels"][0];
  Json backward = Json::object();
  for (auto it = forward.rbegin(); it != forward.rend(); ++it) backward[it.key()] = it.value();
  Json turned = {{"amdhsa.kernels", {backward}}, {"amdhsa.version", top["amdhsa.version"]}};
  const auto a = read_metadata(pack(top), "a"), b = read_metadata(pack(turned), "b");
  ASSERT_TRUE(a.has_value() && b.has_value());
  EXPECT_EQ(a->kernels[0].name, b->kernels[0].name);
  EXPECT_EQ(a->kernels[0].vgpr_count, b->kernels[0].vgpr_count);
  EXPECT_EQ(a->kernels[0].arguments.size(), b->kernels[0].arguments.size());
}

TEST(Metadata, WrongTopLevelIsNamed) {
  EXPECT_EQ(metadata_error(pack(Json::array())), "file.co: metadata: it is not a map");
  EXPECT_EQ(metadata_error(pack(5)), "file.co: metadata: it is not a map");
  const std::pair<const char*, std::string_view> cases[] = {{"amdhsa.kernels", "must be a list"},
                                                            {"amdhsa.version", "must be a list"},
                                                            {"amdhsa.printf", "must be a list"},
                                                            {"amdhsa.target", "must be a text"}};
  for (const auto& [key, problem] : cases)
    for (const Json& value : {Json(5), Json{{"a", 1}}}) {
      Json top = document();
      top[key] = value;
      EXPECT_EQ(metadata_error(pack(top)),
                fmt::format("file.co: metadata: \"{}\" {}", key, problem));
    }
  Json top = document();
  top["amdhsa.kernels"].push_back(5);
  EXPECT_EQ(metadata_error(pack(top)),
            "file.co: metadata: \"amdhsa.kernels\" must be a list of maps");
  top = document();
  top["amdhsa.printf"] = {1};
  EXPECT_EQ(metadata_error(pack(top)),
            "file.co: metadata: \"amdhsa.printf\" must be a list of texts");
}

TEST(Metadata, DamageIsPlaced) {
  const std::string good = pack(document());
  EXPECT_EQ(metadata_error(good), "no error");
  EXPECT_EQ(metadata_error(good + std::string(3, '\0')), "no error");
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_THAT(metadata_error(good.substr(0, size)),
                HasSubstr(fmt::format("is damaged at byte {} of its {}", size + 1, size)));
  EXPECT_THAT(metadata_error("\xc1"), HasSubstr("is damaged at byte 1 of its 1"));
}

TEST(Metadata, HostileNestingAndClaimsEndSoon) {
  constexpr std::size_t kBytes = 100'000;
  // Lists in lists and maps in maps, at the top, under a key that is not known, under a known one.
  const std::string lists(kBytes, '\x91');
  EXPECT_EQ(metadata_error(lists), "file.co: metadata: it is not a map");
  EXPECT_EQ(metadata_error("\x81\xa1x" + lists), "file.co: metadata: it is nested too deeply");
  std::string maps;
  while (maps.size() < kBytes) maps += "\x81\xa1x";
  EXPECT_EQ(metadata_error(maps), "file.co: metadata: it is nested too deeply");
  EXPECT_THAT(metadata_error("\x81\xae"
                             "amdhsa.kernels" +
                             lists),
              HasSubstr("must be a list of maps"));
  // Counts and lengths that are not there.
  EXPECT_THAT(metadata_error("\x81\xa1x\xdd\xff\xff\xff\xff"), HasSubstr("is damaged at byte"));
  EXPECT_THAT(metadata_error("\x81\xa1x\xdb\xff\xff\xff\xff"
                             "abc"),
              HasSubstr("is damaged at byte"));
  EXPECT_THAT(metadata_error("\xdf\xff\xff\xff\xff"), HasSubstr("is damaged at byte"));
  // A byte per kernel or argument: the first incomplete one ends it.
  using std::string_literals::operator""s;
  const std::string empty_maps(kBytes, '\x80');
  EXPECT_EQ(metadata_error("\x81\xae"
                           "amdhsa.kernels\xdd\x00\x01\x86\xa0"s +
                           empty_maps),
            "file.co: metadata: kernel 1: \".name\" is missing");
  EXPECT_EQ(metadata_error("\x81\xae"
                           "amdhsa.kernels\x91\x81\xa5.args\xdd\x00\x01\x86\xa0"s +
                           empty_maps),
            "file.co: metadata: kernel 1: argument 1: \".offset\" is missing");
}

}  // namespace
}  // namespace perflab::code
