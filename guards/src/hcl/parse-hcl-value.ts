/** Checks HCL values of strangers, in a thread with limits that is started again after it has failed. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { HclAnswer, HclFile } from './answer-parent.ts';

const longestCharacters = 1_000_000;
const deepestLevels = 100;
const timeLimitMilliseconds = 5_000;
/** A busy machine takes seconds to load the parser, which is nobody's fault. */
const startLimitMilliseconds = 60_000;
const fileName = 'value.tfvars';
/** The parser is WebAssembly with a stack of its own; this bounds what its answers take. */
const memoryMegabytes = 256;

/** How deeply brackets are nested, those in texts included. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of text) {
    if ('([{'.includes(character)) deepest = Math.max(deepest, ++depth);
    else if (')]}'.includes(character)) depth--;
  }
  return deepest;
}

let thread: { readonly worker: Worker; readonly ready: Promise<unknown> } | undefined;
/** Calls wait for the one before: the parser answers one at a time. */
let last: Promise<unknown> = Promise.resolve();

function startThread(): NonNullable<typeof thread> {
  const started = new Worker(new URL('./hcl-thread.ts', import.meta.url), {
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: memoryMegabytes },
  });
  // Failures between calls are met by the next one, which starts another thread.
  started.on('error', () => undefined);
  started.once('exit', () => {
    if (thread?.worker === started) thread = undefined;
  });
  started.unref();
  const ready = once(started, 'message', { signal: AbortSignal.timeout(startLimitMilliseconds) });
  ready.catch(() => undefined);
  return { worker: started, ready };
}

async function ask(file: HclFile): Promise<HclAnswer> {
  const { worker: used, ready } = (thread ??= startThread());
  try {
    await ready;
    const signal = AbortSignal.timeout(timeLimitMilliseconds);
    used.postMessage(file);
    const ended = once(used, 'exit', { signal }).then(
      (): HclAnswer => ({ error: 'the parser failed on it' }),
    );
    const answered = once(used, 'message', { signal }).then(([answer]) => answer as HclAnswer);
    const answer = await Promise.race([answered, ended]);
    // What is wrong with the text names its place; any other failure may be the parser's last word.
    if (answer.error !== undefined && !answer.error.includes(`${fileName}:`)) discard(used);
    return answer;
  } catch {
    discard(used);
    return { error: `the parser does not end within ${timeLimitMilliseconds / 1000} s` };
  }
}

function discard(used: Worker): void {
  if (thread?.worker === used) thread = undefined;
  void used.terminate();
}

/**
 * Checks that a text is one HCL expression and nothing after it.
 * @throws Error that says why it is not
 */
export async function checkHclValue(text: string): Promise<void> {
  if (text.length > longestCharacters) throw new Error(`it has more than ${longestCharacters} characters`);
  if (depthOf(text) > deepestLevels) throw new Error(`it is nested more than ${deepestLevels} levels deep`);
  const turn = last.then(() => ask({ name: fileName, text: `value = ${text}\n` }));
  last = turn;
  const answer = await turn;
  if (answer.error !== undefined) throw new Error(answer.error);
  if (Object.keys(answer.body).join() !== 'value') throw new Error('it holds more than one value');
}
