"""One function for each package: it yields the name of each function or kernel of the package, what
`numba.cuda` gave, and what it should be.

`python -m tests.numba_packages.programs PACKAGE`, under `amdjit run`, prints each as a line of
JSON.
"""

from __future__ import annotations

import functools
import importlib
import json
import math
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

Results = Iterator[tuple[str, Callable[[], Any], Callable[[], Any]]]
RANDOM = np.random.default_rng(1)


def load(name: str) -> Any:
    return importlib.import_module(name)


def stumpy() -> Results:
    package = load("stumpy")
    a, b = RANDOM.random(200), RANDOM.random(160)
    yield "gpu_stump", lambda: package.gpu_stump(a, m=10), lambda: package.stump(a, m=10)
    yield (
        "gpu_stump of two series",
        lambda: package.gpu_stump(a, 10, b, ignore_trivial=False),
        lambda: package.stump(a, 10, b, ignore_trivial=False),
    )
    yield "gpu_aamp", lambda: package.gpu_aamp(a, m=10), lambda: package.aamp(a, m=10)
    yield "gpu_mpdist", lambda: package.gpu_mpdist(a, b, 10), lambda: package.mpdist(a, b, 10)
    yield (
        "gpu_aampdist",
        lambda: package.gpu_aampdist(a, b, 10),
        lambda: package.aampdist(a, b, 10),
    )
    yield (
        "gpu_stimp",
        lambda: pan(package.gpu_stimp, a),
        lambda: pan(package.stimp, a, percentage=1.0),
    )


def pan(kind: Any, series: Any, **options: Any) -> Any:
    found = kind(series, min_m=8, max_m=12, **options)
    for _ in range(5):
        found.update()
    return found.PAN_


def locate_pixelcolor_numbacuda() -> Results:
    package = load("locate_pixelcolor_numbacuda")
    picture = RANDOM.integers(0, 3, (40, 30, 3), dtype=np.uint8)
    colors = np.array([(1, 2, 0), (0, 0, 2)], np.uint8)

    def found() -> Any:
        places = package.search_colors(picture, colors, threadsperblock=(8, 8, 1))
        return sorted(map(tuple, places[0]))

    def wanted() -> Any:
        equal = (picture[:, :, None] == colors).all(-1).any(-1)
        return sorted(zip(*np.nonzero(equal), strict=True))

    yield "search_colors", found, wanted


def numba_timer() -> Results:
    timer = load("numba_timer.cuda_timer").Timer()

    def measured() -> bool:
        timer.start()
        timer.stop()
        return bool(0 <= timer.elapsed() == 1000 * timer.elapsed_seconds())

    yield "Timer", measured, lambda: True


def geofast() -> Results:
    package = load("geofast.cuda_kernels")
    south, north = RANDOM.uniform(-60, 0, 50), RANDOM.uniform(0, 60, 50)
    west, east = RANDOM.uniform(-180, 0, 50), RANDOM.uniform(0, 180, 50)

    def haversine(lat1: Any, lon1: Any, lat2: Any, lon2: Any) -> Any:
        a, b, c, d = map(np.radians, (lat1, lon1, lat2, lon2))
        h = np.sin((c - a) / 2) ** 2 + np.cos(a) * np.cos(c) * np.sin((d - b) / 2) ** 2
        return 2 * 3959.0 * np.arcsin(np.sqrt(h))

    def cells() -> Any:
        q, r = 2 / 3 * west / 2.5, -west / 2.5 / 3 + math.sqrt(3) / 3 * south / 2
        rounded = np.round([q, r, -q - r])
        away = np.abs(rounded - [q, r, -q - r])
        first = (away[0] > away[1]) & (away[0] > away[2])
        second = ~first & (away[1] > away[2])
        return (
            np.where(first, -rounded[1] - rounded[2], rounded[0]),
            np.where(second, -rounded[0] - rounded[2], rounded[1]),
        )

    yield (
        "haversine_gpu",
        lambda: package.haversine_gpu(south, west, north, east),
        lambda: haversine(south, west, north, east),
    )
    yield (
        "haversine_matrix_gpu",
        lambda: package.haversine_matrix_gpu(south, west, north, east),
        lambda: haversine(south[:, None], west[:, None], north, east),
    )
    yield "hex_keys_gpu", lambda: package.hex_keys_gpu(south, west, 2.0, 2.5), cells


