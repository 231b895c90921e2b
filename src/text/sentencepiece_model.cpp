#include "text/sentencepiece_model.hpp"

#include "base/mapped_file.hpp"
#include "text/sentencepiece_check.hpp"

#if LAPILLI_HAVE_SENTENCEPIECE
#include <sentencepiece_processor.h>

#include <exception>
#include <new>

// The library's log level. Not in the public header of every version, so it may be missing: then the symbol is null.
#if defined(__ELF__) && defined(__GNUC__)
namespace sentencepiece::logging {
__attribute__((weak)) void SetMinLogLevel(int level);
}
#define LAPILLI_SPM_LOG_LEVEL 1
#endif
#endif

namespace lapilli {

#if LAPILLI_HAVE_SENTENCEPIECE

struct SentencePieceModel::Impl {
  std::string path;
  sentencepiece::SentencePieceProcessor processor;
};

namespace {

constexpr size_t kMaxFileBytes = size_t{128} << 20;

// What it would print on stderr comes back as a status, too.
void silence_library() {
#ifdef LAPILLI_SPM_LOG_LEVEL
  constexpr int kFatalOnly = 3;
  if (&sentencepiece::logging::SetMinLogLevel != nullptr) sentencepiece::logging::SetMinLogLevel(kFatalOnly);
#endif
}

}  // namespace

bool sentencepiece_available() { return true; }

Result<SentencePieceModel> SentencePieceModel::load(const std::string& path) {
  LAPILLI_TRY(auto file, MappedFile::open(path));
  const std::string_view content(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  if (content.size() > kMaxFileBytes)
    return fail(ErrorCode::invalid_data, "%s has %zu bytes; SentencePiece models have at most %zu", path.c_str(),
                content.size(), kMaxFileBytes);
  LAPILLI_CHECK(check_sentencepiece_model(content, path));
  silence_library();
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  try {
    const auto status = impl->processor.LoadFromSerializedProto(content);
    if (!status.ok())
      return fail(ErrorCode::invalid_data, "%s is not a usable SentencePiece model: %s", path.c_str(),
                  status.message());
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::out_of_memory, "not enough memory to load %s", path.c_str());
  } catch (const std::exception& e) {
    return fail(ErrorCode::invalid_data, "%s is not a usable SentencePiece model: %s", path.c_str(), e.what());
  }
  return SentencePieceModel(std::move(impl));
}

Result<std::vector<SentencePiece>> SentencePieceModel::encode(std::string_view text) const {
  sentencepiece::ImmutableSentencePieceText result;
  const auto status = impl_->processor.Encode(text, result.mutable_proto());
  if (!status.ok())
    return fail(ErrorCode::invalid_data, "SentencePiece model %s cannot encode the text: %s", impl_->path.c_str(),
                status.message());
  std::vector<SentencePiece> pieces;
  const size_t count = result.pieces_size();
  pieces.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const auto p = result.pieces(static_cast<int>(i));
    pieces.push_back({p.piece(), static_cast<int32_t>(p.id()), p.begin(), p.end()});
  }
  // The library gives a character that is spelled in bytes to the last of them only.
  for (size_t i = pieces.size(); i-- > 1;) {
    SentencePiece& p = pieces[i - 1];
    const SentencePiece& next = pieces[i];
    if (p.begin == p.end && p.begin == next.begin && impl_->processor.IsByte(p.id) && impl_->processor.IsByte(next.id))
      p.end = next.end;
  }
  return pieces;
}

Result<std::string> SentencePieceModel::decode(const std::vector<std::string>& pieces) const {
  std::string text;
  const auto status = impl_->processor.Decode(pieces, &text);
  if (!status.ok())
    return fail(ErrorCode::invalid_data, "SentencePiece model %s cannot join the pieces: %s", impl_->path.c_str(),
                status.message());
  return text;
}

Result<std::string> SentencePieceModel::decode(std::span<const int32_t> ids) const {
  std::vector<int> known(ids.begin(), ids.end());
  for (int& id : known) {
    if (id < 0 || id >= impl_->processor.GetPieceSize()) id = impl_->processor.unk_id();
  }
  std::string text;
  const auto status = impl_->processor.Decode(known, &text);
  if (!status.ok())
    return fail(ErrorCode::invalid_data, "SentencePiece model %s cannot join the ids: %s", impl_->path.c_str(),
                status.message());
  return text;
}

uint64_t SentencePieceModel::size() const { return static_cast<uint64_t>(impl_->processor.GetPieceSize()); }
std::string_view SentencePieceModel::piece(int32_t id) const { return impl_->processor.IdToPiece(id); }
int32_t SentencePieceModel::piece_id(std::string_view piece) const { return impl_->processor.PieceToId(piece); }
int32_t SentencePieceModel::unknown_id() const { return impl_->processor.unk_id(); }
int32_t SentencePieceModel::begin_id() const { return impl_->processor.bos_id(); }
int32_t SentencePieceModel::end_id() const { return impl_->processor.eos_id(); }
int32_t SentencePieceModel::padding_id() const { return impl_->processor.pad_id(); }

#else

struct SentencePieceModel::Impl {};

bool sentencepiece_available() { return false; }

Result<SentencePieceModel> SentencePieceModel::load(const std::string& path) {
  return fail(
      ErrorCode::unsupported,
      "%s needs SentencePiece, which this build of Lapilli leaves out; build it with -DLAPILLI_SENTENCEPIECE=ON",
      path.c_str());
}
Result<std::vector<SentencePiece>> SentencePieceModel::encode(std::string_view) const {
  return fail(ErrorCode::unsupported, "built without SentencePiece");
}
Result<std::string> SentencePieceModel::decode(const std::vector<std::string>&) const {
  return fail(ErrorCode::unsupported, "built without SentencePiece");
}
Result<std::string> SentencePieceModel::decode(std::span<const int32_t>) const {
  return fail(ErrorCode::unsupported, "built without SentencePiece");
}
uint64_t SentencePieceModel::size() const { return 0; }
std::string_view SentencePieceModel::piece(int32_t) const { return {}; }
int32_t SentencePieceModel::piece_id(std::string_view) const { return -1; }
int32_t SentencePieceModel::unknown_id() const { return -1; }
int32_t SentencePieceModel::begin_id() const { return -1; }
int32_t SentencePieceModel::end_id() const { return -1; }
int32_t SentencePieceModel::padding_id() const { return -1; }

#endif

SentencePieceModel::SentencePieceModel(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
SentencePieceModel::SentencePieceModel(SentencePieceModel&&) noexcept = default;
SentencePieceModel& SentencePieceModel::operator=(SentencePieceModel&&) noexcept = default;
SentencePieceModel::~SentencePieceModel() = default;

}  // namespace lapilli
