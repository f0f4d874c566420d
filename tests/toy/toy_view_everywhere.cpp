// A view that is only in the table, and in no other file of the program, is in commands, figures
// and sessions.
#include <doctest/doctest.h>

#include <QImage>
#include <QTemporaryDir>
#include <fstream>
#include <sstream>

#include "cli/commands/commands.h"
#include "cli/description/description.h"
#include "data/error.h"
#include "input/session_file.h"
#include "temporary_directory.h"
#include "view_values.h"

using namespace fovea;
using namespace fovea::test;

namespace {

void render(const std::string& line) {
  CLI::App program;
  Work chosen;
  add_render_command(program, chosen);
  program.parse("render synthetic:gaussian?n=32&d=4 --variant exact --view toy --no-session " +
                line);
  REQUIRE(chosen);
  std::ostringstream out, notes;
  chosen({out, notes, {}});
}

std::string text_of_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("toy view: `fovea render` draws it, with its settings as options") {
  const QTemporaryDir folder;
  const auto numbers = [&](const std::string& options) {
    const std::string path = folder.filePath("toy.csv").toStdString();
    render("-o " + folder.filePath("toy.png").toStdString() + " --data " + path + ' ' + options);
    return text_of_file(path);
  };
  const std::string both = numbers("--toy-power 2 --toy-nearest 1");
  CHECK_FALSE(QImage(folder.filePath("toy.png")).isNull());
  CHECK(both != numbers("--toy-power 1 --toy-nearest 1"));
  CHECK(both != numbers("--toy-power 2 --toy-nearest 8"));
  CHECK(both != numbers("--toy-power 2 --toy-side before"));
  CHECK_THROWS_WITH_AS(numbers("--toy-power 5"), "toy_power is '5'; expected a number in [0, 4]",
                       UsageError);
}

TEST_CASE(
    "toy view: a session file keeps it and its settings, and older files have their defaults") {
  const QTemporaryDir folder;
  const std::string path = folder.filePath("s.fovea.json").toStdString();
  SessionFile file{.session = standard_session("synthetic:golden", 64)};
  CHECK(view_value(file.session.settings, "toy_nearest") == "4");  // a sixteenth of the head
  file.session.views.push_back(find_view("toy"));
  set_value(file.session.settings, "toy_power", "3");
  write_session(path, file);
  CHECK(read_session(path).session == file.session);
  std::string text = text_of_file(path);
  const std::string entry = "\"toy_power\": 3.0,";
  REQUIRE(text.find(entry) != std::string::npos);
  text.erase(text.find(entry), entry.size());
  std::ofstream(path) << text;
  CHECK(view_value(read_session(path).session.settings, "toy_power") == "1");
}

TEST_CASE("toy view: only its own settings and what it reads make another panel") {
  ViewSettings settings;
  set_value(settings, "toy_power", "3");
  set_value(settings, "rank_leaf", "4");
  settings.log_floor = 0.5;
  ViewSettings own;
  set_value(own, "toy_power", "3");
  CHECK(settings_for(find_view("toy"), settings) == own);
}
