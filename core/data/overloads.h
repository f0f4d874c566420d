// Overloads make one visitor of a variant from a function for each of its kinds.
#pragma once

namespace fovea {

template <class... Cases>
struct Overloads : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloads(Cases...) -> Overloads<Cases...>;

}  // namespace fovea
