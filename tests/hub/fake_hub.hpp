// A hub on this machine: one model, whose large files lie at a second server, as at the real one's.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hub/digest.hpp"
#include "support/http_server.hpp"

namespace lapilli::test {

inline constexpr const char* kCommit = "0123456789abcdef0123456789abcdef01234567";

inline std::string sha256_of(const std::string& text) {
  hub::Digest digest(hub::Digest::Kind::sha256);
  digest.update(text);
  return digest.hex();
}

inline std::string git_blob_of(const std::string& text) {
  hub::Digest digest(hub::Digest::Kind::sha1);
  digest.update("blob " + std::to_string(text.size()) + '\0' + text);
  return digest.hex();
}

// Bytes that differ from place to place.
inline std::string content(size_t bytes, unsigned seed = 1) {
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>((seed = seed * 1664525 + 1013904223) >> 24);
  return text;
}

class FakeHub {
 public:
  // A test's own answer; nothing: the hub answers.
  using Instead = std::function<std::optional<ServerReply>(const ServerRequest&)>;

  std::string name = "owner/model";
  nlohmann::json card = {{"license", "cc-by-4.0"}};
  std::map<std::string, std::string> small, large;
  std::function<void(nlohmann::json&)> change_answer = [](nlohmann::json&) {};
  Instead at_hub = [](const ServerRequest&) { return std::nullopt; };
  Instead at_store = [](const ServerRequest&) { return std::nullopt; };

  // A model that Lapilli could read.
  FakeHub() {
    small = {{"config.json", "{\"model_type\": \"marian\"}\n"}, {"vocab.json", "{}"}, {"README.md", "# Model"}};
    large = {{"model.safetensors", content(300000)}, {"source.spm", content(5000, 2)}};
  }

  std::string address() { return hub_.address(); }
  std::vector<ServerRequest> at_hub_asked() { return hub_.requests(); }
  std::vector<ServerRequest> at_store_asked() { return store_.requests(); }
  // How often a file was asked for, at either server.
  size_t count(const std::string& file) {
    size_t n = 0;
    for (const auto& requests : {at_hub_asked(), at_store_asked()})
      for (const ServerRequest& request : requests) n += request.target.ends_with("/" + file);
    return n;
  }

  // As a server that knows ranges.
  static ServerReply send(const ServerRequest& request, const std::string& body) {
    const std::string range = request.header("range");
    if (!range.starts_with("bytes=")) return {200, {}, body, {}, {}};
    const size_t from = std::stoul(range.substr(6));
    if (from >= body.size()) return {416, {}, "", {}, {}};
    const std::string last = std::to_string(body.size() - 1), all = std::to_string(body.size());
    return {
        206, {{"Content-Range", "bytes " + std::to_string(from) + "-" + last + "/" + all}}, body.substr(from), {}, {}};
  }

 private:
  nlohmann::json siblings() const {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& [file, text] : small)
      list.push_back({{"rfilename", file}, {"size", text.size()}, {"blobId", git_blob_of(text)}});
    for (const auto& [file, text] : large)
      list.push_back({{"rfilename", file},
                      {"size", text.size()},
                      {"blobId", git_blob_of("pointer")},
                      {"lfs", {{"sha256", sha256_of(text)}, {"size", text.size()}, {"pointerSize", 134}}}});
    return list;
  }

  ServerReply describe() const {
    nlohmann::json answer = {{"id", name}, {"sha", kCommit}, {"siblings", siblings()}, {"cardData", card}};
    change_answer(answer);
    return {200, {{"Content-Type", "application/json"}}, answer.dump(), {}, {}};
  }

  ServerReply answer_at_hub(const ServerRequest& request) {
    if (auto own = at_hub(request)) return *own;
    if (request.target.starts_with("/api/models/" + name + "/revision/")) return describe();
    const std::string files = "/" + name + "/resolve/" + kCommit + "/";
    const std::string file = request.target.starts_with(files) ? request.target.substr(files.size()) : "";
    if (small.contains(file)) return send(request, small[file]);
    if (large.contains(file)) return {302, {{"Location", store_.address() + "/store/" + file}}, "moved", {}, {}};
    return {404, {}, "not here", {}, {}};
  }

  ServerReply answer_at_store(const ServerRequest& request) {
    if (auto own = at_store(request)) return *own;
    const std::string file = request.target.substr(std::string("/store/").size());
    return large.contains(file) ? send(request, large[file]) : ServerReply{404, {}, "", {}, {}};
  }

  HttpServer store_{[this](const ServerRequest& request) { return answer_at_store(request); }};
  HttpServer hub_{[this](const ServerRequest& request) { return answer_at_hub(request); }};
};

}  // namespace lapilli::test
