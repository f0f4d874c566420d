// A command line as a person can type it again.
#pragma once

#include <string>
#include <vector>

namespace fovea {

/// Quoted for a shell where it has to be; in ASCII where the word is not UTF-8.
std::string shell_word(const std::string& word);

/// The command line of such words. The program is called fovea wherever it lies, and `output`
/// figure.png or the like, after `stem`: the same figure is the same file whatever it is called.
std::string command_line(const std::vector<std::string>& words, const std::string& output,
                         const std::string& stem = "figure");

}  // namespace fovea
