// Session files: what is written can be read, and what cannot be drawn is refused.
#include <doctest/doctest.h>

#include <QFile>
#include <QTemporaryDir>

#include "data/error.h"
#include "input/session_file.h"

using namespace fovea;

namespace {

struct Written {
  QTemporaryDir folder;
  std::string path = folder.filePath("s.fovea.json").toStdString();
  SessionFile file{
      .session = standard_session("synthetic:golden", 64), .content_hash = {}, .layout = {}};

  void write() const { write_session(path, file); }
  void replace(const QByteArray& part, const QByteArray& by) const {
    QFile text(QString::fromStdString(path));
    REQUIRE(text.open(QIODevice::ReadOnly));
    QByteArray all = text.readAll();
    text.close();
    REQUIRE(all.contains(part));
    REQUIRE(text.open(QIODevice::WriteOnly));
    text.write(all.replace(part, by));
  }
  std::string refusal() const {
    try {
      read_session(path);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
};

}  // namespace

TEST_CASE("a session written is the session read") {
  Written written;
  Session& session = written.file.session;
  session.settings.rank_colour = RankColour::storage;
  session.settings.colormap = "cividis";
  written.write();
  CHECK(read_session(written.path).session == session);
}

TEST_CASE("a session with a colour map that is not known is refused by file, name and choice") {
  Written written;
  written.write();
  written.replace("\"viridis\"", "\"plasma\"");
  const std::string why = written.refusal();
  for (const char* word : {"s.fovea.json", "plasma", "viridis, magma"})
    CHECK(why.find(word) != std::string::npos);
}

TEST_CASE("a session from before ranks were coloured by storage is coloured by rank") {
  Written written;
  written.file.session.settings.rank_colour = RankColour::storage;
  written.write();
  written.replace("\"rank_colour\": \"storage\",", "");
  CHECK(read_session(written.path).session.settings.rank_colour == RankColour::rank);
  written.write();
  written.replace("\"rank_colour\": \"storage\",", "\"rank_colour\": \"weight\",");
  CHECK(written.refusal().find("'rank_colour' is 'weight'") != std::string::npos);
}
