// Output that cannot be written: status 4, and what was there before stays.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>

#include "cli/program.h"
#include "figure/pgf_file.h"
#include "full_disk.h"
#include "messages.h"

using namespace fovea::test;

namespace {

std::vector<std::string> writing(const std::string& out) {
  if (out.ends_with(".safetensors"))
    return {"compute", "synthetic:gaussian?n=512&d=16", "--variant", "exact", "-o", out};
  return {"render", "synthetic:gaussian?n=512&d=16", "--variant", "exact", "-o", out};
}

/// A device that is always full. As root a copy: a program that replaced it would harm the machine.
std::string full_device(const TemporaryDirectory& directory) {
  const std::string copy = directory / "full";
  const bool made = mknod(copy.c_str(), S_IFCHR | 0666, makedev(1, 7)) == 0;
  return made && access(copy.c_str(), W_OK) == 0 && std::ofstream(copy) ? copy : "/dev/full";
}

const char* const svg_image =
    R"(<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><text x="4" y="30">Hi</text></svg>)";

const char* const names[] = {"z.safetensors", "f.png", "f.svg", "f.pdf"};

}  // namespace

TEST_CASE("a disk that is full half-way leaves the old file and nothing beside it") {
  for (const char* name : names) {
    const TemporaryDirectory directory;
    const std::string old = directory.write(name, "precious");
    const Ended ended = [&] {
      const FullDisk full(4096);  // handed down to the program
      return run_program(writing(old));
    }();
    CAPTURE(ended.err);
    CHECK(ended.status == 4);
    check_says(ended.err, {old, "cannot be written", "File too large"});
    CHECK(read_bytes(old) == "precious");
    CHECK(directory.files().size() == 1);
  }
}

TEST_CASE("a device is written to, also through a link, and never replaced") {
  for (const char* name : names) {
    const TemporaryDirectory directory;
    const std::string link = directory / name, device = full_device(directory);
    REQUIRE(symlink(device.c_str(), link.c_str()) == 0);
    const Ended ended = run_program(writing(link));
    CAPTURE(ended.err);
    CHECK(ended.status == 4);
    check_says(ended.err, {link, "No space left"});
    struct stat status {};
    REQUIRE(stat(device.c_str(), &status) == 0);
    CHECK(S_ISCHR(status.st_mode));
  }
}

TEST_CASE("places where no file can be are refused before anything is computed") {
  const TemporaryDirectory directory;
  for (const char* name : names) {
    const std::string nowhere = directory / "no/such/" + name;
    const Ended ended = run_program(writing(nowhere));
    CHECK(ended.status == 4);
    check_says(ended.err, {nowhere, "No such file"});
    mkdir((directory / name).c_str(), 0700);
    const Ended folder = run_program(writing(directory / name));
    CHECK(folder.status == 4);
    check_says(folder.err, {name, "Is a directory"});
  }
}

TEST_CASE("an SVG image with letters is read by every command") {
  const TemporaryDirectory directory;
  const std::string image = directory.write("image.svg", svg_image);
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"info", image}, {"compute", image, "--variant", "h1d"}, {"rankmap", image}}) {
    const Ended ended = run_program(words);
    CAPTURE(words.front());
    CAPTURE(ended.err);
    CHECK(ended.status == 0);
  }
}

TEST_CASE("a file that a command reads is not replaced by what it writes") {
  const TemporaryDirectory directory;
  const std::string head = directory / "head.safetensors", link = directory / "link.safetensors",
                    image = directory.write("image.svg", svg_image),
                    session = directory / "figure.svg";
  REQUIRE(run_program({"compute", "synthetic:gaussian?n=32&d=8", "--variant", "tf", "-o", head})
              .status == 0);
  REQUIRE(symlink(head.c_str(), link.c_str()) == 0);
  REQUIRE(run_program({"render", image, "--variant", "exact", "-o", session}).status == 0);
  const std::string tokens = directory.write("tokens.json", R"({"tokens": ["a", "b", "c", "d"]})");
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"compute", "synthetic:gaussian?n=32&d=8", "--variant", "tf", "--structure", head, "-o",
            link},
           {"render", image, "--variant", "exact", "-o", image},
           {"render", session, "-o", session},
           {"render", session, "-o", image},
           {"pareto", image, "-o", image},
           {"render", tokens, "--variant", "exact", "-o", directory / "f.png", "--data", tokens}}) {
    const std::string& file = words.back();
    CAPTURE(words.front());
    CAPTURE(file);
    const std::string before = read_bytes(file);
    const Ended ended = run_program(words);
    CHECK(ended.status == 2);
    check_says(ended.err, {file, "reads the file"});
    CHECK(read_bytes(file) == before);
  }
}

