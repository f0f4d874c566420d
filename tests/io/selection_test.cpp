// Kept pairs beside q, k and v, in all forms that programs write: which tensors they are, and which
// pairs.
#include <doctest/doctest.h>

#include <cstring>
#include <span>

#include "io/file_bytes.h"
#include "io/tensor_source.h"
#include "messages.h"
#include "temporary_directory.h"

using namespace fovea;
using namespace fovea::test;

namespace {

NamedTensor list_of(const std::string& name, std::vector<Index> shape,
                    std::vector<std::int32_t> values) {
  auto owned = std::make_shared<std::vector<std::int32_t>>(std::move(values));
  return {.name = name,
          .dtype = "I32",
          .type = ElementType::i32,
          .shape = shape,
          .strides = packed_strides(shape, 4),
          .bytes = bytes_in_memory(std::as_bytes(std::span(*owned)), owned)};
}

NamedTensor no_numbers(const std::string& name, std::vector<Index> shape) {
  Index size = 1;
  for (const Index extent : shape) size *= extent;
  auto owned = std::make_shared<std::vector<float>>(static_cast<std::size_t>(size));
  return {.name = name,
          .dtype = "F32",
          .type = ElementType::f32,
          .shape = shape,
          .strides = packed_strides(shape, 4),
          .bytes = bytes_in_memory(std::as_bytes(std::span(*owned)), owned)};
}

using Metadata = std::map<std::string, std::string>;

/// Four heads that share two of keys, 4 queries, 6 keys.
Source source_that_keeps(std::vector<NamedTensor> more, Metadata metadata = {}) {
  std::vector<NamedTensor> tensors{no_numbers("l.q", {4, 4, 3}), no_numbers("l.k", {2, 6, 3}),
                                   no_numbers("l.v", {2, 6, 3})};
  tensors.insert(tensors.end(), more.begin(), more.end());
  return source_from_tensors(
      {"x.safetensors", "safetensors", std::move(tensors), std::move(metadata), {}}, {});
}

std::string pairs_text(const Source& source, Index head = 0, const std::string& name = {}) {
  const ImportedResults results{source.layers[0].imported, head};
  const auto mask =
      pairs_of(read_selection(results.named(name).kept, head, source.layers[0].lengths()), nullptr);
  std::string text;
  for (Index i = 0; i < 4; ++i) {
    if (i > 0) text += ' ';
    for (Index j = 0; j < 6; ++j) text += mask->admits(i, j) ? '1' : '0';
  }
  return text;
}

std::string faults_text(const Source& source) {
  const Selection selection =
      read_selection(source.layers[0].imported.at(0).kept, 0, source.layers[0].lengths());
  std::string text;
  for (const std::string& fault : faults_of(selection, {}, nullptr))
    text += (text.empty() ? "" : "; ") + fault;
  return text;
}

const std::string in_blocks = "110011 110011 001100 001100";  // of 2 x 2: 101 and 010

}  // namespace

