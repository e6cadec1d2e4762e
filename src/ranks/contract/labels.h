// Times of events as (max, +) expressions over few earlier events: event = max over labels of
// (root + weight). Beside the weights, what the recorded longest path of each was spent on.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "ranks/values/rank_summary.h"

namespace perflab::ranks {

/// Index into Pieces. No kernel on the path.
using PieceId = std::uint32_t;
inline constexpr PieceId kNoPiece = 0xFFFF'FFFF;

/// Kernel time along paths that share their beginnings: a path is its last piece, and everything
/// before that.
class Pieces {
 public:
  /// The path `before`, then ns of a kernel.
  PieceId add(PieceId before, Name kernel, std::int64_t time);
  /// The path `first`, then the path `second`; either may be kNoPiece.
  PieceId join(PieceId first, PieceId second);

  struct Most {
    Name kernel = kNoName;
    std::int64_t time = 0;
  };
  /// The kernel of the most time on the path; of equals the first name.
  Most most(PieceId path);

 private:
  struct Piece {
    PieceId before, second;  ///< `second`: of a joint; else kNoPiece
    Name kernel;
    std::int64_t time;
  };
  std::vector<Piece> pieces_;
  std::vector<std::int64_t> time_of_;  ///< scratch, by name; zero between calls
  std::vector<Name> seen_;
  std::vector<PieceId> stack_;
};

using SpentVector = std::array<std::int64_t, analyze::kSpentKinds>;

/// What a label has beside its root and its weights, of the recorded longest path.
struct PathFacts {
  SpentVector spent{};
  PieceId piece = kNoPiece;
  std::uint32_t kernels = 0;  ///< pieces on the path
};

/// Index of a vertex that was kept, in topological order.
using KeptId = std::uint32_t;

/// Weights plus weights, by lane; kNoPath where either is.
inline std::int64_t plus(std::int64_t a, std::int64_t b) {
  return a == kNoPath || b == kNoPath ? kNoPath : a + b;
}

/// Labels of one event, each root once. Lane 0 is the recording, lane 1 + s scenario s.
class LabelSet {
 public:
  explicit LabelSet(std::size_t lanes = 1) : lanes_(lanes) {}

  [[nodiscard]] std::size_t size() const { return roots_.size(); }
  [[nodiscard]] KeptId root(std::size_t i) const { return roots_[i]; }
  [[nodiscard]] std::span<const std::int64_t> weights(std::size_t i) const {
    return {weights_.data() + i * lanes_, lanes_};
  }
  [[nodiscard]] const PathFacts& facts(std::size_t i) const { return facts_[i]; }
  [[nodiscard]] PathFacts& facts(std::size_t i) { return facts_[i]; }

  void clear();
  /// The event is `root` + weight in every lane.
  void set_alias(KeptId root, std::int64_t weight, analyze::Spent spent);
  /// Adds a label, or raises that of its root; `facts` of the larger recorded weight stay.
  void raise(KeptId root, std::span<const std::int64_t> weights, const PathFacts& facts);
  /// Raises by every label of `other`, each later by `lag` of its lane (kNoPath: not there).
  /// `lag[0]` was spent on `spent`.
  void raise_all(const LabelSet& other, std::span<const std::int64_t> lag, analyze::Spent spent);
  /// Every label later by `lag` of its lane.
  void delay(std::span<const std::int64_t> lag, analyze::Spent spent);
  /// Leaves the labels out that `dropped` says.
  void drop(const std::vector<bool>& dropped);
  /// Longest path in pieces.
  [[nodiscard]] std::uint32_t most_kernels() const;

 private:
  std::size_t lanes_;
  std::vector<KeptId> roots_;
  std::vector<std::int64_t> weights_;
  std::vector<PathFacts> facts_;
  std::vector<std::int64_t> sum_;  ///< scratch
};

}  // namespace perflab::ranks
