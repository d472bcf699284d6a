"""Published tables that the data at hand allow, each by one command."""
