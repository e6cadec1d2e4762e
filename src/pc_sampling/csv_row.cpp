// First as RFC 4180 has it; what does not fit that has quotes inside a text, which are then between
// the plain fields in front and those behind. An instruction has no quotes, so the first `","`
// parts it from the comment.
#include "pc_sampling/csv_row.h"

#include <algorithm>

namespace perflab::pc_sampling {
namespace {

/// Takes one field off the front of a line and the comma behind it; false: quotes do not fit.
/// `doubled`: it has doubled quotes inside.
bool take_field(std::string_view& line, std::string_view& field, bool& doubled, bool& last) {
  doubled = false;
  std::size_t end = 0;
  if (line.starts_with('"')) {
    for (end = 1;; end += 2) {
      end = line.find('"', end);
      if (end == line.npos) return false;
      if (end + 1 >= line.size() || line[end + 1] != '"') break;
      doubled = true;
    }
    field = line.substr(1, end - 1);
    ++end;
  } else {
    end = std::min(line.find(','), line.size());
    field = line.substr(0, end);
    if (field.find('"') != field.npos) return false;
  }
  last = end == line.size();
  if (!last && line[end] != ',') return false;
  line.remove_prefix(last ? end : end + 1);
  return true;
}

std::string without_doubled(std::string_view field) {
  std::string text;
  for (std::size_t i = 0; i < field.size(); ++i) {
    text += field[i];
    if (field[i] == '"') ++i;
  }
  return text;
}

}  // namespace

bool CsvRow::split(std::string_view line) {
  return split_quoted(line) || (texts_ != npos && split_raw(line));
}

bool CsvRow::split_quoted(std::string_view line) {
  fields_.clear();
  unescaped_.clear();
  unescaped_.reserve(columns_);  // views of them must stay
  bool last = false;
  while (!last) {
    std::string_view field;
    bool doubled = false;
    if (fields_.size() == columns_ || !take_field(line, field, doubled, last)) return false;
    fields_.push_back(doubled ? unescaped_.emplace_back(without_doubled(field)) : field);
  }
  return fields_.size() == columns_;
}

bool CsvRow::split_raw(std::string_view line) {
  fields_.assign(columns_, {});
  bool doubled = false, last = false;
  for (std::size_t i = 0; i < texts_; ++i)
    if (!take_field(line, fields_[i], doubled, last) || doubled || last) return false;
  for (std::size_t i = columns_; --i > texts_ + 1;) {
    const std::size_t comma = line.rfind(',');
    if (comma == line.npos) return false;
    std::string_view field = line.substr(comma + 1);
    if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
      field = field.substr(1, field.size() - 2);
    if (field.find('"') != field.npos) return false;
    fields_[i] = field;
    line = line.substr(0, comma);
  }
  if (line.size() < 2 || line.front() != '"' || line.back() != '"') return false;
  line = line.substr(1, line.size() - 2);
  const std::size_t between = line.find("\",\"");
  if (between == line.npos) return false;
  fields_[texts_] = line.substr(0, between);
  fields_[texts_ + 1] = line.substr(between + 3);
  return true;
}

std::vector<std::string> csv_header(std::string_view line) {
  std::vector<std::string> names;
  std::string_view field;
  for (bool doubled = false, last = false; !last;) {
    if (!take_field(line, field, doubled, last)) return {};
    names.emplace_back(field);
  }
  return names;
}

}  // namespace perflab::pc_sampling
