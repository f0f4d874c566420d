#include "bench/options.h"

#include <algorithm>
#include <sstream>

#include "data/error.h"

namespace fovea::bench {
namespace {

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) out.push_back(part);
  return out;
}

std::vector<Index> numbers(const std::string& text) {
  std::vector<Index> out;
  for (const std::string& word : words(text)) out.push_back(std::stoll(word));
  return out;
}

bool among(const std::vector<std::string>& wanted, const std::string& name) {
  return wanted.empty() || std::ranges::find(wanted, name) != wanted.end();
}

}  // namespace

bool Options::wants(const std::string& id, const std::string& precision) const {
  return among(what, id) && among(precisions, precision);
}

Options options_from(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) throw UsageError(name + " needs a value");
    const std::string value = argv[i + 1];
    if (name == "--out")
      options.out = value;
    else if (name == "--seconds")
      options.seconds = std::stod(value);
    else if (name == "--rounds")
      options.rounds = std::stoi(value);
    else if (name == "--spread")
      options.spread = std::stod(value);
    else if (name == "--head-start")
      options.head_start = std::stod(value);
    else if (name == "--sets")
      options.sets = std::stod(value);
    else if (name == "--lengths")
      options.lengths = numbers(value);
    else if (name == "--heads")
      options.heads = numbers(value);
    else if (name == "--d")
      options.widths = numbers(value);
    else if (name == "--what")
      options.what = words(value);
    else if (name == "--precisions")
      options.precisions = words(value);
    else if (name == "--causal" && (value == "no" || value == "yes"))
      options.masks = {value == "yes"};
    else if (name == "--causal" && value == "both")
      options.masks = {false, true};
    else if (name == "--only" && (value == "attention" || value == "maps"))
      options.only = value;
    else
      throw UsageError("unknown option " + name + " " + value);
  }
  return options;
}

}  // namespace fovea::bench
