"""One file for one fitted model: a checksum, a JSON header and named arrays; nothing in it can run code.

The container knows nothing of estimators. They hand over a header (a dictionary of plain JSON values) and
arrays (a dictionary of NumPy arrays), and get both back, bit for bit, or one `ModelFileError`.
"""

from margrove.modelfile.container import decode, encode, read, read_header, write
from margrove.modelfile.packing import (
    pack_csr,
    pack_part,
    pack_strings,
    unpack_csr,
    unpack_part,
    unpack_strings,
)

__all__ = [
    "decode",
    "encode",
    "pack_csr",
    "pack_part",
    "pack_strings",
    "read",
    "read_header",
    "unpack_csr",
    "unpack_part",
    "unpack_strings",
    "write",
]
