#include "figure/recipe.h"

#include <QXmlStreamReader>
#include <QtEndian>
#include <array>
#include <cstdint>

#include "figure/recipe_in_pdf.h"

namespace fovea {
namespace {

constexpr char png_signature[] = "\x89PNG\r\n\x1a\n";
constexpr int png_begin = 8;
constexpr const char* xml_names = "urn:fovea:figure";

/// A link of an HTML file, up to its content in base64.
std::string begin_of_link(const char* name, const char* type) {
  return std::string("<a download=\"") + name + "\" href=\"" + data_url(type, {});
}
std::string begin_of_session_link() {
  return begin_of_link(recipe_session_file, "application/json");
}
std::string begin_of_command_link() {
  return begin_of_link(recipe_command_file, "text/plain;charset=utf-8");
}

/// The checksum of PNG chunks (PNG specification, annex D).
std::uint32_t crc_of(const QByteArray& bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t n = 0; n < 256; ++n) {
      t[n] = n;
      for (int bit = 0; bit < 8; ++bit) t[n] = t[n] & 1 ? 0xEDB88320u ^ (t[n] >> 1) : t[n] >> 1;
    }
    return t;
  }();
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const char c : bytes) crc = table[(crc ^ std::uint8_t(c)) & 0xFF] ^ (crc >> 8);
  return crc ^ 0xFFFFFFFFu;
}

QByteArray big_endian(std::uint32_t value) {
  QByteArray bytes(4, 0);
  qToBigEndian(value, bytes.data());
  return bytes;
}

/// Text in UTF-8, not compressed.
QByteArray text_chunk(const char* keyword, const std::string& text) {
  QByteArray body = "iTXt";
  body += keyword;
  body += QByteArray(5, 0);  // end of the keyword; not compressed; no language and translation
  body += QByteArray::fromStdString(text);
  return big_endian(std::uint32_t(body.size() - 4)) + body + big_endian(crc_of(body));
}

struct Chunk {
  QByteArray type, data;
  qsizetype end = 0;  // in the file
};

/// Nothing if the file ends before the chunk does.
std::optional<Chunk> chunk_at(const QByteArray& png, qsizetype at) {
  if (at + 12 > png.size()) return {};
  const qsizetype length = qFromBigEndian<std::uint32_t>(png.constData() + at);
  if (length > png.size() - at - 12) return {};
  return Chunk{png.mid(at + 4, 4), png.mid(at + 8, length), at + 12 + length};
}

std::optional<Recipe> recipe_in_png(const QByteArray& png) {
  std::optional<Recipe> recipe;
  for (auto chunk = chunk_at(png, png_begin); chunk; chunk = chunk_at(png, chunk->end)) {
    const QByteArray keyword = chunk->data.left(chunk->data.indexOf('\0'));
    const bool is_text = chunk->type == "iTXt" || chunk->type == "tEXt";
    if (is_text && keyword == "Software" && chunk->data.endsWith("Fovea") && !recipe)
      recipe.emplace();
    if (chunk->type != "iTXt" || !keyword.startsWith("fovea:")) continue;
    if (!recipe) recipe.emplace();
    const std::string text = chunk->data.mid(keyword.size() + 5).toStdString();
    if (keyword == "fovea:session") recipe->session = text;
    if (keyword == "fovea:command") recipe->command = text;
  }
  return recipe;
}

/// XML allows neither control characters nor U+FFFE and U+FFFF: they become U+FFFD. Half a pair of
/// UTF-16 is no UTF-8, and never gets here.
QByteArray as_xml(const QByteArray& utf8) {
  constexpr const char* replacement = "\xEF\xBF\xBD";
  QByteArray xml;
  xml.reserve(utf8.size());
  for (qsizetype at = 0; at < utf8.size(); ++at) {
    const auto byte = static_cast<unsigned char>(utf8[at]);
    const bool is_control = byte < 0x20 && byte != '\n' && byte != '\t' && byte != '\r';
    const QByteArray next = byte == 0xEF ? utf8.mid(at, 3) : QByteArray();
    const bool is_no_character = next == "\xEF\xBF\xBE" || next == "\xEF\xBF\xBF";
    if (is_control || is_no_character)
      xml += replacement;
    else
      xml += utf8[at];
    if (is_no_character) at += 2;
  }
  return xml;
}

