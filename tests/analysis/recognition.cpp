// Results that contradict their own mask or head: what they equal is recognised. The inputs are
// those of public reports, made small.
#include <doctest/doctest.h>

#include "analysis/imported_columns.h"
#include "analysis/wrong_rows.h"
#include "laws/compressed_heads.h"
#include "messages.h"

using namespace fovea;
using namespace fovea::test;

namespace {

std::string findings(const Problem& head) {
  std::string text;
  for (const std::string& sentence : sentences_of(AgainstExact(head).figures))
    text += (text.empty() ? "" : "; ") + sentence;
  return text;
}

Matrix mask_of(Index rows, Index cols, bool (*keeps)(Index, Index)) {
  Matrix out(rows, cols);
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) out(r, c) = keeps(r, c) ? 1.0f : 0.0f;
  return out;
}

/// The head with z by a kernel of another head, and what it says that it keeps.
std::string findings_of(const Problem& head, const Problem& computed, SelectionTensors kept = {}) {
  return findings(with(
      head, {.z = tensor(run_kernel(computed, to_fp32, everything).z), .kept = std::move(kept)}));
}

Problem keeping(Problem head, BitMatrix pairs) {
  head.mask = std::make_shared<const PairMask>(std::vector<std::int32_t>(),
                                               std::vector<std::int32_t>(), std::move(pairs));
  return head;
}

}  // namespace

TEST_CASE("flash-attention#2897: a kernel that ignores its block lists gives all pairs") {
  const Problem head = make_data(Data::gaussian, 96, 16, 8, false);
  const auto first_block = [](Index, Index col) { return col == 0; };
  const auto kept = [&] {
    return SelectionTensors{.block = {32, 16}, .mask = tensor(mask_of(3, 6, first_block))};
  };
  CHECK(findings_of(head, head, kept()) ==
        "z is not what the kept pairs give, in all 96 rows; it equals exact attention over all "
        "pairs, up to rounding to F32");
  BitMatrix pairs(96, 96);
  for (Index i = 0; i < 96; ++i)
    for (Index j = 0; j < 16; ++j) pairs.set(i, j);
  CHECK(findings_of(head, keeping(head, std::move(pairs)), kept()) ==
        "z is what the kept pairs give, up to rounding to F32");
}

TEST_CASE("transformers#45820: a selection that sees the future") {
  const Problem causal = make_data(Data::gaussian, 64, 8, 6, true);
  Problem open = causal;
  open.causal = false;
  const auto all = [](Index, Index) { return true; };
  const Problem head =
      with(causal, {.z = tensor(run_kernel(open, to_fp32, everything).z),
                    .kept = {.block = {8, 8}, .mask = tensor(mask_of(8, 8, all))}});
  CHECK(findings(head) ==
        "z is not what the kept pairs give, in rows 0 to 62; it equals the softmax over the kept "
        "pairs without the causal mask of the head, up to rounding to F32");
  const auto plan = make_plan(*backends().front(), head, "imported", {});
  CHECK(std::ranges::count(plan->notes,
                           "2016 kept pairs lie in the future: left out (224 in blocks at the edge "
                           "of the causal mask)") == 1);
}

TEST_CASE("tt-metal#54833: keys that are padded with zeros and not masked") {
  const Problem head = make_data(Data::gaussian, 40, 8, 6, true);
  Kernel kernel = run_kernel(head, to_fp32, everything);
  for (Index i = 0; i < 40; ++i) {
    const double sum = std::exp(static_cast<double>(kernel.lse[static_cast<std::size_t>(i)]));
    for (Index c = 0; c < 6; ++c)
      kernel.z(i, c) = static_cast<float>(static_cast<double>(kernel.z(i, c)) * sum / (sum + 24));
  }
  CHECK(contains(findings(with(head, {.z = tensor(std::move(kernel.z))})),
                 "it equals attention with 24 more keys of zeros, as padding that no mask leaves "
                 "out, up to rounding to F32"));
}

TEST_CASE("unsloth PR 8253: a window that is not applied") {
  Problem head = make_data(Data::gaussian, 64, 8, 6, true);
  const Problem open = head;
  head.window = 16;
  CHECK(findings_of(head, open) ==
        "z is not exact attention of this head, in rows 16 to 63, the last 48; it equals exact "
        "attention without the sliding window, up to rounding to F32");
}

