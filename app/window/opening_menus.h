// Menus whose entries open a source: the bundled and made examples, and what was open before.
#pragma once

class QMenu;

namespace fovea {

class Files;

/// `files` outlives the menu.
void make_examples_menu(QMenu& menu, Files& files);
/// The entries are made whenever the menu is about to be shown.
void make_recent_menu(QMenu& menu, Files& files);

}  // namespace fovea
