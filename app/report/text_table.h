// A TextTable is rows of text, aligned in columns for a terminal. Its content may come from files
// and is printed in a safe form.
#pragma once

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "data/number_text.h"

namespace fovea {

struct TextTable {
  std::vector<std::string> header;  // a title that begins with '<' aligns its column to the left
  std::vector<std::vector<std::string>> rows;
};

/// Two spaces before and between the columns; columns are aligned to the right by default.
void print(std::ostream& out, const TextTable& table);

/// A line for each label and value, with the values aligned. Empty values are left out.
void print_facts(std::ostream& out, const std::vector<std::pair<std::string, std::string>>& facts);

/// "note: ...", after the indentation. A note may quote files.
void print_note(std::ostream& out, const std::string& note, int indentation = 0);
void print_notes(std::ostream& out, const std::vector<std::string>& notes, int indentation = 0);

}  // namespace fovea
