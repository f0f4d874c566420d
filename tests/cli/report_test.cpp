// `fovea report`: a document of one head, as HTML and as PDF.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <regex>

#include "backend/backends.h"
#include "cli/options/variant_options.h"
#include "cli/program.h"
#include "data/number_text.h"
#include "evaluate/computation.h"
#include "input/open_source.h"
#include "io/safetensors_writer.h"
#include "messages.h"
#include "session/session.h"
#include "variants/described_variant.h"

using namespace fovea;
using namespace fovea::test;

namespace {

const std::string reported = "synthetic:clusters?n=96&d=16&seed=2";

std::string report_as(const TemporaryDirectory& scratch, const std::string& ending,
                      std::vector<std::string> more = {}) {
  const std::string path = scratch / ("written" + ending);
  std::vector<std::string> words{"report", reported, "-o", path};
  words.insert(words.end(), more.begin(), more.end());
  const Ended ended = run_program(words);
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  return path;
}

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    ++count;
  return count;
}

/// What a program of the system writes; it is there or the test fails.
std::string written_by(const std::string& command, const std::string& to) {
  CAPTURE(command);
  REQUIRE(std::system((command + " > '" + to + "'").c_str()) == 0);
  return read_bytes(to);
}

/// The cells of the row of the table that begins with this.
std::vector<std::string> row_of(const std::string& html, const std::string& name) {
  const std::size_t table = html.find("class=\"numbers\""),
                    begin = html.find("<td>" + name + "</td>", table);
  REQUIRE(begin != std::string::npos);
  const std::string row = html.substr(begin, html.find("</tr>", begin) - begin);
  std::vector<std::string> cells;
  const std::regex cell("<td>([^<]*)</td>");
  for (std::sregex_iterator it(row.begin(), row.end(), cell), end; it != end; ++it)
    cells.push_back((*it)[1]);
  return cells;
}

std::string in_html(std::string text) {
  for (const auto& [sign, by] : {std::pair{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}})
    for (std::size_t at = text.find(sign); at != text.npos; at = text.find(sign, at + 1))
      text.replace(at, 1, by);
  return text;
}

}  // namespace

TEST_CASE("a report as HTML is one file that names everything, and can be made again") {
  const TemporaryDirectory scratch;
  const std::string html = read_bytes(report_as(scratch, ".html", {"--seed", "7"}));
  for (const char* words : {"<!DOCTYPE html>", "H-Transformer-1D", "HyperAttention", "Treeformer",
                            "block = ", "seed = 7", "96", "bidirectional", "Fovea ", "report.html",
                            "relative output error"})
    CHECK_MESSAGE(contains(html, words), std::string(words));
  CHECK(count_of(html, "data:image/svg+xml;base64,") == count_of(html, "<figure>"));
  CHECK(count_of(html, "<figure>") >= 3);
  for (const char* reference : {"src=\"http", "href=\"http", "@import", "<script", "<link"})
    CHECK(html.find(reference) == std::string::npos);
  CHECK(count_of(html, "download=\"session.fovea.json\"") == 1);
  const Ended again =
      run_program({"render", scratch / "written.html", "-o", scratch / "again.png"});
  CAPTURE(again.err);
  CHECK(again.status == 0);
  const Ended as_source = run_program({"compute", scratch / "written.html", "--variant", "exact"});
  CHECK(as_source.status == 3);
  check_says(as_source.err, {"written.html: is a report of Fovea; expected a source"});
  const std::string whole = read_bytes(scratch / "written.html"),
                    cut = scratch.write("cut.htm",
                                        whole.substr(0, whole.find("session.fovea.json") + 200));
  const Ended of_cut = run_program({"render", cut, "-o", scratch / "x.png"});
  CHECK(of_cut.status == 3);
  check_says(of_cut.err, {"cut.htm: is no figure or report of Fovea, or is cut off"});
  const std::string lines = scratch.write("lines.txt", "one line\nanother\na third\n"),
                    without = scratch / "without.html";
  REQUIRE(
      run_program({"report", lines, "--content", "--one-token-per-line", "-o", without}).status ==
      0);
  const Ended of_lines = run_program({"render", without, "-o", scratch / "x.png"});
  CHECK(of_lines.status == 3);
  check_says(of_lines.err, {"carries no session; this command makes it: fovea report"});
}

