#include "io/tensor_groups.h"

#include <algorithm>
#include <map>
#include <utility>

#include "data/error.h"
#include "data/text.h"

namespace fovea {

std::string TensorGroup::complaint() const {
  std::string found, missing;
  for (const auto& [role, name] :
       {std::pair{Role::q, "q"}, std::pair{Role::k, "k"}, std::pair{Role::v, "v"}}) {
    if (const NamedTensor* tensor = (*this)[role])
      add_item(found, fovea::quoted(tensor->name));
    else
      add_item(missing, name);
  }
  return found + " without " + missing;
}

std::vector<TensorGroup> groups_of(const TensorFile& file) {
  std::vector<TensorGroup> groups;
  std::map<std::string_view, std::size_t> place;
  for (const NamedTensor& tensor : file.tensors) {
    const auto name = parse_tensor_name(tensor.name);
    if (!name) continue;
    const auto [at, fresh] = place.try_emplace(name->prefix, groups.size());
    if (fresh) groups.push_back({.prefix = std::string(name->prefix)});
    auto& slot = groups[at->second].tensors[static_cast<std::size_t>(name->role)];
    const auto rotated = [](const NamedTensor& of) { return parse_tensor_name(of.name)->rotated; };
    if (slot && rotated(*slot) != name->rotated) {
      if (name->rotated) slot = &tensor;
      continue;
    }
    if (slot)
      throw InputError(file.path, fovea::quoted(slot->name) + " and " + fovea::quoted(tensor.name) +
                                      " could both be meant; expected one of them");
    slot = &tensor;
  }
  for (const TensorGroup& group : groups)
    if (group[Role::qkv] && group[Role::q])
      throw InputError(file.path, fovea::quoted(group[Role::qkv]->name) + " and " +
                                      fovea::quoted(group[Role::q]->name) +
                                      " could both be meant; expected one of them");
  std::ranges::stable_sort(groups, natural_less, &TensorGroup::prefix);  // merges runs in order
  return groups;
}

}  // namespace fovea