/// The head with z over other pairs (i, key) of it, and perhaps what it says that it keeps.
template <class Sees>
std::string findings_over(const Problem& head, Sees sees, SelectionTensors kept = {}) {
  BitMatrix pairs(head.queries(), head.keys());
  for (Index i = 0; i < head.queries(); ++i)
    for (Index key = 0; key < head.keys(); ++key)
      if (sees(i, key)) pairs.set(i, key);
  Problem other = keeping(head, std::move(pairs));
  other.compressed = nullptr;
  Matrix z = make_instance(*backends().front(), other, "exact", {}).apply(other.v).z;
  return findings(with(head, {.z = tensor(std::move(z)), .kept = std::move(kept)}));
}

TEST_CASE(
    "Megatron-LM#5776: a teacher that forgets its window, its compressed entries or its sink") {
  const CompressedHead own{.tokens = 64, .queries = 64, .size = 4, .window = 16, .sink = 1.0};
  const Problem data = make_data(Data::gaussian, 64, 8, 6, false), head = own.of(data);
  const auto is_entry = [](Index key) { return key >= 64; };
  CHECK(
      findings_over(
          head, [&](Index i, Index key) { return is_entry(key) ? own.sees(i, key) : key <= i; }) ==
      "z is not exact attention of this head, in rows 16 to 63, the last 48; it equals exact "
      "attention without the sliding window, up to rounding to F32");
  CHECK(
      findings_over(head, [&](Index i, Index key) { return !is_entry(key) && own.sees(i, key); }) ==
      "z is not exact attention of this head, in rows 3 to 63, the last 61; it equals exact "
      "attention without the compressed entries, up to rounding to F32");
  // Entries of later tokens, from the first query on.
  CHECK(contains(
      findings_over(head, [&](Index i, Index key) { return is_entry(key) || own.sees(i, key); }),
      "it equals exact attention without the causal mask of its compressed entries, up to rounding "
      "to F32"));
  CHECK(contains(findings_over(head, [](Index i, Index key) { return key >= 64 || key > i - 16; }),
                 "it equals exact attention without the causal mask, up to rounding to F32"));
  CompressedHead bidirectional = own;
  bidirectional.causal = false;
  CHECK(contains(
      findings_over(bidirectional.of(data), [&](Index i, Index key) { return own.sees(i, key); }),
      "it equals exact attention under a causal mask, up to rounding to F32"));
  Problem without_sink = head;
  without_sink.rule = nullptr;
  Matrix z = make_instance(*backends().front(), without_sink, "exact", {}).apply(head.v).z;
  CHECK(contains(findings(with(head, {.z = tensor(std::move(z))})),
                 "it equals exact attention without the sink, up to rounding to F32"));
  CHECK(findings_over(head, [&](Index i, Index key) { return own.sees(i, key); }).empty());
}

TEST_CASE("a kernel that forgets which compressed entries were chosen") {
  CompressedHead all{.tokens = 48, .queries = 48, .size = 4, .window = 8};
  CompressedHead own = all;
  for (Index i = 0; i < 48; ++i) own.chosen.push_back(static_cast<float>(i / 8));
  const Problem head = own.of(make_data(Data::gaussian, 48, 8, 6, false));
  CHECK(contains(
      findings_over(head, [&](Index i, Index key) { return all.sees(i, key); }),
      "it equals exact attention without the choice of compressed entries, up to rounding to F32"));
}

TEST_CASE("compressed entries beside a mask of the file and pairs that a kernel keeps") {
  // The window is forgotten alone: the mask of the file and the kept pairs stay as they are.
  const CompressedHead own{.tokens = 40, .queries = 40, .size = 4, .window = 6},
      wide{.tokens = 40, .queries = 40, .size = 4};
  const auto of_file = [](Index, Index key) { return key % 3 != 1; };
  const auto is_kept = [](Index row, Index col) { return (row + col) % 4 != 2; };
  const Problem data = make_data(Data::gaussian, 40, 8, 6, false);
  const auto expected = [](const std::string& attention) {
    return "it equals " + attention + " without the sliding window, up to rounding to F32";
  };
  const Problem masked = own.of(data, tensor(mask_of(40, 50, of_file)));
  CHECK(contains(
      findings_over(masked,
                    [&](Index i, Index key) { return wide.sees(i, key) && of_file(i, key); }),
      expected("exact attention")));
  const auto kept = [&] { return SelectionTensors{.mask = tensor(mask_of(40, 50, is_kept))}; };
  CHECK(contains(
      findings_over(
          own.of(data), [&](Index i, Index key) { return wide.sees(i, key) && is_kept(i, key); },
          kept()),
      expected("the softmax over the kept pairs")));
  CHECK(contains(findings_over(
                     masked,
                     [&](Index i, Index key) {
                       return wide.sees(i, key) && of_file(i, key) && is_kept(i, key);
                     },
                     kept()),
                 expected("the softmax over the kept pairs")));
}

