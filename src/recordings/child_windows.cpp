#include <io.h>
#include <windows.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "base/path.hpp"
#include "recordings/child.hpp"

namespace lapilli::recordings {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
constexpr milliseconds kOften(5);  // polling interval: anonymous pipes cannot be waited for

// Owns a handle.
class Handle {
 public:
  explicit Handle(HANDLE handle = nullptr) : handle_(handle == INVALID_HANDLE_VALUE ? nullptr : handle) {}
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Handle() { close(); }
  [[nodiscard]] HANDLE get() const { return handle_; }
  void close() {
    if (handle_) CloseHandle(std::exchange(handle_, nullptr));
  }

 private:
  HANDLE handle_;
};

SECURITY_ATTRIBUTES inherited() { return {sizeof(SECURITY_ATTRIBUTES), nullptr, TRUE}; }

struct Pipe {
  Handle from, to;
};

// The writing end is inherited.
bool open_pipe(Pipe& pipe) {
  SECURITY_ATTRIBUTES security = inherited();
  HANDLE from = nullptr, to = nullptr;
  if (!CreatePipe(&from, &to, &security, 0)) return false;
  pipe.from = Handle(from);
  pipe.to = Handle(to);
  return SetHandleInformation(from, HANDLE_FLAG_INHERIT, 0) != 0;
}

Handle input_of(std::FILE* input) {
  SECURITY_ATTRIBUTES security = inherited();
  if (!input)
    return Handle(
        CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, &security, OPEN_EXISTING, 0, nullptr));
  HANDLE copy = nullptr;
  const auto own = reinterpret_cast<HANDLE>(_get_osfhandle(_fileno(input)));
  DuplicateHandle(GetCurrentProcess(), own, GetCurrentProcess(), &copy, 0, TRUE, DUPLICATE_SAME_ACCESS);
  return Handle(copy);
}

// Quoting as programs parse a command line: backslashes count only before quotes.
std::string quoted(const std::string& argument) {
  std::string text = "\"";
  size_t backslashes = 0;
  for (const char c : argument) {
    if (c == '"') text.append(backslashes + 1, '\\');
    backslashes = c == '\\' ? backslashes + 1 : 0;
    text += c;
  }
  return text.append(backslashes, '\\') + "\"";
}

class WindowsChild : public Child {
 public:
  WindowsChild(Handle process, Handle out, Handle err)
      : process_(std::move(process)), out_(std::move(out)), err_(std::move(err)) {}
  WindowsChild(const WindowsChild&) = delete;
  WindowsChild& operator=(const WindowsChild&) = delete;
  ~WindowsChild() override { end(); }

  Result<size_t> read(std::span<std::byte> to, milliseconds most) override {
    const auto until = Clock::now() + most;
    for (; Clock::now() < until; std::this_thread::sleep_for(kOften)) {
      read_errors();
      DWORD there = 0, got = 0;
      if (!PeekNamedPipe(out_.get(), nullptr, 0, nullptr, &there, nullptr)) return size_t{0};  // no writer is left
      if (there == 0) continue;
      const auto room = static_cast<DWORD>(std::min<size_t>(to.size(), 65536));
      return ReadFile(out_.get(), to.data(), room, &got, nullptr) ? size_t{got} : size_t{0};
    }
    return fail(ErrorCode::timeout, "nothing came for %.1f s", std::chrono::duration<double>(most).count());
  }

  int wait() override {
    constexpr milliseconds kMost(5000);
    out_.close();
    DWORD code = 1;
    for (const auto until = Clock::now() + kMost; Clock::now() < until;) {
      read_errors();
      if (WaitForSingleObject(process_.get(), static_cast<DWORD>(kOften.count())) != WAIT_OBJECT_0) continue;
      read_errors();
      return GetExitCodeProcess(process_.get(), &code) ? static_cast<int>(code) : -1;
    }
    end();
    return -1;
  }

  [[nodiscard]] std::string last_words() const override { return words_.in_one_line(); }

 private:
  void read_errors() {
    char room[4096];
    DWORD there = 0, got = 0;
    while (PeekNamedPipe(err_.get(), nullptr, 0, nullptr, &there, nullptr) && there > 0 &&
           ReadFile(err_.get(), room, sizeof room, &got, nullptr))
      words_.add({room, got});
  }

  void end() {
    if (process_.get()) TerminateProcess(process_.get(), 1);
    process_.close();
  }

  Handle process_, out_, err_;
  TextEnd words_;
};

}  // namespace

Result<std::unique_ptr<Child>> start_child(const std::string& program, const std::vector<std::string>& arguments,
                                           std::FILE* input) {
  std::string line = quoted(program);
  for (const std::string& a : arguments) line += " " + quoted(a);
  Pipe out, err;
  if (!open_pipe(out) || !open_pipe(err)) return fail(ErrorCode::internal, "%s: no pipe", program);
  const Handle in = input_of(input);
  STARTUPINFOW start{};
  start.cb = sizeof start;
  start.dwFlags = STARTF_USESTDHANDLES;
  start.hStdInput = in.get();
  start.hStdOutput = out.to.get();
  start.hStdError = err.to.get();
  PROCESS_INFORMATION made{};
  std::wstring wide = to_wide(line);
  if (!CreateProcessW(to_wide(program).c_str(), wide.data(), nullptr, nullptr, TRUE, CREATE_NO_WINDOW, nullptr, nullptr,
                      &start, &made))
    return fail(ErrorCode::unsupported, "%s cannot be started (error %u)", program, GetLastError());
  CloseHandle(made.hThread);
  return std::unique_ptr<Child>(new WindowsChild(Handle(made.hProcess), std::move(out.from), std::move(err.from)));
}

}  // namespace lapilli::recordings
