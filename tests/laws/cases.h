// The cases of the laws: every variant of the table in several settings, small enough that short
// sequences have many blocks.
#pragma once

#include <vector>

#include "harness.h"

namespace fovea::test {

struct Case {
  const char* id;
  Settings settings;
  Index head = 0;
  bool leaks_the_future = false;  // under a causal mask, and says so
  bool rows_sum_to_one = true;    // or to 0 where no key is attended
};

inline const std::vector<Case>& all_cases() {
  static const std::vector<Case> list{
      {"exact", {}},
      {"h1d", {{"block", "2"}}},
      {"h1d", {{"block", "4"}, {"structure", "nested"}}},
      {"h1d", {{"block", "2"}, {"causal_query", "fine"}}},
      {"h1d", {{"block", "6"}, {"structure", "nested"}, {"causal_query", "fine"}}},
      {"h1d", {{"block", "4"}, {"causal_query", "mean"}}, 0, true},
      {"h1d", {{"block", "16"}}},
      {"fixed", {{"stride", "4"}, {"summary", "1"}}},
      {"fixed", {{"stride", "16"}, {"summary", "3"}, {"heads", "split"}}, 1},
      {"fixed", {{"stride", "8"}, {"summary", "2"}, {"subblocks", "3"}}, 2},
      {"fixed", {{"stride", "70"}, {"summary", "70"}, {"heads", "first"}}},
      {"strided", {{"stride", "4"}}},
      {"strided", {{"stride", "7"}, {"heads", "second"}}},
      {"strided", {{"stride", "1"}}},
      {"strided", {{"stride", "100"}, {"heads", "split"}}, 2},
      {"tf", {{"height", "3"}}},
      {"tf", {{"height", "5"}, {"tree", "random"}, {"empty", "ancestor"}}},
      {"tf", {{"branching", "3,4"}, {"empty", "ancestor"}}},
      {"tf", {{"branching", "5"}, {"tree", "random"}}},
      {"tc", {{"height", "3"}}, 0, false, false},
      {"tc", {{"height", "4"}, {"alpha", "0.5,-0.25,1,0,0.125"}}, 0, false, false},
      {"tc", {{"branching", "3,2"}, {"tree", "random"}}, 0, false, false},
      {"hyper", {{"block", "4"}, {"samples", "6"}, {"projections", "3"}, {"min_length", "0"}}},
      {"hyper", {{"block", "16"}, {"samples", "40"}, {"projections", "5"}, {"min_length", "8"}}},
      {"hyper", {{"block", "1"}, {"samples", "1"}, {"projections", "1"}, {"min_length", "1"}}},
      {"hyper", {}},
  };
  return list;
}

inline std::string describe(const Case& c) {
  std::string text = c.id;
  for (const auto& [id, value] : c.settings) text += " " + id + "=" + value;
  return text;
}

struct Shape {
  Index n, d, dv;
};

/// Around the sizes of vectors, strips and steps of the back ends.
inline const std::vector<Shape>& all_shapes() {
  static const std::vector<Shape> list{
      {1, 3, 5},    {2, 1, 1},  {3, 3, 2},   {15, 64, 3},  {16, 3, 16},   {17, 80, 17}, {63, 1, 64},
      {64, 64, 64}, {65, 3, 1}, {97, 80, 5}, {127, 3, 80}, {200, 64, 31}, {257, 3, 20}};
  return list;
}

/// What a program tests, of its back ends: all of it, or less where they are slow.
const std::vector<Case>& cases();
const std::vector<Shape>& shapes();

}  // namespace fovea::test
