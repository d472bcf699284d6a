"""Tables of the documents, computed again from the data at hand: `python -m reproductions.NAME`."""
