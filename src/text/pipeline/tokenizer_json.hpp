// tokenizer.json: the serialized pipeline. Components can be read one by one, for families that rebuild some of them.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "text/pipeline/pipeline_tokenizer.hpp"

namespace lapilli {

class TokenizerJson {
 public:
  // Errors name the file: no JSON, nested too deeply, not an object.
  static Result<TokenizerJson> load(const FileName& path);
  TokenizerJson(TokenizerJson&&) noexcept;
  TokenizerJson& operator=(TokenizerJson&&) noexcept;
  ~TokenizerJson();

  // Null if the file has null or nothing. Errors name file, field and component; unknown components are
  // ErrorCode::unsupported.
  [[nodiscard]] Result<NormalizerPtr> normalizer() const;
  [[nodiscard]] Result<PreTokenizerPtr> pre_tokenizer() const;
  [[nodiscard]] Result<ModelPtr> model() const;  // never null
  [[nodiscard]] Result<PostProcessorPtr> post_processor() const;
  [[nodiscard]] Result<DecoderPtr> decoder() const;
  [[nodiscard]] Result<std::vector<AddedToken>> added_tokens() const;
  // The bytes of the normalizer's first precompiled_charsmap; empty if there is none.
  [[nodiscard]] Result<std::string> charsmap() const;
  // True if "padding" asks for padding on the left.
  [[nodiscard]] bool pads_left() const;

  // The whole pipeline, unchanged.
  [[nodiscard]] Result<Pipeline> pipeline() const;
  [[nodiscard]] const nlohmann::json& document() const { return *json_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  TokenizerJson(std::string path, std::unique_ptr<const nlohmann::json> json);
  std::string path_;
  std::unique_ptr<const nlohmann::json> json_;
};

}  // namespace lapilli
