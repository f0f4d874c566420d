// The manual page and the completions of shells name what --help-all names: all of it, and nothing
// else.
#include <doctest/doctest.h>

#include <regex>
#include <set>
#include <sstream>

#include "cli/program.h"

using namespace fovea::test;

namespace {

using OptionNames = std::set<std::string>;  // "compute --variant"; of the program " --listen"

std::vector<std::string> words_in(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string described(const char* format) {
  const Ended ended = run_program({"describe", format});
  REQUIRE(ended.status == 0);
  return ended.out;
}

/// Commands take the options for help as the program does, and are not asked for them here.
void add_name(OptionNames& names, const std::string& command, const std::string& option) {
  const bool help = option == "-h" || option == "--help" || option == "--help-all";
  if (command.empty() || !help) names.insert(command + " " + option);
}

OptionNames names_in_help() {
  std::istringstream help(run_program({"--help-all"}).out);
  OptionNames names;
  std::string command;
  bool commands = false;
  for (std::string line; std::getline(help, line);) {
    if (line.starts_with("Subcommands:")) commands = true;
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent == std::string::npos) continue;
    if (commands && indent == 0 && line.find_first_of(" :") == std::string::npos) command = line;
    if (line[indent] != '-' || indent > 4) continue;
    std::istringstream all(line.substr(indent, line.find(' ', indent) - indent));
    for (std::string name; std::getline(all, name, ',');) add_name(names, command, name);
  }
  return names;
}

OptionNames names_in_manual() {
  std::istringstream manual(described("man"));
  OptionNames names;
  std::string command;
  for (std::string line; std::getline(manual, line);) {
    std::erase(line, '\\');
    if (line.starts_with(".SS fBfovea ")) command = line.substr(12, line.find("fR") - 12);
    if (!line.starts_with("fB-")) continue;
    for (std::size_t at = 0; (at = line.find("fB-", at)) != std::string::npos; ++at)
      add_name(names, command, line.substr(at + 2, line.find("fR", at) - at - 2));
  }
  return names;
}

OptionNames names_in_bash() {
  std::istringstream script(described("bash"));
  OptionNames names;
  for (std::string line; std::getline(script, line);) {
    const std::size_t begin = line.find(") words='-"), end = line.find("' ;;");
    if (begin == std::string::npos) continue;
    std::string command = words_in(line.substr(0, begin)).front();
    if (command == "''") command.clear();
    for (const std::string& word : words_in(line.substr(begin + 9, end - begin - 9)))
      add_name(names, command, word);
  }
  return names;
}

OptionNames names_in_fish() {
  std::istringstream script(described("fish"));
  OptionNames names;
  for (std::string line; std::getline(script, line);) {
    const std::vector<std::string> words = words_in(line.substr(0, line.find(" -d ")));
    std::string command;
    for (std::size_t w = 1; w < words.size(); ++w) {
      if (words[w - 1] == "'__fish_seen_subcommand_from")
        command = words[w].substr(0, words[w].size() - 1);
      if (words[w - 1] == "-l") add_name(names, command, "--" + words[w]);
      if (words[w - 1] == "-s") add_name(names, command, "-" + words[w]);
    }
  }
  return names;
}

OptionNames names_in_zsh() {
  std::istringstream script(described("zsh"));
  OptionNames names;
  std::string command;
  for (std::string line; std::getline(script, line);) {
    if (line.starts_with("    ") && line.ends_with(")") && line[4] != ' ' && line[4] != '*')
      command = line.substr(4, line.size() - 5);
    std::size_t begin = line.find('\'') + 1;
    if (line.find("[") == std::string::npos || begin == 0) continue;
    if (line[begin] == '(') begin = line.find(')') + 1;
    if (line[begin] == '*') ++begin;
    if (line[begin] == '-')
      add_name(names, command, line.substr(begin, line.find_first_of("=+[", begin) - begin));
  }
  return names;
}

}  // namespace

TEST_CASE("the manual page and the completions name the options that there are") {
  const OptionNames help = names_in_help();
  CHECK(help.contains(" --listen"));
  CHECK(help.contains("render --preset"));
  CHECK(help.size() > 150);
  CHECK(names_in_manual() == help);
  CHECK(names_in_bash() == help);
  CHECK(names_in_fish() == help);
  CHECK(names_in_zsh() == help);
}

TEST_CASE("values that are known are completed, and what is hidden is not named") {
  CHECK(described("bash").find("compute:--backend) words='auto cpu cuda'") != std::string::npos);
  CHECK(described("fish").find("neurips") != std::string::npos);
  for (const char* format : {"man", "bash", "zsh", "fish"})
    CHECK(described(format).find("fovea describe FORMAT") == std::string::npos);
  CHECK(run_program({"--help-all"}).out.find("describe") == std::string::npos);
  CHECK(run_program({"describe", "word"}).status == 2);
}

TEST_CASE("the version names commit, compiler and back ends") {
  const std::string version = run_program({"--version"}).out;
  for (const char* says : {"fovea ", "\ncommit ", "\ncompiler ", "\nback ends  CPU", "CUDA ("})
    CHECK(version.find(says) != std::string::npos);
}

TEST_CASE("law: the manual page has the ranges of numbers that the help has") {
  const auto ranges_in = [](std::string text, const std::string& pattern) {
    std::erase(text, '\\');  // before a minus
    std::set<std::string> ranges;
    const std::regex range(pattern);
    for (std::sregex_iterator it(text.begin(), text.end(), range), end; it != end; ++it)
      ranges.insert((*it)[1].str() + " to " + (*it)[2].str());
    return ranges;
  };
  const auto in_help = ranges_in(run_program({"--help-all"}).out, R"(in \[(\S+) - (\S+)\])");
  CHECK(in_help.size() > 10);
  CHECK(ranges_in(described("man"), R"(From (\S+) to (\S+)\.\n)") == in_help);
}
