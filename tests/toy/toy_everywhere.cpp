// A variant that is only in the table, and in no other file of the program, is everywhere: on the
// command line, in forms, sessions, figures, sweeps and files. (Its laws run in the room `laws`.)
#include <doctest/doctest.h>

#include <QImage>
#include <QTemporaryDir>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/commands/commands.h"
#include "data/error.h"
#include "evaluate/evaluate.h"
#include "figure/figure.h"
#include "input/session_file.h"
#include "io/safetensors_writer.h"
#include "io/structure_file.h"
#include "panels/panel.h"
#include "sweep/sweep.h"
#include "toy/toy_variant.h"
#include "views/views.h"
#include "window/widgets/field_editor.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// What a command of the program prints.
std::string output_of(void (*add_command)(CLI::App&, Work&), const std::string& line) {
  CLI::App program;
  Work chosen;
  add_command(program, chosen);
  program.parse(line);
  REQUIRE(chosen);
  std::ostringstream out, notes;
  chosen({out, notes, {}});
  return out.str();
}

std::string path_in(const QTemporaryDir& folder, const char* name) {
  return folder.filePath(name).toStdString();
}

Problem problem_of(Index n) {
  return make_data(Data::gaussian, n, 4, 3, false);
}

}  // namespace

TEST_CASE("toy: `fovea variants` lists it with its parameters, the text and the JSON") {
  const std::string text = output_of(add_variants_command, "variants");
  for (const char* word : {"toy  Toy  (Nobody 2000)", "colours", "spread", "1 .. 4096", "tokens"})
    CHECK_MESSAGE(text.find(word) != std::string::npos, word);
  const auto all =
      nlohmann::json::parse(output_of(add_variants_command, "variants --json"))["variants"];
  const auto& toy = all.back();
  CHECK(toy["id"] == "toy");
  CHECK(toy["parameters"].size() == 2);
  CHECK(toy["parameters"][0]["id"] == "colours");
  CHECK(toy["structure"][0]["name"] == "toy_colour");
  CHECK(toy["structure"][1]["type"] == "real");
}

TEST_CASE("toy: `fovea variants` lists those that are named, and groups of them") {
  const auto lists = [](const std::string& words, const char* what) {
    return output_of(add_variants_command, "variants " + words).find(what) != std::string::npos;
  };
  CHECK(lists("toy", "toy  Toy  (Nobody 2000)"));
  CHECK(lists("toy", "of 512"));
  CHECK_FALSE(lists("toy", "exact  Exact"));
  CHECK_FALSE(lists("toy", "baselines: "));
  CHECK(lists("selectors", "moba  MoBA"));
  CHECK(lists("selectors toy", "toy  Toy"));
  CHECK_FALSE(lists("selectors", "toy  Toy"));
}

TEST_CASE("toy: `fovea compute` plans, applies, compares and diagnoses it") {
  const auto report = nlohmann::json::parse(
      output_of(add_compute_command,
                "compute synthetic:gaussian?n=48&d=4 --variant toy --set colours=4 --json"));
  CHECK(report["variant"] == "toy");
  CHECK(report["parameters"]["colours"] == 4);
  // A quarter of all pairs have one colour.
  const std::string text = report.dump();
  CHECK(text.find("\"density\":0.25") != std::string::npos);
  CHECK(text.find("\"chi\":0.25") != std::string::npos);
}

TEST_CASE("toy: the form has a field for each of its parameters") {
  const Variant& toy = find_variant("toy");
  for (std::size_t f = 0; f < toy.schema.size(); ++f) {
    FieldEditor editor(toy.schema[f], 341);
    CHECK(editor.field().id == toy.schema[f].id);
    CHECK(editor.toolTip().contains(QString::fromStdString(toy.schema[f].meaning)));
    editor.set_value(toy.schema[f].standard);
  }
}

TEST_CASE("toy: a first start shows it, with sizes for the head, and a session file keeps it") {
  SessionFile file{.session = standard_session("synthetic:golden", 64)};
  CHECK(file.session.columns.back().variant == "toy");
  CHECK(file.session.columns.back().values == Values{std::int64_t{8}, 0.5});
  file.session.columns.back().values = {std::int64_t{5}, 0.25};
  const QTemporaryDir folder;
  write_session(path_in(folder, "s.fovea.json"), file);
  CHECK(read_session(path_in(folder, "s.fovea.json")).session == file.session);
}

