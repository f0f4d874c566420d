// A Vocabulary is the names of tokens and their ids.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace fovea {

class Vocabulary {
 public:
  /// Nothing changes where the name or the id is there already: false.
  bool add(std::string name, std::int32_t id);
  std::optional<std::int32_t> id_of(std::string_view name) const;
  /// The name of a token, valid as long as the vocabulary; null if there is no such id.
  const std::string* name_of(std::int32_t id) const;
  std::size_t size() const { return names_.size(); }
  /// One more than the largest id.
  std::int32_t end() const { return end_; }
  std::size_t longest_name() const { return longest_name_; }  // bytes

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> ids_;
  std::unordered_map<std::int32_t, const std::string*> names_;  // in the keys of ids_
  std::int32_t end_ = 0;
  std::size_t longest_name_ = 0;
};

}  // namespace fovea
