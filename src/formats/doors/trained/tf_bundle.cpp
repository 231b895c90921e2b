#include "formats/doors/trained/tf_bundle.hpp"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "base/math.hpp"
#include "base/protobuf_reader.hpp"
#include "formats/doors/trained/tf_table.hpp"
#include "formats/quote.hpp"
#include "formats/readers.hpp"

namespace lapilli::doors::trained {

namespace {

constexpr uint64_t kMostIndexBytes = uint64_t{64} << 20, kMostShards = 4096;

struct BundleEntry {
  uint64_t type = 0, shard = 0, offset = 0, bytes = 0, sum = 0;
  std::vector<uint64_t> shape;
  bool slices = false;
};

// The size of a dimension, which has a name, too.
bool read_dimension(std::string_view in, uint64_t& size) {
  WireReader fields(in);
  for (WireField f; fields.next(f);)
    if (f.number == 1) size = f.value;
  return !fields.failed();
}

bool read_shape(std::string_view in, std::vector<uint64_t>& shape) {
  WireReader fields(in);
  for (WireField f; fields.next(f);) {
    if (f.number != 2) continue;
    uint64_t size = 0;
    if (!read_dimension(f.bytes, size)) return false;
    if (size > uint64_t{1} << 40 || shape.size() == max_stored_rank) return false;  // negative ones are large here
    shape.push_back(size);
  }
  return !fields.failed();
}

bool read_entry(std::string_view in, BundleEntry& e) {
  WireReader fields(in);
  for (WireField f; fields.next(f);) {
    switch (f.number) {
      case 1: e.type = f.value; break;
      case 2:
        if (!read_shape(f.bytes, e.shape)) return false;
        break;
      case 3: e.shard = f.value; break;
      case 4: e.offset = f.value; break;
      case 5: e.bytes = f.value; break;
      case 6: e.sum = f.value; break;
      case 7: e.slices = true; break;
      default: break;
    }
  }
  return !fields.failed();
}

struct Placed {
  StoredTensor tensor;
  BundleEntry entry;
};

struct TypeName {
  uint64_t number;
  const char* name;
  std::optional<StoredType> type;  // none: not read
};
constexpr TypeName kTypes[] = {{1, "float", StoredType::f32},     {2, "double", StoredType::f64},
                               {3, "int32", StoredType::i32},     {9, "int64", StoredType::i64},
                               {10, "bool", StoredType::boolean}, {7, "string", std::nullopt},
                               {14, "bfloat16", std::nullopt},    {19, "half", std::nullopt}};

class BundleReader {
 public:
  BundleReader(const Files& files, std::string prefix) : files_(files), prefix_(std::move(prefix)) {}

  Result<std::vector<StoredTensor>> read(const std::function<bool(const std::string&)>& wanted) {
    LAPILLI_TRY(const auto index, read_text_file(path(), kMostIndexBytes));
    LAPILLI_TRY(const auto entries, read_table(index, path().path()));
    if (entries.empty() || !entries[0].key.empty()) return damaged("has no header");
    LAPILLI_CHECK(read_header(entries[0].value));
    std::vector<Placed> placed;
    std::unordered_set<std::string> seen;
    for (size_t i = 1; i < entries.size(); ++i) {
      if (!wanted(entries[i].key)) continue;
      if (!seen.insert(entries[i].key).second) return damaged("has tensor " + quote_name(entries[i].key) + " twice");
      LAPILLI_TRY(auto tensor, place(entries[i]));
      placed.push_back(std::move(tensor));
    }
    LAPILLI_CHECK(check_apart(placed));
    return check_sums(std::move(placed));
  }

