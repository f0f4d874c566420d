#include "bench/options.h"

#include <sstream>

#include "data/error.h"

namespace fovea::bench {
namespace {

std::vector<Index> numbers(const std::string& text) {
  std::vector<Index> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) out.push_back(std::stoll(part));
  return out;
}

}  // namespace

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
    else if (name == "--head-start")
      options.head_start = std::stod(value);
    else if (name == "--sets")
      options.sets = std::stod(value);
    else if (name == "--lengths")
      options.lengths = numbers(value);
    else if (name == "--heads")
      options.heads = numbers(value);
    else if (name == "--only" && (value == "attention" || value == "maps"))
      options.only = value;
    else
      throw UsageError("unknown option " + name + " " + value);
  }
  return options;
}

}  // namespace fovea::bench
