// What AddressSanitizer does in this program where ASAN_OPTIONS says nothing else. Tests start it
// by the thousand, and looking for leaks is a third of a short run: the processes of the tests are
// looked at, and this one by those with label `slow`.

// NOLINTNEXTLINE(bugprone-reserved-identifier): the sanitizer asks for this name
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0";
}
