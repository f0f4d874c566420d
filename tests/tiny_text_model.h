// A TinyTextModel is the folder of a text encoder with random weights and a vocabulary of 40 words,
// most of them letters.
#pragma once

#include <filesystem>

#include "data/model_address.h"
#include "temporary_directory.h"

namespace fovea::test {

class TinyTextModel {
 public:
  TinyTextModel() {
    namespace fs = std::filesystem;
    fs::create_directory(folder());
    for (const auto& entry : fs::directory_iterator(FOVEA_TESTS "/model/fixtures/bert"))
      fs::copy(entry.path(), fs::path(folder()) / entry.path().filename());
    std::string words = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
    for (char c = 'a'; c <= 'z'; ++c) words += std::string(1, c) + "\n";
    words += "cat\nsat\nthe\n##s\n.\ncafe\n##e\n##a\n##t\n";
    scratch_.write("tiny/vocab.txt", words);
    scratch_.write("tiny/tokenizer_config.json", R"({"do_lower_case": true})");
  }
  std::string folder() const { return scratch_.path() + "/tiny"; }
  std::string file(const std::string& name, const std::string& text) const {
    return scratch_.write(name, text);
  }
  std::string address(const std::string& text) const {
    return to_text(ModelAddress{.folder = folder(), .text = text});
  }

 private:
  TemporaryDirectory scratch_;
};

}  // namespace fovea::test
