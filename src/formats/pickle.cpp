#include "formats/pickle.hpp"

#include <algorithm>
#include <unordered_map>

#include "formats/byte_reader.hpp"
#include "formats/quote.hpp"

namespace lapilli {
namespace {

using Value = PickleValue;
using Kind = PickleValue::Kind;

// Far above published checkpoints (about 50 opcodes per tensor, nesting 4), far below what hurts.
constexpr uint64_t max_opcodes = 1 << 22;
constexpr uint32_t max_nesting = 32;
constexpr uint64_t max_class_name_bytes = 512;

enum class Global : uint32_t {
  ordered_dict,
  rebuild_tensor,
  rebuild_tensor_v2,
  rebuild_parameter,
  rebuild_parameter_with_state,
  size,
  first_storage,                                     // + StoredType
  first_object = first_storage + stored_type_count,  // + index for Reader::objects_
};

struct GlobalName {
  std::string_view module, name;
  uint32_t id;
};
constexpr uint32_t storage_of(StoredType type) {
  return static_cast<uint32_t>(Global::first_storage) + static_cast<uint32_t>(type);
}
constexpr uint32_t id_of(Global g) { return static_cast<uint32_t>(g); }
constexpr GlobalName known_globals[] = {
    {"collections", "OrderedDict", id_of(Global::ordered_dict)},
    {"torch._utils", "_rebuild_tensor", id_of(Global::rebuild_tensor)},
    {"torch._utils", "_rebuild_tensor_v2", id_of(Global::rebuild_tensor_v2)},
    {"torch._utils", "_rebuild_parameter", id_of(Global::rebuild_parameter)},
    {"torch._utils", "_rebuild_parameter_with_state", id_of(Global::rebuild_parameter_with_state)},
    {"torch", "Size", id_of(Global::size)},
    {"torch", "DoubleStorage", storage_of(StoredType::f64)},
    {"torch", "FloatStorage", storage_of(StoredType::f32)},
    {"torch", "HalfStorage", storage_of(StoredType::f16)},
    {"torch", "BFloat16Storage", storage_of(StoredType::bf16)},
    {"torch", "LongStorage", storage_of(StoredType::i64)},
    {"torch", "IntStorage", storage_of(StoredType::i32)},
    {"torch", "ShortStorage", storage_of(StoredType::i16)},
    {"torch", "CharStorage", storage_of(StoredType::i8)},
    {"torch", "ByteStorage", storage_of(StoredType::u8)},
    {"torch", "BoolStorage", storage_of(StoredType::boolean)},
};

// Classes of settings and vocabularies, which are read as data. A module ends with a point where all of its parts
// count.
struct ObjectClass {
  std::string_view module, name;  // an empty name: all of the module's
};
constexpr ObjectClass kObjectClasses[] = {{"argparse", "Namespace"},
                                          {"collections", "Counter"},
                                          {"collections", "defaultdict"},
                                          {"typing", "Any"},
                                          {"fairseq.", ""},
                                          {"omegaconf.", ""},
                                          {"onmt.", ""},
                                          {"torchtext.", ""},
                                          {"numpy", "dtype"},
                                          {"numpy.core.multiarray", "scalar"},
                                          {"numpy._core.multiarray", "scalar"},
                                          {"_codecs", "encode"},
                                          {"torch", "device"},
                                          {"torch", "int64"},
                                          {"torch", "float32"},
                                          {"torch", "float16"}};
// The language's own: values, and nothing that calls anything.
constexpr std::string_view kBuiltins[] = {"set",  "frozenset", "dict", "list", "tuple",   "int",
                                          "long", "float",     "bool", "str",  "unicode", "bytearray"};

bool is_object_class(std::string_view module, std::string_view name) {
  if (module == "builtins" || module == "__builtin__") return std::ranges::find(kBuiltins, name) != std::end(kBuiltins);
  return std::ranges::any_of(kObjectClasses, [&](const ObjectClass& c) {
    const bool in_module = c.module.ends_with('.')
                               ? module.starts_with(c.module) || module == c.module.substr(0, c.module.size() - 1)
                               : module == c.module;
    return in_module && (c.name.empty() || c.name == name);
  });
}

// Opcodes, as the Python library's pickle module numbers them.
enum Op : uint8_t {
  op_mark = '(',
  op_stop = '.',
  op_pop = '0',
  op_pop_mark = '1',
  op_binfloat = 'G',
  op_binint = 'J',
  op_binint1 = 'K',
  op_binint2 = 'M',
  op_none = 'N',
  op_binpersid = 'Q',
  op_reduce = 'R',
  op_binstring = 'T',
  op_short_binstring = 'U',
  op_binunicode = 'X',
  op_append = 'a',
  op_build = 'b',
  op_global = 'c',
  op_appends = 'e',
  op_binget = 'h',
  op_inst = 'i',
  op_long_binget = 'j',
  op_binput = 'q',
  op_long_binput = 'r',
  op_setitem = 's',
  op_tuple = 't',
  op_setitems = 'u',
  op_empty_dict = '}',
  op_empty_list = ']',
  op_empty_tuple = ')',
  op_proto = 0x80,
  op_new_object = 0x81,
  op_tuple1 = 0x85,
  op_tuple2 = 0x86,
  op_tuple3 = 0x87,
  op_true = 0x88,
  op_false = 0x89,
  op_long1 = 0x8a,
  op_short_binunicode = 0x8c,
  op_binunicode8 = 0x8d,
  op_stack_global = 0x93,
  op_memoize = 0x94,
  op_frame = 0x95,
};

bool is_container(const Value& v) { return v.kind == Kind::tuple || v.kind == Kind::list || v.kind == Kind::dict; }

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, const std::string& path, PickleUse use)
      : in_(bytes), path_(path), use_(use) {}

