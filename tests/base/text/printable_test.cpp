// What a terminal must not get. The byte sequences are those of RFC 3629 and of ECMA-48's controls.
#include "base/text/printable.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

namespace perflab {
namespace {

TEST(Printable, LeavesTextAsItIs) {
  for (const std::string_view text :
       {"", " ~", "gemm<float, 16>", "\u00a0\u07ff\u0800\ud7ff\ue000\uffff",
        "\U00010000\U0010FFFF"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, ControlCharactersAreQuestionMarks) {
  EXPECT_EQ(printable("a\x1b[2Jb\n\t\x7f"), "a?[2Jb???");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a?b");
  EXPECT_EQ(printable("\xc2\x80\xc2\x9b\xc2\x9f"), "??????");  // C1, with the one-byte CSI
}

TEST(Printable, WhatIsNoUtf8IsAQuestionMarkForEachByte) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"\xff", "?"},
      {"\x80z", "?z"},
      {"\xc3", "?"},                  // cut short
      {"\xe2\x82z", "??z"},           // cut short by text
      {"\xc0\xaf", "??"},             // '/' in two bytes
      {"\xe0\x9f\xbf", "???"},        // U+07FF in three
      {"\xf0\x8f\xbf\xbf", "????"},   // U+FFFF in four
      {"\xed\xa0\x80", "???"},        // a surrogate
      {"\xf4\x90\x80\x80", "????"},   // above U+10FFFF
      {"\xf5\x80\x80\x80z", "????z"}  // no first byte
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(printable(text), expected);
}

}  // namespace
}  // namespace perflab
