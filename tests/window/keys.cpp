// Keys: everything can be done with them alone.
#include <doctest/doctest.h>

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDockWidget>
#include <QLineEdit>
#include <QStatusBar>
#include <QTimer>
#include <cmath>

#include "session_fields.h"
#include "view_values.h"
#include "window/docks/head_gallery.h"
#include "window/docks/pointer_box.h"
#include "window/find_bar.h"
#include "window/pointer.h"

namespace fovea::test {
namespace {}  // namespace

TEST_CASE("queries are played one after the other, until a key or the pointer stops them") {
  Window window(small);
  take_focus(window);
  const Navigation& navigation = window->navigation();
  const auto query = [&] { return window.study().hovered_query(); };
  window->navigation().point_to(5, 3);
  press(window, Qt::Key_J);
  CHECK(navigation.is_playing());
  REQUIRE(wait_until([&] { return query() == 8; }));
  CHECK(window.study().hovered_key() == 3);
  press(window, Qt::Key_J);
  CHECK_FALSE(navigation.is_playing());
  press(window, Qt::Key_J);
  window->navigation().point_to(50, 3);  // a person points elsewhere
  REQUIRE(wait_until([&] { return !navigation.is_playing(); }));
  CHECK(query() == 50);
  press(window, Qt::Key_J);
  press(window, Qt::Key_Escape);
  CHECK_FALSE(navigation.is_playing());
  CHECK(query() >= 50);  // Esc stops playing, and leaves the crosshair
  // It ends at the last query, and begins again at the first one that is seen.
  window->navigation().point_to(126, 3);
  press(window, Qt::Key_J);
  REQUIRE(wait_until([&] { return query() == 127 && !navigation.is_playing(); }));
  press(window, Qt::Key_J);
  CHECK(query() < 100);
  CHECK(navigation.is_playing());
  window->navigation().play();
}

TEST_CASE("keys alone: crosshair, pin, selection, panel, leaf and block") {
  Window window(small);
  take_focus(window);
  press(window, Qt::Key_Right);  // all is seen: nothing to pan
  const Index query = window.study().hovered_query(), key = window.study().hovered_key();
  REQUIRE(query >= 0);
  press(window, Qt::Key_Right, Qt::AltModifier);
  press(window, Qt::Key_Down, Qt::AltModifier);
  press(window, Qt::Key_Down, Qt::AltModifier);
  CHECK(window.study().hovered_query() == query + 2);
  CHECK(window.study().hovered_key() == key + 1);
  press(window, Qt::Key_Return);
  CHECK(window.study().session().pinned_query == query + 2);
  press(window, Qt::Key_M);
  for (int step = 0; step < 5; ++step) press(window, Qt::Key_Left, Qt::AltModifier);
  press(window, Qt::Key_Up, Qt::AltModifier);
  press(window, Qt::Key_M);
  REQUIRE(window.study().selection());
  CHECK(window.study().selection()->first == IndexRange{query + 1, query + 3});
  CHECK(window.study().selection()->second == IndexRange{key - 4, key + 2});

  press(window, Qt::Key_B);
  auto* values = window->findChild<SingularValues*>();
  REQUIRE_FALSE(values->isHidden());
  const QImage labels = values->grab({0, values->height() - 16, 16, 16}).toImage();
  bool named = false;
  for (int y = 0; y < labels.height(); ++y)
    for (int x = 0; x < labels.width(); ++x)
      named = named || std::abs(qGray(labels.pixel(x, y)) - qGray(labels.pixel(15, 0))) > 40;
  CHECK(named);
  const int tree = column_of(window, "tf");
  press(window, static_cast<Qt::Key>(Qt::Key_1 + tree));
  CHECK(window.study().selected_column() == tree);
  press(window, Qt::Key_BracketRight);
  press(window, Qt::Key_BracketRight);
  REQUIRE(window.study().marks().chosen());
  CHECK(window.study().marks().chosen()->leaves == IndexRange{1, 2});
  CHECK_FALSE(window.study().marks().keys().empty());
  const int others = column_of(window, "tc");  // which begins with its own first leaf
  press(window, static_cast<Qt::Key>(Qt::Key_1 + others));
  press(window, Qt::Key_BracketRight);
  REQUIRE(window.study().marks().chosen());
  CHECK(window.study().marks().chosen()->column == others);
  CHECK(window.study().marks().chosen()->leaves == IndexRange{0, 1});
  press(window, static_cast<Qt::Key>(Qt::Key_1 + tree));

  press(window, Qt::Key_PageDown);
  press(window, Qt::Key_Z);
  CHECK(window->canvas().is_enlarged());
  press(window, Qt::Key_Escape);
  CHECK_FALSE(window->canvas().is_enlarged());
  press(window, Qt::Key_Escape);
  CHECK_FALSE(window.study().selection());
  CHECK_FALSE(window.study().marks().chosen());
  CHECK_FALSE(window.study().paused());
}

TEST_CASE("keys pan, zoom about the crosshair and fit, and the view follows the crosshair") {
  Window window(small);
  take_focus(window);
  for (int step = 0; step < 6; ++step) press(window, Qt::Key_Plus);
  Viewport v = window.study().session().viewport;
  CHECK(v.row_end - v.row_begin == doctest::Approx(128 * std::pow(0.8, 6)));
  press(window, Qt::Key_Right);
  CHECK(window.study().session().viewport.col_begin > v.col_begin);
  CHECK(window.study().session().viewport.row_begin == v.row_begin);
  for (int step = 0; step < 30; ++step) press(window, Qt::Key_Up, Qt::AltModifier);
  v = window.study().session().viewport;
  const double query = double(window.study().hovered_query());
  CHECK(query < 128 / 2 - 20);
  CHECK(query >= v.row_begin);
  press(window, Qt::Key_Minus);
  const Viewport wider = window.study().session().viewport;
  CHECK((query + 0.5 - wider.row_begin) / (wider.row_end - wider.row_begin) ==
        doctest::Approx((query + 0.5 - v.row_begin) / (v.row_end - v.row_begin)).epsilon(0.1));
  press(window, Qt::Key_F);
  CHECK(window.study().session().viewport == Viewport{0, 128, 0, 128});
}

TEST_CASE("law: a key that zooms leaves the crosshair's query and key where they were") {
  Window window(small);
  take_focus(window);
  const auto share = [](double begin, double end, Index token) {
    return (double(token) + 0.5 - begin) / (end - begin);
  };
  for (const auto& pair : {std::pair<Index, Index>{20, 100}, {100, 20}, {64, 30}})
    for (const Qt::Key zoom : {Qt::Key_Plus, Qt::Key_Minus}) {
      const Index query = pair.first, key = pair.second;
      CAPTURE(query);
      CAPTURE(key);
      window->change("viewport", [](Session& s) { s.viewport = {10, 110, 12, 116}; });
      window->navigation().point_to(query, key);
      const Viewport before = window.study().session().viewport;
      press(window, zoom);
      const Viewport after = window.study().session().viewport;
      CHECK((after.row_end - after.row_begin < before.row_end - before.row_begin) ==
            (zoom == Qt::Key_Plus));
      if (zoom == Qt::Key_Minus) continue;  // the view may end with the matrix
      CHECK(share(after.row_begin, after.row_end, query) ==
            doctest::Approx(share(before.row_begin, before.row_end, query)));
      CHECK(share(after.col_begin, after.col_end, key) ==
            doctest::Approx(share(before.col_begin, before.col_end, key)));
    }
}

TEST_CASE("the find bar steps through the tokens that match, and marks them") {
  Window window("content:" + assets + "/text/fovea.txt");
  show(window, {find_view("heatmap")});
  window.trigger("find");
  auto* line = window->findChild<QLineEdit*>("find_text");
  auto* bar = window->findChild<FindBar*>();
  REQUIRE(bar->isVisible());
  std::vector<Index> expected;
  const auto& tokens = window.study().source()->sequence.tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (QString::fromStdString(tokens[i]).contains("the", Qt::CaseInsensitive))
      expected.push_back(Index(i));
  REQUIRE(expected.size() > 2);
  const QImage before = window->canvas().grab().toImage();
  QTest::keyClicks(line, "the");
  const auto pinned = [&] { return window.study().session().pinned_query.value_or(-1); };
  CHECK(pinned() == expected[0]);
  QTest::keyClick(line, Qt::Key_Return);
  CHECK(pinned() == expected[1]);
  window.trigger("find_next");
  CHECK(pinned() == expected[2]);
  QTest::keyClick(line, Qt::Key_Return, Qt::ShiftModifier);
  QTest::keyClick(line, Qt::Key_Return, Qt::ShiftModifier);
  window.trigger("find_previous");
  CHECK(pinned() == expected.back());
  window.trigger("find_next");
  CHECK(pinned() == expected[0]);  // round to the first
  // A token whose middle is at the edge of what is seen is in sight.
  for (const Index token : {expected[1], expected[0]}) {
    const double middle = double(token) + 0.5;
    window->change("viewport", [&](Session& s) { s.viewport.row_begin = middle; });
    window.trigger(token == expected[0] ? "find_previous" : "find_next");
    CHECK(pinned() == token);
    CHECK(window.study().session().viewport.row_begin == middle);
  }
  window.shoot("find");
  CHECK(window->canvas().grab().toImage() != before);
  line->setText("zzzz");
  CHECK(line->accessibleDescription() == "No matches");
  QTest::keyClick(line, Qt::Key_Escape);
  CHECK_FALSE(bar->isVisible());
}

TEST_CASE("going to a pair pins it, reads it and moves it into view") {
  Window window(small);
  for (int step = 0; step < 8; ++step) window.trigger("zoom_in");
  const auto answer = [&](const QString& text) {
    QTimer::singleShot(200, [text] {
      auto* dialog = QApplication::activeModalWidget();
      if (!dialog) return;
      dialog->findChild<QLineEdit*>()->setText(text);
      QTest::keyClick(dialog, Qt::Key_Return);
    });
    window.trigger("goto");
  };
  answer("3, 120");
  const Viewport v = window.study().session().viewport;
  CHECK(window.study().session().pinned_query == 3);
  CHECK(v.row_begin <= 3);
  CHECK(v.col_end >= 121);
  CHECK(wait_until([&] { return said(window, "key").startsWith("120"); }));
  answer("3, 128");
  CHECK(window.study().session().viewport == v);
}

TEST_CASE("exact is shown in place while Shift is held, but not while typing") {
  Window window(small);
  show(window, {find_view("heatmap"), find_view("error"), find_view("rank")});
  take_focus(window);
  const int column = column_of(window, "h1d");
  for (const View view : {find_view("heatmap"), find_view("rank")}) {
    CAPTURE(to_text(view));
    const QImage own = picture_of(window, view, column), exact = picture_of(window, view, 0);
    CHECK_FALSE(same_but_for_edges(own, exact));
    QTest::keyPress(&window->canvas(), Qt::Key_Shift);
    be_still(window);
    CHECK(same_but_for_edges(picture_of(window, view, column), exact));
    QTest::keyRelease(&window->canvas(), Qt::Key_Shift);
    be_still(window);
    CHECK(picture_of(window, view, column) == own);
  }
  const QImage error = picture_of(window, find_view("error"), column);
  QTest::keyPress(&window->canvas(), Qt::Key_Shift);
  be_still(window);
  CHECK(picture_of(window, find_view("error"), column) == error);  // it is a comparison already
  QTest::keyRelease(&window->canvas(), Qt::Key_Shift);
  window.trigger("find");
  auto* line = window->findChild<QLineEdit*>("find_text");
  be_still(window);
  const QImage own = picture_of(window, find_view("heatmap"), column);
  QTest::keyPress(line, Qt::Key_Shift);
  be_still(window);
  CHECK(picture_of(window, find_view("heatmap"), column) == own);
  QTest::keyRelease(line, Qt::Key_Shift);
}

TEST_CASE("exact is shown in place also before the canvas shows that its column has moved") {
  Window window(small);
  show(window, {find_view("heatmap")}, {"exact", "h1d"});
  take_focus(window);
  const QImage exact = picture_of(window, find_view("heatmap"), 0);
  window->editor().move_column(0, 1);  // in the next model
  QTest::keyPress(&window->canvas(), Qt::Key_Shift);
  REQUIRE(window.study().model()->exact_of(1) == 0);
  CHECK(same_but_for_edges(picture_of(window, find_view("heatmap"), 0), exact));
  QTest::keyRelease(&window->canvas(), Qt::Key_Shift);
}

TEST_CASE("while exact is shown in place no panel moves") {
  for (const QSize size : {QSize{1366, 768}, QSize{1600, 1000}}) {
    Window window(small, size);
    show(window,
         {find_view("heatmap"), find_view("error"), find_view("mask"), find_view("output")});
    take_focus(window);
    const auto places = [&] {
      std::vector<QRectF> all;
      for (int view = 0; view < 4; ++view)
        for (int column = 0; column < int(window.study().columns().size()); ++column)
          all.push_back(window->canvas().panel_place(view, column));
      return all;
    };
    const auto before = places();
    QTest::keyPress(&window->canvas(), Qt::Key_Shift);
    be_still(window);
    CHECK(places() == before);
    QTest::keyRelease(&window->canvas(), Qt::Key_Shift);
    be_still(window);
    CHECK(places() == before);
  }
}

TEST_CASE("E cycles the error metric, N normalises rows, L is logarithmic, R resets") {
  Window window(small);
  take_focus(window);
  const auto settings = [&]() -> const ViewSettings& { return window.study().session().settings; };
  const auto said = [&] { return window->statusBar()->currentMessage(); };
  for (int step = 1; step <= 5; ++step) {
    press(window, Qt::Key_E);
    const ViewField& error = *find_view_field("error").field;
    const auto choice = std::size_t(step % 5);
    CHECK(view_value(settings(), "error") == error.field.choices[choice]);
    CHECK(said() == "Error: " + QString::fromStdString(error.words[choice].full));
  }
  press(window, Qt::Key_N);
  CHECK(settings().norm == Norm::row_max);
  CHECK(said() == "Weights: per row maximum");
  REQUIRE(window.settle());
  const auto& raster = std::get<Raster>(panel(window, find_view("heatmap"), 0).body);
  for (Index i = 0; i < raster.values.rows(); i += 17)
    CHECK(*std::max_element(raster.values.row(i), raster.values.row(i) + raster.values.cols()) ==
          doctest::Approx(1));
  press(window, Qt::Key_N);
  CHECK(settings().norm == Norm::linear);
  press(window, Qt::Key_L);
  CHECK(settings().norm == Norm::log);
  const int column = column_of(window, "h1d");
  const Values standard = window.study().session().columns[std::size_t(column)].values;
  window->change("block", [&](Session& s) {
    set_value(find_variant("h1d").schema, s.columns[std::size_t(column)].values, "block", "32");
  });
  window.study().select_column(column);
  press(window, Qt::Key_R);
  CHECK(window.study().session().columns[std::size_t(column)].values == standard);
}

TEST_CASE(
    "law: standard view settings are those of a first start, whatever was chosen, and one step of "
    "undo") {
  Window window(small);
  const auto settings = [&]() -> const ViewSettings& { return window.study().session().settings; };
  const ViewSettings other = unlike_any_default().session.settings;
  const ViewSettings standard =
      standard_session(window.study().session().source, window.study().length()).settings;
  window->change("by hand", [&](Session& s) { s.settings = other; });
  REQUIRE(settings() == other);
  window.trigger("standard_pictures");
  CHECK(settings() == standard);
  window.trigger("undo");
  CHECK(settings() == other);
}

TEST_CASE("the heads of all layers are shown, and sorted by error, entropy or density") {
  Window window(assets + "/minilm/minilm-l6.safetensors");
  show(window, {find_view("heatmap")});
  auto* gallery = window->findChild<HeadGallery*>();
  CHECK(gallery->count() == 12);
  window->findChild<QCheckBox*>("all_layers")->click();
  CHECK(gallery->count() == 48);
  // The tokens below stay in sight.
  const auto* around = window->findChild<QDockWidget*>("Input")->widget();
  const auto is_low = [&] {  // but for its frame
    return gallery->height() <= around->height() / 2 + 2 * gallery->frameWidth();
  };
  auto* order = window->findChild<QComboBox*>("head_order");
  const auto sorted_by = [&](int index, auto measure) {
    order->setCurrentIndex(index);
    emit order->activated(index);
    return wait_until([&] {
      for (int i = 1; i < 48; ++i)
        if (!measure(gallery->head(i)) || measure(gallery->head(i)) > measure(gallery->head(i - 1)))
          return false;
      return true;
    });
  };
  const auto of_card = [&](double HeadCard::*member) {
    return [&study = window.study(), member](const HeadGallery::Head& head) {
      const auto card = study.card(head.first, head.second);
      return card ? std::optional((*card).*member) : std::nullopt;
    };
  };
  CHECK(sorted_by(1, [&](const HeadGallery::Head& head) {
    return window.study().head_error(head.first, head.second);
  }));
  CHECK(sorted_by(2, of_card(&HeadCard::entropy)));
  CHECK(sorted_by(3, of_card(&HeadCard::density)));
  CHECK(is_low());
  window.shoot("all_heads");
  const auto first = gallery->head(0);
  QTest::mouseClick(gallery->viewport(), Qt::LeftButton, {}, {10, 10});
  CHECK(window.study().session().layer == first.first);
  CHECK(window.study().session().head == first.second);
}

}  // namespace fovea::test
