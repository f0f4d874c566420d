// Lists as text: "exact, h1d, hyper".
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace fovea {

/// Adds an item to a list, after `between` unless it is the first.
inline void add_item(std::string& list, std::string_view item, std::string_view between = ", ") {
  if (!list.empty()) list += between;
  list += item;
}

/// "gpt2, layer 4": a name, unless it is empty, and more about it.
inline std::string named(std::string name, std::string_view more) {
  add_item(name, more);
  return name;
}

/// The list of the items' texts: of the items themselves, or a member, or what a function makes.
template <class Items, class Text = std::identity>
std::string join(const Items& items, const Text& text_of = {}, std::string_view between = ", ") {
  std::string list;
  for (const auto& item : items) add_item(list, std::invoke(text_of, item), between);
  return list;
}

}  // namespace fovea
