/** Requests of callers without credentials to a running service: none that others notice. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startService } from './service.ts';

const service = await startService({
  settings: { ENVARIUM_LOG_LEVEL: 'error', ENVARIUM_FAILURE_LIMIT: '0' },
});
const { hostname, port } = new URL(service.url);
const mebibyte = 1024 * 1024;

async function memoryMegabytes(): Promise<number> {
  const status = await readFile(`/proc/${service.process.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Pauses until the process has done what is left of its start. */
async function untilCalm(): Promise<void> {
  for (let last = 0, now = await memoryMegabytes(); Math.abs(now - last) > 1; ) {
    for (let call = 0; call < 20; call++) await fetch(`${service.url}/healthz`);
    await delay(1_000);
    [last, now] = [now, await memoryMegabytes()];
  }
}

/** Sends a large body of nested JSON as fast as the service reads it. @returns the time of the answer in ms */
function sendLarge(path: string, megabytes: number): Promise<{ status: string; milliseconds: number }> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) });
    const chunk = Buffer.alloc(mebibyte, '[],');
    let started = 0;
    let left = megabytes;
    const push = () => {
      while (left > 0 && !socket.destroyed && socket.writable) {
        left--;
        if (!socket.write(chunk)) return;
      }
    };
    socket.on('connect', () => {
      started = performance.now();
      const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n`;
      socket.write(`${head}content-length: ${megabytes * mebibyte}\r\n\r\n{"a":[`);
      push();
    });
    socket.on('drain', push);
    socket.once('data', (bytes: Buffer) => {
      const milliseconds = performance.now() - started;
      const [, status = ''] = bytes.toString('latin1').split(' ');
      socket.once('close', () => resolve({ status, milliseconds }));
    });
    socket.on('error', () => {});
    socket.setTimeout(20_000, () => reject(new Error('the service does not answer')));
  });
}

/** Asks for the health of the service until stopped. @returns the times of the answers in ms */
function watchHealth(): () => Promise<number[]> {
  const times: number[] = [];
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const started = performance.now();
      assert.equal((await fetch(`${service.url}/healthz`)).status, 200);
      times.push(performance.now() - started);
      await delay(10);
    }
  })();
  return async () => {
    isOver = true;
    await watching;
    return times;
  };
}

test('large bodies without credentials are refused at once, cost no memory and delay no one', async (t) => {
  // One-time costs of the program, for its first large body and its first thousand responses, do not count.
  await Promise.all(Array.from({ length: 30 }, () => sendLarge('/api/projects', 1)));
  for (let call = 0; call < 2_000; call++) await fetch(`${service.url}/healthz`);
  await untilCalm();
  const stop = watchHealth();
  const answers = [];
  const growth = [];
  for (let round = 0; round < 3; round++) {
    const before = await memoryMegabytes();
    for (const path of ['/agent/v1/register', '/agent/v1/jobs/1/attempts/1/finish', '/api/projects'])
      answers.push(await sendLarge(path, 240));
    growth.push((await memoryMegabytes()) - before);
  }
  const times = answers.map(({ milliseconds }) => milliseconds);
  const before = await memoryMegabytes();
  answers.push(...(await Promise.all(Array.from({ length: 30 }, () => sendLarge('/api/projects', 15)))));
  const health = await stop();
  const grownByMany = (await memoryMegabytes()) - before;
  t.diagnostic(`large bodies: answers after ${median(times).toFixed(1)} ms`);
  t.diagnostic(`health: ${median(health).toFixed(1)} ms`);
  t.diagnostic(
    `memory grew by ${median(growth).toFixed(1)} MB, by many at once ${grownByMany.toFixed(1)} MB`,
  );
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], ['401']);
  assert.ok(median(times) < 50, `large bodies: ${times.join(', ')} ms`);
  assert.ok(median(health) < 50, `health: ${median(health)} ms`);
  assert.ok(median(growth) < 5, `memory: ${growth.join(', ')} MB`);
  // Buffers of 30 connections while they are answered.
  assert.ok(grownByMany < 16, `memory: ${grownByMany} MB`);
});

test.after(() => service[Symbol.asyncDispose]());
