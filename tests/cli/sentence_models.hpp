// Small encoders of texts, and copies of them whose weights are changed.
#pragma once

#include <cstring>
#include <functional>

#include "cli/program.hpp"

namespace lapilli::test {

using Vector = std::vector<float>;

inline std::string sentence_model(const std::string& name) { return LAPILLI_TEST_DATA "/sentences/" + name + "/model"; }

// A copy of a model, of which `change` alters a tensor.
inline std::string changed_model(const TemporaryFolder& folder, const std::string& from, const std::string& tensor,
                                 const std::function<void(Vector&)>& change) {
  const std::string model = (folder.path() / "model").string();
  if (!fs::exists(model)) fs::copy(sentence_model(from), model, fs::copy_options::recursive);
  std::string bytes = read_file(model + "/model.safetensors");
  uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  const nlohmann::json place = nlohmann::json::parse(bytes.substr(8, header))[tensor]["data_offsets"];
  const size_t begin = 8 + header + place[0].get<size_t>(), size = place[1].get<size_t>() - place[0].get<size_t>();
  Vector values(size / sizeof(float));
  std::memcpy(values.data(), bytes.data() + begin, size);
  change(values);
  std::memcpy(bytes.data() + begin, values.data(), size);
  folder.file("model/model.safetensors", bytes);
  return model;
}

}  // namespace lapilli::test
