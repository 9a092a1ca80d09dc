"""Writing of files: whole or not at all, and never over what is being read."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

from planner.errors import InputError

_NEW_FILE = 0o666


def write_whole(path: Path, text: str, *, field: str, sources: Iterable[Path]) -> None:
    """Write text as UTF-8, so that other programs see the old file or the whole new one.

    Parameters
    ----------
    path : Path
        Where to; devices and pipes are written directly.
    text : str
        Lines end as they are.
    field : str
        Option that named the file, for problems.
    sources : iterable of Path
        What the text was made from: none is written over, under whatever name.

    Raises
    ------
    InputError
        It can't be written, or is a source.
    """
    try:
        if path.exists() and any(source.exists() and path.samefile(source) for source in sources):
            raise _refused(path, field, "it is the file that is read")
        _write(path.resolve(), text)
    except OSError as error:
        raise _refused(path, field, error.strerror or "an error") from None


def _refused(path: Path, field: str, reason: str) -> InputError:
    return InputError("cannot_write", field=field, value=str(path), reason=reason)


def _write(path: Path, text: str) -> None:
    content = text.encode("utf-8", "backslashreplace")
    exists = path.exists()
    if exists:
        with path.open("ab"):  # a folder, or a file that may not be changed
            pass
    if (exists and not path.is_file()) or not os.access(path.parent, os.W_OK):
        path.write_bytes(content)
        return
    mode = stat.S_IMODE(path.stat().st_mode) if exists else _NEW_FILE & ~_umask()
    number, name = tempfile.mkstemp(dir=path.parent, prefix=".planner-")
    try:
        with os.fdopen(number, "wb") as stream:
            stream.write(content)
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
