// The gallery of heads: where they lie, which pictures are made, zoom, keys, and another text.
#include <doctest/doctest.h>

#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QHeaderView>
#include <QLabel>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QSettings>
#include <QToolButton>
#include <QWheelEvent>
#include <cmath>
#include <set>

#include "tiny_text_model.h"
#include "window/docks/head_gallery.h"
#include "window/pointer.h"

namespace fovea::test {
namespace {

using Head = HeadGallery::Head;

Matrix some_numbers(std::uint64_t seed) {
  Matrix x(6, 2);
  for (Index i = 0; i < 12; ++i) x(i / 2, i % 2) = float(std::sin(double(7 * seed + 3 * i)));
  return x;
}

/// Layers of so many heads of few tokens.
std::shared_ptr<const Source> layers_of(const std::vector<Index>& heads, const char* path) {
  auto source = std::make_shared<Source>();
  source->path = path;
  source->name = path;
  std::uint64_t seed = 0;
  for (const Index count : heads) {
    Layer layer{.name = "layer" + std::to_string(source->layers.size())};
    for (HeadTensor* tensor : {&layer.q, &layer.k, &layer.v}) {
      std::vector<Matrix> parts;
      for (Index h = 0; h < count; ++h) parts.push_back(some_numbers(++seed));
      *tensor = make_head_tensor(parts);
    }
    source->layers.push_back(std::move(layer));
  }
  return source;
}

void open_in(Window& window, std::shared_ptr<const Source> source) {
  window.study().open(source);
  REQUIRE(wait_until([&] { return window.study().source() == source; }));
  REQUIRE(window.settle());
}

HeadGallery& gallery_of(Window& window) {
  return *window->findChild<HeadGallery*>("heads");
}

void show_all_layers(Window& window) {
  auto* box = window->findChild<QCheckBox*>("all_layers");
  if (!box->isChecked()) box->click();
  // The dock is scrolled to the gallery.
  auto* around = qobject_cast<QScrollArea*>(
      gallery_of(window).window()->findChild<QWidget*>("Input")->findChild<QScrollArea*>(
          "dock_scroll"));
  around->verticalScrollBar()->setValue(
      gallery_of(window).mapTo(around->widget(), QPoint(0, 0)).y() - 8);
  QTest::qWait(50);
}

void enlarge(Window& window, QSize size) {
  window->findChild<QToolButton*>("larger_heads")->click();
  auto* own = window->findChild<QDialog*>("heads_window");
  REQUIRE(own);
  own->resize(size);
  REQUIRE(QTest::qWaitForWindowExposed(own));
  REQUIRE(wait_until([&] { return own->size() == size && gallery_of(window).isVisible(); }));
  QTest::qWait(50);
}

bool in_sight(Window& window, const Head& head) {
  return gallery_of(window).viewport()->rect().contains(gallery_of(window).place_of(head));
}

void wheel(QWidget& over, QPoint place, int notches, Qt::KeyboardModifiers modifiers) {
  QWheelEvent event(place, over.mapToGlobal(place), {}, {0, 120 * notches}, Qt::NoButton, modifiers,
                    Qt::NoScrollPhase, false);
  QApplication::sendEvent(&over, &event);
}

}  // namespace

TEST_CASE("the heads of all layers are a grid, a row for each layer, numbered and all in sight") {
  Window window(small);
  open_in(window, layers_of(std::vector<Index>(30, 9), "thirty"));
  show_all_layers(window);
  enlarge(window, {1600, 1000});
  HeadGallery& heads = gallery_of(window);
  CHECK(heads.is_grid());
  CHECK(heads.count() == 270);
  const QRect first = heads.place_of({0, 0});
  for (const Head& head : {Head{0, 0}, {0, 8}, {7, 3}, {29, 8}}) {
    CHECK(heads.place_of(head) ==
          first.translated(int(head.second) * heads.side(), int(head.first) * heads.side()));
    CHECK(in_sight(window, head));
  }
  CHECK(heads.side() >= 24);  // 1000 pixels, less the fields above, for 30 rows
  CHECK(heads.verticalHeader()->isVisible());
  CHECK(heads.model()->headerData(17, Qt::Vertical).toString() == "17");
  CHECK(heads.model()->headerData(8, Qt::Horizontal).toString() == "8");
  CHECK(heads.model()
            ->data(heads.indexAt(heads.place_of({7, 3}).center()), Qt::AccessibleTextRole)
            .toString()
            .startsWith("layer7, head 3"));
  CHECK(wait_until([&] { return window.study().missing_cards() == 0; }));
  window.shoot("thirty_by_nine");
  // The numbers of the head that is open stand out.
  const auto contrast = [](QHeaderView& header, int section) {
    const int from = header.sectionViewportPosition(section), size = header.sectionSize(section);
    const QRect where = header.orientation() == Qt::Horizontal
                            ? QRect(from, 0, size, header.height())
                            : QRect(0, from, header.width(), size);
    const QImage picture = header.viewport()->grab(where).toImage();
    int darkest = 255, lightest = 0;
    for (int y = 0; y < picture.height(); ++y)
      for (int x = 0; x < picture.width(); ++x) {
        const int grey = qGray(picture.pixel(x, y));
        darkest = std::min(darkest, grey), lightest = std::max(lightest, grey);
      }
    return lightest - darkest;
  };
  CHECK(contrast(*heads.verticalHeader(), 0) > contrast(*heads.verticalHeader(), 17));
  CHECK(contrast(*heads.horizontalHeader(), 0) > contrast(*heads.horizontalHeader(), 8));
  // Sorted, they flow, and fewer and fewer lack their number.
  auto* order = window->findChild<QComboBox*>("head_order");
  window.study().select_column(2);  // no error of it is known before events are handled
  order->setCurrentIndex(int(HeadOrder::error));
  CHECK_FALSE(heads.is_grid());
  CHECK_FALSE(heads.verticalHeader()->isVisible());
  auto* share = window->findChild<QLabel*>("head_share");
  CHECK(share->text() == "0 of 270");
  CHECK(wait_until([&] { return share->text().isEmpty(); }));
  for (int i = 1; i < heads.count(); ++i)
    CHECK(window.study().head_error(heads.head(i).first, heads.head(i).second) <=
          window.study().head_error(heads.head(i - 1).first, heads.head(i - 1).second));
  order->setCurrentIndex(int(HeadOrder::index));
  CHECK(heads.is_grid());
  // Other heads in the same places are drawn again, all of them.
  QSignalSpy drawn_again(heads.model(), &QAbstractItemModel::dataChanged);
  open_in(window, layers_of(std::vector<Index>(30, 9), "thirty others"));
  CHECK(std::ranges::any_of(drawn_again, [](const QList<QVariant>& range) {
    const auto first = range[0].toModelIndex(), last = range[1].toModelIndex();
    return first.row() == 0 && first.column() == 0 && last.row() == 29 && last.column() == 8;
  }));
  // Escape takes them back to the dock.
  QTest::keyClick(&heads, Qt::Key_Escape);
  CHECK(wait_until([&] { return heads.window() == &*window; }));
  CHECK(heads.isVisible());
}

TEST_CASE("the heads of uneven layers flow") {
  Window window(small);
  open_in(window, layers_of({4, 4, 2}, "uneven"));
  show_all_layers(window);
  HeadGallery& heads = gallery_of(window);
  CHECK(heads.count() == 10);
  CHECK_FALSE(heads.is_grid());
  const std::vector<Head> all{{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0},
                              {1, 1}, {1, 2}, {1, 3}, {2, 0}, {2, 1}};
  for (int i = 0; i < 10; ++i) CHECK(heads.head(i) == all[std::size_t(i)]);
  // An empty cell behind the last one opens nothing.
  const QRect last = heads.place_of({2, 1});
  const QPoint behind = last.center() + QPoint(last.width(), 0);
  if (heads.viewport()->rect().contains(behind))
    QTest::mouseClick(heads.viewport(), Qt::LeftButton, {}, behind);
  CHECK(window.study().session().layer == 0);
  QTest::mouseClick(heads.viewport(), Qt::LeftButton, {}, last.center());
  CHECK(window.study().session().layer == 2);
  CHECK(window.study().session().head == 1);
}

TEST_CASE("pictures are made of the heads in sight, of 80 x 64 heads too, and scrolling goes on") {
  Window window(small);
  open_in(window, layers_of(std::vector<Index>(80, 64), "eighty"));
  show_all_layers(window);
  HeadGallery& heads = gallery_of(window);
  int made = 0, cells = 0;
  const auto count = [&] {
    made = cells = 0;
    for (Index l = 0; l < 80; ++l)
      for (Index h = 0; h < 64; ++h) {
        made += window.study().card(l, h) != nullptr;
        cells += heads.viewport()->rect().intersects(heads.place_of({l, h}));
      }
  };
  count();
  const int in_dock = cells;
  enlarge(window, {500, 500});
  CHECK(heads.count() == 5120);
  CHECK(heads.is_grid());
  CHECK(heads.side() == HeadGallery::least_side);
  const auto complete = [&] { return window.study().missing_cards() == 0; };
  REQUIRE(wait_until(complete));
  count();
  CHECK(made >= cells);
  CHECK(made <= cells + in_dock);  // where they were before
  CHECK_FALSE(window.study().card(79, 63));
  heads.horizontalScrollBar()->setValue(heads.horizontalScrollBar()->maximum());
  heads.verticalScrollBar()->setValue(heads.verticalScrollBar()->maximum());
  REQUIRE(wait_until([&] { return window.study().card(79, 63) != nullptr && complete(); }));
  CHECK_FALSE(window.study().card(40, 32));
  // What is opened elsewhere comes into sight.
  CHECK_FALSE(in_sight(window, {5, 7}));
  window->editor().choose_head(5, 7);
  CHECK(wait_until([&] { return in_sight(window, {5, 7}); }));
}

TEST_CASE("the gallery zooms with the wheel and with keys, and keeps how far") {
  int kept = 0;
  {
    Window window(small);
    open_in(window, layers_of(std::vector<Index>(6, 12), "six"));
    show_all_layers(window);
    HeadGallery& heads = gallery_of(window);
    const int fitting = heads.side();
    CHECK(fitting >= HeadGallery::least_side);
    heads.setFocus();
    const std::size_t columns = window.study().session().columns.size();
    const Viewport view = window.study().session().viewport;
    QTest::keyClick(&heads, Qt::Key_Plus);
    CHECK(heads.side() > fitting);
    CHECK(window.study().session().viewport == view);  // the canvas has these keys elsewhere
    QTest::keyClick(&heads, Qt::Key_Minus);
    QTest::keyClick(&heads, Qt::Key_Minus);
    CHECK(heads.side() >= HeadGallery::least_side);
    QTest::keyClick(&heads, Qt::Key_0);
    CHECK(heads.side() == fitting);
    CHECK(window.study().session().columns.size() == columns);
    CHECK_FALSE(QSettings().contains("heads/cell"));
    const QPoint place = heads.place_of({2, 3}).center();
    for (int i = 0; i < 60; ++i) wheel(*heads.viewport(), place, 1, Qt::ControlModifier);
    CHECK(heads.side() == HeadGallery::most_side);
    for (int i = 0; i < 60; ++i) wheel(*heads.viewport(), place, -1, Qt::ControlModifier);
    CHECK(heads.side() == HeadGallery::least_side);
    for (int i = 0; i < 8; ++i) wheel(*heads.viewport(), place, 1, Qt::ControlModifier);
    kept = heads.side();
    CHECK(QSettings().value("heads/cell").toInt() == kept);
    // A window has a zoom of its own. What the pointer is on stays where it is.
    enlarge(window, {500, 400});
    CHECK(heads.side() != kept);
    const QPoint middle = heads.viewport()->rect().center();
    for (int i = 0; i < 8; ++i) wheel(*heads.viewport(), middle, 1, Qt::ControlModifier);
    const QModelIndex pointed = heads.indexAt(middle);
    wheel(*heads.viewport(), middle, 1, Qt::ControlModifier);
    CHECK(heads.indexAt(middle) == pointed);
    QTest::keyClick(&heads, Qt::Key_Escape);
    CHECK(wait_until([&] { return heads.isVisible() && heads.side() == kept; }));
    window.close();
  }
  Window again(small);  // with settings of its own
  QSettings().setValue("heads/cell", kept);
  gallery_of(again).hide();
  gallery_of(again).show();
  open_in(again, layers_of(std::vector<Index>(6, 12), "six"));
  show_all_layers(again);
  CHECK(gallery_of(again).side() == kept);
}

TEST_CASE("arrows move in the gallery, and Enter opens") {
  Window window(small);
  open_in(window, layers_of(std::vector<Index>(4, 6), "four"));
  show_all_layers(window);
  HeadGallery& heads = gallery_of(window);
  heads.setFocus();
  for (const Qt::Key key : {Qt::Key_Down, Qt::Key_Right, Qt::Key_Right, Qt::Key_Down, Qt::Key_Up})
    QTest::keyClick(&heads, key);
  CHECK(heads.currentIndex().row() == 1);
  CHECK(heads.currentIndex().column() == 2);
  CHECK(window.study().session().layer == 0);
  QTest::keyClick(&heads, Qt::Key_Return);
  CHECK(window.study().session().layer == 1);
  CHECK(window.study().session().head == 2);
  for (int i = 0; i < 4; ++i) QTest::keyClick(&heads, Qt::Key_Right);  // on in the next row
  CHECK(heads.currentIndex().row() == 2);
  CHECK(heads.currentIndex().column() == 0);
}

TEST_CASE("while a text is typed the old pictures stay, dimmed, until new ones are there") {
  const TinyTextModel model;
  Window window(QString::fromStdString(model.address("the cat")));
  REQUIRE(window.settle());
  show_all_layers(window);
  HeadGallery& heads = gallery_of(window);
  REQUIRE(heads.is_grid());  // where cells have no label
  REQUIRE(wait_until([&] { return window.study().missing_cards() == 0; }));
  QTest::qWait(50);
  const auto before = window.study().card(0, 0);
  REQUIRE(before);
  const auto drawn = [&] { return heads.viewport()->grab(heads.place_of({0, 1})).toImage(); };
  const QImage shown = drawn();
  bool looked = false, same = true;
  std::set<QRgb> colours;
  QObject::connect(&window.study(), &Study::opened, &heads, [&](bool new_source) {
    CHECK_FALSE(new_source);
    looked = true;
    CHECK_FALSE(window.study().card(0, 0));
    const QImage now = drawn();
    same = now == shown;
    for (int x = now.width() / 4; x < 3 * now.width() / 4; ++x)  // within the picture
      colours.insert(now.pixel(x, now.height() / 2));
  });
  auto* field = window->findChild<QPlainTextEdit*>("model_text");
  field->setPlainText("the cat sat");
  REQUIRE(wait_until([&] { return looked; }));
  CHECK_FALSE(same);
  CHECK(colours.size() > 1);  // an empty cell has one
  REQUIRE(window.settle());
  REQUIRE(wait_until([&] { return window.study().missing_cards() == 0; }));
  CHECK(window.study().card(0, 0) != before);
}

}  // namespace fovea::test
