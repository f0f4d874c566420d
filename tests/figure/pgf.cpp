// Figures for LaTeX: words that it sets, over a body without words.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QDir>
#include <QFileInfo>
#include <QProcess>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTemporaryDir>

#include "figure/latex_text.h"
#include "figure/panels.h"
#include "figure/pgf_file.h"
#include "figure/recorder.h"
#include "messages.h"
#include "temporary_directory.h"
#include "writing_calls.h"

using namespace fovea;
using namespace fovea::test;

namespace {

bool is_missing(const char* program) {
  return QStandardPaths::findExecutable(program).isEmpty();
}

QString run_in(const QString& folder, const QString& program, const QStringList& arguments) {
  QProcess process;
  process.setWorkingDirectory(folder);
  process.start(program, arguments);
  REQUIRE(process.waitForFinished(120000));
  const QString said = QString::fromUtf8(process.readAllStandardOutput());
  CAPTURE(said.toStdString());
  CHECK(process.exitCode() == 0);
  return said;
}

Figure paper() {
  Figure figure = example::paper(324, 64);  // narrower than the text of an article
  figure.recipe.command = "fovea render x_1.safetensors -o figure.pgf";
  return figure;
}

}  // namespace

TEST_CASE("words for LaTeX: what it would take for commands is escaped, mathematics is named") {
  CHECK(latex_text("50 % of a_b & $x #1 {y}") == "50 \\% of a\\_b \\& \\$x \\#1 \\{y\\}");
  CHECK(latex_text("\\input{x}") == "\\textbackslash{}input\\{x\\}");
  CHECK(latex_text("a~b^c") == "a\\textasciitilde{}b\\textasciicircum{}c");
  CHECK(
      latex_text("ε ≤ 10⁻³ …") ==
      "\\ensuremath{\\varepsilon} \\ensuremath{\\le} 10\\ensuremath{^-}\\ensuremath{^3} \\dots{}");
  CHECK(latex_text("P\u0303 − P") == "\\ensuremath{\\tilde{\\mathrm P}} \\ensuremath{-} P");
  CHECK(latex_text("naïve") == "naïve");
  CHECK(latex_text("中") == "\\foveachar{中}{U+4E2D}");
  CHECK(latex_text("<|end|>") == "\\textless{}\\textbar{}end\\textbar{}\\textgreater{}");
}

TEST_CASE("PGF: every word of the figure is set by LaTeX, none is in the body") {
  example::application();
  const QTemporaryDir folder;
  const Figure figure = paper();
  write_figure(folder.filePath("heads.pgf").toStdString(), figure);
  const std::string pgf = read_bytes(folder.filePath("heads.pgf").toStdString());
  const auto texts = example::record(figure).texts;
  REQUIRE(texts.size() > 20);
  for (const example::DrawnText& drawn : texts) {
    const std::string words = latex_text(drawn.text.toStdString());
    CHECK_MESSAGE(pgf.find(words) != std::string::npos, words);
  }
  CHECK(pgf.find("Made by: fovea render x_1.safetensors") != std::string::npos);
  const QString path = QString::fromStdString(pgf_body(folder.filePath("heads.pgf").toStdString())),
                body = QFileInfo(path).fileName();
  CHECK(body.startsWith("heads-body-"));
  CHECK(pgf.find("\\includegraphics[width=324.000bp]{" + body.toStdString() + "}") !=
        std::string::npos);
  CHECK(QDir(folder.path()).entryList(QDir::Files) == QStringList{body, "heads.pgf"});
  if (!is_missing("pdftotext"))
    CHECK(run_in(folder.path(), "pdftotext", {body, "-"}).trimmed().isEmpty());
  const std::string bytes = read_bytes(path.toStdString());
  write_figure(folder.filePath("heads.pgf").toStdString(), figure);
  CHECK(read_bytes(folder.filePath("heads.pgf").toStdString()) == pgf);
  CHECK(read_bytes(path.toStdString()) == bytes);
}

TEST_CASE("law: PGF places each word by its aligned end where other formats have it") {
  example::application();
  const QTemporaryDir folder;
  const Figure figure = paper();
  write_figure(folder.filePath("heads.pgf").toStdString(), figure);
  const QString pgf =
      QString::fromStdString(read_bytes(folder.filePath("heads.pgf").toStdString()));
  const auto texts = example::record(figure).texts;
  static const QRegularExpression placed(
      R"(pgftext\[x=([-.\d]+)bp,y=([-.\d]+)bp,(left,|right,|)base\]\{.*selectfont(?:\\bfseries)?\{\}(.*)\}%)");
  int found = 0;
  for (auto all = placed.globalMatch(pgf); all.hasNext();) {
    const auto one = all.next();
    const double x = one.captured(1).toDouble(), y = -one.captured(2).toDouble();
    const QString side = one.captured(3);
    const std::string words = one.captured(4).toStdString();
    if (words.ends_with("\\dots{}")) continue;  // LaTeX's letters cut them elsewhere
    CAPTURE(words);
    CAPTURE(x);
    CHECK(std::ranges::any_of(texts, [&](const example::DrawnText& text) {
      const QRectF& box = text.where;
      const double at = side == "left,"    ? box.left()
                        : side == "right," ? box.right()
                                           : box.center().x();
      constexpr double rounded = 1;  // advances of a device are whole
      return latex_text(text.text.toStdString()) == words && std::abs(at - x) <= rounded &&
             std::abs(box.bottom() - y) <= rounded;
    }));
    ++found;
  }
  CHECK(found > 20);
}

