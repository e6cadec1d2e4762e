// The record of every exchange of a proposer, JSON lines: a header, then one line per exchange with
// what was asked and what came back, at last a line with the reason why it ended. A file that is
// there is played back: no server and no program is asked, and every request must be the recorded
// one, byte for byte. Written line by line and flushed, so a kill loses at most the line under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/system/line_log.h"
#include "base/text/json.h"

namespace perflab::llm {

class Transcript {
 public:
  /// What a transcript says to a request.
  struct Found {
    enum class Kind : std::uint8_t {
      answer,  ///< `answer`
      ended,   ///< there are no more proposals: `reason`
      ask,     ///< it is new: ask, then record()
    };
    Kind kind = Kind::ask;
    Json answer;
    std::string reason;
    /// Answers of exchanges that were passed over on the way (resuming); they count as used up.
    std::vector<Json> passed;
  };

  /// A file with exchanges is played back, otherwise it is recorded. With `resume` what is there is
  /// played back and then recording goes on, unless the recording is finished. `proposer` is the
  /// name in its header; a name that ends in a blank ("llm ", no model given) matches any with that
  /// beginning. Nothing is written yet. Errors: usage (recorded with another proposer), bad_input
  /// (no transcript, or a damaged line that is not the last).
  static Result<Transcript> open(const std::filesystem::path& file, const std::string& proposer,
                                 bool resume);
  /// Makes and locks the file that is recorded into; nothing to do when it is played back. Error
  /// (usage): it cannot be written, or is in use.
  Result<void> begin();

  /// Nothing will be asked: everything comes from the file.
  [[nodiscard]] bool plays_back() const { return plays_back_; }
  /// The proposer's name in the header; what open() was given when there is none yet.
  [[nodiscard]] const std::string& proposer() const { return proposer_; }
  /// Exchanges in the file.
  [[nodiscard]] std::size_t size() const { return exchanges_.size(); }

  /// The answer to a request. Error (usage): it is not what was recorded, with the number of the
  /// exchange and the first difference.
  Result<Found> find(const Json& request);
  /// Errors as LineLog::append().
  Result<void> record(const Json& request, const Json& answer);
  /// Why there is no more; written once.
  Result<void> record_end(std::string_view reason);

 private:
  struct Exchange {
    std::string request;  ///< one line
    Json answer;
  };
  Transcript() = default;
  Result<void> read(std::string_view lines);
  Result<void> read_line(const Json& line, std::size_t number);
  Result<void> append(const Json& line);

  std::filesystem::path file_;
  std::string proposer_;
  std::vector<Exchange> exchanges_;
  std::optional<std::string> end_;
  std::optional<LineLog> log_;                  ///< recording
  std::uintmax_t bytes_ = 0, whole_bytes_ = 0;  ///< of the file as it was read
  std::size_t next_ = 0;                        ///< the exchange that is played back next
  bool plays_back_ = false;
  bool header_ = false;  ///< the file has its header
  bool resumes_ = false;
};

}  // namespace perflab::llm
