// Code: readers, what is loaded from them, and the end of both. Kernels are listed when their
// executable is frozen; queries of the program need no hook therefore. The entries of the loader
// extension are replaced in the copies of its table that the program asks for: CLR reads modules
// from files through them.
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "hsa/loader_table.h"
#include "isolate/tool/hooks.h"
#include "isolate/tool/tool_state.h"

namespace perflab::isolate {
namespace {

using hsa::Status;

Status on_reader_from_file(int file, hsa::CodeObjectReader* reader) noexcept {
  Tool& running = tool();
  const Status status = running.api.core.code_object_reader_create_from_file(file, reader);
  if (status == Status::success) running.code.reader_from_file(*reader, file, 0, UINT64_MAX);
  return status;
}

Status on_reader_from_part(int file, std::size_t offset, std::size_t size,
                           hsa::CodeObjectReader* reader) noexcept {
  Tool& running = tool();
  const Status status = running.loader.code_object_reader_create_from_file_with_offset_size(
      file, offset, size, reader);
  if (status == Status::success) running.code.reader_from_file(*reader, file, offset, size);
  return status;
}

Status on_reader_from_memory(const void* bytes, std::size_t size,
                             hsa::CodeObjectReader* reader) noexcept {
  Tool& running = tool();
  const Status status = running.api.core.code_object_reader_create_from_memory(bytes, size, reader);
  if (status == Status::success) running.code.reader_from_memory(*reader, bytes, size);
  return status;
}

// Forgotten before the call, because the handle may come back at once in another thread.
Status on_reader_destroy(hsa::CodeObjectReader reader) noexcept {
  Tool& running = tool();
  CodePointer code = running.code.forget_reader(reader);
  const Status status = running.api.core.code_object_reader_destroy(reader);
  if (status != Status::success) running.code.restore_reader(reader, std::move(code));
  return status;
}

Status on_load_agent_code_object(hsa::Executable executable, hsa::Agent agent,
                                 hsa::CodeObjectReader reader, const char* options,
                                 hsa::LoadedCodeObject* loaded) noexcept {
  Tool& running = tool();
  hsa::LoadedCodeObject made{};
  hsa::LoadedCodeObject* const out = loaded != nullptr ? loaded : &made;
  const Status status =
      running.api.core.executable_load_agent_code_object(executable, agent, reader, options, out);
  if (status == Status::success) running.code.loaded(executable, agent, reader, *out);
  return status;
}

Status on_load_at_address(hsa::Executable executable, hsa::Agent agent,
                          hsa::CodeObjectReader reader, const char* options, void* address,
                          std::size_t size, hsa::LoadedCodeObject* loaded) noexcept {
  Tool& running = tool();
  hsa::LoadedCodeObject made{};
  hsa::LoadedCodeObject* const out = loaded != nullptr ? loaded : &made;
  const Status status = running.loader.executable_load_agent_code_object_at_address(
      executable, agent, reader, options, address, size, out);
  if (status == Status::success) running.code.loaded(executable, agent, reader, *out);
  return status;
}

Status on_deserialize(void* bytes, std::size_t size, const char* options,
                      hsa::LegacyCodeObject* object) noexcept {
  Tool& running = tool();
  const Status status = running.api.core.code_object_deserialize(bytes, size, options, object);
  if (status == Status::success) running.code.deserialized(*object, bytes, size);
  return status;
}

// Forgotten before the call: the handle may come back at once in another thread. One that stays
// after all is found by where the runtime says that it is.
Status on_code_object_destroy(hsa::LegacyCodeObject object) noexcept {
  Tool& running = tool();
  running.code.forget_deserialized(object);
  return running.api.core.code_object_destroy(object);
}

Status on_load_code_object(hsa::Executable executable, hsa::Agent agent,
                           hsa::LegacyCodeObject object, const char* options) noexcept {
  Tool& running = tool();
  const Status status =
      running.api.core.executable_load_code_object(executable, agent, object, options);
  if (status == Status::success) running.code.loaded(executable, agent, object);
  return status;
}

/// Replaces an entry of a table of `bytes` bytes, when it is there and the runtime's own. The
/// program may have a shorter table, and the runtime leaves alone what it does not know.
template <class Function>
void replace_entry(void* table, std::size_t bytes, std::size_t offset, Function* runtimes,
                   std::type_identity_t<Function>* ours) {
  Function* there = nullptr;
  if (runtimes == nullptr || offset + sizeof(there) > bytes) return;
  void* const place = static_cast<std::byte*>(table) + offset;
  std::memcpy(&there, place, sizeof(there));
  if (there == runtimes) std::memcpy(place, &ours, sizeof(ours));
}

void hook_loader(void* table, std::size_t bytes) {
  const hsa::LoaderTable& own = tool().loader;
#define PERFLAB_LOADER_HOOK(name, replacement) \
  replace_entry(table, bytes, offsetof(hsa::LoaderTable, name), own.name, replacement)
  PERFLAB_LOADER_HOOK(code_object_reader_create_from_file_with_offset_size, on_reader_from_part);
  PERFLAB_LOADER_HOOK(executable_load_agent_code_object_at_address, on_load_at_address);
#undef PERFLAB_LOADER_HOOK
}

bool is_loader(std::uint16_t extension, std::uint16_t major) {
  return extension == hsa::loader::extension && major == hsa::loader::major;
}

Status on_extension_table(std::uint16_t extension, std::uint16_t major, std::uint16_t minor,
                          void* table) noexcept {
  const Status status = tool().api.core.system_get_extension_table(extension, major, minor, table);
  if (status == Status::success && is_loader(extension, major))
    hook_loader(table, hsa::loader_table_bytes(minor));
  return status;
}

Status on_major_extension_table(std::uint16_t extension, std::uint16_t major, std::size_t bytes,
                                void* table) noexcept {
  const Status status =
      tool().api.core.system_get_major_extension_table(extension, major, bytes, table);
  if (status == Status::success && is_loader(extension, major)) hook_loader(table, bytes);
  return status;
}

Status on_executable_freeze(hsa::Executable executable, const char* options) noexcept {
  Tool& running = tool();
  const Status status = running.api.core.executable_freeze(executable, options);
  if (status == Status::success) running.code.frozen(executable);
  return status;
}

// Variables live in the executable: it must not go while they are read.
Status on_executable_destroy(hsa::Executable executable) noexcept {
  Tool& running = tool();
  const Gate::Taking taking(running.gate);
  auto loaded = running.code.forget_executable(executable);
  const Status status = running.api.core.executable_destroy(executable);
  if (status != Status::success) running.code.restore_executable(executable, std::move(loaded));
  return status;
}

}  // namespace

std::vector<Hook> code_hooks() {
  return {
      PERFLAB_CORE_HOOK(code_object_reader_create_from_file, on_reader_from_file),
      PERFLAB_CORE_HOOK(code_object_reader_create_from_memory, on_reader_from_memory),
      PERFLAB_CORE_HOOK(code_object_reader_destroy, on_reader_destroy),
      PERFLAB_CORE_HOOK(executable_load_agent_code_object, on_load_agent_code_object),
      PERFLAB_CORE_HOOK(executable_load_code_object, on_load_code_object),
      PERFLAB_CORE_HOOK(code_object_deserialize, on_deserialize),
      PERFLAB_CORE_HOOK(code_object_destroy, on_code_object_destroy),
      PERFLAB_CORE_HOOK(system_get_extension_table, on_extension_table),
      PERFLAB_CORE_HOOK(system_get_major_extension_table, on_major_extension_table),
      PERFLAB_CORE_HOOK(executable_freeze, on_executable_freeze),
      PERFLAB_CORE_HOOK(executable_destroy, on_executable_destroy),
  };
}

}  // namespace perflab::isolate
