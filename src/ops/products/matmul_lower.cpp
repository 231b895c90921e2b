#include "ops/products/matmul_lower.hpp"

#include <algorithm>
#include <bit>

#include "ops/core/lower_util.hpp"
#include "ops/products/row_parts.hpp"
#include "vulkan/caps/bindings.hpp"

namespace lapilli {
namespace {

struct PlainPush {
  LAPILLI_PUSH(uint32_t groups, rows, tiles, blocks; uint32_t c_begin, c_end; uint32_t k4; uint32_t x_begin, x_ld4;
               uint32_t w_begin, panel4; uint32_t bias_begin; uint32_t y_begin, y_ld4; uint32_t y_cols; uint32_t strip;)
};
struct KvPush {
  LAPILLI_PUSH_BEHIND(PlainPush, plain, uint32_t q_columns, head_dim, slots, positions; uint32_t kv_first, kv_last;
                      uint32_t cell_begin, cell_end; uint32_t kv_begin; uint32_t row_begin, rows_per_slot;)
};

// These follow either of the above.
struct PlainNormPush {
  LAPILLI_PUSH_BEHIND(PlainPush, plain, uint32_t cols; float epsilon; uint32_t writes_h, h_begin;)
};
struct KvNormPush {
  LAPILLI_PUSH_BEHIND(KvPush, kv, uint32_t cols; float epsilon; uint32_t writes_h, h_begin;)
};

struct Range64 {
  uint64_t begin = 0, end = 0;
  [[nodiscard]] uint64_t size() const { return end - begin; }
};

// The part that one dispatch computes.
enum class Form { plain, q_kv, kv };
struct Slice {
  Form form = Form::plain;
  Range64 rows, panels, columns;  // columns: absolute; the kernel works on groups of four within the panels
  Range64 depth;                  // rows of W
  Range64 kv_heads, kv_cells;     // of the bound part of kv; cell: slot * positions + position
};

class MatmulLowering {
 public:
  MatmulLowering(const LowerContext& context, const graph::Node& node, const MatmulKernel& kernel,
                 const Numbers& numbers, std::vector<Dispatch>& out)
      : context_(context),
        node_(node),
        kernel_(kernel),
        numbers_(numbers),
        out_(out),
        a_(node.attributes.as<MatmulAttributes>()),
        layout_(a_.n, a_.k, context.graph.tensor(node.inputs[1])) {
    x_ = node.inputs[0];
    w_ = node.inputs[1];
    residual_ = operand(node.inputs, 2) != graph::kNone;
    row_state_ = operand(node.inputs, 3);
    y_ = node.outputs[0];
    if (a_.split) kv_ = node.outputs[1];
    if (a_.norm != NormFirst::none) norm_ = norm_of(node);
    limit_ = context.caps.max_storage_range;
    room_ = limit_ - std::min(limit_, context.caps.storage_alignment);
    depth_ = packed::depth(a_.k);
    rows_ = context.graph.tensor(x_).rows;
    all_depth_ = {0, depth_};
    depth_slice_ = panel_bytes() <= room_ ? depth_ : room_ / (layout_.words_to(granule()) * 4) * granule();
    normalizes_ = a_.norm != NormFirst::none && can_normalize();
    gates_ = a_.gated && kernel.gates;
  }

  Status run() {
    LAPILLI_CHECK(check_numbers(context_, node_, numbers_, sizes(), kernel_.each != Each::none));
    LAPILLI_CHECK(check_each());
    if (depth_slice_ == 0) return node_error(node_, "a few rows of a panel exceed this device's binding limit");
    if (a_.norm != NormFirst::none && !normalizes_) LAPILLI_CHECK(lower_norm());
    if (a_.gated && !gates_) LAPILLI_CHECK(lower_gate());
    if (!a_.split) return lower_plain({0, a_.n});
    if (whole_fits()) return lower_whole();
    if (a_.q_columns > 0) LAPILLI_CHECK(lower_plain({0, a_.q_columns}));
    return lower_kv();
  }

 private:
  // Slices of the depth begin at multiples of this: depths that products take at a time or that share scales.
  [[nodiscard]] uint64_t granule() const { return std::max<uint64_t>(4, packed::granule(layout_.format)); }
  [[nodiscard]] const graph::Tensor& tensor(graph::TensorId id) const { return context_.graph.tensor(id); }
  [[nodiscard]] bool is_step() const { return a_.split && a_.kv.layout == RowLayout::step; }
  [[nodiscard]] KvLayout kv_layout() const { return {a_.kv, tensor(kv_)}; }
  [[nodiscard]] bool is_spans() const { return a_.split && a_.kv.layout == RowLayout::spans; }

