// Cooperative groups: blocks, tiles of lanes, and a launch whose occupancy the program has asked for.
#include "program.h"

#include <hip/hip_cooperative_groups.h>

namespace groups = cooperative_groups;

__global__ void sum_tiles(const int *in, int *out) {
  groups::thread_block block = groups::this_thread_block();
  groups::thread_block_tile<16> tile = groups::tiled_partition<16>(block);
  int sum = in[block.group_index().x * block.size() + block.thread_rank()];
  for (unsigned distance = tile.size() / 2; distance; distance /= 2) sum += tile.shfl_xor(sum, distance);
  __shared__ int sums[8];
  if (tile.thread_rank() == 0) sums[block.thread_rank() / 16] = sum;
  block.sync();
  if (block.thread_rank() == 0)
    for (unsigned i = 0; i < block.size() / 16; i++) out[blockIdx.x] += sums[i];
}

int main() {
  constexpr int BLOCK = 128, BLOCKS = 4;
  std::vector<int> in, wanted(BLOCKS), zero(BLOCKS);
  for (unsigned value : random_numbers(BLOCK * BLOCKS, 1000)) in.push_back(value);
  for (int i = 0; i < BLOCK * BLOCKS; i++) wanted[i / BLOCK] += in[i];
  int *x = on_device(in), *out = on_device(zero), resident = 0;
  HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&resident, sum_tiles, BLOCK, 0));
  EXPECT(resident >= 1);
  void *arguments[] = {&x, &out};
  HIP(hipLaunchCooperativeKernel(reinterpret_cast<void *>(sum_tiles), dim3(BLOCKS), dim3(BLOCK), arguments, 0, nullptr));
  EXPECT(on_host(out, BLOCKS) == wanted);
  HIP(hipFree(x));
  HIP(hipFree(out));
  return passed();
}
