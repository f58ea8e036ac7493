"""Matrix and dot products: WMMA, SWMMAC and V_DOT*, and the arithmetic of their sums."""
