"""A workgroup in its slot of a host thread, as host code finds it."""

from __future__ import annotations

from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.function import NativeFunction, i64
from amdjit.emulator.host.record import Record, WaveState
from amdjit.emulator.layout import DWORD_BYTES, SLOT_ROW, Context, Launch, SlotField
from amdjit.late_methods import dataclass

POSITION = (
    (SlotField.GROUP_X, Context.GROUP_X),
    (SlotField.GROUP_Y, Context.GROUP_Y),
    (SlotField.GROUP_Z, Context.GROUP_Z),
)


@dataclass(frozen=True, slots=True)
class Group:
    """What belongs to the slot that a function's parameter `slot` names."""

    f: NativeFunction
    launch: Record
    row: Record
    """The row of `layout.SlotField`."""
    states: Value
    """The state of its first wave; those of the others follow."""
    resumes: Value
    """Where its first wave goes on; those of the others follow."""
    waves: Value
    state_bytes: Value

    @classmethod
    def of_slot(cls, f: NativeFunction) -> Group:
        """Find a workgroup."""
        slot, context = f.parameter("slot"), f.thread
        launch = context.follow(Context.LAUNCH)
        waves, state_bytes = launch.get(Launch.WAVES), launch.get(Launch.STATE_BYTES)
        first = f.mul(slot, f.mul(waves, state_bytes))
        return cls(
            f,
            launch,
            row=context.follow(Context.SLOTS).row(slot, SLOT_ROW),
            states=f.offset(context.get(Context.STATES), first),
            resumes=f.offset(
                context.get(Context.RESUMES), f.mul(slot, f.mul(waves, i64(DWORD_BYTES)))
            ),
            waves=waves,
            state_bytes=state_bytes,
        )

    @property
    def barrier(self) -> Record:
        """The workgroup's own barrier."""
        return Record(self.f, self.row.at(SlotField.BARRIERS))

    def state(self, wave: Value) -> WaveState:
        """Return the state of a wave."""
        distance = self.f.mul(wave, self.state_bytes)
        return WaveState(self.f, self.f.offset(self.states, distance))

    def resume(self, wave: Value) -> Value:
        """Load where a wave goes on: `driver.py` says what the number means."""
        return self.f.load("i32", self._resume(wave), DWORD_BYTES)

    def set_resume(self, wave: Value, value: Value) -> None:
        """Note where a wave goes on."""
        self.f.store(value, self._resume(wave), DWORD_BYTES)

    def _resume(self, wave: Value) -> Value:
        return self.f.offset(self.resumes, self.f.shift("shl", wave, 2))

    def begin_epoch(self) -> None:
        """Begin another epoch: the part of a workgroup between two barriers (`Context.EPOCH`)."""
        epoch = self.f.add(self.f.thread.get(Context.EPOCHS), i64(1))
        self.f.thread.set(Context.EPOCHS, epoch)
        self.f.thread.set(Context.EPOCH, epoch)
        self.row.set(SlotField.EPOCH, epoch)