TEST_CASE("the same pairs in all forms") {
  const auto of = [](std::vector<NamedTensor> more, Metadata metadata = {}) {
    return pairs_text(source_that_keeps(std::move(more), std::move(metadata)));
  };
  CHECK(of({list_of("l.kept", {2, 3}, {1, 0, 1, 0, 1, 0})}) == in_blocks);
  CHECK(of({list_of("l.kept", {4, 3}, {1, 0, 1, 1, 0, 1, 0, 1, 0, 0, 1, 0})}) == in_blocks);
  CHECK(of({list_of("l.kept", {4, 6}, {1, 1, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1,  //
                                       0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0})}) == in_blocks);
  const std::vector<NamedTensor> partial{list_of("l.kv_num_blocks", {1, 1, 2}, {2, 1}),
                                         list_of("l.kv_indices", {1, 1, 2, 3}, {2, 0, 1, 1, 0, 2})};
  CHECK(of(partial) == in_blocks);
  CHECK(of(partial, {{"BLOCK_SIZE", "(2, 2)"}}) == in_blocks);
  CHECK(of({list_of("full_kv_num_blocks", {2}, {2, 1}),
            list_of("full_kv_indices", {2, 3}, {0, 2, 9, 1, 9, 9})}) == in_blocks);
  // One block is full, and the others are partial.
  CHECK(of({list_of("l.kv_num_blocks", {2}, {1, 1}),
            list_of("l.kv_indices", {2, 3}, {2, 0, 0, 1, 0, 0}),
            list_of("l.full_kv_num_blocks", {2}, {1, 0}),
            list_of("l.full_kv_indices", {2, 3}, {0, 0, 0, 0, 0, 0})}) == in_blocks);
  CHECK(of({list_of("l.indices", {4, 4}, {5, 4, 1, 0, 0, 1, 4, 5, 2, 3, -1, -1, -1, 3, 2, -1})}) ==
        in_blocks);
  CHECK(of({list_of("l.indptr", {5}, {0, 4, 8, 10, 12}),
            list_of("l.indices", {12}, {5, 4, 1, 0, 0, 1, 4, 5, 2, 3, 3, 2})}) == in_blocks);
  CHECK(of({list_of("l.indptr", {3}, {0, 2, 3}), list_of("l.indices", {3}, {0, 2, 1}),
            list_of("l.BLOCK_SIZE", {1}, {2})}) == in_blocks);
  // Blocks of keys of each query, and of each block of queries.
  CHECK(of({list_of("l.block_indices", {4, 2}, {0, 2, 2, 0, 1, -1, -1, 1})},
           {{"l.block_size", "2"}}) == in_blocks);
  CHECK(of({list_of("l.block_indices", {2, 2}, {0, 2, 1, -1})}, {{"block_size", "2,2"}}) ==
        in_blocks);
}

TEST_CASE("lists are of one head, of the heads of keys or of all heads") {
  const auto rows = [](std::int32_t head) {
    return std::vector<std::int32_t>{head, head, head, head};
  };
  std::vector<std::int32_t> two, four;
  for (std::int32_t h = 0; h < 4; ++h) {
    if (h < 2) two.insert(two.end(), 4, h);
    four.insert(four.end(), 4, h);
  }
  const auto text = [](char key) {
    std::string row = "000000";
    row[static_cast<std::size_t>(key - '0')] = '1';
    return row + " " + row + " " + row + " " + row;
  };
  const Source one = source_that_keeps({list_of("l.indices", {1, 4, 1}, rows(3))});
  CHECK(pairs_text(one, 3) == text('3'));
  const Source grouped = source_that_keeps({list_of("l.indices", {2, 4, 1}, two)});
  CHECK(pairs_text(grouped, 1) == text('0'));
  CHECK(pairs_text(grouped, 2) == text('1'));
  const Source all = source_that_keeps({list_of("l.indices", {4, 4, 1}, four)});
  CHECK(pairs_text(all, 2) == text('2'));
  // The heads may come after the queries.
  const Source behind = source_that_keeps(
      {list_of("l.block_indices", {1, 4, 2, 1}, {0, 1, 0, 1, 0, 1, 0, 1})}, {{"block_size", "1"}});
  CHECK(pairs_text(behind, 0) == text('0'));
  CHECK(pairs_text(behind, 3) == text('1'));
}

TEST_CASE("each name is a selection of its own") {
  const Source source = source_that_keeps(
      {list_of("l.a.indices", {4, 1}, {0, 1, 2, 3}),
       list_of("l.b.kept", {2, 3}, {1, 0, 1, 0, 1, 0}), list_of("l.c.kv_num_blocks", {1}, {1}),
       list_of("l.c.kv_indices", {1, 1}, {0})},
      {{"l.c.block_size", "4,8"}});
  REQUIRE(source.layers[0].imported.size() == 3);
  CHECK(pairs_text(source, 0, "a") == "100000 010000 001000 000100");
  CHECK(pairs_text(source, 0, "b") == in_blocks);
  CHECK(pairs_text(source, 0, "c") == "111111 111111 111111 111111");
}

