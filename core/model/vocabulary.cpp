#include "model/vocabulary.h"

#include <algorithm>
#include <utility>

namespace fovea {

bool Vocabulary::add(std::string name, std::int32_t id) {
  if (names_.contains(id)) return false;
  const auto [place, added] = ids_.emplace(std::move(name), id);
  if (!added) return false;
  names_.emplace(id, &place->first);
  end_ = std::max(end_, id + 1);
  longest_name_ = std::max(longest_name_, place->first.size());
  return true;
}

std::optional<std::int32_t> Vocabulary::id_of(std::string_view name) const {
  const auto found = ids_.find(name);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

const std::string* Vocabulary::name_of(std::int32_t id) const {
  const auto found = names_.find(id);
  return found == names_.end() ? nullptr : found->second;
}

}  // namespace fovea
