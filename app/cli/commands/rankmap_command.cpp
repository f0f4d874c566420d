// fovea rankmap: the numerical rank of every block of a partition (H-Transformer-1D, section 4).
#include <algorithm>
#include <cmath>
#include <map>

#include "cli/commands/commands.h"
#include "cli/options/backend_options.h"
#include "cli/options/head_options.h"
#include "cli/options/source_options.h"
#include "cli/options/variant_options.h"
#include "cli/reports/report.h"
#include "data/error.h"
#include "report/json_output.h"
#include "report/text_table.h"
#include "views/rank_subject.h"

namespace fovea {
namespace {

struct RankMapOptions {
  SourceOptions source;
  HeadOptions heads;
  BackendOptions backend;
  ParameterOptions parameters;
  std::vector<std::string> variants;
  RankSubject of = RankSubject::attention;
  RankOptions rank;
  bool json = false;
};

/// The map of one matrix, with the variant that the matrix belongs to.
struct NamedMap {
  const Variant* variant = nullptr;  // null: the source is an attention matrix
  Values values;
  RankMap map;
};

Matrix part_of(MatrixView matrix, IndexRange rows, IndexRange cols) {
  return Matrix::copy_of(
      {matrix.row(rows.begin) + cols.begin, rows.size(), cols.size(), matrix.stride});
}

std::string stored_text(const RankMap& map) {
  const double stored = stored_entries(map);
  const std::string all = format_count(dense_entries(map)) + " entries";
  return stored > 0 ? format_count(stored) + " of " + all + ", compression " +
                          format_plain(compression(map))
                    : "none of " + all + ": every block has rank 0";
}

std::vector<NamedMap> maps_of_matrix(const RankMapOptions& options, const Source& source,
                                     const Console& console, Run& run) {
  if (options.of != RankSubject::attention || !options.variants.empty())
    throw InputError(source.path,
                     "holds only an attention matrix: use --of attention and no --variant");
  const Layer& layer = source.layers[options.heads.layer_in(source)];
  const Matrix matrix = layer.attention.read(options.heads.heads_in(source).front(), run.stop);
  const Entries entries = [&](IndexRange rows, IndexRange cols) {
    return part_of(matrix, rows, cols);
  };
  return {{nullptr,
           {},
           map_ranks({matrix.rows(), matrix.cols()}, entries, options.rank,
                     *options.backend.make(console.err), run)}};
}

std::vector<NamedMap> maps_of_variants(const RankMapOptions& options, const Source& source,
                                       const Console& console, Run& run) {
  const Problem problem =
      options.heads.problem(source, options.heads.heads_in(source).front(), run.stop);
  const auto chosen =
      variants_named(options.variants.empty() ? std::vector<std::string>{reference_variant().id}
                                              : options.variants,
                     &problem);
  tell_left_out(options.variants, problem, console.err);
  const auto values = options.parameters.applied(chosen, problem.keys());
  RankOptions rank = options.rank;
  rank.causal = problem.causal && options.of != RankSubject::logits;
  require_decomposable(problem.lengths(), rank);
  const auto backend = options.backend.make(console.err);
  // Only P is needed, not Z. All plans are made before any block is decomposed, so that what a
  // planner refuses is reported at once.
  const Computation exact = prepare(problem, {.variant = &reference_variant()}, *backend, run);
  std::vector<Computation> prepared;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    prepared.push_back(prepare(
        problem, {.variant = chosen[i], .values = values[i], .seed = options.parameters.seed},
        *backend, run));
  std::vector<NamedMap> maps;
  for (const Computation& computation : prepared)
    maps.push_back({computation.variant, computation.values,
                    map_ranks(problem.lengths(), entries_of(computation, exact, options.of, run),
                              rank, *backend, run)});
  return maps;
}

Document block_json(const RankBlock& block) {
  Document singular = Document::array();
  for (const float value : block.singular_values)
    singular.push_back(number_json(static_cast<double>(value)));
  return {{"row", block.rows.begin},
          {"col", block.cols.begin},
          {"size", std::max(block.rows.size(), block.cols.size())},
          {"rows", block.rows.size()},
          {"cols", block.cols.size()},
          {"level", block.level},
          {"rank", block.rank},
          {"singular_values", std::move(singular)},
          {"resolved", block.resolved}};
}

Document map_json(const RankMapOptions& options, const NamedMap& named) {
  Document blocks = Document::array();
  for (const RankBlock& block : named.map.blocks) blocks.push_back(block_json(block));
  return {{"n", named.map.lengths.keys},
          {"queries", named.map.lengths.queries},
          {"keys", named.map.lengths.keys},
          {"of", to_text(options.of)},
          {"variant", named.variant ? Document(named.variant->id) : Document(nullptr)},
          {"parameters",
           named.variant ? parameters_json(*named.variant, named.values) : Document(nullptr)},
          {"seed", named.variant ? Document(options.parameters.seed) : Document(nullptr)},
          {"partition", options.rank.partition == Partition::hierarchy ? "hierarchy" : "uniform"},
          {"leaf", options.rank.leaf},
          {"tolerance", options.rank.tolerance},
          {"relative", options.rank.relative},
          {"blocks", std::move(blocks)},
          {"left_to_cpu", named.map.left_to_cpu},
          {"stored_entries", stored_entries(named.map)},
          {"compression", number_json(compression(named.map))}};
}

/// One line for all blocks of the same level and size.
void print_map(std::ostream& out, const RankMapOptions& options, const NamedMap& named) {
  out << "Rank map of "
      << (named.variant ? to_text(options.of) + ", " + named.variant->label
                        : "the attention matrix")
      << "\n";
  print_facts(out,
              {{"size", named.map.lengths.text()},
               {"tolerance", format_plain(options.rank.tolerance) +
                                 (options.rank.relative ? " of the largest singular value"
                                                        : ", sum of the singular values left out")},
               {"stored", stored_text(named.map)}});
  std::map<std::pair<int, Index>, std::vector<int>> ranks;  // by level and size
  for (const RankBlock& block : named.map.blocks)
    ranks[{block.level, std::max(block.rows.size(), block.cols.size())}].push_back(block.rank);
  TextTable table{{"level", "size", "blocks", "least rank", "median", "greatest"}, {}};
  for (auto& [place, of_size] : ranks) {
    std::ranges::sort(of_size);
    table.rows.push_back({std::to_string(place.first), std::to_string(place.second),
                          std::to_string(of_size.size()), std::to_string(of_size.front()),
                          std::to_string(of_size[of_size.size() / 2]),
                          std::to_string(of_size.back())});
  }
  out << '\n';
  print(out, table);
  if (const std::string note = note_of(named.map); !note.empty()) print_note(out, note);
}

void run_rankmap(const RankMapOptions& options, const Console& console) {
  variants_named(options.variants);  // reports an unknown name before anything is computed
  const Source source = options.source.load(console.stop, options.backend.threads);
  options.heads.tell_layer(source, console.err);
  Profile profile;
  Run run{profile, console.stop};
  const bool matrix = !source.layers[options.heads.layer_in(source)].has_qk();
  const std::vector<NamedMap> maps = matrix ? maps_of_matrix(options, source, console, run)
                                            : maps_of_variants(options, source, console, run);
  const std::vector<std::string> notes = notes_of(source, {options.heads.layer_in(source)});
  if (!options.json) {
    print_notes(console.out, notes);
    for (std::size_t i = 0; i < maps.size(); ++i) {
      if (i) console.out << '\n';
      print_map(console.out, options, maps[i]);
    }
    return;
  }
  Document out = Document::object();
  if (maps.size() == 1)
    out = map_json(options, maps.front());
  else
    for (const NamedMap& map : maps) out["maps"].push_back(map_json(options, map));
  out["notes"] = notes;
  print(console.out, out);
}

}  // namespace

void add_rankmap_command(CLI::App& program, Work& chosen) {
  auto* command = program.add_subcommand(
      "rankmap", "Compute the numerical rank of every block of an attention matrix");
  auto options = std::make_shared<RankMapOptions>();
  options->source.add_to(*command);
  const std::map<std::string, RankSubject> subjects{{"attention", RankSubject::attention},
                                                    {"unnormalised", RankSubject::unnormalised},
                                                    {"logits", RankSubject::logits},
                                                    {"error", RankSubject::error}};
  const std::map<std::string, Partition> partitions{{"hierarchy", Partition::hierarchy},
                                                    {"uniform", Partition::uniform}};
  command->add_option("--of", options->of, "attention, unnormalised, logits or error")
      ->transform(CLI::Transformer(subjects).description(""))
      ->transform(CLI::IsMember(subjects))
      ->type_name("MATRIX")
      ->default_str("attention");
  command
      ->add_option("--variant", options->variants,
                   "Variants to map, or " + words_for_groups() + " (default: exact)")
      ->type_name("ID ...");
  command->add_option("--leaf", options->rank.leaf, "Smallest side of a block")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command
      ->add_option("--tolerance", options->rank.tolerance,
                   "The rank leaves out small singular values whose sum is less than this")
      ->check([](const std::string& text) {
        double value = 0;
        const bool good =
            CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value >= 0;
        return good ? "" : "'" + text + "' found; expected a number of at least 0";
      })
      ->capture_default_str();
  command->add_flag("--relative", options->rank.relative,
                    "Count singular values above tolerance times the largest instead");
  command->add_option("--partition", options->rank.partition, "hierarchy or uniform")
      ->transform(CLI::Transformer(partitions).description(""))
      ->transform(CLI::IsMember(partitions))
      ->type_name("PARTITION")
      ->default_str("hierarchy");
  options->parameters.add_to(*command);
  options->heads.add_to(*command, "0", false);
  options->backend.add_to(*command);
  command->add_flag("--json", options->json,
                    "One JSON document on standard output; of several variants {\"maps\": [...]}");
  command->callback([&chosen, options] {
    chosen = [options](const Console& console) { run_rankmap(*options, console); };
  });
}

}  // namespace fovea