def your() -> Results:
    gpu = load("your.utils.gpu")
    candidate = load("your.candidate").Candidate

    def made() -> Any:
        return SimpleNamespace(
            data=np.random.default_rng(2).random((128, 32), dtype=np.float32),
            chan_freqs=np.linspace(1500, 1200, 32),
            dm=0.0,
            device=0,
            native_tsamp=0.001,
            your_header=SimpleNamespace(tsamp=0.001, dtype=np.float32),
        )

    def delayed(dm: float) -> Any:
        """The rolls that the kernels round towards 0."""
        x = made()
        high, low = np.float32(x.chan_freqs[0]), x.chan_freqs.astype(np.float32)
        delays = (-4148808.0 * dm * (1 / np.float64(high) ** 2 - 1 / low.astype(float) ** 2)) / 1000
        return x, (delays / 0.001).astype(int)

    def dedispersed() -> Any:
        x, rolls = delayed(50.0)
        return np.stack([np.roll(x.data[:, i], -rolls[i]) for i in range(32)], axis=1)

    def with_dm(function: Any, attribute: str, dm: float) -> Any:
        x = made()
        x.dm = dm
        return getattr(function(x), attribute)

    def times() -> Any:
        dms = np.linspace(0, 100, 256, dtype=np.float32)
        rows = []
        for dm in dms:
            x, rolls = delayed(float(dm))
            rows.append(sum(np.roll(x.data[:, i], -rolls[i]) for i in range(32)))
        return np.stack(rows)

    assert candidate.dedisperse
    yield "gpu_dedisperse", lambda: with_dm(gpu.gpu_dedisperse, "dedispersed", 50.0), dedispersed
    yield "gpu_dmt", lambda: with_dm(gpu.gpu_dmt, "dmt", 50.0), times


def frbb() -> Results:
    package = load("frbb")
    points = RANDOM.normal(size=(200, 6)).astype(np.float32)
    labels = np.where(points[:, 0] + points[:, 1] ** 2 > 0.5, 1, -1).astype(np.int8)

    def fitted(fit: str, decide: str) -> Any:
        model = package.FastRealBoostBins(
            T=8, B=8, fit_mode=fit, decision_function_mode=decide, verbose=False
        )
        return model.fit(points, labels)

    def decided(fit: str, decide: str) -> Any:
        return fitted(fit, decide).decision_function(points)

    reference = functools.cache(lambda: decided("numba_jit", "numba_jit"))
    yield "decision_function", lambda: decided("numba_jit", "numba_cuda"), reference
    yield "fit", lambda: decided("numba_cuda", "numba_jit"), reference


def xrspatial() -> Results:
    height = RANDOM.random((20, 24)).astype(np.float32) * 100
    kernel = np.ones((3, 3), np.float32)
    spatial, nan = load("xrspatial"), np.nan
    focal, xarray = load("xrspatial.focal"), load("xarray")
    raster = xarray.DataArray(height, dims=["y", "x"], attrs={"res": (1, 1)})

    def run(module: str, name: str, *arguments: Any) -> Any:
        out = np.full(height.shape, nan, np.float32)
        getattr(load(f"xrspatial.{module}"), name)[(2, 2), (16, 16)](height, *arguments, out)
        return out[1:-1, 1:-1]

    def cpu(function: Any, *arguments: Any, **options: Any) -> Any:
        return function(raster, *arguments, **options).data[1:-1, 1:-1]

    one = np.ones(1, np.float32)
    yield "slope", lambda: run("slope", "_run_gpu", one, one), lambda: cpu(spatial.slope)
    yield "aspect", lambda: run("aspect", "_run_gpu"), lambda: cpu(spatial.aspect)
    yield "curvature", lambda: run("curvature", "_run_gpu", one), lambda: cpu(spatial.curvature)
    for name in ("min", "max", "range", "std", "var", "sum", "mean"):
        yield (
            f"focal {name}",
            lambda n=name: run("focal", f"_focal_{n}_cuda", kernel),
            lambda n=name: focal.focal_stats(raster, kernel, [n]).data[0, 1:-1, 1:-1],
        )


