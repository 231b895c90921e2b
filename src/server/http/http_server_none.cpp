// Replaces http_server.cpp in builds without Boost.
#include "server/http/http_server.hpp"

namespace lapilli::server {

struct HttpServer::Impl {};

HttpServer::HttpServer() = default;
HttpServer::~HttpServer() = default;

bool HttpServer::can_serve() { return false; }

namespace {
constexpr const char* kMissing =
    "this lapilli was built without Boost's headers and serves nothing: install them (Debian: libboost-dev), configure "
    "and "
    "build again";
}

std::string HttpServer::open(const HttpOptions&, HttpHandler&) { return kMissing; }

std::string HttpServer::open_streams(const std::string&, uint16_t, StreamHandler&) { return kMissing; }
uint16_t HttpServer::port() const { return 0; }
uint16_t HttpServer::stream_port() const { return 0; }
void HttpServer::start() {}
void HttpServer::stop(double) {}
HttpServer::Counts HttpServer::counts() const { return {}; }

}  // namespace lapilli::server
