"""What the typed tree shows: shared memory."""

import amdjit
from amdjit import f32, local, shared, syncthreads, threadIdx


@amdjit.kernel(block=(8, 8))
def shared_memory(a: f32[:, :], out: f32[:, :]):
    tile = shared.array((8, 9), f32)
    rows = local.array(2, f32)
    x, y = threadIdx.x, threadIdx.y
    tile[y, x] = a[y, x]
    rows[0] = a[-1, x]
    syncthreads()
    out[x, y] = tile[x, y] + rows[0] + amdjit.blockDim.x
