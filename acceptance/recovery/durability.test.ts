/** Order of durable writes: the system calls of a whole service during one deployment. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { findProgram } from '../programs.ts';
import { createEnvironment, homeOf, until, untilEnd } from '../runs.ts';
import { makeRepository, removeScratch, scratchFolder, startService } from '../service.ts';
import { spooledAttempts } from './processes.ts';
import { readTrace, type SystemCall } from './trace.ts';

const missing: string[] = [];
for (const program of ['strace', 'terraform'])
  if ((await findProgram(program)) === null) missing.push(program);
const skip = missing.length > 0 && `needs ${missing.join(' and ')}`;

const traced = 'execve,fsync,rename,rmdir,unlink,unlinkat,write,writev';
const strace = ['strace', '-D', '-f', '-y', '-s', '1000', '--seccomp-bpf', '-e', `trace=${traced}`];

test('a run is durable before it is reported, and a blob before the row that names it', {
  skip,
}, async () => {
  const folder = await scratchFolder();
  const file = join(folder, 'calls');
  try {
    await using service = await startService({
      folder,
      settings: { ENVARIUM_LOG_LEVEL: 'error' },
      around: [...strace, '-o', file, '--'],
    });
    const { client } = service;
    const home = await homeOf(client);
    const { path } = await makeRepository(folder, 'code', { 'main.tf': 'resource "terraform_data" "it" {}' });
    const { deploymentId } = await createEnvironment(client, home, { repository: path });
    await untilEnd(client, deploymentId);
    await until('an empty spool', async () => (await spooledAttempts(service)).length === 0);
    await service.stop();
    check(new Calls(readTrace(await readFile(file, 'utf8'))));
  } finally {
    await removeScratch(folder);
  }
});

function check(calls: Calls): void {
  const attempts = calls.attempts();
  assert.equal(attempts.length, 2);
  for (const attempt of attempts) checkAttempt(calls, attempt);
  const [plan = '', apply = ''] = attempts;
  checkMark(calls, apply);
  checkState(calls, apply);
  calls.ordered(
    'the folder of a plan is removed once that of its apply is there',
    calls.namingOf(apply),
    calls.removalOf(plan),
  );
  checkBlobs(calls);
}

/** From the claim to the removal of the folder. */
function checkAttempt(calls: Calls, attempt: string): void {
  const job = calls.path('fsync', `/.new-${attempt}/job.json`);
  const folder = calls.path('fsync', `/.new-${attempt}`);
  const named = calls.namingOf(attempt);
  const durable = calls.path('fsync', '/spool/attempts', named);
  calls.ordered('the folder is whole before it gets its name', job, folder, named);
  calls.ordered(
    'its runner gets the order after that',
    durable,
    calls.holding('write', 'attemptFolder', attempt),
  );

  const outcome = calls.path('fsync', `/${attempt}/outcome.json.new`);
  const written = calls.path('rename', `/${attempt}/outcome.json`);
  const finish = calls.holding('write', `/attempts/1/finish`, attempt.slice(0, -2));
  calls.ordered('the outcome is durable before it is there', outcome, written, finish);
  calls.ordered(
    'so are the events, which belong to it',
    calls.path('fsync', `/${attempt}/events.jsonl`),
    written,
  );
  const answer = calls.holding('write', 'HTTP/1.1 200', '{\\"next\\":', finish);
  calls.ordered('the folder is removed after the answer to the outcome', answer, calls.removalOf(attempt));
}

function checkMark(calls: Calls, apply: string): void {
  const named = calls.path('rename', `/${apply}/mark.json`);
  for (const each of ['mark.json.new', 'slot.json', 'runner.json'])
    calls.ordered(`${each} is durable with the mark`, calls.path('fsync', `/${apply}/${each}`), named);
  const request = calls.holding('write', '/attempts/1/mark', apply.slice(0, -2));
  const stored = calls.holding('writev', 'update attempt set mark', '', request);
  const known = calls.path('rename', `/${apply}/mark.stored`);
  const tool = calls.holding('execve', '/terraform', '"apply"');
  calls.ordered('the mark is stored before the tool starts', named, request, stored, known, tool);
  calls.ordered('the name of the mark is durable, too', calls.path('fsync', `/${apply}`, named), tool);
}

function checkState(calls: Calls, apply: string): void {
  const copy = calls.path('rename', `/${apply}/states/1.tfstate`);
  calls.ordered('a copy of the state is whole', calls.path('fsync', `/${apply}/states/1.tfstate.new`), copy);
  const outcome = calls.path('rename', `/${apply}/outcome.json`);
  calls.ordered(
    'the last copy is durable before the outcome',
    calls.path('fsync', `/${apply}/states`, copy),
    outcome,
  );
}

function checkBlobs(calls: Calls): void {
  const names = calls.all('rename', '/data/blobs/');
  assert.ok(names.length > 0, 'a state is a blob');
  for (const named of names) {
    const path = /, "([^"]+)"/.exec(named.args)?.[1] ?? '';
    const id = path.slice(path.indexOf('/blobs/') + '/blobs/'.length);
    const folder = path.slice(0, path.lastIndexOf('/'));
    calls.ordered('a blob is durable before it has its name', calls.path('fsync', `${path}.new`), named);
    calls.ordered(
      'its name is durable before a row has it',
      calls.path('fsync', folder, named),
      calls.holding('writev', id, 'state_version', named),
    );
  }
}

class Calls {
  readonly #calls: readonly SystemCall[];

  constructor(calls: readonly SystemCall[]) {
    this.#calls = calls;
  }

  /** Names of the attempts' folders, in their order. */
  attempts(): string[] {
    return this.all('rename', '/attempts/.new-').flatMap(
      ({ args }) => /\/attempts\/([^./"]+)"$/.exec(args)?.[1] ?? [],
    );
  }

  all(name: string, part: string): SystemCall[] {
    return this.#calls.filter((call) => call.name === name && call.args.includes(part));
  }

  /** The first call about a path that ends like this, at all or after another one. */
  path(name: string, end: string, after?: SystemCall): SystemCall {
    return this.#first(
      `${name} of ${end}`,
      (call) => call.name === name && (call.args.endsWith(`${end}>`) || call.args.endsWith(`${end}"`)),
      after,
    );
  }

  /** The first call with both in its arguments. */
  holding(name: string, one: string, other: string, after?: SystemCall): SystemCall {
    return this.#first(
      `${name} of ${one}`,
      (call) => call.name === name && call.args.includes(one) && call.args.includes(other),
      after,
    );
  }

  /** The moment at which an attempt's folder gets its name. */
  namingOf(attempt: string): SystemCall {
    return this.path('rename', `/attempts/${attempt}`);
  }

  removalOf(attempt: string): SystemCall {
    return this.path('unlink', `/attempts/${attempt}/job.json`);
  }

  /**
   * Fails unless each of them was over before the next one began. Others see a new name before the call that gave it
   * returns: of a rename, the beginning counts.
   */
  ordered(what: string, ...calls: readonly SystemCall[]): void {
    for (const [index, call] of calls.slice(1).entries()) {
      const before = calls[index] ?? assert.fail();
      const over = before.name === 'rename' ? before.begin : before.end;
      assert.ok(over < call.begin, `${what}: ${before.name}(${before.args}), ${call.name}(${call.args})`);
    }
  }

  #first(what: string, isIt: (call: SystemCall) => boolean, after?: SystemCall): SystemCall {
    const from = after?.end ?? -1;
    return this.#calls.find((call) => call.begin > from && isIt(call)) ?? assert.fail(`no ${what}`);
  }
}
