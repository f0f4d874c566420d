#include "io/tensor_names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace fovea {
namespace {

struct Ending {
  std::string_view word;
  Role role;
  bool hook = false, rotated = false;
};

/// Longer endings first: query_key_value also ends in value.
constexpr Ending endings[] = {
    {"attention_weights", Role::attention},
    {"attention_probs", Role::attention},
    {"query_key_value", Role::qkv},
    {"attn_weights", Role::attention},
    {"hook_pattern", Role::attention},
    {"query_states", Role::q},
    {"value_states", Role::v},
    {"query_layer", Role::q},
    {"value_layer", Role::v},
    {"hook_rot_q", Role::q, true, true},
    {"hook_rot_k", Role::k, true, true},
    {"key_states", Role::k},
    {"key_layer", Role::k},
    {"attention", Role::attention},
    {"qkv_proj", Role::qkv},
    {"hook_q", Role::q, true},
    {"hook_k", Role::k, true},
    {"hook_v", Role::v, true},
    {"q_proj", Role::q},
    {"k_proj", Role::k},
    {"v_proj", Role::v},
    {"query", Role::q},
    {"value", Role::v},
    {"key", Role::k},
    {"qkv", Role::qkv},
    {"q", Role::q},
    {"k", Role::k},
    {"v", Role::v},
    {"a", Role::attention},
};

constexpr std::size_t longest_ending = [] {
  std::size_t longest = 0;
  for (const Ending& ending : endings) longest = std::max(longest, ending.word.size());
  return longest;
}();

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The run of digits at `at`, without leading zeros; moves `at` behind it.
std::string_view number_at(const std::string& text, std::size_t& at) {
  const std::size_t begin = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  std::string_view digits(text.data() + begin, at - begin);
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

}  // namespace

std::optional<TensorName> parse_tensor_name(std::string_view name) {
  std::array<char, longest_ending> end;
  const std::string_view tail = name.substr(name.size() - std::min(name.size(), end.size()));
  std::ranges::transform(tail, end.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string_view lower(end.data(), tail.size());
  for (const auto& [word, role, hook, rotated] : endings) {
    if (!lower.ends_with(word)) continue;
    if (name.size() == word.size()) return TensorName{role, "", hook, rotated};
    const std::size_t mark = name.size() - word.size() - 1;
    if (std::string_view("./:_-").find(name[mark]) == std::string_view::npos) continue;
    // A final "a" may be an article or one half of a LoRA pair, unless it is a component by itself.
    if (word == "a" && (name[mark] == '_' || name[mark] == '-')) continue;
    return TensorName{role, name.substr(0, mark), hook, rotated};
  }
  return std::nullopt;
}

bool natural_less(const std::string& a, const std::string& b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::string_view x = number_at(a, i), y = number_at(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i, ++j;
    }
  }
  if (i == a.size() && j == b.size()) return a < b;  // x01 and x1 are different names
  return i == a.size();
}

}  // namespace fovea
