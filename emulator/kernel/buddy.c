/* Allocates power-of-two blocks of GPU virtual addresses, with a last-in-first-out list of free
 * blocks for each size. */
#include "emulator/kernel/buddy.h"

#include <stdlib.h>

#include "gpu/hw/memory.h"

/* A block of 2^order pages. root is the start of the initial block from which it was split: the
 * offsets of buddies are relative to it, not to address 0. */
struct emu_buddy_block {
  struct emu_buddy_block *next, **link; /* free list */
  struct emu_buddy_block *next_in_bucket;
  uint64_t start, root;
  uint8_t order, root_order;
  bool free;
};

static uint64_t block_bytes(unsigned order) {
  return (uint64_t)GPU_PAGE_BYTES << order;
}

static struct emu_buddy_block **find_bucket(const struct emu_buddy *buddy, uint64_t start) {
  uint64_t page = start / GPU_PAGE_BYTES;
  /* Fibonacci hashing, because the low bits of block starts are mostly zero. */
  return &buddy->bucket[(page * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - buddy->bucket_bits)];
}

static struct emu_buddy_block *find_block(struct emu_buddy *buddy, uint64_t start) {
  struct emu_buddy_block *block = *find_bucket(buddy, start);
  while (block && block->start != start)
    block = block->next_in_bucket;
  return block;
}

static void block_insert(struct emu_buddy *buddy, struct emu_buddy_block *block) {
  struct emu_buddy_block **bucket = find_bucket(buddy, block->start);
  block->next_in_bucket = *bucket;
  *bucket = block;
  buddy->block_count++;
}

/* Resizes the table to 2^bits buckets. If memory is exhausted, returns false and keeps the old
 * table. */
static bool set_buckets(struct emu_buddy *buddy, unsigned bits) {
  const struct emu_buddy old = *buddy;
  struct emu_buddy_block **bucket = calloc((size_t)1 << bits, sizeof(struct emu_buddy_block *));
  if (!bucket)
    return false;
  buddy->bucket = bucket;
  buddy->bucket_bits = bits;
  buddy->block_count = 0;
  for (size_t i = 0; old.bucket && i < (size_t)1 << old.bucket_bits; i++)
    for (struct emu_buddy_block *block = old.bucket[i], *next; block; block = next) {
      next = block->next_in_bucket;
      block_insert(buddy, block);
    }
  free(old.bucket);
  return true;
}

static void block_delete(struct emu_buddy *buddy, struct emu_buddy_block *block) {
  struct emu_buddy_block **link = find_bucket(buddy, block->start);
  while (*link != block)
    link = &(*link)->next_in_bucket;
  *link = block->next_in_bucket;
  buddy->block_count--;
  free(block);
}

static void list_push(struct emu_buddy *buddy, struct emu_buddy_block *block) {
  struct emu_buddy_block **head = &buddy->free[block->order];
  block->free = true;
  block->next = *head;
  block->link = head;
  if (*head)
    (*head)->link = &block->next;
  *head = block;
}

static void list_take(struct emu_buddy_block *block) {
  *block->link = block->next;
  if (block->next)
    block->next->link = block->link;
  block->free = false;
}

static struct emu_buddy_block *block_create(struct emu_buddy *buddy, uint64_t start, unsigned order,
                                            uint64_t root, unsigned root_order) {
  struct emu_buddy_block *block = calloc(1, sizeof(*block));
  if (!block)
    return NULL;
  block->start = start;
  block->root = root;
  block->order = (uint8_t)order;
  block->root_order = (uint8_t)root_order;
  if (buddy->block_count >> buddy->bucket_bits)
    set_buckets(buddy, buddy->bucket_bits + 1);
  block_insert(buddy, block);
  return block;
}

bool emu_buddy_init(struct emu_buddy *buddy, uint64_t start, uint64_t end) {
  *buddy = (struct emu_buddy){.start = start, .end = end};
  uint64_t at = start;
  if (!set_buckets(buddy, BUDDY_BUCKET_BITS))
    return false;
  for (unsigned order = BUDDY_ORDERS; order-- > 0;) {
    while (end - at >= block_bytes(order)) {
      struct emu_buddy_block *block = block_create(buddy, at, order, at, order);
      if (!block) {
        emu_buddy_destroy(buddy);
        return false;
      }
      list_push(buddy, block);
      at += block_bytes(order);
    }
  }
  return true;
}

