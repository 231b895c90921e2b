#include "support/search_records.hpp"

#include <cmath>

#include "base/worst.hpp"
#include "formats/hf_config.hpp"

namespace lapilli::search_records {

Result<Recorded> Recorded::open(const std::string& directory) {
  Recorded r;
  LAPILLI_TRY(r.info, read_json_file(directory + "/expected.json", size_t{64} << 20));
  LAPILLI_TRY(r.checkpoint_, Checkpoint::open_file(directory + "/expected.safetensors"));
  return r;
}

namespace {
Result<const StoredTensor*> find_matrix(const Checkpoint& checkpoint, const std::string& name) {
  const auto* t = checkpoint.find(name);
  if (!t) return fail(ErrorCode::invalid_data, "tensor %s is missing", name.c_str());
  if (t->shape.size() != 2 || t->shape[0] == 0 || t->shape[1] == 0)
    return fail(ErrorCode::invalid_data, "tensor %s is not a matrix", name.c_str());
  return t;
}
}  // namespace

Result<Matrix> Recorded::matrix(const std::string& name) const {
  LAPILLI_TRY(const auto* t, find_matrix(checkpoint_, name));
  Matrix m{t->shape[0], t->shape[1], {}};
  LAPILLI_TRY(m.values, read_floats(*t));
  return m;
}

Result<Rows> Recorded::ids(const std::string& name) const {
  LAPILLI_TRY(const auto* t, find_matrix(checkpoint_, name));
  LAPILLI_TRY(const auto values, read_integers(*t));
  Rows rows(t->shape[0]);
  for (size_t i = 0; i < values.size(); ++i) rows[i / t->shape[1]].push_back(static_cast<int32_t>(values[i]));
  return rows;
}

void Comparison::number(double seen, double allowed, const std::string& what) {
  seen = worse(0, seen);
  if (!(seen <= allowed)) problems.push_back(what + format(" deviates by %g", seen));
  if (tolerance == 0 || !(seen * tolerance <= deviation * allowed)) {
    deviation = seen;
    tolerance = allowed;
  }
}

}  // namespace lapilli::search_records
