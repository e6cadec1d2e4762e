// Readers, executables and symbols (docs/facts/hsa_runtime.md "Code of HIP", "Variables and
// symbols", "Dispatch"). Symbols are listed in an order that differs from run to run.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <shared_mutex>

#include "code/elf/target_id.h"
#include "code/object/code_object.h"
#include "sim.h"

namespace perflab::hsa::sim {
namespace {

constexpr std::uint64_t kFirstReader = 0x4ead0000, kFirstExecutable = 0xe8ec0000;
constexpr std::uint32_t kKernargAlignment = 16;
constexpr std::uint16_t kUsesDynamicStack = 1U << 11U;

struct Reader {
  std::string file;        ///< its bytes, when it was made from a file
  std::string_view bytes;  ///< of the program's own memory otherwise
  std::string uri;
};

struct LoadedExecutable {
  bool frozen = false;
  std::vector<std::shared_ptr<LoadedObject>> objects;
};

struct Code {
  std::shared_mutex mutex;
  std::map<std::uint64_t, std::unique_ptr<Reader>> readers;
  std::map<std::uint64_t, std::unique_ptr<std::string>> deserialized;  ///< by handle: its address
  std::map<std::uint64_t, LoadedExecutable> executables;
  std::map<std::uint64_t, std::pair<std::shared_ptr<LoadedObject>, const LoadedSymbol*>> kernels;
  std::map<const LoadedSymbol*, const LoadedObject*> symbols;  ///< those that live
  std::uint64_t next = 0;
};

Code& code_state() {
  static Code& instance = *new Code;
  return instance;
}

LoadedExecutable* executable_of(Executable handle) {
  auto& all = code_state().executables;
  const auto found = all.find(handle.handle);
  return found == all.end() ? nullptr : &found->second;
}

Status add_reader(std::unique_ptr<Reader> reader, CodeObjectReader* out) {
  Code& code = code_state();
  const std::unique_lock lock(code.mutex);
  out->handle = kFirstReader + ++code.next;
  code.readers.emplace(out->handle, std::move(reader));
  return Status::success;
}

std::string uri_of_memory(std::string_view bytes) {
  char text[96];
  std::snprintf(text, sizeof text, "memory://%d#offset=0x%llx&size=%zu", ::getpid(),
                static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(bytes.data())),
                bytes.size());
  return text;
}

// The path that the descriptor has now, every unusual character escaped.
std::string uri_of_file(int file, std::size_t offset, std::size_t size, bool whole) {
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const ssize_t length = ::readlink(link.c_str(), path, sizeof path);
  std::string uri = "file://";
  for (const char byte : std::string_view(path, length < 0 ? 0 : static_cast<std::size_t>(length)))
    if (std::isalnum(static_cast<unsigned char>(byte)) != 0 ||
        std::string_view("/-_.~:").find(byte) != std::string_view::npos) {
      uri += byte;
    } else {
      char escape[4];
      std::snprintf(escape, sizeof escape, "%%%02X", static_cast<unsigned char>(byte));
      uri += escape;
    }
  if (!whole) uri += "#offset=" + std::to_string(offset) + "&size=" + std::to_string(size);
  return uri;
}

Status create(Executable* out) {
  if (out == nullptr) return Status::invalid_argument;
  Code& code = code_state();
  const std::unique_lock lock(code.mutex);
  out->handle = kFirstExecutable + ++code.next;
  code.executables.emplace(out->handle, LoadedExecutable{});
  return Status::success;
}

// Whether code of the file's target runs on the agent; missing when the file is no code object.
std::optional<bool> fits_agent(std::string_view bytes) {
  const auto target = code::code_object_target(bytes);
  const auto device = code::parse_target_id(isa_name());
  if (!target) return std::nullopt;
  return device && code::runs_on(*target, *device);
}

void register_object(LoadedExecutable& executable, const std::shared_ptr<LoadedObject>& object) {
  Code& code = code_state();
  std::mt19937 random{std::random_device{}()};
  std::ranges::shuffle(object->symbols, random);
  for (const auto& symbol : object->symbols) {
    code.symbols.emplace(symbol.get(), object.get());
    if (symbol->is_kernel) code.kernels.emplace(symbol->address, std::pair(object, symbol.get()));
  }
  executable.objects.push_back(object);
}

void forget(const LoadedExecutable& executable) {
  Code& code = code_state();
  for (const auto& object : executable.objects)
    for (const auto& symbol : object->symbols) {
      code.symbols.erase(symbol.get());
      if (symbol->is_kernel) code.kernels.erase(symbol->address);
    }
}

Status load_file(Executable executable, Agent agent, std::string_view bytes, const std::string& uri,
                 LoadedCodeObject* loaded) {
  const auto index = index_of(agent);
  if (!index) return Status::invalid_agent;
  LoadedExecutable* const into = executable_of(executable);
  if (into == nullptr) return Status::invalid_executable;
  if (into->frozen) return Status::frozen_executable;
  if (!is_gpu(*index)) return Status::incompatible_arguments;
  const auto fits = fits_agent(bytes);
  if (!fits) return Status::invalid_code_object;
  if (!*fits) return Status::incompatible_arguments;
  const auto object = load_image(bytes, *index);
  if (object == nullptr) return Status::invalid_code_object;
  object->uri = uri;
  object->storage = bytes;
  register_object(*into, object);
  if (loaded != nullptr) loaded->handle = reinterpret_cast<std::uint64_t>(object.get());
  return Status::success;
}

ExecutableSymbol handle_of(const LoadedSymbol& symbol) {
  return {reinterpret_cast<std::uint64_t>(&symbol)};
}

Status find_symbol(Executable executable, const char* name, const Agent* agent,
                   ExecutableSymbol* out) {
  if (name == nullptr || out == nullptr) return Status::invalid_argument;
  Code& code = code_state();
  const std::shared_lock lock(code.mutex);
  const LoadedExecutable* const in = executable_of(executable);
  if (in == nullptr) return Status::invalid_executable;
  const auto index = agent == nullptr ? std::nullopt : index_of(*agent);
  if (!index) return Status::invalid_symbol_name;
  for (const auto& object : in->objects) {
    const LoadedSymbol* const symbol = object->find(name);
    if (object->agent != *index || symbol == nullptr || !symbol->exported) continue;
    *out = handle_of(*symbol);
    return Status::success;
  }
  return Status::invalid_symbol_name;
}

// Symbols and the agents of their objects, copied, so that no lock is held in the callback.
std::vector<std::pair<ExecutableSymbol, int>> symbols_of(const LoadedExecutable& executable) {
  std::vector<std::pair<ExecutableSymbol, int>> list;
  for (const auto& object : executable.objects)
    for (const auto& symbol : object->symbols)
      if (symbol->exported) list.emplace_back(handle_of(*symbol), object->agent);
  return list;
}

template <class T>
Status answer(void* to, T value) {
  std::memcpy(to, &value, sizeof value);
  return Status::success;
}

template <class T>
T descriptor_field(const LoadedSymbol& symbol, std::uint64_t offset) {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(symbol.address + offset), sizeof value);
  return value;
}