TEST_CASE("entries that are repeated or out of range are counted and named") {
  const Source source =
      source_that_keeps({list_of("l.indices", {4, 3}, {0, 0, 0, 1, 6, -1, -2, 2, 2, 3, 4, 5})});
  CHECK(pairs_text(source) == "100000 010000 001000 000111");
  CHECK(faults_text(source) ==
        "the lists repeat 3 entries: each pair counts once; 2 entries of the lists out of the "
        "range 0 to 5, first 6 in row 1: left out");
  CHECK(faults_text(source_that_keeps({list_of("l.indices", {4, 1}, {0, 1, 2, -1})})) ==
        "1 query has no kept key: output 0");
  // -1 is an entry where the count says so.
  CHECK(contains(
      faults_text(source_that_keeps({list_of("l.kv_num_blocks", {2}, {1, 1}),
                                     list_of("l.kv_indices", {2, 3}, {-1, 0, 0, 1, 0, 0})})),
      "1 entry of the lists out of the range 0 to 2, first -1 in row 0"));
}

TEST_CASE("kept pairs that the head does not count are counted") {
  const auto faults = [](Index block, bool causal, Index window) {
    const Index rows = 64 / block;
    BitMatrix blocks(rows, rows);
    for (Index r = 0; r < rows; ++r)
      for (Index c = 0; c < rows; ++c) blocks.set(r, c);
    const auto clauses = faults_of({.lengths = {64, 64}, .block = {block, block}, .blocks = blocks},
                                   band_of(causal, window, 0), nullptr);
    std::string text;
    for (const std::string& clause : clauses) text += (text.empty() ? "" : "; ") + clause;
    return text;
  };
  CHECK(faults(8, false, 0).empty());
  CHECK(faults(1, true, 0) == "2016 kept pairs lie in the future: left out");
  CHECK(faults(8, true, 0) ==
        "2016 kept pairs lie in the future: left out (224 in blocks at the edge of the causal "
        "mask)");
  CHECK(faults(64, true, 0) ==
        "2016 pairs of kept blocks at the edge of the causal mask lie in the future: left out, as "
        "usual");
  // Row i of the last 48 keeps i - 15 pairs before the window.
  CHECK(faults(1, true, 16) ==
        "2016 kept pairs lie in the future: left out; 1176 kept pairs lie "
        "before the sliding window: left out");
  // Partial blocks mean only those pairs that the head admits.
  BitMatrix all(1, 1);
  all.set(0, 0);
  CHECK(faults_of({.lengths = {64, 64}, .block = {64, 64}, .blocks = all, .partial = all},
                  band_of(true, 0, 0), nullptr)
            .empty());
  const PairMask documents({0, 1}, {0, 1}, {});
  BitMatrix four(2, 2);
  for (Index i = 0; i < 2; ++i)
    for (Index j = 0; j < 2; ++j) four.set(i, j);
  CHECK(faults_of({.lengths = {2, 2}, .block = {1, 1}, .blocks = four}, {}, &documents) ==
        std::vector<std::string>{"2 kept pairs that the mask of the head excludes: left out"});
}

TEST_CASE("blocks are as long as they must be to cover the head, square ones first") {
  const auto block = [](Index down, Index across) {
    const Source source = source_that_keeps({no_numbers("l.kept", {down, across})});
    const Lengths its = source.layers[0].imported.at(0).kept.block;
    return std::to_string(its.queries) + "x" + std::to_string(its.keys);
  };
  CHECK(block(4, 6) == "1x1");
  CHECK(block(2, 3) == "2x2");
  CHECK(block(1, 2) == "4x4");  // 4 x 3 and others would do, too
  CHECK(block(1, 1) == "8x8");
  CHECK(block(4, 3) == "1x2");
  CHECK(block(1, 6) == "4x1");
  CHECK_SAYS(block(3, 6), "x.safetensors", "l.kept", "[3,6]", "expected [4,6] or [4,4,6]",
             "blocks");
  CHECK_SAYS(block(8, 12), "[8,12]");
}

