// Any bytes are either taken or refused with an Error that can be shown: there is never a crash or
// another exception. libFuzzer has made the bytes up (run.py); those that reach different code are
// kept.
#include <doctest/doctest.h>
#include <zip.h>

#include <memory>

#include "fuzz/parsers.h"

using namespace fovea::test;

namespace {

/// The members of corpus/NAME.zip.
std::vector<std::string> corpus_of(const Parser& parser) {
  const std::string path = std::string(FOVEA_TESTS "/fuzz/corpus/") + parser.name + ".zip";
  const std::unique_ptr<zip_t, decltype(&zip_discard)> archive(
      zip_open(path.c_str(), ZIP_RDONLY, nullptr), &zip_discard);
  if (!archive) return {};
  std::vector<std::string> members;
  for (zip_int64_t i = 0; i < zip_get_num_entries(archive.get(), 0); ++i) {
    zip_stat_t member;
    REQUIRE(zip_stat_index(archive.get(), static_cast<zip_uint64_t>(i), 0, &member) == 0);
    std::string bytes(member.size, '\0');
    zip_file_t* file = zip_fopen_index(archive.get(), static_cast<zip_uint64_t>(i), 0);
    REQUIRE(file);
    REQUIRE(zip_fread(file, bytes.data(), bytes.size()) == static_cast<zip_int64_t>(bytes.size()));
    zip_fclose(file);
    members.push_back(std::move(bytes));
  }
  return members;
}

}  // namespace

TEST_CASE("fuzz: every seed is taken") {
  for (const Parser& parser : parsers()) {
    CAPTURE(std::string(parser.name));
    for (const std::string& seed : parser.seeds()) {
      std::string refusal;
      try {
        parser.parse(seed);
      } catch (const std::exception& error) {
        refusal = error.what();
      }
      CHECK(refusal == "");
    }
  }
}

TEST_CASE("fuzz: every member of a kept corpus is taken, or refused with a message") {
  for (const Parser& parser : parsers()) {
    CAPTURE(std::string(parser.name));
    const auto corpus = corpus_of(parser);
    std::size_t taken = 0;
    for (const std::string& bytes : corpus) {
      bool accepted = false;
      CHECK_NOTHROW(accepted = accepts(parser, bytes));
      taken += accepted;
    }
    CHECK(taken > 0);
    CHECK(taken < corpus.size());
  }
}
