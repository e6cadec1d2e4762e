// A window that moves over a JSON text of any length: values that are whole are handed out in
// contiguous memory with what simdjson wants behind it, everything else is passed by. Brackets,
// commas, colons and keys are checked on the way, as simdjson's on-demand lookups take them for
// granted; values are checked where they are read. Internal to src/pc_sampling and its tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/error.h"

namespace perflab::pc_sampling {

/// A text that is read from its begin to its end, once.
class JsonWindow {
 public:
  /// `name` is for messages. `room`: bytes in memory at first; a value that is larger makes it
  /// grow up to kMostValue.
  JsonWindow(ReadBytes read, std::string name, std::size_t room = std::size_t{1} << 20);

  /// No value that is read at once is larger: it would be damage.
  static constexpr std::size_t kMostValue = std::size_t{64} << 20;

  // All of these are errors (bad_input) where the text is no JSON or ends early.

  /// The first byte of the next value, which is not taken.
  Result<char> peek();
  /// The next value, which is taken; valid until the next call of any of these.
  Result<std::string_view> value();
  /// Passes the next value, however large.
  Result<void> skip();
  /// Visits each field of the next value, which is an object. `visit` has to take the field's
  /// value; the key, as it is written, is valid until then.
  Result<void> each_field(const std::function<Result<void>(std::string_view key)>& visit);
  /// Visits each element of the next value, which is an array. `visit` has to take the element.
  Result<void> each_element(const std::function<Result<void>()>& visit);
  /// Visits the elements of the next value, which is an array, in arrays of as many as are there:
  /// "[…]", valid during the visit only.
  Result<void> batches(const std::function<Result<void>(std::string_view elements)>& visit);
  /// The end of the text: only space may follow.
  Result<void> finish();

  /// Bytes that were passed so far.
  [[nodiscard]] std::uint64_t offset() const { return before_ + at_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// The error of a text that is no JSON, or ends early.
  [[nodiscard]] std::unexpected<Error> damaged() const;

 private:
  /// Reads more behind what is there, dropping what was passed. False: there is no more.
  Result<bool> fill();
  Result<void> skip_at(std::size_t depth);
  /// Elements of an array that are there as a whole: places in the buffer.
  struct Whole {
    std::size_t end = 0;   ///< behind the last of them; 0: there is none
    std::size_t next = 0;  ///< behind the comma or bracket that follows
    bool last = false;     ///< the array ends there
  };
  Result<Whole> whole_elements();
  /// Passes space; the byte there. Error: the text ends.
  Result<char> next_byte();
  Result<void> take(char expected);
  [[nodiscard]] char* data() { return buffer_.data() + kFront; }

  static constexpr std::size_t kFront = 64;  ///< room for a bracket before what is handed out

  ReadBytes read_;
  std::string name_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0;  ///< what is there and not passed
  std::uint64_t before_ = 0;      ///< bytes before the buffer's first
  bool at_end_ = false;           ///< nothing more can be read
};

}  // namespace perflab::pc_sampling
