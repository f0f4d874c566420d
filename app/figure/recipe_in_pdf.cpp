#include "figure/recipe_in_pdf.h"

#include <QPdfWriter>
#include <algorithm>

namespace fovea {
namespace {

// Bytes of a stream in the file. Inflated, it is at most 1032 times as long (zlib).
constexpr qsizetype largest_attachment = 256 << 10;
constexpr qsizetype longest_number = 12;  // digits

/// The number that begins at a place; -1 if there is none.
qsizetype number_at(const QByteArray& pdf, qsizetype at) {
  qsizetype end = at;
  while (end < pdf.size() && end - at < longest_number && pdf[end] >= '0' && pdf[end] <= '9') ++end;
  return end > at ? pdf.mid(at, end - at).toLongLong() : -1;
}

/// The beginning of an object's content; -1 if there is no object of this number.
qsizetype object_at(const QByteArray& pdf, qsizetype number) {
  const QByteArray head = "\n" + QByteArray::number(number) + " 0 obj";
  const qsizetype at = pdf.indexOf(head);
  return at < 0 ? -1 : at + head.size();
}

/// The number behind a name in the dictionary that begins at a place.
qsizetype entry(const QByteArray& pdf, qsizetype dictionary, const char* name) {
  if (dictionary < 0) return -1;
  const qsizetype end = pdf.indexOf("endobj", dictionary);
  const qsizetype at = pdf.indexOf(name, dictionary);
  return at < 0 || at > end ? -1 : number_at(pdf, at + qstrlen(name));
}

std::string attachment(const QByteArray& pdf, const char* name) {
  const qsizetype file = pdf.indexOf("/F (" + QByteArray(name) + ")");
  const qsizetype object = object_at(pdf, entry(pdf, file, "/EF <</F "));
  if (object < 0) return {};
  const qsizetype length_at = object_at(pdf, entry(pdf, object, "/Length "));
  const qsizetype length = length_at < 0 ? -1 : number_at(pdf, length_at + 1);
  const qsizetype stream = pdf.indexOf("stream\n", object);
  if (stream < 0 || length <= 0 || length > largest_attachment) return {};
  const qsizetype begin = stream + qsizetype(qstrlen("stream\n"));
  if (length > pdf.size() - begin) return {};
  // Qt expects the inflated size in front, and enlarges its buffer if the size is too small.
  return qUncompress(QByteArray("\0\0\x40\0", 4) + pdf.mid(begin, length)).toStdString();
}

}  // namespace

void attach(QPdfWriter& writer, const Recipe& recipe) {
  if (!recipe.session.empty())
    writer.addFileAttachment(recipe_session_file, QByteArray::fromStdString(recipe.session),
                             "application/json");
  if (!recipe.command.empty())
    writer.addFileAttachment(recipe_command_file, QByteArray::fromStdString(recipe.command),
                             "text/plain");
}

std::optional<Recipe> recipe_in_pdf(const QByteArray& pdf) {
  return Recipe{attachment(pdf, recipe_session_file), attachment(pdf, recipe_command_file)};
}

}  // namespace fovea
