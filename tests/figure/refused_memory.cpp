// Whichever large allocation of an export is refused: it ends with an error, the old file is as it
// was, and no other file is left.
#include <doctest/doctest.h>

#include <QDir>
#include <QTemporaryDir>

#include "allocations.h"
#include "data/error.h"
#include "figure/panels.h"
#include "temporary_directory.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("memory: whichever allocation of an export is refused, the old file stays, alone") {
  example::application();
  Figure figure = example::paper(252, 64);
  figure.rows.resize(1);
  for (const char* name : {"figure.png", "figure.svg", "figure.pdf", "figure.pgf"}) {
    CAPTURE(std::string(name));
    const QTemporaryDir folder;
    const std::string path = folder.filePath(name).toStdString();
    write_figure(path, figure);  // what is made once and kept: fonts
    const QStringList files = QDir(folder.path()).entryList(QDir::Files | QDir::Hidden);
    const std::string before = read_bytes(path);
    // Small objects are mostly Qt's, which keeps locks when an exception passes through it.
    constexpr std::size_t least_bytes = 4096;
    const std::size_t refused = refuse_each_allocation<Error>(
        [&] {
          try {
            write_figure(path, figure);
          } catch (...) {
            CHECK(read_bytes(path) == before);
            CHECK(QDir(folder.path()).entryList(QDir::Files | QDir::Hidden) == files);
            throw;
          }
        },
        least_bytes);
    CHECK(refused > 0);
    write_figure(path, figure);
    CHECK(read_bytes(path) == before);
  }
}
