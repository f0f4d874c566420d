// Overloads make one visitor of a variant from a function for each of its kinds.
#pragma once

#include <concepts>
#include <variant>

namespace fovea {

template <class... Cases>
struct Overloads : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloads(Cases...) -> Overloads<Cases...>;

/// In a case for several kinds: [](const one_of<Raster, Strip> auto& body) { ... }.
template <class T, class... Kinds>
concept one_of = (std::same_as<T, Kinds> || ...);

/// Whether a visitor has a case for each kind of a variant.
template <class Visitor, class Variant>
constexpr bool handles_all = false;
template <class Visitor, class... Kinds>
constexpr bool handles_all<Visitor, std::variant<Kinds...>> =
    (std::invocable<Visitor&, const Kinds&> && ...);

}  // namespace fovea
