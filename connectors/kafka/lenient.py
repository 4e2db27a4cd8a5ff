"""Reading records whose header names are not text.

The broker checks a batch's frame and checksum, not that a header's name is UTF-8; aiokafka decodes names strictly while
it unpacks, so one such record raises below every consumer and its partition stands still for ever. Here such a batch is
unpacked once more with the bytes of its names shown as escapes (`\\xff`), by aiokafka's own parser in Python. Only a
batch that failed takes this way: the others are unpacked as fast as before.
"""

from __future__ import annotations

import struct
from typing import Any, Final

from aiokafka.consumer import fetcher
from aiokafka.record.default_records import _DefaultRecordBatchPy
from aiokafka.record.memory_records import MemoryRecords

_FRAME: Final = struct.Struct(">qi")  # first offset, then how many bytes of the batch follow


class _EscapingBytes(bytearray):
    """Bytes whose slices decode with escapes where they are not UTF-8."""

    def __getitem__(self, index: Any) -> Any:
        got = super().__getitem__(index)
        return _EscapingBytes(got) if isinstance(index, slice) else got

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:  # noqa: ARG002
        return super().decode(encoding, "backslashreplace")


class _EscapingBatch(_DefaultRecordBatchPy):  # type: ignore[misc]  # final for typing's sake only
    _buffer: bytearray

    def _maybe_uncompress(self) -> None:
        super()._maybe_uncompress()
        self._buffer = _EscapingBytes(self._buffer)


class _Batches:
    """What a fetch brought, batch by batch; remembers where the present batch begins."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._start = self._next = 0
        self._strict = MemoryRecords(data)

    def size_in_bytes(self) -> int:
        return len(self._data)

    def has_next(self) -> bool:
        return bool(self._strict.has_next())

    def next_batch(self) -> Any:
        self._start = self._next
        self._next += _FRAME.size + _FRAME.unpack_from(self._data, self._start)[1]
        return self._strict.next_batch()

    def escaping(self) -> _EscapedFirst:
        """The same from the present batch on, that one with escaped names."""
        return _EscapedFirst(memoryview(self._data)[self._start :], self._next - self._start)


class _EscapedFirst(_Batches):
    def __init__(self, data: memoryview, length: int) -> None:
        super().__init__(bytes(data))
        self._length = length

    def next_batch(self) -> Any:
        first = self._next == 0
        strict = super().next_batch()
        return _EscapingBatch(self._data[: self._length]) if first else strict


class _PartitionRecords(fetcher.PartitionRecords):  # type: ignore[misc]  # aiokafka's fetcher is untyped
    """Goes on in the batch that could not be unpacked, behind the records already given."""

    _records: _Batches

    def __next__(self) -> Any:
        try:
            return super().__next__()
        except UnicodeDecodeError:
            self._records = self._records.escaping()
            self._records_iterator = self._unpack_records()
            return super().__next__()


def install() -> None:
    """Make every consumer of this process read such records; doing it twice changes nothing."""
    fetcher.MemoryRecords = _Batches
    fetcher.PartitionRecords = _PartitionRecords
