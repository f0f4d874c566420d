// visit_body calls the case for the kind of a panel's body. Some case must name every kind: a
// function that misses a new kind does not compile.
#pragma once

#include <concepts>

#include "data/overloads.h"
#include "panels/panel.h"

namespace fovea::drawing {

/// In a case for several kinds: [](const one_of<Raster, Strip> auto& body) { ... }.
template <class T, class... Kinds>
concept one_of = (std::same_as<T, Kinds> || ...);

template <class... Cases>
auto visit_body(const Panel& panel, Cases... cases) {
  return std::visit(Overloads{cases...}, panel.body);
}

}  // namespace fovea::drawing