  // Bytes of y from the first column of the first row to the last column of the last row.
  static uint64_t span_bytes(const graph::Tensor& t, uint64_t rows, uint64_t columns) {
    return ((rows - 1) * t.ld + columns) * 4;
  }

  [[nodiscard]] bool can_normalize() const {
    const bool fits = tensor(norm_.weight).bytes() <= limit_ && tensor(norm_.y).bytes() <= limit_;
    return kernel_.norm_plain != MatmulKernel::kAbsent && has_most_bindings(context_.caps) && fits &&
           depth_slice_ == depth_ && (!a_.split || (is_step() && whole_fits()));
  }
  // Normalizes in a separate dispatch, whose output the product reads.
  Status lower_norm() {
    x_ = norm_.y;
    return lower_row_norm(context_, node_, norm_, std::bit_floor(std::min(128u, numbers_.local)), out_);
  }

  Status lower_gate() {
    const RowGate gate = gate_of(node_);
    x_ = gate.y;
    return lower_row_gate(context_, node_, gate, out_);
  }

  // The most of `panels` panels that one binding holds.
  [[nodiscard]] uint64_t panels_per_slice(uint64_t panels) const {
    if (depth_slice_ < depth_) return 1;
    if (panels * panel_bytes() <= limit_) return panels;
    return std::max<uint64_t>(1, room_ / panel_bytes());
  }

  [[nodiscard]] double operations(uint64_t rows, uint64_t columns) const {
    return 2.0 * static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(depth_);
  }

  [[nodiscard]] uint64_t panel_bytes() const { return layout_.panel_words() * 4; }
  [[nodiscard]] bool work_fits(uint64_t columns) const {
    const auto bytes = static_cast<double>(packed::panels(columns) * panel_bytes());
    return context_.work.allows(operations(rows_, columns), bytes);
  }

  // Reduces the rows per dispatch (whole tiles), then the panels. Where the grid follows the live rows, rows stay
  // together unless a single panel is too much.
  void limit_work(uint64_t& rows, uint64_t& panels) const {
    const uint64_t tile = kernel_.rows;
    const auto limit_rows = [&] {
      if (rows <= tile) return;
      const double each = operations(tile, panels * packed::kPanel);
      rows = std::min(rows, tile * context_.work.parts(div_up(rows, tile), each));
    };
    if (!tensor(x_).live_rows) limit_rows();
    panels = context_.work.parts(panels, operations(rows, packed::kPanel), static_cast<double>(panel_bytes()));
    if (tensor(x_).live_rows) limit_rows();
  }

  Status lower_plain(Range64 columns) {
    const auto &x = tensor(x_), &y = tensor(y_);
    const uint64_t panel_count = packed::panels(columns.end);
    uint64_t panels = panels_per_slice(panel_count);
    uint64_t rows = x.bytes() <= limit_ ? rows_ : room_ / (x.ld * 4);
    if (y.bytes() > limit_) {
      const auto width = [&] { return panels >= panel_count ? y.ld : panels * packed::kPanel; };
      while (panels > 1 && span_bytes(y, 1, width()) > room_) panels = div_up<uint64_t>(panels, 2);
      if (span_bytes(y, 1, width()) > room_)
        rows = 0;
      else
        rows = std::min(rows, (room_ / 4 - width()) / y.ld + 1);
    }
    if (rows == 0) return node_error(node_, "one row exceeds this device's binding limit of %u bytes", limit_);
    limit_work(rows, panels);
    for (uint64_t r = 0; r < rows_; r += rows)
      for (uint64_t p = 0; p < panel_count; p += panels) {
        Slice s;
        s.rows = {r, std::min(rows_, r + rows)};
        s.panels = {p, std::min(panel_count, p + panels)};
        s.columns = {p * packed::kPanel, std::min(s.panels.end * packed::kPanel, round_up<uint64_t>(columns.end, 4))};
        LAPILLI_CHECK(emit_depth(s));
      }
    return {};
  }

