#include "cli/options/whole_numbers.h"

#include <algorithm>
#include <charconv>

namespace fovea {
namespace {

bool takes_whole_number(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.starts_with("INT") || type.starts_with("UINT") || type.starts_with("PORT");
}

std::size_t sign_length(const std::string& text) {
  return text.starts_with('-') || text.starts_with('+') ? 1 : 0;
}

std::string without_leading_zeros(std::string text) {
  const std::size_t begin = sign_length(text), digit = text.find_first_not_of('0', begin);
  const bool is_number = digit != text.npos && text[digit] >= '1' && text[digit] <= '9';
  const std::size_t end = is_number ? digit : digit == text.npos ? text.size() - 1 : begin;
  if (text.size() > begin && end > begin) text.erase(begin, end - begin);
  return text;
}

std::string refuse_other_bases(const std::string& text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const std::string digits = text.substr(sign_length(text));
  return !digits.empty() && std::ranges::all_of(digits, is_digit)
             ? std::string()
             : "'" + text + "' found; expected a whole number in decimal digits";
}

}  // namespace

std::optional<Index> whole_number_from(const std::string& text) {
  Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void read_whole_numbers_as_decimal(CLI::App& command) {
  for (CLI::Option* option : command.get_options())
    if (takes_whole_number(*option))
      option->transform(without_leading_zeros)->check(refuse_other_bases);
  for (CLI::App* below : command.get_subcommands([](CLI::App*) { return true; }))
    read_whole_numbers_as_decimal(*below);
}

}  // namespace fovea
