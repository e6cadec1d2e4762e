// Ctrl-C as data: while an InterruptScope lives, SIGINT and SIGTERM raise a flag and wake whoever
// polls the descriptor, so that a command can keep what it finished and exit 130
// (docs/ARCHITECTURE.md "Errors"). The third signal ends the program at once, for code that does
// not look.
#pragma once

namespace perflab {

/// Handles SIGINT and SIGTERM from construction to the end of the outermost scope, then restores
/// what was there. A signal that was ignored at the start (nohup, `cmd &` in a script) stays
/// ignored. Scopes nest; the flag survives the scope. Any thread may hold one.
class InterruptScope {
 public:
  InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
  ~InterruptScope();
};

/// True once a signal arrived (or raise_interrupt was called). Never blocks; any thread.
bool interrupted();

/// How many arrived: the second Ctrl-C asks for haste.
int interrupt_count();

/// A descriptor for poll(): readable from the first interrupt on. -1 when no scope was ever made.
/// Not to be read from or closed.
int interrupt_descriptor();

/// What a signal does, called from code (tests).
void raise_interrupt();

/// Forgets what arrived (tests, and a command that goes on after an interrupt).
void clear_interrupts();

}  // namespace perflab
