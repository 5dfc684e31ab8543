from __future__ import annotations

import pytest

from itinera.errors import BadFile
from itinera.formats.categories import read_categories

HEADER = "index\traw_category\tcategory\tmpcat40index\tmpcat40\n"


def test_the_category_of_each_raw_name_is_read(tmp_path):
    file = tmp_path / "category_mapping.tsv"
    file.write_text(
        HEADER
        + '1\tcoffee table\ttable\t5\ttable\n2\tshelf 12" wide\tshelf\t31\tshelving\n\n3\tcoffee table\tx\t5\ttable\n'
    )
    assert read_categories(file) == {"coffee table": "table", 'shelf 12" wide': "shelving"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "line 1: the header lacks raw_category and mpcat40."),
        ("raw_category\tcategory\n", "line 1: the header lacks mpcat40."),
        (HEADER + "1\tsofa\n", "line 2: has 2 columns."),
        (HEADER + "1\tsofa\tsofa\t99\tcouch\n", "line 2: 'couch' is not a category."),
        (HEADER + "1\tsofa\t" + "a" * 200_000 + "\t5\ttable\n", "line 2: is not a row of a table"),
        ("a" * 200_000 + "\t" + HEADER, "line 1: is not a row of a table"),
        (HEADER + "1\tsofa\tsofa\t99\t" + "c" * 1000 + "\n", "line 2: '" + "c" * 40 + "' is not a category."),
        (HEADER + "1\ta\ta\t5\ttable\n2\ta\ta\t3\tchair\n", "line 3: 'a' is both table and chair."),
    ],
)
def test_a_wrong_table_is_refused_with_the_line(tmp_path, text, told):
    file = tmp_path / "category_mapping.tsv"
    file.write_text(text)
    with pytest.raises(BadFile) as error:
        read_categories(file)
    assert told in str(error.value)


def test_a_table_that_is_no_text_is_refused(tmp_path):
    file = tmp_path / "category_mapping.tsv"
    file.write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(BadFile, match="not UTF-8"):
        read_categories(file)