TEST_CASE("files of others are not taken for the body of a figure or the table of a sweep") {
  const TemporaryDirectory directory;
  const std::string figure = directory / "f.pgf";
  REQUIRE(run_program(writing(figure)).status == 0);
  const std::string body = fovea::pgf_body(figure);
  REQUIRE(std::filesystem::exists(body));
  std::filesystem::remove(figure);
  write_bytes(body, "precious");
  const Ended drawn = run_program(writing(figure));
  CHECK(drawn.status == 4);
  check_says(drawn.err, {body, "exists and holds something else"});
  CHECK(read_bytes(body) == "precious");
  std::filesystem::remove(body);
  CHECK(run_program(writing(figure)).status == 0);
  CHECK(run_program(writing(figure)).status == 0);  // over its own

  const std::string table = directory.write("results.csv", "precious");
  const std::string plan = directory.write(
      "a-plan.json",
      R"({"sources": ["synthetic:gaussian?n=16&d=4"], "variants": ["exact"], "rounds": 0})");
  const Ended swept = run_program({"sweep", plan, "-o", directory.path()});
  CHECK(swept.status == 3);
  check_says(swept.err, {table, "exists without plan.json"});
  CHECK(read_bytes(table) == "precious");
}

TEST_CASE("a write-protected file is not replaced, by root neither") {
  for (const char* name : names) {
    const TemporaryDirectory directory;
    const std::string old = directory.write(name, "precious");
    REQUIRE(chmod(old.c_str(), 0444) == 0);
    const Ended ended = run_program(writing(old));
    CHECK(ended.status == 4);
    check_says(ended.err, {old, "Permission denied"});
    CHECK(read_bytes(old) == "precious");
  }
}

TEST_CASE("standard output that cannot be written is an error") {
  for (const char* words : {"variants", "--help", "--help-all", "--version"}) {
    CAPTURE(words);
    const Ended ended = run_program({words}, "/dev/full");
    CHECK(ended.status == 4);
    check_says(ended.err, {"standard output: cannot be written"});
  }
}

TEST_CASE("pictures that could not be drawn are refused with their size") {
  const TemporaryDirectory directory;
  const auto refuse = [&](std::vector<std::string> how, const char* says) {
    std::vector<std::string> all = writing(directory / "f.png");
    all.insert(all.end(), how.begin(), how.end());
    const Ended ended = run_program(all);
    CAPTURE(ended.err);
    CHECK(ended.status == 4);
    check_says(ended.err, {says, "32767"});
  };
  refuse({"--width", "200in", "--height", "1in", "--dpi", "600"}, "120000 x 600 pixels");
  // More than 2 GiB, where QPainter's offsets overflow and it crashes.
  refuse({"--width", "10in", "--height", "10in", "--dpi", "2400"}, "24000 x 24000 pixels");
  CHECK(directory.files().empty());
}

TEST_CASE("a height too small for the panels is refused with the least that is enough") {
  const TemporaryDirectory directory;
  const auto drawn = [&](const std::string& name, const std::string& height) {
    return run_program({"render", "synthetic:golden", "--variant", "h1d", "--view", "error",
                        "--view", "output", "--height", height, "-o", directory / name});
  };
  for (const std::string name : {"f.png", "f.svg"}) {
    const Ended small = drawn(name, "0.25in");
    CAPTURE(small.err);
    CHECK(small.status == 2);
    check_says(small.err, {"height of 0.25in is too small", "expected at least "});
    const std::string before = "expected at least ";
    const double least = std::stod(small.err.substr(small.err.find(before) + before.size()));
    CHECK(least > 1);
    CHECK(drawn(name, std::to_string(least - 0.02) + "in").status == 2);
    CHECK(directory.files().empty());
    CHECK(drawn(name, std::to_string(least) + "in").status == 0);
    std::filesystem::remove(directory / name);
  }
}
