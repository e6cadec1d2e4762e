// See embedded_objects.h: what is a code object is told by its ELF header.
#include "code/files/embedded_objects.h"

#include <fmt/format.h>

#include <utility>

#include "code/elf/text.h"
#include "code/object/code_object.h"

namespace perflab::code {

std::string_view to_string(ContainerKind kind) {
  switch (kind) {
    case ContainerKind::code_object:
      return "code_object";
    case ContainerKind::bundle:
      return "bundle";
    case ContainerKind::host_elf:
      return "host_elf";
  }
  return "";
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