TEST_CASE("PGF: another figure takes the place of one, with its body") {
  example::application();
  const QTemporaryDir folder;
  const std::string path = folder.filePath("f.pgf").toStdString();
  write_figure(path, paper());
  const std::string first = pgf_body(path);
  Figure other = paper();
  other.rows.pop_back();
  write_figure(path, other);
  CHECK(pgf_body(path) != first);
  CHECK(QDir(folder.path()).entryList(QDir::Files).size() == 2);
  // As earlier versions called it.
  std::string older = read_bytes(path);
  const std::string name =
      QFileInfo(QString::fromStdString(pgf_body(path))).fileName().toStdString();
  for (std::size_t at = 0; (at = older.find(name)) != std::string::npos;)
    older.replace(at, name.size(), "f-body.pdf");
  QFile::rename(QString::fromStdString(pgf_body(path)), folder.filePath("f-body.pdf"));
  write_bytes(path, older);
  write_figure(path, paper());
  CHECK(pgf_body(path) == first);
  CHECK(QDir(folder.path()).entryList(QDir::Files).size() == 2);
}

TEST_CASE("PGF: only a body of its own is taken for one, and no file of another is replaced") {
  example::application();
  const QTemporaryDir folder;
  const std::string path = folder.filePath("f.pgf").toStdString();
  for (const char* name : {"g-body-01234567.pdf", "f-body-0123456.pdf", "../f-body.pdf", "f.pdf",
                           "f-body-01234567.pdf.exe"}) {
    write_bytes(path, std::string(pgf_begin) + "\\includegraphics[x]{" + name + "}");
    CHECK(pgf_body(path).empty());
  }
  write_bytes(path, "\\includegraphics[x]{f-body-01234567.pdf}");
  CHECK(pgf_body(path).empty());  // not of Fovea
  QFile::remove(QString::fromStdString(path));
  write_figure(path, paper());
  const std::string body = pgf_body(path);
  QFile::remove(QString::fromStdString(path));
  write_bytes(body, "precious");
  CHECK_THROWS_WITH_AS(write_figure(path, paper()), doctest::Contains(body.c_str()),
                       UnavailableError);
  CHECK(read_bytes(body) == "precious");
  CHECK(QDir(folder.path()).entryList(QDir::Files).size() == 1);
}

TEST_CASE("PGF: a process that is killed at any moment leaves words on the body that is theirs") {
  // The body holds what the words are about.
  const auto write = [](const std::string& path, const QByteArray& about) {
    const auto text = [&](const QString& body) {
      return (QString(pgf_begin) + "\n\\includegraphics[x]{" + body + "}\nwords on " + about + "\n")
          .toUtf8();
    };
    write_pgf(path, about, text, {});
  };
  bool killed = true;
  for (int last = 0; killed; ++last) {
    CAPTURE(last);
    const QTemporaryDir folder;
    const std::string path = folder.filePath("f.pgf").toStdString();
    write(path, "one");
    const pid_t child = ::fork();
    if (child == 0) {
      writing_calls.last = last;
      try {
        write(path, "other");
      } catch (const std::exception&) {
        ::_exit(1);
      }
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    killed = WEXITSTATUS(status) == ended_amid_writing;
    CHECK((killed || WEXITSTATUS(status) == 0));
    CHECK(contains(read_bytes(path), "words on " + read_bytes(pgf_body(path)) + "\n"));
    if (!killed) CHECK(QDir(folder.path()).entryList(QDir::Files | QDir::Hidden).size() == 2);
  }
}

TEST_CASE("PGF: where the words cannot be written the old figure stays, and no body is left") {
  const QTemporaryDir folder;
  const std::string path = folder.filePath("f.pgf").toStdString();
  std::stop_source stop;
  const auto text = [&](const QString&) {
    stop.request_stop();
    return QByteArray("words");
  };
  CHECK_THROWS_AS(write_pgf(path, "body", text, stop.get_token()), Cancelled);
  CHECK(QDir(folder.path()).entryList(QDir::Files | QDir::Hidden).isEmpty());
}

TEST_CASE("PGF: pdflatex sets a figure of the right size with all of its words" *
          doctest::skip(is_missing("pdflatex") || is_missing("pdftotext"))) {
  example::application();
  const QTemporaryDir folder;
  Figure figure = paper();
  figure.title =
      "All of αβγδεθκλμπρστφχψω × · ± ≤ ≥ ≈ ∞ √ ∈ ∪ ‖ ⌊ ½ ᵢ ⱼ – — “x” 中 50 % a_b \\x {y} ẑ "
      "q\u0304";
  write_figure(folder.filePath("heads.pgf").toStdString(), figure);
  QFile tex(folder.filePath("main.tex"));
  REQUIRE(tex.open(QIODevice::WriteOnly));
  tex.write(
      "\\documentclass{article}\n\\usepackage{pgf}\n\\usepackage[T1]{fontenc}\n"
      "\\pagestyle{empty}\n\\begin{document}\n\\noindent\\input{heads.pgf}\n\\end{document}\n");
  tex.close();
  const QString said =
      run_in(folder.path(), "pdflatex", {"-halt-on-error", "-interaction=nonstopmode", "main.tex"});
  CHECK_FALSE(said.contains("Overfull"));
  const QString text = run_in(folder.path(), "pdftotext", {"main.pdf", "-"});
  for (const char* word : {"query", "key", "attention weight", "U+4E2D", "50 %", "a_b"})
    CHECK_MESSAGE(text.contains(QString::fromUtf8(word)), std::string(word));
}
