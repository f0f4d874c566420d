// A TextTable is rows of text, aligned in columns for a terminal.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace fovea {

struct TextTable {
  std::vector<std::string> header;  // a title that begins with '<' aligns its column to the left
  std::vector<std::vector<std::string>> rows;
};

/// Two spaces before and between the columns; columns are aligned to the right by default.
void print(std::ostream& out, const TextTable& table);

/// A line for each label and value, with the values aligned. Empty values are left out.
void print_facts(std::ostream& out, const std::vector<std::pair<std::string, std::string>>& facts);

/// Four significant digits: "0.2752", "12.3", "1.2e-07"; "infinite", "-" for NaN.
std::string number_text(double value);
std::string count_text(double count);                             // "12.3 G"
std::string bytes_text(double bytes);                             // "1.5 MiB"
std::string time_text(double milliseconds);                       // "1.23 ms", "45.6 µs", "2.10 s"
std::string plural(std::int64_t count, const std::string& noun);  // "1 head", "12 heads"

}  // namespace fovea
