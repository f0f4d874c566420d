// Figures for LaTeX: words that it sets, over a body without words.
#include <doctest/doctest.h>

#include <QDir>
#include <QProcess>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTemporaryDir>

#include "figure/latex_text.h"
#include "figure/panels.h"
#include "figure/recorder.h"
#include "temporary_directory.h"

using namespace fovea;
using fovea::test::read_bytes;

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
  CHECK(pgf.find("\\includegraphics[width=324.000bp]{heads-body.pdf}") != std::string::npos);
  CHECK(QDir(folder.path()).entryList(QDir::Files) == QStringList{"heads-body.pdf", "heads.pgf"});
  if (!is_missing("pdftotext"))
    CHECK(run_in(folder.path(), "pdftotext", {"heads-body.pdf", "-"}).trimmed().isEmpty());
  const std::string body = read_bytes(folder.filePath("heads-body.pdf").toStdString());
  write_figure(folder.filePath("heads.pgf").toStdString(), figure);
  CHECK(read_bytes(folder.filePath("heads.pgf").toStdString()) == pgf);
  CHECK(read_bytes(folder.filePath("heads-body.pdf").toStdString()) == body);
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
