"""Takes host, user and paths out of a recording that is to be published (scripts/record-sample); tests/zoo/scrub_test.py."""
import pathlib
import re
import sqlite3

HOST = "gpu-host"
# What a published text must not hold, besides the names of this machine: somebody's folder.
SUSPICIOUS = re.compile(r"/(home|root|Users|tmp|mnt|work|workspace)(/|\b)")


class Left(Exception):
    """Something of the machine is still in the file."""


def names_here(host, user, home, folders, machine_id=None):
    """Pairs (text, what stands for it), the longest first."""
    if machine_id is None:
        path = pathlib.Path("/etc/machine-id")
        machine_id = path.read_text(encoding="utf-8").strip() if path.exists() else ""
    pairs = [(str(folder), ".") for folder in folders if str(folder) not in ("/", "/usr", "/usr/local")] + [(home, "~"), (machine_id, HOST), (host, HOST)]
    if user not in ("", "root"):  # "root" is a word of its own
        pairs.append((user, "user"))
    return sorted({pair for pair in pairs if len(pair[0]) > 2}, key=lambda pair: -len(pair[0]))


def replaced(text, names):
    for name, instead in names:
        if re.fullmatch(r"[\w.-]+", name):  # a whole word: the name of a host may be part of a kernel's
            text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", instead, text)
        else:
            text = text.replace(name, instead)
    return text


def text_columns(db):
    """(table, column) of everything that may hold text."""
    for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_%'").fetchall():
        for column in db.execute(f"PRAGMA table_info(`{table}`)").fetchall():
            if "INT" not in column[2].upper() and "REAL" not in column[2].upper():
                yield table, column[1]


def scrub(path, names):
    """Changes the database in place, vacuums it, and looks once more. Left: something remained."""
    db = sqlite3.connect(path)
    with db:
        for table, column in list(text_columns(db)):
            for rowid, value in db.execute(f"SELECT rowid, \"{column}\" FROM `{table}` WHERE typeof(\"{column}\") = 'text'").fetchall():
                new = replaced(value, names)
                if new != value:
                    db.execute(f"UPDATE `{table}` SET \"{column}\" = ? WHERE rowid = ?", (new, rowid))
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            columns = {column[1] for column in db.execute(f"PRAGMA table_info(`{table}`)")}
            if table.startswith("rocpd_info_node_"):
                for column in columns & {"hostname", "machine_id", "system_name", "domain_name", "release", "version"}:
                    value = {"system_name": "Linux", "domain_name": "", "release": "", "version": ""}.get(column, HOST)
                    db.execute(f"UPDATE `{table}` SET \"{column}\" = ?", (value,))
                if "hash" in columns:
                    db.execute(f"UPDATE `{table}` SET hash = 1")
            if table.startswith("rocpd_info_process_") and "environment" in columns:
                db.execute(f"UPDATE `{table}` SET environment = '{{}}'")
    db.execute("VACUUM")
    left = []
    for table, column in list(text_columns(db)):
        for (value,) in db.execute(f"SELECT DISTINCT \"{column}\" FROM `{table}` WHERE typeof(\"{column}\") = 'text'").fetchall():
            if replaced(value, names) != value or SUSPICIOUS.search(value):
                left.append(f"{table}.{column}: {value[:80]}")
    db.close()
    if left:
        raise Left(f"{path}: still has {'; '.join(left[:3])}")


def without_owner(entry):
    """A member of an archive without user, group and time."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = 0
    return entry