  // The split form in one dispatch: x, W with its bias, q, kv, each in one binding.
  [[nodiscard]] bool whole_fits() const {
    const bool q_fits = a_.q_columns == 0 || tensor(y_).bytes() <= limit_;
    return a_.q_columns > 0 && q_fits && depth_slice_ == depth_ && work_fits(a_.n) && tensor(x_).bytes() <= limit_ &&
           tensor(w_).bytes() <= limit_ && tensor(kv_).bytes() <= limit_;
  }
  Status lower_whole() {
    Slice s;
    s.form = Form::q_kv;
    s.rows = {0, rows_};
    s.panels = {0, packed::panels(a_.n)};
    s.columns = {0, round_up<uint64_t>(a_.n, 4)};
    s.depth = all_depth_;
    s.kv_heads = {0, a_.kv.heads};
    s.kv_cells = {0, uint64_t{a_.kv.slots} * a_.kv.positions};
    return emit(s, true, true);
  }

  // Keys and values only, by heads, or by slots within a head, or by positions of a slot.
  Status lower_kv() {
    const auto& kv = a_.kv;
    const uint64_t cell_bytes = kv_layout().cell_words() * 4, all_cells = uint64_t{kv.slots} * kv.positions;
    uint64_t heads = kv.heads, cells = all_cells;
    if (depth_slice_ < depth_ && kv_layout().format != KvFormat::fp32)
      return node_error(node_,
                        "keys and values in fp16 are summed in one piece, and the depth of %u exceeds this "
                        "device's binding limit of %u bytes; use fp32",
                        depth_, limit_);
    if (kv_layout().bytes() > limit_) {
      heads = std::max<uint64_t>(1, room_ / (all_cells * cell_bytes));
      cells = std::min(cells, room_ / cell_bytes);
      if (cells > kv.positions) cells = round_down<uint64_t>(cells, kv.positions);
    }
    if (cells == 0)
      return node_error(node_, "%s: one position of a head exceeds this device's binding limit of %u bytes",
                        tensor(kv_).name, limit_);
    for (uint64_t h = 0; h < kv.heads; h += heads)
      for (uint64_t c = 0; c < all_cells; c += cells)
        LAPILLI_CHECK(lower_kv_part({h, std::min<uint64_t>(kv.heads, h + heads)}, {c, std::min(all_cells, c + cells)}));
    return {};
  }

  Status lower_kv_part(Range64 heads, Range64 cells) {
    const auto& kv = a_.kv;
    Range64 rows{0, rows_};
    if (kv.layout == RowLayout::batch)
      rows = {std::min(rows_, cells.begin / kv.positions * kv.rows_per_slot),
              std::min(rows_, div_up<uint64_t>(cells.end, kv.positions) * kv.rows_per_slot)};
    if (rows.size() == 0) return {};
    const uint64_t first = a_.q_columns + heads.begin * 2 * kv.head_dim,
                   last = a_.q_columns + heads.end * 2 * kv.head_dim;
    const Range64 panels{first / packed::kPanel, packed::panels(last)};
    uint64_t step = panels_per_slice(panels.size());
    const auto& x = tensor(x_);
    uint64_t row_step = x.bytes() <= limit_ ? rows.size() : room_ / (x.ld * 4);
    if (row_step == 0) return node_error(node_, "one row exceeds this device's binding limit");
    limit_work(row_step, step);
    for (uint64_t r = rows.begin; r < rows.end; r += row_step)
      for (uint64_t p = panels.begin; p < panels.end; p += step) {
        Slice s;
        s.form = Form::kv;
        s.rows = {r, std::min(rows.end, r + row_step)};
        s.panels = {p, std::min(panels.end, p + step)};
        s.columns = {std::max(round_down<uint64_t>(first, 4), p * packed::kPanel),
                     std::min(round_up<uint64_t>(last, 4), s.panels.end * packed::kPanel)};
        s.kv_heads = heads;
        s.kv_cells = cells;
        LAPILLI_CHECK(emit_depth(s));
      }
    return {};
  }

  // A panel deeper than a binding is summed in several dispatches.
  Status emit_depth(Slice s) {
    for (uint64_t k = 0; k < depth_; k += depth_slice_) {
      s.depth = {k, std::min(depth_, k + depth_slice_)};
      LAPILLI_CHECK(emit(s, k == 0, s.depth.end == depth_));
    }
    return {};
  }

