"""Settings files: a dataclass from a TOML file, with all faults together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
import pytest

from itinera.errors import BadFile
from itinera.formats.settings import MAX_BYTES, read_settings


@dataclass(frozen=True)
class Oven:
    dish: Path
    degrees: Annotated[int, msgspec.Meta(ge=50)] = 180
    fan: bool = False


def read(tmp_path, text):
    file = tmp_path / "oven.toml"
    file.write_text(text)
    return read_settings(file, Oven, noun="an oven", command="itinera bake")


def test_keys_become_fields_and_missing_ones_have_their_defaults(tmp_path):
    assert read(tmp_path, 'dish = "pie.txt"\nfan = true') == Oven(Path("pie.txt"), 180, True)


def test_every_fault_is_reported_with_its_key(tmp_path):
    with pytest.raises(BadFile) as caught:
        read(tmp_path, 'degree = 1\ndegrees = 20\nfan = "yes"\ndish = 3')
    assert [fault.field for fault in caught.value.faults] == ["degree", "degrees", "fan", "dish"]
    assert "Did you mean degrees? The keys are dish, degrees, fan." in str(caught.value)


def test_a_missing_key_is_named(tmp_path):
    with pytest.raises(BadFile, match="missing required field `dish`"):
        read(tmp_path, "fan = true")


def test_what_is_not_toml_names_the_documentation(tmp_path):
    with pytest.raises(BadFile, match=r"is not TOML: .*\n?.*`itinera bake`"):
        read(tmp_path, "dish: pie")


def test_a_long_file_is_refused(tmp_path):
    with pytest.raises(BadFile, match="1 MiB"):
        read(tmp_path, "# " + MAX_BYTES * "x")
