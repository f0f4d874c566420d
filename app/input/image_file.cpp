#include "input/image_file.h"

#include <QBuffer>
#include <QColorSpace>
#include <QFontDatabase>
#include <QImage>
#include <QImageReader>
#include <QRawFont>
#include <QThreadPool>
#include <QXmlStreamReader>
#include <algorithm>
#include <cmath>
#include <future>
#include <string_view>

#include "data/error.h"
#include "data/memory.h"
#include "data/synthetic.h"
#include "data/text.h"
#include "input/jpeg_header.h"
#include "input/painting.h"

namespace fovea {
namespace {

constexpr int most_side = 16384;    // pixels; more only on the way to a smaller --max-side
constexpr int most_decoded = 2048;  // MiB of a decoded image

InputError refusal(const std::string& message) {
  return {"", message};  // the caller, who has the file, names it
}

bool is_jpeg(const QImageReader& reader) {
  return reader.format() == "jpeg" || reader.format() == "jpg";
}

std::string size_text(QSize size) {
  return std::to_string(size.width()) + " x " + std::to_string(size.height()) + " pixels";
}

QSize scaled_size(QSize size, int max_side) {
  if (max_side == 0 || std::max(size.width(), size.height()) <= max_side) return size;
  return size.scaled(max_side, max_side, Qt::KeepAspectRatio).expandedTo({1, 1});
}

/// Checks the size of the picture without decoding anything.
void require_size(QSize size, int patch, bool scaled) {
  if (!scaled && std::max(size.width(), size.height()) > most_side)
    throw refusal(size_text(size) + "; expected at most " + std::to_string(most_side) +
                  " a side: scale it down" +
                  (patch == whole_picture ? "" : " (from the command line: --max-side)"));
  if (patch == whole_picture) return;  // the memory budget is its bound
  const Index cols = size.width() / patch, rows = size.height() / patch;
  if (cols == 0 || rows == 0)
    throw refusal(size_text(size) + " hold no whole patch of " + std::to_string(patch) + " x " +
                  std::to_string(patch) + "; expected a smaller patch");
  if (cols * rows <= most_tokens) return;
  const double ratio =
      std::sqrt(static_cast<double>(most_tokens) / static_cast<double>(cols * rows));
  const int side = static_cast<int>(ratio * std::max(size.width(), size.height()));
  throw refusal(size_text(size) + " in patches of " + std::to_string(patch) + " make " +
                std::to_string(cols * rows) + " tokens; expected at most " +
                std::to_string(most_tokens) + ": choose a larger patch, or scale it down to " +
                std::to_string(side) + " pixels a side (--content has --max-side)");
}

/// What a decoder makes of an image.
struct Decoded {
  QSize size;         // not turned
  double beside = 0;  // bytes that it keeps until it is done
};

/// A JPEG is scaled to some eighths of its size while it is decoded, to the smallest size that is
/// not below the wanted one. Other formats are decoded whole.
Decoded decoded_of(const QImageReader& reader, const std::string& bytes, QSize wanted) {
  const QSize stored = reader.size();
  if (!is_jpeg(reader)) return {stored};
  const double smaller =
      std::min(double(stored.width()) / wanted.width(), double(stored.height()) / wanted.height());
  const int eighths = static_cast<int>(std::clamp(std::ceil(8 / smaller), 1.0, 8.0));
  const auto part = [&](int side) { return (side * eighths + 7) / 8; };
  return {{part(stored.width()), part(stored.height())}, jpeg_coefficient_bytes(bytes)};
}

/// Requires the memory that reading takes. The decoded image exists twice while it is turned, and
/// beside 4 bytes a pixel while it is converted; the converted image exists twice while it is
/// scaled, and then beside the 3 bytes a pixel of the picture.
void require_image_memory(const std::string& what, const Decoded& decoded, QImage::Format format,
                          QSize target) {
  const auto pixels = [](QSize size) { return double(size.width()) * size.height(); };
  const double pixel = QImage::toPixelFormat(format).bitsPerPixel() / 8.0;  // 0: unknown
  require_memory(
      pixels(decoded.size) * std::max(2 * pixel, 8.0) + pixels(target) * 7 + decoded.beside, what,
      "Fewer pixels need less");
}

/// Largest decoded image in MiB. The library refuses larger images whose size is known only while
/// they are decoded.
int most_decoded_now() {
  const std::size_t half = allowed_memory() / 2;
  return static_cast<int>(
      std::min<std::size_t>(most_decoded, std::max(half, smallest_checked) >> 20));
}

void require_decodable(QSize size) {
  const Index mib = Index{size.width()} * size.height() * 4 >> 20;
  if (mib > most_decoded)
    throw refusal(size_text(size) + " take " + std::to_string(mib) +
                  " MiB when decoded; expected at most " + std::to_string(most_decoded) + " MiB");
}

std::string formats_text() {
  return join(image_formats());
}

/// The library decodes half a JPEG without complaint. Within a scan 0xFF is never followed by these
/// markers, so a whole file has an end of image after its last start of scan.
void require_whole_jpeg(const std::string& bytes) {
  const std::size_t scan = bytes.rfind("\xFF\xDA");
  if (scan == bytes.npos || bytes.find("\xFF\xD9", scan) == bytes.npos)
    throw refusal("the JPEG breaks off after " + std::to_string(bytes.size()) +
                  " bytes; expected a whole file");
}

/// The library would call these faults "image data" and print warnings of its own.
void require_whole_png(const std::string& bytes) {
  constexpr std::size_t sides_at = 16, sides_end = 24;  // of the first chunk, big endian
  const auto side = [&](std::size_t at) {
    int value = 0;
    for (std::size_t i = 0; i < 4; ++i)
      value = value << 8 | static_cast<unsigned char>(bytes[at + i] & (i == 0 ? 0x7f : 0xff));
    return value;
  };
  if (bytes.size() < sides_end || bytes.rfind("IEND") == bytes.npos)
    throw refusal("the PNG breaks off after " + std::to_string(bytes.size()) +
                  " bytes; expected a whole file");
  const QSize size(side(sides_at), side(sides_at + 4));
  if (size.isEmpty()) throw refusal(size_text(size) + "; expected at least one");
}

/// The library fills in what is missing of a BMP, however large. Run-length encoded ones may be
/// shorter than their pixels.
void require_whole_bmp(const std::string& bytes) {
  constexpr std::size_t oldest_end = 26, header_end = 34;
  const auto number = [&](std::size_t at, std::size_t count) {  // little endian
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < count; ++i)
      value |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
    return value;
  };
  if (bytes.size() < oldest_end) return;  // the library refuses it
  const bool oldest = number(14, 4) == 12;
  if (!oldest && bytes.size() < header_end) return;  // the library refuses it, too
  const std::uint32_t compression = oldest ? 0 : number(30, 4);
  if (compression == 1 || compression == 2) return;
  const auto with_sign = [&](std::size_t at) { return double(std::int32_t(number(at, 4))); };
  const double width = oldest ? number(18, 2) : with_sign(18);
  // Negative if the first row is on top.
  const double height = oldest ? number(20, 2) : with_sign(22);
  const double bits = width * number(oldest ? 24 : 28, 2);
  const double needed = number(10, 4) + std::ceil(bits / 32) * 4 * (std::abs(height) - 1) +
                        std::ceil(bits / 8);  // rows are padded to 4 bytes; the last may not be
  if (needed > static_cast<double>(bytes.size()))
    throw refusal("the BMP breaks off after " + std::to_string(bytes.size()) +
                  " bytes; expected a whole file");
}

/// The library fills in what is missing of an XBM, whose text takes at least two characters for
/// each 8 pixels of a row.
void require_whole_xbm(QSize size, const std::string& bytes) {
  if (2.0 * ((size.width() + 7) / 8) * size.height() > static_cast<double>(bytes.size()))
    throw refusal("the XBM breaks off after " + std::to_string(bytes.size()) +
                  " bytes; expected a whole file");
}

/// What an SVG refers to in other files would be missing from its picture and from its hash. The
/// library reads the XML in the same way.
void refuse_references(const std::string& bytes) {
  if (bytes.starts_with("\x1F\x8B"))
    throw refusal("is a compressed SVG; expected one as text: gunzip makes it");
  QXmlStreamReader xml(QByteArray::fromRawData(bytes.data(), std::ssize(bytes)));
  xml.setNamespaceProcessing(false);
  const auto own_name = [](QStringView name) { return name.mid(name.lastIndexOf(u':') + 1); };
  while (!xml.atEnd()) {
    const auto token = xml.readNext();
    if (token == QXmlStreamReader::ProcessingInstruction &&
        xml.processingInstructionTarget() == u"xml-stylesheet")
      throw refusal("takes its styles from another file; expected an SVG that holds all of itself");
    if (token != QXmlStreamReader::StartElement || own_name(xml.name()) != u"image") continue;
    for (const QXmlStreamAttribute& attribute : xml.attributes())
      if (own_name(attribute.name()) == u"href" && !attribute.value().startsWith(u"data:"))
        throw refusal("shows another file (" +
                      attribute.value().left(100).toString().toStdString() +
                      "); expected an SVG that holds all of itself");
  }
}

QImage decode(QImageReader& reader, QSize target) {
  if (target != reader.size() && reader.supportsOption(QImageIOHandler::ScaledSize))
    reader.setScaledSize(target);
  QImage image = reader.read();
  if (image.isNull())
    throw refusal("the image cannot be decoded (" + reader.errorString().toStdString() +
                  "); expected a whole file");
  image = image.convertToFormat(QImage::Format_ARGB32);
  if (image.colorSpace().isValid() && image.colorSpace() != QColorSpace(QColorSpace::SRgb))
    image.convertToColorSpace(QColorSpace::SRgb);
  return image;
}

/// `area` of the image, over white.
Picture picture_of(const QImage& image, QRect area) {
  Picture out{area.width(), area.height(), {}};
  out.rgb.reserve(out.width * out.height * 3);
  for (int y = area.top(); y <= area.bottom(); ++y) {
    const auto* line = reinterpret_cast<const QRgb*>(image.constScanLine(y)) + area.left();
    for (int x = 0; x < area.width(); ++x) {
      const int alpha = qAlpha(line[x]);
      for (const int channel : {qRed(line[x]), qGreen(line[x]), qBlue(line[x])})
        out.rgb.push_back(
            static_cast<std::uint8_t>((channel * alpha + 255 * (255 - alpha) + 127) / 255));
    }
  }
  return out;
}

/// Whether the bytes begin like SVG, after spaces and the marks of an encoding.
bool may_be_svg(std::string_view bytes) {
  return bytes.substr(0, 16).find('<') != bytes.npos;
}

/// All faces of all fonts, as the library opens a font's file when it first draws with it.
std::vector<QRawFont> all_faces() {
  std::vector<QRawFont> faces;
  for (const QString& family : QFontDatabase::families())
    for (const auto weight : {QFont::Normal, QFont::Bold})
      for (const bool italic : {false, true})
        faces.push_back(QRawFont::fromFont(QFont(family, 12, weight, italic)));
  return faces;
}

}  // namespace

