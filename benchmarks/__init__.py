"""Speed beside peers, as ratios in one run: `python -m benchmarks`."""
