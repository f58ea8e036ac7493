"""HIP's error codes as exceptions: what failed, HIP's name for it, and what can be done about
it."""

from __future__ import annotations

from amdjit.diagnostics.capture_refusals import CAPTURE_REFUSALS
from amdjit.diagnostics.errors import BackendError

INSTALL_HIP = "Install ROCm's HIP runtime, or say with ROCM_PATH where it is."
INSTALL_HIP_PYTHON = "Install it: pip install hip-python"
JOIN_GROUPS = "sudo usermod -a -G render,video $USER, then log in again."
LOAD_DRIVER = "sudo modprobe amdgpu; if there is no such module, install AMD's amdgpu-dkms."
SHARE_DEVICE_FILES = "Start the container with --device /dev/kfd --device /dev/dri."
UPDATE_ROCM = "Update ROCm, for RDNA 4 to 6.4.1 or newer."
"""What to do if HIP is missing or incomplete."""

FIRST_WITH_VERSION_6 = 60_300_000
"""The number of ROCm 6.3's HIP, the first that reads code objects of version 6, which LLVM writes
since 19."""
WITHOUT_VERSION_6 = (
    "which does not read amdjit's code objects: they have version 6, which HIP reads from 6.3 on"
)

_RESTART = "The GPU's state is lost for this process: start it anew."
_WRONG_TARGET = (
    "Compile for the GPU's own processor (`amdjit devices` shows it), as launches do by themselves."
)
_RUN_EMULATED = (
    "Run it with AMDJIT_DEVICE=emulator:gfx1201, which names the line, the thread and the address; "
    "AMDJIT_RECORD=FOLDER writes launches to files that `amdjit replay` repeats there."
)

# hip_runtime_api.h, hipError_t: only the codes with which a user can do something.
_REMEDIES: dict[int, str] = {
    1: "This is likely a mistake of amdjit's or a mismatch of HIP versions.",
    2: "Free arrays that are not needed any more, or work on smaller parts.",
    3: "The driver could not start: check that the amdgpu kernel module is loaded (`rocminfo`).",
    9: "Ask for fewer work-items or less LDS.",
    35: "The kernel driver is older than this ROCm: update amdgpu-dkms, or use an older ROCm.",
    52: "Ask for fewer work-items or less LDS.",
    98: "The code object was made for another processor. " + _WRONG_TARGET,
    100: "No GPU is visible: check `rocminfo`, HIP_VISIBLE_DEVICES, and that you may open "
    "/dev/kfd (group render).",
    101: "Use one of the devices that `amdjit devices` lists.",
    200: "The code object is damaged or for another processor. " + _WRONG_TARGET,
    209: "The code object was made for another processor. " + _WRONG_TARGET,
    214: "The GPU's memory has an error that could not be corrected. " + _RESTART,
    301: "A file that HIP needs is missing: reinstall ROCm.",
    303: "The code object could not be initialised. " + _WRONG_TARGET,
    400: "The stream, event or module was destroyed, or belongs to another device.",
    500: "The code object has no kernel of that name.",
    600: "Wait for the event or stream first: synchronize().",
    700: "The kernel accessed memory outside every allocation. " + _RUN_EMULATED + " " + _RESTART,
    701: "The kernel needs more registers or LDS than a workgroup of this size can have: use a "
    "smaller block.",
    702: "The kernel ran longer than the driver allows: split the work, or look for an endless "
    "loop. " + _RESTART,
    709: "The device was reset. " + _RESTART,
    710: "An assert in the kernel failed. " + _RESTART,
    719: "The kernel failed while it ran. " + _RUN_EMULATED + " " + _RESTART,
    720: "HIP counts fewer workgroups that fit the GPU at the same time: launch a smaller grid.",
    801: "This HIP version or GPU does not support it.",
    **{code: refusal.remedy for code, refusal in CAPTURE_REFUSALS.items()},
}


class HipError(BackendError):
    """HIP refused or failed.

    name, code: HIP's, such as hipErrorOutOfMemory and 2. text: HIP's own words. doing: what amdjit
    was doing. what: all this as a sentence. remedy: what can be done, empty if amdjit knows
    nothing.
    """

    def __init__(
        self,
        doing: str,
        code: int,
        name: str,
        text: str,
        detail: str = "",
        remedy: str | None = None,
    ) -> None:
        self.doing = doing
        self.code = code
        self.name = name
        self.text = text
        self.detail = detail
        self.remedy = _REMEDIES.get(code, "") if remedy is None else remedy
        failed = f"HIP could not {doing}: {name} ({code}), {text or 'no further words'}."
        self.what = f"{failed} {detail}" if detail else failed
        super().__init__(f"{self.what} {self.remedy}" if self.remedy else self.what)

    def with_detail(self, detail: str, remedy: str | None = None) -> HipError:
        """Return this error with one more sentence before the remedy, or before another remedy."""
        details = f"{self.detail} {detail}" if self.detail else detail
        return HipError(
            self.doing, self.code, name=self.name, text=self.text, detail=details, remedy=remedy
        )


class HipUnavailableError(BackendError):
    """HIP is not installed on this machine or does not work. what: what is missing; remedy: what
    can be done."""

    def __init__(self, what: str, remedy: str) -> None:
        self.what = what
        self.remedy = remedy
        super().__init__(f"{what} {remedy}")
