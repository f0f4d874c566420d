#include "study/polite_backend.h"

#include <exception>
#include <thread>

#ifdef __linux__
#include <sys/resource.h>
#endif

namespace fovea {

void lower_thread_priority() {
#ifdef __linux__
  setpriority(PRIO_PROCESS, 0, niceness);  // on Linux this is the thread alone
#endif
}

std::unique_ptr<Backend> make_polite_backend(const BackendChoice& choice) {
  std::unique_ptr<Backend> backend;
  std::exception_ptr error;
  std::jthread([&] {
    lower_thread_priority();
    try {
      backend = make_backend(choice);
    } catch (...) {
      error = std::current_exception();
    }
  }).join();
  if (error) std::rethrow_exception(error);
  return backend;
}

}  // namespace fovea
