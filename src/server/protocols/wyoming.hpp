// Wyoming, the protocol of speech for Home Assistant: https://github.com/OHF-Voice/wyoming. One connection may bring
// any number of recordings, each behind a "transcribe" that may name a model and a language for it alone. The protocol
// has no keys.
#pragma once

#include <memory>

#include "server/http/stream.hpp"
#include "server/work/desk.hpp"

namespace lapilli::server {

class Wyoming final : public StreamHandler {
 public:
  // The desk outlives it.
  explicit Wyoming(Desk& desk) : desk_(desk) {}
  std::unique_ptr<StreamSession> connected(std::shared_ptr<StreamLink> link) override;

 private:
  Desk& desk_;
};

}  // namespace lapilli::server
