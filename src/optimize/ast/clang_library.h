// libclang, opened at run time: a user's ROCm headers need the user's clang, and starting rocm-perf
// must not pay for LLVM. The C interface is stable since LLVM 17, which first tells operators
// apart (clang-c/Index.h).
#pragma once

#include <clang-c/Index.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"

namespace perflab::optimize {

// Every entry that is used: X(name) for clang_name.
// NOLINTBEGIN(cppcoreguidelines-macro-usage)
#define PERFLAB_CLANG_ENTRIES(X)   \
  X(createIndex)                   \
  X(disposeIndex)                  \
  X(getClangVersion)               \
  X(parseTranslationUnit2FullArgv) \
  X(disposeTranslationUnit)        \
  X(getTranslationUnitCursor)      \
  X(getNumDiagnostics)             \
  X(getDiagnostic)                 \
  X(disposeDiagnostic)             \
  X(getDiagnosticSeverity)         \
  X(formatDiagnostic)              \
  X(getFile)                       \
  X(File_isEqual)                  \
  X(getCString)                    \
  X(disposeString)                 \
  X(visitChildren)                 \
  X(equalCursors)                  \
  X(hashCursor)                    \
  X(getNullCursor)                 \
  X(Cursor_isNull)                 \
  X(getCursorKind)                 \
  X(isExpression)                  \
  X(isStatement)                   \
  X(isDeclaration)                 \
  X(isAttribute)                   \
  X(isReference)                   \
  X(getCursorExtent)               \
  X(getCursorLocation)             \
  X(getRangeStart)                 \
  X(getRangeEnd)                   \
  X(getRange)                      \
  X(getLocationForOffset)          \
  X(getExpansionLocation)          \
  X(getSpellingLocation)           \
  X(Location_isInSystemHeader)     \
  X(getCursorSpelling)             \
  X(getCursorUSR)                  \
  X(getCursorSemanticParent)       \
  X(getCursorReferenced)           \
  X(getCursorDefinition)           \
  X(getCanonicalCursor)            \
  X(getSpecializedCursorTemplate)  \
  X(isCursorDefinition)            \
  X(getCursorLinkage)              \
  X(Cursor_getStorageClass)        \
  X(getCursorTLSKind)              \
  X(Cursor_isInlineNamespace)      \
  X(Cursor_isAnonymous)            \
  X(Cursor_getNumArguments)        \
  X(Cursor_getArgument)            \
  X(Cursor_Evaluate)               \
  X(Cursor_getVarDeclInitializer)  \
  X(EvalResult_getKind)            \
  X(EvalResult_getAsLongLong)      \
  X(EvalResult_isUnsignedInt)      \
  X(EvalResult_getAsUnsigned)      \
  X(EvalResult_dispose)            \
  X(CXXMethod_isConst)             \
  X(CXXMethod_isDefaulted)         \
  X(getCursorBinaryOperatorKind)   \
  X(getCursorUnaryOperatorKind)    \
  X(getNumOverloadedDecls)         \
  X(getOverloadedDecl)             \
  X(getCursorPrintingPolicy)       \
  X(PrintingPolicy_setProperty)    \
  X(PrintingPolicy_dispose)        \
  X(getCursorPrettyPrinted)        \
  X(getCursorType)                 \
  X(getCursorResultType)           \
  X(getCanonicalType)              \
  X(getUnqualifiedType)            \
  X(getPointeeType)                \
  X(getTypeSpelling)               \
  X(getTypeDeclaration)            \
  X(getArrayElementType)           \
  X(getArraySize)                  \
  X(getElementType)                \
  X(getNumElements)                \
  X(getArgType)                    \
  X(getNumArgTypes)                \
  X(Type_getSizeOf)                \
  X(Type_visitFields)              \
  X(isConstQualifiedType)          \
  X(isVolatileQualifiedType)       \
  X(isRestrictQualifiedType)       \
  X(tokenize)                      \
  X(disposeTokens)                 \
  X(getTokenKind)                  \
  X(getTokenExtent)                \
  X(getSkippedRanges)              \
  X(disposeSourceRangeList)

/// The entries of one opened libclang; none is null. It stays open until the process ends.
struct ClangApi {
#define PERFLAB_CLANG_MEMBER(name) decltype(&::clang_##name) name = nullptr;
  PERFLAB_CLANG_ENTRIES(PERFLAB_CLANG_MEMBER)
#undef PERFLAB_CLANG_MEMBER
  std::string version;  ///< "Debian clang version 19.1.7 (3~deb12u1)"
  std::string path;     ///< of the library
  std::string why;      ///< why this one: "it is beside /opt/rocm/llvm/bin/clang++"
  /// Its own headers (stddef.h, __clang_hip_runtime_wrapper.h), which no other clang's can stand in
  /// for: they use the builtins of their version. Empty: not found beside it.
  std::string resource_folder;
};
// NOLINTEND(cppcoreguidelines-macro-usage)

/// Opens a libclang, each once: $ROCM_PERF_LIBCLANG (when set, only that), that of $ROCM_PATH, that
/// of the compiler that builds (`compilers`, links resolved: ../lib, ../llvm/lib, ../lib/llvm/lib),
/// that beside hipcc, that of /opt/rocm, the newest that is installed. Headers are written for the
/// compiler of their release, so another one's libclang may not read them. Errors: missing_tool
/// (what was tried, and the package).
Result<const ClangApi*> clang_api(const std::vector<std::filesystem::path>& compilers = {});

}  // namespace perflab::optimize
