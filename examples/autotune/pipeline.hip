// An application of three kernels, to be tuned together: an image is convolved, multiplied with a
// matrix, and the rows of the product become softmaxes. The kernels are those of convolution.hip,
// gemm.hip and ../softmax.hip, each compiled with its own knobs; run_pipeline.py does that.
#include "example.h"

void launch_convolution(const float* image, const float* filter, float* result, int size);
void launch_gemm(const float* a, const float* b, float* c, int size);
void launch_softmax(const float* input, float* output, int rows, int columns);

namespace {

constexpr int kSize = 1024;
constexpr int kFilter = 9;
constexpr int kImage = kSize + kFilter - 1;
constexpr int kRowStep = 211;  // every 211th row is checked

/// A row of the convolved image.
std::vector<double> convolved(const std::vector<float>& image, const std::vector<float>& filter,
                              int y) {
  std::vector<double> row(kSize, 0.0);
  for (int x = 0; x < kSize; ++x)
    for (int fy = 0; fy < kFilter; ++fy)
      for (int fx = 0; fx < kFilter; ++fx)
        row[x] += static_cast<double>(image[static_cast<std::size_t>(y + fy) * kImage + x + fx]) *
                  filter[fy * kFilter + fx];
  return row;
}

/// The softmax of a row times the matrix.
std::vector<double> softmax_of_product(const std::vector<double>& row,
                                       const std::vector<float>& matrix) {
  std::vector<double> out(kSize, 0.0);
  for (int k = 0; k < kSize; ++k)
    for (int x = 0; x < kSize; ++x)
      out[x] += row[k] * matrix[static_cast<std::size_t>(k) * kSize + x];
  const double largest = *std::max_element(out.begin(), out.end());
  double sum = 0;
  for (double& value : out) sum += value = std::exp(value - largest);
  for (double& value : out) value /= sum;
  return out;
}

}  // namespace

int main() {
  const std::vector<float> image = example::numbers(static_cast<std::size_t>(kImage) * kImage, 1);
  std::vector<float> filter = example::numbers(kFilter * kFilter, 2);
  for (float& value : filter) value *= 0.01F;  // products of a few units: softmaxes with no winner
  const std::vector<float> matrix = example::numbers(static_cast<std::size_t>(kSize) * kSize, 3);
  const example::DeviceBuffer device_image(image);
  const example::DeviceBuffer device_filter(filter);
  const example::DeviceBuffer device_matrix(matrix);
  const example::DeviceBuffer smooth(static_cast<std::size_t>(kSize) * kSize);
  const example::DeviceBuffer product(static_cast<std::size_t>(kSize) * kSize);
  const example::DeviceBuffer result(static_cast<std::size_t>(kSize) * kSize);
  const float time = example::milliseconds(50, [&] {
    launch_convolution(device_image.data(), device_filter.data(), smooth.data(), kSize);
    launch_gemm(smooth.data(), device_matrix.data(), product.data(), kSize);
    launch_softmax(product.data(), result.data(), kSize, kSize);
  });
  const std::vector<float> rows = result.to_host();
  std::vector<float> got;
  std::vector<double> want;
  for (int y = 0; y < kSize; y += kRowStep) {
    const std::vector<double> row = softmax_of_product(convolved(image, filter, y), matrix);
    want.insert(want.end(), row.begin(), row.end());
    got.insert(got.end(), rows.begin() + y * kSize, rows.begin() + (y + 1) * kSize);
  }
  return example::verdict("pipeline", example::largest_difference(got, want), 1e-5, time);
}
