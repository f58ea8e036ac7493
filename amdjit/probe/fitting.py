"""Parameters of the cycle model from measurements: least squares over all figures that the model
predicts.

    measurements of a record      name, value, spread
      -> predictions              the same kernels, recorded on the emulator
      -> fitted                   parameters that measurements name, by Gauss-Newton steps
      -> Fit                      each parameter: measured, the model's, whether they agree
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from amdjit.cycles.chip import CHIP_VALUES, Chip, chip_of
from amdjit.cycles.memory_parameters import VALUES
from amdjit.cycles.parameter_file import ParameterFile, least_and_most
from amdjit.probe.case import Measurement
from amdjit.probe.timing.batches import CLOCK, experiments
from amdjit.probe.timing.prediction import Prediction, predict
from amdjit.target import Target

__all__ = ["Fit", "FittedParameter", "deviating", "fit", "spread_of"]
