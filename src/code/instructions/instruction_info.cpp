// Names of the classes of instructions, as documents have them.
#include "code/instructions/instruction_info.h"

#include "base/enum_names.h"

namespace perflab::code {

std::string_view to_string(InstructionClass instruction_class) {
  using enum InstructionClass;
  static constexpr auto kNames = enum_names<InstructionClass>({{valu, "valu"},
                                                               {matrix, "matrix"},
                                                               {salu, "salu"},
                                                               {smem, "smem"},
                                                               {vmem_load, "vmem_load"},
                                                               {vmem_store, "vmem_store"},
                                                               {vmem_atomic, "vmem_atomic"},
                                                               {scratch_load, "scratch_load"},
                                                               {scratch_store, "scratch_store"},
                                                               {lds, "lds"},
                                                               {branch, "branch"},
                                                               {waitcnt, "waitcnt"},
                                                               {barrier, "barrier"},
                                                               {export_, "export"},
                                                               {other, "other"}});
  return kNames[instruction_class];
}

}  // namespace perflab::code
