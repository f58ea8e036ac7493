#include "common.h"
/* Recursion over arrays and structures in private memory. */
#define PROGRAM(name) KERNEL name(GLOBAL u32 *x, GLOBAL u32 *y, u32 n)
#define FUNCTION __attribute__((noinline)) static
FUNCTION void quick_sort(u32 *v, int low, int high) {
  if (low >= high)
    return;
  u32 pivot = v[(low + high) / 2];
  int i = low, j = high;
  while (i <= j) {
    while (v[i] < pivot)
      ++i;
    while (v[j] > pivot)
      --j;
    if (i <= j) {
      u32 t = v[i];
      v[i++] = v[j];
      v[j--] = t;
    }
  }
  quick_sort(v, low, j);
  quick_sort(v, i, high);
}
struct Node {
  struct Node *left, *right;
  u32 key;
};
FUNCTION struct Node *inserted(struct Node *root, struct Node *node) {
  if (!root)
    return node;
  if (node->key < root->key)
    root->left = inserted(root->left, node);
  else
    root->right = inserted(root->right, node);
  return root;
}
FUNCTION u32 walked(struct Node *root, u32 depth) {
  return root ? walked(root->left, depth + 1) * 31 + root->key * depth + walked(root->right, depth + 1) * 17 : 1;
}

PROGRAM(quick_sorted) {
  u32 i = INDEX, v[12];
  for (u32 k = 0; k < 12; ++k)
    v[k] = x[i] * (2 * k + 1) ^ y[i] >> k;
  quick_sort(v, 0, 11);
  x[i] = v[n % 12];
  y[i] = v[0] ^ v[11];
}
PROGRAM(search_trees) {
  u32 i = INDEX;
  struct Node nodes[8];
  struct Node *root = 0;
  for (u32 k = 0; k < 8; ++k) {
    nodes[k] = (struct Node){0, 0, (x[i] * 2654435761u + k * y[i]) >> 7};
    root = inserted(root, &nodes[k]);
  }
  x[i] = walked(root, 1);
}
