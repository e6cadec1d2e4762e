// Candidates in order of trust, each checked against everything the trace knows about the object.
#include "analyze/kernels/code_join.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "base/text/numbers.h"
#include "code/files/container.h"

namespace perflab::analyze {
namespace {

using trace::Index;
using trace::kNone;

/// A folder with more files than this is no recording's folder: it is not searched.
constexpr std::size_t kMostNeighbours = 256;
constexpr std::uintmax_t kLargestNeighbour = std::uintmax_t{1} << 30;

/// What a code object's URI says: "file:///app#offset=16384&size=4976", "memory://10#offset=..".
struct Uri {
  std::optional<std::filesystem::path> file;
  std::optional<std::uint64_t> offset, size;
};

/// Undoes percent-encoding; what is not one stays as it is.
std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto value = text[i] == '%' && i + 2 < text.size()
                           ? whole_number<unsigned char>(text.substr(i + 1, 2), 16)
                           : std::nullopt;
    if (value) {
      out += static_cast<char>(*value);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

Uri parse_uri(std::string_view text) {
  Uri uri;
  const std::size_t mark = text.find_first_of("#?");
  constexpr std::string_view kFile = "file://";
  if (text.starts_with(kFile))
    uri.file = percent_decoded(text.substr(0, mark).substr(kFile.size()));
  std::string_view rest = mark == std::string_view::npos ? "" : text.substr(mark + 1);
  while (!rest.empty()) {
    const std::string_view field = rest.substr(0, rest.find('&'));
    if (field.starts_with("offset=")) uri.offset = number_of(field.substr(7));
    if (field.starts_with("size=")) uri.size = number_of(field.substr(5));
    rest.remove_prefix(std::min(field.size() + 1, rest.size()));
  }
  return uri;
}

/// Looks at the first bytes only: most files beside a recording are no binaries.
bool may_hold_code(const std::filesystem::path& path) {
  std::array<char, 24> start{};
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), start.size());
  return code::may_hold_code({start.data(), static_cast<std::size_t>(file.gcount())});
}

/// Opens files once; a file that cannot be used is remembered as such.
class Files {
 public:
  const code::Container* open(const std::filesystem::path& path) {
    auto [it, added] = open_.try_emplace(path.string());
    if (added) {
      std::error_code ignored;
      const auto size = std::filesystem::file_size(path, ignored);
      if (!ignored && std::filesystem::is_regular_file(path, ignored) &&
          size <= kLargestNeighbour && may_hold_code(path))
        if (auto container = code::open_container(path)) it->second = std::move(*container);
    }
    return it->second ? &*it->second : nullptr;
  }
  void add(const std::filesystem::path& path, code::Container container) {
    open_[path.string()] = std::move(container);
  }

