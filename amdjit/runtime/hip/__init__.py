"""AMD GPUs through HIP: the only package that calls hip-python (6 and newer).

`device.HipDevice` is made of a part for memory, one for streams and events, one for launches; each
calls HIP through `calls`. Start at `device.py`.

Imports: what launches share in `runtime/`.
"""

from typing import TYPE_CHECKING

from amdjit.late import late_names
from amdjit.runtime.hip.discovery import discover as discover
from amdjit.runtime.hip.discovery import is_expected as is_expected

if TYPE_CHECKING:
    from amdjit.runtime.hip.device import HipDevice as HipDevice

# Most machines that are asked for GPUs have none.
__getattr__ = late_names(__name__, {"HipDevice": "amdjit.runtime.hip.device"})