  [[nodiscard]] ShaderId shader(Form form) const {
    if (normalizes_) return form == Form::plain ? kernel_.norm_plain : kernel_.norm_q_kv_step;
    if (form == Form::plain) return kernel_.plain;
    if (form == Form::q_kv) return is_step() ? kernel_.q_kv_step : kernel_.q_kv;
    return is_step() ? kernel_.kv_step : is_spans() ? kernel_.kv_spans : kernel_.kv;
  }

  [[nodiscard]] LocalSizes sizes() const {
    if (kernel_.subgroups != 0) {
      const uint32_t all = kernel_.subgroups * cooperative_subgroup(context_.caps);
      return {all, all};
    }
    if (!kernel_.subgroup) return kernel_.sizes;
    return {context_.caps.subgroup_size, context_.caps.subgroup_size};
  }

  // Where invocations have their own columns, limits them to the number of column groups.
  [[nodiscard]] uint32_t local_size(uint64_t groups_of_columns) const {
    uint32_t local = numbers_.local;
    if (kernel_.subgroup || kernel_.column_groups != 0 || kernel_.each != Each::none) return local;
    while (local > 8 && local / 2 >= groups_of_columns) local /= 2;
    return local;
  }

  [[nodiscard]] Status check_each() const {
    constexpr uint32_t kMost = 8;  // size of the kernels' arrays
    if (numbers_.each > kMost)
      return node_error(node_, "%u groups of columns; 1 to %u are possible", numbers_.each, kMost);
    constexpr uint32_t kMostSums = 64;  // vec4s per invocation, already a strain on drivers' compilers
    if (kernel_.each == Each::of_invocation && numbers_.each * kernel_.rows > kMostSums)
      return node_error(node_, "%u groups of columns of %u rows are too many sums for an invocation", numbers_.each,
                        kernel_.rows);
    if (kernel_.each == Each::of_workgroup && numbers_.local % numbers_.each != 0)
      return node_error(node_, "%u invocations do not share the depth of %u groups of columns evenly", numbers_.local,
                        numbers_.each);
    return {};
  }

  void set_constants(Dispatch& d, Form form, bool first, bool last) const {
    const bool deep = !(first && last);
    uint32_t add = residual_ ? 2u : 0u;
    if (deep && !residual_ && !first) add = 1;
    const auto activation = last ? a_.activation : Activation::none;
    d.constants = {0, static_cast<uint32_t>(activation), add, last ? 1u : 0u, static_cast<uint32_t>(layout_.format)};
    if (numbers_.each != 0) d.constants.push_back(numbers_.each);
    if (may_read_texels()) d.constants.push_back(kernel_.texels);
    if (kernel_.subgroups != 0)
      d.constants.insert(d.constants.end(), context_.caps.cooperative_matrix.begin(),
                         context_.caps.cooperative_matrix.end());
    if (normalizes_)
      d.constants.push_back(norm_.how.rms);
    else if (kernel_.gates && form == Form::plain)
      d.constants.push_back(gates_ ? 1 + static_cast<uint32_t>(a_.gate) : 0);
    if (form != Form::plain && (is_step() || is_spans()))
      d.constants.push_back(static_cast<uint32_t>(kv_layout().format));
  }

  // On CPU drivers the rows of a strip of tiles stay in a core's second cache while all panels pass
  // (docs/decisions/strips.md).
  [[nodiscard]] uint32_t strip_of(uint64_t tiles, uint64_t depth) const {
    constexpr uint64_t kStripBytes = 256 * 1024;
    if (tiles <= 1) return 0;
    if (kernel_.each != Each::of_invocation) return 1;
    const uint64_t most = kStripBytes / (kernel_.rows * depth * sizeof(float));
    return static_cast<uint32_t>(std::clamp<uint64_t>(most, 1, tiles));
  }

  [[nodiscard]] bool may_read_texels() const { return kernel_.each == Each::of_invocation; }
  void bind_words(Dispatch& d, const ByteSpan& words, uint32_t& delta) const {
    d.operands.push_back(bind_range(context_, 1, words, delta));
    if (may_read_texels()) bind_as_texels(d, kernel_.texels);
  }

