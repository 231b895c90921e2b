#include "hub/requests.hpp"

#include <algorithm>
#include <thread>

#include "base/files.hpp"
#include "base/path.hpp"
#include "fetched/huggingface_cache.hpp"
#include "hub/url.hpp"

namespace lapilli::hub {

namespace {

constexpr int kMostRedirects = 8;
constexpr size_t kMostErrorBytes = 1 << 16;  // of an error's body, which is discarded

using What = Requests::Try::What;

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

std::string without_blanks(const std::string& text) {
  constexpr const char* kBlanks = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlanks);
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string token_file() {
  if (const std::string file = environment("HF_TOKEN_PATH"); !file.empty()) return file;
  const std::string home = huggingface_home();
  return home.empty() ? "" : home + "/token";
}

// The token becomes part of a header.
bool is_token(const std::string& token) {
  return std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 127; });
}

Result<std::string> find_token() {
  std::string token = without_blanks(environment("HF_TOKEN")), from = "HF_TOKEN";
  if (token.empty() && file_exists(token_file())) {
    from = token_file();
    LAPILLI_TRY(const auto text, read_text_file(from, 4096));
    token = without_blanks(text);
  }
  if (!is_token(token)) return fail(ErrorCode::invalid_argument, "%s holds no token of a hub", from);
  return token;
}

bool is_set(const char* name) {
  const std::string value = environment(name);
  return !value.empty() && value != "0";
}

Requests::Try failed(ErrorCode code, const std::string& message) { return {What::failed, {code, message}, {}, false}; }

}  // namespace

Result<Hub> hub_of_environment() {
  for (const char* name : {"HF_HUB_OFFLINE", "LAPILLI_OFFLINE"}) {
    if (is_set(name)) return fail(ErrorCode::invalid_argument, "%s is set, so nothing is fetched", name);
  }
  Hub hub;
  std::string endpoint = without_blanks(environment("HF_ENDPOINT"));
  while (endpoint.ends_with('/')) endpoint.pop_back();
  if (!endpoint.empty() && origin_of(endpoint).empty())
    return fail(ErrorCode::invalid_argument, "HF_ENDPOINT is %s, which is no address such as https://mirror.example",
                endpoint);
  if (!endpoint.empty()) hub.endpoint = endpoint;
  LAPILLI_TRY(hub.token, find_token());
  return hub;
}

Requests::Requests(Hub hub, const Patience& patience, Stopped stopped, Note note, HttpClient client)
    : hub_(std::move(hub)),
      patience_(patience),
      stopped_(std::move(stopped)),
      note_(std::move(note)),
      client_(std::move(client)) {}

Result<Requests> Requests::make(Hub hub, const Patience& patience, const HttpLimits& limits, Stopped stopped,
                                Note note) {
  LAPILLI_TRY(auto client, HttpClient::make(limits));
  return Requests(std::move(hub), patience, std::move(stopped), std::move(note), std::move(client));
}

// Anyone on an unencrypted connection, or the target of a redirect, could use the token.
std::string Requests::token_for(const std::string& origin) const {
  const bool own = origin == origin_of(hub_.endpoint);
  return own && (is_encrypted(origin) || is_loopback(origin)) ? hub_.token : "";
}

HttpAnswer Requests::follow(const std::string& url, uint64_t from, const Receive& receive) {
  std::string at = url;
  for (int redirects = 0; redirects <= kMostRedirects; ++redirects) {
    size_t unread = 0;
    const Receive checked = [&](const HttpHead& head, std::string_view bytes) {
      if (head.status < 300) return receive(head, bytes);
      unread += bytes.size();
      return unread <= kMostErrorBytes;
    };
    HttpAnswer answer = client_.get({at, token_for(origin_of(at)), from}, checked, stopped_);
    if (!is_redirect(answer.head.status)) return answer;
    const std::string to = origin_of(answer.head.location);
    if (to.empty() || (is_encrypted(origin_of(at)) && !is_encrypted(to)))
      return {HttpAnswer::End::failed, {}, "it redirects to a place that is not followed: " + answer.head.location};
    at = answer.head.location;
  }
  return {HttpAnswer::End::failed, {}, "it redirects again and again"};
}

Requests::Try Requests::judge(const HttpAnswer& answer, const std::string& what) {
  using End = HttpAnswer::End;
  const std::string at = what + " at " + hub_.endpoint;
  const int status = answer.head.status;
  if (answer.end == End::stopped) return failed(ErrorCode::cancelled, "interrupted");
  const bool tried_before = reached_;
  reached_ = reached_ || status != 0;
  if (status == 401)
    return failed(ErrorCode::not_found, at + " is not there, or is not for everybody (401): look at its name; for one "
                                             "that is private or asks to be agreed to, set HF_TOKEN to your token");
  if (status == 403)
    return failed(ErrorCode::not_found, at + " is refused (403): agree to its conditions at " + hub_.endpoint +
                                            " and set HF_TOKEN to a token of the same account");
  if (status == 404) return failed(ErrorCode::not_found, at + " is not there (404); look at its name");
  if (status == 408 || status == 429 || status >= 500) {
    Try again{What::again, {ErrorCode::not_found, at + ": the hub is busy or broken (" + std::to_string(status) + ")"}};
    if (answer.head.retry_after > 0)
      again.wait = std::chrono::seconds(std::min<uint64_t>(answer.head.retry_after, 1e6));
    return again;
  }
  if (status >= 300 || (status > 0 && status < 200))
    return failed(ErrorCode::invalid_data, at + ": the hub answers " + std::to_string(status) + " " + answer.why);
  if (answer.end == End::complete) return {};
  const std::string message = at + ": " + answer.why;
  if (answer.end == End::unreachable && !tried_before)
    return failed(ErrorCode::not_found, message + "; is the network there? HF_ENDPOINT may name a mirror");
  if (answer.end == End::failed || answer.end == End::refused) return failed(ErrorCode::invalid_data, message);
  return {What::again, {ErrorCode::not_found, message}, {}, false};
}

Requests::Try Requests::get(const std::string& url, uint64_t from, const Receive& receive, const std::string& what) {
  return judge(follow(url, from, receive), what);
}

// False if interrupted.
bool Requests::pause(std::chrono::milliseconds wait) const {
  const auto end = std::chrono::steady_clock::now() + wait;
  while (!stopped()) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left <= left.zero()) return true;
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, std::chrono::milliseconds(100)));
  }
  return false;
}

Status Requests::repeat(const std::function<Try()>& one) {
  int left = patience_.tries;
  std::chrono::milliseconds own = patience_.first;
  while (true) {
    Try tried = one();
    if (tried.what == What::done) return {};
    if (tried.advanced) {
      left = patience_.tries;
      own = patience_.first;
    }
    if (tried.what == What::failed || --left <= 0) return std::move(tried.error);
    const std::chrono::milliseconds wait = std::max(own, tried.wait.value_or(own));
    if (tried.wait && wait > patience_.longest)
      return fail(tried.error.code, "%s; it asks to wait %d seconds: try again later", tried.error.message,
                  wait.count() / 1000);
    if (note_) note_(tried.error.message + format("; next try in %.1f s", static_cast<double>(wait.count()) / 1000));
    if (!pause(wait)) return fail(ErrorCode::cancelled, "interrupted");
    own = std::min(own * 2, patience_.longest);
  }
}

}  // namespace lapilli::hub
