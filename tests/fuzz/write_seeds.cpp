// Writes the seeds of every parser into folders of their names:  write_seeds FOLDER
#include <filesystem>
#include <iostream>

#include "fuzz/parsers.h"
#include "input/painting.h"
#include "temporary_directory.h"

int main(int argc, char** argv) {
  const fovea::Painting painting;
  if (argc != 2) {
    std::cerr << "usage: write_seeds FOLDER\n";
    return 2;
  }
  for (const fovea::test::Parser& parser : fovea::test::parsers()) {
    const std::filesystem::path folder = std::filesystem::path(argv[1]) / parser.name;
    std::filesystem::create_directories(folder);
    int number = 0;
    for (const std::string& seed : parser.seeds())
      fovea::test::write_bytes((folder / ("seed-" + std::to_string(number++))).string(), seed);
    std::cout << parser.name << '\n';
  }
}