TEST_CASE("a mask of pairs of the head and of blocks leaves the pairs of both") {
  BitMatrix admitted(3, 5);
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 5; ++j)
      if (j != 1) admitted.set(i, j);
  const auto mask = std::make_shared<const PairMask>(std::vector<std::int32_t>{},
                                                     std::vector<std::int32_t>{}, admitted);
  BitMatrix blocks(2, 3);
  for (Index r = 0; r < 2; ++r)
    for (Index c = 0; c < 3; ++c)
      if (r == 0 || c > 0) blocks.set(r, c);
  const auto kept = pairs_of({.lengths = {3, 5}, .block = {2, 2}, .blocks = blocks}, mask);
  std::string text;
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 5; ++j) text += kept->admits(i, j) ? '1' : '0';
  CHECK(text == "101111011100111");
}

TEST_CASE("lists that do not fit are refused with what was found and expected") {
  const auto with = [](std::vector<NamedTensor> more, Metadata metadata = {}) {
    return pairs_text(source_that_keeps(std::move(more), std::move(metadata)));
  };
  const auto counts = list_of("l.kv_num_blocks", {2}, {1, 1});
  const auto lists = list_of("l.kv_indices", {2, 3}, {0, 0, 0, 0, 0, 0});
  CHECK_SAYS(with({lists}), "x.safetensors", "l.kv_indices", "without kv_num_blocks");
  CHECK_SAYS(with({counts}), "l.kv_num_blocks", "without kv_indices");
  CHECK_SAYS(with({list_of("l.indptr", {5}, {0, 0, 0, 0, 0})}), "l.indptr", "without indices");
  CHECK_SAYS(with({counts, lists, list_of("l.kept", {2, 3}, {0, 0, 0, 0, 0, 0})}), "l.kept",
             "l.kv_indices", "both say which pairs are kept");
  CHECK_SAYS(with({list_of("l.kv_num_blocks", {3}, {0, 0, 0}), lists}), "l.kv_num_blocks", "[3]",
             "expected [2]");
  CHECK_SAYS(with({list_of("l.kv_num_blocks", {2}, {1, 4}), lists}), "x.safetensors",
             "l.kv_num_blocks", "row 1 counts 4 blocks", "expected 0 to 3");
  CHECK_SAYS(with({counts, lists}, {{"block_size", "4"}}), "l.kv_indices", "[2,3]",
             "expected [1,most blocks]", "2 or 4 heads");
  CHECK_SAYS(with({counts, lists}, {{"block_size", "wide"}}), "block_size is 'wide'",
             "one or two whole numbers");
  CHECK_SAYS(with({counts, lists}, {{"block_size", "1,2,3"}}), "block_size is '1,2,3'");
  CHECK_SAYS(with({counts, lists, list_of("l.block_size", {3}, {1, 2, 3})}), "of shape [3]");
  CHECK_SAYS(with({counts, lists, list_of("l.block_size", {1}, {0})}), "block_size is 0");
  CHECK_SAYS(with({no_numbers("l.indices", {4, 2})}), "l.indices", "dtype F32",
             "expected I32 or I64");
  CHECK_SAYS(with({list_of("l.indices", {3, 2}, {0, 0, 0, 0, 0, 0})}), "l.indices", "[3,2]",
             "expected [4,most keys]");
  CHECK_SAYS(with({list_of("l.indices", {3, 4, 1}, std::vector<std::int32_t>(12))}), "[3,4,1]");
  CHECK_SAYS(with({list_of("l.block_indices", {4, 1}, {0, 0, 0, 0})}), "l.block_indices",
             "without block_size");
  CHECK_SAYS(with({list_of("l.block_indices", {3, 1}, {0, 0, 0})}, {{"block_size", "2"}}),
             "expected [4 or 2,most blocks]");
  const auto entries = list_of("l.indices", {3}, {0, 1, 2});
  CHECK_SAYS(with({list_of("l.indptr", {4}, {0, 1, 2, 3}), entries}), "l.indptr", "expected [5]");
  CHECK_SAYS(with({list_of("l.indptr", {5}, {0, 1, 3, 2, 3}), entries}), "l.indptr",
             "from 3 to 2 in row 2");
  CHECK_SAYS(with({list_of("l.indptr", {5}, {0, 1, 2, 3, 4}), entries}), "from 0 to 4",
             "at most 3");
  // A file that holds such numbers for other reasons opens.
  CHECK(source_that_keeps({}, {{"block_size", "wide"}}).layers[0].imported.empty());
}

