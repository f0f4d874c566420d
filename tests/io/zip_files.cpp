#include <zip.h>

#include <stdexcept>

#include "io/npy.h"

namespace fovea::test {
namespace {

std::uint32_t crc32(const std::string& bytes) {
  std::uint32_t crc = ~0u;
  for (const unsigned char byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0u);
  }
  return ~crc;
}

std::string u16(std::uint64_t value) {
  return bytes_of(static_cast<std::uint16_t>(value));
}
std::string u32(std::uint64_t value) {
  return bytes_of(static_cast<std::uint32_t>(value));
}
std::string u64(std::uint64_t value) {
  return bytes_of(value);
}

/// What the local header and the central directory have in common.
std::string common(const ZipMember& member, std::size_t extra) {
  return u16(45) + u16(member.flags) + u16(member.method) + u16(0) + u16(0x21) +
         u32(crc32(member.bytes) ^ member.checksum_error) + u32(~0u) + u32(~0u) +
         u16(member.name.size()) + u16(extra);
}

}  // namespace

void write_zip(const std::string& path, const std::vector<ZipMember>& members) {
  std::ofstream out(path, std::ios::binary);
  std::string directory;
  for (const ZipMember& member : members) {
    const auto offset = static_cast<std::uint64_t>(out.tellp());
    const std::uint64_t stored = member.bytes.size() + member.hole;
    const std::string sizes = u64(member.size) + u64(stored);
    out << "PK\x03\x04" << common(member, 20) << member.name << u16(1) << u16(16) << sizes
        << member.bytes;
    out.seekp(static_cast<std::streamoff>(member.hole), std::ios::cur);
    directory += "PK\x01\x02" + u16(45) + common(member, 28) + u16(0) + u16(0) + u16(0) + u32(0) +
                 u32(~0u) + member.name + u16(1) + u16(24) + sizes + u64(offset);
  }
  const auto begin = static_cast<std::uint64_t>(out.tellp());
  out << directory;
  const auto end = static_cast<std::uint64_t>(out.tellp());
  out << "PK\x06\x06" << u64(44) << u16(45) << u16(45) << u32(0) << u32(0) << u64(members.size())
      << u64(members.size()) << u64(end - begin) << u64(begin);
  out << "PK\x06\x07" << u32(0) << u64(end) << u32(1);
  out << "PK\x05\x06" << u16(0) << u16(0) << u16(~0u) << u16(~0u) << u32(~0u) << u32(~0u) << u16(0);
}

void write_deflated(const std::string& path, const std::vector<ZipMember>& members) {
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  if (!archive) throw std::runtime_error("no archive at " + path);
  for (const ZipMember& member : members) {
    zip_source_t* bytes = zip_source_buffer(archive, member.bytes.data(), member.bytes.size(), 0);
    const zip_int64_t index = zip_file_add(archive, member.name.c_str(), bytes, 0);
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_DEFLATE, 9);
  }
  if (zip_close(archive) != 0) throw std::runtime_error("no archive at " + path);
}

}  // namespace fovea::test
