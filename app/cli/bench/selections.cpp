#include "cli/bench/selections.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <utility>

#include "data/blocks.h"
#include "data/draw_purpose.h"
#include "data/error.h"
#include "data/random.h"
#include "evaluate/resident_use.h"
#include "input/open_source.h"
#include "io/atomic_file.h"
#include "papers/median.h"
#include "report/json_output.h"
#include "session/session.h"

namespace fovea {
namespace {

constexpr Index kept_one_in = 8;      // blocks of a given mask, and keys of a given list
constexpr Index lists_times = 4;      // tokens of the file of lists, over those of the head
constexpr Index longest_list = 2048;  // as DSA selects
constexpr const char* selectors[] = {"moba", "msa",        "quest", "vertical_slash",
                                     "dsa",  "xattention", "sparge"};

/// A folder that is gone at the end of the scope.
class BenchFolder {
 public:
  BenchFolder() : path_((std::filesystem::temp_directory_path() / "fovea-bench-XXXXXX").string()) {
    if (!::mkdtemp(path_.data())) throw UnavailableError("no folder for temporary files");
  }
  ~BenchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  BenchFolder(const BenchFolder&) = delete;
  BenchFolder& operator=(const BenchFolder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// Ascending keys, one of each of as many stretches of those that the query sees.
void put_list(Index query, Index most, bool causal, Index keys, Random& random,
              std::vector<std::int32_t>& list) {
  const Index seen = causal ? query + 1 : keys, count = std::min(most, seen);
  list.assign(most, -1);
  for (Index c = 0; c < count; ++c) {
    const Index begin = c * seen / count, end = (c + 1) * seen / count;
    const auto within = static_cast<Index>(random.below(end - begin));
    list[c] = static_cast<std::int32_t>(begin + within);
  }
}

/// A mask of one in `kept_one_in` blocks and those of the queries' own places.
SelectionTensors drawn_blocks(Index n, Lengths block, std::uint64_t seed) {
  Random random(seed, stream_of(DrawPurpose::bench_head, block.queries * 4096 + block.keys, 1));
  Matrix kept(number_of_blocks(n, block.queries), number_of_blocks(n, block.keys));
  for (Index r = 0; r < kept.rows(); ++r)
    for (Index c = 0; c < kept.cols(); ++c) {
      const bool own =
          c * block.keys < (r + 1) * block.queries && r * block.queries < (c + 1) * block.keys;
      kept(r, c) = own || random.uniform() * kept_one_in < 1 ? 1.0f : 0.0f;
    }
  std::vector<Matrix> heads;
  heads.push_back(std::move(kept));
  return {.block = block, .mask = make_head_tensor(std::move(heads))};
}

SelectionTensors drawn_lists(Index n, bool causal, std::uint64_t seed) {
  const Index most = std::max<Index>(1, n / kept_one_in / 2);
  Random random(seed, stream_of(DrawPurpose::bench_head, 0, 2));
  auto all = std::make_shared<std::vector<std::int32_t>>();
  std::vector<std::int32_t> list;
  for (Index i = 0; i < n; ++i) {
    put_list(i, most, causal, n, random, list);
    all->insert(all->end(), list.begin(), list.end());
  }
  return {.lists = {.where = "lists",
                    .entries = {.type = ElementType::i32,
                                .bytes = bytes_in_memory(std::as_bytes(std::span(*all)), all),
                                .heads = 1,
                                .rows = n,
                                .cols = most,
                                .head_stride = 4 * n * most,
                                .row_stride = 4 * most,
                                .col_stride = 4}}};
}

std::vector<ImportedTensors> given_of(const SelectionOptions& options) {
  std::vector<ImportedTensors> given;
  for (const Lengths block : {Lengths{128, 128}, Lengths{128, 64}, Lengths{64, 64}})
    given.push_back(
        {.name = std::to_string(block.queries) + " x " + std::to_string(block.keys) + " blocks",
         .kept = drawn_blocks(options.n, block, options.seed)});
  given.push_back(
      {.name = "lists of keys", .kept = drawn_lists(options.n, options.causal, options.seed)});
  return given;
}

/// One of the columns that are measured in turn.
struct Contestant {
  std::string name;
  Problem problem;
  ComputeRequest request;
  double multiply_adds = 0, live = 0;
  std::vector<double> select_ms, apply_ms;  // of the rounds
};

SelectionFigures::Opened open_lists(const SelectionOptions& options, const Backend& backend,
                                    const std::stop_token& stop) {
  const Index n = lists_times * options.n, most = std::min(longest_list, std::max<Index>(1, n / 2)),
              d = 16;
  const BenchFolder folder;
  const std::string path = folder.file("lists.safetensors");
  write_atomically(path, [&](std::ostream& out) {
    const Index vectors = 4 * n * d, lists = 4 * n * most;
    Document header;
    Index at = 0;
    const auto add = [&](const char* name, const char* type, Index cols, Index bytes) {
      header[name] = {{"dtype", type}, {"shape", {1, n, cols}}, {"data_offsets", {at, at + bytes}}};
      at += bytes;
    };
    for (const char* name : {"q", "k", "v"}) add(name, "F32", d, vectors);
    add("indices", "I32", most, lists);
    header["__metadata__"] = {{"causal", options.causal ? "true" : "false"}};
    const std::string text = header.dump();
    const std::uint64_t size = text.size();
    out.write(reinterpret_cast<const char*>(&size), sizeof size);
    out << text;
    Random random(options.seed, stream_of(DrawPurpose::bench_head, 0, 3));
    std::vector<float> row(d);
    for (Index i = 0; i < 3 * n; ++i) {
      for (float& x : row) x = static_cast<float>(random.normal());
      out.write(reinterpret_cast<const char*>(row.data()), 4 * d);
    }
    std::vector<std::int32_t> list;
    for (Index i = 0; i < n; ++i) {
      check_stop(stop);
      put_list(i, most, options.causal, n, random, list);
      out.write(reinterpret_cast<const char*>(list.data()), 4 * most);
    }
  });
  SelectionFigures::Opened opened{n, most, static_cast<double>(4 * n * most), 0, 0};
  const auto use = resident_use_of([&] {
    const auto begin = std::chrono::steady_clock::now();
    const Source source = open_source(path, {.stop = stop});
    const Problem problem = problem_of(source, HeadChoice{});
    Profile profile;
    TimedRun timed;
    plan_and_bind(
        problem,
        {.variant = &find_variant("imported"), .values = defaults(find_variant("imported").schema)},
        backend, Run{profile, stop}, timed);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    opened.ms = took.count();
  });
  if (use) opened.peak_bytes = use->rise();
  return opened;
}

}  // namespace

SelectionFigures measure_selections(const SelectionOptions& options, const Backend& backend,
                                    const std::stop_token& stop) {
  Profile ignored;
  Run run{ignored, stop};
  SelectionFigures figures{.device = backend.device(),
                           .precision = backend.precision(),
                           .n = options.n,
                           .d = options.d,
                           .causal = options.causal,
                           .rounds = options.rounds};
  figures.opened = open_lists(options, backend, stop);
  const Problem head = random_heads(options.n, options.d, 1, options.causal, options.seed).front();
  Problem sums = head;  // all products of q and k: without values only the sums of rows are found
  sums.v = {head.v.data, head.v.rows, 0, head.v.stride};
  const auto request = [&](const Variant& variant) {
    return ComputeRequest{
        .variant = &variant, .values = values_for_length(variant, options.n), .seed = options.seed};
  };
  std::vector<Contestant> all{{"exact", head, request(reference_variant())},
                              {"pass", sums, request(reference_variant())}};
  Problem given = head;
  given.imported = std::make_shared<const ImportedResults>(ImportedResults{given_of(options), 0});
  for (const ImportedTensors& its : given.imported->all) {
    const Variant& imported = find_variant("imported");
    Contestant next{its.name, given, request(imported)};
    set_value(imported.schema, next.request.values, "result", its.name);
    all.push_back(std::move(next));
  }
  for (const char* id : selectors) all.push_back({id, head, request(find_variant(id))});
  for (Contestant& its : all) {  // counts, warms up
    const Computation prepared = prepare(its.problem, its.request, backend, run);
    const double width = its.problem.d() + its.problem.dv();
    its.multiply_adds = prepared.cost.pairs * width;
    its.live = prepared.cost.pairs * width / prepared.cost.exact_multiply_adds;
  }
  for (int round = 0; round < options.rounds; ++round)
    for (Contestant& its : all) {
      const TimedRun timed = time_run(its.problem, its.request, backend, run);
      its.select_ms.push_back(timed.plan.total_ms());
      its.apply_ms.push_back(timed.apply.total_ms());
    }
  const Contestant &dense = all[0], &pass = all[1];
  figures.dense_ms = median_of(dense.apply_ms);
  figures.dense_rate = 2e-6 * dense.multiply_adds / figures.dense_ms;
  figures.pass_ms = median_of(pass.apply_ms);
  for (std::size_t c = 2; c < all.size(); ++c) {
    const Contestant& its = all[c];
    std::vector<double> rates, passes;
    for (std::size_t r = 0; r < its.apply_ms.size(); ++r) {
      rates.push_back(its.multiply_adds / its.apply_ms[r] * dense.apply_ms[r] /
                      dense.multiply_adds);
      passes.push_back(its.select_ms[r] / pass.apply_ms[r]);
    }
    figures.rows.push_back({its.name, its.live, median_of(its.select_ms), median_of(its.apply_ms),
                            speed_up_of(rates), speed_up_of(passes)});
  }
  return figures;
}

}  // namespace fovea
