// Names of files and tokens that would change what a terminal shows: they are shown escaped, and
// attention is computed from them as they are.
#include <doctest/doctest.h>

#include "cli/program.h"
#include "data/utf8.h"
#include "everything_in.h"
#include "io/safetensors_writer.h"
#include "messages.h"

using namespace fovea::test;

namespace {

const std::string hostile = "a\x1b[31mb\n\xff<b>c";
const std::string harmless = "a\\x1B[31mb\\n\\xFF<b>c";

bool is_safe(const std::string& text) {
  std::string without_ends = text;
  std::erase(without_ends, '\n');
  return fovea::printable(without_ends) == without_ends;
}

}  // namespace

TEST_CASE("the name of a file is shown escaped, in results and in messages") {
  const TemporaryDirectory directory;
  const std::string path = directory.write(hostile + ".txt", "some words");
  const Ended info = run_program({"info", path, "--content"});
  CHECK(info.status == 0);
  CHECK(is_safe(info.out));
  CHECK(info.out.starts_with(harmless + "\n"));
  CHECK(contains(info.out, "/" + harmless + ".txt\n"));
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"info", directory / (hostile + ".npz")},
        {hostile},
        {"info", path, hostile},
        {"compute", path, "--variant", hostile}}) {
    const Ended refused = run_program(arguments);
    CAPTURE(refused.err);
    CHECK(refused.status > 1);
    CHECK(is_safe(refused.err));
    CHECK(contains(refused.err, harmless));
  }
}

TEST_CASE("tokens are shown escaped, and attention is that of the tokens as they are") {
  const TemporaryDirectory directory;
  const std::string lines = "a\x1b[31m\nb\tc\n<b>d\n";
  const std::string path = directory.write("t.txt", lines),
                    same = directory.write("s.txt", "aU+001B[31m\nb⇥c\n<b>d\n");
  const Ended info = run_program({"info", path, "--content", "--one-token-per-line"});
  CHECK(info.status == 0);
  CHECK(is_safe(info.out));
  CHECK(contains(info.out, "3 tokens: aU+001B[31m b⇥c <b>d\n"));
  const auto error = [](const std::string& source) {
    return document_of({"compute", source, "--content", "--one-token-per-line", "--variant",
                        "linear", "--json"})
        .at("metrics")
        .at(0)
        .at("output_rel_fro")
        .get<double>();
  };
  CHECK(error(path) != error(same));
}

TEST_CASE("names of spans and of what is measured are shown escaped") {
  const TemporaryDirectory directory;
  const std::string text = directory.write("t.txt", "some words");
  const Ended spans =
      run_program({"spans", text, "--variant", "exact", "--span", hostile + "=0:1"});
  CHECK(spans.status == 0);
  CHECK(is_safe(spans.out));
  CHECK(contains(spans.out, harmless));
  const std::string path = directory.write(hostile + ".txt", "some words");
  for (const char* format : {"text", "latex", "markdown"}) {
    const Ended bench = run_program(
        {"bench", path, "--content", "--variant", "exact", "--repeat", "1", "--format", format});
    CAPTURE(bench.err);
    CHECK(bench.status == 0);
    CHECK(is_safe(bench.out));
    CHECK(contains(bench.out, harmless));
  }
}

TEST_CASE("the name of what a command writes is shown escaped") {
  const TemporaryDirectory directory;
  const std::string source = "synthetic:gaussian?n=16&d=4";
  const std::string plan = directory.write(
      "p.json", R"({"sources": [")" + source + R"("], "variants": ["exact"], "rounds": 0})");
  const auto named = [&](const char* ending) { return directory / (hostile + ending); };
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"compute", source, "--variant", "h1d", "-o", named(".safetensors")},
           {"fit", source, "--variant", "tf", "--steps", "1", "-o", named("-fit.safetensors")},
           {"sweep", plan, "-o", named("")},
           {"sweep", "--merge", named("")},
           {"render", source, "--variant", "exact", "-o", named(".svg"), "--data",
            named(".npy")}}) {
    const Ended ended = run_program(arguments);
    CAPTURE(arguments.front());
    CAPTURE(ended.err);
    CHECK(ended.status == 0);
    CHECK(is_safe(ended.out));
    CHECK(is_safe(ended.err));
    CHECK(contains(ended.out + ended.err, harmless));
  }
}

TEST_CASE("a plan's sources are shown escaped before they are read") {
  const TemporaryDirectory directory;
  const std::string text = directory.write("a\x1b[31mb.txt", "some words");
  const nlohmann::json plan{{"sources", {text}}, {"variants", {"exact"}}};
  const Ended dry = run_program({"sweep", directory.write("p.json", plan.dump()), "--dry-run"});
  CHECK(dry.status == 0);
  CHECK(is_safe(dry.out));
  CHECK(contains(dry.out, "a\\x1B[31mb.txt"));
}

TEST_CASE("names of files, tensors, layers, spans and titles leave an SVG well formed") {
  const TemporaryDirectory directory;
  const std::string source = directory / "A&B<x>\"'\x1b[31m\n.safetensors";
  const std::string script = "</desc><script>alert(1)</script><desc>";
  std::vector<fovea::OutTensor> tensors;
  for (const char* role : {".q", ".k", ".v"})
    tensors.push_back({script + role, {2, 8, 4}, std::vector<float>(64, 0.5f)});
  fovea::write_safetensors(source, tensors, {});
  const std::string svg = directory / "f.svg", html = directory / "f.html";
  for (const std::string& title : {std::string("Q & A"), script, hostile}) {
    const Ended ended = run_program({"render", source, "--variant", "exact", "--title", title,
                                     "--view", "heatmap", "--view", "cost", "-o", svg});
    CAPTURE(ended.err);
    REQUIRE(ended.status == 0);
    check_svg(read_bytes(svg));
  }
  const std::string plan = directory.write("p.json", nlohmann::json{{"sources", {source}},
                                                                    {"variants", {"exact", "h1d"}},
                                                                    {"rounds", 0}}
                                                         .dump()),
                    folder = directory / "a&b<c>\x1b[31m";
  REQUIRE(run_program({"sweep", plan, "-o", folder, "--plot", "multiply_adds:output_rel_fro",
                       "--figure", svg})
              .status == 0);
  check_svg(read_bytes(svg));
  REQUIRE(run_program({"pareto", source, "--variant", "h1d", "-o", svg}).status == 0);
  check_svg(read_bytes(svg));
  REQUIRE(run_program({"report", source, "--variant", "h1d", "-o", html}).status == 0);
  const QByteArray page = QByteArray::fromStdString(read_bytes(html));
  CHECK_FALSE(page.contains("<script"));
  const QByteArray begin = "data:image/svg+xml;base64,";
  int pictures = 0;
  for (qsizetype at = 0; (at = page.indexOf(begin, at)) >= 0; ++pictures) {
    at += begin.size();
    check_svg(QByteArray::fromBase64(page.mid(at, page.indexOf('"', at) - at)).toStdString());
  }
  CHECK(pictures > 0);
}