TEST_CASE("toy: a sweep fits its sizes to shorter heads, and what follows them") {
  const Column column{.variant = "toy", .values = {std::int64_t{32}, 0.25}};
  const FittedValues fitted = fitted_values(column, 512, 32);
  CHECK(fitted.values == Values{std::int64_t{4}, 0.5});  // the spread follows the colours
  CHECK(fitted_values(column, 512, 64).fitted.empty());
}

TEST_CASE("toy: `fovea pareto` and `fovea heads` try the sizes that it states") {
  const auto tried = nlohmann::json::parse(output_of(
      add_pareto_command, "pareto synthetic:gaussian?n=48&d=4 --variant toy --head 0 --json"));
  std::vector<int> colours;
  for (const auto& setting : tried["settings"])
    if (setting["variant"] == "toy") colours.push_back(setting["parameters"]["colours"]);
  CHECK(colours == std::vector<int>{4, 1, 16, 2, 8});
  // Every pair has one colour, with weights of their own: as dear as exact, and not exact.
  const auto chosen = nlohmann::json::parse(output_of(
      add_heads_command,
      "heads synthetic:gaussian?n=48&d=4 --variant toy --head 0 --cost 0.6 --json"))["heads"][0];
  CHECK(chosen["variant"] == "toy");
  CHECK(chosen["within_budget"] == true);
  CHECK(chosen["ratio_to_exact"].get<double>() == doctest::Approx(0.5));
}

TEST_CASE("toy: a figure shows its weights, its leaves and its cost") {
  const Problem problem = problem_of(48);
  const Backend& backend = *backends().front();
  Profile profile;
  Run run{profile};
  const auto made = [&](const Variant& variant, Values values) {
    return compute(problem, {.variant = &variant, .values = std::move(values)}, backend, run);
  };
  const Computation exact = made(reference_variant(), {}),
                    toy = made(find_variant("toy"), {std::int64_t{4}, 0.5});
  const auto diagnostics = diagnose(toy, exact, backend, run);
  const ViewSettings settings;
  const Sequence sequence;
  Figure figure;
  for (const View view : {find_view("heatmap"), find_view("tree"), find_view("cost")}) {
    figure.rows.push_back({make_panel(view,
                                      {.computation = toy,
                                       .exact = exact,
                                       .backend = backend,
                                       .diagnostics = &diagnostics,
                                       .sequence = sequence,
                                       .settings = settings,
                                       .rows = {0, 48},
                                       .cols = {0, 48}},
                                      run)});
    CHECK(figure.rows.back().front().title == "Toy");
    CHECK_FALSE(std::holds_alternative<Message>(figure.rows.back().front().body));
  }
  const auto& sizes = std::get<LeafSizes>(figure.rows[1].front().body);
  CHECK(sizes.kind == "colour");
  CHECK(sizes.keys == std::vector<Index>{12, 12, 12, 12});
  const QTemporaryDir folder;
  const std::string path = path_in(folder, "toy.png");
  write_figure(path, figure);
  const QImage image(QString::fromStdString(path));
  REQUIRE_FALSE(image.isNull());
  QSet<QRgb> colours;
  for (int y = 0; y < image.height(); y += 3)
    for (int x = 0; x < image.width(); x += 3) colours.insert(image.pixel(x, y));
  CHECK(colours.size() > 16);  // a blank figure has one
}

TEST_CASE("toy: a structure file keeps its tensors, and --structure takes them") {
  const Problem problem = problem_of(24);
  const Backend& backend = *backends().front();
  const Settings settings{{"colours", "3"}};
  const auto plan = make_plan(backend, problem, "toy", settings, {}, 1);
  const QTemporaryDir folder;
  const std::string path = path_in(folder, "s.safetensors");
  write_safetensors(path, structure_tensors({plan->structure}), {});
  const Structure found = read_structure(path, 0, 1);
  CHECK(found == plan->structure);
  CHECK(make_plan(backend, problem, "toy", settings, found, 2)->structure == plan->structure);
  CHECK_FALSE(make_plan(backend, problem, "toy", settings, {}, 2)->structure == plan->structure);
  Structure wrong;
  wrong.set("toy_weight", std::vector<float>(23));
  CHECK_THROWS_WITH_AS(make_plan(backend, problem, "toy", settings, wrong),
                       "toy_weight: shape [23] found; expected [n] = [24]", InputError);
}
