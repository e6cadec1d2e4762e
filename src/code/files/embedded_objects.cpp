// See embedded_objects.h: what is a code object is told by its ELF header.
#include "code/files/embedded_objects.h"

#include <fmt/format.h>

#include <utility>

#include "base/enum_names.h"
#include "code/elf/hostile_text.h"
#include "code/object/code_object.h"

namespace perflab::code {

std::string_view to_string(ContainerKind kind) {
  using enum ContainerKind;
  static constexpr auto kNames = enum_names<ContainerKind>(
      {{code_object, "code_object"}, {bundle, "bundle"}, {host_elf, "host_elf"}});
  return kNames[kind];
}

void add_object(Container& container, EmbeddedObject object) {
  if (object.bytes.empty()) return;
  if (is_code_object(object.bytes)) {
    // An entry that does not name a processor: the code object does.
    if (object.target.processor.empty())
      object.target = code_object_target(object.bytes).value_or(TargetId{});
    container.objects.push_back(std::move(object));
    return;
  }
  if (object.entry.starts_with("host")) return;
  const bool bitcode = object.bytes.starts_with("BC\xC0\xDE");
  add_note(container, fmt::format("{} holds {}", in_quotes(object.entry),
                                  bitcode ? "LLVM bitcode, not machine code (-fgpu-rdc): link it"
                                          : "something else than a code object"));
}

void add_note(Container& container, std::string note) {
  // More would not tell more.
  constexpr std::size_t kMostNotes = 50;
  if (container.notes.size() < kMostNotes) container.notes.push_back(std::move(note));
}

}  // namespace perflab::code
