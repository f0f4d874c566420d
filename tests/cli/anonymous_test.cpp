// What --no-session promises: a figure or report for anonymous review names no source, path or
// user, whatever command writes it and in whatever format.
#include <doctest/doctest.h>

#include <filesystem>

#include "cli/program.h"
#include "everything_in.h"
#include "messages.h"

using namespace fovea::test;

namespace {

const char* const secrets[] = {"alice_smith", "bobs_thesis", "carols_head"};

/// A folder whose name, and whose files' names, say whose they are.
struct Home {
  TemporaryDirectory scratch;
  std::string folder = scratch / "alice_smith", source = folder + "/bobs_thesis.safetensors",
              other = folder + "/carols_head.safetensors", results = folder + "/results",
              plan = folder + "/plan.json";

  Home() {
    std::filesystem::create_directory(folder);
    for (const std::string& file : {source, other}) std::filesystem::copy_file(bundled, file);
    const nlohmann::json planned{{"sources", {source}},
                                 {"layers", {0}},
                                 {"heads", {0}},
                                 {"variants", {"exact", "h1d"}},
                                 {"rounds", 0}};
    write_bytes(plan, planned.dump());
    REQUIRE(run_program({"sweep", plan, "-o", results}).status == 0);
  }
  /// A session in which one column holds a head of another file.
  std::string session_with_two_files() const {
    const std::string figure = folder + "/first.svg", session = folder + "/two.fovea.json";
    REQUIRE(run_program({"render", source, "--variant", "exact", "--variant", "h1d", "-o", figure})
                .status == 0);
    QXmlStreamReader reader(QByteArray::fromStdString(read_bytes(figure)));
    while (!reader.atEnd() && reader.name() != u"session") reader.readNext();
    auto document = nlohmann::json::parse(reader.readElementText().toStdString());
    document["columns"][1]["held"] = {{"source", other}, {"layer", 0}, {"head", 1}};
    write_bytes(session, document.dump());
    return session;
  }
};

/// The first secret that the file holds; empty if none.
std::string secret_in(const std::string& path) {
  const QByteArray bytes = QByteArray::fromStdString(read_bytes(path));
  for (const char* secret : secrets)
    if (holds(bytes, secret)) return secret;
  return "";
}

using Words = std::vector<std::string>;

void check_names_nothing(const Home& home, const Words& command, const Words& endings,
                         const std::string& option = "-o") {
  for (const std::string& ending : endings) {
    CAPTURE(command.front());
    CAPTURE(ending);
    const std::string path = home.folder + "/figure" + ending;
    Words words = command;
    words.insert(words.end(), {option, path});
    const Ended named = run_program(words);
    CAPTURE(named.err);
    REQUIRE(named.status == 0);
    CHECK(secret_in(path) != "");  // the search finds what is there
    words.push_back("--no-session");
    REQUIRE(run_program(words).status == 0);
    CHECK(secret_in(path) == "");
    if (ending == ".svg") check_svg(read_bytes(path));
    if (ending == ".pgf")
      for (const auto& entry : std::filesystem::directory_iterator(home.folder))
        if (entry.path().filename().string().starts_with("figure-body"))
          CHECK(secret_in(entry.path()) == "");
  }
}

const Words figures{".png", ".svg", ".pdf", ".pgf"};

}  // namespace

TEST_CASE("with --no-session no figure and no report names its source, its path or the user") {
  const Home home;
  check_names_nothing(home, {"render", home.source, "--variant", "exact"}, figures);
  check_names_nothing(home, {"render", home.session_with_two_files(), "--view", "heatmap"},
                      figures);
  check_names_nothing(home, {"report", home.source, "--variant", "h1d"}, {".html", ".pdf"});
  check_names_nothing(
      home, {"pareto", home.source, "--variant", "h1d", "--layer", "0", "--head", "0"}, figures);
  check_names_nothing(home,
                      {"sweep", "--merge", home.results, "--plot", "multiply_adds:output_rel_fro"},
                      figures, "--figure");
}

TEST_CASE("with --no-session a given matrix is drawn without the name of its file") {
  const Home home;
  const std::string matrix = home.folder + "/bobs_thesis.npz";
  // The program writes the numbers of a panel into a file that holds a matrix alone.
  const std::string numbers = home.folder + "/attention.npy";
  REQUIRE(run_program({"render", home.source, "--variant", "exact", "-o", home.folder + "/f.png",
                       "--data", numbers})
              .status == 0);
  std::filesystem::create_directory(home.folder + "/bobs_thesis");
  std::filesystem::rename(numbers, home.folder + "/bobs_thesis/attention.npy");
  check_names_nothing(home, {"render", home.folder + "/bobs_thesis"}, figures);
}

TEST_CASE("with --no-session a figure of a paper carries no command") {
  const TemporaryDirectory scratch;
  const std::string path = scratch / "f.svg";
  for (const bool carries : {true, false}) {
    Words words{"paper", "sparse-patterns", "-o", path};
    if (!carries) words.push_back("--no-session");
    const Ended ended = run_program(words);
    CAPTURE(ended.err);
    REQUIRE(ended.status == 0);
    CHECK(contains(read_bytes(path), "<fovea:command>") == carries);
    CHECK(contains(read_bytes(path), scratch.path()) == false);
  }
}
