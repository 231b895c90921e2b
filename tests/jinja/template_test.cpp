// Templates: published ones and random ones against records of jinja2, and hostile ones.
#include "jinja/template.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <new>
#include <nlohmann/json.hpp>
#include <random>

namespace {
// The most bytes that were asked for at once.
std::atomic<size_t> largest_request = 0;

void* get(size_t n) {
  if (n > largest_request) largest_request = n;
  if (void* p = std::malloc(n ? n : 1)) return p;
  throw std::bad_alloc();
}
}  // namespace

void* operator new(size_t n) { return get(n); }
void* operator new[](size_t n) { return get(n); }
// All forms, since what one gives another may take back.
void* operator new(size_t n, const std::nothrow_t&) noexcept { return std::malloc(n ? n : 1); }
void* operator new[](size_t n, const std::nothrow_t&) noexcept { return std::malloc(n ? n : 1); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }

namespace lapilli::jinja {
namespace {

// Begins to watch the sizes of allocations.
class LargestRequest {
 public:
  LargestRequest() { largest_request = 0; }
  [[nodiscard]] size_t bytes() const { return largest_request; }
};

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

Json read_record(const char* name) {
  std::ifstream file(std::string(LAPILLI_TEST_DATA) + "/jinja/" + name);
  return Json::parse(file);
}

// 2025-03-09 14:05, the clock of the records.
RenderOptions at_record_time() {
  std::tm now{};
  now.tm_year = 125;
  now.tm_mon = 2;
  now.tm_mday = 9;
  now.tm_hour = 14;
  now.tm_min = 5;
  now.tm_yday = 67;
  RenderOptions options;
  options.now = now;
  return options;
}

Result<std::string> rendered(const std::string& source, const Json& variables = Json::object()) {
  const auto t = Template::parse(source);
  if (!t) return Error(t.error());
  return t->render(variables, at_record_time());
}

std::string text_of(const std::string& source, const Json& variables = Json::object()) {
  const auto text = rendered(source, variables);
  EXPECT_TRUE(text.ok()) << source << "\n" << text.error().message;
  return text ? *text : "";
}

std::string error_of(const std::string& source, const Json& variables = Json::object()) {
  const auto text = rendered(source, variables);
  EXPECT_FALSE(text.ok()) << source;
  return text ? "" : text.error().message;
}

// ---- records ------------------------------------------------------------------------------------------------------

const Json& template_of(const Json& record, const Json& chat) {
  const Json& named = record["templates"][chat["template"].get<std::string>()];
  const bool tools = chat["arguments"].contains("tools") && named.contains("tool_use");
  return named[tools ? "tool_use" : "default"];
}

Json variables_of(const Json& chat) {
  Json all = chat["special_tokens"];
  all["tools"] = all["documents"] = nullptr;
  all.update(chat["arguments"]);
  all["messages"] = chat["messages"];
  return all;
}

TEST(Template, WritesPublishedChatsLetterForLetter) {
  const Json record = read_record("chat.json");
  ASSERT_EQ(record["cases"].size(), 24u);
  for (const Json& chat : record["cases"]) {
    const auto text = rendered(template_of(record, chat).get<std::string>(), variables_of(chat));
    if (chat.contains("text"))
      EXPECT_EQ(text ? *text : text.error().message, chat["text"].get<std::string>()) << chat["name"];
    else
      EXPECT_THAT(text ? "" : text.error().message, HasSubstr(chat["error"].get<std::string>())) << chat["name"];
  }
}

TEST(Template, RandomTemplatesGiveWhatTheReferenceGives) {
  const Json record = read_record("random.json");
  ASSERT_GE(record["cases"].size(), 300u);
  for (const Json& one : record["cases"]) {
    const auto text = rendered(one["template"].get<std::string>(), record["variables"]);
    if (one.contains("text"))
      EXPECT_EQ(text ? *text : text.error().message, one["text"].get<std::string>()) << one["template"];
    else
      EXPECT_FALSE(text.ok()) << one["template"];
  }
}

// ---- the language -------------------------------------------------------------------------------------------------

TEST(Template, TrimsBlocksAndBlanksBeforeThem) {
  EXPECT_EQ(text_of("{% if true %}\n  a\n  {% endif %}\nb\n"), "  a\nb");
  EXPECT_EQ(text_of("x\n    {% for i in [1, 2] %}\n{{ i }}\n    {% endfor %}\ny"), "x\n1\n2\ny");
  EXPECT_EQ(text_of("a {%+ if true %}b{% endif %}\n\nc"), "a b\nc");
  EXPECT_EQ(text_of("a  {{- 1 -}}  b"), "a1b");
  EXPECT_EQ(text_of("{# note #}\na"), "a");
  EXPECT_EQ(text_of("a\r\n{{ 'b' }}\r\n"), "a\nb");
  EXPECT_EQ(text_of("{% raw %}{{ x }}{% endraw %}"), "{{ x }}");
}

TEST(Template, KeepsNamesToTheirBlocks) {
  EXPECT_EQ(text_of("{% set x = 1 %}{% for i in [1] %}{% set x = 2 %}{% endfor %}{{ x }}"), "1");
  EXPECT_EQ(text_of("{% set n = namespace(x=1) %}{% for i in [1, 2] %}{% set n.x = n.x + i %}{% endfor %}{{ n.x }}"),
            "4");
  EXPECT_EQ(text_of("{% macro m(a, b='q') %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}{{ m(1, b=2) }}"), "1q12");
  EXPECT_EQ(text_of("{% macro m() %}<{{ caller(3) }}>{% endmacro %}{% call(x) m() %}{{ x }}{% endcall %}"), "<3>");
  EXPECT_EQ(text_of("{% set x %}a{% endset %}{{ x }}{% with y = 2 %}{{ y }}{% endwith %}{{ y }}"), "a2");
  EXPECT_EQ(text_of("{% set x | upper %}a{% endset %}{{ x }}{% filter upper %}b{% endfilter %}"), "AB");
}

TEST(Template, LeavesLoopsAndTellsPlaces) {
  EXPECT_EQ(
      text_of("{% for i in range(9) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 3 %}{% break %}{% endif %}"
              "{{ i }}{% endfor %}"),
      "02");
  EXPECT_EQ(
      text_of("{% for k, v in {'a': 1, 'b': 2}.items() %}{{ loop.index0 }}{{ k }}{{ v }}{{ loop.last }}{% endfor %}"),
      "0a1False1b2True");
  EXPECT_EQ(text_of("{% for i in [] %}{% else %}none{% endfor %}"), "none");
  EXPECT_EQ(text_of("{% for i in [1, 2, 3] if i != 2 %}{{ loop.length }}{% endfor %}"), "22");
}

TEST(Template, WritesJsonAsTheReferenceSetsItUp) {
  const Json v = Json::parse(R"({"x": {"b": "é<'\"\n", "a": [1, 2.0, true, null], "e": {}}})");
  EXPECT_EQ(text_of("{{ x | tojson }}", v), R"({"b": "é<'\"\n", "a": [1, 2.0, true, null], "e": {}})");
  EXPECT_EQ(text_of("{{ x.b | tojson(ensure_ascii=False) }}{{ x.b[0] | tojson(ensure_ascii=True) }}", v),
            R"("é<'\"\n""\u00e9")");
  EXPECT_EQ(text_of("{{ x.a | tojson(indent=2) }}", v), "[\n  1,\n  2.0,\n  true,\n  null\n]");
  EXPECT_EQ(text_of("{{ strftime_now('%d %b %Y, %A %-d %H:%M') }}"), "09 Mar 2025, Sunday 9 14:05");
}

TEST(Template, RefusesInItsOwnWords) {
  const auto refused = rendered("{{ raise_exception('System role not supported') }}");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(refused.error().message, "System role not supported");
}

TEST(Template, SaysWhatAndWhere) {
  EXPECT_EQ(error_of("a\n{{ x + 1 }}"), "line 2: 'x' is undefined");
  EXPECT_EQ(error_of("{{ d.xx + 'a' }}", Json{{"d", Json::object()}}), "line 1: 'dict object' has no attribute 'xx'");
  EXPECT_THAT(error_of("\n\n{{ 1 | nothing }}"), HasSubstr("line 3: the filter \"nothing\" is not known"));
  EXPECT_THAT(error_of("{% include 'x' %}"), HasSubstr("\"include\" is not run"));
  EXPECT_THAT(error_of("{% for a in b recursive %}{% endfor %}"), HasSubstr("recursive loops are not run"));
  EXPECT_THAT(error_of("{{ [].append(1) }}"), HasSubstr("may not change a list"));
  EXPECT_THAT(error_of("{{ ''.__class__ }}"), HasSubstr("not safe"));
  EXPECT_THAT(error_of("{% break %}"), HasSubstr("outside of a loop"));
  EXPECT_THAT(error_of("{% if x %}"), HasSubstr("the end of the template"));
}

// ---- hostile ------------------------------------------------------------------------------------------------------

std::string repeated(const std::string& text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

TEST(HostileTemplate, EndsWhateverItAsksFor) {
  const std::string many = "range(100000)";
  for (const std::string& source : std::vector<std::string>{
           "{% for a in " + many + " %}{% for b in " + many + " %}{% endfor %}{% endfor %}",
           "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
           "{% macro m(x=m()) %}{% endmacro %}{{ m() }}",
           ("{{ 'a' * 999999999999 }}"),
           ("{{ [1] * 999999999999 }}"),
           ("{{ 'a'.ljust(999999999999) }}"),
           ("{{ 'a' | center(999999999999) }}"),
           ("{{ '%999999999d' % 1 }}"),
           ("{{ 'a' | indent(999999999999, true) }}"),
           ("{{ range(999999999) }}"),
           ("{{ 2 ** 9999999 }}"),
           ("{{ 9223372036854775807 + 1 }}"),
           ("{{ (-9223372036854775807 - 1) // -1 }}"),
           ("{% set x = namespace(s='a') %}{% for i in range(60) %}{% set x.s = x.s + x.s %}{% endfor %}"),
           ("{% set x = namespace(s='a') %}{% for i in range(60) %}{% set x.s = x.s.replace('a', 'aaaa') %}"
            "{% endfor %}"),
           "{% for i in " + many + " %}{{ 'a' * 9999 }}{% endfor %}",
           ("{% set x = namespace(v=[]) %}{% for i in range(9999) %}{% set x.v = [x.v] %}{% endfor %}{{ x.v }}"),
           ("{% set x = namespace(v=[]) %}{% for i in range(9999) %}{% set x.v = [x.v] %}{% endfor %}"
            "{{ x.v == [x.v] }}{{ x.v | tojson }}"),
           ("{% set x = namespace() %}{% set x.x = x %}{{ x }}"),
       })
    EXPECT_FALSE(error_of(source).empty()) << source;
}

TEST(HostileTemplate, NestsNoDeeperThanTheStackAllows) {
  for (const auto& [open, close] : {std::pair<std::string, std::string>{"(", ")"}, {"[", "]"}, {"{1:", "}"}})
    EXPECT_THAT(error_of("{{ " + repeated(open, 100'000) + "1" + repeated(close, 100'000) + " }}"), HasSubstr("deep"));
  EXPECT_THAT(error_of("{{ " + repeated("not ", 100'000) + "1 }}"), HasSubstr("deep"));
  EXPECT_THAT(error_of("{{ " + repeated("-", 100'000) + "1 }}"), HasSubstr("deep"));
  EXPECT_THAT(error_of("{{ 1" + repeated("+1", 100'000) + " }}"), HasSubstr("levels"));
  EXPECT_THAT(error_of("{{ x" + repeated(".x", 100'000) + " }}"), HasSubstr("levels"));
  EXPECT_THAT(error_of("{{ 1" + repeated("|string", 100'000) + " }}"), HasSubstr("levels"));
  EXPECT_THAT(error_of("{{ 1" + repeated(" if 1 else 1", 50'000) + " }}"), HasSubstr("deep"));
  EXPECT_THAT(error_of(repeated("{% if 1 %}", 40'000) + repeated("{% endif %}", 40'000)), HasSubstr("deep"));
  EXPECT_THAT(error_of(std::string((size_t{1} << 20) + 1, 'a')), HasSubstr("at most"));
}

TEST(HostileTemplate, AsksForFillersBeforeItMakesThem) {
  for (const char* call : {"ljust(4611686018427387905)", "rjust(4611686018427387905)", "zfill(4611686018427387905)",
                           "ljust(9223372036854775807, '\xC3\xA9')"})
    EXPECT_THAT(error_of("{{ 'a'." + std::string(call) + " }}"), HasSubstr("makes values of more than")) << call;
  EXPECT_EQ(text_of("{{ 'a'.ljust(3, '\xC3\xA9') }}{{ '-1'.zfill(4) }}"), "a\xC3\xA9\xC3\xA9-001");
}

// A million bytes for all values: neither lists of parts nor texts with escapes are made that need more.
TEST(HostileTemplate, AsksForMemoryBeforeItTakesSome) {
  RenderOptions options = at_record_time();
  options.limits.memory = 1'000'000;
  for (const char* source : {
           "{{ (',' * 60000).split(',') | length }}",
           "{{ (',' * 60000).rsplit(',') | length }}",
           "{{ ('a ' * 60000).split() | length }}",
           "{{ ('a\n' * 60000).splitlines() | length }}",
           "{{ ('a\n' * 60000) | indent }}",
           "{{ ('a' * 60000) | list | length }}",
           "{{ ('a' * 400000)[::-1] | length }}",
           "{{ ['\x01' * 400000] | string | length }}",
           "{{ ('\x01' * 400000) | tojson | length }}",
           "{{ {'\x01' * 400000: 1} | tojson | length }}",
           "{{ {}['\x01' * 400000] }}",
           "{{ [[[[1]]]] | tojson(indent='a' * 400000) | length }}",
           "{{ ('a' * 400000) | upper | length }}",
           "{{ ('a' * 400000).title() | length }}",
           "{{ ('a' * 400000) is lower }}",
           "{{ (([1] * 30000) | sort) | length }}",
           "{{ 'a'.strip('a' * 400000) }}",
           "{{ strftime_now('%c' * 200000) | length }}",
       }) {
    const auto t = Template::parse(source);
    ASSERT_TRUE(t.ok()) << source << t.error().message;
    const LargestRequest largest;
    const auto text = t->render(Json::object(), options);
    EXPECT_LE(largest.bytes(), 1'100'000u) << source;
    EXPECT_THAT(text ? *text : text.error().message, HasSubstr("makes values of more than")) << source;
  }
}

TEST(HostileTemplate, CountsAndCutsWithoutMemory) {
  RenderOptions options = at_record_time();
  options.limits.memory = 1'000'000;
  for (const auto& [source, wanted] : {
           std::pair<std::string, std::string>{"{{ (',' * 400000).count(',') }}", "400000"},
           {"{{ ('a ' * 200000) | wordcount }}", "200000"},
           {"{{ '%.1s' % ('ab' * 200000) }}", "a"},
           {"{{ ('ab' * 200000)[399999] }}{{ ('ab' * 200000)[-400000] }}", "ba"},
       }) {
    const auto t = Template::parse(source);
    ASSERT_TRUE(t.ok()) << source;
    const LargestRequest largest;
    const auto text = t->render(Json::object(), options);
    EXPECT_LE(largest.bytes(), 1'100'000u) << source;
    EXPECT_EQ(text ? *text : text.error().message, wanted);
  }
}

// Each of these looks through a long text, or through it many times, in few parts of an expression.
TEST(HostileTemplate, CountsTheWorkOnLongTexts) {
  RenderOptions options = at_record_time();
  options.limits = {40'000, 64 << 20, 1 << 20};
  const auto refused = [&](const std::string& source) {
    const auto t = Template::parse(source);
    const auto text = t ? t->render(Json::object(), options) : t.error();
    EXPECT_FALSE(text.ok()) << source;
    return text ? "" : text.error().message;
  };
  const std::string big = "{% set big = 'a' * 400000 %}{% set half = 'a' * 200000 + 'b' %}";
  for (const char* once : {"big.find(half)", "big.rfind(half)", "big.split(half)", "big.rsplit(half)",
                           "big.replace(half, '')", "big | replace(half, '')", "big.partition(half)", "big.count(half)",
                           "half in big", "big.strip(half)", "big | trim(half)"})
    EXPECT_THAT(refused(big + "{{ " + once + " }}"), HasSubstr("steps")) << once;
  for (const char* often : {"{}[big]", "{}.get(big)", "'a'.startswith(big)", "'a'.startswith((big, big))",
                            "'a'.removeprefix(big)", "big is lower", "big in {}", "big is in([])", "{big: 1}",
                            "'%.0s' % big", "[1] | map('string', big)", "'a' | default(big)", "big | string",
                            "[1] | select('defined', big) | list", "['a', 'a'] | map(attribute=big) | list"})
    EXPECT_THAT(refused("{% set big = 'a' * 400000 %}{% for i in range(100) %}{% set x = " + std::string(often) +
                        " %}{% endfor %}"),
                testing::AnyOf(HasSubstr("steps"), HasSubstr("makes values of more than")))
        << often;
}

TEST(HostileTemplate, MapsNoMaps) {
  EXPECT_THAT(error_of("{{ [[1]] | map('map', 'string') | list }}"), HasSubstr("map of map"));
  EXPECT_THAT(error_of("{{ [[1]] | map(*(['map'] * 20000)) | list }}"), HasSubstr("map of map"));
}

// Templates with bytes changed, taken away and doubled neither crash nor run on.
TEST(HostileTemplate, MutationsDoNoHarm) {
  const Json record = read_record("chat.json");
  std::mt19937 random(1);
  const auto below = [&](size_t n) { return static_cast<size_t>(random()) % n; };
  constexpr std::string_view kPieces[] = {"{%", "%}", "{{", "}}", "-",    "[",   "]", "(",
                                          ")",  "|",  "'",  ":",  "not ", "if ", "1"};
  RenderOptions options = at_record_time();
  options.limits = {20'000, 1 << 20, 1 << 16};
  size_t parsed = 0, written = 0;
  for (size_t i = 0; i < 20'000; ++i) {
    const Json& chat = record["cases"][i % record["cases"].size()];
    std::string source = template_of(record, chat).get<std::string>();
    for (size_t k = 0; k <= below(4); ++k) {
      const size_t at = below(source.size()), size = below(12);
      if (below(3) == 0)
        source[at] = static_cast<char>(32 + below(95));
      else if (below(2) == 0)
        source.erase(at, size);
      else if (below(2) == 0)
        source.insert(at, kPieces[below(std::size(kPieces))]);
      else
        source.insert(below(source.size()), source.substr(at, size));
      if (source.empty()) source = "a";
    }
    const auto t = Template::parse(source);
    if (!t) continue;
    ++parsed;
    written += t->render(variables_of(chat), options).ok();
  }
  EXPECT_GT(parsed, 1000u);
  EXPECT_GT(written, 500u);
}

}  // namespace
}  // namespace lapilli::jinja
