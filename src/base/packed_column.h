// A column of whole numbers that takes as few bytes as its values need: rows in blocks, each with
// the upper bits that its values share and the lower ones in 0 to 8 bytes a row (a frame of
// reference: Lemire and Boytsov, Decoding billions of integers per second, 2015, section 1). Any
// value comes out exactly.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
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
    std::uint64_t lower = 0;
    std::memcpy(&lower, block.data + (row % kRows) * block.width, sizeof lower);
    return decoded(static_cast<Raw>(block.base | (lower & block.mask)));
  }
  [[nodiscard]] T front() const { return (*this)[0]; }
  [[nodiscard]] T back() const { return (*this)[size_ - 1]; }
  /// The least and the largest value: reads only blocks that may hold it, few of ascending values.
  [[nodiscard]] T min() const
    requires std::is_signed_v<T>
  {
    T least = front();
    each_block(false, [&](T low, T, std::size_t from, std::size_t to) {
      for (std::size_t row = low < least ? from : to; row < to; ++row)
        least = std::min(least, (*this)[row]);
    });
    return least;
  }
  [[nodiscard]] T max() const
    requires std::is_signed_v<T>
  {
    T most = back();
    each_block(true, [&](T, T high, std::size_t from, std::size_t to) {
      for (std::size_t row = high > most ? from : to; row < to; ++row)
        most = std::max(most, (*this)[row]);
    });
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
      Raw* const to = open_.get() + place;
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
    const auto packed = is_last ? nullptr : std::make_unique_for_overwrite<Raw[]>(kRows);
    Raw* const to = is_last ? open_.get() : packed.get();
    for (std::size_t i = 0; i < values.size(); ++i) to[i] = encoded(values[i]);
    if (!is_last) blocks_[row / kRows] = pack(to);
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
  using Raw = std::make_unsigned_t<T>;  ///< a value as it is kept

  struct Block {
    const std::byte* data = nullptr;  ///< 8 bytes can be read from each of its rows on
    std::uint64_t base = 0;           ///< upper bits, which all rows share
    std::uint64_t mask = 0;           ///< of the lower ones
    std::uint64_t width = 0;          ///< bytes of a row
  };

  static Raw encoded(T value) {
    return static_cast<Raw>(static_cast<Raw>(value) + (std::is_signed_v<T> ? 0 : 1));
  }
  static T decoded(Raw raw) {
    return static_cast<T>(static_cast<Raw>(raw - (std::is_signed_v<T> ? 0 : 1)));
  }

  /// Calls visit(lowest, highest possible value, first row, past) for every block.
  template <class Visit>
  void each_block(bool from_back, const Visit& visit) const {
    for (std::size_t n = 0; n < blocks_.size(); ++n) {
      const std::size_t i = from_back ? blocks_.size() - 1 - n : n;
      const Block& block = blocks_[i];
      const bool any = block.width == sizeof(T);
      visit(any ? std::numeric_limits<T>::min() : static_cast<T>(block.base),
            any ? std::numeric_limits<T>::max() : static_cast<T>(block.base | block.mask),
            i * kRows, std::min(size_, (i + 1) * kRows));
    }
  }

  /// The last block is not packed: its rows stand in open_.
  [[gnu::noinline]] void begin_block() {
    // Reading a row reads 8 bytes.
    if (!open_) open_ = std::make_unique_for_overwrite<Raw[]>(kRows + sizeof(std::uint64_t));
    if (!blocks_.empty()) blocks_.back() = pack(open_.get());
    blocks_.push_back({.data = reinterpret_cast<const std::byte*>(open_.get()),
                       .base = 0,
                       .mask = std::numeric_limits<Raw>::max(),
                       .width = sizeof(Raw)});
  }

  Block pack(const Raw* values) {
    Raw differ = 0;
    for (std::size_t i = 0; i < kRows; ++i)
      differ = static_cast<Raw>(differ | (values[i] ^ values[0]));
    const std::size_t width = (static_cast<std::size_t>(std::bit_width(differ)) + 7) / 8;
    const std::uint64_t mask = width == 0 ? 0 : ~std::uint64_t{0} >> (64 - 8 * width);
    std::byte* const to = room_of(kRows * width);
    switch (width) {
      case 0:
        break;
      case 1:
        store<std::uint8_t>(values, to);
        break;
      case 2:
        store<std::uint16_t>(values, to);
        break;
      case 4:
        store<std::uint32_t>(values, to);
        break;
      default:
        // What is stored beyond the row are zeros, where the next one or nothing is.
        for (std::size_t i = 0; i < kRows; ++i) {
          const std::uint64_t lower = values[i] & mask;
          std::memcpy(to + i * width, &lower, sizeof lower);
        }
    }
    return {.data = to, .base = values[0] & ~mask, .mask = mask, .width = width};
  }

  /// The lower bits of a block's values, one behind the other.
  template <class Lower>
  static void store(const Raw* values, std::byte* to) {
    std::array<Lower, kRows> lower;
    for (std::size_t i = 0; i < kRows; ++i) lower[i] = static_cast<Lower>(values[i]);
    std::memcpy(to, lower.data(), sizeof lower);
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
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::unique_ptr<Raw[]> open_;  ///< rows of the last block
  std::size_t size_ = 0;
  std::size_t used_ = 0, room_ = 0;  ///< bytes of the last chunk
};

}  // namespace perflab
