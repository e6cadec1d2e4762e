// The documents of earlier calls, for whoever wants to read more of one than its answer had. They
// are kept in memory until the server ends or newer ones need the room, and never change: a URI
// names the bytes that it was made for.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text/json.h"
#include "mcp/selection.h"

namespace perflab::mcp {

/// Bytes of documents that are kept at most (the newest run's in any case), and calls that are
/// remembered without theirs.
inline constexpr std::size_t kMostKeptBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMostRememberedCalls = 1000;

/// A document's name and its canonical text.
struct KeptDocument {
  std::string name, text;
};

/// What one call left.
struct KeptRun {
  std::string uri;  ///< sample://document/0123456789abcdef; a document's has its name behind it
  Json call;        ///< {tool, arguments}
  std::vector<KeptDocument> documents;  ///< the answer first; empty: they had to go
};

/// A URI that was asked for.
struct KeptPlace {
  std::string run;      ///< uri of the run
  Selection selection;  ///< with the document that the URI names, and the part that its query names
};

/// Documents by URI. For any thread.
class KeptRuns {
 public:
  /// `scheme`: of the URIs ("rocm-perf").
  explicit KeptRuns(std::string scheme, std::size_t most_bytes = kMostKeptBytes)
      : prefix_(std::move(scheme) + "://document/"), most_bytes_(most_bytes) {}

  /// Keeps the documents of a call; those that were used longest ago go when there is no room. The
  /// same documents have the same URI. Precondition: there are some.
  std::shared_ptr<const KeptRun> keep(Json call, std::vector<KeptDocument> documents);
  /// The run of that URI; nothing: it was never here, or is long forgotten.
  std::shared_ptr<const KeptRun> find(std::string_view run_uri);
  /// Those with documents, the newest first.
  [[nodiscard]] std::vector<std::shared_ptr<const KeptRun>> list() const;

  /// What a URI asks for; nothing: it is not of this form,
  ///   SCHEME://document/RUN[/DOCUMENT[.json]][?section=...&kernel=...&top=...&offset=...].
  /// Error (usage): its query.
  [[nodiscard]] Result<std::optional<KeptPlace>> place_of(std::string_view uri) const;
  /// That form as a template of RFC 6570.
  [[nodiscard]] std::string uri_template() const;

 private:
  void drop_oldest();

  const std::string prefix_;
  const std::size_t most_bytes_;
  mutable std::mutex mutex_;                        ///< guards what follows
  std::list<std::shared_ptr<const KeptRun>> runs_;  ///< the last used first
  std::size_t bytes_ = 0;
};

/// The document of that name, the first one for none. Error (usage): there is none, the remedy
/// names those there are; the run's documents had to go, and which call makes them again.
Result<const KeptDocument*> document_in(const KeptRun& run, std::string_view name);

}  // namespace perflab::mcp
