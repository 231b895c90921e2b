// The body of a request: in memory while it is small, in a file without a name once it is large.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace lapilli::server {

// One thread at a time uses it.
class Body {
 public:
  Body();
  explicit Body(std::string bytes);
  Body(Body&&) noexcept;
  Body& operator=(Body&&) noexcept;
  ~Body();

  // False if the disk takes no more.
  bool append(std::string_view bytes);
  [[nodiscard]] uint64_t size() const;
  // All of it; valid until the next append, and as long as this object. Empty if a file cannot be mapped, although
  // size() is not 0.
  [[nodiscard]] std::string_view view() const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace lapilli::server
