"""A cache that is bounded in bytes. Learners' code influences how large the cached values are."""

import sys
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
LARGE = 4  # a value larger than limit / LARGE is not cached, because it would evict all others


class BoundedCache(Generic[K, V]):
    """A mapping that evicts the least recently used values as soon as all of them take more than `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self.limit, self.size = limit, 0
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()

    def get(self, key: K) -> V | None:
        """The cached value, or None. The value counts as used now."""
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key][0]

    def put(self, key: K, value: V) -> None:
        """Cache a value. It must not grow afterwards, because its size is measured once."""
        self.drop(key)
        size = weight((key, value))
        if size > self.limit // LARGE:
            return
        self._values[key], self.size = (value, size), self.size + size
        while self.size > self.limit:
            self.drop(next(iter(self._values)))

    def drop(self, key: K) -> None:
        """Remove a value, if it is cached."""
        _, size = self._values.pop(key, (None, 0))
        self.size -= size

    def __contains__(self, key: K) -> bool:
        return key in self._values

    def __len__(self) -> int:
        return len(self._values)


def weight(value: object) -> int:
    """The bytes that plain data takes: numbers, strings, tensors, containers and objects, each counted once."""
    total = 0
    seen: set[int] = set()  # ids of the objects that were counted
    storages: set[int] = set()  # addresses of the tensors' memory that was counted
    waiting: list[Any] = [value]
    while waiting:
        item = waiting.pop()
        if item is None or isinstance(item, (bool, type)) or id(item) in seen:
            continue
        seen.add(id(item))
        total += sys.getsizeof(item)
        if hasattr(type(item), "untyped_storage"):  # a tensor; torch may not be imported yet
            storage = item.untyped_storage()
            total += 0 if item.is_meta or storage.data_ptr() in storages else storage.nbytes()
            storages.add(storage.data_ptr())
        elif isinstance(item, dict):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, (list, tuple, set, frozenset)):
            waiting += item
        elif hasattr(item, "__dict__"):
            waiting.append(vars(item))
    return total
