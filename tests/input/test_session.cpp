// Session files: what is written can be read, and what cannot be drawn is refused.
#include <doctest/doctest.h>

#include <QFile>
#include <QTemporaryDir>
#include <filesystem>
#include <fstream>

#include "data/error.h"
#include "drawing/colormap.h"
#include "session_fields.h"
#include "temporary_directory.h"
#include "view_values.h"
#include "views/views.h"

using namespace fovea;
using namespace fovea::test;

namespace {

struct Written {
  QTemporaryDir folder;
  std::string path = folder.filePath("s.fovea.json").toStdString();
  SessionFile file{
      .session = standard_session("synthetic:golden", 64), .content_hash = {}, .layout = {}};

  void write() const { write_session(path, file); }
  void replace(const QByteArray& part, const QByteArray& by) const {
    QFile text(QString::fromStdString(path));
    REQUIRE(text.open(QIODevice::ReadOnly));
    QByteArray all = text.readAll();
    text.close();
    REQUIRE(all.contains(part));
    REQUIRE(text.open(QIODevice::WriteOnly));
    text.write(all.replace(part, by));
  }
  std::string refusal() const {
    try {
      read_session(path);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
};

}  // namespace

TEST_CASE("law: each field of a session, alone and beside all others, is written and read") {
  Written written;
  SessionFile all = unlike_any_default(), standard = written.file;
  const auto comes_back = [&](SessionFile& file) {
    written.file = file;
    written.write();
    SessionFile read = read_session(written.path);
    for_fields<SessionFile>([&](auto place) {
      CAPTURE(place.value);
      CHECK(std::get<place.value>(fields_of(read)) == std::get<place.value>(fields_of(file)));
    });
  };
  comes_back(standard);
  comes_back(all);
  for_fields<SessionFile>([&](auto place) {
    SessionFile file = standard;
    std::get<place.value>(fields_of(file)) = std::get<place.value>(fields_of(all));
    CAPTURE(place.value);
    comes_back(file);
  });
}

TEST_CASE("a sort order that is not known is refused") {
  Written written;
  written.file.orders = {"mass_kept", HeadOrder::density, true};
  written.write();
  SUBCASE("of columns") {
    written.replace("mass_kept", "mass");
    CHECK(written.refusal().find("'comparison_order' is 'mass'") != std::string::npos);
  }
  SUBCASE("of heads") {
    written.replace("\"density\"", "\"size\"");
    CHECK(written.refusal().find("index, output error, entropy, density") != std::string::npos);
  }
}

TEST_CASE("every choice of a session is written and read") {
  Written written;
  Session& session = written.file.session;
  const auto come_back = [&](auto& field, const auto& choices) {
    for (const auto& choice : choices) {
      field = choice;
      written.write();
      const SessionFile read = read_session(written.path);
      CHECK(read.session == session);
      CHECK(read.orders == written.file.orders);
    }
  };
  ViewSettings& settings = session.settings;
  come_back(settings.norm, all_norms());
  come_back(settings.pool, std::vector{Pool::Kind::max, Pool::Kind::mean});
  for (const auto& [view, own] : view_fields())
    for (const std::string& choice : own->field.choices) {
      set_value(settings, *own, choice);
      written.write();
      CHECK(read_session(written.path).session == session);
    }
  come_back(settings.colormap, colormap_ids());
  come_back(session.span_choice, all_span_choices());
  come_back(session.conditions.causal, std::vector<std::optional<bool>>{{}, {false}, {true}});
  come_back(written.file.orders.heads, all_head_orders());
}

TEST_CASE("a session opens from any directory: a file is named from the root") {
  const QTemporaryDir here, elsewhere;
  const auto old = std::filesystem::current_path();
  REQUIRE(QFile(here.filePath("head.npz")).open(QIODevice::WriteOnly));
  Written written;
  written.file.session.source = "head.npz";
  std::filesystem::current_path(here.path().toStdString());
  written.write();
  std::filesystem::current_path(elsewhere.path().toStdString());
  const std::string source = read_session(written.path).session.source;
  CHECK(std::filesystem::exists(source));
  std::filesystem::current_path(old);
  CHECK(std::filesystem::path(source).is_absolute());
  // What is no file stays as it is.
  for (const char* name : {"synthetic:golden", "not-there.npz"}) {
    written.file.session.source = name;
    written.write();
    CHECK(read_session(written.path).session.source == name);
  }
}

TEST_CASE("heads that columns hold are written and read, a file named from the root") {
  const QTemporaryDir here;
  REQUIRE(QFile(here.filePath("other.npz")).open(QIODevice::WriteOnly));
  const auto old = std::filesystem::current_path();
  Written written;
  auto& columns = written.file.session.columns;
  columns.assign(3, {.variant = "exact", .values = {}, .seed = 0});
  columns[1].held = HeldHead{.source = {}, .layer = 4, .head = 2};
  columns[2].held = HeldHead{
      .source = "other.npz", .layer = 0, .head = 1, .conditions = {.causal = true, .scale = 0.5}};
  std::filesystem::current_path(here.path().toStdString());
  written.write();
  std::filesystem::current_path(old);
  const auto read = read_session(written.path).session.columns;
  REQUIRE(read.size() == 3);
  CHECK_FALSE(read[0].held);
  CHECK(read[1] == columns[1]);
  REQUIRE(read[2].held);
  CHECK(std::filesystem::path(read[2].held->source) ==
        std::filesystem::path(here.path().toStdString()) / "other.npz");
  CHECK(read[2].held->head == 1);
  CHECK(read[2].held->conditions.causal == true);
  CHECK(read[2].held->conditions.scale == 0.5);
}

TEST_CASE("a held head that cannot be is refused by file, found and expected") {
  const auto refusal_of = [](const QByteArray& part, const QByteArray& by) {
    Written written;
    written.file.session.columns[0].held = HeldHead{.source = {}, .layer = 4, .head = 2};
    written.write();
    written.replace(part, by);
    return written.refusal();
  };
  CHECK(
      refusal_of("\"layer\": 4", "\"layer\": -1").ends_with("expected a layer and a head from 0"));
  CHECK(refusal_of("\"layer\": 4", "\"layer\": \"x\"").find("'layer' is") != std::string::npos);
  CHECK(refusal_of("\"layer\": 4", "\"other\": 4").find("'layer' is missing") != std::string::npos);
}

TEST_CASE("conditions that cannot be are refused, those of the session and of a held head") {
  const auto says = [](HeadConditions conditions, const std::string& why) {
    for (const bool held : {false, true}) {
      Written written;
      Session& session = written.file.session;
      session.columns[0].held = HeldHead{.source = "other.npz", .layer = 4, .head = 2};
      (held ? session.columns[0].held->conditions : session.conditions) = conditions;
      written.write();
      CHECK(written.refusal().find(why) != std::string::npos);
    }
  };
  says({.scale = 0}, "scale is 0; expected a finite number above 0");
  says({.window = -1}, "sliding window is -1; expected a number of keys");
  says({.soft_cap = -2}, "soft cap is -2; expected a number from 0");
}

TEST_CASE("a choice that is not known is refused with the choices that are") {
  const auto refusal_of = [](const QByteArray& part, const QByteArray& by) {
    Written written;
    written.file.session.settings.norm = Norm::linear;
    written.file.session.settings.pool = Pool::Kind::mean;
    written.write();
    written.replace(part, by);
    return written.refusal();
  };
  CHECK(refusal_of("\"linear\"", "\"x\"")
            .ends_with("'norm' is 'x'; expected one of linear, log, row-max"));
  CHECK(refusal_of("\"mean\"", "\"\\u001b[31m\"")
            .ends_with("'pool' is '\\x1B[31m'; expected one of max, mean"));
}

TEST_CASE("a session with a colour map that is not known is refused by file, name and choice") {
  Written written;
  written.write();
  written.replace("\"viridis\"", "\"plasma\"");
  const std::string why = written.refusal();
  for (const char* word : {"s.fovea.json", "plasma", "viridis, magma"})
    CHECK(why.find(word) != std::string::npos);
}

TEST_CASE("a session from before ranks were coloured by storage is coloured by rank") {
  Written written;
  set_value(written.file.session.settings, "rank_colour", "storage");
  written.write();
  written.replace("\"rank_colour\": \"storage\",", "");
  CHECK(view_value(read_session(written.path).session.settings, "rank_colour") == "rank");
  written.write();
  written.replace("\"rank_colour\": \"storage\",", "\"rank_colour\": \"weight\",");
  CHECK(written.refusal().find("rank_colour is 'weight'") != std::string::npos);
}

TEST_CASE("a session from before spans were named has none") {
  Written written;
  written.file.session.span_choice = SpanChoice::sinks;
  written.write();
  written.replace("\"span_choice\": \"sinks\",", "");
  written.replace("\"spans\": [],", "");
  CHECK(read_session(written.path).session.span_choice == SpanChoice::parts);
  CHECK(read_session(written.path).session.spans.empty());
}

TEST_CASE("spans that cannot be groups of tokens are refused, and say why") {
  const auto refusal_of = [](const QByteArray& part, const QByteArray& by) {
    Written written;
    written.file.session.spans = {{"a", {1, 6}}, {"b", {12, 25}}};
    written.write();
    written.replace(part, by);
    return written.refusal();
  };
  const std::pair<std::pair<QByteArray, QByteArray>, const char*> cases[] = {
      {{"\"first\": 12", "\"first\": 5"}, "“a” and “b” overlap at token 5"},
      {{"\"last\": 24", "\"last\": 11"}, "“b” has no token"},
      {{"\"first\": 1,", "\"first\": -1,"}, "'first' is -1; expected a token counted from 0"},
      {{"\"first\": 1,", "\"first\": 0.5,"}, "'first' is 0.5; expected a token"},
      {{"\"last\": 24", "\"last\": 9223372036854775807"}, "expected a token counted from 0"},
      {{"\"last\": 24", "\"last\": \"24\""}, "'last' is \"24\"; expected a token"},
      {{"\"last\": 24,", ""}, "'last' is missing"},
      {{"\"name\": \"b\"", "\"name\": \"a\""}, "Two spans have the name “a”"},
      {{"\"name\": \"b\"", "\"name\": \" \""}, "A span needs a name"},
      {{"\"name\": \"b\"", "\"name\": \"\\u001b[31m\""}, "has characters without a sign"},
      {{"\"name\": \"b\"", "\"name\": 7"}, "'name' is 7; expected a string"},
      {{"\"spans\": [", "\"spans\": [3,"}, "is 3; expected an object"},
      {{"\"span_choice\": \"parts\"", "\"span_choice\": \"words\""},
       "'span_choice' is 'words'; expected one of parts, sinks, named"}};
  for (const auto& one : cases) {
    const auto& change = one.first;
    const auto& why = one.second;
    const std::string refusal = refusal_of(change.first, change.second);
    CHECK_MESSAGE(refusal.find(why) != std::string::npos, why << ": " << refusal);
    CHECK(refusal.find("s.fovea.json") != std::string::npos);
  }
}

TEST_CASE("a value of another type, and a number that is none of its type, are refused") {
  const auto refusal_of = [](const QByteArray& part, const QByteArray& by) {
    Written written;
    written.write();
    written.replace(part, by);
    return written.refusal();
  };
  const auto says = [&](const QByteArray& part, const QByteArray& by, const std::string& why) {
    const std::string refusal = refusal_of(part, by);
    CHECK_MESSAGE(refusal.find(why) != std::string::npos, why << ": " << refusal);
  };
  says("\"mask_block\": ", "\"mask_block\": 1e300, \"old\": ",
       "'mask_block' is 1e+300; expected a whole number");
  says("\"mask_block\": ", "\"mask_block\": 2.5, \"old\": ",
       "'mask_block' is 2.5; expected a whole number");
  says("\"mask_block\": ", "\"mask_block\": 18446744073709551615, \"old\": ",
       "expected a whole number");
  says("\"colormap\": ", "\"colormap\": 3, \"old\": ", "'colormap' is 3; expected a string");
  says("\"log_floor\": ", "\"log_floor\": \"x\", \"old\": ",
       "'log_floor' is \"x\"; expected a number");
  says("\"shared_range\": ", "\"shared_range\": 1, \"old\": ",
       "'shared_range' is 1; expected true or false");
}

TEST_CASE("a source whose name is not UTF-8 is found again") {
  const TemporaryDirectory folder;  // QTemporaryDir does not remove such names
  const std::string path = folder.write("\xff\xfe %41.npz", "something");
  Written written;
  written.file.session.source = path;
  written.file.session.columns.assign(2, {.variant = "exact", .values = {}, .seed = 0});
  written.file.session.columns[1].held = HeldHead{.source = path, .layer = 0, .head = 0};
  written.write();
  const Session read = read_session(written.path).session;
  CHECK(read.source == path);
  REQUIRE(read.columns[1].held);
  CHECK(read.columns[1].held->source == path);
  CHECK_NOTHROW(require_source(written.path, read_session(written.path)));
  // A name in UTF-8 stays as it is, whatever it holds.
  const std::string plain = folder.write("%41ü.npz", "something");
  written.file.session.source = plain;
  written.write();
  CHECK(read_session(written.path).session.source == plain);
}

TEST_CASE("a session of more columns or views than a window can show is refused") {
  Written written;
  Session& session = written.file.session;
  const Column column = session.columns.front();
  session.columns.assign(most_session_columns, column);
  written.write();
  CHECK(read_session(written.path).session.columns.size() == most_session_columns);
  session.columns.push_back(column);
  written.write();
  CHECK(written.refusal().find("a session of 129 columns; expected at most 128") !=
        std::string::npos);
  session.columns.assign(1, column);
  session.views.assign(2000, find_view("heatmap"));
  written.write();
  CHECK(written.refusal().find("a session of 2000 views") != std::string::npos);
}

TEST_CASE("trees that are too large stay out of a session, and damaged ones are refused") {
  Written written;
  const auto tree = [](std::size_t column, std::size_t numbers) {
    ColumnTree made{.column = column, .learned_on = "", .tensors = {}};
    made.tensors.set("tree_bias", std::vector<float>(numbers, 0.5f));
    return made;
  };
  // One of a column that is not there, one of 2 MiB, and one beyond these.
  written.file.trees = {tree(1000, 1), tree(0, std::size_t{1} << 19), tree(1, 1)};
  written.write();
  CHECK(read_session(written.path).trees == std::vector{written.file.trees[1]});
  written.file.trees = {tree(1, 2)};
  written.write();
  const auto refused = [&](const QByteArray& part, const QByteArray& by) {
    CAPTURE(by.toStdString());
    written.write();
    written.replace(part, by);
    CHECK(written.refusal().find("the tensor 'tree_bias' of a tree does not hold what its shape "
                                 "says") != std::string::npos);
  };
  const QByteArray numbers = "\"AAAAPwAAAD8=\"";  // twice 0.5
  refused(numbers, "\"AAAAPw==\"");
  refused(numbers, "\"AAAAPwAAAD!=\"");  // no base64
  refused(numbers, "\"AAAAPwAAwH8=\"");  // NaN
  written.write();
  const std::string text = read_bytes(written.path);
  for (const char* shape : {"-2", "3", "4611686018427387904"}) {
    std::string other = text;
    const std::size_t at = other.find_first_of('2', other.find("\"shape\""));
    write_bytes(written.path, other.replace(at, 1, shape));
    CAPTURE(shape);
    CHECK(written.refusal().find("does not hold what its shape says") != std::string::npos);
  }
}

TEST_CASE("a session of more ranges, spans or hidden names than people give is refused") {
  Written written;
  Session& session = written.file.session;
  const auto refused_with = [&](const char* says) {
    written.write();
    CHECK(written.refusal().find(says) != std::string::npos);
  };
  session.settings.hidden.assign(1025, "a");
  refused_with("a session of 1025 hidden; expected at most 1024");
  session.settings.hidden.clear();
  for (Index span = 0; span < 1025; ++span)
    session.spans.push_back({std::to_string(span), {span, span + 1}});
  refused_with("a session of 1025 spans; expected at most 1024");
  session.spans.clear();
  // One of each view in each column, and of all columns.
  const std::size_t most = all_views().size() * (most_session_columns + 1);
  session.settings.ranges.assign(most + 1, {find_view("heatmap"), 0, 0, 1});
  refused_with(("a session of " + std::to_string(most + 1) + " ranges").c_str());
}
