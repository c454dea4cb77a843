"""The file system of a folder, and whether other hosts may see it."""

import sys
import tempfile
from pathlib import Path

import psutil

NETWORKED = (
    *("nfs", "lustre", "gpfs", "beegfs", "ceph", "cifs", "smb", "afs", "pvfs", "orangefs", "fuse", "9p", "glusterfs"),
    *("panfs", "weka", "fhgfs", "gfs2", "ocfs2", "virtiofs", "autofs"),
)
"""Prefixes of file systems that are, or may be, on the network."""


def kind(folder: Path) -> str:
    """The type of its file system, from the nearest mount point above it; empty if unknown."""
    real = folder.resolve()
    around = [each for each in psutil.disk_partitions(all=True) if real.is_relative_to(each.mountpoint)]
    # Of several mounts at one point, the last one counts.
    return max(reversed(around), key=lambda each: len(each.mountpoint)).fstype if around else ""


def hidden_python() -> str:
    """A hint, if this Python lies where other hosts cannot see it; otherwise empty."""
    folder = Path(sys.prefix)
    found, around = kind(folder), Path(tempfile.gettempdir()).resolve()
    if found.startswith(NETWORKED) or not (found or folder.resolve().is_relative_to(around)):
        return ""
    return (
        f"`{folder.name}` is at {folder}, on a file system of this host ({found or 'temporary'}); compute nodes may "
        "not see it; clone crossover into a shared folder"
    )