TEST_CASE("a report is made again from itself, and says how") {
  const TemporaryDirectory scratch;
  for (const char* ending : {".html", ".pdf"}) {
    CAPTURE(ending);
    const std::string first = report_as(scratch, ending, {"--variant", "strided", "--seed", "7"}),
                      again = scratch / ("again.html");
    const Ended ended = run_program({"report", first, "-o", again});
    CAPTURE(ended.err);
    REQUIRE(ended.status == 0);
    const std::string html = read_bytes(again);
    CHECK(contains(html, "Strided"));
    CHECK_FALSE(contains(html, "H-Transformer-1D"));
    CHECK(contains(html, "seed = 7"));
    CHECK(contains(html, "-o again.html"));
    const Ended over = run_program({"report", first, "-o", first});
    CHECK(over.status == 2);
  }
}

TEST_CASE("a report on a text names the model, how the text begins, and its SHA-256") {
  const TemporaryDirectory scratch;
  const std::string path = scratch / "text.html";
  const std::string text = "The cat sat on the mat.";
  const Ended ended = run_program({"report", "bundled:text", "--text", text, "--layer", "0",
                                   "--head", "0", "--variant", "h1d", "-o", path});
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  const std::string html = read_bytes(path);
  CHECK(contains(html, "<td>Model</td><td>bundled:text</td>"));
  CHECK(contains(html, "<td>Text</td><td>“The cat sat on the mat.”</td>"));
  // printf "The cat sat on the mat." | sha256sum
  CHECK(contains(html, "6d67a445d1e5c7d98997d412fd71e5eb9a450b2c5f6e206d8511fe1b9009ec90"));
  CHECK_FALSE(contains(html, "The%20cat"));
}

TEST_CASE("the numbers of a report are those of fovea compute") {
  const TemporaryDirectory scratch;
  const std::string html = read_bytes(report_as(scratch, ".html", {"--variant", "h1d"}));
  const auto computed = document_of({"compute", reported, "--variant", "h1d", "--json"});
  const auto& metrics = computed["metrics"][0];
  const auto cells = row_of(html, "H-Transformer-1D");
  REQUIRE(cells.size() == 9);
  CHECK(std::stod(cells[1]) ==
        doctest::Approx(metrics["output_rel_fro"].get<double>()).epsilon(0.01));
  CHECK(std::stod(cells[3]) ==
        doctest::Approx(metrics["attention_tv"]["mean"].get<double>()).epsilon(0.01));
  const auto exact = row_of(html, "Exact");
  CHECK(exact[1] == "0");
}

TEST_CASE("law: a report says of every variant what its plan says, with parameters and cost") {
  const TemporaryDirectory scratch;
  const std::string html =
      read_bytes(report_as(scratch, ".html", {"--variant", "all", "--causal", "--seed", "7"}));
  const Problem problem = problem_of(open_source(reported), {.conditions = {.causal = true}});
  const auto backend = make_cpu_backend();
  Profile profile;
  Run run{profile};
  std::size_t notes = 0;
  for (const Variant* variant : variants_named({"all"}, &problem)) {
    CAPTURE(variant->id);
    const std::size_t begin = html.find("<h3>" + in_html(variant->label) + ": ");
    REQUIRE(begin != std::string::npos);
    const std::string section = html.substr(begin, html.find("<h", begin + 1) - begin);
    const Values values = values_for_length(*variant, problem.n());
    const Computation made =
        prepare(problem, {.variant = variant, .values = values, .seed = 7}, *backend, run);
    for (const std::string& note : made.op->plan().notes) {
      CHECK_MESSAGE(contains(section, in_html(note)), note);
      ++notes;
    }
    check_says(section, {in_html(described_variant(*variant, &problem).formula),
                         format_count(made.cost.pairs) + " pairs, " +
                             format_count(made.cost.multiply_adds) + " multiply-adds"});
    bool any_used = false;
    for (std::size_t f = 0; f < variant->schema.size(); ++f) {
      const std::string value = to_text(values[f]);
      const bool used = !value.empty() && is_used(variant->schema[f], variant->schema, values);
      CHECK(contains(section, variant->schema[f].id + " = " + in_html(value)) == used);
      any_used |= used;
    }
    CHECK(contains(section, "seed = 7") == any_used);
  }
  CHECK(notes > 5);
}