 private:
  [[nodiscard]] FileName path() const { return files_ / (prefix_ + ".index"); }
  [[nodiscard]] Failure damaged(const std::string& what) const {
    return fail(ErrorCode::invalid_data, "%s %s; the checkpoint is damaged or another program's", path(), what);
  }
  Status read_header(std::string_view in) {
    uint64_t endianness = 0;
    WireReader fields(in);
    for (WireField f; fields.next(f);) {
      if (f.number == 1) shards_ = f.value;
      if (f.number == 2) endianness = f.value;
    }
    if (fields.failed()) return damaged("has a damaged header");
    if (endianness != 0) return damaged("was written on a big-endian machine, which is not read");
    if (shards_ == 0 || shards_ > kMostShards) return damaged(format("says that it has %u data files", shards_));
    data_.resize(shards_);
    return {};
  }
  Result<File> shard(uint64_t number, const std::string& what) {
    if (number >= shards_) return damaged(what + format(" lies in data file %u of %u", number, shards_));
    if (!data_[number]) {
      const FileName name = files_ / format("%s.data-%05u-of-%05u", prefix_, number, shards_);
      if (!name.there()) return damaged(what + " lies in " + quote_name(name.path()) + ", which is not there");
      LAPILLI_TRY(data_[number], File::open(name));
    }
    return *data_[number];
  }
  // Ranges that lie over each other would let a small file ask for sums over any number of bytes.
  [[nodiscard]] Status check_apart(std::vector<Placed>& placed) const {
    std::ranges::sort(placed, {}, [](const Placed& p) { return std::pair(p.entry.shard, p.entry.offset); });
    const Placed* before = nullptr;
    for (const Placed& p : placed) {
      if (p.entry.bytes == 0) continue;
      if (before && before->entry.shard == p.entry.shard && p.entry.offset < before->entry.offset + before->entry.bytes)
        return damaged("has tensor " + quote_name(p.tensor.name) + ", which lies over " +
                       quote_name(before->tensor.name));
      before = &p;
    }
    return {};
  }
  [[nodiscard]] Result<std::vector<StoredTensor>> check_sums(std::vector<Placed> placed) const {
    std::vector<StoredTensor> tensors;
    for (Placed& p : placed) {
      LAPILLI_CHECK(check_sum(p.tensor, p.entry, "has tensor " + quote_name(p.tensor.name) + ", which"));
      tensors.push_back(std::move(p.tensor));
    }
    return tensors;
  }
  Result<Placed> place(const TableEntry& entry) {
    const std::string what = "has tensor " + quote_name(entry.key) + ", which";
    BundleEntry e;
    if (!read_entry(entry.value, e)) return damaged(what + " has a damaged entry");
    if (e.slices) return damaged(what + " is stored in slices (a partitioned variable): not read");
    const auto type = std::ranges::find(kTypes, e.type, &TypeName::number);
    if (type == std::end(kTypes) || !type->type)
      return damaged(what + " is of type " + (type == std::end(kTypes) ? std::to_string(e.type) : type->name) +
                     ": not read");
    StoredTensor t{.name = entry.key, .type = *type->type, .shape = e.shape, .strides = {}, .bytes = {}};
    uint64_t elements = 0, bytes = 0;
    if (!count_elements(t.shape, elements) || !checked_mul(elements, stored_bytes(t.type), bytes) || bytes != e.bytes)
      return damaged(what + format(" has %u bytes, which is not what its shape asks for", e.bytes));
    LAPILLI_TRY(const File file, shard(e.shard, what));
    if (e.offset > file.size() || e.bytes > file.size() - e.offset) return damaged(what + " ends beyond its data file");
    t.strides = row_major_strides(t.shape);
    set_range(t, file, e.offset, e.bytes);
    return Placed{std::move(t), std::move(e)};
  }
  Status check_sum(const StoredTensor& t, const BundleEntry& e, const std::string& what) const {
    constexpr uint64_t kAtOnce = uint64_t{4} << 20;
    uint32_t sum = 0;
    for (uint64_t done = 0; done < e.bytes; done += kAtOnce) {
      LAPILLI_TRY(const auto part, load_bytes(t, done, std::min(kAtOnce, e.bytes - done)));
      sum = crc32c(sum, {reinterpret_cast<const char*>(part.bytes.data()), part.bytes.size()});
    }
    return masked(sum) == e.sum ? Status() : Status(damaged(what + " has a wrong checksum"));
  }

  const Files& files_;
  const std::string prefix_;
  uint64_t shards_ = 0;
  std::vector<std::optional<File>> data_;
};

}  // namespace

Result<std::vector<StoredTensor>> read_tf_bundle(const Files& files, const std::string& prefix,
                                                 const std::function<bool(const std::string&)>& wanted) {
  return BundleReader(files, prefix).read(wanted);
}

}  // namespace lapilli::doors::trained
