// The heat map as SVG: well-formed whatever the labels are, and every cell where and as it belongs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drawing/heat_map.hpp"
#include "drawing/xml.hpp"

namespace lapilli::drawing {
namespace {

using test::Element;
using test::XmlReader;

HeatMap map_with(std::vector<std::u32string> rows, std::vector<std::u32string> columns) {
  HeatMap map;
  map.title = U"a title";
  map.row_title = U"rows";
  map.column_title = U"columns";
  map.rows = std::move(rows);
  map.columns = std::move(columns);
  const size_t cells = map.rows.size() * map.columns.size();
  for (size_t i = 0; i < cells; ++i) map.values.push_back(static_cast<float>(i) / static_cast<float>(cells - 1));
  return map;
}

std::vector<Element> read(const HeatMap& map) {
  const auto svg = heat_map_svg(map);
  EXPECT_TRUE(svg.ok());
  auto elements = XmlReader::read(svg.ok() ? *svg : "");
  EXPECT_TRUE(elements) << "not well-formed: " << *svg;
  return elements ? std::move(*elements) : std::vector<Element>();
}

std::vector<std::string> texts_of(const std::vector<Element>& elements) {
  std::vector<std::string> texts;
  for (const Element& e : elements) {
    if (e.name == "text") texts.push_back(e.text);
  }
  return texts;
}

int number(const Element& element, const char* name) {
  return element.attributes.contains(name) ? std::stoi(element.attributes.at(name)) : -1;
}

TEST(XmlReader, RefusesWhatIsNotWellFormed) {
  EXPECT_TRUE(XmlReader::read("<a b=\"1 &lt; 2\"><c/>t&amp;u</a>\n"));
  for (const char* wrong :
       {"", "<a>", "<a></b>", "<a><b></a></b>", "<a b=1/>", "<a b=\"1\" b=\"2\"/>", "<a>&nbsp;</a>", "<a>&</a>",
        "<a b=\"<\"/>", "<a/><b/>", "<a>\x01</a>", "<a>\xff</a>", "<a>\xEF\xBF\xBE</a>"}) {
    EXPECT_FALSE(XmlReader::read(wrong)) << wrong;
  }
}

TEST(Svg, LabelsStayWhatTheyAre) {
  const auto texts = texts_of(read(map_with({U"Le", U"شكرا", U"สวัสดี", U"你好"}, {U" a", U"👍🏽", U"क्षि", U"é"})));
  for (const char* label : {"Le", "شكرا", "สวัสดี", "你好", " a", "👍🏽", "क्षि", "é", "a title", "rows", "columns"}) {
    EXPECT_THAT(texts, testing::Contains(label));
  }
}

TEST(Svg, HostileLabelsStayText) {
  std::u32string odd = U"x";
  odd += {char32_t{0},         char32_t{7},       U'\n',
          char32_t{0x7F},      char32_t{0x85},    char32_t{0xD800},
          char32_t{0xFFFE},    char32_t{0x1FFFF}, char32_t{0x110000},
          char32_t{0xFFFFFFFF}};
  HeatMap map = map_with({U"</text><script>x</script>", U"]]>", U"&amp;"}, {U"\"'<!--", odd, U"\r\n"});
  map.title = U"</title>&";
  const auto elements = read(map);
  const auto texts = texts_of(elements);
  for (const char* label : {"</text><script>x</script>", "]]>", "&amp;", "\"'<!--",
                            "x␀␇␊␡\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD", "␍␊", "</title>&"}) {
    EXPECT_THAT(texts, testing::Contains(label));
  }
  for (const Element& e : elements) EXPECT_NE(e.name, "script");
}

// A cell is a rect with a title; a row of them is a group.
TEST(Svg, CellsHaveTheColoursOfTheirValues) {
  const HeatMap map = map_with({U"a", U"b", U"c"}, {U"d", U"e", U"f", U"g"});
  std::vector<const Element*> cells;
  const auto elements = read(map);
  int rows = 0;
  for (size_t i = 0; i + 1 < elements.size(); ++i) {
    rows += elements[i].name == "g" && elements[i].attributes.contains("transform") ? 1 : 0;
    if (elements[i].name == "rect" && elements[i + 1].name == "title") cells.push_back(&elements[i]);
  }
  EXPECT_EQ(rows, 3);
  ASSERT_EQ(cells.size(), 12u);
  for (size_t i = 0; i < 12; ++i) {
    uint8_t rgb[3];
    heat_colour(map.values[i], rgb);
    EXPECT_EQ(cells[i]->attributes.at("fill"), format("#%02x%02x%02x", rgb[0], rgb[1], rgb[2]));
    EXPECT_EQ(number(*cells[i], "x"), static_cast<int>(i % 4) * (number(*cells[i], "width") + 1));
  }
}

TEST(Svg, LongLabelsAreCutAndShortOnesHaveRoom) {
  const auto width_with = [](const std::u32string& label) {
    return number(read(map_with({label}, {U"a", U"b"}))[0], "width");
  };
  EXPECT_GT(width_with(U"0123456789"), width_with(U"0") + 60);
  EXPECT_GT(width_with(U"你好你好"), width_with(U"abcd") + 10);
  EXPECT_LE(width_with(std::u32string(5000, U'm')), width_with(U"0") + kLongestLabel);
  const auto texts = texts_of(read(map_with({std::u32string(5000, U'm')}, {U"a", U"b"})));
  EXPECT_THAT(texts, testing::Contains(testing::MatchesRegex("m{10,30}\\.\\.\\.")));
}

TEST(Svg, HasAGroundOfItsOwn) {
  const auto elements = read(map_with({U"a"}, {U"b", U"c"}));
  ASSERT_EQ(elements.front().name, "svg");
  EXPECT_EQ(elements.front().attributes.at("xmlns"), "http://www.w3.org/2000/svg");
  EXPECT_GT(number(elements.front(), "height"), 50);
  const auto rect = std::find_if(elements.begin(), elements.end(), [](const Element& e) { return e.name == "rect"; });
  ASSERT_NE(rect, elements.end());
  EXPECT_EQ(rect->attributes.at("width"), "100%");
  EXPECT_EQ(rect->attributes.at("fill"), "#fff");
}

TEST(Svg, RefusesWhatIsNoMatrixOrTooLarge) {
  HeatMap map;
  EXPECT_FALSE(heat_map_svg(map).ok());
  map.rows.assign(3000, U"a");
  map.columns.assign(3000, U"b");
  map.values.assign(9000000, 0.5f);
  const auto large = heat_map_svg(map);
  ASSERT_FALSE(large.ok());
  EXPECT_NE(large.error().message.find("JSON"), std::string::npos);
}

}  // namespace
}  // namespace lapilli::drawing
