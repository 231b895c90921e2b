#include "hub/registry_fetch.hpp"

#include <algorithm>
#include <map>

#include "hub/digest.hpp"
#include "hub/url.hpp"

namespace lapilli::hub {

namespace {

constexpr size_t kMostListBytes = size_t{32} << 20;
constexpr uint64_t kMostFileBytes = uint64_t{8} << 30;

Result<std::string> text_at(Requests& requests, const std::string& url, const std::string& what) {
  std::string body;
  LAPILLI_CHECK(requests.repeat([&] {
    body.clear();
    const Receive receive = [&body](const HttpHead&, std::string_view bytes) {
      body += bytes;
      return body.size() <= kMostListBytes;
    };
    return requests.get(url, 0, receive, what);
  }));
  return body;
}

// The server's word, for lists that state no size: the head of an answer whose body is not wanted.
Result<uint64_t> size_at(Requests& requests, const std::string& url, const std::string& what) {
  std::optional<uint64_t> size;
  bool answered = false;
  const Status asked = requests.repeat([&] {
    const Receive receive = [&](const HttpHead& head, std::string_view) {
      answered = true;
      size = head.length;
      return false;
    };
    auto tried = requests.get(url, 0, receive, what);
    return answered ? Requests::Try{} : tried;
  });
  LAPILLI_CHECK(asked);
  if (size && *size > 0 && *size <= kMostFileBytes) return *size;
  return fail(ErrorCode::invalid_data, "%s states no size of %s, or one that is no model's", url, what);
}

// The first address that answers.
Result<std::pair<std::string, uint64_t>> find_address(Requests& requests, const OfferedFile& file) {
  if (file.size) return std::pair{file.urls.front(), *file.size};
  Status last = fail(ErrorCode::not_found, "%s has no address", file.name);
  for (const std::string& url : file.urls) {
    const auto size = size_at(requests, url, file.name);
    if (size) return std::pair{url, *size};
    last = size.error();
    if (last.error().code == ErrorCode::cancelled) break;
  }
  return last.error();
}

// In place of a commit: equal for equal content, as far as the list tells.
std::string mark_of(const OfferedModel& model) {
  Digest digest(Digest::Kind::sha256);
  digest.update(model.from + "\n" + model.to + "\n" + model.version + "\n");
  for (const OfferedFile& file : model.files)
    digest.update(file.name + "\n" + (file.sha256.empty() ? file.urls.front() : file.sha256) + "\n");
  return digest.hex();
}

Result<Offer> offer_of(Requests& requests, const OfferedModel& model, const Registry& registry) {
  Offer offer{{mark_of(model), registry.licence, {}}, model.version, {}};
  std::map<std::string, std::string> addresses;
  for (const OfferedFile& file : model.files) {
    LAPILLI_TRY(const auto found, find_address(requests, file));
    addresses[file.name] = found.first;
    offer.repository.files.push_back({file.name, found.second, file.sha256, ""});
  }
  offer.url = [addresses](const HubFile& file) { return addresses.at(file.name); };
  return offer;
}

FetchSettings settings_for(const FetchSettings& settings, const Registry& registry) {
  FetchSettings own = settings;
  own.hub = {origin_of(registry.index), ""};
  return own;
}

}  // namespace

Result<std::vector<OfferedModel>> ask_registry(const FetchSettings& settings, const Registry& registry,
                                               const FetchWatch& watch) {
  const Hub hub = settings_for(settings, registry).hub;
  LAPILLI_TRY(auto requests, Requests::make(hub, settings.patience, settings.limits, watch.stopped, watch.note));
  LAPILLI_TRY(const auto text, text_at(requests, registry.index, "the list of " + registry.program));
  return read_offers(registry, text);
}

Result<FetchedOffer> fetch_pair(const FetchSettings& settings, const Registry& registry, const LanguageCodes& pair,
                                const SameLanguage& same, const FetchWatch& watch) {
  LAPILLI_TRY(const auto offers, ask_registry(settings, registry, watch));
  const OfferedModel* model = find_offer(offers, pair, same);
  if (!model)
    return fail(ErrorCode::not_found, "%s has no model from %s to %s; lapilli models --registry %s lists what it has",
                registry.program, pair.from, pair.to, registry.name);
  const ModelName name{registry.name, model->from + "_" + model->to, "", ""};
  const Ask ask = [&](Requests& requests) { return offer_of(requests, *model, registry); };
  const Select all = [](const Repository& repository) { return Result<Selection>(Selection{repository.files, {}}); };
  LAPILLI_TRY(auto fetched, fetch_offered(settings_for(settings, registry), name, watch, ask, all));
  return FetchedOffer{std::move(fetched), name.text()};
}

}  // namespace lapilli::hub
