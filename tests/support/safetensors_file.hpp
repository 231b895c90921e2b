// A safetensors file of float32 tensors that a test puts together, in a directory of its own that ends with it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/temp_directory.hpp"

namespace lapilli::testing_support {

class SafetensorsFile {
 public:
  struct Tensor {
    std::vector<uint64_t> shape;
    std::vector<float> values;
  };
  std::map<std::string, Tensor> tensors;

  [[nodiscard]] const std::string& directory() const { return directory_.path(); }
  [[nodiscard]] std::string path() const { return directory() + "/model.safetensors"; }

  void write() const {
    nlohmann::json header = nlohmann::json::object();
    uint64_t at = 0;
    for (const auto& [name, t] : tensors) {
      header[name] = {{"dtype", "F32"}, {"shape", t.shape}, {"data_offsets", {at, at + 4 * t.values.size()}}};
      at += 4 * t.values.size();
    }
    const std::string text = header.dump();
    const uint64_t size = text.size();
    remove_even_mapped(path());  // an earlier one may be mapped
    std::ofstream out(path(), std::ios::binary);
    out.write(reinterpret_cast<const char*>(&size), 8);
    out.write(text.data(), static_cast<std::streamsize>(size));
    for (const auto& [name, t] : tensors)
      out.write(reinterpret_cast<const char*>(t.values.data()), static_cast<std::streamsize>(4 * t.values.size()));
    EXPECT_TRUE(out.good()) << path();
  }

 private:
  TempDirectory directory_;
};

}  // namespace lapilli::testing_support
