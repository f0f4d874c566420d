// A polite back end computes on threads that make way for the window's: on few cores, drawing
// (Mesa's own threads too, without a graphics card) comes before computing.
#pragma once

#include <memory>

#include "input/backend_choice.h"

namespace fovea {

/// What computing threads run at; 0 where threads have no niceness of their own.
#ifdef __linux__
inline constexpr int niceness = 10;
#else
inline constexpr int niceness = 0;
#endif

/// As make_backend, which says what it throws.
std::unique_ptr<Backend> make_polite_backend(const BackendChoice& choice = {});

/// Lowers the calling thread's claim to a core; threads it starts inherit that.
void make_way();

}  // namespace fovea
