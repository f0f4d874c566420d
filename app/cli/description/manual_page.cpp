// The manual page fovea(1), in the macros of man(7).
#include <algorithm>

#include "cli/description/description.h"
#include "data/text.h"

namespace fovea {
namespace {

/// Escapes a text so that groff prints it as it is. A hyphen alone would become a typographic one.
std::string roff_text(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string bold(const std::string& text) {
  return "\\fB" + roff_text(text) + "\\fR";
}

std::string italic(const std::string& text) {
  return "\\fI" + roff_text(text) + "\\fR";
}

std::string heading_of(const OptionDescription& option, bool positional) {
  if (positional) return italic(option.names.front()) + (option.repeated ? " ..." : "");
  const std::string out = join(option.names, bold);
  return option.value.empty() ? out : out + " " + italic(option.value);
}

std::string sentence(std::string text) {
  if (text.empty()) return "";
  return roff_text(text.ends_with('.') ? text : text + ".");
}

bool says_all(const std::string& text, const std::vector<std::string>& choices) {
  return std::ranges::all_of(
      choices, [&](const std::string& choice) { return text.find(choice) != std::string::npos; });
}

std::string paragraph_of(const OptionDescription& option, bool positional) {
  std::string out = ".TP\n" + heading_of(option, positional) + "\n" + sentence(option.text);
  if (!says_all(option.text, option.choices)) out += "\nOne of " + bold(join(option.choices)) + ".";
  if (!option.range.empty()) {
    std::string range = option.range;
    if (const std::size_t dash = range.find(" - "); dash != std::string::npos)
      range.replace(dash, 3, " to ");
    out += "\nFrom " + roff_text(range) + ".";
  }
  if (!option.standard.empty()) out += "\nDefault: " + bold(option.standard) + ".";
  if (!option.excludes.empty()) out += "\nNot together with " + bold(join(option.excludes)) + ".";
  if (option.required && !positional) out += "\nMust be given.";
  return out + "\n";
}

std::string usage_of(const CommandDescription& command) {
  std::string out = bold("fovea " + command.name);
  for (const OptionDescription& option : command.options)
    if (option.required) out += " " + bold(option.names.front()) + " " + italic(option.value);
  out += " [" + italic("OPTION") + "]...";
  for (const OptionDescription& one : command.positionals) {
    const std::string name = heading_of(one, true);
    out += one.required ? " " + name : " [" + name + "]";
  }
  return out;
}

/// Positionals first, then options, each group of them under its title.
std::string options_of(const CommandDescription& command) {
  std::string out;
  for (const OptionDescription& one : command.positionals) out += paragraph_of(one, true);
  std::vector<std::string> groups{"Options"};
  for (const OptionDescription& option : command.options)
    if (std::ranges::find(groups, option.group) == groups.end()) groups.push_back(option.group);
  for (const std::string& group : groups) {
    if (group != "Options") out += ".PP\n" + italic(group) + "\n";
    for (const OptionDescription& option : command.options)
      if (option.group == group) out += paragraph_of(option, false);
  }
  return out;
}

}  // namespace

std::string manual_page(const Description& it) {
  std::string out =
      "'\\\" t\n.\\\" Written by `fovea describe man`.\n.TH FOVEA 1 \"\" \"Fovea " + it.version +
      "\" \"User Commands\"\n.SH NAME\nfovea \\- a microscope for " +
      "attention\n.SH SYNOPSIS\n\\fBfovea\\fR [\\fIOPTION\\fR]... [\\fIFILE\\fR]...\n";
  for (const CommandDescription& command : it.commands) out += ".br\n" + usage_of(command) + "\n";
  out += ".SH DESCRIPTION\n" + sentence(it.program.text) +
         "\nFovea computes exact softmax attention and efficient attentions side by side, and "
         "shows what each of them\nkeeps and loses.\n.SH OPTIONS\n" +
         options_of(it.program) +
         ".PP\nEvery command takes \\fB\\-h\\fR, \\fB\\-\\-help\\fR and \\fB\\-\\-help\\-all\\fR, "
         "too.\n.SH COMMANDS\n";
  for (const CommandDescription& command : it.commands)
    out += ".SS " + usage_of(command) + "\n" + sentence(command.text) + "\n" + options_of(command);
  const std::string status = "Exit status: ";
  if (it.footer.starts_with(status))
    out += ".SH EXIT STATUS\n" + roff_text(it.footer.substr(status.size())) + "\n";
  return out;
}

}  // namespace fovea
