// Programs that get less and less memory: they do their work, or end with status 4, a message, and
// the old file as it was.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/program.h"

using namespace fovea::test;

namespace {

/// Fontconfig without memory may write a cache that lacks fonts, for all programs: here it has a
/// cache of its own.
std::string own_font_cache() {
  static const TemporaryDirectory directory;
  static const std::string file =
      directory.write("fonts.conf", "<fontconfig><dir>/usr/share/fonts</dir><cachedir>" +
                                        directory.path() + "</cachedir></fontconfig>");
  return file;
}

/// With one arena for all threads: each arena takes 64 MiB of addresses.
Ended run_within(int mebibytes, const std::vector<std::string>& arguments) {
  const std::string limit = "ulimit -v " + std::to_string(mebibytes << 10) + "; exec \"$@\"";
  return Running(arguments, "",
                 {"env", "FONTCONFIG_FILE=" + own_font_cache(), "MALLOC_ARENA_MAX=1", "sh", "-c",
                  limit, "sh"})
      .wait();
}

/// The fewest mebibytes of addresses with which the program starts: mostly its libraries.
int least_to_start() {
  int too_few = 16, enough = 4096;
  while (enough - too_few > 1) {
    const int middle = (too_few + enough) / 2;
    (run_within(middle, {"--version"}).status == 0 ? enough : too_few) = middle;
  }
  return enough;
}

}  // namespace

TEST_CASE("with too little memory a command ends with status 4, a message, and the old file") {
  const int start = least_to_start();
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"compute", "synthetic:gaussian?n=1500&d=32", "--variant", "h1d", "-o", "z.safetensors"},
           {"render", "synthetic:gaussian?n=700&d=16", "--variant", "exact", "-o", "f.pdf"},
           {"render", "synthetic:gaussian?n=700&d=16", "--variant", "exact", "-o", "f.svg"},
           {"render", "synthetic:gaussian?n=700&d=16", "--variant", "exact", "-o", "f.png"},
           {"fit", "synthetic:gaussian?n=300&d=16", "--variant", "tf", "--steps", "5", "-o",
            "t.safetensors"},
           {"report", "synthetic:gaussian?n=300&d=16", "-o", "r.pdf"}}) {
    const TemporaryDirectory directory;
    const bool replaces = command.front() != "fit";  // which refuses to
    const std::string file = directory / command.back();
    if (replaces) directory.write(command.back(), "precious");
    std::vector<std::string> arguments = command;
    arguments.back() = file;
    arguments.insert(arguments.end(), {"--threads", "2"});  // each needs a stack
    CAPTURE(command.front() + ' ' + command.back());
    int refused = 0;
    bool done = false;
    for (int mebibytes = start; !done; mebibytes += std::max(5, (mebibytes - start) / 4)) {
      const Ended ended = run_within(mebibytes, arguments);
      CAPTURE(mebibytes);
      CAPTURE(ended.err);
      done = ended.status == 0;
      refused += !done;
      REQUIRE((done || ended.status == 4));
      CHECK(directory.files().size() == (replaces || done ? 1 : 0));
      if (replaces || done) CHECK((read_bytes(file) == "precious") == !done);
      if (!done) CHECK(ended.err.find("fovea: ") != std::string::npos);
    }
    CHECK(refused > 0);
  }
}
