// What the items of the papers find, for their tests.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "harness.h"
#include "input/open_source.h"
#include "papers/paper_figure.h"
#include "tiny_text_model.h"

namespace fovea::test {

inline PaperResult result_of(const std::string& id, const Source& source, Index longest = 512) {
  Profile profile;
  Run run{profile};
  const TinyTextModel model;
  return find_paper_figure(id).make(
      {*backends().front(), source, longest, model.address("the cat sat at the cafe .")}, run);
}

inline PaperResult result_of(const std::string& id, const std::string& example,
                             Index longest = 512) {
  return result_of(id, open_source(example), longest);
}

inline const PaperNumber& number(const PaperResult& result, const std::string& id) {
  const auto found = std::ranges::find(result.numbers, id, &PaperNumber::id);
  REQUIRE_MESSAGE(found != result.numbers.end(), id);
  return *found;
}

}  // namespace fovea::test