  Result<Pickle> run() {
    while (!done_) {
      if (++work_ > max_opcodes) return refuse(format("has more than %u opcodes", max_opcodes));
      uint8_t op = 0;
      if (!in_.number(op)) return cut();
      at_ = in_.position() - 1;
      LAPILLI_CHECK(step(op));
    }
    out_.bytes = in_.position();
    return std::move(out_);
  }

 private:
  ByteReader in_;
  const std::string& path_;
  const PickleUse use_;
  Pickle out_;
  std::vector<std::string_view> objects_;  // modules and names of classes, as they stand in the pickle
  std::vector<Value> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint32_t, Value> memo_;
  uint64_t at_ = 0;    // position of the current opcode
  uint64_t work_ = 0;  // opcodes, and values copied by single opcodes
  bool done_ = false;

  // ---- errors ----

  Failure refuse(const std::string& what) const {
    return fail(ErrorCode::invalid_data, "%s: the pickle %s (at byte %u of it): refused", path_, what, at_);
  }
  Failure cut() const { return refuse("is truncated"); }
  Failure refuse_class(std::string_view module, std::string_view name) const {
    return fail(
        ErrorCode::unsupported,
        "%s asks for class %s: refused. A checkpoint is read as data, and no code in it is ever run; get or save "
        "the model as model.safetensors",
        path_, quote_name(std::string(module) + "." + std::string(name)));
  }

  // ---- the stack ----

