// What the self test does, as data: cases of steps. A step is one command; what its document has to
// say stands as checks of fields. The cases themselves are in cases.cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/json.h"
#include "doctor/examination.h"

namespace perflab::doctor {

/// What a field has to be. A field that is not there satisfies only `lacks`.
enum class Relation : std::uint8_t {
  equal,
  differs,   ///< from the value
  at_least,  ///< a number
  contains,  ///< an array, and some element of it has all members of the value
  lacks,     ///< contains, denied
};
/// "equal", "differs", ...
std::string_view to_string(Relation relation);

struct FieldCheck {
  std::string field;  ///< JSON pointer
  Relation relation = Relation::equal;
  Json value;
};

/// Whether the document satisfies it.
bool holds(const FieldCheck& check, const Json& document);
/// The field's value as short text; "nothing" when it is not there.
std::string found_text(const FieldCheck& check, const Json& document);

/// One command. Words may name places: <rocm-perf>, <dir> (the case's own folder), <bin:launches>
/// (a program that was built) and so on; other words in angle brackets stay.
struct TestStep {
  std::string name;                ///< unique in its case: "isolate"
  std::vector<std::string> words;  ///< program first
  std::vector<int> exits{0};       ///< exit codes that are right
  std::string document{};          ///< what stdout is by `rocm-perf schema`; empty: not looked at
  std::vector<FieldCheck> checks{};
  /// When one of these holds, the machine's times do not decide: the case is skipped.
  std::vector<FieldCheck> undecided{};
  /// Runs without rocm-perf. When it fails, nothing is said about rocm-perf: the case is skipped.
  bool alone = false;
  std::string output{};  ///< stdout also goes into this file; may name places
};

/// Address modes of the HSA runtime (docs/REPLAY.md).
enum class AddressMode : std::uint8_t { usual, reserved };
/// "usual", "reserved".
std::string_view to_string(AddressMode mode);

struct TestCase {
  std::string id;     ///< "in_place"
  std::string group;  ///< "capture", "candidates", ...
  std::string shows;  ///< a few words
  std::vector<TestStep> steps;
  bool both_modes = false;    ///< else in the usual one only
  std::vector<Need> needs{};  ///< beside a compiler and a GPU
  std::chrono::seconds limit{60};
};

/// All of them, most telling first.
std::vector<TestCase> test_cases();

/// A program, library or code object that cases use as <bin:ID>.
struct TestProgram {
  std::string id;
  std::vector<std::string> sources;    ///< of program_files()
  std::vector<std::string> arguments;  ///< of the compiler
};
std::vector<TestProgram> test_programs();

/// Every file of the programs, name and text.
std::vector<std::pair<std::string, std::string>> program_files();

}  // namespace perflab::doctor