 private:
  std::map<std::string, std::optional<code::Container>> open_;
};

/// What the trace knows about one code object.
struct Wanted {
  std::int64_t id = 0;
  Uri uri;
  std::optional<std::uint64_t> bytes;  ///< size of the code object
  std::optional<std::int64_t> load_delta;
  std::string processor;  ///< empty: not known
  std::vector<const trace::KernelSymbol*> symbols;
};

const code::KernelMetadata* find_kernel(const std::vector<code::KernelMetadata>& kernels,
                                        std::string_view name) {
  const auto it = std::ranges::find(kernels, name, &code::KernelMetadata::name);
  return it == kernels.end() ? nullptr : &*it;
}

/// Whether a kernel's descriptor lies where the trace says; nullopt when it does not say.
std::optional<bool> same_address(const Wanted& wanted, const trace::KernelSymbol& symbol,
                                 const code::KernelMetadata& kernel) {
  if (!wanted.load_delta || !symbol.descriptor_address || *symbol.descriptor_address == 0 ||
      kernel.descriptor_address == 0)
    return std::nullopt;
  return static_cast<std::uint64_t>(*symbol.descriptor_address) -
             static_cast<std::uint64_t>(*wanted.load_delta) ==
         kernel.descriptor_address;
}

/// Whether the object has every kernel of the trace, with the sizes and at the addresses that were
/// recorded.
bool has_all(const trace::Trace& trace, const Wanted& wanted,
             const std::vector<code::KernelMetadata>& kernels) {
  const auto same = [](const std::optional<std::int64_t>& recorded, std::int64_t value) {
    return !recorded || *recorded == value;
  };
  return std::ranges::all_of(wanted.symbols, [&](const trace::KernelSymbol* symbol) {
    const code::KernelMetadata* kernel =
        find_kernel(kernels, trace.strings.view(symbol->mangled_name));
    return kernel != nullptr && same_address(wanted, *symbol, *kernel).value_or(true) &&
           same(symbol->static_lds_bytes, kernel->lds_bytes) &&
           same(symbol->scratch_bytes_per_lane, kernel->scratch_bytes) &&
           same(symbol->kernarg_bytes, kernel->kernarg_bytes);
  });
}

/// Whether the trace knows enough to recognise the object: names alone prove nothing.
bool recognisable(const trace::Trace& trace, const Wanted& wanted,
                  const std::vector<code::KernelMetadata>& kernels) {
  return wanted.bytes ||
         std::ranges::all_of(wanted.symbols, [&](const trace::KernelSymbol* symbol) {
           const code::KernelMetadata* kernel =
               find_kernel(kernels, trace.strings.view(symbol->mangled_name));
           return kernel != nullptr && same_address(wanted, *symbol, *kernel).has_value();
         });
}

/// Whether two objects say the same about the kernels that were dispatched.
bool same_registers(const trace::Trace& trace, const Wanted& wanted, const JoinedObject& a,
                    const JoinedObject& b) {
  return std::ranges::all_of(wanted.symbols, [&](const trace::KernelSymbol* symbol) {
    const std::string_view name = trace.strings.view(symbol->mangled_name);
    const code::KernelMetadata* x = find_kernel(a.kernels, name);
    const code::KernelMetadata* y = find_kernel(b.kernels, name);
    return x->vgpr_count == y->vgpr_count && x->agpr_count == y->agpr_count &&
           x->sgpr_count == y->sgpr_count && x->wave_size == y->wave_size &&
           x->wgp_mode == y->wgp_mode && x->vgpr_spills == y->vgpr_spills &&
           x->sgpr_spills == y->sgpr_spills;
  });
}

/// The objects of one file that fit.
std::vector<std::shared_ptr<JoinedObject>> fitting(const trace::Trace& trace, const Wanted& wanted,
                                                   const std::filesystem::path& path,
                                                   const code::Container& container) {
  std::vector<std::shared_ptr<JoinedObject>> fits;
  for (const code::EmbeddedObject& object : container.objects) {
    if (wanted.bytes && *wanted.bytes != object.bytes.size()) continue;
    if (!wanted.processor.empty() && object.target.processor != wanted.processor) continue;
    if (wanted.uri.file == path && wanted.uri.offset && object.file_offset &&
        *wanted.uri.offset != *object.file_offset)
      continue;
    auto read = code::read_code_object(object.bytes, path.string());
    if (!read || !has_all(trace, wanted, read->kernels) ||
        !recognisable(trace, wanted, read->kernels))
      continue;
    auto joined = std::make_shared<JoinedObject>();
    joined->file = path;
    joined->entry = object.entry;
    joined->target = std::move(read->target);
    joined->kernels = std::move(read->kernels);
    fits.push_back(std::move(joined));
  }
  return fits;
}

/// Binaries beside a database: ATT's dumps of this object first.
std::vector<std::filesystem::path> neighbours(const std::filesystem::path& database,
                                              std::int64_t id) {
  std::error_code ignored;
  const std::filesystem::path folder =
      database.has_parent_path() ? database.parent_path() : std::filesystem::path(".");
  std::vector<std::filesystem::path> dumps, others;
  const std::string dump = fmt::format("_code_object_id_{}.out", id);
  std::size_t seen = 0;
  for (std::filesystem::directory_iterator it(folder, ignored), end; !ignored && it != end;
       it.increment(ignored)) {
    if (++seen > kMostNeighbours) return {};
    const std::string name = it->path().filename().string();
    const std::string extension = it->path().extension().string();
    if (name.ends_with(dump) || name == dump.substr(1))
      dumps.push_back(it->path());
    else if ((extension == ".out" && !name.contains("_code_object_id_")) || extension == ".co" ||
             extension == ".hsaco" || extension == ".hipfb" || extension == ".so" ||
             extension.empty())
      others.push_back(it->path());
  }
  std::ranges::sort(dumps);
  std::ranges::sort(others);
  std::ranges::move(others, std::back_inserter(dumps));
  return dumps;
}

/// Where an object may be, most trusted first; without duplicates.
std::vector<std::filesystem::path> candidates(const trace::Trace& trace,
                                              const trace::CodeObject& object, const Uri& uri,
                                              const std::vector<std::filesystem::path>& files) {
  std::vector<std::filesystem::path> all = files;
  if (uri.file) all.push_back(*uri.file);
  if (object.source != kNone)
    std::ranges::move(neighbours(trace.sources[object.source].file, object.id),
                      std::back_inserter(all));
  for (const trace::Process& process : trace.processes)
    if (process.source == object.source && process.command.starts_with('/'))
      all.emplace_back(process.command.substr(0, process.command.find(' ')));
  std::set<std::filesystem::path> seen;
  std::erase_if(all, [&](const auto& path) { return !seen.insert(path).second; });
  return all;
}

std::vector<Wanted> wanted_objects(const trace::Trace& trace) {
  std::vector<Wanted> wanted(trace.code_objects.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const trace::CodeObject& object = trace.code_objects[i];
    wanted[i].id = object.id;
    wanted[i].uri = parse_uri(object.uri);
    wanted[i].bytes = wanted[i].uri.size;
    if (!wanted[i].bytes && object.file_bytes)
      wanted[i].bytes = static_cast<std::uint64_t>(*object.file_bytes);
    wanted[i].load_delta = object.load_delta;
    if (object.agent == kNone) continue;
    const std::string& name = trace.agents[object.agent].name;
    if (name.starts_with("gfx")) wanted[i].processor = name.substr(0, name.find(':'));
  }
  for (const trace::KernelSymbol& symbol : trace.kernel_symbols)
    if (symbol.known && symbol.code_object != kNone)
      wanted[symbol.code_object].symbols.push_back(&symbol);
  return wanted;
}

}  // namespace

