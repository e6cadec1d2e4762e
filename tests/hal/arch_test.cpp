// hal/arch.h: look-ups, the shape of every table, and the peaks they give against the published
// ones that were collected apart (shared/data/hal/hal_facts.json).
#include "hal/arch.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "base/system/files.h"
#include "base/text/json.h"
#include "hal/arch_table.h"

namespace perflab::hal {
namespace {

using ::testing::HasSubstr;

const std::filesystem::path kTables = std::filesystem::path(PERFLAB_SOURCE_DIR) / "src/hal/archs";
const std::filesystem::path kFacts =
    std::filesystem::path(PERFLAB_SHARED_DIR) / "data/hal/hal_facts.json";

Json load(const std::filesystem::path& path) {
  const auto text = read_file(path);
  return parse_json(text.value(), path.string()).value();
}

std::map<std::string, Json> table_files() {
  std::map<std::string, Json> tables;
  for (const auto& entry : std::filesystem::directory_iterator(kTables))
    if (entry.path().filename() != "sources.json")
      tables.emplace(entry.path().stem().string(), load(entry.path()));
  return tables;
}

TEST(FindArch, ByNameAndTargetId) {
  ASSERT_NE(find_arch("gfx942"), nullptr);
  EXPECT_EQ(find_arch("gfx942")->gfx, "gfx942");
  EXPECT_EQ(find_arch("gfx942:sramecc+:xnack-"), find_arch("gfx942"));
  EXPECT_EQ(find_arch("gfx90a:xnack+"), find_arch("gfx90a"));
  for (const char* gfx :
       {"gfx908", "gfx90a", "gfx940", "gfx941", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1101",
        "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx1201"}) {
    ASSERT_NE(find_arch(gfx), nullptr) << gfx;
    EXPECT_EQ(find_arch(gfx)->gfx, gfx);
  }
}

TEST(FindArch, OfNvidia) {
  for (const char* name :
       {"sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"}) {
    ASSERT_NE(find_arch(name), nullptr) << name;
    EXPECT_EQ(find_arch(name)->gfx, name);
    EXPECT_EQ(find_arch(name)->platform, Platform::nvidia);
  }
  EXPECT_EQ(find_arch("sm_90a"), find_arch("sm_90"));
  EXPECT_EQ(find_arch("sm_100f"), find_arch("sm_100"));
  EXPECT_EQ(archs_of(Platform::nvidia).size(), 8U);
  EXPECT_EQ(archs_of(Platform::amd).size() + 8, all_archs().size());
  for (const Arch& arch : archs_of(Platform::amd)) EXPECT_EQ(arch.platform, Platform::amd);
  EXPECT_THAT(unknown_architecture("sm_61").message, HasSubstr("shared memory"));
}

TEST(FindArch, UnknownIsNobodysNeighbour) {
  for (const char* name : {"", ":", "gfx", "gfx9", "gfx94", "gfx943", "gfx9422", "gfx1031",
                           "GFX942", " gfx942", "gfx942 ", "sm_91", "sm_9", "sm_90b", "sm_90aa",
                           "sm_90:xnack+", "sm_", "compute_90", "AMD EPYC 9575F"})
    EXPECT_EQ(find_arch(name), nullptr) << name;
}

TEST(FindArch, AnUnknownOneIsAnErrorThatNamesTheKnown) {
  const Error error = unknown_architecture("gfx9999");
  EXPECT_EQ(error.code, ErrorCode::usage);
  EXPECT_EQ(error.message,
            "unknown architecture gfx9999: its register files, LDS, occupancy and peaks are "
            "missing from the tables");
  for (const Arch& arch : all_archs()) EXPECT_THAT(error.remedy, HasSubstr(arch.gfx));
  EXPECT_EQ(unknown_architecture("x", ErrorCode::bad_input).code, ErrorCode::bad_input);
}

TEST(UnknownFeature, IsTheFirstThatIsNotOne) {
  for (const char* good : {"gfx942", "gfx942:xnack+", "gfx942:sramecc+:xnack-", "gfx9-4-generic"})
    EXPECT_EQ(unknown_feature(good), std::nullopt) << good;
  const std::pair<const char*, const char*> wrong[] = {{"gfx942:bogus", "bogus"},
                                                       {"gfx942:bogus+", "bogus+"},
                                                       {"gfx942:xnack", "xnack"},
                                                       {"gfx942:xnack+:ecc-", "ecc-"},
                                                       {"gfx942:", ""},
                                                       {"gfx942::xnack+", ""},
                                                       {"gfx942:xnack+:xnack-", "xnack-"},
                                                       {"gfx942:+", "+"},
                                                       {"gfx942:xnack++", "xnack++"}};
  for (const auto& [target, feature] : wrong) EXPECT_EQ(unknown_feature(target), feature) << target;
}

TEST(FindProduct, ByPciId) {
  const std::map<std::uint32_t, std::string> names{
      {0x738c, "AMD Instinct MI100"},  {0x740f, "AMD Instinct MI210"},
      {0x7408, "AMD Instinct MI250X"}, {0x74a0, "AMD Instinct MI300A"},
      {0x74a1, "AMD Instinct MI300X"}, {0x74b5, "AMD Instinct MI300X"},
      {0x74a5, "AMD Instinct MI325X"}, {0x75a0, "AMD Instinct MI350X"},
      {0x75a3, "AMD Instinct MI355X"}, {0x73af, "AMD Radeon RX 6900 XT"}};
  for (const auto& [id, name] : names) {
    const Product* product = find_product_by_pci(kVendorAmd, id);
    ASSERT_NE(product, nullptr) << std::hex << id;
    EXPECT_EQ(product->name, name);
  }
  // The sample trace of an MI350X has the id in decimal.
  EXPECT_EQ(find_product_by_pci(kVendorAmd, 30112)->gfx, "gfx950");
}

TEST(FindProduct, ByPciIdOfNvidia) {
  const std::map<std::uint32_t, std::pair<std::string, int>> known{
      {0x1db1, {"NVIDIA Tesla V100 SXM2 16GB", 80}},
      {0x1eb8, {"NVIDIA Tesla T4", 40}},
      {0x20b2, {"NVIDIA A100 SXM4 80GB", 108}},
      {0x20b5, {"NVIDIA A100 80GB PCIe", 108}},
      {0x2330, {"NVIDIA H100 80GB HBM3", 132}},
      {0x2331, {"NVIDIA H100 PCIe", 114}},
      {0x2335, {"NVIDIA H200", 132}},
      {0x2684, {"NVIDIA GeForce RTX 4090", 128}},
      {0x2901, {"NVIDIA B200", 148}},
      {0x2b85, {"NVIDIA GeForce RTX 5090", 170}}};
  for (const auto& [id, product] : known) {
    const Product* found = find_product_by_pci(kVendorNvidia, id);
    ASSERT_NE(found, nullptr) << std::hex << id;
    EXPECT_EQ(found->name, product.first);
    EXPECT_EQ(found->cus, product.second);
    EXPECT_EQ(find_product_by_pci(kVendorAmd, id), nullptr) << "the vendor is part of the key";
  }
  EXPECT_EQ(find_product_by_pci(kVendorNvidia, 0x74a1), nullptr);
  EXPECT_EQ(find_product_by_pci(0, 0x2330), nullptr);
  EXPECT_EQ(find_product_by_name("NVIDIA A100-SXM4-80GB")->gfx, "sm_80");
  EXPECT_EQ(find_product_by_name("H100 SXM5")->max_clock_mhz, 1980);
}

TEST(FindProduct, UnknownOrSharedPciIdIsNone) {
  EXPECT_EQ(find_product_by_pci(kVendorAmd, 0), nullptr);
  EXPECT_EQ(find_product_by_pci(kVendorAmd, 0x74a2), nullptr);
  // MI250X and MI250: 110 CUs a GPU or 104.
  EXPECT_EQ(find_product_by_pci(kVendorAmd, 0x740c), nullptr);
  EXPECT_EQ(find_product_by_name("AMD Instinct MI250X / MI250"), nullptr);
  // RX 6800, 6800 XT and 6900 XT; RX 7900 XTX, XT and GRE; RX 7800 XT and 7700 XT; Radeon 8060S,
  // 8050S and 8040S; RX 9060 XT and 9060; RX 9070 XT, 9070 and GRE.
  for (const std::uint32_t id : {0x73bfU, 0x744cU, 0x747eU, 0x1586U, 0x7590U, 0x7550U})
    EXPECT_EQ(find_product_by_pci(kVendorAmd, id), nullptr) << std::hex << id;
}

TEST(FindProduct, PciIdsAreEitherOwnOrShared) {
  std::set<std::pair<Platform, std::uint32_t>> own;
  std::set<std::pair<Platform, std::uint32_t>> shared;
  for (const Arch& arch : all_archs()) {
    for (const Product& product : arch.products) {
      EXPECT_FALSE(product.pci_device_ids.empty() && product.shared_pci_device_ids.empty())
          << product.name;
      for (const std::uint32_t id : product.pci_device_ids) {
        EXPECT_TRUE(own.insert({arch.platform, id}).second)
            << product.name << " " << std::hex << id;
        EXPECT_EQ(find_product_by_pci(vendor_id_of(arch.platform), id), &product);
      }
      for (const std::uint32_t id : product.shared_pci_device_ids)
        shared.insert({arch.platform, id});
    }
  }
  for (const auto& id : shared) EXPECT_FALSE(own.contains(id)) << std::hex << id.second;
  EXPECT_EQ(shared.size(), 7U);
}

TEST(FindProduct, ByName) {
  ASSERT_NE(find_product_by_name("AMD Instinct MI300X"), nullptr);
  EXPECT_EQ(find_product_by_name("AMD Instinct MI300X")->cus, 304);
  EXPECT_EQ(find_product_by_name("mi300x"), find_product_by_name("AMD Instinct MI300X"));
  EXPECT_EQ(find_product_by_name("AMD Instinct MI300X VF"), find_product_by_name("MI300X"));
  EXPECT_EQ(find_product_by_name("Instinct MI250"), find_product_by_name("MI250"));
  EXPECT_EQ(find_product_by_name("AMD Radeon RX 6800 XT")->cus, 72);
  EXPECT_EQ(find_product_by_name("RX 6800")->cus, 60);
  EXPECT_EQ(find_product_by_name("AMD Radeon 8060S Graphics")->gfx, "gfx1151");
  EXPECT_EQ(find_product_by_name("amd radeon rx 9070")->cus, 56);
  EXPECT_EQ(find_product_by_name("Radeon RX 7900 XT")->cus, 84);
  for (const char* name : {"", "MI300", "AMD Instinct", "AMD Radeon Graphics", "aldebaran"})
    EXPECT_EQ(find_product_by_name(name), nullptr) << name;
}

TEST(TargetVersion, Names) {
  EXPECT_EQ(gfx_name_from_target_version(90402), "gfx942");
  EXPECT_EQ(gfx_name_from_target_version(90010), "gfx90a");
  EXPECT_EQ(gfx_name_from_target_version(90008), "gfx908");
  EXPECT_EQ(gfx_name_from_target_version(90500), "gfx950");
  EXPECT_EQ(gfx_name_from_target_version(100300), "gfx1030");
  EXPECT_EQ(gfx_name_from_target_version(110501), "gfx1151");
  EXPECT_EQ(gfx_name_from_target_version(120001), "gfx1201");
  for (const std::int64_t version :
       {std::int64_t{0}, std::int64_t{-90402}, std::int64_t{942}, std::int64_t{91600},
        std::int64_t{90016}, std::int64_t{1000000}, std::numeric_limits<std::int64_t>::max()})
    EXPECT_EQ(gfx_name_from_target_version(version), std::nullopt) << version;
}

TEST(TargetVersion, EveryArchHasItsOwn) {
  for (const Arch& arch : archs_of(Platform::amd))
    EXPECT_EQ(gfx_name_from_target_version(arch.target_version), arch.gfx);
}

TEST(Tables, EveryFileIsAnArchOfItsName) {
  std::vector<std::string> names;
  for (const Arch& arch : all_archs()) names.push_back(arch.gfx);
  std::vector<std::string> files;
  for (const auto& [stem, json] : table_files()) files.push_back(stem);
  EXPECT_EQ(names, files);
  EXPECT_THAT(names, ::testing::IsSupersetOf({"gfx1030", "gfx90a", "gfx942", "gfx950"}));
}

TEST(Tables, EverySourceKeyIsDefinedAndUsed) {
  std::set<std::string> used;
  const auto check = [&](const Provenance& provenance, const std::string& owner) {
    EXPECT_FALSE(provenance.sources.empty()) << owner;
    for (const FieldSources& entry : provenance.sources) {
      EXPECT_FALSE(entry.keys.empty()) << owner << " " << entry.field;
      for (const std::string& key : entry.keys) {
        EXPECT_TRUE(source_description(key).has_value()) << owner << " " << key;
        used.insert(key);
      }
    }
  };
  for (const Arch& arch : all_archs()) {
    check(arch.provenance, arch.gfx);
    for (const Product& product : arch.products) check(product.provenance, product.name);
  }
  const Json sources = load(kTables / "sources.json");
  for (const auto& [key, meaning] : sources.items()) EXPECT_TRUE(used.contains(key)) << key;
  EXPECT_FALSE(source_description("NOBODY").has_value());
}

const Json* at_path(const Json& object, std::string_view path) {
  const Json* here = &object;
  while (true) {
    const std::string key(path.substr(0, path.find('.')));
    if (!here->is_object() || !here->contains(key)) return nullptr;
    here = &here->at(key);
    if (key.size() == path.size()) return here;
    path.remove_prefix(key.size() + 1);
  }
}

TEST(Tables, UnconfirmedAndSourcedFieldsExist) {
  const auto check = [](const Json& table, const std::string& owner) {
    for (const Json& field : table.at("unconfirmed"))
      EXPECT_NE(at_path(table, field.get<std::string>()), nullptr) << owner << " " << field;
    for (const auto& [field, keys] : table.at("sources").items())
      EXPECT_NE(at_path(table, field), nullptr) << owner << " " << field;
  };
  for (const auto& [stem, json] : table_files()) {
    check(json, stem);
    for (const Json& product : json.at("products")) check(product, product.at("name"));
  }
}

/// The dotted path of every number of a table, as deep as paths of sources go.
void numbers_of(const Json& value, const std::string& path, std::set<std::string>& paths) {
  if (value.is_number()) paths.insert(path);
  for (const auto& [key, below] : value.items()) {
    const bool item = value.is_array();
    if (value.is_structured() && (item || (key != "products" && key != "sources")))
      numbers_of(below, item ? path : path.empty() ? key : path + "." + key, paths);
  }
}

TEST(Tables, EveryNumberHasASourceOrIsUnconfirmed) {
  std::size_t numbers = 0;
  const auto check = [&](const Json& table, const Provenance& provenance, const std::string& who) {
    std::set<std::string> paths;
    numbers_of(table, "", paths);
    paths.erase("target_version");  // says the same as the name: TargetVersion.EveryArchHasItsOwn
    for (const std::string& path : paths)
      EXPECT_TRUE(!provenance.sources_of(path).empty() || provenance.is_unconfirmed(path))
          << who << " " << path;
    numbers += paths.size();
  };
  for (const auto& [stem, json] : table_files()) {
    const Arch& arch = *find_arch(stem);
    check(json, arch.provenance, stem);
    for (std::size_t i = 0; i < arch.products.size(); ++i)
      check(json.at("products").at(i), arch.products[i].provenance, arch.products[i].name);
  }
  fmt::print("{} numbers looked at\n", numbers);
  EXPECT_GT(numbers, 500U);
}

TEST(Provenance, IsOfTheClosestEntry) {
  const Provenance provenance{
      .sources = {{.field = "lds", .keys = {"A"}}, {.field = "lds.banks", .keys = {"B", "C"}}},
      .unconfirmed = {"wave", "lds.granule"}};
  EXPECT_THAT(provenance.sources_of("lds.banks"), ::testing::ElementsAre("B", "C"));
  EXPECT_THAT(provenance.sources_of("lds.granule.llvm"), ::testing::ElementsAre("A"));
  EXPECT_THAT(provenance.sources_of("lds"), ::testing::ElementsAre("A"));
  EXPECT_TRUE(provenance.sources_of("ldsx").empty());
  EXPECT_TRUE(provenance.sources_of("vgpr").empty());
  EXPECT_TRUE(provenance.is_unconfirmed("lds.granule.llvm"));
  EXPECT_TRUE(provenance.is_unconfirmed("wave"));
  EXPECT_FALSE(provenance.is_unconfirmed("lds"));
  EXPECT_FALSE(provenance.is_unconfirmed("wave_sizes"));
}

TEST(Provenance, OfSomeFields) {
  const Provenance& navi = find_arch("gfx1030")->provenance;
  EXPECT_TRUE(navi.is_unconfirmed("bytes_per_clk.l1_per_cu"));
  EXPECT_TRUE(navi.is_unconfirmed("ops_per_clk_per_cu.vector.fp64"));
  EXPECT_FALSE(navi.is_unconfirmed("ops_per_clk_per_cu.vector.fp32"));
  EXPECT_FALSE(find_arch("gfx942")->provenance.is_unconfirmed("bytes_per_clk.l1_per_cu"));
  EXPECT_TRUE(find_product_by_name("MI300A")->provenance.is_unconfirmed("max_clock_mhz"));
  EXPECT_THAT(find_arch("gfx908")->unconfirmed_of_occupancy(),
              ::testing::ElementsAre("compute_unit.max_waves_per_simd.hardware"));
  EXPECT_TRUE(find_arch("gfx1030")->unconfirmed_of_occupancy().empty());
}

TEST(Tables, NumbersOfNvidiaHangTogether) {
  for (const Arch& arch : archs_of(Platform::nvidia)) {
    SCOPED_TRACE(arch.gfx);
    EXPECT_EQ(arch.max_waves_per_cu, arch.simds_per_cu * arch.max_waves_per_simd_hardware);
    EXPECT_EQ(arch.lds_max_per_workgroup + arch.lds_reserved_per_workgroup, arch.lds_bytes_per_cu);
    EXPECT_EQ(arch.lds_bytes_per_cu % arch.lds_granule_hardware, 0);
    EXPECT_EQ(arch.lds_banks * 4, arch.lds_bytes_per_clk_per_cu);
    EXPECT_EQ(arch.wave_sizes.size(), 1U);
    const WaveSizeLimits& warp = arch.wave_sizes.front();
    EXPECT_EQ(warp.vgprs_per_simd * warp.wave_size * arch.simds_per_cu, 65536) << "registers";
    EXPECT_EQ(warp.vgpr_alloc_granule * warp.wave_size, 256);
    // An FP32 lane does one fused multiply-add a clock.
    EXPECT_EQ(arch.ops_per_clk_per_cu(Pipe::vector, Precision::fp32),
              2 * arch.simd_width * arch.simds_per_cu);
    EXPECT_FALSE(arch.products.empty());
    EXPECT_EQ(arch.target_version, 0);
    EXPECT_FALSE(arch.cus_per_wgp.has_value());
    for (const Product& product : arch.products) {
      EXPECT_EQ(product.gfx, arch.gfx);
      EXPECT_GT(product.cus, 0);
      EXPECT_LE(product.matrix_clock_mhz.value_or(1), product.max_clock_mhz);
      EXPECT_GT(product.memory_gbps, 0);
      for (const Rate& own : product.rates)
        EXPECT_TRUE(arch.ops_per_clk_per_cu(own.pipe, own.precision).has_value()) << product.name;
    }
  }
}

TEST(Tables, NumbersHangTogether) {
  for (const Arch& arch : archs_of(Platform::amd)) {
    SCOPED_TRACE(arch.gfx);
    EXPECT_EQ(arch.max_waves_per_cu, arch.simds_per_cu * arch.max_waves_per_simd_llvm);
    EXPECT_LE(arch.max_waves_per_simd_hardware, arch.max_waves_per_simd_llvm);
    EXPECT_LE(arch.lds_max_per_workgroup, arch.lds_bytes_per_cu);
    EXPECT_LE(arch.lds_granule_llvm, arch.lds_granule_rocclr);
    EXPECT_EQ(arch.lds_bytes_per_cu % arch.lds_granule_rocclr, 0);
    EXPECT_GT(arch.lds_bytes_per_clk_per_cu, 0);
    EXPECT_GT(arch.l1_bytes_per_clk_per_cu, 0);
    EXPECT_GT(arch.l2_bytes_per_clk_per_channel, 0);
    EXPECT_GT(arch.addressable_vgprs, 0);
    EXPECT_EQ(arch.agpr_rule == AgprRule::none, arch.addressable_agprs == 0);
    EXPECT_TRUE(arch.ops_per_clk_per_cu(Pipe::vector, Precision::fp32).has_value());
    EXPECT_EQ(arch.llvm_sgpr_waves.empty(), !arch.sgprs_per_simd.has_value());
    EXPECT_EQ(arch.lds_banks * 4, arch.lds_bytes_per_clk_per_cu);
    if (!arch.llvm_sgpr_waves.empty()) {
      EXPECT_FALSE(arch.llvm_sgpr_waves.back().max_sgprs);
    }
    for (const WaveSizeLimits& wave : arch.wave_sizes) {
      EXPECT_EQ(wave.vgpr_alloc_granule % wave.vgpr_encoding_granule, 0);
      EXPECT_EQ(wave.vgprs_per_simd % wave.vgpr_alloc_granule, 0);
      EXPECT_GE(wave.vgprs_per_simd, arch.addressable_vgprs);
    }
    for (const Product& product : arch.products) {
      EXPECT_EQ(product.gfx, arch.gfx);
      EXPECT_GT(product.cus, 0);
      EXPECT_GT(product.max_clock_mhz, 0);
      EXPECT_GT(product.memory_gbps, 0);
      EXPECT_GE(product.xcds, 1);
      EXPECT_EQ(product.cus % product.xcds, 0);
    }
  }
}

TEST(Tables, RegisterFilesAreThoseOfTheGeneration) {
  const std::map<std::string, std::pair<int, int>> total_and_granule{
      {"gfx908", {256, 4}},    {"gfx90a", {512, 8}},    {"gfx940", {512, 8}},
      {"gfx941", {512, 8}},    {"gfx942", {512, 8}},    {"gfx950", {512, 8}},
      {"gfx1030", {1024, 16}}, {"gfx1100", {1536, 24}}, {"gfx1101", {1536, 24}},
      {"gfx1102", {1024, 16}}, {"gfx1150", {1024, 16}}, {"gfx1151", {1536, 24}},
      {"gfx1200", {1536, 24}}, {"gfx1201", {1536, 24}}};
  ASSERT_EQ(archs_of(Platform::amd).size(), total_and_granule.size());
  for (const Arch& arch : archs_of(Platform::amd)) {
    const WaveSizeLimits& wave = *arch.wave_limits(arch.default_wave_size);
    const auto& [total, granule] = total_and_granule.at(arch.gfx);
    EXPECT_EQ(wave.vgprs_per_simd, total) << arch.gfx;
    EXPECT_EQ(wave.vgpr_alloc_granule, granule) << arch.gfx;
  }
  EXPECT_EQ(find_arch("gfx908")->agpr_rule, AgprRule::separate);
  EXPECT_EQ(find_arch("gfx950")->lds_banks, 64);
}

TEST(Tables, PreProductionMi300HasTheLimitsOfGfx942) {
  Json expected = load(kTables / "gfx942.json");
  for (const char* gfx : {"gfx940", "gfx941"}) {
    Json table = load(kTables / (std::string(gfx) + ".json"));
    EXPECT_TRUE(table.at("products").empty());
    EXPECT_THAT(table.at("notes").at(0).get<std::string>(), HasSubstr("Pre-production"));
    for (const char* own : {"gfx", "target_version", "notes", "sources", "products"}) {
      table.erase(own);
      expected.erase(own);
    }
    EXPECT_EQ(table, expected) << gfx;
  }
}

TEST(Tables, ProductNamesAreUnique) {
  std::set<std::string> names;
  for (const Arch& arch : all_archs()) {
    for (const Product& product : arch.products) {
      EXPECT_TRUE(names.insert(product.name).second) << product.name;
      EXPECT_EQ(find_product_by_name(product.name), &product);
      for (const std::string& alias : product.aliases) {
        EXPECT_TRUE(names.insert(alias).second) << alias;
        EXPECT_EQ(find_product_by_name(alias), &product);
      }
    }
  }
}

TEST(Rates, SomeThatAreEasilyWrong) {
  const Arch& mi300 = *find_arch("gfx942");
  EXPECT_EQ(mi300.ops_per_clk_per_cu(Pipe::vector, Precision::fp32), 128);
  EXPECT_EQ(mi300.ops_per_clk_per_cu(Pipe::packed, Precision::fp32), 256);
  EXPECT_EQ(mi300.ops_per_clk_per_cu(Pipe::vector, Precision::fp16), 128);
  EXPECT_EQ(mi300.ops_per_clk_per_cu(Pipe::packed, Precision::fp16), 256);
  EXPECT_EQ(mi300.ops_per_clk_per_cu(Pipe::matrix, Precision::tf32), 1024);
  EXPECT_EQ(mi300.ops_per_clk_per_cu(Pipe::dual_issue, Precision::fp32), std::nullopt);
  const Arch& mi350 = *find_arch("gfx950");
  EXPECT_EQ(mi350.ops_per_clk_per_cu(Pipe::matrix, Precision::fp64), 128);
  EXPECT_EQ(mi350.ops_per_clk_per_cu(Pipe::matrix, Precision::tf32), std::nullopt);
  EXPECT_EQ(mi350.ops_per_clk_per_cu(Pipe::matrix, Precision::fp6), 16384);
}

/// hal_facts.json names rates like "fp32_vec_packed"; ours are a pipe and a precision. What they
/// call FP16 vector is the packed rate.
std::string fact_name(const Rate& rate) {
  static const std::map<Pipe, std::string> suffix{{Pipe::vector, "_vec"},
                                                  {Pipe::packed, "_vec_packed"},
                                                  {Pipe::dual_issue, "_vec_vopd"},
                                                  {Pipe::matrix, "_mat"},
                                                  {Pipe::dot, "_dot"}};
  if (rate.precision == Precision::fp16 && rate.pipe == Pipe::packed) return "fp16_vec";
  return std::string(to_string(rate.precision)) + suffix.at(rate.pipe);
}

TEST(Facts, PublishedPeaksFollowFromTheTables) {
  if (!std::filesystem::exists(kFacts)) GTEST_SKIP() << "skipped: " << kFacts << " is not there";
  int compared = 0;
  const Json facts = load(kFacts);
  for (const Json& fact : facts.at("products")) {
    const std::string short_name =
        std::regex_replace(fact.at("name").get<std::string>(), std::regex(" \\(.*"), "");
    const Product* product = find_product_by_name(short_name);
    ASSERT_NE(product, nullptr) << short_name;
    SCOPED_TRACE(short_name);
    const Arch& arch = *find_arch(product->gfx);
    EXPECT_EQ(fact.at("arch"), arch.gfx);
    EXPECT_EQ(arch.rates.size(), fact.at("peak_tflops").size() + 1) << "plain FP16 is not there";
    const double cu_mhz = product->cus * product->max_clock_mhz;
    for (const Rate& rate : arch.rates) {
      if (rate.precision == Precision::fp16 && rate.pipe == Pipe::vector) continue;
      const double published = fact.at("peak_tflops").at(fact_name(rate)).get<double>();
      EXPECT_NEAR(rate.ops_per_clk_per_cu * cu_mhz / 1e6, published, 0.0501) << fact_name(rate);
      ++compared;
    }
    EXPECT_NEAR(arch.lds_bytes_per_clk_per_cu * cu_mhz / 1e3, fact.at("lds_gbps").get<double>(),
                0.6);
    EXPECT_NEAR(arch.l1_bytes_per_clk_per_cu.value() * cu_mhz / 1e3,
                fact.at("l1_gbps").get<double>(), 0.6);
    EXPECT_EQ(product->l2_channels.has_value(), !fact.at("l2_channels").is_null());
    if (product->l2_channels) {
      const double l2_gbps = arch.l2_bytes_per_clk_per_channel.value() * *product->l2_channels *
                             product->max_clock_mhz / 1e3;
      EXPECT_NEAR(l2_gbps, fact.at("l2_gbps").get<double>(), 0.06);
    }
  }
  fmt::print("{} published peaks compared\n", compared);
  EXPECT_EQ(compared, 150);
}

std::string a_table() {
  return read_file(kTables / "gfx942.json").value();
}

TEST(ParseArch, TakesTheRealOne) {
  const auto arch = parse_arch(a_table(), "table");
  ASSERT_TRUE(arch.has_value()) << describe(arch.error());
  EXPECT_EQ(arch->gfx, "gfx942");
}

TEST(ParseArch, RefusesWhatIsNotWhole) {
  struct Case {
    const char* pattern;
    const char* replacement;
    const char* message;
  };
  const Case cases[] = {
      {"\"family\": \"CDNA3\",", "", ": \"family\" is missing"},
      {"\"family\"", "\"familly\"", ": \"family\" is missing"},
      {"\"family\": \"CDNA3\"", "\"family\": \"\"", ": \"family\" is empty"},
      {"\"simds_per_cu\": 4", "\"simds_per_cu\": -4",
       "compute_unit: \"simds_per_cu\" is not a whole number from 0 to"},
      {"\"simds_per_cu\": 4", "\"simds_per_cu\": 4.5",
       "compute_unit: \"simds_per_cu\" is not a whole number from 0 to"},
      {"\"simds_per_cu\": 4", "\"simds_per_cu\": 0", "compute_unit has a zero"},
      {"\"simds_per_cu\": 4", "\"simds_per_cu\": 9999999999", "is not a whole number"},
      {"\"simds_per_cu\": 4", "\"simds_per_cu\": 4, \"x\": 1", "compute_unit: \"x\" is not known"},
      {"\"agpr_rule\": \"unified\"", "\"agpr_rule\": \"shared\"",
       "must be none, separate or unified"},
      {"\"accum_offset_granule\": 4", "\"accum_offset_granule\": null", "must be given"},
      {"\"default_mode\": \"cu\"", "\"default_mode\": \"wgp\"", "WGP mode must be given together"},
      {"\"default_wave_size\": 64", "\"default_wave_size\": 32", "not among wave_sizes"},
      {"0x74a1", "74a1", "must hold texts like 0x74a1"},
      {"0x74a1", "0x74g1", "must hold texts like 0x74a1"},
      {"\"wave_sizes\": \\[", "\"wave_sizes\": [1, ", "wave_sizes[0]: is not an object"},
      {"\"vector\"", "\"vektor\"", "ops_per_clk_per_cu: \"vektor\" is not known"},
      {"\"bf16\"", "\"bf17\"", "ops_per_clk_per_cu.matrix: \"bf17\" is not known"},
      {"\"L19\", \"CLR\"", "\"L19\", 7",
       "sources: \"compute_unit\" has an item that is not a string"},
      {"\"sources\": \\{", "\"sources\": [], \"x\": {", "sources: is not an object"},
  };
  for (const Case& c : cases) {
    const std::string text = std::regex_replace(a_table(), std::regex(c.pattern), c.replacement,
                                                std::regex_constants::format_first_only);
    const auto arch = parse_arch(text, "gfx942.json");
    ASSERT_FALSE(arch.has_value()) << c.pattern << " -> " << c.replacement;
    EXPECT_THAT(arch.error().message, HasSubstr(c.message));
    EXPECT_THAT(arch.error().message, HasSubstr("gfx942.json"));
  }
  EXPECT_FALSE(parse_arch("", "x").has_value());
  EXPECT_FALSE(parse_arch("[]", "x").has_value());
  EXPECT_FALSE(parse_arch(a_table().substr(0, 1000), "x").has_value());
  EXPECT_FALSE(parse_sources("[]", "x").has_value());
  EXPECT_FALSE(parse_sources(R"({"A": 1})", "x").has_value());
}

TEST(ParseArch, RefusesWhatOnlyTheOtherPlatformHas) {
  const auto problem = [](const char* table, const char* pattern, const char* replacement) {
    const std::string text = read_file(kTables / table).value();
    const auto arch = parse_arch(std::regex_replace(text, std::regex(pattern), replacement,
                                                    std::regex_constants::format_first_only),
                                 "x");
    return arch ? "" : arch.error().message;
  };
  const char* const family = "\"family\":";
  const char* const simds = "\"simds_per_cu\":";
  EXPECT_THAT(problem("sm_90.json", family, "\"target_version\": 1, \"family\":"),
              HasSubstr("\"target_version\" is not known"));
  EXPECT_THAT(problem("sm_90.json", simds, "\"cus_per_wgp\": null, \"simds_per_cu\":"),
              HasSubstr("\"cus_per_wgp\" is not known"));
  EXPECT_THAT(problem("gfx942.json", simds, "\"max_workgroups_per_cu\": 1, \"simds_per_cu\":"),
              HasSubstr("\"max_workgroups_per_cu\" is not known"));
  EXPECT_THAT(problem("gfx942.json", "\"platform\": \"amd\"", "\"platform\": \"intel\""),
              HasSubstr("must be amd or nvidia"));
  EXPECT_THAT(problem("gfx942.json", "\"gfx\": \"gfx942\"", "\"gfx\": \"sm_942\""),
              HasSubstr("the name is not one of the platform"));
  EXPECT_THAT(
      problem("sm_90.json", "\"max_workgroups_per_cu\": 32", "\"max_workgroups_per_cu\": 0"),
      HasSubstr("compute_unit has a zero"));
  EXPECT_THAT(problem("sm_90.json", "\"hardware\": 128", "\"hardware\": 0"),
              HasSubstr("a granule is zero"));
}

}  // namespace
}  // namespace perflab::hal
