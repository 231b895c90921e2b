#include "hub/download.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/path.hpp"
#include "hub/digest.hpp"

namespace lapilli::hub {

namespace {

using Try = Requests::Try;

bool is_full(int why) {
#if defined(EDQUOT)
  if (why == EDQUOT) return true;
#endif
  return why == ENOSPC || why == EFBIG;
}

Failure write_error(const std::string& path, int why) {
  const ErrorCode code = is_full(why) ? ErrorCode::out_of_memory : ErrorCode::not_found;
  return fail(code, "%s cannot be written: %s; what is there is kept, and the same command goes on from it", path,
              std::strerror(why));
}

// The partial file.
class PartFile {
 public:
  PartFile(std::string path, uint64_t held) : path_(std::move(path)), bytes_(held), most_(held) {}
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  ~PartFile() { (void)close(); }

  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  // The largest size so far: where a server starts over each time, only bytes beyond it are progress.
  [[nodiscard]] uint64_t most() const { return most_; }
  Status write(std::string_view text) {
    if (!file_) file_ = open_stream(path_, "ab");
    if (!file_ || std::fwrite(text.data(), 1, text.size(), file_) != text.size()) return failed();
    bytes_ += text.size();
    most_ = std::max(most_, bytes_);
    return {};
  }
  // Hands everything to the system.
  Status close() {
    if (!file_) return {};
    const bool written = std::fflush(file_) == 0;
    const int why = errno;
    const bool closed = std::fclose(std::exchange(file_, nullptr)) == 0;
    if (written && closed) return {};
    return write_error(path_, written ? errno : why);
  }
  Status restart() {
    (void)close();
    bytes_ = 0;
    if (file_kind(path_) == FileKind::none || remove_file(path_)) return {};
    return write_error(path_, errno);
  }

 private:
  Status failed() {
    const int why = errno;
    (void)close();
    return write_error(path_, why);
  }
  std::string path_;
  uint64_t bytes_, most_;
  std::FILE* file_ = nullptr;
};

// Explains content that was served in place of the file.
std::string what_else(std::string_view bytes) {
  if (bytes.starts_with("version https://git-lfs")) return " (it is a Git LFS pointer, not the content)";
  if (bytes.starts_with("<!DOCTYPE") || bytes.starts_with("<html")) return " (it is a web page)";
  return "";
}

// One response on its way into the partial file.
class Arrival {
 public:
  Arrival(const HubFile& file, PartFile& part, const Progress& progress)
      : file_(file), part_(part), progress_(progress), asked_from_(part.bytes()) {}

  // False if the response is not the requested one, or cannot be stored; `status` says why.
  bool take(const HttpHead& head, std::string_view bytes) {
    if (!begun_) status = begin(head, bytes);
    begun_ = true;
    if (status && bytes.size() > file_.size - part_.bytes())
      status = fail(ErrorCode::invalid_data, "%s: the hub sends more than the %u bytes that it states", file_.name,
                    file_.size);
    if (status) status = part_.write(bytes);
    if (status && progress_) progress_(part_.bytes());
    return status.ok();
  }
  [[nodiscard]] bool begun() const { return begun_; }

  Status status;

 private:
  Status begin(const HttpHead& head, std::string_view bytes) {
    // A server that ignores ranges sends the whole file.
    if (head.status != 206 && asked_from_ > 0) LAPILLI_CHECK(part_.restart());
    if (head.status == 206 && (!head.range || head.range->first != asked_from_))
      return fail(ErrorCode::invalid_data, "%s: the hub sends another part of the file than it was asked for",
                  file_.name);
    const uint64_t stated = head.length ? part_.bytes() + *head.length : file_.size;
    const uint64_t total = head.status == 206 ? head.range->total.value_or(stated) : stated;
    if (stated == file_.size && total == file_.size) return {};
    return fail(ErrorCode::invalid_data, "%s: the hub sends %u bytes where it states %u%s", file_.name,
                stated == file_.size ? total : stated, file_.size, what_else(bytes));
  }