TEST_CASE("flash-attention#404: logarithms of base 2") {
  const Problem head = make_data(Data::gaussian, 32, 8, 6, true);
  Kernel kernel = run_kernel(head, to_fp32, everything);
  ImportedTensors result{.z = tensor(Matrix::copy_of(kernel.z)),
                         .lse = tensor(column_of(kernel.lse))};
  CHECK(findings(with(head, result)).empty());
  for (float& lse : kernel.lse) lse *= 1.4426950f;
  result.lse = tensor(column_of(kernel.lse));
  CHECK(findings(with(head, result)) == "lse is in base 2: 1.4427 times the natural logarithm");
}

TEST_CASE("a sink that is left out of z or of lse") {
  Problem head = make_data(Data::gaussian, 32, 8, 6, false);
  const Kernel without = run_kernel(head, to_fp32, everything);
  head.rule = std::make_shared<const LogitRule>(LogitRule{.sink = 2.0});
  CHECK(findings(with(head, {.z = tensor(Matrix::copy_of(without.z)),
                             .lse = tensor(column_of(without.lse))})) ==
        "z is not exact attention of this head, in all 32 rows; it equals exact attention without "
        "the sink, up to rounding to F32; lse leaves out the sink");
}

TEST_CASE("a scale of 1, and powers of 2 in place of e") {
  const Problem head = make_data(Data::gaussian, 32, 8, 6, false);
  Problem scaled = head;
  scaled.scale = 1;
  CHECK(contains(findings_of(head, scaled), "it equals exact attention with scale 1, up to"));
  scaled.scale = head.scale * 0.69314718;
  CHECK(contains(findings_of(head, scaled),
                 "it equals exact attention by powers of 2 in place of e"));
}

TEST_CASE("masks along the wrong axis, and of one head for all") {
  const Problem head = make_data(Data::gaussian, 48, 8, 6, false);
  const auto wide = [](Index row, Index col) { return col <= 2 * row; };
  BitMatrix turned(48, 48), of_head_0(48, 48);
  for (Index i = 0; i < 48; ++i)
    for (Index j = 0; j < 48; ++j) {
      if (wide(j, i)) turned.set(i, j);
      if (j % 3 == 0) of_head_0.set(i, j);
    }
  CHECK(contains(
      findings_of(head, keeping(head, std::move(turned)), {.mask = tensor(mask_of(48, 48, wide))}),
      "it equals the softmax over the kept pairs with queries and keys exchanged"));
  std::vector<Matrix> masks;
  masks.push_back(mask_of(48, 48, [](Index, Index col) { return col % 3 == 0; }));
  masks.push_back(mask_of(48, 48, [](Index row, Index col) { return (row + col) % 2 == 0; }));
  ImportedTensors result{
      .z = tensor(run_kernel(keeping(head, std::move(of_head_0)), to_fp32, everything).z),
      .kept = {.heads = 2, .mask = make_head_tensor(std::move(masks))}};
  std::vector<Matrix> z;
  for (int h = 0; h < 2; ++h) z.push_back(result.z.read(0));
  result.z = make_head_tensor(std::move(z));
  Problem second = head;
  second.imported =
      std::make_shared<const ImportedResults>(ImportedResults{{std::move(result)}, 1, 2});
  CHECK(contains(findings(second),
                 "it equals the softmax over the kept pairs of head 0: one mask for all heads"));
}

