// Files that somebody else sent: what they name on this machine is said, and not read silently.
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cli/program.h"
#include "messages.h"

using namespace fovea::test;

namespace {

/// A figure of the text, from which its hash was taken where `hashed` is false.
std::string figure_of(const TemporaryDirectory& folder, const std::string& text, bool hashed) {
  const std::string figure = folder / "figure.svg";
  REQUIRE(run_program({"render", text, "--variant", "exact", "-o", figure}).status == 0);
  if (hashed) return figure;
  std::string bytes = read_bytes(figure);
  const std::string name = "content_sha256&quot;: &quot;";
  const std::size_t hash = bytes.find(name);
  REQUIRE(hash != bytes.npos);
  bytes.erase(hash + name.size(), 64);
  write_bytes(figure, bytes);
  return figure;
}

bool is_running(const std::string& words) {
  for (const auto& process : std::filesystem::directory_iterator("/proc")) {
    std::ifstream in(process.path() / "cmdline");
    std::string line;
    std::getline(in, line);  // reading fails where the process has just ended
    if (contains(line, words)) return true;
  }
  return false;
}

bool wait_until_running(const std::string& words, bool running) {
  for (int attempt = 0; attempt < 2000; ++attempt) {
    if (is_running(words) == running) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace

TEST_CASE("a figure whose session names a file says so") {
  const TemporaryDirectory figures, texts;
  const std::string text = texts.write("t.txt", "the cat sat on the mat"),
                    figure = figure_of(figures, text, true);
  const Ended again = run_program({"render", figure, "-o", figures / "again.png"});
  CHECK(again.status == 0);
  check_says(again.err, {figure + ": its session reads " + text});
  const std::string formula = figures / "formula.svg";
  REQUIRE(run_program({"render", "synthetic:golden", "--variant", "exact", "-o", formula}).status ==
          0);
  CHECK_FALSE(contains(run_program({"render", formula, "-o", figures / "again.png"}).err, "reads"));
}

TEST_CASE("a figure does not show words of a text that its session names without their hash") {
  const TemporaryDirectory figures, texts;
  const std::string text = texts.write("t.txt", "the cat sat on the mat"),
                    figure = figure_of(figures, text, false), again = figures / "again.png";
  const Ended refused = run_program({"render", figure, "-o", again});
  CHECK(refused.status == 3);
  check_says(refused.err, {figure, text, "does not state its SHA-256", "open"});
  CHECK_FALSE(std::filesystem::exists(again));
  // Beside the text it is no stranger's.
  const std::string beside = texts / "figure.svg";
  std::filesystem::copy(figure, beside);
  CHECK(run_program({"render", beside, "-o", again}).status == 0);
}

TEST_CASE("a source whose name is not UTF-8 is found again from its figure") {
  const TemporaryDirectory folder;
  const std::string text = folder.write("\xff\xfe.txt", "the cat sat on the mat"),
                    figure = folder / "f.png";
  REQUIRE(run_program({"render", text, "--variant", "exact", "-o", figure}).status == 0);
  CHECK(contains(read_bytes(figure), "$'" + folder.path() + "/\\xff\\xfe.txt'"));
  const Ended again = run_program({"render", figure, "-o", folder / "again.png"});
  CAPTURE(again.err);
  CHECK(again.status == 0);
}

TEST_CASE("what the system makes as it is read is no source") {
  for (const char* path :
       {"/proc/self/status", "/proc/kmsg", "/sys/kernel/mm/transparent_hugepage/enabled"}) {
    if (!std::filesystem::exists(path)) continue;
    const Ended ended = run_program({"info", path});
    CHECK(ended.status == 3);
    check_says(ended.err, {path});
  }
}

TEST_CASE("Ctrl-C ends the process that decodes a picture, and so does the end of the program") {
  const TemporaryDirectory folder;
  std::string svg =
      "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' "
      "width='64' height='64'><rect id='u0' width='9' height='9'/>";
  for (int use = 1; use < 60000; ++use)
    svg +=
        "<use id='u" + std::to_string(use) + "' xlink:href='#u" + std::to_string(use - 1) + "'/>";
  const std::string picture = folder.write("long.svg", svg + "</svg>");
  for (const int signal : {SIGINT, SIGKILL}) {
    const std::string side = std::to_string(10000 + (::getpid() + signal * 1000) % 50000);
    Running program({"info", picture, "--content", "--max-side", side});
    const std::string words = std::string("--max-side") + '\0' + side + '\0' + "--seconds";
    REQUIRE(wait_until_running(words, true));
    program.signal(signal);
    const Ended ended = program.wait();
    CHECK((signal == SIGINT ? ended.status == 130 : ended.killed_by == SIGKILL));
    CHECK(wait_until_running(words, false));
  }
}