void load_image_readers(const std::string& bytes) {
  QByteArray nothing("?");
  QBuffer device(&nothing);
  QImageReader(&device).canRead();  // asks all plugins and loads them for that
  // Large pictures are converted on threads of this pool. A thread opens descriptors when it
  // starts.
  QThreadPool& pool = *QThreadPool::globalInstance();
  pool.setMaxThreadCount(1);
  pool.setExpiryTimeout(-1);
  std::promise<void> begun;
  pool.start([&] { begun.set_value(); });
  begun.get_future().wait();
  if (!may_be_svg(bytes)) return;
  // Letters need an application with fonts, which then lasts as long as the program.
  static const Painting& painting = *new Painting;
  static_cast<void>(painting);
  // Text in another encoding than UTF-8 has zeros.
  if (bytes.find("text") == bytes.npos && bytes.find('\0') == bytes.npos) return;
  static const auto& faces = *new std::vector<QRawFont>(all_faces());
  static_cast<void>(faces);
}

ImageFile decode_image(const std::string& bytes, int patch, int max_side) {
  QImageReader::setAllocationLimit(most_decoded_now());  // the library's own is 256 MiB
  QBuffer device;
  device.setData(QByteArray::fromRawData(bytes.data(), std::ssize(bytes)));
  QImageReader reader(&device);
  reader.setDecideFormatFromContent(true);
  reader.setAutoTransform(true);
  if (!reader.canRead())
    throw refusal("not an image that can be read here (" + reader.errorString().toStdString() +
                  "); expected one of " + formats_text());
  if (is_jpeg(reader)) require_whole_jpeg(bytes);
  if (reader.format() == "png") require_whole_png(bytes);
  if (reader.format() == "bmp") require_whole_bmp(bytes);
  if (reader.format().startsWith("svg")) refuse_references(bytes);
  // May be unknown before decoding, or differ from the decoded size.
  const QSize stored = reader.size();
  if (reader.format() == "xbm") require_whole_xbm(stored, bytes);
  const bool is_turned = reader.transformation() & QImageIOHandler::TransformationRotate90;
  const QSize turned = is_turned ? stored.transposed() : stored;
  if (stored.isValid()) {
    require_size(scaled_size(turned, max_side), patch, max_side > 0);
    const Decoded decoded = decoded_of(reader, bytes, scaled_size(stored, max_side));
    require_decodable(decoded.size);
    require_image_memory(size_text(stored), decoded, reader.imageFormat(),
                         scaled_size(turned, max_side));
  }
  QImage image = decode(reader, scaled_size(stored, max_side));
  const QSize target = scaled_size(image.size(), max_side);
  const QSize whole = stored.isValid() && reader.scaledSize().isValid() ? turned : image.size();
  require_size(target, patch, max_side > 0);

  ImageFile out;
  if (whole != turned) {
    require_image_memory(size_text(whole), {whole}, image.format(), target);
    if (stored.isValid())
      out.notes.push_back("it announces " + size_text(turned) + ", and has " + size_text(whole));
  }
  if (image.size() != target)
    image = image.scaled(target, Qt::IgnoreAspectRatio, Qt::SmoothTransformation);
  if (std::max(target.width(), target.height()) < std::max(whole.width(), whole.height()))
    out.notes.push_back("scaled from " + size_text(whole) + " to " + size_text(target));
  if (reader.imageCount() > 1)
    out.notes.push_back("the first of " + std::to_string(reader.imageCount()) + " pictures");
  if (patch == whole_picture) {
    out.picture = std::make_shared<Picture>(picture_of(image, image.rect()));
    return out;
  }
  out.grid = {image.height() / patch, image.width() / patch, 0};
  const QSize used(image.width() / patch * patch, image.height() / patch * patch);
  if (used != image.size())
    out.notes.push_back(size_text(image.size()) + " are no whole number of patches of " +
                        std::to_string(patch) + ": the middle " + size_text(used) + " are used");
  const QPoint corner((image.width() - used.width()) / 2, (image.height() - used.height()) / 2);
  out.picture = std::make_shared<Picture>(picture_of(image, QRect(corner, used)));
  return out;
}