  void bind_weight(const Slice& s, Dispatch& d, KvPush& p) const {
    const uint64_t panel_words = layout_.panel_words();
    uint32_t delta = 0;
    if (s.form == Form::q_kv) {
      bind_words(d, {w_, 0, layout_.words() * 4, graph::Access::read}, delta);
      p.plain.w_begin = 0;
      p.plain.bias_begin = static_cast<uint32_t>(layout_.bias_begin() / 4);
    } else {
      const uint64_t begin = s.panels.begin * panel_words + layout_.words_to(s.depth.begin);
      const uint64_t end = (s.panels.end - 1) * panel_words + layout_.words_to(s.depth.end);
      bind_words(d, {w_, begin * 4, end * 4, graph::Access::read}, delta);
      p.plain.w_begin = static_cast<uint32_t>(delta / 4 - s.panels.begin * panel_words / 4);
      const uint64_t bias = layout_.bias_begin();
      const uint64_t bias_first = bias + s.panels.begin * packed::kPanel,
                     bias_last = bias + s.panels.end * packed::kPanel;
      d.operands.push_back(bind_range(context_, 3, {w_, bias_first * 4, bias_last * 4, graph::Access::read}, delta));
      p.plain.bias_begin = static_cast<uint32_t>(delta / 4 - s.panels.begin * packed::kPanel / 4);
    }
    p.plain.panel4 = static_cast<uint32_t>(panel_words / 4);
  }

  void bind_y(const Slice& s, Dispatch& d, KvPush& p) const {
    const auto& y = tensor(y_);
    const uint64_t begin = s.rows.begin * y.ld + s.columns.begin;
    const uint64_t columns = std::min(s.columns.end, y.ld) - s.columns.begin;
    uint32_t delta = 0;
    d.operands.push_back(bind_range(
        context_, 2, {y_, begin * 4, begin * 4 + span_bytes(y, s.rows.size(), columns), graph::Access::read_write},
        delta));
    p.plain.y_begin = static_cast<uint32_t>(delta / 4 - s.columns.begin / 4);
    p.plain.y_ld4 = static_cast<uint32_t>(y.ld / 4);
    p.plain.y_cols = static_cast<uint32_t>(y.cols);
  }

  void bind_kv(const Slice& s, Dispatch& d, KvPush& p) const {
    const auto& kv = a_.kv;
    const uint64_t begin = kv_layout().word(s.kv_heads.begin, 0, s.kv_cells.begin);
    const uint64_t end = kv_layout().word(s.kv_heads.end - 1, 0, s.kv_cells.end);
    uint32_t delta = 0;
    d.operands.push_back(bind_range(context_, s.form == Form::q_kv ? 3 : 2,
                                    {kv_, begin * 4, end * 4, graph::Access::read_write}, delta));
    // The kernel counts cells from the first position that rows have.
    const uint64_t skipped = kv.layout == RowLayout::batch ? kv.first_position : 0;
    p.kv_begin = kv_layout().begin_of(begin, delta) - static_cast<uint32_t>(skipped * 2 * kv.head_dim);
    p.q_columns = a_.q_columns;
    p.head_dim = kv.head_dim;
    p.slots = kv.slots;
    p.positions = kv.positions;
    p.kv_first = static_cast<uint32_t>(s.kv_heads.begin * 2 * kv.head_dim);
    p.kv_last = static_cast<uint32_t>(s.kv_heads.end * 2 * kv.head_dim);
    p.cell_begin = static_cast<uint32_t>(s.kv_cells.begin - std::min(skipped, s.kv_cells.begin));
    p.cell_end = static_cast<uint32_t>(s.kv_cells.end - std::min(skipped, s.kv_cells.end));
    p.row_begin = static_cast<uint32_t>(s.rows.begin);
    p.rows_per_slot = kv.rows_per_slot;
  }

