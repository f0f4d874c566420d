// visit_body calls the case for the kind of a panel's body. Some case must name every kind: a
// function that misses a new kind does not compile.
#pragma once

#include "data/overloads.h"
#include "panels/panel.h"

namespace fovea::drawing {

template <class... Cases>
auto visit_body(const Panel& panel, Cases... cases) {
  return std::visit(Overloads{cases...}, panel.body);
}

/// Whether the body of a panel is one of these. False without a panel.
template <class... Bodies>
bool is_one_of(const Panel* panel) {
  return panel && (std::holds_alternative<Bodies>(panel->body) || ...);
}

}  // namespace fovea::drawing
