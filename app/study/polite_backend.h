// A polite back end computes on threads of lower priority than the window's: on few cores, drawing
// (without a graphics card by Mesa's own threads, too) comes before computing.
#pragma once

#include <memory>

#include "input/backend_choice.h"

namespace fovea {

/// Of computing threads; 0 where threads have no niceness of their own. The window's threads get
/// twice their share of a core, and beside other programs they still get a third of it: at nice 10,
/// a tenth, they starved.
#ifdef __linux__
inline constexpr int niceness = 3;
#else
inline constexpr int niceness = 0;
#endif

/// As make_backend, which says what it throws. Any thread may call it.
std::unique_ptr<Backend> make_polite_backend(const BackendChoice& choice = {});

/// Gives the calling thread, and the threads that it starts later, this niceness.
void lower_thread_priority();

}  // namespace fovea