const JoinedObject* CodeJoin::object_of(const trace::KernelSymbol& symbol) const {
  return symbol.code_object == kNone || symbol.code_object >= objects.size()
             ? nullptr
             : objects[symbol.code_object].get();
}

const code::KernelMetadata* CodeJoin::kernel_of(const trace::Trace& trace,
                                                const trace::KernelSymbol& symbol) const {
  const JoinedObject* object = object_of(symbol);
  return object == nullptr ? nullptr
                           : find_kernel(object->kernels, trace.strings.view(symbol.mangled_name));
}

Result<CodeJoin> join_code(const trace::Trace& trace,
                           const std::vector<std::filesystem::path>& files) {
  CodeJoin join;
  join.objects.resize(trace.code_objects.size());
  Files open;
  for (const std::filesystem::path& file : files) {
    PERFLAB_TRY(code::Container container, code::open_container(file));
    open.add(file, std::move(container));
  }
  const std::vector<Wanted> all = wanted_objects(trace);
  std::set<std::filesystem::path> used;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Wanted& wanted = all[i];
    if (wanted.symbols.empty()) continue;
    for (const auto& path : candidates(trace, trace.code_objects[i], wanted.uri, files)) {
      const code::Container* container = open.open(path);
      if (container == nullptr) continue;
      const auto fits = fitting(trace, wanted, path, *container);
      if (fits.empty()) continue;
      used.insert(path);
      const bool agree = std::ranges::all_of(fits, [&](const auto& fit) {
        return same_registers(trace, wanted, *fits.front(), *fit);
      });
      if (agree)
        join.objects[i] = fits.front();
      else
        join.warnings.push_back(
            fmt::format("{}: {} code objects fit code object {} of the trace and differ in "
                        "registers: none was taken",
                        path.string(), fits.size(), wanted.id));
      break;
    }
  }
  for (const std::filesystem::path& file : files)
    if (!used.contains(file))
      join.warnings.push_back(
          trace.code_objects.empty()
              ? fmt::format("{}: the recording does not say which code objects were loaded: it was "
                            "not used",
                            file.string())
              : fmt::format("{}: none of its code objects is one that the trace loaded (size, "
                            "processor, kernels, their sizes and addresses have to agree): it was "
                            "not used",
                            file.string()));
  return join;
}

}  // namespace perflab::analyze