  Status push(Kind kind, uint32_t index, int64_t integer = 0) {
    stack_.push_back({kind, index, integer});
    return {};
  }
  Status push_text(Kind kind, uint64_t bytes) {
    std::string_view text;
    if (!in_.text(bytes, text)) return cut();
    out_.texts.push_back(text);
    return push(kind, static_cast<uint32_t>(out_.texts.size() - 1));
  }
  // Number of values above the innermost mark.
  size_t above_mark() const { return stack_.size() - (marks_.empty() ? 0 : marks_.back()); }
  Status pop(Value& v) {
    if (above_mark() == 0) return refuse("takes from an empty stack");
    v = stack_.back();
    stack_.pop_back();
    return {};
  }
  // Pops the values above the mark, and the mark.
  Status pop_to_mark(std::vector<Value>& values) {
    if (marks_.empty()) return refuse("lacks a mark");
    values.assign(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return {};
  }

  // ---- containers ----

  Status new_container(Kind kind, const std::vector<Value>& items) {
    out_.containers.push_back({});
    const Value v{kind, static_cast<uint32_t>(out_.containers.size() - 1), 0};
    LAPILLI_CHECK(add(v, items));
    stack_.push_back(v);
    return {};
  }
  Status new_tuple(size_t n) {
    if (above_mark() < n) return refuse("takes from an empty stack");
    std::vector<Value> items(stack_.end() - static_cast<std::ptrdiff_t>(n), stack_.end());
    stack_.resize(stack_.size() - n);
    return new_container(Kind::tuple, items);
  }
  Status add(const Value& container, const std::vector<Value>& items) {
    auto& c = out_.containers[container.index];
    for (const Value& v : items)
      if (is_container(v)) c.depth = std::max(c.depth, out_.containers[v.index].depth + 1);
    if (c.depth > max_nesting) return refuse(format("nests deeper than %u levels", max_nesting));
    c.items.insert(c.items.end(), items.begin(), items.end());
    return {};
  }
  // Adds to the container on top of the stack.
  Status add_to_top(Kind kind, const std::vector<Value>& items) {
    if (above_mark() == 0 || stack_.back().kind != kind) return refuse("adds to what is no list or dict");
    if (kind == Kind::dict && items.size() % 2 != 0) return refuse("has a key without a value");
    return add(stack_.back(), items);
  }
  Status add_last(Kind kind, size_t n) {
    if (above_mark() < n) return refuse("takes from an empty stack");
    const std::vector<Value> items(stack_.end() - static_cast<std::ptrdiff_t>(n), stack_.end());
    stack_.resize(stack_.size() - n);
    return add_to_top(kind, items);
  }

  // ---- opcodes ----

  Status step(uint8_t op) {
    std::vector<Value> values;
    Value v;
    switch (op) {
      case op_proto: return protocol();
      case op_frame: return in_.skip(8) ? Status{} : cut();
      case op_stop: return stop();
      case op_mark:
        if (marks_.size() >= max_nesting) return refuse(format("nests deeper than %u levels", max_nesting));
        marks_.push_back(stack_.size());
        return {};
      case op_pop: return pop(v);
      case op_pop_mark: return pop_to_mark(values);
      case op_empty_tuple: return new_container(Kind::tuple, {});
      case op_empty_list: return new_container(Kind::list, {});
      case op_empty_dict: return new_container(Kind::dict, {});
      case op_tuple1: return new_tuple(1);
      case op_tuple2: return new_tuple(2);
      case op_tuple3: return new_tuple(3);
      case op_tuple: LAPILLI_CHECK(pop_to_mark(values)); return new_container(Kind::tuple, values);
      case op_append: return add_last(Kind::list, 1);
      case op_appends: LAPILLI_CHECK(pop_to_mark(values)); return add_to_top(Kind::list, values);
      case op_setitem: return add_last(Kind::dict, 2);
      case op_setitems: LAPILLI_CHECK(pop_to_mark(values)); return add_to_top(Kind::dict, values);
      case op_global:
      case op_inst:
      case op_stack_global: return global(op);
      case op_reduce: return reduce();
      case op_build: return build();
      case op_new_object: return use_ == PickleUse::training ? reduce() : step_constant(op);
      case op_binpersid: return persistent();
      default: return step_constant(op);
    }
  }

  template <class T>
  Status push_integer() {
    T n{};
    return in_.number(n) ? push(Kind::integer, 0, n) : cut();
  }
  template <class T>
  Status push_sized_text() {
    T n{};
    return in_.number(n) ? push_text(Kind::text, n) : cut();
  }
  template <class T>
  Status remember() {
    T n{};
    return in_.number(n) ? remember_as(n) : cut();
  }
  template <class T>
  Status recall() {
    T n{};
    if (!in_.number(n)) return cut();
    const auto it = memo_.find(n);
    if (it == memo_.end()) return refuse("recalls what it never remembered");
    stack_.push_back(it->second);
    return {};
  }
  Status remember_as(uint32_t n) {
    if (above_mark() == 0) return refuse("takes from an empty stack");
    memo_[n] = stack_.back();
    return {};
  }

  Status step_constant(uint8_t op) {
    switch (op) {
      case op_none: return push(Kind::none, 0);
      case op_true: return push(Kind::boolean, 0, 1);
      case op_false: return push(Kind::boolean, 0, 0);
      case op_binint: return push_integer<int32_t>();
      case op_binint1: return push_integer<uint8_t>();
      case op_binint2: return push_integer<uint16_t>();
      case op_long1: return long_integer();
      case op_binfloat: return real();
      case op_binunicode:
      case op_binstring: return push_sized_text<uint32_t>();
      case op_short_binunicode:
      case op_short_binstring: return push_sized_text<uint8_t>();
      case op_binunicode8: return push_sized_text<uint64_t>();
      case op_binput: return remember<uint8_t>();
      case op_long_binput: return remember<uint32_t>();
      case op_memoize: return remember_as(static_cast<uint32_t>(memo_.size()));
      case op_binget: return recall<uint8_t>();
      case op_long_binget: return recall<uint32_t>();
      default: return refuse(format("uses opcode 0x%02x, which no state dict needs", op));
    }
  }

  Status protocol() {
    uint8_t version = 0;
    if (!in_.number(version)) return cut();
    return version >= 2 && version <= 5 ? Status{} : refuse(format("is of protocol %u; 2 to 5 are read", version));
  }

  Status stop() {
    if (!marks_.empty()) return refuse("ends within a mark");
    if (stack_.size() != 1) return refuse("ends with more or less than one value");
    out_.root = stack_.back();
    done_ = true;
    return {};
  }

  // Big-endian, unlike all else.
  Status real() {
    uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) {
      uint8_t byte = 0;
      if (!in_.number(byte)) return cut();
      bits = bits << 8 | byte;
    }
    return push(Kind::real, 0, static_cast<int64_t>(bits));
  }

