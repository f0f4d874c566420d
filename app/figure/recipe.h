// A Recipe is what a figure is made from. Its file carries it: PNG in text chunks, SVG in its
// metadata, PDF in attached files.
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

/// Of the bytes of a figure's file, whatever its name. Empty: it is a figure of Fovea without one.
/// Nothing: it is none of Fovea's, or damaged.
std::optional<Recipe> recipe_in(const QByteArray& file);

}  // namespace fovea
