// pytorch_model.bin in both layouts: a zip archive (NAME/data.pkl, NAME/data/KEY per storage, NAME/byteorder), or the
// older stream of five pickles (magic number, protocol, system, state dict, storage keys) followed by the storages.
#include <algorithm>
#include <unordered_map>

#include "base/math.hpp"
#include "formats/byte_reader.hpp"
#include "formats/pickle.hpp"
#include "formats/pytorch_file.hpp"
#include "formats/quote.hpp"
#include "formats/readers.hpp"
#include "formats/zip.hpp"

namespace lapilli {
namespace {

using Kind = PickleValue::Kind;
using Bytes = std::span<const std::byte>;

constexpr std::string_view stream_magic("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10);
constexpr int64_t stream_protocol = 1001;
// Bounded, as one long text in the pickle may name any number of tensors.
constexpr uint64_t max_tensor_name_bytes = 4096;

Failure damaged(const std::string& path, const std::string& what) {
  return fail(ErrorCode::invalid_data, "%s: %s; the file is damaged or not what it claims to be", path, what);
}

Failure big_endian(const std::string& path) {
  return fail(ErrorCode::unsupported,
              "%s was written on a big-endian machine, which is not read; save the model as model.safetensors", path);
}

// Locates a tensor in its storage; the elements that shape and strides reach must lie within.
Result<StoredTensor> place(std::string name, const PickledTensor& t, const PickledStorage& s, StorageRange storage,
                           const File& file) {
  const std::string what = "tensor " + quote_name(name);
  StoredTensor out;
  out.name = std::move(name);
  out.type = s.type;
  out.shape = t.shape;
  out.strides = t.strides;
  uint64_t elements = 0, bytes = 0;
  if (!checked_mul(s.elements, stored_bytes(s.type), bytes) || bytes > storage.bytes)
    return damaged(file.path(), what + " needs a larger storage than the file holds");
  if (!count_elements(t.shape, elements))
    return damaged(file.path(), what + " has a shape whose size overflows 64 bits");
  // Strides of 0 make more elements than there are numbers; a file must not make us allocate without limit.
  if (elements > file.size()) return damaged(file.path(), what + " claims more elements than the file has bytes");
  if (elements == 0) return out;
  uint64_t reach = 1;
  for (size_t d = 0; d < t.shape.size(); ++d) {
    uint64_t step = 0;
    if (!checked_mul(t.shape[d] - 1, t.strides[d], step) || !checked_add(reach, step, reach))
      return damaged(file.path(), what + " has strides that overflow 64 bits");
  }
  if (t.offset > s.elements || reach > s.elements - t.offset)
    return damaged(file.path(), what + " reaches beyond its storage");
  set_range(out, file, storage.offset + t.offset * stored_bytes(s.type), reach * stored_bytes(s.type));
  return out;
}

// The tensors of a state dict: those among the dict's values.
Result<std::vector<StoredTensor>> collect(const PytorchFile& from, const PickleValue& dict) {
  const auto& [file, pickle, storages, kept] = from;
  std::vector<StoredTensor> tensors;
  const auto& entries = pickle.items(dict);
  for (size_t i = 0; i + 1 < entries.size(); i += 2) {
    if (entries[i + 1].kind != Kind::tensor) continue;
    if (entries[i].kind != Kind::text || pickle.text(entries[i]).size() > max_tensor_name_bytes)
      return damaged(file.path(), "a tensor's name is no text, or above 4096 bytes");
    const PickledTensor& t = pickle.tensors[entries[i + 1].index];
    const PickledStorage& s = pickle.storages[t.storage];
    const auto found = storages.find(std::string(s.key));
    if (found == storages.end())
      return damaged(file.path(), "tensor " + quote_name(pickle.text(entries[i])) + " lies in storage " +
                                      quote_name(s.key) + ", which the file lacks");
    LAPILLI_TRY(auto placed, place(std::string(pickle.text(entries[i])), t, s, found->second, file));
    tensors.push_back(std::move(placed));
  }
  return tensors;
}

// Those of a file that has nothing else.
Result<std::vector<StoredTensor>> collect_root(const PytorchFile& from) {
  LAPILLI_TRY(auto tensors, collect(from, from.pickle.root));
  if (!tensors.empty()) return tensors;
  const auto& [file, pickle, storages, kept] = from;
  const auto& entries = pickle.items(pickle.root);
  for (size_t i = 0; i + 1 < entries.size(); i += 2)
    if (entries[i].kind == Kind::text && entries[i + 1].kind == Kind::dict)
      return fail(
          ErrorCode::unsupported,
          "%s holds no tensors at its top, but a dict at %s: a training checkpoint? Save the state dict alone, or "
          "better the model as model.safetensors",
          file.path().c_str(), quote_name(pickle.text(entries[i])));
  return damaged(file.path(), "it holds no tensors");
}

Result<Pickle> read_dict(Bytes bytes, const std::string& path, PickleUse use) {
  LAPILLI_TRY(auto pickle, read_pickle(bytes, path, use));
  if (pickle.root.kind != Kind::dict) return damaged(path, "its pickle is no dict of tensors");
  return pickle;
}

// ---- zip ----------------------------------------------------------------------------------------------------------

// PyTorch packs nothing, and tensors are read in place.
Status refuse_packed(const std::vector<ZipEntry>& entries, const std::string& path) {
  for (const ZipEntry& entry : entries)
    if (entry.deflated)
      return fail(ErrorCode::unsupported,
                  "%s: entry %s is compressed, which PyTorch never does; pack the archive again without compression "
                  "(zip -0), or save the model as model.safetensors",
                  path, quote_name(entry.name));
  return {};
}

Result<PytorchFile> read_zip_form(const File& file, PickleUse use) {
  const std::string& path = file.path();
  LAPILLI_TRY(const auto entries, read_zip(file));
  LAPILLI_CHECK(refuse_packed(entries, path));
  const ZipEntry* root = nullptr;
  for (const auto& e : entries) {
    if (!e.name.ends_with("/data.pkl") || std::ranges::count(e.name, '/') != 1) continue;
    if (root) return damaged(path, "the archive holds data.pkl twice");
    root = &e;
  }
  if (!root) return damaged(path, "the archive holds no data.pkl, so it is no PyTorch checkpoint");
  const std::string prefix(root->name.substr(0, root->name.size() - std::string_view("data.pkl").size()));
  if (const auto* order = find_entry(entries, prefix + "byteorder")) {
    LAPILLI_TRY(const auto bytes, file.view(order->offset, std::min<uint64_t>(order->bytes, 64)));
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text == "big") return big_endian(path);
    if (text != "little") return damaged(path, "its byteorder is " + quote_name(text, 16));
  }
  LAPILLI_TRY(const auto root_bytes, file.view(root->offset, root->bytes));
  PytorchFile out{file, {}, {}, {}};
  LAPILLI_TRY(out.pickle, read_dict(root_bytes, path, use));
  const std::string data = prefix + "data/";
  for (const auto& e : entries)
    if (e.name.starts_with(data))
      out.storages.emplace(std::string(e.name.substr(data.size())), StorageRange{e.offset, e.bytes});
  return out;
}

// ---- stream -------------------------------------------------------------------------------------------------------

// Reads the pickles of a stream in order.
struct Stream {
  const File& file;
  Bytes start;  // the file's beginning, with all pickles
  uint64_t position = 0;

