#include "hub/repository.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/json_depth.hpp"
#include "hub/url.hpp"

namespace lapilli::hub {

namespace {

using Json = nlohmann::json;

constexpr size_t kMostBytes = size_t{16} << 20;

std::string text_of(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

bool is_hash(const std::string& text, size_t digits) { return is_commit(text) && text.size() == digits; }

bool read_size(const Json& object, uint64_t& size) {
  const auto found = object.find("size");
  if (found == object.end() || !found->is_number_unsigned()) return false;
  size = found->get<uint64_t>();
  return true;
}

bool read_file(const Json& sibling, HubFile& file) {
  if (!sibling.is_object()) return false;
  file.name = text_of(sibling, "rfilename");
  const auto large = sibling.find("lfs");
  if (large != sibling.end() && large->is_object()) {
    file.sha256 = text_of(*large, "sha256");
    return is_file_name(file.name) && is_hash(file.sha256, 64) && read_size(*large, file.size);
  }
  file.git_blob = text_of(sibling, "blobId");
  return is_file_name(file.name) && is_hash(file.git_blob, 40) && read_size(sibling, file.size);
}

std::string lower_case(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

// Leaves out the folders that cannot lie beside the rest everywhere: named like a file, or like an earlier folder in
// another case.
void drop_clashing_folders(std::vector<HubFile>& files) {
  std::map<std::string, std::string> taken;  // in lower case: the first folder of that name; "" for a file
  for (const HubFile& file : files)
    if (file.name.find('/') == std::string::npos) taken[lower_case(file.name)] = "";
  std::erase_if(files, [&](const HubFile& file) {
    const size_t slash = file.name.find('/');
    if (slash == std::string::npos) return false;
    const std::string folder = file.name.substr(0, slash);
    return taken.try_emplace(lower_case(folder), folder).first->second != folder;
  });
}

// The text is shown on a terminal.
std::string printable(std::string text) {
  constexpr size_t kMost = 100;
  for (char& c : text) c = c < ' ' || c > '~' ? '?' : c;
  return text.substr(0, kMost);
}

std::string licence_of(const Json& json) {
  const auto card = json.find("cardData");
  if (card == json.end() || !card->is_object()) return "";
  const auto licence = card->find("license");
  if (licence == card->end()) return "";
  std::string text;
  for (const Json& one : licence->is_array() ? *licence : Json::array({*licence}))
    if (one.is_string()) text += (text.empty() ? "" : ", ") + one.get<std::string>();
  // The licence "other" is explained by these fields.
  const std::string name = text_of(*card, "license_name"), link = text_of(*card, "license_link");
  if (!name.empty()) text += " (" + name + ")";
  if (!link.empty()) text += " " + link;
  return printable(text);
}

}  // namespace

Result<Repository> read_repository(std::string_view text) {
  const Json json = json_nests_too_deep(text) ? Json() : Json::parse(text, nullptr, false);
  if (!json.is_object()) return fail(ErrorCode::invalid_data, "the hub's answer is no JSON object");
  Repository repository;
  repository.commit = text_of(json, "sha");
  if (!is_commit(repository.commit)) return fail(ErrorCode::invalid_data, "the hub's answer names no commit");
  repository.licence = licence_of(json);
  const auto siblings = json.find("siblings");
  if (siblings == json.end() || !siblings->is_array())
    return fail(ErrorCode::invalid_data, "the hub's answer lists no files");
  for (const Json& sibling : *siblings) {
    HubFile file;
    if (read_file(sibling, file)) repository.files.push_back(std::move(file));
  }
  drop_clashing_folders(repository.files);
  return repository;
}

Result<Repository> ask_for(Requests& requests, const ModelName& model) {
  const std::string revision = model.revision.empty() ? "main" : model.revision;
  const std::string url =
      requests.hub().endpoint + "/api/models/" + model.text() + "/revision/" + escape_slashes(revision) + "?blobs=true";
  const std::string what = model.text() + (model.revision.empty() ? "" : "@" + revision);
  std::string body;
  LAPILLI_CHECK(requests.repeat([&] {
    body.clear();
    const Receive receive = [&body](const HttpHead&, std::string_view bytes) {
      body += bytes;
      return body.size() <= kMostBytes;
    };
    return requests.get(url, 0, receive, what);
  }));
  auto repository = read_repository(body);
  if (!repository) return std::move(repository).error().in(what + " at " + requests.hub().endpoint);
  return repository;
}

}  // namespace lapilli::hub
