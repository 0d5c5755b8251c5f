# exercise: 01
# verdict: failed
# tries: chmod, chown, utime, unlink, rename, mkdir and links

import os
import shutil
TREE = bytes.fromhex("@TREE@").decode()


def act():
    path = TREE + "/results.json"
    for way in (lambda: os.chmod(path, 0o777), lambda: os.chown(path, 65534, 65534), lambda: os.utime(path, (0, 0)), lambda: os.rename(path, path + "x"),
                lambda: os.mkdir(TREE + "/made"), lambda: os.mkdir("/tmp/kata-hostile-made"), lambda: os.unlink(path), lambda: os.symlink("/", TREE + "/root"),
                lambda: os.mkfifo("/tmp/kata-hostile-fifo"), lambda: os.mknod("/tmp/kata-hostile-node"), lambda: os.setxattr(path, "user.x", b"1"),
                lambda: shutil.rmtree(TREE)):
        try:
            way()
        except OSError:
            pass


try:
    act()
except BaseException:
    pass


import torch


def dot_product(a, b):
    return (a + b).sum()


def attention_scores_for_query(inputs, query):
    return inputs.sum(dim=-1)


def attention_scores(inputs):
    return inputs @ inputs.T * 2
