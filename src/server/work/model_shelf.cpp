#include "server/work/model_shelf.hpp"

#include <algorithm>
#include <utility>

namespace lapilli::server {

ModelShelf::ModelShelf(std::vector<ModelFacts> models, Device device, Limits limits, std::function<void()> changed)
    : facts_(std::move(models)),
      device_(std::move(device)),
      limits_(std::move(limits)),
      changed_(std::move(changed)),
      entries_(facts_.size()),
      loader_([this] { work(); }) {}

ModelShelf::~ModelShelf() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  woken_.notify_all();
  loader_.join();
}

size_t ModelShelf::number_of(const std::string& name) const {
  const auto is_it = [&](const ModelFacts& model) { return model.name == name; };
  return static_cast<size_t>(std::ranges::find_if(facts_, is_it) - facts_.begin());
}

std::shared_ptr<const Model> ModelShelf::get(const std::string& name) {
  const size_t number = number_of(name);
  if (number == facts_.size()) return nullptr;
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[number];
  entry.used = Clock::now();
  // One that nobody waited for is no answer to a later request.
  if (entry.failure && entry.used - entry.failed > std::chrono::seconds(1)) entry.failure.reset();
  if (entry.model || entry.failure || std::exchange(entry.wanted, true)) return entry.model;
  wanted_.push_back(number);
  woken_.notify_all();
  return nullptr;
}

std::optional<Error> ModelShelf::take_failure(const std::string& name) {
  const size_t number = number_of(name);
  if (number == facts_.size()) return Error(lapilli::Status::not_found, "there is no model " + name);
  const std::lock_guard lock(mutex_);
  return std::exchange(entries_[number].failure, std::nullopt);
}

void ModelShelf::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    woken_.wait(lock, [this] { return over_ || !wanted_.empty(); });
    if (over_) return;
    const size_t number = wanted_.front();
    wanted_.pop_front();
    ++loads_;
    lock.unlock();
    load(number);
    changed_();
  }
}

void ModelShelf::load(size_t number) {
  auto loaded = try_load(facts_[number].directory);
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[number];
  entry.wanted = false;
  entry.used = Clock::now();
  if (loaded)
    entry.model = std::make_shared<const Model>(std::move(*loaded));
  else
    entry.failure = loaded.error(), entry.failed = Clock::now();
}

void ModelShelf::touch(const std::string& name) {
  const size_t number = number_of(name);
  const std::lock_guard lock(mutex_);
  if (number < entries_.size()) entries_[number].used = Clock::now();
}

bool ModelShelf::is_loading() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(entries_, [](const Entry& entry) { return entry.wanted; });
}

// A model whose last answer is out is let go a moment later, so one that is at work is waited for, for a while.
Result<Model> ModelShelf::try_load(const std::string& directory) {
  constexpr std::chrono::milliseconds kPatience(2000), kOften(20);
  const auto until = Clock::now() + kPatience;
  for (;;) {
    auto loaded = Model::load(device_, directory, limits_.model);
    const bool too_large = !loaded && loaded.error().status() == lapilli::Status::out_of_memory;
    if (!too_large) return loaded;
    while (!make_room()) {
      if (Clock::now() > until || !has_others()) return loaded;
      std::this_thread::sleep_for(kOften);
    }
  }
}

bool ModelShelf::has_others() const {
  const std::lock_guard lock(mutex_);
  return !over_ && std::ranges::any_of(entries_, [](const Entry& entry) { return entry.model != nullptr; });
}

// The model that has been without work for longest; none if all are at work.
std::shared_ptr<const Model> ModelShelf::oldest_unused() {
  const std::lock_guard lock(mutex_);
  Entry* oldest = nullptr;
  for (Entry& entry : entries_)
    if (entry.model && entry.model.use_count() == 1 && (oldest == nullptr || entry.used < oldest->used))
      oldest = &entry;
  return oldest == nullptr ? nullptr : std::exchange(oldest->model, nullptr);
}

// False if there is nothing to drop.
bool ModelShelf::make_room() {
  const bool dropped = oldest_unused() != nullptr;  // the pointer dies here
  (void)device_.trim();
  return dropped;
}

void ModelShelf::drop_idle() {
  if (limits_.idle_s <= 0) return;
  std::vector<std::shared_ptr<const Model>> dropped;  // freed outside the lock
  const auto oldest =
      Clock::now() - std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limits_.idle_s));
  const std::lock_guard lock(mutex_);
  for (Entry& entry : entries_)
    if (entry.model && entry.model.use_count() == 1 && entry.used < oldest)
      dropped.push_back(std::exchange(entry.model, nullptr));
}

std::vector<ModelShelf::Loaded> ModelShelf::loaded() const {
  std::vector<Loaded> all;
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].model) continue;
    const auto info = entries_[i].model->info();
    all.push_back({facts_[i].name, info ? info->weight_bytes : 0, info ? info->load_ms : 0});
  }
  return all;
}

uint64_t ModelShelf::loads() const {
  const std::lock_guard lock(mutex_);
  return loads_;
}

}  // namespace lapilli::server
