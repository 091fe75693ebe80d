/**
 * For tests, preloaded into a server (`node --import`): writes, every quarter of a second, for how long its main
 * thread was kept from serving others, as lines of JSON to the file that the query of the module's address names.
 *
 * Each of its ticks is one turn of the event loop. What a turn took longer than a tick, less the time in which the
 * thread was ready and waited for a processor, is the fault of the server and not of a busy machine.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const tickMilliseconds = 5;
const lineMilliseconds = 250;

/** Nanoseconds in which the main thread waited for a processor. */
function waited(): number {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[1]);
}

function cpu(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function watch(file: string): void {
  let before = { at: performance.now(), waited: waited(), cpu: cpu() };
  let most = { blocked: 0, cpu: 0, wall: 0 };
  let line = before.at;
  setInterval(() => {
    const now = { at: performance.now(), waited: waited(), cpu: cpu() };
    const wall = now.at - before.at - tickMilliseconds;
    const blocked = wall - (now.waited - before.waited) / 1e6;
    most = {
      blocked: Math.max(most.blocked, blocked),
      cpu: Math.max(most.cpu, now.cpu - before.cpu),
      wall: Math.max(most.wall, wall),
    };
    before = now;
    if (now.at - line < lineMilliseconds) return;
    appendFileSync(file, `${JSON.stringify({ at: Date.now(), ...most })}\n`);
    most = { blocked: 0, cpu: 0, wall: 0 };
    line = now.at;
  }, tickMilliseconds).unref();
}

const file = new URL(import.meta.url).searchParams.get('file');
if (isMainThread && file) watch(file);