TEST_CASE("bits of a row, where they are held and where they are made") {
  class Fifths final : public BitRows::Maker {
   public:
    explicit Fifths(Index first) : first_(first) {}
    void make(Index row, std::uint32_t* words) const override {
      for (Index j = (row + first_) % 5; j < 100; j += 5) set_bits(words, {j, j + 1});
    }

   private:
    Index first_;
  };
  BitMatrix bits(200, 100);
  for (Index i = 0; i < 200; ++i)
    for (Index j = i % 5; j < 100; j += 5) bits.set(i, j);
  const BitRows held(bits), made(200, 100, std::make_shared<const Fifths>(0)),
      others(200, 100, std::make_shared<const Fifths>(1));
  CHECK(held.held());
  CHECK_FALSE(made.held());
  for (const Index i : {0, 192, 1, 193, 0, 199}) {
    for (Index j = 0; j < 100; ++j) CHECK(made(i, j) == held(i, j));
    CHECK(others(i, i % 5) == false);
    CHECK(made(i, i % 5));
  }
  std::uint32_t row[4] = {};
  set_bits(row, {3, 3});
  CHECK(next_bit(row, true, {0, 100}) == 100);
  set_bits(row, {30, 70});
  set_bits(row, {72, 73});
  set_bits(row, {96, 100});
  CHECK(count_bits(row, {0, 100}) == 45);
  CHECK(count_bits(row, {31, 64}) == 33);
  CHECK(count_bits(row, {64, 64}) == 0);
  CHECK(next_bit(row, true, {0, 100}) == 30);
  CHECK(next_bit(row, false, {30, 100}) == 70);
  CHECK(next_bit(row, true, {73, 90}) == 90);
  CHECK(runs_of_bits(row, 4) == std::vector<IndexRange>{{30, 70}, {72, 73}, {96, 100}});
  CHECK(runs_of_bits(row, 4, 2) == std::vector<IndexRange>{{30, 73}, {96, 100}});
}

TEST_CASE("entries of lists that are read row by row are counted as those that are held") {
  constexpr std::int32_t n = 200;
  std::vector<std::int32_t> few, padded;  // the same entries, in lists so long that they are held
  for (std::int32_t i = 0; i < n; ++i) {
    const std::int32_t listed[] = {(7 * i) % n, i == 150 ? n : i == 3 ? -5 : (11 * i) % n, i / 2};
    few.insert(few.end(), std::begin(listed), std::end(listed));
    padded.insert(padded.end(), std::begin(listed), std::end(listed));
    padded.insert(padded.end(), 20, -1);
  }
  const auto clauses = [](std::vector<std::int32_t> entries, bool held) {
    const Index most = std::ssize(entries) / n;
    const NamedTensor lists = list_of("l.indices", {n, most}, std::move(entries));
    const Selection selection = read_selection({.lists = {.where = "",
                                                          .entries = {.type = *lists.type,
                                                                      .bytes = lists.bytes,
                                                                      .heads = 1,
                                                                      .rows = n,
                                                                      .cols = most,
                                                                      .row_stride = 4 * most,
                                                                      .col_stride = 4}}},
                                               0, {n, n});
    CHECK(selection.blocks.held() == held);
    return faults_of(selection, band_of(true, 40, 0), nullptr);
  };
  const std::vector<std::string> found = clauses(few, false);
  CHECK(found == clauses(padded, true));
  REQUIRE(found.size() >= 4);
  CHECK(contains(found[0], "the lists repeat"));
  CHECK(contains(found[1], "2 entries of the lists out of the range 0 to 199, first -5 in row 3"));
  CHECK(contains(found[2], "lie in the future"));
  CHECK(contains(found[3], "before the sliding window"));
}

