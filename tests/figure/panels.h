// Hand-made Panels of every kind, as an analysis of a real head would give them.
#pragma once

#include <QGuiApplication>

#include "figure/figure.h"

namespace fovea::example {

/// Fonts and pictures need an application; there is no display.
QGuiApplication& application();

/// Rows of a clustered softmax with a diagonal band. [n, n]
Matrix attention(Index n, std::uint64_t seed);

Panel heatmap(Index n, std::uint64_t seed, const std::string& title);
Panel error_map(Index n, std::uint64_t seed, const std::string& title);
Panel mask(Index n, const std::string& title);
Panel levels(Index n, const std::string& title);
/// Two-hop reach of a strided pattern whose window is shorter than its stride.
Panel reach(Index n, const std::string& title);
/// Picked blocks of keys under a causal mask, in pixels of four pairs.
Panel selection(Index n, const std::string& title);
Panel tile_errors(Index n, const std::string& title);
Panel ranks(Index n, Index leaf, const std::string& title);
Panel leaves(int height, const std::string& title);
Panel buckets(int count, const std::string& title);
Panel row(Index n, Index query, const std::string& title);
Panel strip(Index n, const std::string& title);
Panel series(const std::string& title);
Panel curves(const std::string& title);
Panel picture(Index side, const std::string& title);
Panel table(const std::string& title);
Panel message(const std::string& title);

/// One panel of every kind.
std::vector<Panel> every_kind(Index n);

/// One panel as a figure.
Figure alone(const Panel& panel, double width);

/// Views in rows, variants in columns: what a paper would show.
Figure paper(double width, Index n);

}  // namespace fovea::example