TEST_CASE("law: a report says where the scale is from, whatever the widths of keys and values") {
  constexpr Index n = 24;
  for (const auto& widths : {std::pair<Index, Index>{8, 8}, {8, 3}, {3, 8}}) {
    const Index d = widths.first, dv = widths.second;
    CAPTURE(d);
    CAPTURE(dv);
    const auto of_width = [&](const char* name, Index width) {
      std::vector<float> values;
      for (Index i = 0; i < n * width; ++i)
        values.push_back(std::sin(1.7f * float(i) + float(width)));
      return OutTensor{name, {1, n, width}, std::move(values)};
    };
    const double of_keys = 1 / std::sqrt(double(d)), of_values = 1 / std::sqrt(double(dv));
    struct {
      std::optional<double> stated, chosen;
    } const cases[] = {{{}, {}},   {{}, of_keys},   {{}, of_values},
                       {{}, 0.75}, {of_values, {}}, {of_keys, {}},
                       {0.75, {}}, {0.75, of_keys}, {of_keys, of_values}};
    for (const auto& its : cases) {
      const TemporaryDirectory scratch;
      std::map<std::string, std::string> metadata;
      if (its.stated) metadata["scale"] = format_exactly(*its.stated);
      const std::string file = scratch / "head.safetensors", out = scratch / "out.html";
      write_safetensors(file, {of_width("q", d), of_width("k", d), of_width("v", dv)}, metadata);
      std::vector<std::string> words{"report", file, "-o", out, "--variant", "window"};
      if (its.chosen) words.insert(words.end(), {"--scale", format_exactly(*its.chosen)});
      REQUIRE(run_program(words).status == 0);
      const double scale = its.chosen.value_or(its.stated.value_or(of_keys));
      const char* from = its.stated == scale ? ", stated in the file"
                         : scale == of_keys  ? ", 1/√d"
                                             : ", as chosen";
      check_says(read_bytes(out),
                 {"<tr><td>Scale</td><td>" + format_plain(scale) + from + "</td></tr>"});
    }
  }
}

TEST_CASE("a report as PDF has two to four pages, within their margins, and its session") {
  const TemporaryDirectory scratch;
  const std::string pdf = report_as(scratch, ".pdf");
  const std::string info = written_by("pdfinfo '" + pdf + "'", scratch / "info");
  std::smatch pages;
  REQUIRE(std::regex_search(info, pages, std::regex("Pages: +([0-9]+)")));
  const int count = std::stoi(pages[1]);
  CHECK(count >= 2);
  CHECK(count <= 4);
  CHECK(contains(info, "A4"));
  const std::string text = written_by("pdftotext '" + pdf + "' -", scratch / "text");
  for (const char* words : {"Strided", "Errors, cost and time", "Methods", "report.pdf"})
    CHECK_MESSAGE(contains(text, words), std::string(words));
  CHECK(contains(text, std::to_string(count) + " of " + std::to_string(count)));
  const std::string boxes = written_by("pdftotext -bbox '" + pdf + "' -", scratch / "boxes");
  const std::regex word(
      "xMin=\"([0-9.-]+)\" yMin=\"([0-9.-]+)\" xMax=\"([0-9.-]+)\" yMax=\"([0-9.-]+)\"");
  int words = 0;
  for (std::sregex_iterator it(boxes.begin(), boxes.end(), word), end; it != end; ++it, ++words) {
    CHECK(std::stod((*it)[1]) >= 50);
    CHECK(std::stod((*it)[3]) <= 545);
    CHECK(std::stod((*it)[4]) <= 830);
  }
  CHECK(words > 300);
  const Ended again = run_program({"render", pdf, "-o", scratch / "again.png"});
  CAPTURE(again.err);
  CHECK(again.status == 0);
}

TEST_CASE("a report that cannot be written is refused before anything is computed") {
  const TemporaryDirectory scratch;
  const Ended ending = run_program({"report", reported, "-o", scratch / "report.doc"});
  CHECK(ending.status == 2);
  check_says(ending.err, {"report.doc", ".pdf or .html"});
  const Ended folder = run_program({"report", reported, "-o", scratch / "no/report.pdf"});
  CHECK(folder.status == 4);
  check_says(folder.err, {"no/report.pdf"});
  CHECK(scratch.files().empty());
}