def hepaccelerate() -> Results:
    gpu, cpu = load("hepaccelerate.backend_cuda"), load("hepaccelerate.backend_cpu")
    offsets = np.concatenate([[0], np.cumsum(RANDOM.integers(0, 5, 40))]).astype(np.int64)
    content = RANDOM.random(offsets[-1]).astype(np.float32)
    rows, items = np.ones(40, bool), RANDOM.random(offsets[-1]) > 0.3

    def run(name: str, *arguments: Any, extent: int = 40, dtype: Any = np.float32) -> Any:
        out = np.full(extent, "prod" in name, dtype)
        getattr(gpu, name)[2, 64](*arguments, out)
        return out

    for what in ("sum", "prod", "max", "min"):
        yield (
            f"{what}_in_offsets",
            lambda w=what: run(f"{w}_in_offsets_cudakernel", offsets, content, rows, items),
            lambda w=what: getattr(cpu, f"{w}_in_offsets")(offsets, content, rows, items),
        )
    edges = np.linspace(0, 1, 11).astype(np.float32)
    yield (
        "searchsorted",
        lambda: run(
            "searchsorted_kernel_right", content, edges, extent=content.size, dtype=np.int64
        ),
        lambda: np.searchsorted(edges, content, "right"),
    )

    def cartesian() -> Any:
        out = np.zeros((4, 9), np.float32)
        gpu.spherical_to_cartesian_kernel[2, 32](*np.full((4, 9), 0.5, np.float32), *out)
        return out

    def expected() -> Any:
        x, y, z = 0.5 * math.cos(0.5), 0.5 * math.sin(0.5), 0.5 * math.sinh(0.5)
        return np.repeat([[x], [y], [z], [math.sqrt(x * x + y * y + z * z + 0.25)]], 9, axis=1)

    yield "spherical_to_cartesian", cartesian, expected


def gamdpy() -> Results:
    package = load("gamdpy")
    made = package.Configuration(D=3)
    made.make_lattice(package.unit_cells.FCC, cells=[4, 4, 4], rho=0.973)
    made["m"] = 1.0
    made.randomize_velocities(temperature=0.7)
    made["r"] = made["r"] + RANDOM.normal(0, 0.05, made["r"].shape).astype(np.float32)
    potential = package.apply_shifted_potential_cutoff(package.LJ_12_6_sigma_epsilon)
    pairs = package.PairPotential(potential, params=[1.0, 1.0, 2.5], max_num_nbs=400)
    package.Evaluator(made, pairs).evaluate(made)
    places, box = made["r"].astype(float), made.simbox.get_lengths().astype(float)
    apart = places[:, None] - places
    apart -= box * np.round(apart / box)
    squares = (apart**2).sum(-1) + np.diag(np.full(len(places), 100.0))
    inside = squares < 2.5**2

    def energies() -> Any:
        def energy(square: Any) -> Any:
            return 4 * (square**-6 - square**-3)

        return np.where(inside, energy(squares) - energy(2.5**2), 0).sum(1) / 2

    def forces() -> Any:
        sizes = np.where(inside, 48 * squares**-7 - 24 * squares**-4, 0)
        return (sizes[..., None] * apart).sum(1)

    def total_energy() -> Any:
        integrator, saver = package.integrators.NVE(dt=0.002), package.ScalarSaver(4)
        simulation = package.Simulation(
            made, [pairs], integrator, [saver], num_timeblocks=2, steps_per_timeblock=64,
            storage="memory",
        )  # fmt: skip
        simulation.run(verbose=False)
        return sum(
            package.ScalarSaver.extract(simulation.output, columns=["U", "K"], first_block=0)
        )

    yield "PairPotential, energies", lambda: made["U"], energies
    yield "PairPotential, forces", lambda: made["f"], forces
    energy = total_energy()
    yield "Simulation, energy", lambda: energy, lambda: np.full(len(energy), energy[0])