Status kernel_info(const LoadedSymbol& symbol, std::uint32_t attribute, void* value) {
  switch (attribute) {
    case symbol_info::group_segment_size:
      return answer(value, descriptor_field<std::uint32_t>(symbol, 0));
    case symbol_info::private_segment_size:
      return answer(value, descriptor_field<std::uint32_t>(symbol, 4));
    case symbol_info::kernarg_segment_size:
      return answer(value, descriptor_field<std::uint32_t>(symbol, 8));
    case symbol_info::kernarg_segment_alignment:
      return answer(value, kKernargAlignment);
    case symbol_info::dynamic_callstack:
      return answer(value, (descriptor_field<std::uint16_t>(symbol, 56) & kUsesDynamicStack) != 0);
    default:
      return Status::invalid_argument;
  }
}

}  // namespace

std::optional<FoundKernel> kernel_at(std::uint64_t kernel_object) {
  Code& code = code_state();
  const std::shared_lock lock(code.mutex);
  const auto found = code.kernels.find(kernel_object);
  if (found == code.kernels.end()) return std::nullopt;
  const auto& [object, symbol] = found->second;
  return FoundKernel{.object = object, .name = symbol->name.substr(0, symbol->name.size() - 3)};
}

// As ROCr: the file is read when the reader is made, and named as it is called then.
Status read_part_of_file(int file, std::size_t offset, std::size_t size, CodeObjectReader* out) {
  struct stat about{};
  if (out == nullptr || file == -1) return Status::invalid_argument;
  if (::fstat(file, &about) != 0) return Status::invalid_file;
  const auto all = static_cast<std::size_t>(about.st_size);
  if (all <= offset) return Status::invalid_code_object;
  if (size == 0) size = all - offset;
  auto made = std::make_unique<Reader>();
  made->file.resize(size);
  if (::pread(file, made->file.data(), size, static_cast<off_t>(offset)) < 0)
    return Status::invalid_file;
  made->bytes = made->file;
  made->uri = uri_of_file(file, offset, size, size == all);
  return add_reader(std::move(made), out);
}

