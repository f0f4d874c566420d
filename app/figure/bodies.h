// A body is the inside of a panel: one drawing a kind, into a rectangle, without its axes.
#pragma once

#include "figure/axes.h"
#include "figure/colour_scale.h"
#include "figure/ink.h"

namespace fovea {

/// The pixels of a raster in the colours of the scale; one image pixel a value.
QImage image_of(const Raster& raster, const ColourScale& scale);

/// Draws an image with hard cell edges: sampled exactly on a screen, scaled by a whole number in
/// files of vectors, whose viewers would smooth it.
void draw_cells(Ink& ink, const QRectF& where, const QImage& image);

void draw_raster(Ink& ink, const QRectF& where, const Raster& raster, const ColourScale& scale);
void draw_block_map(Ink& ink, const QRectF& where, const BlockMap& blocks,
                    const ColourScale& scale);
void draw_leaves(Ink& ink, const QRectF& plot, const LeafSizes& leaves, const Axes& axes);
void draw_row(Ink& ink, const QRectF& plot, const RowCurve& row, const Axes& axes);
void draw_strip(Ink& ink, const QRectF& plot, const Strip& strip, const Axes& axes);
void draw_picture(Ink& ink, const QRectF& where, const OutputPicture& picture);
void draw_table(Ink& ink, const QRectF& where, const FigureTable& table);
double table_height(const FigureTable& table, double width, const Lettering& letters);
void draw_message(Ink& ink, const QRectF& where, const Message& message);

/// Height a body would like at a width: square cells for matrices, lines of text for tables.
double wished_height(const Panel& panel, double width, const Lettering& letters);

/// The part of the body inside the axes, `inset` from its left: matrices keep square cells, plots
/// leave room for legends.
QRectF plot_of(const Panel& panel, const QRectF& body, double inset, const Lettering& letters);

/// The legend, key figures and icicle of leaves, above their plot.
void draw_leaf_heading(Ink& ink, const QRectF& body, const QRectF& plot, const LeafSizes& leaves);
double leaf_heading(const LeafSizes& leaves, const QRectF& body, const Lettering& letters);
/// Leaves too many for bars are drawn from the largest to the smallest.
bool sorted_by_size(const LeafSizes& leaves);
/// The legend above a row's plot.
double row_heading(double width, const Lettering& letters);
void draw_row_heading(Ink& ink, const QRectF& body);

}  // namespace fovea