def warprnnt_numba() -> Results:
    torch, numba = load("torch"), load("numba.cuda")
    gpu = load("warprnnt_numba.rnnt_loss.utils.cuda_utils.gpu_rnnt")
    reference = load("warprnnt_numba.rnnt_loss.rnnt_numpy")
    batch, steps, width, letters = 3, 8, 5, 7
    acts = torch.tensor(RANDOM.normal(size=(batch, steps, width, letters)), dtype=torch.float32)
    labels = torch.tensor(RANDOM.integers(1, letters, (batch, width - 1)))
    times, lengths = torch.tensor([8, 6, 8]), torch.tensor([4, 3, 4])
    costs, gradients = torch.zeros(batch), torch.zeros(acts.numel())
    loss = gpu.GPURNNT(
        minibatch=batch, maxT=steps, maxU=width, alphabet_size=letters, blank=0,
        workspace=numba.to_device(np.zeros(batch * (3 * steps * width + 2), np.float32)),
        fastemit_lambda=0.0, clamp=0.0, num_threads=1, stream=numba.stream(),
    )  # fmt: skip
    loss.cost_and_grad(acts.flatten(), gradients, costs, labels, lengths, times)

    def expected() -> Any:
        given = acts.clone().requires_grad_()
        logs = torch.log_softmax(given, -1)
        found, slopes = reference.transduce_batch(logs.detach().numpy(), labels, times, lengths)
        logs.backward(torch.tensor(slopes))
        return found, given.grad.numpy()

    yield "GPURNNT, costs", lambda: costs, lambda: expected()[0]
    yield "GPURNNT, gradients", lambda: gradients, lambda: expected()[1].ravel()


def pysdtw() -> Results:
    gpu, cpu = load("pysdtw.sdtw_cuda"), load("pysdtw.sdtw_cpu")
    rows, columns = 9, 11
    distances = RANDOM.random((4, rows, columns)).astype(np.float32)
    lengths = np.tile(np.array([rows, columns]), (4, 1))
    count, passes, gamma = max(rows, columns), 1, 0.5

    def costs() -> Any:
        found = np.full((4, rows + 2, columns + 2), np.inf, np.float32)
        found[:, 0, 0] = 0
        gpu.compute_softdtw_cuda[4, count](
            distances, gamma, 0.0, lengths, passes, rows + columns - 1, found
        )
        return found[:, 1 : rows + 1, 1 : columns + 1]

    def expected() -> Any:
        return cpu.compute_softdtw(distances, lengths, gamma, 0.0)[:, 1:-1, 1:-1]

    yield "compute_softdtw_cuda", costs, expected


def datashader() -> Results:
    kernels = load("datashader.transfer_functions._cuda_utils")
    data, mask = RANDOM.normal(size=(20, 24)), RANDOM.random((20, 24)) > 0.5
    places, values = np.linspace(-1, 1, 9), RANDOM.random(9)

    def clipped() -> Any:
        found = data.copy()
        kernels.masked_clip_2d_kernel[(2, 2), (16, 16)](found, mask, -0.5, 0.5)
        return found

    def interpolated() -> Any:
        found = np.zeros(data.shape)
        kernels.interp2d_kernel[(2, 2), (16, 16)](data, places, values, 0.0, 1.0, found)
        return found

    yield "masked_clip_2d", clipped, lambda: np.where(mask, data, np.clip(data, -0.5, 0.5))
    yield "interp2d", interpolated, lambda: np.interp(data, places, values, 0.0, 1.0)


def aquagrid() -> Results:
    aquacrop, params = load("aquacrop"), load("aquagrid.params")
    engine = load("aquagrid.engine.run")
    crop, soil = aquacrop.Crop("Maize", planting_date="05/01"), aquacrop.Soil("SandyLoam")
    params.prepare_crop(crop)
    scalars, profile = params.soil_params(soil)
    days, pixels = 260, 20
    warm = 25 + 5 * np.sin(np.arange(days) / days * np.pi)[:, None]
    warm = warm + RANDOM.normal(0, 2, (days, pixels))
    wet = RANDOM.exponential(3, (days, pixels)) * (RANDOM.random((days, pixels)) < 0.4)

    def run(backend: str) -> Any:
        return engine.run_grid_arrays(
            tmin=warm - 10, tmax=warm, prcp=wet, et0=4 + 0 * warm,
            cp=params.crop_params_array(crop, 400.0),
            plant_idx=np.where(np.arange(pixels) % 7, 5, -1), sp=scalars, profile=profile,
            th_init=params.initial_water_content(soil), backend=backend, parallel=False,
        )[0]  # fmt: skip

    yield "run_grid_arrays", lambda: run("gpu"), lambda: run("cpu")