  // Little-endian two's complement. Beyond 64 bits only the magic number of the stream form is expected.
  Status long_integer() {
    uint8_t n = 0;
    if (!in_.number(n)) return cut();
    if (n > 8) return push_text(Kind::large, n);
    std::span<const std::byte> bytes;
    if (!in_.bytes(n, bytes)) return cut();
    uint64_t value = n > 0 && (std::to_integer<int>(bytes[n - 1]) & 0x80) ? ~uint64_t{0} : 0;
    for (int i = n; i-- > 0;) value = value << 8 | std::to_integer<uint64_t>(bytes[i]);
    return push(Kind::integer, 0, static_cast<int64_t>(value));
  }

  Status global(uint8_t op) {
    std::string_view module, name;
    if (op == op_stack_global) {
      Value n, m;
      LAPILLI_CHECK(pop(n));
      LAPILLI_CHECK(pop(m));
      if (n.kind != Kind::text || m.kind != Kind::text) return refuse("names a class by what is no text");
      module = out_.text(m);
      name = out_.text(n);
    } else if (!in_.line(max_class_name_bytes, module) || !in_.line(max_class_name_bytes, name)) {
      return refuse("names a class without an end");
    }
    for (const auto& g : known_globals)
      if (g.module == module && g.name == name && op != op_inst) return push(Kind::global, g.id);
    if (use_ == PickleUse::training && op != op_inst && is_object_class(module, name)) return object_class(name);
    return refuse_class(module, name);
  }

  // A class is known by its name alone from here on.
  Status object_class(std::string_view name) {
    objects_.push_back(name);
    return push(Kind::global, id_of(Global::first_object) + static_cast<uint32_t>(objects_.size() - 1));
  }

  // State of an OrderedDict (state_dict's _metadata), which is not needed; an object's fields.
  Status build() {
    Value state;
    LAPILLI_CHECK(pop(state));
    if (use_ == PickleUse::training) return object_state(state);
    if (state.kind != Kind::dict || above_mark() == 0 || stack_.back().kind != Kind::dict)
      return refuse("sets the state of what is no dict");
    return {};
  }

  // Classes with a way of their own to take a state may have any; what is no dict of fields is left aside.
  Status object_state(const Value& state) {
    if (above_mark() == 0) return refuse("takes from an empty stack");
    const Value object = stack_.back();
    if (object.kind != Kind::dict || state.kind != Kind::dict) return {};
    const std::vector<Value> fields = out_.items(state);
    work_ += fields.size();  // copies: one state may be set any number of times
    return out_.containers[object.index].type.empty() ? Status() : add(object, fields);
  }

  // An object of one value is that value: an enumerator, a list's copy. Others are dicts, whose fields follow.
  Status object(std::string_view type, const std::vector<Value>& arguments) {
    if (arguments.size() == 1 && arguments[0].kind != Kind::global) return stack_.push_back(arguments[0]), Status();
    if (type == "encode" && !arguments.empty()) return stack_.push_back(arguments[0]), Status();
    LAPILLI_CHECK(new_container(Kind::dict, {}));
    out_.containers.back().type = type;
    return {};
  }

