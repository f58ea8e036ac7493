"""What is refused while a stream is captured, with HIP's codes and names and what to do instead.

The emulator refuses what HIP refuses, in the same words. Source: hip_runtime_api.h (hipError_t);
for when, hip_internal.hpp, hip_stream.cpp and hip_graph.cpp in hipamd/src of ROCm's clr.
"""

from __future__ import annotations

from typing import NamedTuple

from amdjit.diagnostics.errors import BackendError

__all__ = ["CAPTURE_REFUSALS", "CaptureRefusal", "StreamCaptureError"]


class CaptureRefusal(NamedTuple):
    """An error code of HIP's that is about captures."""

    name: str
    text: str
    remedy: str


CAPTURE_REFUSALS: dict[int, CaptureRefusal] = {
    900: CaptureRefusal(
        "hipErrorStreamCaptureUnsupported",
        "operation not permitted when stream is capturing",
        "What is captured runs later: make arrays, copy from and to the host, and wait, before "
        "`with stream.capture()` or after it.",
    ),
    901: CaptureRefusal(
        "hipErrorStreamCaptureInvalidated",
        "operation failed due to a previous error during capture",
        "Something in the `with` block was refused before: let that exception leave the block.",
    ),
    902: CaptureRefusal(
        "hipErrorStreamCaptureMerge",
        "operation would result in a merge of separate capture sequences",
        "Capture one after the other, or all in one: other streams join by waiting for an event.",
    ),
    903: CaptureRefusal(
        "hipErrorStreamCaptureUnmatched",
        "capture was not initiated in this stream",
        "End a capture in the stream that it was begun in.",
    ),
    904: CaptureRefusal(
        "hipErrorStreamCaptureUnjoined",
        "capturing sequence contains a fork that was not joined to the primary stream",
        "At the end of the block, let the captured stream wait for each stream that took part: "
        "stream.wait(other).",
    ),
    905: CaptureRefusal(
        "hipErrorStreamCaptureIsolation",
        "a dependency would have been created which crosses the capture sequence boundary",
        "Wait for that event before `with stream.capture()`, or record it inside.",
    ),
    906: CaptureRefusal(
        "hipErrorStreamCaptureImplicit",
        "the operation would have resulted in a disallowed implicit dependency on a current "
        "capture sequence",
        "The default stream would wait for the captured one: use the captured stream, or capture "
        "a stream made with non_blocking=True.",
    ),
    907: CaptureRefusal(
        "hipErrorCapturedEvent",
        "operation not permitted on an event last recorded in a capturing stream",
        "An event of a capture orders its streams only: record another one outside to wait for.",
    ),
    908: CaptureRefusal(
        "hipErrorStreamCaptureWrongThread",
        "attempt to terminate a thread-local capture sequence from another thread",
        "End a capture in the thread that began it.",
    ),
}


class StreamCaptureError(BackendError):
    """The emulator refuses what HIP refuses while a stream is captured.

    name, code: HIP's, such as hipErrorStreamCaptureUnsupported and 900.
    """

    def __init__(self, doing: str, code: int) -> None:
        refusal = CAPTURE_REFUSALS[code]
        self.code, self.name, self.remedy = code, refusal.name, refusal.remedy
        super().__init__(
            f"the emulator could not {doing}: {refusal.name} ({code}), {refusal.text}. "
            f"{refusal.remedy}"
        )
