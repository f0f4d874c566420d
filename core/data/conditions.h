// HeadConditions are what somebody says about how a head is computed: a file of its layers, or a
// person by hand. What is absent is taken from the next source of conditions. `for_conditions` is
// the table of them, over which files, commands and questions loop.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "data/matrix.h"

namespace fovea {

struct HeadConditions {
  std::optional<bool> causal = {};
  std::optional<double> scale = {};
  std::optional<Index> window = {};     // 0 if there is none
  std::optional<double> soft_cap = {};  // 0 if there is none

  /// What is absent here is as in `others`.
  HeadConditions or_else(const HeadConditions& others) const;
  friend bool operator==(const HeadConditions&, const HeadConditions&) = default;
};

/// A row of the table: one of the HeadConditions.
template <class T>
struct Condition {
  std::optional<T> HeadConditions::*member;
  const char* id;         // in files, and after "--" in commands
  const char* name;       // in messages
  const char* meaning;    // a sentence without its full stop
  const char* otherwise;  // what holds if nobody says: "1/sqrt(d)"
  const char* expected;   // "a number of keys"
  bool (*allows)(T);
};

namespace condition {

inline constexpr Condition<bool> causal{&HeadConditions::causal,
                                        "causal",
                                        "causal mask",
                                        "Each query sees only keys up to its own position",
                                        "off",
                                        "true or false",
                                        [](bool) { return true; }};
inline constexpr Condition<double> scale{&HeadConditions::scale,
                                         "scale",
                                         "scale",
                                         "Logits are scale * q.k",
                                         "1/sqrt(d)",
                                         "a finite number above 0",
                                         [](double x) { return x > 0 && std::isfinite(x); }};
inline constexpr Condition<Index> window{
    &HeadConditions::window,
    "window",
    "sliding window",
    "Each query sees only this many keys up to its own position, as in Mistral's sliding window; "
    "0: all",
    "0",
    "a number of keys, or 0 for all",
    [](Index keys) { return keys >= 0 && keys <= INT32_MAX; }};
inline constexpr Condition<double> soft_cap{&HeadConditions::soft_cap,
                                            "softcap",
                                            "soft cap",
                                            "Logits x become C tanh(x / C) with this C; 0: no cap",
                                            "0",
                                            "a number from 0 to 1e30, where 0 means no cap",
                                            [](double x) { return x >= 0 && x <= 1e30; }};

}  // namespace condition

/// Calls `use` with each Condition.
template <class Use>
constexpr void for_conditions(Use use) {
  use(condition::causal);
  use(condition::scale);
  use(condition::window);
  use(condition::soft_cap);
}

/// "scale is 0; expected a finite number above 0"; empty if all that are there are allowed.
std::string fault_of(const HeadConditions& conditions);

}  // namespace fovea
