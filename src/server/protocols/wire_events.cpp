#include "server/protocols/wire_events.hpp"

#include <algorithm>
#include <utility>

namespace lapilli::server {

namespace {

// Clients are meant that know `data_length`, as Home Assistant's do; an older one reads no data of an event.
constexpr const char* kWireVersion = "1.5.4";

}  // namespace

bool WireReader::fail(std::string why) {
  wrong_ = std::move(why);
  bytes_.clear();
  return false;
}

// The bytes stay until the next call.
std::string_view WireReader::take(size_t bytes) {
  at_ += bytes;
  return std::string_view(bytes_).substr(at_ - bytes, bytes);
}

bool WireReader::read_length(const nlohmann::json& line, const char* name, size_t most, size_t& length) {
  const auto found = line.find(name);
  if (found == line.end() || found->is_null()) return true;
  if (!found->is_number_unsigned()) return fail(std::string(name) + " of an event is no number of bytes");
  const auto stated = found->get<uint64_t>();
  if (stated > most)
    return fail(std::string(name) + " of an event is " + std::to_string(stated) + "; at most " + std::to_string(most) +
                " bytes are taken");
  length = static_cast<size_t>(stated);
  return true;
}

// False if the line has not come whole, or is none.
bool WireReader::read_head() {
  const size_t end = bytes_.find('\n', std::max(at_, searched_));
  searched_ = bytes_.size();
  if (end == std::string::npos ? bytes_.size() - at_ > limits_.line : end - at_ > limits_.line)
    return fail("the line of an event has more than " + std::to_string(limits_.line) + " bytes");
  if (end == std::string::npos) return false;
  searched_ = 0;
  nlohmann::json line;
  if (const Refusal refused = parse_json_object(take(end + 1 - at_), line); refused) return fail(refused.message);
  Head head;
  const auto type = line.find("type");
  if (type == line.end() || !type->is_string()) return fail("an event has no type");
  head.event.type = type->get<std::string>();
  if (const auto data = line.find("data"); data != line.end() && data->is_object()) head.event.data = *data;
  if (!read_length(line, "data_length", limits_.data, head.data)) return false;
  if (!read_length(line, "payload_length", limits_.payload, head.payload)) return false;
  head_ = std::move(head);
  return true;
}

bool WireReader::read_data() {
  if (head_->data == 0) return true;
  nlohmann::json data;
  if (const Refusal refused = parse_json_object(take(head_->data), data); refused) return fail(refused.message);
  head_->event.data.update(data);
  return true;
}

std::optional<WireEvent> WireReader::next() {
  if (!wrong_.empty() || (!head_ && !read_head())) return std::nullopt;
  if (bytes_.size() - at_ < head_->data + head_->payload || !read_data()) return std::nullopt;
  WireEvent event = std::move(head_->event);
  event.payload = take(head_->payload);
  head_.reset();
  // Many small events in one piece must not move the rest of it each time.
  if (at_ == bytes_.size() || at_ > size_t{1} << 16) {
    bytes_.erase(0, at_);
    at_ = searched_ = 0;
  }
  return event;
}

std::string wire_event(std::string_view type, const Json& data, std::string_view payload) {
  const std::string text = data.empty() ? "" : json_line(data);
  Json line = {{"type", type}, {"version", kWireVersion}};
  if (!text.empty()) line["data_length"] = text.size();
  if (!payload.empty()) line["payload_length"] = payload.size();
  return json_line(line) + "\n" + text + std::string(payload);
}

}  // namespace lapilli::server
