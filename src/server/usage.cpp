#include "server/usage.hpp"

#include "server/metrics.hpp"

namespace lapilli::server {

namespace {

struct Counter {
  const char *name, *help;
  double (*value)(const Usage& usage);
};

template <uint64_t Usage::*member>
double whole(const Usage& usage) {
  return static_cast<double>(usage.*member);
}

constexpr Counter kCounters[] = {
    {"lapilli_work_requests_total", "Requests of routes with work, by protocol and number of the key",
     &whole<&Usage::requests>},
    {"lapilli_characters_total", "Characters of texts that came", &whole<&Usage::characters>},
    {"lapilli_documents_total", "Documents that came", &whole<&Usage::documents>},
    {"lapilli_pictures_total", "Pictures that came", &whole<&Usage::pictures>},
    {"lapilli_sound_seconds_total", "Seconds of recordings that came",
     [](const Usage& usage) { return static_cast<double>(usage.sound_ms) / 1000; }},
    {"lapilli_read_tokens_total", "Tokens of texts that models read", &whole<&Usage::read_tokens>},
    {"lapilli_written_tokens_total", "Tokens of the best sequences that models wrote", &whole<&Usage::written_tokens>},
};

std::string labels_of(const std::string& protocol, size_t key) {
  return "{protocol=\"" + protocol + "\"" + (key > 0 ? ",key=\"" + std::to_string(key) + "\"" : "") + "}";
}

}  // namespace

Usage& Usage::operator+=(const Usage& more) {
  requests += more.requests;
  characters += more.characters;
  documents += more.documents;
  pictures += more.pictures;
  sound_ms += more.sound_ms;
  read_tokens += more.read_tokens;
  written_tokens += more.written_tokens;
  return *this;
}

void Account::add(const Usage& more) {
  const std::lock_guard lock(mutex_);
  usage_ += more;
}

Usage Account::now() const {
  const std::lock_guard lock(mutex_);
  return usage_;
}

std::shared_ptr<Account> Ledger::account(const std::string& protocol, size_t key) {
  const std::lock_guard lock(mutex_);
  auto& account = accounts_[{protocol, key}];
  if (!account) account = std::make_shared<Account>();
  return account;
}

Usage Ledger::of_key(size_t key) const {
  Usage all;
  const std::lock_guard lock(mutex_);
  for (const auto& [of, account] : accounts_)
    if (of.second == key) all += account->now();
  return all;
}

std::string Ledger::text() const {
  std::string all;
  const std::lock_guard lock(mutex_);
  for (const Counter& counter : kCounters) {
    all += metric_head(counter.name, "counter", counter.help);
    for (const auto& [of, account] : accounts_)
      all += counter.name + labels_of(of.first, of.second) + " " + metric_number(counter.value(account->now())) + "\n";
  }
  return all;
}

}  // namespace lapilli::server
