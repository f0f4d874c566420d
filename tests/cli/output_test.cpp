// Output that cannot be written: status 4, and what was there before stays.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>

#include "cli/program.h"
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

TEST_CASE("standard output that cannot be written is an error") {
  const Ended ended = run_program({"variants", "--json"}, 0, "/dev/full");
  CHECK(ended.status == 4);
  check_says(ended.err, {"standard output"});
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
