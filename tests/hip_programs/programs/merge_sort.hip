// Merge sort: each work-item finds the place of its element in the other run by binary search.
#include "program.h"

#include <algorithm>

template <class T> __global__ void merge(const T *from, T *to, int run, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  bool is_left = i / run % 2 == 0;
  int pair = i / (2 * run) * 2 * run, start = is_left ? pair + run : pair;
  int low = min(start, count), high = min(start + run, count), first = low;
  while (low < high) {
    int middle = (low + high) / 2;
    bool is_before = is_left ? from[middle] < from[i] : !(from[i] < from[middle]);
    if (is_before) low = middle + 1;
    else high = middle;
  }
  to[pair + i % run + low - first] = from[i];
}

int main() {
  constexpr int COUNT = 777;
  std::vector<float> keys = random_floats(COUNT, -5, 5);
  float *from = on_device(keys), *to;
  HIP(hipMalloc(&to, COUNT * sizeof(float)));
  for (int run = 1; run < COUNT; run *= 2) {
    merge<<<(COUNT + 127) / 128, 128>>>(from, to, run, COUNT);
    std::swap(from, to);
  }
  std::sort(keys.begin(), keys.end());
  EXPECT(on_host(from, COUNT) == keys);
  HIP(hipFree(from));
  HIP(hipFree(to));
  return passed();
}
