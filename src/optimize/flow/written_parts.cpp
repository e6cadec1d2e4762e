// Parts are compared by name; how many there are tells the type, where clang knows it.
#include "optimize/flow/written_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text/numbers.h"
#include "optimize/flow/source_access.h"

namespace perflab::optimize {
namespace {

constexpr std::int64_t kMostElements = 64;  // of an array that is written element by element
constexpr int kMostTypeNesting = 24;

bool is_index(std::string_view part) {
  return part.starts_with('[');
}

/// `written` is the whole of `path`, or of more. Members count as elements where a record is used
/// as an array.
bool covers(const PartPath& written, const PartPath& path) {
  if (written.size() > path.size()) return false;
  for (std::size_t i = 0; i < written.size(); ++i)
    if (written[i] != path[i] && written[i] != kAnyElement) return false;
  return true;
}

class Coverage {
 public:
  Coverage(const ParsedSource& source, const WrittenParts& written, bool any_tile)
      : source_(source), api_(source.api()), written_(written), any_tile_(any_tile) {}

  bool has(PartPath& before, std::size_t depth, const PartPath& rest, CXType type, int nesting) {
    if (std::ranges::any_of(written_, [&](const PartPath& w) { return covers(w, before); }))
      return true;
    if (nesting == kMostTypeNesting || !goes_deeper(before)) return false;
    type = api_.getCanonicalType(type);
    const auto step = [&](const std::string& part, CXType inner, std::size_t next) {
      before.push_back(part);
      const bool found = has(before, next, rest, inner, nesting + 1);
      before.pop_back();
      return found;
    };
    const bool whole = depth == rest.size();
    if (!whole && rest[depth] != kAnyElement)
      return step(rest[depth], part_type(type, rest[depth]), depth + 1);
    const std::size_t next = whole ? depth : depth + 1;
    const CXType element = api_.getElementType(type);
    if (element.kind != CXType_Invalid || !whole) {
      if (step(std::string(kAnyElement), element, next)) return true;
      // Which of several tiles is meant only the running kernel knows.
      if (!whole && (any_tile_ || api_.getElementType(element).kind != CXType_Invalid))
        return std::ranges::any_of(indices_below(before), [&](const std::string& index) {
          return step(index, element, next);
        });
      const std::int64_t count = elements_of(type);
      if (count < 1 || count > kMostElements) return false;
      for (std::int64_t i = 0; i < count; ++i)
        if (!step(fmt::format("[{}]", i), element, next)) return false;
      return true;
    }
    const std::vector<std::string> members = members_of(type);
    return !members.empty() && std::ranges::all_of(members, [&](const std::string& member) {
      return step(member, part_type(type, member), next);
    });
  }

 private:
  /// Something below was written, so that it is worth while to look.
  [[nodiscard]] bool goes_deeper(const PartPath& before) const {
    return std::ranges::any_of(written_, [&](const PartPath& w) {
      if (w.size() <= before.size()) return false;
      return covers(PartPath(w.begin(), w.begin() + static_cast<std::ptrdiff_t>(before.size())),
                    before);
    });
  }

  /// Constant indices that were written right below a part.
  [[nodiscard]] std::set<std::string> indices_below(const PartPath& before) const {
    std::set<std::string> found;
    for (const PartPath& w : written_)
      if (w.size() > before.size() && is_index(w[before.size()]) &&
          covers(PartPath(w.begin(), w.begin() + static_cast<std::ptrdiff_t>(before.size())),
                 before))
        found.insert(w[before.size()]);
    return found;
  }

  [[nodiscard]] std::int64_t elements_of(CXType type) const {
    if (type.kind == CXType_ConstantArray) return api_.getArraySize(type);
    return type.kind == CXType_ExtVector || type.kind == CXType_Vector ? api_.getNumElements(type)
                                                                       : -1;
  }

  [[nodiscard]] std::vector<CXCursor> fields_of(CXType type) const {
    std::vector<CXCursor> fields;
    api_.Type_visitFields(
        type,
        [](CXCursor field, CXClientData list) {
          static_cast<std::vector<CXCursor>*>(list)->push_back(field);
          return CXVisit_Continue;
        },
        &fields);
    return fields;
  }

