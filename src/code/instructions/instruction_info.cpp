// Names of the classes of instructions, as documents have them.
#include "code/instructions/instruction_info.h"

namespace perflab::code {

std::string_view to_string(InstructionClass instruction_class) {
  switch (instruction_class) {
    case InstructionClass::valu:
      return "valu";
    case InstructionClass::matrix:
      return "matrix";
    case InstructionClass::salu:
      return "salu";
    case InstructionClass::smem:
      return "smem";
    case InstructionClass::vmem_load:
      return "vmem_load";
    case InstructionClass::vmem_store:
      return "vmem_store";
    case InstructionClass::vmem_atomic:
      return "vmem_atomic";
    case InstructionClass::scratch_load:
      return "scratch_load";
    case InstructionClass::scratch_store:
      return "scratch_store";
    case InstructionClass::lds:
      return "lds";
    case InstructionClass::branch:
      return "branch";
    case InstructionClass::waitcnt:
      return "waitcnt";
    case InstructionClass::barrier:
      return "barrier";
    case InstructionClass::export_:
      return "export";
    case InstructionClass::other:
      return "other";
  }
  return "other";
}

}  // namespace perflab::code
