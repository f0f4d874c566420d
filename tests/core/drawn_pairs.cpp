// Rectangles that include and exclude pairs, against a mask in which they are painted one by one.
#include "data/drawn_pairs.h"

#include <doctest/doctest.h>

#include <random>

#include "messages.h"
#include "variants/drawn.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// A mask of pairs, on which rectangles are painted one after another.
struct Painting {
  Lengths lengths;
  std::vector<bool> mask;

  Painting(Lengths of, bool all)
      : lengths(of), mask(static_cast<std::size_t>(of.queries * of.keys), all) {}
  void add(const DrawnRectangle& its) {
    for (Index i = its.queries.begin; i < std::min(its.queries.end, lengths.queries); ++i)
      for (Index j = its.keys.begin; j < std::min(its.keys.end, lengths.keys); ++j)
        mask[static_cast<std::size_t>(i * lengths.keys + j)] = its.includes;
  }
};

std::vector<bool> listed(const DrawnPairs& pairs, Lengths lengths) {
  std::vector<bool> mask(static_cast<std::size_t>(lengths.queries * lengths.keys));
  Index end = 0;
  for (const DrawnRows& rows : pairs.rows(lengths)) {
    CHECK(rows.queries.begin >= end);
    end = rows.queries.end;
    Index free = -1;  // the first key that may begin a run
    for (const IndexRange& keys : rows.keys) {
      CHECK(keys.begin > free);
      CHECK(keys.size() > 0);
      free = keys.end;
      for (Index i = rows.queries.begin; i < rows.queries.end; ++i)
        for (Index j = keys.begin; j < keys.end; ++j)
          mask[static_cast<std::size_t>(i * lengths.keys + j)] = true;
    }
  }
  return mask;
}

}  // namespace

TEST_CASE("drawn rectangles keep what is painted in their order, beyond the head too") {
  std::mt19937 random(5);
  const auto range = [&](Index n) {
    const Index begin = Index(random() % unsigned(n));
    return IndexRange{begin, begin + 1 + Index(random() % unsigned(n / 2))};
  };
  for (int round = 0; round < 200; ++round) {
    const Lengths lengths{20, 1 + Index(random() % 30)};
    DrawnPairs pairs(round % 2 == 0);
    Painting painting(lengths, round % 2 == 0);
    std::string text = round % 2 == 0 ? "all" : "";
    for (int k = 0; k < 12; ++k) {
      const DrawnRectangle next{range(24), range(24), random() % 2 == 0};
      pairs.add(next);
      painting.add(next);
      DrawnPairs alone;
      alone.add(next);
      text += ' ' + alone.text();
    }
    CHECK(painting.mask == listed(pairs, lengths));
    CHECK(DrawnPairs::from_text(text) == pairs);
    CHECK(DrawnPairs::from_text(pairs.text()) == pairs);
  }
}

TEST_CASE("drawn pairs are text with the first and last tokens, and what is none is named") {
  const DrawnPairs pairs = DrawnPairs::from_text(" all  !0-63/128-191 5/0-7");
  CHECK(pairs.all());
  REQUIRE(pairs.rectangles().size() == 2);
  CHECK(pairs.rectangles()[0] == DrawnRectangle{{0, 64}, {128, 192}, false});
  CHECK(pairs.rectangles()[1] == DrawnRectangle{{5, 6}, {0, 8}, true});
  CHECK(pairs.text() == "all !0-63/128-191 5/0-7");
  CHECK(DrawnPairs::from_text("").text().empty());
  for (const char* text : {"5", "5/", "/5", "0-/1", "3-2/1", "-1/2", "1/2/3", "1/2,3/4", "x/1",
                           "0/99999999999999999999", "0/2147483647", "1/1 all", "!all", "1.5/2"})
    CHECK(message_of<UsageError>([&] {
            DrawnPairs::from_text(text);
          }).find("is no rectangle; expected queries/keys") != std::string::npos);
  std::string many;
  for (std::size_t k = 0; k <= DrawnPairs::most; ++k)
    many += std::to_string(2 * k) + "/" + std::to_string(2 * k) + " ";
  CHECK(message_of<UsageError>([&] { DrawnPairs::from_text(many); }) ==
        "pairs: more than 4096 rectangles; draw fewer, or in larger blocks");
}

TEST_CASE("what is drawn has the nearest edges of blocks, of which the end of the head is one") {
  const Lengths lengths{341, 64};
  const auto snapped = [&](IndexRange queries, IndexRange keys) {
    return in_blocks({queries, keys, true}, 16, lengths);
  };
  CHECK(snapped({3, 20}, {9, 64}) == DrawnRectangle{{0, 16}, {16, 64}, true});
  CHECK(snapped({176, 341}, {0, 1}) == DrawnRectangle{{176, 341}, {0, 16}, true});
  CHECK(snapped({340, 341}, {63, 64}) == DrawnRectangle{{336, 341}, {48, 64}, true});
  CHECK(snapped({30, 33}, {60, 61}) == DrawnRectangle{{16, 32}, {48, 64}, true});
  CHECK(in_blocks({{5, 6}, {7, 9}, false}, 1, lengths) == DrawnRectangle{{5, 6}, {7, 9}, false});
  CHECK(in_blocks({{5, 6}, {7, 9}, true}, 1000, lengths) ==
        DrawnRectangle{{0, 341}, {0, 64}, true});
}
