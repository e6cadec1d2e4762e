#include "base/text/json_pointer.h"

namespace perflab {

std::string pointer_token(std::string_view member) {
  std::string out;
  for (const char c : member) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

}  // namespace perflab