TEST_CASE("law: a mask along the wrong axis is named beside every condition of the head") {
  constexpr Index n = 48;
  const auto kept = [](Index row, Index col) { return col <= 2 * row && (row + 2 * col) % 5 != 1; };
  const auto own = [](Index i, Index j) { return (2 * i + j) % 7 != 3; };  // not symmetric
  for (const bool causal : {false, true})
    for (const Index window : {Index{0}, Index{40}})
      for (const bool masked : {false, true}) {
        if (window > 0 && !causal) continue;
        INFO("causal " << causal << ", window " << window << ", mask " << masked);
        Problem head = make_data(Data::gaussian, n, 8, 6, causal);
        head.window = window;
        BitMatrix pairs(n, n), turned(n, n);
        for (Index i = 0; i < n; ++i)
          for (Index j = 0; j < n; ++j) {
            if (own(i, j)) pairs.set(i, j);
            if (kept(j, i) && (!masked || own(i, j))) turned.set(i, j);
          }
        const Problem computed = keeping(head, std::move(turned));
        if (masked) head = keeping(std::move(head), std::move(pairs));
        CHECK(
            contains(findings_of(head, computed, {.mask = tensor(mask_of(n, n, kept))}),
                     "it equals the softmax over the kept pairs with queries and keys exchanged"));
      }
}

TEST_CASE("query heads that share keys, taken as tiled") {
  // Four query heads, two of keys: head 1 has keys 0, or 1 where heads are tiled.
  std::vector<Matrix> k, v;
  for (std::uint64_t h = 0; h < 2; ++h) {
    k.push_back(gaussian(32, 8, 10 + h));
    v.push_back(gaussian(32, 6, 20 + h));
  }
  const auto problem = [&](std::size_t keys) {
    return make_problem(gaussian(32, 8, 1), Matrix::copy_of(k[keys]), Matrix::copy_of(v[keys]));
  };
  const Kernel tiled = run_kernel(problem(1), to_fp32, everything);
  std::vector<Matrix> z;
  for (int h = 0; h < 4; ++h) z.push_back(Matrix::copy_of(tiled.z));
  std::vector<ImportedTensors> results;
  results.push_back({.z = make_head_tensor(std::move(z))});
  Problem head = problem(0);
  head.imported =
      std::make_shared<const ImportedResults>(ImportedResults{.all = std::move(results),
                                                              .head = 1,
                                                              .heads = 4,
                                                              .k = make_head_tensor(std::move(k)),
                                                              .v = make_head_tensor(std::move(v))});
  CHECK(contains(findings(head),
                 "it equals exact attention with key head 1 in place of 0: query "
                 "heads that share keys are taken as tiled, not as neighbours"));
}

TEST_CASE("z and p of one result are held against one another") {
  const Problem head = make_data(Data::gaussian, 32, 8, 6, true);
  Kernel kernel = run_kernel(head, to_fp32, everything);
  const auto found = [&] {
    return findings(with(
        head, {.z = tensor(Matrix::copy_of(kernel.z)), .p = tensor(Matrix::copy_of(kernel.p))}));
  };
  CHECK(found() == "z is P V of the given p, up to rounding to F32");
  for (Index i = 8; i < 32; ++i)
    for (Index c = 0; c < 6; ++c) kernel.z(i, c) *= 2;
  CHECK(contains(found(), "z is not P V of the given p: ‖P V − z‖ / ‖z‖ is 0."));
  CHECK(contains(found(), ", in rows 8 to 31, the last 24"));
}

TEST_CASE("noise equals nothing, and correlation does not show it") {
  const Problem head = make_data(Data::gaussian, 64, 16, 8, false);
  Kernel kernel = run_kernel(head, to_fp32, everything);
  const Matrix noise = gaussian(64, 8, 99);
  for (Index i = 0; i < 64; ++i)
    for (Index c = 0; c < 8; ++c) kernel.z(i, c) *= 1 + 0.026f * noise(i, c);
  const AgainstExact x(with(head, {.z = tensor(std::move(kernel.z))}));
  CHECK(sentences_of(x.figures) ==
        std::vector<std::string>{"z is not exact attention of this head, in all 64 rows: rounding "
                                 "to F32 does not explain it"});
  CHECK(x.metrics.output_pearson > 0.999);
  CHECK(x.metrics.output_cosine > 0.999);
  CHECK(x.metrics.output_rel_fro > 0.02);
}

