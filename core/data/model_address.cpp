#include "data/model_address.h"

#include <charconv>

#include "data/error.h"
#include "data/synthetic.h"
#include "data/utf8.h"

namespace fovea {
namespace {

constexpr std::string_view digits = "0123456789ABCDEF";
constexpr std::string_view written_as_codes = "%?&#";

std::string encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7F && written_as_codes.find(c) == written_as_codes.npos) {
      out += c;
      continue;
    }
    out += {'%', digits[byte >> 4], digits[byte & 15]};
  }
  return out;
}

UsageError bad(std::string_view address, const std::string& why) {
  return UsageError(quoted(address) + ": " + why +
                    "; expected model:FOLDER?text=TEXT or model:FOLDER?input=FILE, with %XX for "
                    "bytes that have a meaning in it");
}

std::string decoded(std::string_view address, std::string_view text) {
  const auto value_of = [&](char c) {
    const std::size_t upper = digits.find(c >= 'a' && c <= 'f' ? static_cast<char>(c - 32) : c);
    if (upper == digits.npos) throw bad(address, "'%' without two hexadecimal digits");
    return static_cast<int>(upper);
  };
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out += text[at];
      continue;
    }
    if (at + 2 >= text.size()) throw bad(address, "'%' without two hexadecimal digits");
    out += static_cast<char>(16 * value_of(text[at + 1]) + value_of(text[at + 2]));
    at += 2;
  }
  return out;
}

Index tokens_in(std::string_view address, const std::string& text) {
  Index tokens = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), tokens);
  if (error != std::errc() || end != text.data() + text.size() || tokens < 1 ||
      tokens > most_tokens)
    throw bad(address, "max_tokens is " + quoted(text) + ", not a number from 1 to " +
                           std::to_string(most_tokens));
  return tokens;
}

}  // namespace

std::string to_text(const ModelAddress& address) {
  std::string out = std::string(model_prefix) + encoded(address.folder);
  char before = '?';
  const auto add = [&](const char* key, const std::string& value) {
    out += before + std::string(key) + "=" + encoded(value);
    before = '&';
  };
  if (address.text) add("text", *address.text);
  if (address.input) add("input", *address.input);
  if (address.decoder_text) add("decoder_text", *address.decoder_text);
  if (address.most_tokens != ModelAddress::standard_tokens)
    add("max_tokens", std::to_string(address.most_tokens));
  return out;
}

bool same_model(std::string_view a, std::string_view b) {
  if (!is_model_address(a) || !is_model_address(b) || a == b) return false;
  try {
    return parse_model_address(a).folder == parse_model_address(b).folder;
  } catch (const UsageError&) {  // the session was edited by hand
    return false;
  }
}

ModelAddress parse_model_address(std::string_view text) {
  if (!is_model_address(text)) throw bad(text, "does not begin with model:");
  const std::string_view rest = text.substr(model_prefix.size());
  const std::size_t query = rest.find('?');
  ModelAddress address{.folder = decoded(text, rest.substr(0, query))};
  if (address.folder.empty()) throw bad(text, "names no model");
  std::string_view left = query == rest.npos ? "" : rest.substr(query + 1);
  while (!left.empty()) {
    const std::string_view part = left.substr(0, left.find('&'));
    left.remove_prefix(std::min(left.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    if (equals == part.npos) throw bad(text, quoted(part) + " is no KEY=VALUE");
    const std::string_view key = part.substr(0, equals);
    std::string value = decoded(text, part.substr(equals + 1));
    if (key == "text" && !address.text)
      address.text = std::move(value);
    else if (key == "input" && value.empty())
      throw bad(text, "names no file as its input");
    else if (key == "input" && !address.input)
      address.input = std::move(value);
    else if (key == "decoder_text" && !address.decoder_text)
      address.decoder_text = std::move(value);
    else if (key == "max_tokens")
      address.most_tokens = tokens_in(text, value);
    else
      throw bad(text, quoted(key) + " is no key of it, or occurs twice");
  }
  if (address.text && address.input) throw bad(text, "has both a text and an input");
  return address;
}

}  // namespace fovea
