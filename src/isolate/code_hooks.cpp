// Code: readers, what is loaded from them, and the end of both. Kernels are listed when their
// executable is frozen; queries of the program need no hook therefore.
#include "isolate/hooks.h"
#include "isolate/tool.h"

namespace perflab::isolate {
namespace {

using hsa::Status;

Status on_reader_from_file(int file, hsa::CodeObjectReader* reader) noexcept {
  Tool& running = tool();
  const Status status = running.api.core.code_object_reader_create_from_file(file, reader);
  if (status == Status::success) running.code.reader_from_file(*reader, file);
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
  const Status status = running.api.core.executable_load_agent_code_object(executable, agent,
                                                                           reader, options, loaded);
  if (status == Status::success) running.code.loaded(executable, agent, reader);
  return status;
}

Status on_load_code_object(hsa::Executable executable, hsa::Agent agent,
                           hsa::LegacyCodeObject object, const char* options) noexcept {
  Tool& running = tool();
  const Status status =
      running.api.core.executable_load_code_object(executable, agent, object, options);
  if (status == Status::success) running.code.loaded_unknown(executable, agent);
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
      PERFLAB_CORE_HOOK(executable_freeze, on_executable_freeze),
      PERFLAB_CORE_HOOK(executable_destroy, on_executable_destroy),
  };
}

}  // namespace perflab::isolate
