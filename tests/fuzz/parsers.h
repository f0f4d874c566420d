// The parsers of everything that comes from elsewhere: files, sockets, words of a command line.
// Each is a function of bytes, so that any bytes can be tried on it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fovea::test {

struct Parser {
  const char* name;  // of its corpus, too: corpus/NAME.zip
  /// Returns, or throws an Error that can be shown. What breaks a rule that holds for all bytes is
  /// a std::logic_error.
  void (*parse)(const std::string& bytes);
  /// Valid bytes of every form that there is.
  std::vector<std::string> (*seeds)();
};

const std::vector<Parser>& parsers();
/// Throws std::logic_error with the names that there are.
const Parser& find_parser(std::string_view name);

/// Whether the parser took the bytes. What it refused, it refused with a message in valid UTF-8
/// without control characters; anything else is a std::logic_error.
bool accepts(const Parser& parser, const std::string& bytes);

}  // namespace fovea::test
