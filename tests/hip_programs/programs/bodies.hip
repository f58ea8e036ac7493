// Gravity among bodies: tiles of positions in LDS, leapfrog steps, momentum that must not change.
#include "program.h"

constexpr int BLOCK = 64, COUNT = 128;
__global__ void step(float4 *positions, float4 *velocities, const float4 *from, float dt) {
  __shared__ float4 tile[BLOCK];
  int i = blockIdx.x * BLOCK + threadIdx.x;
  float4 own = from[i];
  float ax = 0, ay = 0, az = 0;
  for (int start = 0; start < COUNT; start += BLOCK) {
    tile[threadIdx.x] = from[start + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < BLOCK; j++) {
      float dx = tile[j].x - own.x, dy = tile[j].y - own.y, dz = tile[j].z - own.z;
      float square = dx * dx + dy * dy + dz * dz + 0.01f, pull = tile[j].w / (square * __builtin_sqrtf(square));
      ax += pull * dx;
      ay += pull * dy;
      az += pull * dz;
    }
    __syncthreads();
  }
  float4 v = velocities[i];
  v = make_float4(v.x + ax * dt, v.y + ay * dt, v.z + az * dt, 0);
  velocities[i] = v;
  positions[i] = make_float4(own.x + v.x * dt, own.y + v.y * dt, own.z + v.z * dt, own.w);
}

int main() {
  std::vector<float> numbers = random_floats(4 * COUNT, 0.5f, 2);
  std::vector<float4> bodies, still(COUNT, make_float4(0, 0, 0, 0));
  for (int i = 0; i < COUNT; i++)
    bodies.push_back(make_float4(numbers[4 * i], numbers[4 * i + 1], numbers[4 * i + 2], numbers[4 * i + 3]));
  float4 *from = on_device(bodies), *to = on_device(bodies), *v = on_device(still);
  for (int s = 0; s < 3; s++) {
    step<<<COUNT / BLOCK, BLOCK>>>(to, v, from, 1e-3f);
    std::swap(from, to);
    if (s) continue;
    double wanted = 0;  // of the first body
    for (const float4 &other : bodies) {
      double dx = other.x - bodies[0].x, dy = other.y - bodies[0].y, dz = other.z - bodies[0].z;
      double square = dx * dx + dy * dy + dz * dz + 0.01;
      wanted += other.w * dx / (square * std::sqrt(square));
    }
    EXPECT(is_close(on_host(v, 1)[0].x, wanted * 1e-3));
  }
  double momentum = 0, size = 0;
  std::vector<float4> velocities = on_host(v, COUNT);
  for (int i = 0; i < COUNT; i++) {
    momentum += velocities[i].x * bodies[i].w;
    size += std::fabs(velocities[i].x * bodies[i].w);
  }
  EXPECT(std::fabs(momentum) < 1e-4 * size);
  for (auto *each : {from, to, v}) HIP(hipFree(each));
  return passed();
}
