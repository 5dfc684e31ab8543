"""Kernels of the fast scan of large submissions: spans of ids and numbers of nodes, without an object for each.

Only the plain form of the list is scanned. Anything else, however valid, is left to the typed decoder, which also
reports faults; so the scan must never accept what JSON forbids.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]

QUOTE, BACKSLASH, COMMA, COLON = 34, 92, 44, 58
OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT = 91, 93, 123, 125
PLUS, MINUS, POINT, ZERO, NINE, LARGE_E, SMALL_E = 43, 45, 46, 48, 57, 69, 101
MOST_PROBES = 256  # slots of a table that are looked at for one name


@njit(cache=True, nogil=True)
def _past_space(text: Bytes, at: int) -> int:
    while at < len(text) and (text[at] == 32 or text[at] == 10 or text[at] == 13 or text[at] == 9):
        at += 1
    return at


@njit(cache=True, nogil=True)
def _past_string(text: Bytes, at: int) -> int:
    """After the closing quote of the string that opens here; -1 if it has escapes, control characters or no end."""
    if at >= len(text) or text[at] != QUOTE:
        return -1
    at += 1
    while at + 16 <= len(text):  # a loop of fixed length becomes a few instructions
        block = text[at : at + 16]
        special = False
        for i in range(16):
            special |= (block[i] == QUOTE) | (block[i] == BACKSLASH) | (block[i] < 32)
        if special:
            break
        at += 16
    while at < len(text) and text[at] != QUOTE:
        if text[at] == BACKSLASH or text[at] < 32:
            return -1
        at += 1
    return at + 1 if at < len(text) else -1


@njit(cache=True, nogil=True)
def _past_digits(text: Bytes, at: int) -> int:
    begun = at
    while at < len(text) and ZERO <= text[at] <= NINE:
        at += 1
    return at if at > begun else -1


@njit(cache=True, nogil=True)
def _past_number(text: Bytes, at: int) -> int:
    """After the number that begins here; -1 if there is none, or one so long that it may overflow."""
    begun = at
    if at < len(text) and text[at] == MINUS:
        at += 1
    first = at
    at = _past_digits(text, at)
    if at < 0 or (text[first] == ZERO and at > first + 1):
        return -1
    if at < len(text) and text[at] == POINT:
        at = _past_digits(text, at + 1)
        if at < 0:
            return -1
    if at < len(text) and (text[at] == LARGE_E or text[at] == SMALL_E):
        at += 1
        if at < len(text) and (text[at] == PLUS or text[at] == MINUS):
            at += 1
        exponent = at
        at = _past_digits(text, at)
        if at < 0 or at > exponent + 2:
            return -1
    return at if at - begun <= 40 else -1


@njit(cache=True, nogil=True)
def _past(text: Bytes, at: int, mark: int) -> int:
    """After this mark and the space around it; -1 if it is not there."""
    at = _past_space(text, at)
    if at >= len(text) or text[at] != mark:
        return -1
    return _past_space(text, at + 1)


@njit(cache=True, nogil=True)
def _past_numbers(text: Bytes, at: int) -> int:
    """After the numbers of ["node"] or ["node", number, …]; `at` is after the node's name."""
    for _ in range(2):
        after = _past(text, at, COMMA)
        if after < 0:
            break
        at = _past_number(text, after)
        if at < 0:
            return -1
    return _past(text, at, CLOSE_LIST)


@njit(cache=True, nogil=True)
def _is(text: Bytes, at: int, end: int, word: Bytes) -> bool:
    same = end - at == len(word)
    i = 0
    while same and i < len(word):
        same = text[at + i] == word[i]
        i += 1
    return same


@njit(cache=True, nogil=True)
def _word(text: Bytes, at: int) -> np.uint64:
    """Eight bytes as a number."""
    block, value = text[at : at + 8], np.uint64(0)
    for i in range(8):
        value |= np.uint64(block[i]) << np.uint64(8 * i)
    return value


