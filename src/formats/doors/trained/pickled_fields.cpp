#include "formats/doors/trained/pickled_fields.hpp"

#include <cmath>

namespace lapilli::doors::trained {

namespace {

using Kind = PickleValue::Kind;

// The field of a container of omegaconf that holds its content; empty for others.
std::string_view content_of(std::string_view type) {
  if (type == "DictConfig" || type == "ListConfig") return "_content";
  return type.ends_with("Node") ? "_val" : std::string_view();
}

}  // namespace

PickleValue unwrapped(const Pickle& pickle, PickleValue value) {
  constexpr int kMostContainers = 8;  // one within another; a pickle may hold a container in itself
  for (int i = 0; i < kMostContainers && value.kind == Kind::dict; ++i) {
    const std::string_view field = content_of(pickle.containers[value.index].type);
    const PickleValue* content = field.empty() ? nullptr : pickle.at(value, field);
    if (!content) return value;
    value = *content;
  }
  return value;
}

PickledFields::PickledFields(const Pickle& pickle, const PickleValue& value) : value_(unwrapped(pickle, value)) {
  if (value_.kind == Kind::dict) pickle_ = &pickle;
}

const PickleValue* PickledFields::find(std::string_view key) const {
  const PickleValue* at = pickle_ ? pickle_->at(value_, key) : nullptr;
  return at && unwrapped(*pickle_, *at).kind != Kind::none ? at : nullptr;
}

PickledFields PickledFields::below(std::string_view key) const {
  const PickleValue* at = find(key);
  return at ? PickledFields(*pickle_, *at) : PickledFields();
}

std::optional<double> PickledFields::number(std::string_view key) const {
  const PickleValue* at = find(key);
  if (!at) return std::nullopt;
  const PickleValue v = unwrapped(*pickle_, *at);
  if (v.kind == Kind::real) return std::isfinite(v.real()) ? std::optional(v.real()) : std::nullopt;
  if (v.kind == Kind::integer || v.kind == Kind::boolean) return static_cast<double>(v.integer);
  return std::nullopt;
}

bool PickledFields::flag(std::string_view key, bool missing) const {
  if (const auto n = number(key)) return *n != 0;
  const std::string word = text(key);
  return word.empty() ? missing : word == "True" || word == "true" || word == "1";
}

std::string PickledFields::text(std::string_view key, std::string_view missing) const {
  const PickleValue* at = find(key);
  const PickleValue v = at ? unwrapped(*pickle_, *at) : PickleValue();
  return std::string(v.kind == Kind::text ? pickle_->text(v) : missing);
}

}  // namespace lapilli::doors::trained
