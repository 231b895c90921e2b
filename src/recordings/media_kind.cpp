#include "recordings/media_kind.hpp"

#include <array>
#include <cstring>
#include <span>
#include <string_view>

#include "recordings/bytes.hpp"

namespace lapilli::recordings {

namespace {

struct MediaStart {
  MediaKind kind;
  size_t at;
  std::string_view bytes;
};

constexpr MediaStart kMediaStarts[] = {{{"MPEG-4 (m4a, mp4, mov)", false}, 4, "ftyp"},
                                       {{"Matroska (mkv, webm)", false}, 0, "\x1a\x45\xdf\xa3"},
                                       {{"AVI", false}, 8, "AVI "},
                                       {{"ASF (wma, wmv)", false}, 0, "\x30\x26\xb2\x75\x8e\x66\xcf\x11"},
                                       {{"Flash video", false}, 0, "FLV\x01"},
                                       {{"AMR", false}, 0, "#!AMR"},
                                       {{"MPEG program stream", false}, 0, {"\0\0\x01\xba", 4}},
                                       {{"AAC", false}, 0, "ADIF"},
                                       {{"AAC", false}, 0, "\xff\xf1"},
                                       {{"AAC", false}, 0, "\xff\xf9"},
                                       {{"WavPack", false}, 0, "wvpk"},
                                       {{"Monkey's Audio", false}, 0, "MAC "},
                                       {{"Ogg", true}, 0, "OggS"},
                                       {{"FLAC", true}, 0, "fLaC"},
                                       {{"MP3", true}, 0, "ID3"},
                                       {{"MP3", true}, 0, "\xff\xfb"},
                                       {{"MP3", true}, 0, "\xff\xf3"},
                                       {{"MP3", true}, 0, "\xff\xf2"},
                                       {{"AIFF", true}, 0, "FORM"},
                                       {{"CAF", true}, 0, "caff"}};

constexpr size_t kPacket = 188;  // bytes of an MPEG transport stream packet, each of which begins with the same byte
constexpr std::byte kSync{0x47};

}  // namespace

MediaKind media_kind(std::FILE* f) {
  std::array<std::byte, 2 * kPacket + 1> room{};
  const auto bytes = std::span(room).first(seek_to(f, 0) == 0 ? std::fread(room.data(), 1, room.size(), f) : 0);
  seek_to(f, 0);
  for (const MediaStart& start : kMediaStarts)
    if (bytes.size() >= start.at + start.bytes.size() &&
        std::memcmp(bytes.data() + start.at, start.bytes.data(), start.bytes.size()) == 0)
      return start.kind;
  if (bytes.size() == room.size() && room[0] == kSync && room[kPacket] == kSync && room[2 * kPacket] == kSync)
    return {"MPEG transport stream", false};
  return {};
}

}  // namespace lapilli::recordings