@njit(cache=True, nogil=True)
def _slot(text: Bytes, begin: int, end: int, size: int) -> np.int64:
    """Where in a table of this size (a power of 2) to look first for a name, by its last sixteen bytes."""
    value = np.uint64(end - begin)
    if end - begin >= 16:
        value = (_word(text, end - 16) ^ value) * np.uint64(0x9E3779B97F4A7C15)
        value = (_word(text, end - 8) ^ value ^ (value >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    else:
        for i in range(begin, end):
            value = (value ^ np.uint64(text[i])) * np.uint64(1099511628211)
    return np.int64((value ^ (value >> np.uint64(29))) & np.uint64(size - 1))


@njit(cache=True, nogil=True)
def _same(text: Bytes, a: int, b: int, count: int) -> bool:
    """Whether the same bytes stand at two places."""
    i = 0
    while i + 8 <= count:
        if _word(text, a + i) != _word(text, b + i):
            return False
        i += 8
    while i < count:
        if text[a + i] != text[b + i]:
            return False
        i += 1
    return True


@njit(cache=True, nogil=True)
def _number_name(text: Bytes, begin: int, end: int, names: Ints, known: int, table: NDArray[np.int32]) -> int:
    """The number of a name: that of its first occurrence, or `known` for a new one, which is then noted.

    -1 if there is no room for it, or if the search for it takes long: names can be chosen to collide.
    """
    slot = _slot(text, begin, end, len(table))
    for _ in range(MOST_PROBES):
        number = table[slot]
        if number < 0:
            if known == len(names):
                return -1
            names[known, 0], names[known, 1] = begin, end
            table[slot] = known
            return known
        first = names[number, 0]
        if names[number, 1] - first == end - begin and _same(text, first, begin, end - begin):
            return int(number)
        slot = (slot + 1) & (len(table) - 1)
    return -1


@njit(cache=True, nogil=True)
def scan_predictions(
    text: Bytes,
    id_word: Bytes,
    steps_word: Bytes,
    ids: Ints,
    counts: Ints,
    nodes: NDArray[np.int32],
    names: Ints,
    table: NDArray[np.int32],
) -> tuple[int, int, int]:
    """(records, steps, names) of [{id_word: "…", steps_word: [["node", number, number], …]}, …], or -1 for all else.

    ids and names <- (…, 2) begin and end of each id and of each node's name where it first occurs, without quotes;
    counts <- steps of each record; nodes <- the number of the name of each step. On entry all of `table`, whose size
    is a power of 2, is -1.
    """
    records, steps, known = 0, 0, 0
    failed = (-1, -1, -1)
    at = _past(text, 0, OPEN_LIST)
    if at < 0:
        return failed
    while True:
        at = _past(text, at, OPEN_OBJECT)
        if at < 0:
            return failed
        has_id, has_steps = False, False
        while True:
            key = at + 1
            at = _past_string(text, at)
            if at < 0:
                return failed
            key_end = at - 1
            at = _past(text, at, COLON)
            if at < 0:
                return failed
            if _is(text, key, key_end, id_word) and not has_id:
                has_id = True
                ids[records, 0] = at + 1
                at = _past_string(text, at)
                ids[records, 1] = at - 1
            elif _is(text, key, key_end, steps_word) and not has_steps:
                has_steps = True
                first = steps
                at = _past(text, at, OPEN_LIST)
                while at > 0:
                    begin = _past(text, at, OPEN_LIST) + 1
                    if begin == 0:
                        return failed
                    at = _past_string(text, begin - 1)
                    if at < 0:
                        return failed
                    number = _number_name(text, begin, at - 1, names, known, table)
                    at = _past_numbers(text, at)
                    if number < 0 or at < 0:
                        return failed
                    known = max(known, number + 1)
                    nodes[steps] = number
                    steps += 1
                    if at < len(text) and text[at] == COMMA:
                        at = _past_space(text, at + 1)
                        continue
                    at = _past(text, at, CLOSE_LIST)
                    break
                counts[records] = steps - first
            else:
                return failed
            if at < 0:
                return failed
            at = _past_space(text, at)
            if at < len(text) and text[at] == COMMA:
                at = _past_space(text, at + 1)
                continue
            at = _past(text, at, CLOSE_OBJECT)
            break
        if at < 0 or not (has_id and has_steps):
            return failed
        records += 1
        if at < len(text) and text[at] == COMMA:
            at = _past_space(text, at + 1)
            continue
        at = _past(text, at, CLOSE_LIST)
        break
    return (records, steps, known) if at == len(text) else failed