bool begins_like_image(std::string_view head) {
  const auto begins = [&](std::string_view signature) { return head.starts_with(signature); };
  const auto has = [&](std::string_view word) { return head.find(word) != head.npos; };
  const auto is_pnm = [&] {
    return head.size() > 2 && head[0] == 'P' && head[1] >= '1' && head[1] <= '6' &&
           std::string_view(" \t\r\n").find(head[2]) != std::string_view::npos;
  };
  return begins("\x89PNG\r\n\x1A\n") || begins("\xFF\xD8\xFF") || begins("GIF8") ||
         (begins("BM") && head.substr(6, 4) == std::string_view("\0\0\0\0", 4)) ||
         (begins("RIFF") && head.substr(8, 4) == "WEBP") || is_pnm() ||
         begins(std::string_view("II*\0", 4)) || begins(std::string_view("MM\0*", 4)) ||
         begins(std::string_view("\0\0\1\0", 4)) || begins(std::string_view("\0\0\2\0", 4)) ||
         begins("/* XPM") || (begins("#define ") && has("_width ")) ||
         (may_be_svg(head) && has("<svg"));
}

std::vector<std::string> image_formats() {
  std::vector<std::string> out;
  for (const QByteArray& format : QImageReader::supportedImageFormats())
    out.push_back(format.toStdString());
  return out;
}

}  // namespace fovea