Status load_from_reader(Executable executable, Agent agent, CodeObjectReader reader,
                        LoadedCodeObject* loaded) {
  Code& code = code_state();
  const std::unique_lock lock(code.mutex);
  const auto from = code.readers.find(reader.handle);
  if (from == code.readers.end()) return Status::invalid_code_object_reader;
  return load_file(executable, agent, from->second->bytes, from->second->uri, loaded);
}

std::optional<std::vector<LoadedCodeObject>> loaded_objects(Executable executable) {
  const std::shared_lock lock(code_state().mutex);
  const LoadedExecutable* const of = executable_of(executable);
  if (of == nullptr) return std::nullopt;
  std::vector<LoadedCodeObject> list;
  for (const auto& object : of->objects)
    list.push_back({reinterpret_cast<std::uint64_t>(object.get())});
  return list;
}

std::shared_ptr<const LoadedObject> loaded_object(LoadedCodeObject handle) {
  const std::shared_lock lock(code_state().mutex);
  for (const auto& [id, executable] : code_state().executables)
    for (const auto& object : executable.objects)
      if (reinterpret_cast<std::uint64_t>(object.get()) == handle.handle) return object;
  return nullptr;
}

void stop_code_objects() {
  Code& code = code_state();
  const std::unique_lock lock(code.mutex);
  code.deserialized.clear();
  code.kernels.clear();
  code.symbols.clear();
  code.executables.clear();
  code.readers.clear();
}