  Status persistent() {
    Value id;
    LAPILLI_CHECK(pop(id));
    if (id.kind != Kind::tuple) return refuse("refers to a storage by what is no tuple");
    const auto& parts = out_.items(id);
    const bool sound = (parts.size() == 5 || parts.size() == 6) && parts[0].kind == Kind::text &&
                       out_.text(parts[0]) == "storage" && parts[1].kind == Kind::global &&
                       parts[1].index >= id_of(Global::first_storage) && parts[1].index < id_of(Global::first_object) &&
                       parts[2].kind == Kind::text && parts[4].kind == Kind::integer && parts[4].integer >= 0;
    if (!sound) return refuse("refers to something else than a storage");
    if (parts.size() == 6 && parts[5].kind != Kind::none) return refuse("refers to a part of a storage");
    out_.storages.push_back({static_cast<StoredType>(parts[1].index - id_of(Global::first_storage)),
                             out_.text(parts[2]), static_cast<uint64_t>(parts[4].integer)});
    return push(Kind::storage, static_cast<uint32_t>(out_.storages.size() - 1));
  }

  // ---- implementations of the known functions ----

  Status reduce() {
    Value arguments, function;
    LAPILLI_CHECK(pop(arguments));
    LAPILLI_CHECK(pop(function));
    if (function.kind != Kind::global || arguments.kind != Kind::tuple)
      return refuse("calls what is no known function");
    const std::vector<Value> a = out_.items(arguments);
    work_ += a.size();
    if (function.index >= id_of(Global::first_object))
      return object(objects_[function.index - id_of(Global::first_object)], a);
    switch (static_cast<Global>(function.index)) {
      case Global::ordered_dict: return ordered_dict(a);
      case Global::rebuild_tensor:
        return a.size() == 4 ? tensor(a) : refuse("rebuilds a tensor from the wrong number of parts");
      case Global::rebuild_tensor_v2:
        return a.size() == 6 || a.size() == 7 ? tensor(a) : refuse("rebuilds a tensor from the wrong number of parts");
      case Global::rebuild_parameter:
      case Global::rebuild_parameter_with_state:
        if (a.size() < 3 || a.size() > 4 || a[0].kind != Kind::tensor) return refuse("makes a parameter of no tensor");
        return push(Kind::tensor, a[0].index);
      case Global::size:
        if (a.size() != 1 || a[0].kind != Kind::tuple) return refuse("makes a size of no tuple");
        return push(Kind::tuple, a[0].index);
      default: return refuse("makes a storage by itself");
    }
  }

  Status ordered_dict(const std::vector<Value>& a) {
    std::vector<Value> entries;
    if (a.size() > 1 || (a.size() == 1 && a[0].kind != Kind::list)) return refuse("makes a dict of no list");
    if (a.size() == 1) {
      work_ += 2 * out_.items(a[0]).size();  // copies: the same list may be used repeatedly
      for (const Value& pair : out_.items(a[0])) {
        if ((pair.kind != Kind::tuple && pair.kind != Kind::list) || out_.items(pair).size() != 2)
          return refuse("makes a dict of what are no pairs");
        entries.insert(entries.end(), out_.items(pair).begin(), out_.items(pair).end());
      }
    }
    return new_container(Kind::dict, entries);
  }

  bool sizes(const Value& v, std::vector<uint64_t>& out) const {
    if (v.kind != Kind::tuple || out_.items(v).size() > max_stored_rank) return false;
    for (const Value& n : out_.items(v)) {
      if (n.kind != Kind::integer || n.integer < 0) return false;
      out.push_back(static_cast<uint64_t>(n.integer));
    }
    return true;
  }

  Status tensor(const std::vector<Value>& a) {
    PickledTensor t;
    if (a[0].kind != Kind::storage || a[1].kind != Kind::integer || a[1].integer < 0 || !sizes(a[2], t.shape) ||
        !sizes(a[3], t.strides) || t.shape.size() != t.strides.size())
      return refuse("describes a tensor that cannot be");
    t.storage = a[0].index;
    t.offset = static_cast<uint64_t>(a[1].integer);
    out_.tensors.push_back(std::move(t));
    return push(Kind::tensor, static_cast<uint32_t>(out_.tensors.size() - 1));
  }
};

}  // namespace

const PickleValue* Pickle::at(const PickleValue& dict, std::string_view key) const {
  const auto& list = items(dict);
  for (size_t i = 0; i + 1 < list.size(); i += 2)
    if (list[i].kind == Kind::text && text(list[i]) == key) return &list[i + 1];
  return nullptr;
}

Result<Pickle> read_pickle(std::span<const std::byte> bytes, const std::string& path, PickleUse use) {
  try {
    return Reader(bytes, path, use).run();
  } catch (const std::exception& e) {
    return fail(ErrorCode::out_of_memory, "%s: no memory to read the pickle (%s)", path, e.what());
  }
}

}  // namespace lapilli
