"""Matrix instructions (WMMA, SWMMAC) and dot products: fragment layouts, and how sums are
rounded."""
