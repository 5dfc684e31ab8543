"""Kernels of the fast scan of large submissions: the spans of ids and nodes in the bytes, without an object for each.

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
def _past_step(text: Bytes, at: int) -> int:
    """After ["node"] or ["node", number, …]; its string begins right after the bracket and its space."""
    at = _past_string(text, at)
    if at < 0:
        return -1
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
def scan_predictions(
    text: Bytes, id_word: Bytes, steps_word: Bytes, ids: Ints, nodes: Ints, counts: Ints
) -> tuple[int, int]:
    """(records, steps) of [{id_word: "…", steps_word: [["node", number, number], …]}, …], or -1 if it is anything else.

    ids and nodes <- (…, 2) begin and end of each string, without quotes; counts <- steps of each record.
    """
    records, steps = 0, 0
    failed = (-1, -1)
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
                    at = _past(text, at, OPEN_LIST)
                    if at < 0:
                        break
                    nodes[steps, 0] = at + 1
                    at = _past_step(text, at)
                    if at < 0:
                        break
                    # The string ends at the first quote after it begins: _past_step has seen that there is one.
                    end = nodes[steps, 0]
                    while text[end] != QUOTE:
                        end += 1
                    nodes[steps, 1] = end
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
    return (records, steps) if at == len(text) else failed


@njit(cache=True, nogil=True)
def _slot(text: Bytes, begin: int, end: int, size: int) -> np.int64:
    """Where in a table of this size (a power of 2) to look first for a name, by its last sixteen bytes."""
    value = np.uint64(end - begin)
    for i in range(max(begin, end - 16), end):
        value = (value ^ np.uint64(text[i])) * np.uint64(1099511628211)
    return np.int64((value ^ (value >> np.uint64(29))) & np.uint64(size - 1))


@njit(cache=True, nogil=True)
def fill_table(names: Bytes, spans: Ints, table: Ints) -> None:
    """table <- indices of the names, each in the first free slot from its own on; -1 is free."""
    table[:] = -1
    for k in range(len(spans)):
        slot = _slot(names, spans[k, 0], spans[k, 1], len(table))
        while table[slot] >= 0:
            slot = (slot + 1) & (len(table) - 1)
        table[slot] = k


@njit(cache=True, nogil=True)
def look_up(text: Bytes, spans: Ints, rows: Ints, names: Bytes, known: Ints, table: Ints, out: Ints) -> bool:
    """out <- the index of the name at each of these spans; False, with out undefined, if one is unknown."""
    for k in range(len(rows)):
        begin, end = spans[rows[k], 0], spans[rows[k], 1]
        slot = _slot(text, begin, end, len(table))
        while True:
            number = table[slot]
            if number < 0:
                return False
            same = known[number, 1] - known[number, 0] == end - begin
            i = 0
            while same and i < end - begin:
                same = text[begin + i] == names[known[number, 0] + i]
                i += 1
            if same:
                out[k] = number
                break
            slot = (slot + 1) & (len(table) - 1)
    return True