  Result<Pickle> next(PickleUse use = PickleUse::weights) {
    LAPILLI_TRY(auto pickle, read_pickle(start.subspan(position), file.path(), use));
    position += pickle.bytes;
    return pickle;
  }
};

Status check_stream_start(Stream& stream) {
  const std::string& path = stream.file.path();
  LAPILLI_TRY(const auto magic, stream.next());
  if (magic.root.kind != Kind::large || magic.text(magic.root) != stream_magic)
    return damaged(path, "it starts with a pickle, but not with PyTorch's magic number");
  LAPILLI_TRY(const auto protocol, stream.next());
  if (protocol.root.kind != Kind::integer || protocol.root.integer != stream_protocol)
    return damaged(path, "it is of an unknown protocol");
  LAPILLI_TRY(const auto system, stream.next());
  if (system.root.kind != Kind::dict) return damaged(path, "it lacks the description of its system");
  const auto* little = system.at(system.root, "little_endian");
  if (little && little->kind == Kind::boolean && little->integer == 0) return big_endian(path);
  return {};
}

// Key list and data: per key an int64 element count, then the elements, whose size the state dict gives.
Result<StorageRanges> read_stream_storages(Stream& stream, const Pickle& state) {
  const std::string& path = stream.file.path();
  LAPILLI_TRY(const auto keys, stream.next());
  if (keys.root.kind != Kind::list) return damaged(path, "it lacks the list of storages");
  std::unordered_map<std::string_view, StoredType> types;
  for (const auto& s : state.storages)
    if (!types.emplace(s.key, s.type).second && types[s.key] != s.type)
      return damaged(path, "storage " + quote_name(s.key) + " has two types");
  const uint64_t size = stream.file.size();
  uint64_t at = stream.position;
  StorageRanges storages;
  for (const auto& v : keys.items(keys.root)) {
    if (v.kind != Kind::text) return damaged(path, "a storage's key is no text");
    const std::string_view key = keys.text(v);
    const auto type = types.find(key);
    if (type == types.end()) return damaged(path, "storage " + quote_name(key) + " belongs to no tensor");
    uint64_t count = 0, bytes = 0;
    const Error beyond = damaged(path, "storage " + quote_name(key) + " ends beyond the file (truncated?)");
    if (size - at < sizeof count) return beyond;
    LAPILLI_CHECK(stream.file.read(at, std::as_writable_bytes(std::span(&count, 1))));
    at += sizeof count;
    if (!checked_mul(count, stored_bytes(type->second), bytes) || bytes > size - at) return beyond;
    const bool fresh = storages.emplace(std::string(key), StorageRange{at, bytes}).second;
    at += bytes;
    if (!fresh) return damaged(path, "storage " + quote_name(key) + " is listed twice");
  }
  return storages;
}

// `start`: the beginning of the file, with all pickles.
Result<PytorchFile> read_stream(const File& file, Bytes start, PickleUse use) {
  Stream stream{file, start};
  LAPILLI_CHECK(check_stream_start(stream));
  PytorchFile out{file, {}, {}, {}};
  LAPILLI_TRY(out.pickle, stream.next(use));
  if (out.pickle.root.kind != Kind::dict) return damaged(file.path(), "its pickle is no dict of tensors");
  LAPILLI_TRY(out.storages, read_stream_storages(stream, out.pickle));
  return out;
}

// Only reading the pickles tells their length. Of a file that is not in memory, a growing beginning is read, up to the
// most that pickles may take.
Result<PytorchFile> read_stream_form(const File& file, PickleUse use) {
  if (file.in_memory()) return read_stream(file, file.bytes(), use);
  constexpr uint64_t kFirst = uint64_t{1} << 20, kMost = uint64_t{64} << 20;
  for (uint64_t most = kFirst;; most *= 8) {
    LAPILLI_TRY(auto start, file.read_some(0, std::min(most, file.size())));
    auto read = read_stream(file, start, use);
    const bool whole = start.size() == file.size() || most >= kMost;
    if (read) read->kept = std::move(start);  // the pickle's texts stay where they are
    if (read || whole) return read;
  }
}

}  // namespace

Result<PytorchForm> pytorch_form(const File& file) {
  LAPILLI_TRY(const auto bytes, file.view(0, std::min<uint64_t>(file.size(), 9)));
  const auto at = [&](size_t i) { return std::to_integer<char>(bytes[i]); };
  // A safetensors header may have a size that looks like one of the marks below; its text starts after it.
  if (bytes.size() < 9 || at(8) == '{') return PytorchForm::none;
  if (at(0) == 'P' && at(1) == 'K') return PytorchForm::zip;
  // Any other file called .bin gets the pickle reader's message.
  return at(0) == '\x80' || file.path().ends_with(".bin") ? PytorchForm::stream : PytorchForm::none;
}

Result<PytorchFile> PytorchFile::read(const File& file, PickleUse use) {
  LAPILLI_TRY(const PytorchForm form, pytorch_form(file));
  return form == PytorchForm::zip ? read_zip_form(file, use) : read_stream_form(file, use);
}

Result<std::vector<StoredTensor>> PytorchFile::tensors(const PickleValue& dict) const { return collect(*this, dict); }

Result<std::vector<StoredTensor>> read_pytorch(const File& file) {
  LAPILLI_TRY(const auto read, PytorchFile::read(file, PickleUse::weights));
  return collect_root(read);
}

}  // namespace lapilli
