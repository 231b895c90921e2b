#include "hub/fetch.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "base/file_lock.hpp"
#include "base/files.hpp"
#include "base/path.hpp"
#include "fetched/cache.hpp"
#include "fetched/selection.hpp"
#include "hub/download.hpp"
#include "hub/repository.hpp"
#include "hub/url.hpp"

namespace lapilli::hub {

namespace {

constexpr double kMegabyte = 1e6;

class Fetching {
 public:
  Fetching(const FetchSettings& settings, const ModelName& model, const FetchWatch& watch, Requests requests)
      : settings_(settings), model_(model), watch_(watch), requests_(std::move(requests)) {}

  Result<Fetched> run(const Ask& ask, const Select& select) {
    LAPILLI_TRY(offer_, ask(requests_));
    repository_ = offer_.repository;
    LAPILLI_TRY(Selection selection, select(repository_));
    directory_ = directory_of(settings_.models, model_, repository_.commit);
    if (is_there(selection)) return already_there();
    if (watch_.licence) watch_.licence(repository_.commit, repository_.licence);
    LAPILLI_CHECK(make_folder(directory_));
    LAPILLI_TRY(const FileLock lock, wait_for_lock());
    if (is_there(selection)) return already_there();
    LAPILLI_CHECK(add_parts_of_weights(selection));
    LAPILLI_CHECK(check_room(selection.files));
    LAPILLI_CHECK(fetch_files(selection.files));
    LAPILLI_CHECK(write_down(selection.files));
    return Fetched{directory_, false};
  }

 private:
  // A version that reads fewer files may have fetched it; files that it omitted are fetched then.
  [[nodiscard]] bool is_there(const Selection& selection) const {
    const auto manifest = read_manifest(directory_);
    return manifest && std::all_of(selection.files.begin(), selection.files.end(), [&](const HubFile& file) {
             return std::any_of(manifest->files.begin(), manifest->files.end(),
                                [&](const HubFile& held) { return held.name == file.name; });
           });
  }

  // Records the requested revision as well.
  Result<Fetched> already_there() {
    auto manifest = read_manifest(directory_);
    if (manifest && manifest->asked_for != offer_.asked_for) {
      manifest->asked_for = offer_.asked_for;
      LAPILLI_CHECK(write_manifest(directory_, *manifest));
    }
    return Fetched{directory_, true};
  }

  [[nodiscard]] std::string path_of(const HubFile& file) const { return directory_ + "/" + file.name; }

  Result<FileLock> wait_for_lock() {
    const std::string path = directory_ + "/.lock";
    for (bool noted = false;; noted = true) {
      if (auto lock = FileLock::take(path)) return std::move(*lock);
      if (errno != EWOULDBLOCK) return fail(ErrorCode::not_found, "%s cannot be made: %s", path, std::strerror(errno));
      if (!noted && watch_.note) watch_.note("another lapilli fetches " + model_.text() + "; waiting for it");
      if (requests_.stopped()) return fail(ErrorCode::cancelled, "interrupted");
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }

  Status add_parts_of_weights(Selection& selection) {
    for (const HubFile& index : selection.indices) {
      LAPILLI_CHECK(fetch_file(index, {}));
      LAPILLI_TRY(const auto text, read_text_file(path_of(index), index.size));
      LAPILLI_TRY(const auto parts, files_of_index(repository_, index.name, text));
      selection.files.insert(selection.files.end(), parts.begin(), parts.end());
    }
    return {};
  }

  [[nodiscard]] static Status make_folder(const std::string& folder) {
    if (make_directories(folder)) return {};
    return fail(ErrorCode::not_found, "%s cannot be made: %s", folder, std::strerror(errno));
  }

  Status fetch_file(const HubFile& file, const Progress& progress) {
    const std::string path = path_of(file);
    if (file_exists(path) && file_size(path) == file.size && verify(file, path, [this] { return requests_.stopped(); }))
      return {};
    if (const size_t slash = file.name.find('/'); slash != std::string::npos)
      LAPILLI_CHECK(make_folder(directory_ + "/" + file.name.substr(0, slash)));
    return download(requests_, offer_.url(file), file, path, progress);
  }

  // Checked before hours are spent; a disk that fills up meanwhile fails on writing.
  [[nodiscard]] Status check_room(const std::vector<HubFile>& files) const {
    uint64_t missing = 0;
    for (const HubFile& file : files) {
      const uint64_t here = std::max(file_size(path_of(file)), file_size(part_of(file, path_of(file))));
      const uint64_t rest = file.size > here ? file.size - here : 0;
      missing = rest > UINT64_MAX - missing ? UINT64_MAX : missing + rest;
    }
    const std::optional<uint64_t> room = free_bytes(directory_);
    if (!room || missing <= *room) return {};
    return fail(ErrorCode::out_of_memory,
                "%s needs %.0f MB more, and %s has room for %.0f MB: LAPILLI_CACHE may name "
                "another directory",
                model_.text(), static_cast<double>(missing) / kMegabyte, directory_,
                static_cast<double>(*room) / kMegabyte);
  }

  Status fetch_files(const std::vector<HubFile>& files) {
    uint64_t all = 0, before = 0;
    for (const HubFile& file : files) all += file.size;
    if (watch_.begin) watch_.begin(files.size(), all);
    for (const HubFile& file : files) {
      const auto progress = [this, before](uint64_t bytes) {
        if (watch_.progress) watch_.progress(before + bytes);
      };
      LAPILLI_CHECK(fetch_file(file, progress));
      before += file.size;
      if (watch_.progress) watch_.progress(before);
    }
    return {};
  }

  // Files of the same commit that were fetched before stay part of it.
  Status write_down(std::vector<HubFile> files) {
    const auto held = read_manifest(directory_);
    for (const HubFile& file : held ? held->files : std::vector<HubFile>())
      if (std::none_of(files.begin(), files.end(), [&](const HubFile& f) { return f.name == file.name; }))
        files.push_back(file);
    return write_manifest(directory_, {model_.text(), repository_.commit, offer_.asked_for, repository_.licence,
                                       time_now(), std::move(files)});
  }

  const FetchSettings& settings_;
  const ModelName& model_;
  const FetchWatch& watch_;
  Requests requests_;
  Offer offer_;
  Repository repository_;
  std::string directory_;
};

}  // namespace

Result<Fetched> fetch_offered(const FetchSettings& settings, const ModelName& model, const FetchWatch& watch,
                              const Ask& ask, const Select& select) {
  LAPILLI_TRY(auto requests,
              Requests::make(settings.hub, settings.patience, settings.limits, watch.stopped, watch.note));
  auto fetched = Fetching(settings, model, watch, std::move(requests)).run(ask, select);
  if (!fetched && fetched.error().code != ErrorCode::cancelled)
    return std::move(fetched).error().in("fetching " + model.text());
  return fetched;
}

Result<Fetched> fetch(const FetchSettings& settings, const ModelName& model, const FetchWatch& watch) {
  const Ask ask = [&](Requests& requests) -> Result<Offer> {
    LAPILLI_TRY(const auto repository, ask_for(requests, model));
    const std::string files = settings.hub.endpoint + "/" + model.text() + "/resolve/" + repository.commit + "/";
    return Offer{repository, model.revision.empty() ? "main" : model.revision,
                 [files](const HubFile& file) { return files + file.name; }};
  };
  const Select select = [&](const Repository& repository) {
    return model.file.empty() ? select_files(repository) : select_file(repository, model.file);
  };
  return fetch_offered(settings, model, watch, ask, select);
}

}  // namespace lapilli::hub
