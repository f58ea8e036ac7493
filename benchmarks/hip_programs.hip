// Ten kernels of programs that use HIP, each launched many times: `hip_programs ROUNDS` prints for each the
// microseconds of its first launch, and the least of a later one, in JSON. All have the same parameters: n numbers
// (a square of `side` rows), twice as input and once as output.
#include <hip/hip_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define HIP(call)                                                                          \
  if (hipError_t code = (call)) return printf("%s: %s\n", #call, hipGetErrorName(code)), 1

extern "C" {
__global__ void nothing(const float *x, const float *y, float *out, int n, int side) {}
__global__ void vector_add(const float *x, const float *y, float *out, int n, int side) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) out[i] = x[i] + y[i];
}
__global__ void block_sum(const float *x, const float *y, float *out, int n, int side) {
  __shared__ float part[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  part[threadIdx.x] = i < n ? x[i] * y[i] : 0;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
__global__ void block_scan(const float *x, const float *y, float *out, int n, int side) {
  __shared__ float sums[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  float sum = i < n ? x[i] : 0;
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int step = 1; step < 256; step *= 2) {
    float before = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
    __syncthreads();
    sums[threadIdx.x] = sum += before;
    __syncthreads();
  }
  if (i < n) out[i] = sum;
}
__global__ void transpose(const float *x, const float *y, float *out, int n, int side) {
  __shared__ float tile[16][17];
  int column = threadIdx.x % 16, row = threadIdx.x / 16, tiles = side / 16;
  int across = blockIdx.x % tiles * 16, down = blockIdx.x / tiles * 16;
  tile[row][column] = x[(down + row) * side + across + column];
  __syncthreads();
  out[(across + row) * side + down + column] = tile[column][row];
}
__global__ void matrix_product(const float *x, const float *y, float *out, int n, int side) {
  __shared__ float left[16][16], right[16][16];
  int column = threadIdx.x % 16, row = threadIdx.x / 16, tiles = side / 16;
  int across = blockIdx.x % tiles * 16 + column, down = blockIdx.x / tiles * 16 + row;
  float total = 0;
  for (int k = 0; k < side; k += 16) {
    left[row][column] = x[down * side + k + column];
    right[row][column] = y[(k + row) * side + across];
    __syncthreads();
    for (int j = 0; j < 16; j++) total += left[row][j] * right[j][column];
    __syncthreads();
  }
  out[down * side + across] = total;
}
__global__ void stencil(const float *x, const float *y, float *out, int n, int side) {
  int i = blockIdx.x * 256 + threadIdx.x, column = i % side, row = i / side;
  if (i >= n || column == 0 || column == side - 1 || row == 0 || row == side - 1) return;
  out[i] = 0.5f * x[i] + 0.125f * (x[i - 1] + x[i + 1] + x[i - side] + x[i + side]);
}
__global__ void histogram(const float *x, const float *y, float *out, int n, int side) {
  __shared__ unsigned bins[64];
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) atomicAdd(&bins[(unsigned)(x[i] * 63)], 1u);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd((unsigned *)out + threadIdx.x, bins[threadIdx.x]);
}
__global__ void escape_times(const float *x, const float *y, float *out, int n, int side) {
  int i = blockIdx.x * 256 + threadIdx.x, count = 0;
  if (i >= n) return;
  for (float re = 0, im = 0; count < 64 && re * re + im * im < 4; count++) {
    float next = re * re - im * im + x[i] * 2 - 1.5f;
    im = 2 * re * im + y[i] * 2 - 1;
    re = next;
  }
  out[i] = count;
}
__global__ void hashes(const float *x, const float *y, float *out, int n, int side) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  unsigned a = __float_as_uint(x[i]), b = __float_as_uint(y[i]);
  for (int round = 0; round < 32; round++) {
    a += b, b = (b << 7 | b >> 25) ^ a;
    a = (a << 13 | a >> 19) + 0x9e3779b9u;
  }
  out[i] = (a ^ b) >> 8;
}
__global__ void row_softmax(const float *x, const float *y, float *out, int n, int side) {
  __shared__ float part[256];
  float total = 0;
  if (blockIdx.x >= side) return;
  const float *row = x + blockIdx.x * side;
  for (int i = threadIdx.x; i < side; i += 256) total += __expf(row[i]);
  part[threadIdx.x] = total;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  for (int i = threadIdx.x; i < side; i += 256) out[blockIdx.x * side + i] = __expf(row[i]) / part[0];
}
}

typedef void Kernel(const float *, const float *, float *, int, int);
static const struct { const char *name; Kernel *kernel; } KERNELS[] = {
    {"nothing", nothing},       {"vector_add", vector_add}, {"block_sum", block_sum},
    {"block_scan", block_scan}, {"transpose", transpose},   {"matrix_product", matrix_product},
    {"stencil", stencil},       {"histogram", histogram},   {"escape_times", escape_times},
    {"hashes", hashes},         {"row_softmax", row_softmax}};

static double microseconds() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int main(int count, char **arguments) {
  int rounds = atoi(arguments[1]), side = atoi(arguments[2]), n = side * side;
  std::vector<float> values(n);
  for (int i = 0; i < n; i++) values[i] = (i * 37 % 1009) / 1009.0f;
  float *x, *y, *out;
  for (float **each : {&x, &y, &out}) HIP(hipMalloc(each, n * sizeof(float)));
  for (float *each : {x, y, out}) HIP(hipMemcpy(each, values.data(), n * sizeof(float), hipMemcpyHostToDevice));
  const char *before = "{";
  for (auto &[name, kernel] : KERNELS) {
    double first = 0, least = 1e30;
    for (int round = 0; round <= rounds; round++) {
      double start = microseconds();
      kernel<<<kernel == nothing ? 1 : n / 256, 256>>>(x, y, out, n, side);
      HIP(hipDeviceSynchronize());
      double passed = microseconds() - start;
      if (round == 0) first = passed;
      else if (passed < least) least = passed;
    }
    printf("%s\"%s\": [%.1f, %.1f]", before, name, first, least);
    before = ", ";
  }
  printf("}\n");
  for (float *each : {x, y, out}) HIP(hipFree(each));
}
