"""The pictures of docs/hearth.md: ten houses of season 1, their floor plans and first-person views, by `itinera view`.

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


def draw_house(house: int, option: str) -> np.ndarray:
    """The image that `itinera view` makes of a house."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "view.png"
        command = [sys.executable, "-m", "itinera", "view", str(house), option, "--out", str(out)]
        subprocess.run(command, check=True)
        return imread(out)[..., :3]


def write_sheet(images: list[np.ndarray], columns: int, width: float, height: float, out: Path) -> None:
    """Write all images into one, row by row."""
    rows = -(-len(images) // columns)
    figure = Figure(figsize=(columns * width, rows * height), layout="constrained")
    for house, image, ax in zip(HOUSES, images, np.ravel(figure.subplots(rows, columns)), strict=False):
        ax.imshow(image, interpolation="antialiased")
        ax.set_title(f"house {house}", fontsize=8)
        ax.axis("off")
    figure.savefig(out, dpi=90, pil_kwargs={"optimize": True})


def main() -> None:
    write_sheet([draw_house(house, "--plan") for house in HOUSES], 5, 2.9, 3.2, HERE / "hearth-plans.png")
    write_sheet([draw_house(house, "--inside") for house in HOUSES], 2, 6.0, 1.65, HERE / "hearth-inside.png")


if __name__ == "__main__":
    main()
