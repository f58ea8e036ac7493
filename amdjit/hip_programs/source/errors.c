/* The names and words of HIP's errors (hip_runtime_api.h, hipError_t). Part of amdhip64.c. */

typedef struct { int code; const char *name, *text; } Words;
static const Words WORDS[] = {
  {0, "hipSuccess", "no error"},
  {1, "hipErrorInvalidValue", "invalid argument"},
  {2, "hipErrorOutOfMemory", "out of memory"},
  {3, "hipErrorNotInitialized", "initialization error"},
  {4, "hipErrorDeinitialized", "driver shutting down"},
  {5, "hipErrorProfilerDisabled", "profiler disabled while using external profiling tool"},
  {6, "hipErrorProfilerNotInitialized", "profiler not initialized"},
  {7, "hipErrorProfilerAlreadyStarted", "profiler already started"},
  {8, "hipErrorProfilerAlreadyStopped", "profiler already stopped"},
  {9, "hipErrorInvalidConfiguration", "invalid configuration argument"},
  {12, "hipErrorInvalidPitchValue", "invalid pitch value"},
  {13, "hipErrorInvalidSymbol", "invalid device symbol"},
  {17, "hipErrorInvalidDevicePointer", "invalid device pointer"},
  {21, "hipErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
  {35, "hipErrorInsufficientDriver", "insufficient driver"},
  {52, "hipErrorMissingConfiguration", "missing configuration"},
  {53, "hipErrorPriorLaunchFailure", "prior launch failure"},
  {98, "hipErrorInvalidDeviceFunction", "invalid device function"},
  {100, "hipErrorNoDevice", "no ROCm-capable device is detected"},
  {101, "hipErrorInvalidDevice", "invalid device ordinal"},
  {200, "hipErrorInvalidImage", "device kernel image is invalid"},
  {201, "hipErrorInvalidContext", "invalid device context"},
  {202, "hipErrorContextAlreadyCurrent", "context already current"},
  {205, "hipErrorMapBufferObjectFailed", "map buffer object failed"},
  {206, "hipErrorUnmapFailed", "unmap failed"},
  {207, "hipErrorArrayIsMapped", "array is mapped"},
  {208, "hipErrorAlreadyMapped", "already mapped"},
  {209, "hipErrorNoBinaryForGpu", "no kernel image is available for execution on the device"},
  {210, "hipErrorAlreadyAcquired", "already acquired"},
  {211, "hipErrorNotMapped", "not mapped"},
  {212, "hipErrorNotMappedAsArray", "not mapped as array"},
  {213, "hipErrorNotMappedAsPointer", "not mapped as pointer"},
  {214, "hipErrorECCNotCorrectable", "ecc not correctable"},
  {215, "hipErrorUnsupportedLimit", "unsupported limit"},
  {216, "hipErrorContextAlreadyInUse", "context already in use"},
  {217, "hipErrorPeerAccessUnsupported", "peer access is not supported between these two devices"},
  {218, "hipErrorInvalidKernelFile", "invalid kernel file"},
  {219, "hipErrorInvalidGraphicsContext", "invalid graphics context"},
  {300, "hipErrorInvalidSource", "invalid source"},
  {301, "hipErrorFileNotFound", "file not found"},
  {302, "hipErrorSharedObjectSymbolNotFound", "shared object symbol not found"},
  {303, "hipErrorSharedObjectInitFailed", "shared object init failed"},
  {304, "hipErrorOperatingSystem", "operating system"},
  {400, "hipErrorInvalidHandle", "invalid resource handle"},
  {401, "hipErrorIllegalState", "the operation cannot be performed in the present state"},
  {500, "hipErrorNotFound", "named symbol not found"},
  {600, "hipErrorNotReady", "device not ready"},
  {700, "hipErrorIllegalAddress", "an illegal memory access was encountered"},
  {701, "hipErrorLaunchOutOfResources", "too many resources requested for launch"},
  {702, "hipErrorLaunchTimeOut", "the launch timed out and was terminated"},
  {704, "hipErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
  {705, "hipErrorPeerAccessNotEnabled", "peer access has not been enabled"},
  {708, "hipErrorSetOnActiveProcess", "set on active process"},
  {709, "hipErrorContextIsDestroyed", "context is destroyed"},
  {710, "hipErrorAssert", "device-side assert triggered"},
  {712, "hipErrorHostMemoryAlreadyRegistered", "part or all of the requested memory range is already mapped"},
  {713, "hipErrorHostMemoryNotRegistered", "pointer does not correspond to a registered memory region"},
  {719, "hipErrorLaunchFailure", "unspecified launch failure"},
  {720, "hipErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
  {801, "hipErrorNotSupported", "operation not supported"},
  {900, "hipErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
  {901, "hipErrorStreamCaptureInvalidated", "operation failed due to a previous error during capture"},
  {902, "hipErrorStreamCaptureMerge", "stream capture merge"},
  {903, "hipErrorStreamCaptureUnmatched", "capture was not initiated in this stream"},
  {904, "hipErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
  {905, "hipErrorStreamCaptureIsolation", "dependency created on uncaptured work in another stream"},
  {906, "hipErrorStreamCaptureImplicit",
   "operation would make the legacy stream depend on a capturing blocking stream"},
  {907, "hipErrorCapturedEvent", "operation not permitted on an event last recorded in a capturing stream"},
  {908, "hipErrorStreamCaptureWrongThread",
   "attempt to terminate a thread-local capture sequence from another thread"},
  {910, "hipErrorGraphExecUpdateFailure",
   "the graph update was not performed because it included changes which violated constraints specific to "
   "instantiated graph update"},
  {911, "hipErrorInvalidChannelDescriptor", "invalid channel descriptor"},
  {912, "hipErrorInvalidTexture", "invalid texture"},
  {999, "hipErrorUnknown", "unknown error"},
  {1052, "hipErrorRuntimeMemory", "runtime memory"},
  {1053, "hipErrorRuntimeOther", "runtime other"},
};
static const Words *words(int code) {
  for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
    if (WORDS[i].code == code) return &WORDS[i];
  return NULL;
}
const char *hipGetErrorName(hipError_t code) { const Words *w = words(code); return w ? w->name : "hipErrorUnknown"; }
const char *hipGetErrorString(hipError_t code) { const Words *w = words(code); return w ? w->text : "unknown error"; }

hipError_t hipDrvGetErrorName(hipError_t code, const char **name) {
  const Words *w = words(code);
  if (!name || !w) return hipErrorInvalidValue;
  *name = w->name;
  return hipSuccess;
}
hipError_t hipDrvGetErrorString(hipError_t code, const char **text) {
  const Words *w = words(code);
  if (!text || !w) return hipErrorInvalidValue;
  *text = w->text;
  return hipSuccess;
}
hipError_t hipPeekAtLastError(void) { return last_error; }
hipError_t hipGetLastError(void) {
  hipError_t code = last_error;
  last_error = hipSuccess;
  return code;
}
hipError_t hipExtGetLastError(void) { return hipGetLastError(); }
/* These return text, so that they have no stubs. */
const char *hipApiName(uint32_t number) { (void)number; return "unknown"; }
const char *hipGetCmdName(unsigned number) { (void)number; return "unknown"; }
/* What this library lacks says so once. Its stubs are made from amdhip64.map (library.py). */
hipError_t amdjit_hip_missing(const char *function, int *is_said) {
  if (!*is_said) fprintf(stderr, "amdjit's HIP: %s is not supported\n", function);
  *is_said = 1;
  last_error = hipErrorNotSupported;
  return hipErrorNotSupported;
}