  const HubFile& file_;
  PartFile& part_;
  const Progress& progress_;
  uint64_t asked_from_;
  bool begun_ = false;
};

Try failed(Error error) { return {Try::What::failed, std::move(error), {}, false}; }

// One request for the missing bytes.
Try fetch_rest(Requests& requests, const std::string& url, const HubFile& file, PartFile& part,
               const Progress& progress) {
  const uint64_t before = part.most();
  Arrival arrival(file, part, progress);
  const Receive receive = [&](const HttpHead& head, std::string_view bytes) { return arrival.take(head, bytes); };
  Try tried = requests.get(url, part.bytes(), receive, file.name);
  if (!arrival.status) return failed(std::move(arrival.status).error());
  if (Status closed = part.close(); !closed) return failed(std::move(closed).error());
  tried.advanced = part.most() > before;
  if (tried.what == Try::What::done && part.bytes() < file.size)
    tried = {Try::What::again,
             fail(ErrorCode::invalid_data, "%s ends after %u of the %u bytes that the hub states", file.name,
                  part.bytes(), file.size),
             {},
             tried.advanced};
  return tried;
}

Status fetch_whole(Requests& requests, const std::string& url, const HubFile& file, const std::string& path,
                   const Progress& progress) {
  PartFile part(path, file_size(path));
  if (part.bytes() > file.size) LAPILLI_CHECK(part.restart());
  if (progress) progress(part.bytes());
  if (file.size == 0) return part.write("");
  return requests.repeat(
      [&]() -> Try { return part.bytes() == file.size ? Try{} : fetch_rest(requests, url, file, part, progress); });
}

Digest digest_for(const HubFile& file) {
  if (!file.sha256.empty()) return Digest(Digest::Kind::sha256);
  Digest digest(Digest::Kind::sha1);
  digest.update("blob " + std::to_string(file.size));
  digest.update(std::string_view("\0", 1));
  return digest;
}

}  // namespace

std::string part_of(const HubFile& file, const std::string& path) {
  constexpr size_t kDigits = 16;
  const std::string& hash = file.sha256.empty() ? file.git_blob : file.sha256;
  return path + "." + (hash.empty() ? std::to_string(file.size) : hash.substr(0, kDigits)) + ".part";
}

Status verify(const HubFile& file, const std::string& path, const Stopped& stopped) {
  std::FILE* stream = open_stream(path, "rb");
  if (!stream) return fail(ErrorCode::not_found, "%s cannot be read: %s", path, std::strerror(errno));
  Digest digest = digest_for(file);
  std::vector<char> buffer(size_t{1} << 18);
  uint64_t bytes = 0;
  bool stop = false;
  while (const size_t got = stop ? 0 : std::fread(buffer.data(), 1, buffer.size(), stream)) {
    digest.update({buffer.data(), got});
    bytes += got;
    stop = stopped && stopped();
  }
  std::fclose(stream);
  if (stop) return fail(ErrorCode::cancelled, "interrupted");
  const std::string& stated = file.sha256.empty() ? file.git_blob : file.sha256;
  if (stated.empty() && bytes == file.size) return {};
  if (const std::string found = digest.hex(); found != stated || bytes != file.size)
    return fail(ErrorCode::invalid_data, "%s has the %s %s where the hub states %s: refused", file.name,
                file.sha256.empty() ? "git blob id" : "SHA-256", found, stated);
  return {};
}

Status download(Requests& requests, const std::string& url, const HubFile& file, const std::string& path,
                const Progress& progress) {
  const std::string part = part_of(file, path);
  // An old partial file may be the culprit; it is discarded once.
  for (bool continued = file_size(part) > 0;; continued = false) {
    LAPILLI_CHECK(fetch_whole(requests, url, file, part, progress));
    Status right = verify(file, part, [&requests] { return requests.stopped(); });
    if (right) break;
    if (right.error().code == ErrorCode::cancelled) return right;
    (void)remove_file(part);
    if (!continued) return right;
  }
  if (!rename_file(part, path)) return write_error(path, errno);
  return {};
}

}  // namespace lapilli::hub
