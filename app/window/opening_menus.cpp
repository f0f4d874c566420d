#include "window/opening_menus.h"

#include <QFileInfo>
#include <QMenu>
#include <QSettings>
#include <utility>

#include "data/address.h"
#include "input/assets.h"
#include "input/model_place.h"
#include "input/open_source.h"
#include "window/files.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

/// An address may hold a long text.
QString shortened(const QMenu& menu, const QString& path) {
  constexpr int most_letters = 80;
  const QFontMetrics letters = menu.fontMetrics();
  return letters.elidedText(path, Qt::ElideMiddle, most_letters * letters.averageCharWidth());
}

}  // namespace

void make_examples_menu(QMenu& menu, Files& files) {
  const auto example = [&](const QString& text, const QString& what) {
    menu.addAction(escaped(text), &menu, [&files, what] { files.open(what); });
  };
  const QString assets = to_qt(assets_directory());
  example("A text", to_qt(standard_example()));
  for (const auto& [text, path] : {std::pair{"A photograph: cat", "/image/cat.jpg"},
                                   {"A photograph: retina", "/image/retina.jpg"},
                                   {"Captured heads", "/minilm/minilm-l6.safetensors"}})
    if (QFileInfo::exists(assets + path)) example(text, assets + path);
  menu.addSeparator();
  for (const char* what :
       {"synthetic:clusters?n=512&d=64&seed=1", "synthetic:smooth?n=512&d=64&seed=1",
        "synthetic:gaussian?n=512&d=64&seed=1", "synthetic:needle?n=512&d=64&seed=1",
        "synthetic:clusters?n=8192&d=64&seed=1", "synthetic:hmatrix", "synthetic:golden"})
    example(what, what);
}

void make_recent_menu(QMenu& menu, Files& files) {
  menu.setToolTipsVisible(true);
  QObject::connect(&menu, &QMenu::aboutToShow, &menu, [&menu, &files] {
    menu.clear();
    for (const QString& path : QSettings().value("recent").toStringList()) {
      const bool model = is_model_address(innermost(path.toStdString()));
      const QString name = model ? to_qt(short_name(path.toStdString())) : path;
      menu.addAction(escaped(shortened(menu, name)), &menu, [&files, path] { files.open(path); })
          ->setToolTip(plain_tip(to_qt(readable_source(path.toStdString()))));
    }
    menu.addSeparator();
    menu.addAction("Clear", &menu, [] { QSettings().remove("recent"); });
  });
}

}  // namespace fovea
