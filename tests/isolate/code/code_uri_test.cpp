// URIs of code objects, and reading what they name.
#include "isolate/code/code_uri.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/temp_folder.h"
#include "hsa_sim/sim_code_objects.h"
#include "isolate/code/loaded_code.h"

namespace perflab::test {
namespace {

using isolate::CodeUri;

TEST(CodeUri, ReadsFilesAndMemory) {
  const auto read = [](const char* text) {
    return isolate::parse_code_uri(text).value_or(CodeUri{});
  };
  EXPECT_EQ(read("file:///dir1/file1"), (CodeUri{.path = "/dir1/file1"}));
  EXPECT_EQ(read("file:///a%20b/%23%3f%25.co#offset=0x2000&size=3000"),
            (CodeUri{.path = "/a b/#?%.co", .offset = 0x2000, .bytes = 3000}));
  EXPECT_EQ(read("file://relative.so?offset=010&size=0"),
            (CodeUri{.path = "relative.so", .offset = 8, .bytes = 0}));
  EXPECT_EQ(read("memory://1234#offset=0X7f00&size=0x10"),
            (CodeUri{.process = 1234, .offset = 0x7f00, .bytes = 16}));
}

TEST(CodeUri, RefusesWhatIsNone) {
  for (const char* text : {"",
                           "file://",
                           "file:/a",
                           "https://a",
                           "/a",
                           "memory://",
                           "memory://12",
                           "memory://x#offset=1&size=1",
                           "memory://-1#offset=1&size=1",
                           "memory://1#size=1&offset=1",
                           "memory://1#offset=1",
                           "memory://1#offset=1&size=",
                           "memory://1#offset=&size=1",
                           "memory://1#offset=1&size=1x",
                           "memory://1#offset=0x&size=1",
                           "memory://1#offset=09&size=1",
                           "memory://1#offset=99999999999999999999&size=1",
                           "memory://1#offset=1&size=1&more=2",
                           "file:///a%",
                           "file:///a%2",
                           "file:///a%zz",
                           "file:///a%00b",
                           "file:///a#",
                           "file:///a#b",
                           "file:///a#offset=1&size=2#"}) {
    const auto read = isolate::parse_code_uri(text);
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_EQ(read.error().code, ErrorCode::bad_input) << text;
  }
}

/// What the runtime says of an object, for find_loaded_code().
std::string said_uri;
std::uint32_t said_storage = 0;
std::uint64_t said_base = 0, said_size = 0;

hsa::Status say(hsa::LoadedCodeObject, std::uint32_t attribute, void* value) {
  using namespace hsa::loaded_code_info;
  const auto give = [&](auto number) {
    std::memcpy(value, &number, sizeof number);
    return hsa::Status::success;
  };
  if (attribute == storage_type) return give(said_storage);
  if (attribute == memory_base) return give(said_base);
  if (attribute == memory_size) return give(said_size);
  if (attribute == uri_length) return give(static_cast<std::uint32_t>(said_uri.size()));
  if (attribute != uri) return hsa::Status::invalid_argument;
  std::memcpy(value, said_uri.data(), said_uri.size());
  return hsa::Status::success;
}

class FindLoadedCode : public testing::Test {
 protected:
  FindLoadedCode() {
    said_uri.clear();
    said_storage = 0;
    said_base = said_size = 0;
    loader_.loaded_code_object_get_info = say;
  }
  /// The bytes; an empty text and the reason in `reason_` when there are none.
  std::string found(const std::string& uri) {
    said_uri = uri;
    auto code = isolate::find_loaded_code(loader_, {1});
    reason_ = code ? "" : code.error().message;
    return code ? std::move(code->bytes) : std::string();
  }
  std::string in_memory(const std::string& bytes, std::uint64_t process) const {
    return "memory://" + std::to_string(process) +
           "#offset=" + std::to_string(reinterpret_cast<std::uintptr_t>(bytes.data())) +
           "&size=" + std::to_string(bytes.size());
  }
  hsa::LoaderTable loader_{};
  const std::string object_ = sim_code_object({{.name = "inplace"}});
  std::string reason_;
};

TEST_F(FindLoadedCode, ReadsMemoryOfThisProcessOnly) {
  const auto self = static_cast<std::uint64_t>(::getpid());
  EXPECT_EQ(found(in_memory(object_, self)), object_);
  EXPECT_EQ(found(in_memory(object_, self + 1)), "");
  EXPECT_NE(reason_.find("which is not this one"), std::string::npos) << reason_;
  EXPECT_EQ(found("memory://" + std::to_string(self) + "#offset=0x1000&size=64"), "")
      << "an address that is not mapped is no crash";
  EXPECT_EQ(found("memory://" + std::to_string(self) + "#offset=0&size=0xffffffffffff"), "");
  EXPECT_EQ(found(in_memory(std::string(200, 'x'), self)), "") << "no code object";
}

TEST_F(FindLoadedCode, ReadsAPieceOfAFile) {
  const TempFolder folder;
  const std::string path = folder.write("bundle", "#####" + object_ + "#####").string();
  EXPECT_EQ(found("file://" + path + "#offset=5&size=" + std::to_string(object_.size())), object_);
  EXPECT_EQ(found("file://" + path), "") << "what begins there is no code object";
  EXPECT_EQ(found("file://" + path + ".gone"), "");
  EXPECT_NE(reason_.find(".gone cannot be opened"), std::string::npos) << reason_;
  EXPECT_EQ(found("file://" + folder.path().string()), "");
  EXPECT_EQ(found("file://" + path + "#offset=100000&size=5"), "");
}

TEST_F(FindLoadedCode, PrefersWhereTheLoaderReadIt) {
  const TempFolder folder;
  const std::string uri =
      "file://" + folder.write("other", sim_code_object({{.name = "vadd"}})).string();
  said_storage = hsa::loaded_code_info::storage_memory;
  said_base = reinterpret_cast<std::uintptr_t>(object_.data());
  said_size = object_.size();
  EXPECT_EQ(found(uri), object_);
  said_base = 0x1000;  // not there any more
  EXPECT_NE(found(uri), "");
  EXPECT_NE(found(uri), object_);
}

TEST_F(FindLoadedCode, SaysWhenTheRuntimeDoesNot) {
  EXPECT_EQ(found(""), "");
  EXPECT_NE(reason_.find("does not say where it came from"), std::string::npos) << reason_;
  const auto none = isolate::find_loaded_code({}, {0});
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ErrorCode::refused);
}

}  // namespace
}  // namespace perflab::test
