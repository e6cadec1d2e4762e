// A column of whole numbers that takes as few bytes as its values need: rows in blocks, each with
// its least value and the distances from it in 0 to 8 bytes (frame of reference: Lemire and
// Boytsov, Decoding billions of integers per second, 2015, section 1). Any value comes out exactly.
#pragma once

#include <algorithm>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace perflab {

/// Filled from the front by one thread, then read by any. Neighbours that are alike take little:
/// times that ascend 3 or 4 bytes, one value again and again none. Of unsigned numbers the largest
/// (trace::kNone) counts as less than 0. Elements are values: there is no reference to one.
template <class T>
class PackedColumn {
  static_assert(std::is_integral_v<T> && std::endian::native == std::endian::little);

 public:
  using value_type = T;
  static constexpr std::size_t kRows = 1024;  ///< of a block
  class Iterator;
  using iterator = Iterator;
  using const_iterator = Iterator;

  PackedColumn() = default;
  PackedColumn(std::initializer_list<T> values) { append(values); }
  /// So many rows of 0.
  explicit PackedColumn(std::size_t rows) {
    while (size_ < rows) push_back(T{});
  }
  PackedColumn(const PackedColumn& other) { append(other); }
  PackedColumn(PackedColumn&& other) noexcept { swap(other); }
  PackedColumn& operator=(PackedColumn other) noexcept {
    swap(other);
    return *this;
  }
  ~PackedColumn() = default;
  void swap(PackedColumn& other) noexcept {
    std::swap(blocks_, other.blocks_);
    std::swap(most_, other.most_);
    std::swap(chunks_, other.chunks_);
    std::swap(open_, other.open_);
    std::swap(size_, other.size_);
    std::swap(used_, other.used_);
    std::swap(room_, other.room_);
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  /// Precondition of this and the next ones: the row is there.
  [[nodiscard, gnu::always_inline]] T operator[](std::size_t row) const {
    const Block& block = blocks_[row / kRows];
    std::uint64_t distance = 0;
    std::memcpy(&distance, block.data + (row % kRows) * block.width, sizeof distance);
    return decoded(block.least + (distance & block.mask));
  }
  [[nodiscard]] T front() const { return (*this)[0]; }
  [[nodiscard]] T back() const { return (*this)[size_ - 1]; }
  /// The least and the largest value; reads one value of a block. Not of unsigned numbers, whose
  /// largest counts as less than 0.
  [[nodiscard]] T min() const
    requires std::is_signed_v<T>
  {
    T least = std::ranges::min(last_block());
    for (std::size_t i = 0; i + 1 < blocks_.size(); ++i)
      least = std::min(least, static_cast<T>(blocks_[i].least));
    return least;
  }
  [[nodiscard]] T max() const
    requires std::is_signed_v<T>
  {
    T most = std::ranges::max(last_block());
    for (const Key of_block : most_) most = std::max(most, static_cast<T>(of_block));
    return most;
  }
  [[nodiscard]] Iterator begin() const { return {this, 0}; }
  [[nodiscard]] Iterator end() const { return {this, size_}; }

  [[gnu::always_inline]] void push_back(T value) {
    const std::size_t place = size_ % kRows;
    if (place == 0) begin_block();
    open_[place] = encoded(value);
    ++size_;
  }
  /// Appends `value_of` of every row of a range.
  template <class Rows, class ValueOf = std::identity>
  void append(const Rows& rows, const ValueOf& value_of = {}) {
    auto row = std::ranges::begin(rows);
    for (auto left = static_cast<std::size_t>(std::ranges::size(rows)); left > 0;) {
      const std::size_t place = size_ % kRows;
      if (place == 0) begin_block();
      const std::size_t here = std::min(left, kRows - place);
      std::uint64_t* const to = open_.get() + place;
      for (std::size_t i = 0; i < here; ++i, ++row)
        to[i] = encoded(static_cast<T>(std::invoke(value_of, *row)));
      size_ += here;
      left -= here;
    }
  }
  /// Replaces the rows of a block: `row` is its first one, and there are values for all of it that
  /// there is.
  void replace(std::size_t row, std::span<const T> values) {
    const bool is_last = row / kRows + 1 == blocks_.size();
    const auto packed = is_last ? nullptr : std::make_unique_for_overwrite<std::uint64_t[]>(kRows);
    std::uint64_t* const to = is_last ? open_.get() : packed.get();
    for (std::size_t i = 0; i < values.size(); ++i) to[i] = encoded(values[i]);
    if (!is_last) blocks_[row / kRows] = pack(to, most_[row / kRows]);
  }
  /// Changes one value. Packs its whole block again, elsewhere: for a few.
  void set(std::size_t row, T value) {
    const std::size_t first = row / kRows * kRows;
    std::vector<T> values;
    for (std::size_t i = first; i < std::min(first + kRows, size_); ++i)
      values.push_back(i == row ? value : (*this)[i]);
    replace(first, values);
  }
  /// Replaces every value by what `change` makes of it and its row.
  template <class Change>
  void transform(const Change& change) {
    PackedColumn changed;
    changed.append(std::views::iota(std::size_t{0}, size_),
                   [&](std::size_t row) { return change((*this)[row], row); });
    swap(changed);
  }

  friend bool operator==(const PackedColumn& a, const PackedColumn& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend bool operator==(const PackedColumn& a, const std::vector<T>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = T;

    Iterator() = default;
    Iterator(const PackedColumn* column, std::size_t row) : column_(column), row_(row) {}
    T operator*() const { return (*column_)[row_]; }
    T operator[](difference_type n) const { return *(*this + n); }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this -= 1; }
    Iterator operator++(int) { return std::exchange(*this, *this + 1); }
    Iterator operator--(int) { return std::exchange(*this, *this - 1); }
    Iterator& operator+=(difference_type n) {
      row_ += static_cast<std::size_t>(n);
      return *this;
    }
    Iterator& operator-=(difference_type n) { return *this += -n; }
    friend Iterator operator+(Iterator at, difference_type n) { return at += n; }
    friend Iterator operator+(difference_type n, Iterator at) { return at += n; }
    friend Iterator operator-(Iterator at, difference_type n) { return at -= n; }
    friend difference_type operator-(const Iterator& a, const Iterator& b) {
      return static_cast<difference_type>(a.row_ - b.row_);
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.row_ == b.row_; }
    friend auto operator<=>(const Iterator& a, const Iterator& b) { return a.row_ <=> b.row_; }

   private:
    const PackedColumn* column_ = nullptr;
    std::size_t row_ = 0;
  };

 private:
  static constexpr std::size_t kFirstChunk = 16384, kLargestChunk = 262144;  ///< bytes
  /// The order in which values lie near each other.
  using Key = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;

  struct Block {
    const std::byte* data = nullptr;  ///< 8 bytes can be read from each of its rows on
    std::uint64_t least = 0, mask = 0;
    std::uint64_t width = 0;  ///< bytes of a row
  };

  static std::uint64_t encoded(T value) {
    if constexpr (std::is_signed_v<T>)
      return static_cast<std::uint64_t>(std::int64_t{value});
    else
      return static_cast<T>(value + T{1});
  }
  static T decoded(std::uint64_t key) {
    if constexpr (std::is_signed_v<T>)
      return static_cast<T>(key);
    else
      return static_cast<T>(static_cast<T>(key) - T{1});
  }

  /// The last block is not packed: its rows stand in open_.
  [[gnu::noinline]] void begin_block() {
    if (!open_) open_ = std::make_unique_for_overwrite<std::uint64_t[]>(kRows);
    if (!blocks_.empty()) blocks_.back() = pack(open_.get(), most_.emplace_back());
    blocks_.push_back({.data = reinterpret_cast<const std::byte*>(open_.get()),
                       .least = 0,
                       .mask = ~std::uint64_t{0},
                       .width = sizeof(std::uint64_t)});
  }

  [[nodiscard]] std::ranges::subrange<Iterator> last_block() const {
    return {begin() + static_cast<std::ptrdiff_t>((size_ - 1) / kRows * kRows), end()};
  }

  Block pack(const std::uint64_t* values, Key& largest) {
    auto least = static_cast<Key>(values[0]), most = least;
    for (std::size_t i = 1; i < kRows; ++i) {
      least = std::min(least, static_cast<Key>(values[i]));
      most = std::max(most, static_cast<Key>(values[i]));
    }
    largest = most;
    const std::uint64_t base = static_cast<std::uint64_t>(least);
    const std::uint64_t span = static_cast<std::uint64_t>(most) - base;
    const std::size_t width = (static_cast<std::size_t>(std::bit_width(span)) + 7) / 8;
    std::byte* const to = room_of(kRows * width);
    // Each store is of 8 bytes: those beyond the row are zeros, where the next one or nothing is.
    for (std::size_t i = 0; width > 0 && i < kRows; ++i) {
      const std::uint64_t distance = values[i] - base;
      std::memcpy(to + i * width, &distance, sizeof distance);
    }
    return {.data = to,
            .least = base,
            .mask = width == 0 ? 0 : ~std::uint64_t{0} >> (64 - 8 * width),
            .width = width};
  }

  /// Room for so many bytes and the rest of the last row's 8.
  std::byte* room_of(std::size_t bytes) {
    if (used_ + bytes + sizeof(std::uint64_t) > room_) {
      room_ = std::clamp(2 * room_, kFirstChunk, kLargestChunk);
      chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(room_));
      used_ = 0;
    }
    return chunks_.back().get() + std::exchange(used_, used_ + bytes);
  }

  std::vector<Block> blocks_;
  std::vector<Key> most_;  ///< the largest of each packed block
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::unique_ptr<std::uint64_t[]> open_;  ///< rows of the last block
  std::size_t size_ = 0;
  std::size_t used_ = 0, room_ = 0;  ///< bytes of the last chunk
};

}  // namespace perflab
