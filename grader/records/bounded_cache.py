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
        self.values: OrderedDict[K, tuple[V, int]] = OrderedDict()  # each with its size

    def get(self, key: K) -> V | None:
        """The cached value, or None. The value counts as used now."""
        if key not in self.values:
            return None
        self.values.move_to_end(key)
        return self.values[key][0]

    def put(self, key: K, value: V) -> None:
        """Cache a value. It must not grow afterwards, because its size is measured once."""
        self.size -= self.values.pop(key, (None, 0))[1]
        size = weight((key, value))
        if size > self.limit // LARGE:
            return
        self.values[key], self.size = (value, size), self.size + size
        while self.size > self.limit:
            _, (_, evicted) = self.values.popitem(last=False)
            self.size -= evicted


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