namespace core_calls {

Status code_object_reader_create_from_memory(const void* code_object, std::size_t size,
                                             CodeObjectReader* reader) {
  if (code_object == nullptr || size == 0 || reader == nullptr) return Status::invalid_argument;
  auto made = std::make_unique<Reader>();
  made->bytes = {static_cast<const char*>(code_object), size};
  made->uri = uri_of_memory(made->bytes);
  return add_reader(std::move(made), reader);
}

Status code_object_reader_create_from_file(int file, CodeObjectReader* reader) {
  return read_part_of_file(file, 0, 0, reader);
}

Status code_object_reader_destroy(CodeObjectReader reader) {
  Code& code = code_state();
  const std::unique_lock lock(code.mutex);
  return code.readers.erase(reader.handle) == 1 ? Status::success
                                                : Status::invalid_code_object_reader;
}

Status executable_create(Profile, ExecutableState state, const char*, Executable* executable) {
  const Status status = create(executable);
  if (status != Status::success || state != ExecutableState::frozen) return status;
  const std::unique_lock lock(code_state().mutex);
  executable_of(*executable)->frozen = true;
  return Status::success;
}

Status executable_create_alt(Profile, RoundingMode, const char*, Executable* executable) {
  return create(executable);
}

Status executable_destroy(Executable executable) {
  Code& code = code_state();
  const std::unique_lock lock(code.mutex);
  const auto found = code.executables.find(executable.handle);
  if (found == code.executables.end())
    misuse("an executable is destroyed that is none, or not any more");
  forget(found->second);
  code.executables.erase(found);
  return Status::success;
}

// The older form: a copy of the bytes, whose address is the handle.
Status code_object_deserialize(void* bytes, std::size_t size, const char*, LegacyCodeObject* out) {
  if (bytes == nullptr || size == 0 || out == nullptr) return Status::invalid_argument;
  auto copy = std::make_unique<std::string>(static_cast<const char*>(bytes), size);
  Code& code = code_state();
  const std::unique_lock lock(code.mutex);
  out->handle = reinterpret_cast<std::uint64_t>(copy->data());
  code.deserialized[out->handle] = std::move(copy);
  return Status::success;
}

Status code_object_destroy(LegacyCodeObject object) {
  Code& code = code_state();
  const std::unique_lock lock(code.mutex);
  return code.deserialized.erase(object.handle) == 1 ? Status::success
                                                     : Status::invalid_code_object;
}

Status executable_load_code_object(Executable executable, Agent agent, LegacyCodeObject object,
                                   const char*) {
  Code& code = code_state();
  const std::unique_lock lock(code.mutex);
  const auto found = code.deserialized.find(object.handle);
  if (found == code.deserialized.end()) return Status::invalid_code_object;
  return load_file(executable, agent, *found->second, uri_of_memory(*found->second), nullptr);
}

Status executable_load_agent_code_object(Executable executable, Agent agent,
                                         CodeObjectReader reader, const char*,
                                         LoadedCodeObject* loaded) {
  return load_from_reader(executable, agent, reader, loaded);
}

Status executable_freeze(Executable executable, const char*) {
  const std::unique_lock lock(code_state().mutex);
  LoadedExecutable* const of = executable_of(executable);
  if (of == nullptr) return Status::invalid_executable;
  return std::exchange(of->frozen, true) ? Status::frozen_executable : Status::success;
}

Status executable_get_symbol_by_name(Executable executable, const char* name, const Agent* agent,
                                     ExecutableSymbol* symbol) {
  return find_symbol(executable, name, agent, symbol);
}
Status executable_get_symbol(Executable executable, const char*, const char* name, Agent agent,
                             std::int32_t, ExecutableSymbol* symbol) {
  return find_symbol(executable, name, &agent, symbol);
}

Status executable_symbol_get_info(ExecutableSymbol handle, std::uint32_t attribute, void* value) {
  Code& code = code_state();
  const std::shared_lock lock(code.mutex);
  const auto* const symbol = reinterpret_cast<const LoadedSymbol*>(handle.handle);
  const auto found = code.symbols.find(symbol);
  if (found == code.symbols.end()) return Status::invalid_executable_symbol;
  if (value == nullptr) return Status::invalid_argument;
  switch (attribute) {
    case symbol_info::type:
      return answer(value, symbol->is_kernel ? SymbolKind::kernel : SymbolKind::variable);
    case symbol_info::name_length:
      return answer(value, static_cast<std::uint32_t>(symbol->name.size()));
    case symbol_info::name:
      std::memcpy(value, symbol->name.data(), symbol->name.size());
      return Status::success;
    case symbol_info::agent:
      return answer(value, agent_of(found->second->agent));
    case symbol_info::variable_size:
      return answer(value, static_cast<std::uint32_t>(symbol->bytes));
    case symbol_info::variable_address:
    case symbol_info::kernel_object:  // of a variable its address as well
      return answer(value, symbol->address);
    default:
      return symbol->is_kernel ? kernel_info(*symbol, attribute, value) : Status::invalid_argument;
  }
}

Status executable_iterate_symbols(Executable executable,
                                  Status (*callback)(Executable, ExecutableSymbol, void*),
                                  void* data) {
  if (callback == nullptr) return Status::invalid_argument;
  std::shared_lock lock(code_state().mutex);
  const LoadedExecutable* const of = executable_of(executable);
  if (of == nullptr) return Status::invalid_executable;
  const auto symbols = symbols_of(*of);
  lock.unlock();
  for (const auto& [symbol, agent] : symbols) {
    const Status status = callback(executable, symbol, data);
    if (status != Status::success) return status;
  }
  return Status::success;
}

Status executable_iterate_agent_symbols(Executable executable, Agent agent,
                                        Status (*callback)(Executable, Agent, ExecutableSymbol,
                                                           void*),
                                        void* data) {
  if (callback == nullptr) return Status::invalid_argument;
  const auto index = index_of(agent);
  if (!index) return Status::invalid_agent;
  std::shared_lock lock(code_state().mutex);
  const LoadedExecutable* const of = executable_of(executable);
  if (of == nullptr) return Status::invalid_executable;
  const auto symbols = symbols_of(*of);
  lock.unlock();
  for (const auto& [symbol, on] : symbols) {
    if (on != *index) continue;
    const Status status = callback(executable, agent, symbol, data);
    if (status != Status::success) return status;
  }
  return Status::success;
}

}  // namespace core_calls
}  // namespace perflab::hsa::sim
