// The session of a first start, and what the choices of a session are called.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "session/session.h"
#include "session/settings.h"
#include "views/views.h"

using namespace fovea;

TEST_CASE("a first start shows the whole head, in columns that are quick to compute") {
  for (const Index n : {Index{1}, Index{64}, long_head, long_head + 1, Index{131072}}) {
    CAPTURE(n);
    const Session session = standard_session("x", n);
    CHECK(session.source == "x");
    REQUIRE_FALSE(session.columns.empty());
    CHECK(session.columns.front().variant == variants().front().id);
    CHECK((session.columns.size() == variants_of(Group::papers).size()) == (n <= long_head));
    for (const Column& column : session.columns)
      CHECK_NOTHROW(check_values(find_variant(column.variant).schema, column.values));
    CHECK(session.views == std::vector{find_view("heatmap"), find_view("error")});
    CHECK(session.viewport == Viewport{0, double(n), 0, double(n)});
  }
}

TEST_CASE("sizes for a short head are powers of two, small enough that something is approximated") {
  for (const Index n : {16, 64, 200, 1000, 4095}) {
    CAPTURE(n);
    for (const Column& column : standard_session("x", n).columns) {
      const Variant& variant = find_variant(column.variant);
      for (std::size_t f = 0; f < variant.schema.size(); ++f)
        if (variant.schema[f].unit == "tokens")
          CHECK(std::get<std::int64_t>(column.values[f]) <= std::max<Index>(2, n / 2));
    }
  }
}

TEST_CASE("every choice of a session has a name and a label of its own") {
  const auto check = []<class T>(T last) {
    std::set<std::string> names, labels;
    for (int i = 0; i <= int(last); ++i) {
      names.insert(to_text(T(i)));
      labels.insert(label_of(T(i)));
    }
    CHECK(names.size() == std::size_t(last) + 1);
    CHECK(labels.size() == std::size_t(last) + 1);
    CHECK_FALSE(names.contains(""));
    CHECK_FALSE(labels.contains(""));
  };
  check(Norm::row_max);
  std::set<std::string> names, labels;
  for (const View view : all_views()) {
    names.insert(to_text(view));
    labels.insert(label_of(view));
  }
  CHECK(names.size() == all_views().size());
  CHECK(labels.size() == all_views().size());
  // Session files hold the settings of views beside those of all views.
  std::set<std::string> fields{"norm",     "log_floor", "pool",  "shared_range",
                               "colormap", "ranges",    "hidden"};
  for (const auto& [view, own] : view_fields()) CHECK(fields.insert(own->field.id).second);
}

TEST_CASE("law: the text of a setting names each parameter in which the settings tried differ") {
  for (const Variant& variant : variants()) {
    const auto settings = settings_worth_trying(variant, 256, 200);
    std::set<std::string> texts;
    for (const Values& values : settings) texts.insert(setting_text(variant, values, 256));
    CAPTURE(variant.id);
    CHECK(texts.size() == settings.size());
    for (std::size_t f = 0; f < variant.schema.size(); ++f) {
      const bool differ = std::ranges::any_of(
          settings, [&](const Values& values) { return values[f] != settings[0][f]; });
      CAPTURE(variant.schema[f].id);
      for (const std::string& text : texts)
        CHECK(
            (!differ || (' ' + text).find(' ' + variant.schema[f].id + ' ') != std::string::npos));
    }
  }
}