QString element(const char* name, const std::string& text) {
  if (text.empty()) return {};
  return QString("\n<%1>%2</%1>").arg(name, QString::fromStdString(text).toHtmlEscaped());
}

std::optional<Recipe> recipe_in_svg(const QByteArray& svg) {
  if (!svg.contains(xml_names)) return {};  // which is quicker than reading it as XML
  QXmlStreamReader reader(svg);
  std::optional<Recipe> recipe;
  while (!reader.atEnd()) {
    if (reader.readNext() != QXmlStreamReader::StartElement) continue;
    if (reader.namespaceUri() == u"http://www.w3.org/2000/svg" && reader.name() == u"g") break;
    if (reader.namespaceUri() != QLatin1String(xml_names)) continue;
    if (!recipe) recipe.emplace();
    const QString name = reader.name().toString();
    if (name == "session") recipe->session = reader.readElementText().toStdString();
    if (name == "command") recipe->command = reader.readElementText().toStdString();
  }
  return recipe;
}

/// The content of the last such link, since the report precedes it. Empty if there is no link;
/// nothing if it is cut off.
std::optional<std::string> linked_in(const QByteArray& html, const std::string& begin_of_link) {
  const auto begin = QByteArray::fromStdString(begin_of_link);
  const qsizetype link = html.lastIndexOf(begin);
  if (link < 0) return "";
  const qsizetype content = link + begin.size(), end = html.indexOf('"', content);
  if (end < 0) return {};
  return QByteArray::fromBase64(html.mid(content, end - content)).toStdString();
}

std::optional<Recipe> recipe_in_html(const QByteArray& html) {
  const auto session = linked_in(html, begin_of_session_link()),
             command = linked_in(html, begin_of_command_link());
  if (!session || !command) return {};
  return Recipe{.session = *session, .command = *command};
}

}  // namespace

std::string data_url(const std::string& type, const QByteArray& bytes) {
  return "data:" + type + ";base64," + bytes.toBase64().toStdString();
}

bool is_report(std::string_view head) {
  return head.substr(0, 1024).find(html_generator) != head.npos;
}

std::string links_to(const Recipe& recipe) {
  const auto link = [](const std::string& begin, const std::string& content, const char* words) {
    if (content.empty()) return std::string();
    return "<p>" + begin + QByteArray::fromStdString(content).toBase64().toStdString() + "\">" +
           words + "</p>\n";
  };
  return link(begin_of_session_link(), recipe.session,
              "The session of this report</a>, to be opened with Fovea, as this file can be.") +
         link(begin_of_command_link(), recipe.command, "The command that makes this report</a>");
}

QByteArray with_recipe_in_png(const QByteArray& png, const Recipe& recipe) {
  QByteArray chunks;
  if (!recipe.session.empty()) chunks += text_chunk("fovea:session", recipe.session);
  if (!recipe.command.empty()) chunks += text_chunk("fovea:command", recipe.command);
  const auto header = chunk_at(png, png_begin);  // which must stay the first chunk
  return header ? png.left(header->end) + chunks + png.mid(header->end) : png;
}

// Qt's generator would write title and description, too, but not escape them (6.4).
QByteArray with_recipe_in_svg(const QByteArray& svg, const Recipe& recipe, const std::string& title,
                              const std::string& description) {
  const qsizetype root = svg.indexOf("<svg");
  const qsizetype inside = svg.indexOf('>', root) + 1;
  if (root < 0 || inside <= 0) return as_xml(svg);
  const QString head = element("title", title) + element("desc", description) +
                       QString("\n<metadata><fovea:figure xmlns:fovea=\"%1\">").arg(xml_names) +
                       element("fovea:session", recipe.session) +
                       element("fovea:command", recipe.command) + "\n</fovea:figure></metadata>";
  return as_xml(svg.left(inside) + head.toUtf8() + svg.mid(inside));
}

std::optional<Recipe> recipe_in(const QByteArray& begin, const QByteArray& end) {
  if (begin.startsWith(QByteArray(png_signature, png_begin))) return recipe_in_png(begin);
  if (begin.startsWith("%PDF-")) return recipe_in_pdf(end);
  const QByteArray head = begin.left(1024);
  if (is_report({head.constData(), static_cast<std::size_t>(head.size())}))
    return recipe_in_html(end);
  if (head.contains("<svg")) return recipe_in_svg(begin);
  return {};
}

}  // namespace fovea
