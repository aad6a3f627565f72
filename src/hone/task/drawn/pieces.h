// What kinds of tasks are made of: activations, norms, products, convolutions, attention, small things around them and
// ways to end. Each takes a value of the growing task and returns the next one, with what is known of its elements;
// a piece that would do nothing behind the value (relu of exp, a mean behind a layer norm) becomes another one.
#pragma once
#include "hone/task/drawn/sketch.h"

namespace hone::task::drawn {

// values
[[nodiscard]] Value rows(Sketch& s, const std::string& width);    ///< an input [M, width] or [B, S, width]
[[nodiscard]] Value tokens(Sketch& s, const std::string& width);  ///< [B, S, width]
[[nodiscard]] Value image(Sketch& s, const std::string& channels, int spatial, int64_t least = 3);  ///< [N, C, …]

// element-wise
[[nodiscard]] Value activation(Sketch& s, const Value& x);
/// `kind`: a key of [activation].
[[nodiscard]] Value activation(Sketch& s, const Value& x, const std::string& kind);
/// With an activation where nothing has been but linear steps.
[[nodiscard]] Value curved(Sketch& s, const Value& x);
[[nodiscard]] Value around(Sketch& s, const Value& x);  ///< one of [around]; channels are the last axis, or axis 1 from rank 4 or `channel_axis`
[[nodiscard]] Value channels_around(Sketch& s, const Value& x);  ///< the same for [N, C, …]
[[nodiscard]] Value scaled(Sketch& s, const Value& x);           ///< by a power of two, to about 1
[[nodiscard]] Value add(Sketch& s, const Value& x, const Value& y);
[[nodiscard]] Value to_type(Sketch& s, const Value& x, const std::string& dtype);

// norms
[[nodiscard]] Value norm_rows(Sketch& s, const Value& x);
[[nodiscard]] Value norm_channels(Sketch& s, const Value& x);
/// Values about 1 in size whatever came before: for a heavy operation or an exponential.
[[nodiscard]] Value calm(Sketch& s, const Value& x, bool channels = false);

// heavy: each first calms its operand, and draws whether there is a bias
/// x @ weights, [.., K] to [.., out], spelt as people do, with a bias now and then.
[[nodiscard]] Value product(Sketch& s, const Value& x, const std::string& out, int bias_percent = 35);
struct Window {
  int64_t kernel = 3, stride = 1, padding = 1, dilation = 1;
};
[[nodiscard]] std::string window_extent(const std::string& in, const Window& w);
/// conv1d to conv3d by rank; `groups`: "" or an expression that divides both channel counts.
[[nodiscard]] Value convolution(Sketch& s, const Value& x, const std::string& out, const Window& w, const std::string& groups, int bias_percent);
[[nodiscard]] Value transposed_convolution(Sketch& s, const Value& x, const std::string& out, int bias_percent);
/// The window of an ordinary convolution that keeps the extent.
[[nodiscard]] Window same_window(Sketch& s);

// attention on heads [B, H, S, E]
struct Heads {
  Value q, k, v;
  bool grouped = false;  ///< more query heads than key heads
};
[[nodiscard]] Value attend(Sketch& s, const Heads& h);           ///< attention(…)
[[nodiscard]] Value attend_by_hand(Sketch& s, const Heads& h);   ///< softmax(q @ k.T * s + m) @ v
[[nodiscard]] Value rotated(Sketch& s, const Value& x, const std::string& pairs);  ///< RoPE of [B, H, S, 2*pairs]
[[nodiscard]] Value split_heads(Sketch& s, const Value& x, const std::string& heads, const std::string& head);
[[nodiscard]] Value merged_heads(Sketch& s, const Value& x);

// pools and ends
[[nodiscard]] Value pooled(Sketch& s, const Value& x, bool half_extent);  ///< over the spatial axes, kernel 2 or 3
[[nodiscard]] Value global_pool(Sketch& s, const Value& x);               ///< [N, C, …] to [N, C]
/// Ends a task of rows or of channels: [ending]; writes the outputs.
void finish(Sketch& s, const Value& x);
void finish_channels(Sketch& s, const Value& x);
/// 0 to `most` pieces of around().
[[nodiscard]] Value some_around(Sketch& s, Value x, int most);

}  // namespace hone::task::drawn
