// Paths of which the system says nothing: links in a circle, names that are too long, folders that
// nobody may look into. The message names them, and the status is that of input or of output.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "cli/program.h"
#include "messages.h"

using namespace fovea::test;

namespace {

/// A link to itself.
std::string circle(const TemporaryDirectory& directory, const std::string& name) {
  std::filesystem::create_symlink(name, directory / name);
  return directory / name;
}

void check_refused(const Ended& ended, int status, std::initializer_list<std::string> says) {
  CAPTURE(ended.err);
  CHECK(ended.status == status);
  CHECK(ended.out.empty());
  check_says(ended.err, says);
}

std::string plan_in(const TemporaryDirectory& directory) {
  return directory.write(
      "p.json", R"({"sources": ["synthetic:golden"], "variants": ["exact"], "rounds": 0})");
}

}  // namespace

TEST_CASE("a word too long for a file name is neither a command nor a file") {
  check_refused(run_program({std::string(300, 'w')}), 2, {"fovea: 'www", "neither a command"});
}

TEST_CASE("sources that cannot be reached are bad input") {
  const TemporaryDirectory directory;
  const std::string link = circle(directory, "a.safetensors");
  check_refused(run_program({"info", link}), 3, {link + ": cannot be reached: Too many levels"});
  const std::string folder = directory / "closed";
  REQUIRE(mkdir(folder.c_str(), 0) == 0);
  check_refused(run_as_anyone({"info", folder}), 3, {folder + ": cannot be listed: Permission"});
  check_refused(run_as_anyone({"info", folder + "/a.npz"}), 3,
                {folder + "/a.npz: cannot be reached: Permission"});
}

TEST_CASE("sweep: folders that cannot be reached are no internal error") {
  const TemporaryDirectory directory;
  const std::string plan = plan_in(directory), link = circle(directory, "r");
  check_refused(run_program({"sweep", plan, "-o", link}), 4, {link + " cannot be made: "});
  check_refused(run_program({"sweep", "--merge", link}), 3, {link, "cannot be reached: Too many"});
  const std::string folder = directory / "closed";
  REQUIRE(mkdir(folder.c_str(), 0) == 0);
  check_refused(run_as_anyone({"sweep", plan, "-o", folder}), 4, {folder, "Permission denied"});
  check_refused(run_as_anyone({"sweep", "--merge", folder}), 3, {folder, "Permission denied"});
}

TEST_CASE("sweep: what cannot be read in a folder of results is named") {
  const TemporaryDirectory directory;
  const std::string plan = plan_in(directory), results = directory / "r";
  REQUIRE(run_program({"sweep", plan, "-o", results}).status == 0);
  const std::string rows = results + "/results.jsonl";
  std::filesystem::remove(rows);
  std::filesystem::create_symlink("results.jsonl", rows);
  check_refused(run_program({"sweep", "--merge", results}), 3, {rows, "is a symbolic link"});
  REQUIRE(chmod(results.c_str(), 0300) == 0);  // its files can be opened, but not listed
  check_refused(run_as_anyone({"sweep", "--merge", results}), 3,
                {results + ": cannot be listed: Permission denied"});
}

TEST_CASE("--data of a name that cannot be reached is refused for its ending") {
  const TemporaryDirectory directory;
  const std::string link = circle(directory, "numbers.xyz");
  check_refused(run_program({"render", "synthetic:golden", "--variant", "exact", "--view",
                             "heatmap", "-o", directory / "f.png", "--data", link}),
                2, {link + ": expected .csv, .npy, .json or a directory"});
}
