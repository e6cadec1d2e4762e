// The kernels of a source as places in its text: definitions, parameters, loops, shared arrays, and
// what their bodies call and touch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "optimize/ast/parse_options.h"
#include "optimize/ast/text_range.h"

namespace perflab::optimize {

struct Parameter {
  std::string name;
  std::string type;  ///< canonical, without restrict and const of the parameter itself
  TextRange range;   ///< its declaration
  bool pointer = false, const_pointee = false, restricted = false;
  std::string pointee;  ///< canonical, without qualifiers; empty: no pointer
  /// Just behind the last '*': where "__restrict__" may be put. Missing: the text does not show it
  /// (a macro, a type alias).
  std::optional<std::uint32_t> behind_star;
  /// Before the pointee's type: where "const " may be put. Likewise.
  std::optional<std::uint32_t> before_pointee;
  bool written = false;  ///< through it, its copies or something unknown (a call gets it)
  bool read = false;
};

/// for (T i = first; i < bound; i += step): i is not written elsewhere, nor is its address taken.
struct CountedLoop {
  std::string variable, type;  ///< type: canonical
  TextRange first, bound;      ///< expressions in the text
  std::string comparison;      ///< "<", "<=", ">", ">=", "!="
  std::string step;            ///< text of the step, "1" for ++; with its sign
  std::optional<std::int64_t> step_value, first_value, bound_value;  ///< when constant
  std::optional<std::int64_t> trips;                                 ///< likewise
  bool bound_is_invariant = false;  ///< nothing in the body may change it
  bool declares_variable = true;    ///< in the header: it is not visible behind the loop
};

struct Loop {
  enum class Kind : std::uint8_t { for_, range_for, while_, do_ };
  Kind kind = Kind::for_;
  TextRange range;                    ///< the whole statement
  TextRange body;                     ///< with its braces, or the one statement
  std::uint32_t line = 0;             ///< from 1
  std::optional<std::size_t> parent;  ///< index of the loop around it
  bool innermost = true;
  std::optional<CountedLoop> counted;
  bool has_barrier = false;  ///< __syncthreads and any other barrier, also in what it calls
  bool has_atomic = false;
  bool has_break = false, has_continue = false, has_return = false, has_goto = false;
  bool has_assembly = false;
  bool has_unknown_call = false;  ///< of a function whose body is not in sight
  bool uses_shared = false, uses_dynamic_shared = false;
  bool crosses_lanes = false;  ///< shuffles, ballots, votes: every lane has to take part
  bool in_macro = false;       ///< a part of it comes out of a macro that has several statements
  std::optional<TextRange> pragma;  ///< "#pragma unroll ..." right before it
};

/// An element that is read or written by subscript: `array[index]`.
struct Subscript {
  std::string array;       ///< parameter or variable
  TextRange range, index;  ///< of the expression; of what stands in the brackets
  bool is_written = false, is_read = true;
  bool shared = false;              ///< the array is __shared__
  std::optional<std::size_t> loop;  ///< innermost loop around it
};

struct SharedArray {
  std::string name, element_type;
  std::vector<std::optional<std::int64_t>> dimensions;
  TextRange declaration;
  std::optional<TextRange> last_dimension;  ///< text between the last pair of brackets
  bool dynamic = false;                     ///< extern
};

/// __launch_bounds__ and the like in front of the kernel.
struct KernelAttribute {
  std::string name;  ///< "launch_bounds", "amdgpu_waves_per_eu", "amdgpu_flat_work_group_size"
  TextRange range;   ///< empty: out of a macro
  std::vector<std::int64_t> values;  ///< arguments up to the first that is not constant
};

/// What a body refers to, for the guards: sorted, once each.
struct BodyFacts {
  std::vector<std::string> calls;  ///< qualified names of functions; "(indirect)"
  /// Variables declared outside of functions, but for constants and for threadIdx and the like.
  std::vector<std::string> globals;
  std::vector<std::string> written_globals;  ///< of all of them, those that are or may be written
  std::vector<std::string> static_locals;    ///< but for constexpr numbers and shared variables
  std::vector<std::string> pointer_casts;    ///< text of what makes integer_to_pointer true
  /// Variables that may be read before they are written: "__shared__ float tile".
  std::vector<std::string> unwritten_reads;
  std::vector<std::string> volatiles;          ///< variables through which volatile_access is done
  std::vector<std::string> assembly;           ///< texts of asm statements and labels
  std::vector<std::string> launches;           ///< kernels that are named
  std::vector<std::string> exceptions_or_new;  ///< texts of throw, try, new, delete
  bool integer_to_pointer = false;             ///< pointers out of anything but pointers
  bool volatile_access = false;
};

struct SourceKernel {
  std::string name;       ///< qualified: "ns::vadd"
  std::string signature;  ///< canonical: return type, name, parameter types, template parameters
  bool is_template = false;
  TextRange definition;  ///< template header and attributes to the closing brace
  TextRange body;        ///< with its braces
  std::uint32_t line = 0;
  /// Where an attribute may be put (before the kernel's name); missing: out of a macro.
  std::optional<std::uint32_t> attribute_place;
  std::vector<Parameter> parameters;
  std::vector<KernelAttribute> attributes;
  std::vector<Loop> loops;  ///< in the order of the text
  std::vector<Subscript> subscripts;
  std::vector<SharedArray> shared_arrays;
  BodyFacts facts;
};

struct SourceModel {
  std::string text;
  ParseOptions options;
  std::vector<SourceKernel> kernels;     ///< of the main file, in the order of the text
  std::vector<std::string> includes;     ///< as written, in order: "<hip/hip_runtime.h>"
  std::vector<TextRange> directives;     ///< every line that begins a preprocessor directive
  std::vector<TextRange> tokens;         ///< all but comments
  std::vector<TextRange> skipped;        ///< branches of #if that are not compiled
  std::string library, library_path;     ///< libclang's version; where it is
  std::vector<std::string> diagnostics;  ///< clang's warnings
  [[nodiscard]] std::string_view at(const TextRange& range) const {
    return std::string_view(text).substr(range.begin, range.end - range.begin);
  }
};

}  // namespace perflab::optimize