def gpu_pairwise() -> Results:
    package, spatial = load("gpu_pairwise.boolean"), load("scipy.spatial.distance")
    rows, weights = RANDOM.random((30, 100)) > 0.6, RANDOM.random(100)
    for name in ("jaccard", "hamming", "dice", "rogerstanimoto", "russellrao", "sokalsneath"):
        # Its metrics of pairs of equal rows without any of these are distance 0, too.
        def expected(metric: str = name, **more: Any) -> Any:
            return spatial.squareform(spatial.pdist(rows, metric, **more))

        def off_diagonal(found: Any) -> Any:
            return np.where(np.eye(len(found)), 0, found)

        yield (
            name,
            lambda n=name: off_diagonal(package.pairwise_distance(rows, n)),
            lambda e=expected: off_diagonal(e()),
        )
        yield (
            f"{name}, squareform",
            lambda n=name: package.pairwise_distance(rows, n, squareform=True),
            lambda n=name: spatial.pdist(rows, n),
        )
    yield (
        "hamming, weights",
        lambda: package.pairwise_distance(rows, "hamming", weights),
        lambda: spatial.squareform(spatial.pdist(rows, "hamming", w=weights)),
    )


def disimpy() -> Results:
    """Its own tests of its device functions. Those of whole simulations need names that NumPy 2
    took away."""
    tests = load("disimpy.tests.test_simulations")

    def passes(test: Callable[[], None]) -> bool:
        test()
        return True

    for name, test in vars(tests).items():
        if name.startswith("test__cuda"):
            yield name.removeprefix("test_"), lambda t=test: passes(t), lambda: True


def cuda_friendly_vincenty() -> Results:
    package, cuda = load("cuda_friendly_vincenty"), load("numba.cuda")
    west, south, east, north = RANDOM.uniform(-80, 80, (4, 50))
    distance = cuda.jit(device=True)(package.vincenty)

    @cuda.jit
    def distances(a: Any, b: Any, c: Any, d: Any, out: Any) -> None:
        i = cuda.grid(1)
        if i < out.size:
            out[i] = distance(a[i], b[i], c[i], d[i])

    def found() -> Any:
        out = np.zeros(50)
        distances[2, 32](west, south, east, north, out)
        return out

    yield (
        "vincenty",
        found,
        lambda: [package.vincenty(*each) for each in zip(west, south, east, north, strict=True)],
    )


def main(package: str) -> None:
    warnings.simplefilter("ignore")
    for name, found, wanted in globals()[package]():
        line: dict[str, Any] = {"function": name}
        try:
            line |= compared(found(), wanted())
        except Exception as error:
            line["error"] = "".join(traceback.format_exception_only(error))[:1500]
        print("RESULT " + json.dumps(line), flush=True)


def compared(found: Any, wanted: Any) -> dict[str, Any]:
    """Return how far two results are from each other, relative to the largest number."""
    one, other = np.asarray(found, np.float64), np.asarray(wanted, np.float64)
    if one.shape != other.shape:
        return {"error": f"shape {one.shape}, not {other.shape}"}
    if not (np.isnan(one) == np.isnan(other)).all():
        return {"error": "NaNs in other places"}
    both = np.isfinite(one) & np.isfinite(other)
    if not (one[~both & ~np.isnan(one)] == other[~both & ~np.isnan(other)]).all():
        return {"error": "infinities in other places"}
    scale = max(float(np.abs(other[both]).max(initial=0)), 1e-30)
    return {"distance": float(np.abs(one - other)[both].max(initial=0)) / scale}


if __name__ == "__main__":
    main(sys.argv[1])
