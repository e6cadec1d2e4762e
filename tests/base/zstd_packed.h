// zstd of a text: one frame. Programs that use it link libzstd.
#pragma once

#include <gtest/gtest.h>
#include <zstd.h>

#include <string>
#include <string_view>

namespace perflab {

inline std::string zstd_packed(std::string_view text) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  EXPECT_EQ(ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)), 0U);
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size =
      ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size());
  EXPECT_EQ(ZSTD_isError(size), 0U);
  out.resize(size);
  ZSTD_freeCCtx(context);
  return out;
}

}  // namespace perflab
