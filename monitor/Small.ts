/**
 * What keeps the reading process small, which makes little but garbage. Its heap is collected early and by itself: helping
 * threads would wait for the processors that the Pis use. And glibc gives back what is freed, instead of keeping it apart
 * for each thread: without that it grew by 10 MiB over a folder that changes.
 */
export const flags: ReadonlyArray<string> = [
  "--single-threaded-gc",
  "--max-semi-space-size=1",
  "--max-old-space-size=256"
]
export const environment = { MALLOC_ARENA_MAX: "1", MALLOC_MMAP_THRESHOLD_: "65536" } as const