  [[nodiscard]] CXType part_type(CXType type, std::string_view part) const {
    if (is_index(part)) return api_.getElementType(type);
    for (const CXCursor field : fields_of(type))
      if (part.substr(1) == source_.spelling(field)) return api_.getCursorType(field);
    return CXType{.kind = CXType_Invalid, .data = {}};
  }

  /// HIP's vectors keep their members in a union of a base class: their names are known.
  [[nodiscard]] std::vector<std::string> members_of(CXType type) const {
    constexpr std::string_view kNames = "xyzw";
    std::vector<std::string> members;
    const std::string name = source_.type_text(api_.getUnqualifiedType(type));
    constexpr std::string_view kVector = "HIP_vector_type<";
    if (const std::size_t comma = name.rfind(',');
        name.starts_with(kVector) && comma != std::string::npos) {
      std::string_view digits = std::string_view(name).substr(std::min(comma + 2, name.size()));
      const std::size_t count = take_number<std::size_t>(digits).value_or(0);
      for (std::size_t i = 0; i < std::min(kNames.size(), count); ++i)
        members.push_back(fmt::format(".{}", kNames[i]));
      return members;
    }
    for (const CXCursor field : fields_of(type)) {
      if (source_.spelling(field).empty()) return {};
      members.push_back("." + source_.spelling(field));
    }
    return members;
  }

