"""The pictures of the Hearth page: ten houses of season 1 from above and from inside, as `itinera view` draws them.

python docs/pictures/hearth.py       # writes hearth-plans.png and hearth-inside.png beside this script
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.image import imread

HERE = Path(__file__).parent
HOUSES = (0, 1, 2, 12, 14, 18, 20, 29, 47, 54)  # of one and two storeys, small and large


def seen(house: int, how: str) -> np.ndarray:
    """The picture `itinera view` makes of a house."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "view.png"
        command = [sys.executable, "-m", "itinera.cli.main", "view", str(house), how, "--out", str(out)]
        subprocess.run(command, check=True)
        return imread(out)[..., :3]


def page(pictures: list[np.ndarray], columns: int, width: float, height: float, out: Path) -> None:
    """All pictures on one page, row by row."""
    rows = -(-len(pictures) // columns)
    figure = Figure(figsize=(columns * width, rows * height), layout="constrained")
    for house, picture, ax in zip(HOUSES, pictures, np.ravel(figure.subplots(rows, columns)), strict=False):
        ax.imshow(picture, interpolation="antialiased")
        ax.set_title(f"house {house}", fontsize=8)
        ax.axis("off")
    figure.savefig(out, dpi=110, pil_kwargs={"optimize": True})


def main() -> None:
    page([seen(house, "--plan") for house in HOUSES], 5, 2.9, 3.2, HERE / "hearth-plans.png")
    page([seen(house, "--inside") for house in HOUSES], 2, 6.0, 1.65, HERE / "hearth-inside.png")


if __name__ == "__main__":
    main()
