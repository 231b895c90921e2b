#include "plot.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace game {
namespace {

constexpr int kWidth = 960, kLeft = 64, kRight = 16, kTop = 44, kPanel = 150, kGap = 34;
constexpr Ink kPaper{1, 1, 1}, kInk{0.15f, 0.14f, 0.2f}, kGrid{0.15f, 0.14f, 0.2f, 0.15f};
constexpr Ink kBar{0.24f, 0.35f, 0.62f}, kShade{0.98f, 0.72f, 0.42f, 0.28f};

std::string number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// The quantile `part` of the frames with (or without) a translation at work.
double quantile(const Series& series, double part, bool translating) {
  std::vector<double> times;
  for (const FrameTime& f : series.frames)
    if (f.translating == translating) times.push_back(f.milliseconds);
  if (times.empty()) return 0;
  const auto at = static_cast<size_t>(part * double(times.size() - 1));
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(at), times.end());
  return times[at];
}

// The scale ends above nearly all frames: single ones that took far longer are cut.
double scale_end(const std::vector<Series>& all) {
  double most = 1e-3;
  for (const Series& s : all)
    for (bool translating : {false, true}) most = std::max(most, quantile(s, 0.99, translating));
  const double step = std::pow(10.0, std::floor(std::log10(most)));
  return std::ceil(most * 1.1 / step) * step;
}

void fill(Image& image, int left, int top, int right, int bottom, Ink ink) {
  for (int y = top; y < bottom; ++y)
    for (int x = left; x < right; ++x) image.blend(x, y, ink);
}

void write(Image& image, const Font& font, const std::string& text, Place at) {
  std::vector<Quad> quads;
  font.draw(quads, text, {std::round(at.x), std::round(at.y), at.scale}, kInk);
  image.draw(quads, font);
}

std::string caption(const Series& s) {
  std::string text = s.name + ":  median " + number("%.2f", quantile(s, 0.5, false)) + " ms";
  const bool translates = std::any_of(s.frames.begin(), s.frames.end(), [](FrameTime f) { return f.translating; });
  if (translates)
    text += ", while translating " + number("%.2f", quantile(s, 0.5, true)) +
            " ms (99 %: " + number("%.2f", quantile(s, 0.99, true)) + ")";
  return text;
}

void draw_panel(Image& image, const Font& font, const Series& series, int top, double end) {
  const int wide = kWidth - kLeft - kRight, bottom = top + kPanel;
  write(image, font, caption(series), {kLeft, float(top - 8)});
  for (int i = 0; i <= 2; ++i) {
    const int y = bottom - kPanel * i / 2;
    fill(image, kLeft, y, kWidth - kRight, y + 1, kGrid);
    const std::string label = number("%.3g", end * i / 2);
    write(image, font, label, {kLeft - 8 - font.width(label), float(y + 5)});
  }
  const auto count = static_cast<int>(series.frames.size());
  for (int i = 0; i < count; ++i) {
    const FrameTime& f = series.frames[static_cast<size_t>(i)];
    const int left = kLeft + wide * i / count, right = std::max(left + 1, kLeft + wide * (i + 1) / count);
    const int high = static_cast<int>(std::lround(kPanel * std::min(1.0, f.milliseconds / end)));
    if (f.translating) fill(image, left, top, right, bottom, kShade);
    fill(image, left, bottom - high, right, bottom, kBar);
  }
}

}  // namespace

std::string times_as_csv(const std::vector<Series>& all) {
  std::string csv = "work,frame,milliseconds,translating\n";
  for (const Series& series : all)
    for (size_t i = 0; i < series.frames.size(); ++i)
      csv += series.name + ',' + std::to_string(i) + ',' + number("%.4f", series.frames[i].milliseconds) + ',' +
             (series.frames[i].translating ? "1\n" : "0\n");
  return csv;
}

Image plot_times(const std::vector<Series>& all, const std::string& title, const Font& font) {
  Image image(kWidth, kTop + static_cast<int>(all.size()) * (kPanel + kGap) + 8, kPaper);
  write(image, font, title, {kLeft, 22});
  const double end = scale_end(all);
  int top = kTop + 10;
  for (const Series& series : all) {
    draw_panel(image, font, series, top, end);
    top += kPanel + kGap;
  }
  return image;
}

}  // namespace game
