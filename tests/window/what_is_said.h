// All that a window says: words, values, tips and states of its controls, cells of tables, entries
// of menus, and what is painted by hand.
#pragma once

#include <QWidget>
#include <string>
#include <vector>

namespace fovea::test {

using Lines = std::vector<std::string>;

/// Adds lines below a title.
void add(Lines& to, const std::string& title, const Lines& lines);

/// A line for each control in `root` that is not hidden, and for each cell of a table. What
/// differs from machine to machine stands as "#": times, devices and folders.
Lines said_by(const QWidget& root);

/// A line for each entry of each menu of the bar, after the menus were told that they open.
Lines menus_of(const QWidget& window);

/// A line for each shape and word that the widget paints in this size, in tens of pixels.
Lines painted_by(QWidget& widget, QSize size);

}  // namespace fovea::test
