// Words of command lines, small sources for each option that reads them, and the options that there
// are.
#pragma once

#include <cmath>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.h"
#include "data/random.h"
#include "io/npy.h"
#include "io/safetensors_writer.h"

namespace fovea::test {

using Words = std::vector<std::string>;

inline Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

struct Sources {
  TemporaryDirectory folder, bits;
  std::string layers = folder / "layers.safetensors", cube = folder / "cube.safetensors",
              not_finite = folder / "nan.safetensors";
  std::string text = folder.write("lines.txt", "to be\nor not\nto be at all\nthat is it\n");

  Sources() {
    std::vector<OutTensor> tensors;
    for (const char* layer : {"layer0.", "layer1."}) add(tensors, layer, 6);
    write_safetensors(layers, tensors, {{"causal", "true"}});
    tensors.clear();
    add(tensors, "", 4);  // heads, tokens and features: each order of the axes fits
    write_safetensors(cube, tensors, {});
    std::get<0>(tensors[0].values)[5] = NAN;
    write_safetensors(not_finite, tensors, {});
    // Read as fp16 or as bfloat16 these are numbers from 1 to 2.
    std::string numbers;
    for (int at = 0; at < 24; ++at) numbers += {char(8 * at), char(0x3c + at % 3)};
    for (const char* name : {"q", "k", "v"})
      bits.write(name + std::string(".npy"), npy_bytes(npy_dict("<u2", "(6, 4)"), numbers));
  }

  void add(std::vector<OutTensor>& tensors, const std::string& prefix, Index n) {
    for (const char* name : {"q", "k", "v"}) {
      std::vector<float> values(static_cast<std::size_t>(16 * n));
      for (float& value : values) value = static_cast<float>(random.normal());
      tensors.push_back({prefix + name, {4, n, 4}, std::move(values)});
    }
  }
  Random random{1, 1};
};

/// The names of the options that the help of a command tells.
inline std::set<std::string> options_of(const std::string& command) {
  std::istringstream help(run_program({command, "--help"}).out);
  std::set<std::string> names;
  for (std::string line; std::getline(help, line);)
    if (line.starts_with("  -"))
      for (std::istringstream all(line.substr(2, line.find(' ', 2) - 2));
           std::getline(all, line, ',');)
        names.insert(line);
  return names;
}

}  // namespace fovea::test