  const ParsedSource& source_;
  const ClangApi& api_;
  const WrittenParts& written_;
  bool any_tile_;
};

/// Whether a member is declared with a value.
bool has_value(const ParsedSource& source, CXCursor field) {
  const ClangApi& api = source.api();
  return std::ranges::any_of(
             source.children(field),
             [&](CXCursor part) { return api.isExpression(api.getCursorKind(part)) != 0; }) &&
         api.getCanonicalType(api.getCursorType(field)).kind != CXType_ConstantArray;
}

}  // namespace

bool is_written(const ParsedSource& source, const WrittenParts& written, const PartPath& path,
                CXType type, bool any_tile) {
  PartPath before;
  return Coverage(source, written, any_tile).has(before, 0, path, type, 0);
}

WrittenParts written_in_both(const WrittenParts& a, const WrittenParts& b) {
  WrittenParts both;
  const auto add = [&](const WrittenParts& from, const WrittenParts& other) {
    for (const PartPath& path : from)
      if (std::ranges::any_of(other, [&](const PartPath& w) { return covers(w, path); }))
        both.insert(path);
  };
  add(a, b);
  add(b, a);
  return both;
}

bool has_any_element(const PartPath& path) {
  return std::ranges::find(path, kAnyElement) != path.end();
}

PartPath up_to_any_element(PartPath path) {
  const auto first = std::ranges::find_if(path, is_index);
  if (first == path.end()) return path;
  *first = kAnyElement;
  path.erase(std::next(first), path.end());
  return path;
}

bool begins_unwritten(const ParsedSource& source, CXType type) {
  const ClangApi& api = source.api();
  type = api.getCanonicalType(type);
  for (int i = 0; i < kMostTypeNesting && api.getArrayElementType(type).kind != CXType_Invalid &&
                  type.kind != CXType_ExtVector && type.kind != CXType_Vector;
       ++i)
    type = api.getCanonicalType(api.getArrayElementType(type));
  if (type.kind != CXType_Record) return true;
  const CXCursor record = api.getTypeDeclaration(type);
  bool empty = true;
  bool has_base = false;
  bool all_given = true;
  for (const CXCursor child : source.children(record)) {
    const CXCursorKind kind = api.getCursorKind(child);
    has_base |= kind == CXCursor_CXXBaseSpecifier;
    if (kind != CXCursor_FieldDecl) continue;
    empty = false;
    all_given &= has_value(source, child);
  }
  if (!empty) return !all_given;
  // A template's instance shows no members: only that it has none is known.
  return has_base || api.Cursor_isNull(api.getSpecializedCursorTemplate(record)) == 0;
}

namespace {

/// The constructor without parameters that somebody wrote; missing: nobody did.
std::optional<CXCursor> default_constructor(const ParsedSource& source, CXCursor record) {
  const ClangApi& api = source.api();
  for (const CXCursor child : source.children(record))
    if (api.getCursorKind(child) == CXCursor_Constructor && api.CXXMethod_isDefaulted(child) == 0 &&
        api.getNumArgTypes(api.getCursorType(child)) == 0)
      return child;
  return std::nullopt;
}

/// What a constructor's list and body write: names of members, and the bases and constructors that
/// its list calls.
struct ConstructorWrites {
  std::set<std::string> members;
  std::vector<std::pair<CXCursor, CXCursor>> called;  ///< type, constructor (null: none)
};

ConstructorWrites writes_of(const ParsedSource& source, CXCursor definition) {
  const ClangApi& api = source.api();
  ConstructorWrites writes;
  const SyntaxTree tree = source.tree_of(definition);
  for (std::uint32_t i = 1; i < tree.nodes.size(); ++i) {
    const SyntaxNode& n = tree.nodes[i];
    const bool listed = n.kind == CXCursor_MemberRef && n.parent == 0;
    const bool assigned =
        n.kind == CXCursor_MemberRefExpr && access_of(source, tree, i, UseStart::object).written;
    if (listed || assigned) writes.members.insert(source.spelling(n.referenced));
    if (n.parent != 0) continue;
    if (n.kind == CXCursor_TypeRef)
      writes.called.emplace_back(api.getCanonicalCursor(n.referenced), api.getNullCursor());
    if (n.kind == CXCursor_CallExpr && !writes.called.empty())
      writes.called.back().second = n.referenced;
  }
  return writes;
}

bool writes_all(const ParsedSource& source, CXCursor constructor, int nesting);

/// A base class that the constructor's list calls or leaves to itself.
bool base_is_written(const ParsedSource& source, CXCursor base, const ConstructorWrites& writes,
                     int nesting) {
  const ClangApi& api = source.api();
  const CXType type = api.getCanonicalType(api.getCursorType(base));
  const CXCursor record = api.getCanonicalCursor(api.getTypeDeclaration(type));
  for (const auto& [called, constructor] : writes.called)
    if (api.equalCursors(called, record) != 0)  // Base() sets all to zero when nobody wrote it
      return api.Cursor_isNull(constructor) != 0 || api.CXXMethod_isDefaulted(constructor) != 0 ||
             writes_all(source, constructor, nesting);
  // Or the body assigns its members.
  bool assigned = false;
  for (const CXCursor child : source.children(api.getTypeDeclaration(type)))
    if (api.getCursorKind(child) == CXCursor_FieldDecl) {
      assigned = writes.members.contains(source.spelling(child));
      if (!assigned) break;
    }
  if (assigned) return true;
  if (const auto own = default_constructor(source, api.getTypeDeclaration(type)))
    return writes_all(source, *own, nesting);
  return !begins_unwritten(source, type);
}

bool writes_all(const ParsedSource& source, CXCursor constructor, int nesting) {
  const ClangApi& api = source.api();
  const auto definition = source.definition_of(constructor);
  if (!definition || nesting == kMostTypeNesting) return true;
  const ConstructorWrites writes = writes_of(source, *definition);
  const CXCursor record = api.getCursorSemanticParent(*definition);
  for (const auto& [called, other] : writes.called)  // S() : S(1) {}
    if (api.equalCursors(called, api.getCanonicalCursor(record)) != 0)
      return api.Cursor_isNull(other) != 0 || writes_all(source, other, nesting + 1);
  return std::ranges::all_of(source.children(record), [&](CXCursor child) {
    const CXCursorKind kind = api.getCursorKind(child);
    if (kind == CXCursor_CXXBaseSpecifier)
      return base_is_written(source, child, writes, nesting + 1);
    return kind != CXCursor_FieldDecl || writes.members.contains(source.spelling(child)) ||
           has_value(source, child);
  });
}

}  // namespace

bool constructor_writes_all(const ParsedSource& source, CXCursor constructor) {
  return writes_all(source, constructor, 0);
}

}  // namespace perflab::optimize
