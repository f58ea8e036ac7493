/* The functions of programs that are compiled with -fgpu-default-stream=per-thread: the null stream is the thread's own.
 * Part of amdhip64.c; the names are those of amd_hip_runtime_pt_api.h. */

#define OWN ((Stream *)2) /* hipStreamPerThread */
static Stream *or_own(Stream *stream) { return stream ? stream : OWN; }
#define PER_THREAD(name, parameters, arguments) hipError_t name##_spt parameters { return name arguments; }
/* Those that wait. */
#define PER_THREAD_WAITING(name, parameters, queued)  \
  hipError_t name##_spt parameters {                  \
    hipError_t code = queued;                         \
    return code ? code : hipStreamSynchronize(OWN);   \
  }

PER_THREAD_WAITING(hipMemcpy, (void *to, const void *from, size_t nbytes, int kind),
                   hipMemcpyAsync(to, from, nbytes, kind, OWN))
PER_THREAD_WAITING(hipMemcpyToSymbol, (const void *symbol, const void *from, size_t nbytes, size_t offset, int kind),
                   hipMemcpyToSymbolAsync(symbol, from, nbytes, offset, kind, OWN))
PER_THREAD_WAITING(hipMemcpyFromSymbol, (void *to, const void *symbol, size_t nbytes, size_t offset, int kind),
                   hipMemcpyFromSymbolAsync(to, symbol, nbytes, offset, kind, OWN))
PER_THREAD_WAITING(hipMemcpy2D,
                   (void *to, size_t pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind),
                   hipMemcpy2DAsync(to, pitch, from, from_pitch, width, height, kind, OWN))
PER_THREAD_WAITING(hipMemcpy3D, (const Copy3D *copy), hipMemcpy3DAsync(copy, OWN))
PER_THREAD_WAITING(hipMemset, (void *to, int value, size_t count), hipMemsetAsync(to, value, count, OWN))
PER_THREAD_WAITING(hipMemset2D, (void *to, size_t pitch, int value, size_t width, size_t height),
                   hipMemset2DAsync(to, pitch, value, width, height, OWN))
PER_THREAD_WAITING(hipMemset3D, (Pitched to, int value, Box extent), hipMemset3DAsync(to, value, extent, OWN))

PER_THREAD(hipMemcpyAsync, (void *to, const void *from, size_t nbytes, int kind, Stream *stream),
           (to, from, nbytes, kind, or_own(stream)))
PER_THREAD(hipMemcpyToSymbolAsync,
           (const void *symbol, const void *from, size_t nbytes, size_t offset, int kind, Stream *stream),
           (symbol, from, nbytes, offset, kind, or_own(stream)))
PER_THREAD(hipMemcpyFromSymbolAsync,
           (void *to, const void *symbol, size_t nbytes, size_t offset, int kind, Stream *stream),
           (to, symbol, nbytes, offset, kind, or_own(stream)))
PER_THREAD(hipMemcpy2DAsync,
           (void *to, size_t pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind,
            Stream *stream),
           (to, pitch, from, from_pitch, width, height, kind, or_own(stream)))
PER_THREAD(hipMemcpy3DAsync, (const Copy3D *copy, Stream *stream), (copy, or_own(stream)))
PER_THREAD(hipMemsetAsync, (void *to, int value, size_t count, Stream *stream), (to, value, count, or_own(stream)))
PER_THREAD(hipMemset2DAsync, (void *to, size_t pitch, int value, size_t width, size_t height, Stream *stream),
           (to, pitch, value, width, height, or_own(stream)))
PER_THREAD(hipMemset3DAsync, (Pitched to, int value, Box extent, Stream *stream), (to, value, extent, or_own(stream)))

PER_THREAD(hipStreamSynchronize, (Stream *stream), (or_own(stream)))
PER_THREAD(hipStreamQuery, (Stream *stream), (or_own(stream)))
PER_THREAD(hipStreamGetFlags, (Stream *stream, unsigned *flags), (or_own(stream), flags))
PER_THREAD(hipStreamGetPriority, (Stream *stream, int *priority), (or_own(stream), priority))
PER_THREAD(hipStreamWaitEvent, (Stream *stream, Event *event, unsigned flags), (or_own(stream), event, flags))
PER_THREAD(hipStreamAddCallback,
           (Stream *stream, void (*function)(Stream *, hipError_t, void *), void *data, unsigned flags),
           (or_own(stream), function, data, flags))
PER_THREAD(hipLaunchHostFunc, (Stream *stream, void (*function)(void *), void *data), (or_own(stream), function, data))
PER_THREAD(hipEventRecord, (Event *event, Stream *stream), (event, or_own(stream)))
PER_THREAD(hipLaunchKernel,
           (const void *function, Extent grid, Extent block, void **parameters, size_t dynamic_lds, Stream *stream),
           (function, grid, block, parameters, dynamic_lds, or_own(stream)))
PER_THREAD(hipLaunchCooperativeKernel,
           (const void *function, Extent grid, Extent block, void **parameters, unsigned dynamic_lds, Stream *stream),
           (function, grid, block, parameters, dynamic_lds, or_own(stream)))
PER_THREAD(hipGraphLaunch, (GraphExec *executable, Stream *stream), (executable, or_own(stream)))
PER_THREAD(hipStreamBeginCapture, (Stream *stream, int mode), (or_own(stream), mode))
PER_THREAD(hipStreamEndCapture, (Stream *stream, Graph **graph), (or_own(stream), graph))
PER_THREAD(hipStreamIsCapturing, (Stream *stream, int *status), (or_own(stream), status))
PER_THREAD(hipStreamGetCaptureInfo, (Stream *stream, int *status, uint64_t *number), (or_own(stream), status, number))
PER_THREAD(hipStreamGetCaptureInfo_v2,
           (Stream *stream, int *status, uint64_t *number, Graph **graph, Node ***nodes, size_t *count),
           (or_own(stream), status, number, graph, nodes, count))
PER_THREAD(hipGetDriverEntryPoint, (const char *name, void **function, uint64_t flags, int *status),
           (name, function, flags ? flags : 2, status))
