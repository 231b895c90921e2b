#include "fetched/cache.hpp"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/json_depth.hpp"
#include "base/path.hpp"

namespace lapilli::hub {

namespace {

using Json = nlohmann::json;

constexpr size_t kMostManifestBytes = 1 << 20;

std::string string_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

Json json_of(const HubFile& file) {
  const bool large = !file.sha256.empty();
  return {
      {"name", file.name}, {"size", file.size}, {large ? "sha256" : "git_blob", large ? file.sha256 : file.git_blob}};
}

bool read_entry(const Json& entry, HubFile& file) {
  if (!entry.is_object()) return false;
  const auto size = entry.find("size");
  if (size == entry.end() || !size->is_number_unsigned()) return false;
  file = {string_at(entry, "name"), size->get<uint64_t>(), string_at(entry, "sha256"), string_at(entry, "git_blob")};
  return is_file_name(file.name);
}

bool is_there(const std::string& directory, const HubFile& file) {
  const std::string path = directory + "/" + file.name;
  return file_exists(path) && file_size(path) == file.size;
}

}  // namespace

Result<std::string> models_directory() {
  if (const std::string own = cache_directory(); !own.empty()) return own + "/models";
  return fail(ErrorCode::not_found, "there is no place for models: set LAPILLI_CACHE to a directory");
}

Status write_manifest(const std::string& directory, const Manifest& manifest) {
  Json json = {{"name", manifest.name},       {"revision", manifest.commit}, {"asked_for", manifest.asked_for},
               {"license", manifest.licence}, {"fetched", manifest.fetched}, {"files", Json::array()}};
  for (const HubFile& file : manifest.files) json["files"].push_back(json_of(file));
  const std::string text = json.dump(1) + "\n", path = directory + "/" + kManifest, part = path + ".part";
  std::FILE* stream = open_stream(part, "wb");
  const bool written = stream && std::fwrite(text.data(), 1, text.size(), stream) == text.size();
  const bool closed = stream && std::fclose(stream) == 0;
  if (written && closed && rename_file(part, path)) return {};
  return fail(ErrorCode::out_of_memory, "%s cannot be written: %s", path, std::strerror(errno));
}

std::optional<Manifest> read_manifest(const std::string& directory) {
  const std::string path = directory + "/" + kManifest;
  if (!file_exists(path)) return {};
  const auto text = read_text_file(path, kMostManifestBytes);
  if (!text || json_nests_too_deep(*text)) return {};
  const Json json = Json::parse(*text, nullptr, false);
  const auto files = json.is_object() ? json.find("files") : json.end();
  if (!json.is_object() || files == json.end() || !files->is_array()) return {};
  Manifest manifest{string_at(json, "name"),    string_at(json, "revision"), string_at(json, "asked_for"),
                    string_at(json, "license"), string_at(json, "fetched"),  {}};
  for (const Json& entry : *files) {
    HubFile file;
    if (!read_entry(entry, file) || !is_there(directory, file)) return {};
    manifest.files.push_back(std::move(file));
  }
  return manifest;
}

bool is_of_revision(const std::string& commit, const std::string& asked_for, const std::string& revision) {
  return revision.empty() || asked_for == revision ||
         (revision.size() >= kShortestCommit && commit.starts_with(revision));
}

std::string directory_of(const std::string& models, const ModelName& model, const std::string& commit) {
  return models + "/" + model.text() + "/" + commit;
}

std::string find_fetched(const std::string& models, const ModelName& model) {
  std::string found, latest;
  for (const std::string& commit : names_in(models + "/" + model.text())) {
    const std::string directory = directory_of(models, model, commit);
    const auto manifest = read_manifest(directory);
    if (!manifest || !is_of_revision(manifest->commit, manifest->asked_for, model.revision) ||
        manifest->fetched < latest)
      continue;
    latest = manifest->fetched;
    found = directory;
  }
  return found;
}

std::string path_in(const std::string& directory, const std::string& file) {
  if (directory.empty()) return "";
  if (!file.empty()) return file_exists(directory + "/" + file) ? directory + "/" + file : "";
  const auto manifest = read_manifest(directory);
  const std::string alone = manifest && manifest->files.size() == 1 ? manifest->files[0].name : "";
  return alone.empty() || alone.ends_with(".json") ? directory : directory + "/" + alone;  // settings are no model
}

std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
#if defined(_WIN32)
  gmtime_s(&utc, &now);
#else
  gmtime_r(&now, &utc);
#endif
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

}  // namespace lapilli::hub