TEST_CASE("a sentence says where the wrong rows lie") {
  const auto text = [](auto wrong, Index all) {
    std::vector<Index> rows;
    for (Index i = 0; i < all; ++i)
      if (wrong(i)) rows.push_back(i);
    return place_text(rows, all);
  };
  CHECK(text([](Index) { return false; }, 8).empty());
  CHECK(text([](Index) { return true; }, 40) == "all 40 rows");
  CHECK(text([](Index i) { return i == 7; }, 40) == "row 7");
  CHECK(text([](Index i) { return i >= 32 && i < 48; }, 64) == "rows 32 to 47");
  CHECK(text([](Index i) { return i >= 16; }, 64) == "rows 16 to 63, the last 48");
  CHECK(text([](Index i) { return i % 16 == 15; }, 100) == "every 16th row from 15 on");
  CHECK(text([](Index i) { return i % 3 == 1; }, 9) == "every 3rd row from 1 on");
  CHECK(text([](Index i) { return i % 64 >= 56; }, 256) == "rows 56 to 63 of every 64");
  CHECK(text([](Index i) { return i % 64 >= 56; }, 252) == "rows 56 to 63 of every 64");
  CHECK(text([](Index i) { return i == 3 || i == 20 || i == 31; }, 64) ==
        "3 of 64 rows, the first is row 3");
  CHECK(text([](Index i) { return i % 16 == 15 && i < 64; }, 100) ==
        "4 of 100 rows, the first is row 15");
}

TEST_CASE("keys that a kernel leaves out in some rows are named, also where the tile moves") {
  const auto found = [](const Problem& head, auto keeps) {
    return findings(with(head, {.z = tensor(run_kernel(head, to_fp32, keeps).z)}));
  };
  const Problem head = make_data(Data::gaussian, 200, 8, 6, false);
  CHECK(found(head, [](Index i, Index j) { return i < 64 || i >= 128 || j / 32 != 3; }) ==
        "z is not exact attention of this head, in rows 64 to 127; it equals exact attention "
        "without keys 96 to 127 in these rows, up to rounding to F32");
  CHECK(found(head, [](Index, Index j) { return j < 192; }) ==
        "z is not exact attention of this head, in all 200 rows; it equals exact attention without "
        "keys 192 to 199 in these rows, up to rounding to F32");
  const Problem causal = make_data(Data::gaussian, 200, 8, 6, true);
  CHECK(contains(found(causal, [](Index i, Index j) { return i < 32 || j / 16 != i / 16; }),
                 "without the 16 keys of each query's own tile in these rows"));
  CHECK(contains(found(causal, [](Index i, Index j) { return j / 64 != i / 64 - 1; }),
                 "without the 64 keys 1 tile before each query's own in these rows"));
  // Single keys are no tile.
  CHECK(contains(found(head, [](Index i, Index j) { return j != i; }),
                 ": rounding to F32 does not explain it"));
}

TEST_CASE("law: a tile that moves is named by its distance, also where queries and keys differ") {
  struct {
    Lengths lengths;
    bool causal;
  } const kinds[] = {{{200, 200}, false},
                     {{200, 200}, true},
                     {{120, 200}, false},
                     {{120, 200}, true},
                     {{200, 131}, false}};
  for (const auto& kind : kinds) {
    const Lengths lengths = kind.lengths;
    const bool causal = kind.causal;
    const Problem queries = make_data(Data::gaussian, lengths.queries, 8, 6, false),
                  keys = make_data(Data::gaussian, lengths.keys, 8, 6, false, 1);
    const Problem head = make_problem(Matrix::copy_of(queries.q), Matrix::copy_of(keys.k),
                                      Matrix::copy_of(keys.v), 0, causal);
    for (const Index side : {16, 32, 64})
      for (const Index before : {-1, 0, 1}) {
        if (causal && before < 0) continue;
        const auto own = [&](Index i) {
          return Index(std::floor(double(i + lengths.offset()) / double(side)));
        };
        INFO(lengths.text() << ", side " << side << ", before " << before << ", causal " << causal);
        const std::string found =
            findings(with(head, {.z = tensor(run_kernel(head, to_fp32, [&](Index i, Index j) {
                                               return j / side != own(i) - before;
                                             }).z)}));
        const std::string keys_text = "without the " + std::to_string(side) + " keys ";
        CHECK(contains(found, keys_text + (before == 0  ? "of each query's own tile"
                                           : before > 0 ? "1 tile before each query's own"
                                                        : "1 tile after each query's own")));
      }
  }
}
