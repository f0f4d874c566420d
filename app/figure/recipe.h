// A Recipe is what a figure or a report is made from. Its file carries it: PNG in text chunks, SVG
// in its metadata, PDF in attached files, HTML in a link.
#pragma once

#include <QByteArray>
#include <optional>
#include <string>

namespace fovea {

struct Recipe {
  std::string session;  // JSON, as in a session file; empty: there is none
  std::string command;  // the command line that makes it; empty: none is known

  bool empty() const { return session.empty() && command.empty(); }
};

inline constexpr const char* recipe_session_file = "session.fovea.json";  // attached to a PDF
inline constexpr const char* recipe_command_file = "command.txt";

/// The bytes of a PNG or SVG file with the recipe in them.
QByteArray with_recipe_in_png(const QByteArray& png, const Recipe& recipe);
QByteArray with_recipe_in_svg(const QByteArray& svg, const Recipe& recipe);

/// `bytes` inside a URL.
std::string data_url(const std::string& type, const QByteArray& bytes);

/// A paragraph of HTML with the session in a link, by which a browser saves it. Empty: there is
/// none.
std::string link_to_session(const Recipe& recipe);

/// Of the bytes of a figure's or report's file, whatever its name. Empty: it is one of Fovea
/// without a recipe. Nothing: it is none of Fovea's, or damaged.
std::optional<Recipe> recipe_in(const QByteArray& file);

}  // namespace fovea
