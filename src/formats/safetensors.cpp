// safetensors: u64 header size, JSON header {name: {dtype, shape, data_offsets}}, data. The header is parsed as a
// stream of events: memory is bounded by its size, duplicate names are noticed, and only the expected nesting is
// accepted.
#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>

#include "base/math.hpp"
#include "formats/quote.hpp"
#include "formats/readers.hpp"

namespace lapilli {
namespace {

constexpr uint64_t max_header_bytes = 100'000'000;  // limit of the format's own library

struct Entry {
  std::string name;
  std::optional<std::string> type;
  std::optional<std::vector<uint64_t>> shape, offsets;
};

// An event that returns false stops the parser; `problem` then says why.
class HeaderEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<Entry> entries;
  std::string problem;

  bool null() override { return (where_ == Where::top && name_ == "__metadata__") || other("null"); }
  bool boolean(bool) override { return other("a boolean"); }
  bool number_integer(number_integer_t) override { return other("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { return other("a number that is no 64-bit integer"); }
  bool binary(binary_t&) override { return other("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (list_ == nullptr) return other("a number");
    if (list_->size() >= (list_is_shape_ ? max_stored_rank : 2u))
      return stop(list_is_shape_ ? format("has more than %u dimensions", max_stored_rank)
                                 : "has more than two data_offsets");
    list_->push_back(value);
    return true;
  }

  bool string(string_t& value) override {
    if (where_ == Where::metadata) return true;
    if (where_ != Where::entry || key_ != "dtype") return other("text");
    entries.back().type = std::move(value);
    key_.clear();
    return true;
  }

  bool key(string_t& value) override {
    if (where_ == Where::top) {
      if (!names_.insert(value).second) return stop_at(value, "appears twice");
      name_ = std::move(value);
      return true;
    }
    if (where_ == Where::metadata) return true;
    const Entry& e = entries.back();
    const bool known = value == "dtype" || value == "shape" || value == "data_offsets";
    if (!known) return stop("has the unknown field " + quote_name(value));
    if ((value == "dtype" && e.type) || (value == "shape" && e.shape) || (value == "data_offsets" && e.offsets))
      return stop("gives " + value + " twice");
    key_ = std::move(value);
    return true;
  }

  bool start_object(std::size_t) override {
    switch (where_) {
      case Where::outside: where_ = Where::top; return true;
      case Where::top:
        if (name_ == "__metadata__") {
          where_ = Where::metadata;
        } else {
          where_ = Where::entry;
          entries.push_back({name_, {}, {}, {}});
        }
        return true;
      default: return stop("nests deeper than a header does");
    }
  }

  bool end_object() override {
    if (where_ == Where::entry) {
      const Entry& e = entries.back();
      if (!e.type || !e.shape || !e.offsets) return stop("lacks dtype, shape or data_offsets");
    }
    where_ = where_ == Where::top ? Where::outside : Where::top;
    return true;
  }

  bool start_array(std::size_t) override {
    if (where_ != Where::entry || list_ != nullptr || (key_ != "shape" && key_ != "data_offsets"))
      return stop("nests deeper than a header does");
    list_is_shape_ = key_ == "shape";
    list_ = list_is_shape_ ? &entries.back().shape.emplace() : &entries.back().offsets.emplace();
    key_.clear();
    return true;
  }

  bool end_array() override {
    if (!list_is_shape_ && list_->size() != 2) return stop("needs two data_offsets");
    list_ = nullptr;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    problem = format("the header is not valid JSON (at byte %u of it)", position);
    return false;
  }

 private:
  enum class Where { outside, top, entry, metadata } where_ = Where::outside;
  std::unordered_set<std::string> names_;
  std::string name_, key_;
  std::vector<uint64_t>* list_ = nullptr;
  bool list_is_shape_ = false;

  bool stop_at(std::string_view name, const std::string& why) {
    problem = "tensor " + quote_name(name) + " " + why;
    return false;
  }
  bool stop(const std::string& why) {
    if (where_ != Where::outside && !name_.empty()) return stop_at(name_, why);
    problem = "the header " + why;
    return false;
  }
  bool other(const char* what) {
    if (where_ == Where::metadata) return true;
    return stop(std::string("holds ") + what + " where dtype, shape and data_offsets are expected");
  }
};

std::optional<StoredType> type_from_name(const std::string& name) {
  for (uint32_t i = 0; i < stored_type_count; ++i)
    if (name == stored_type_name(static_cast<StoredType>(i))) return static_cast<StoredType>(i);
  return std::nullopt;
}

// Checks one entry against the data section, which begins at `data`, and makes its view.
Result<StoredTensor> make_tensor(const Entry& e, const File& file, uint64_t data) {
  const std::string& path = file.path();
  const uint64_t data_bytes = file.size() - data;
  const auto bad = [&](const std::string& why) {
    return fail(ErrorCode::invalid_data, "%s: tensor %s %s; the file is damaged or not what it claims to be", path,
                quote_name(e.name), why);
  };
  const auto type = type_from_name(*e.type);
  if (!type)
    return fail(ErrorCode::unsupported, "%s: tensor %s has the unknown dtype %s", path, quote_name(e.name),
                quote_name(*e.type));
  const uint64_t begin = (*e.offsets)[0], end = (*e.offsets)[1];
  if (begin > end) return bad(format("begins at %u, after its end at %u", begin, end));
  if (end > data_bytes) return bad(format("ends at %u, but the file has only %u bytes of data", end, data_bytes));
  StoredTensor t;
  t.name = e.name;
  t.type = *type;
  t.shape = *e.shape;
  uint64_t elements = 0, bytes = 0;
  if (!count_elements(t.shape, elements) || !checked_mul(elements, stored_bytes(*type), bytes))
    return bad("has a shape whose size overflows 64 bits");
  if (bytes != end - begin) return bad(format("has %u bytes for a shape that needs %u", end - begin, bytes));
  t.strides = row_major_strides(t.shape);
  set_range(t, file, data + begin, end - begin);
  return t;
}

Status check_overlaps(const std::vector<StoredTensor>& tensors, const std::string& path) {
  std::vector<const StoredTensor*> order;
  for (const auto& t : tensors)
    if (t.stored.bytes > 0) order.push_back(&t);
  std::sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->stored.offset < b->stored.offset; });
  for (size_t i = 1; i < order.size(); ++i)
    if (order[i - 1]->stored.offset + order[i - 1]->stored.bytes > order[i]->stored.offset)
      return fail(ErrorCode::invalid_data,
                  "%s: tensors %s and %s overlap; the file is damaged or not what it claims to be", path,
                  quote_name(order[i - 1]->name), quote_name(order[i]->name));
  return {};
}

Result<std::vector<Entry>> parse_header(std::span<const std::byte> header, const std::string& path) {
  HeaderEvents events;
  const char* text = reinterpret_cast<const char*>(header.data());
  bool parsed = false;
  try {
    parsed = nlohmann::json::sax_parse(text, text + header.size(), &events);
  } catch (const std::exception& e) {
    events.problem = std::string("the header cannot be read: ") + e.what();
  }
  if (!parsed) return fail(ErrorCode::invalid_data, "%s: %s", path, events.problem);
  return std::move(events.entries);
}

}  // namespace

Result<std::vector<StoredTensor>> read_safetensors(const File& file) {
  using ull = unsigned long long;
  const char* path = file.path().c_str();
  if (file.size() < 8)
    return fail(ErrorCode::invalid_data, "%s is truncated: a file of %u bytes holds no weights", path,
                (ull)file.size());
  LAPILLI_TRY(const auto start, file.view(0, std::min<uint64_t>(file.size(), 9)));
  uint64_t header_bytes = 0;
  for (size_t i = 8; i-- > 0;) header_bytes = header_bytes << 8 | std::to_integer<uint64_t>(start[i]);
  if (header_bytes > max_header_bytes)
    return fail(ErrorCode::invalid_data, "%s: a header of %u bytes is above the limit of %u; not a safetensors file?",
                path, (ull)header_bytes, (ull)max_header_bytes);
  if (header_bytes > file.size() - 8)
    return fail(ErrorCode::invalid_data, "%s is truncated: its header has %u bytes, the file only %u; fetch it again",
                path, (ull)header_bytes, (ull)file.size());
  if (header_bytes == 0 || start[8] != std::byte{'{'})
    return fail(ErrorCode::invalid_data, "%s: the header does not start with '{'; not a safetensors file", path);
  LAPILLI_TRY(const auto header, file.view(8, header_bytes));
  LAPILLI_TRY(const auto entries, parse_header(header, file.path()));
  std::vector<StoredTensor> tensors;
  tensors.reserve(entries.size());
  for (const auto& e : entries) {
    LAPILLI_TRY(auto t, make_tensor(e, file, 8 + header_bytes));
    tensors.push_back(std::move(t));
  }
  LAPILLI_CHECK(check_overlaps(tensors, file.path()));
  return tensors;
}

}  // namespace lapilli