void emu_buddy_destroy(struct emu_buddy *buddy) {
  for (size_t i = 0; buddy->bucket && i < (size_t)1 << buddy->bucket_bits; i++) {
    while (buddy->bucket[i]) {
      struct emu_buddy_block *block = buddy->bucket[i];
      buddy->bucket[i] = block->next_in_bucket;
      free(block);
    }
  }
  free(buddy->bucket);
  buddy->bucket = NULL;
}

/* Splits a block that is in no list; it becomes the left half. Returns the right half, which is in
 * no list, or NULL if memory is exhausted. */
static struct emu_buddy_block *split_block(struct emu_buddy *buddy, struct emu_buddy_block *block) {
  unsigned order = block->order - 1u;
  struct emu_buddy_block *right =
      block_create(buddy, block->start + block_bytes(order), order, block->root, block->root_order);
  if (!right)
    return NULL;
  block->order = (uint8_t)order;
  return right;
}

/* Frees a block that is in no list, and merges it with free buddies. */
static void release_block(struct emu_buddy *buddy, struct emu_buddy_block *block) {
  while (block->order < block->root_order) {
    uint64_t offset = (block->start - block->root) ^ block_bytes(block->order);
    struct emu_buddy_block *other = find_block(buddy, block->root + offset);
    if (!other || !other->free || other->order != block->order)
      break;
    list_take(other);
    bool is_left = block->start < other->start;
    struct emu_buddy_block *left = is_left ? block : other;
    struct emu_buddy_block *right = is_left ? other : block;
    block_delete(buddy, right);
    left->order++;
    block = left;
  }
  list_push(buddy, block);
}

uint64_t emu_buddy_alloc(struct emu_buddy *buddy, uint64_t size) {
  unsigned wanted = 0;
  while (wanted < BUDDY_ORDERS && block_bytes(wanted) < size)
    wanted++;
  unsigned order = wanted;
  while (order < BUDDY_ORDERS && !buddy->free[order])
    order++;
  if (order >= BUDDY_ORDERS)
    return 0;
  struct emu_buddy_block *block = buddy->free[order];
  list_take(block);
  while (block->order > wanted) {
    struct emu_buddy_block *right = split_block(buddy, block);
    if (!right) {
      release_block(buddy, block);
      return 0;
    }
    list_push(buddy, right);
  }
  return block->start;
}

/* Returns the free block that contains address, or NULL. */
static struct emu_buddy_block *free_block_at(struct emu_buddy *buddy, uint64_t address) {
  for (unsigned order = 0; order < BUDDY_ORDERS; order++) {
    for (struct emu_buddy_block *block = buddy->free[order]; block; block = block->next) {
      if (address >= block->start && address - block->start < block_bytes(order))
        return block;
    }
  }
  return NULL;
}

bool emu_buddy_alloc_fixed(struct emu_buddy *buddy, uint64_t address, uint64_t size) {
  uint64_t at = address;
  uint64_t end = address + size;
  if (!size || address < buddy->start || end < address || end > buddy->end)
    return false;
  while (at < end) {
    struct emu_buddy_block *block = free_block_at(buddy, at);
    if (!block)
      break;
    list_take(block);
    /* Split until the block starts at the address and ends before the end. */
    while (block->start < at || block->start + block_bytes(block->order) > end) {
      struct emu_buddy_block *right = split_block(buddy, block);
      if (!right) {
        release_block(buddy, block);
        emu_buddy_free_fixed(buddy, address, at - address);
        return false;
      }
      if (right->start <= at) {
        list_push(buddy, block);
        block = right;
      } else {
        list_push(buddy, right);
      }
    }
    at += block_bytes(block->order);
  }
  if (at < end) {
    emu_buddy_free_fixed(buddy, address, at - address);
    return false;
  }
  return true;
}

void emu_buddy_free(struct emu_buddy *buddy, uint64_t address) {
  struct emu_buddy_block *block = find_block(buddy, address);
  if (block && !block->free)
    release_block(buddy, block);
}

void emu_buddy_free_fixed(struct emu_buddy *buddy, uint64_t address, uint64_t size) {
  uint64_t at = address;
  while (at < address + size) {
    struct emu_buddy_block *block = find_block(buddy, at);
    if (!block || block->free)
      return;
    at += block_bytes(block->order);
    release_block(buddy, block);
  }
}
