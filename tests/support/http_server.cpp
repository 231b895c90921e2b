#include "support/http_server.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <sstream>

namespace lapilli::test {

namespace {

// A listening socket on a free port of the loopback.
int listen_somewhere(int& port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(listen(fd, 16), 0);
  EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  port = ntohs(address.sin_port);
  return fd;
}

bool read_head(int fd, std::string& head) {
  char byte = 0;
  while (!head.ends_with("\r\n\r\n")) {
    if (recv(fd, &byte, 1, 0) != 1) return false;
    head += byte;
  }
  return true;
}

ServerRequest parse(const std::string& head) {
  ServerRequest request;
  std::istringstream stream(head);
  std::string method, line;
  stream >> method >> request.target;
  std::getline(stream, line);
  while (std::getline(stream, line) && line.size() > 1) {
    const size_t colon = line.find(':');
    std::string name = line.substr(0, colon);
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    request.headers[name] = line.substr(colon + 2, line.size() - colon - 3);
  }
  return request;
}

void send_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    text.remove_prefix(static_cast<size_t>(sent));
  }
}

void send_reply(int fd, const ServerReply& reply) {
  std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " Answer\r\nConnection: close\r\n";
  for (const auto& [name, value] : reply.headers) head += name + ": " + value + "\r\n";
  const uint64_t length = reply.stated_length.value_or(reply.body.size());
  if (!reply.no_length) head += "Content-Length: " + std::to_string(length) + "\r\n";
  send_all(fd, head + "\r\n");
  send_all(fd, std::string_view(reply.body).substr(0, reply.cut_after.value_or(reply.body.size())));
}

}  // namespace

HttpServer::HttpServer(Answer answer) : answer_(std::move(answer)) {
  listener_ = listen_somewhere(port_);
  accepting_ = std::thread([this] { accept_all(); });
}

HttpServer::~HttpServer() {
  ends_ = true;
  accepting_.join();
  for (std::thread& connection : connections_) connection.join();
  close(listener_);
}

void HttpServer::accept_all() {
  while (!ends_) {
    pollfd wait{listener_, POLLIN, 0};
    if (poll(&wait, 1, 20) <= 0) continue;
    const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection >= 0) connections_.emplace_back([this, connection] { serve(connection); });
  }
}

void HttpServer::serve(int connection) {
  std::string head;
  if (read_head(connection, head)) {
    ServerReply reply;
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(parse(head));
      reply = answer_(requests_.back());
    }
    if (!reply.silent) send_reply(connection, reply);
  }
  // The rest of what the other side sends is read; else it would see the connection reset before it reads the answer.
  shutdown(connection, SHUT_WR);
  char rest[256];
  while (recv(connection, rest, sizeof rest, 0) > 0) {
  }
  close(connection);
}

std::vector<ServerRequest> HttpServer::requests() {
  const std::lock_guard lock(mutex_);
  return requests_;
}

int closed_port() {
  int port = 0;
  close(listen_somewhere(port));
  return port;
}

}  // namespace lapilli::test
