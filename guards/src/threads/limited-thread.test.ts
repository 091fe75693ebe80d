import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LimitedThread, ThreadFailure } from './limited-thread.ts';

type Task = 'hang' | 'wait' | 'exit' | 'throw' | 'fill' | { readonly echo: unknown };

const answers = JSON.stringify(new URL('./answer-tasks.ts', import.meta.url).href);
const program = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { answerTasks } from ${answers};
    answerTasks((task) => {
      if (task === 'hang') for (;;);
      if (task === 'wait') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);
      if (task === 'exit') process.exit(1);
      if (task === 'throw') throw new RangeError('thrown');
      if (task === 'fill') for (let kept = null; ; ) kept = { kept };
      return task.echo;
    });
  `)}`,
);

const limits = { program, seconds: 30, megabytes: 64 };

test('a thread answers tasks in their order', async () => {
  await using thread = new LimitedThread<Task, unknown>(limits);
  assert.deepEqual(await Promise.all([1, 2, 3].map((echo) => thread.ask({ echo }))), [1, 2, 3]);
});

test('errors of a task keep their type, and the thread continues', async () => {
  await using thread = new LimitedThread<Task, unknown>(limits);
  await assert.rejects(thread.ask('throw'), RangeError);
  assert.equal(await thread.ask({ echo: 1 }), 1);
});

for (const [task, seconds, message] of [
  ['hang', 1, /longer than 1 s/],
  ['exit', 30, /ended without an answer/],
  ['fill', 30, /more than 64 MB of memory/],
] as const)
  test(`another thread takes over after a task that does not end well: ${task}`, async () => {
    await using thread = new LimitedThread<Task, unknown>({ ...limits, seconds });
    const [failed, next] = await Promise.allSettled([thread.ask(task), thread.ask({ echo: 1 })]);
    assert.ok(failed.status === 'rejected' && failed.reason instanceof ThreadFailure);
    assert.match(failed.reason.message, message);
    assert.deepEqual(next, { status: 'fulfilled', value: 1 });
  });

test('a thread that waits for a processor has not used its time', async () => {
  await using thread = new LimitedThread<Task, unknown>({ ...limits, seconds: 1 });
  assert.equal(await thread.ask('wait'), undefined);
});

test('a thread is replaced after an answer that it may not survive', async () => {
  let sound = 0;
  await using thread = new LimitedThread<Task, unknown>(limits, (answer) => {
    if (answer === 1) sound++;
    return answer === 1;
  });
  assert.equal(await thread.ask({ echo: 2 }), 2);
  assert.equal(await thread.ask({ echo: 1 }), 1);
  assert.equal(sound, 1);
});
