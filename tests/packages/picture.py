"""Turns the frame buffer of Xvfb into a PNG: picture.py XWD PNG COLOURS. Fails if it has fewer colours."""
import struct
import sys
import zlib

with open(sys.argv[1], "rb") as file:
    content = file.read()
fields = struct.unpack(">25I", content[:100])
header, width, height, stride, entries = fields[0], fields[4], fields[5], fields[12], fields[19]
begin = header + 12 * entries
rows, colours = [], set()
for row in range(height):
    line = content[begin + row * stride:begin + row * stride + 4 * width]  # blue, green, red, nothing
    pixels = bytearray(3 * width)
    pixels[0::3], pixels[1::3], pixels[2::3] = line[2::4], line[1::4], line[0::4]
    rows.append(b"\0" + bytes(pixels))
    colours.update(zip(line[2::4], line[1::4], line[0::4]))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


with open(sys.argv[2], "wb") as file:
    file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
               + chunk(b"IDAT", zlib.compress(b"".join(rows))) + chunk(b"IEND", b""))
print(f"{sys.argv[2]}: {len(colours)} colours")
sys.exit(0 if len(colours) >= int(sys.argv[3]) else 1)
