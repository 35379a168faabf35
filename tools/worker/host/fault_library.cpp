// The fault handler for workers that are not our program: the Python package loads it with ctypes.
#include <system_error>

#include "tools/worker/host/fault_handler.hpp"

extern "C" {

// Returns 0, or the error number of what failed.
__attribute__((visibility("default"))) int ropecheck_install_fault_handler(int connection) {
  try {
    rope::worker::install_fault_handler(connection);
    return 0;
  } catch (const std::system_error& error) {
    return error.code().value();
  }
}

__attribute__((visibility("default"))) void ropecheck_note_loaded_modules() { rope::worker::note_loaded_modules(); }

__attribute__((visibility("default"))) void ropecheck_set_current_call(long long id) {
  rope::worker::set_current_call(id);
}
}