  Status emit(const Slice& s, bool first, bool last) {
    const auto& x = tensor(x_);
    Dispatch d;
    d.shader = shader(s.form);
    if (d.shader == MatmulKernel::kAbsent) return node_error(node_, "variant %s cannot do this", kernel_.name);
    KvPush p{};
    const uint64_t c_begin = s.columns.begin / 4, c_end = s.columns.end / 4;
    const uint32_t local = local_size(c_end - c_begin);
    const uint64_t tiles = div_up<uint64_t>(s.rows.size(), kernel_.rows);
    const uint64_t blocks = div_up<uint64_t>(c_end - c_begin, column_groups(kernel_, {local, numbers_.each}));
    d.groups = tiles * blocks;
    if (d.groups > max_groups(context_.caps))
      return node_error(node_, "%u workgroups exceed this device's grid", d.groups);
    const bool follows = x.live_rows && s.rows.size() == rows_;
    set_constants(d, s.form, first, last);
    d.constants[0] = local;
    if (follows) follow_live_rows(d, static_cast<uint32_t>(blocks), kernel_.rows);
    uint32_t delta = 0;
    d.operands.push_back(
        bind_range(context_, 0, {x_, (s.rows.begin * x.ld) * 4, s.rows.end * x.ld * 4, graph::Access::read}, delta));
    p.plain.groups = static_cast<uint32_t>(d.groups);
    p.plain.rows = static_cast<uint32_t>(s.rows.size());
    p.plain.tiles = static_cast<uint32_t>(tiles);
    p.plain.blocks = static_cast<uint32_t>(blocks);
    p.plain.strip = strip_of(tiles, s.depth.size());
    p.plain.c_begin = static_cast<uint32_t>(c_begin);
    p.plain.c_end = static_cast<uint32_t>(c_end);
    p.plain.k4 = static_cast<uint32_t>(s.depth.size() / 4);
    p.plain.x_begin = static_cast<uint32_t>(delta / 4 + s.depth.begin / 4);
    p.plain.x_ld4 = static_cast<uint32_t>(x.ld / 4);
    bind_weight(s, d, p);
    if (s.form != Form::kv) bind_y(s, d, p);
    if (s.form != Form::plain) bind_kv(s, d, p);
    if (s.form != Form::plain && (is_step() || is_spans())) LAPILLI_CHECK(bind_rows(d));
    if (normalizes_) {
      LAPILLI_CHECK(bind_norm(s, d, p));
    } else if (s.form == Form::plain) {
      d.set_push(p.plain);
    } else {
      d.set_push(p);
    }
    d.cost = 2.0 * static_cast<double>(s.rows.size() * (c_end - c_begin) * 4) * static_cast<double>(s.depth.size());
    out_.push_back(std::move(d));
    return {};
  }

  // The first workgroup of a row tile writes the normalized rows, if another node reads them.
  Status bind_norm(const Slice& s, Dispatch& d, const KvPush& p) const {
    const auto& x = tensor(x_);
    const bool writes = s.panels.begin == 0 && !tensor(norm_.y).scratch;
    LAPILLI_TRY(const auto weight, bind_whole(context_, 8, norm_.weight, graph::Access::read));
    LAPILLI_TRY(auto normalized, bind_whole(context_, 9, norm_.y, graph::Access::write));
    normalized.used = writes;
    d.operands.insert(d.operands.end(), {weight, normalized});
    const auto cols = static_cast<uint32_t>(x.cols), begin = static_cast<uint32_t>(s.rows.begin * x.ld / 4);
    if (s.form == Form::plain)
      d.set_push(PlainNormPush{p.plain, cols, norm_.how.epsilon, writes, begin});
    else
      d.set_push(KvNormPush{p, cols, norm_.how.epsilon, writes, begin});
    return {};
  }

  // Binds the words that give the destinations of rows.
  Status bind_rows(Dispatch& d) const {
    LAPILLI_TRY(const auto words, bind_whole(context_, 4, row_state_, graph::Access::read));
    d.operands.push_back(words);
    return {};
  }

  const LowerContext& context_;
  const graph::Node& node_;
  const MatmulKernel& kernel_;
  const Numbers numbers_;
  std::vector<Dispatch>& out_;
  const MatmulAttributes a_;
  const WeightLayout layout_;
  graph::TensorId x_ = graph::kNone, w_ = graph::kNone, row_state_ = graph::kNone, y_ = graph::kNone,
                  kv_ = graph::kNone;
  RowNorm norm_;
  bool residual_ = false, normalizes_ = false, gates_ = false;
  uint64_t limit_ = 0, room_ = 0, depth_ = 0, depth_slice_ = 0, rows_ = 0;
  Range64 all_depth_;
};

}  // namespace

uint32_t column_groups(const MatmulKernel& kernel, const Numbers& numbers) {
  if (kernel.column_groups != 0) return kernel.column_groups;
  if (kernel.each == Each::of_workgroup) return numbers.each;
  return numbers.local * std::max(1u, numbers.each);
}

Status lower_matmul(const LowerContext& context, const graph::Node& node, const MatmulKernel& kernel,
                    const Numbers& numbers, std::vector<Dispatch>& out) {
  return MatmulLowering(context, node, kernel, numbers, out).run();
}

}  // namespace lapilli
