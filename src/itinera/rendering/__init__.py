"""CPU rendering of any mesh: camera, rasterizer (RGB, depth, semantics) and R2R's 36-view panorama. Start with `rasterizer.py`."""
