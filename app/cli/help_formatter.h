// A HelpFormatter writes --help in lines that a terminal does not break, without what only the
// parser needs to know.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace fovea {

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_subcommand(const CLI::App* command) const override;

 private:
  /// In lines that fit beside the names.
  std::string wrapped(const std::string& text) const;
};

}  // namespace fovea