namespace {

/// Whole numbers in memory, of which reads are counted.
class Counted final : public Bytes {
 public:
  explicit Counted(std::vector<std::int32_t> values) : values_(std::move(values)) {}
  void read(Index begin, std::span<std::byte> out) const override {
    ++reads;
    std::memcpy(out.data(), reinterpret_cast<const std::byte*>(values_.data()) + begin, out.size());
  }
  mutable int reads = 0;

 private:
  std::vector<std::int32_t> values_;
};

}  // namespace

TEST_CASE("lists whose columns follow one another are read by columns, once") {
  constexpr Index n = 3000, most = 4;
  const auto key = [](Index i, Index e) {
    return static_cast<std::int32_t>((i * 7 + e * 911) % n);
  };
  std::vector<std::int32_t> by_columns;
  for (Index e = 0; e < most; ++e)
    for (Index i = 0; i < n; ++i) by_columns.push_back(key(i, e));
  const auto bytes = std::make_shared<const Counted>(std::move(by_columns));
  const Selection selection = read_selection({.lists = {.where = "",
                                                        .entries = {.type = ElementType::i32,
                                                                    .bytes = bytes,
                                                                    .heads = 1,
                                                                    .rows = n,
                                                                    .cols = most,
                                                                    .row_stride = 4,
                                                                    .col_stride = 4 * n}}},
                                             0, {n, n});
  REQUIRE_FALSE(selection.blocks.held());
  bool same = true;
  for (Index i = 0; i < n; ++i) {
    same &= count_bits(selection.blocks.row(i), {0, n}) == most;
    for (Index e = 0; e < most; ++e) same &= selection.blocks(i, key(i, e));
  }
  CHECK(same);
  CHECK(bytes->reads == most);
}

TEST_CASE("lists in a file that was changed since are not read as if they were the same") {
  constexpr Index n = 100;
  const TemporaryDirectory folder;
  const std::string path = folder.write("lists", std::string(n * 4, '\0'));
  const Selection selection =
      read_selection({.lists = {.where = path,
                                .entries = {.type = ElementType::i32,
                                            .bytes = std::make_shared<const FileBytes>(path),
                                            .heads = 1,
                                            .rows = n,
                                            .cols = 1,
                                            .row_stride = 4,
                                            .col_stride = 4}}},
                     0, {n, n});
  REQUIRE_FALSE(selection.blocks.held());
  const auto pairs = pairs_of(selection, nullptr);
  CHECK(pairs->count(5, {0, n}) == 1);
  folder.write("lists", std::string(n * 4 + 1, '\1'));
  CHECK_SAYS(pairs->count(6, {0, n}), path, "was changed after it was opened");
  CHECK_SAYS(faults_of(selection, {}, nullptr), path, "open it again");
}

TEST_CASE("compressed rows are read by rows, whose entries follow one another") {
  constexpr Index n = 3000, each = 4;
  std::vector<std::int32_t> begins, keys;
  for (Index i = 0; i < n; ++i) {
    begins.push_back(static_cast<std::int32_t>(keys.size()));
    for (Index e = 0; e < each; ++e)
      keys.push_back(static_cast<std::int32_t>((i * 7 + e * 911) % n));
  }
  begins.push_back(static_cast<std::int32_t>(keys.size()));
  const auto list = [](const std::shared_ptr<const Counted>& bytes, Index count) {
    return HeadTensor{.type = ElementType::i32,
                      .bytes = bytes,
                      .heads = 1,
                      .rows = 1,
                      .cols = count,
                      .col_stride = 4};
  };
  const auto entries = std::make_shared<const Counted>(std::move(keys));
  const Selection selection = read_selection(
      {.lists = {.where = "",
                 .entries = list(entries, n * each),
                 .begins = list(std::make_shared<const Counted>(std::move(begins)), n + 1)}},
      0, {n, n});
  REQUIRE_FALSE(selection.blocks.held());
  CHECK(entries->reads <= n);  // the rows are looked at once, for faults
  CHECK(count_bits(selection.blocks.row(1234), {0, n}) == each);
}
