import type { ThreadProgram } from '#guards/threads/limited-thread.ts';

/** The thread that evaluates globs. Its memory is several times what the largest listing of git needs. */
export const matchProgram: ThreadProgram = {
  program: new URL('./match-thread.ts', import.meta.url),
  seconds: 10,
  megabytes: 512,
};
