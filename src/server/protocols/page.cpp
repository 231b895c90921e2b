// The page at /: files that the program holds. Its own routes are in page_api.cpp.
#include <algorithm>
#include <span>
#include <string>

#include "server/protocols/json_body.hpp"
#include "server/protocols/page_files.hpp"
#include "server/protocols/protocol.hpp"

namespace lapilli::server {

Protocol page();

namespace {

// Scripts, styles and requests of this server alone; pictures also of what the page itself has made.
constexpr const char* kPagePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PageFile* find_page_file(std::string_view name) {
  const std::span files(kPageFiles, kPageFileCount);
  const auto found = std::ranges::find_if(files, [&](const PageFile& file) { return name == file.name; });
  return found == files.end() ? nullptr : &*found;
}

// Browsers ask again each time and get the bytes only when they have changed: a new program shows its own page.
Fields page_headers(const PageFile& file) {
  return {{"ETag", "\"" + std::string(file.hash) + "\""},
          {"Cache-Control", "no-cache"},
          {"Content-Security-Policy", kPagePolicy},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"Permissions-Policy", "microphone=(self), camera=(), geolocation=()"}};
}

void answer_page_file(Exchange& exchange, const PageFile& file) {
  const bool known = exchange.request().header("if-none-match").find(file.hash) != std::string_view::npos;
  Response response{known ? 304 : 200, known ? "" : std::string(file.view()), file.type, page_headers(file)};
  exchange.answer(std::move(response));
}

Response page_error(int status, const std::string& message, const std::string&) {
  return {status, message + "\n", "text/plain; charset=utf-8", {}};
}

void show_page(Desk&, const std::shared_ptr<Exchange>& exchange) {
  answer_page_file(*exchange, *find_page_file("index.html"));
}

void show_icon(Desk&, const std::shared_ptr<Exchange>& exchange) {
  answer_page_file(*exchange, *find_page_file("icon.svg"));
}

void show_page_file(Desk&, const std::shared_ptr<Exchange>& exchange) {
  constexpr std::string_view kFolder = "/page/";
  const PageFile* file = find_page_file(std::string_view(exchange->request().path).substr(kFolder.size()));
  if (file == nullptr) return exchange->answer(page_error(404, "the page has no such file", ""));
  answer_page_file(*exchange, *file);
}

std::string no_key(const Request&) { return ""; }

}  // namespace

Protocol page() {
  Protocol protocol;
  protocol.name = "page";
  protocol.routes = {{"GET", "/", &show_page, 0, false},
                     {"GET", "/favicon.ico", &show_icon, 0, false},
                     {"GET", "/page/*", &show_page_file, 0, false}};
  protocol.error = &page_error;
  protocol.key = &no_key;
  return protocol;
}

}  // namespace lapilli::server
