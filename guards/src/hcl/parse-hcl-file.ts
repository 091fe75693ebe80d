/** Parses whole untrusted HCL files, in threads with limits that are kept for the next reader. */
import { LimitedThread, ThreadFailure } from '../threads/limited-thread.ts';
import { type HclAnswer, type HclFile, type HclMessage, readHclMessage } from './hcl-answer.ts';
import { checkHclLimits, hclThreadLimits } from './hcl-limits.ts';

type HclThread = LimitedThread<HclFile, HclMessage>;

/** A thread takes a quarter of a second to start, and a few dozen MB: one that is free is kept. */
let free: HclThread | undefined;

function take(): HclThread {
  const thread = free;
  free = undefined;
  return (
    thread ??
    new LimitedThread<HclFile, HclMessage>(
      { program: new URL('./hcl-thread.ts', import.meta.url), ...hclThreadLimits },
      // A problem of the text names its place; any other failure may be the parser's last word.
      ({ error }) => error === undefined || /:\d+,\d+/.test(error),
    )
  );
}

async function giveBack(thread: HclThread): Promise<void> {
  if (free === undefined) free = thread;
  else await thread[Symbol.asyncDispose]();
}

export interface HclReader extends AsyncDisposable {
  /**
   * Blocks become arrays, and expressions that are not constants texts such as `${var.a}`.
   * @throws Error that begins with the file's name and says what is wrong with it, and where
   */
  parse(file: HclFile): Promise<Record<string, unknown>>;
}

/** A reader of its own: a file that takes long delays only who sent it. */
export function openHclReader(): HclReader {
  const thread = take();
  return {
    async parse(file) {
      const answer = await ask(thread, file);
      if (answer.error !== undefined) throw new Error(answer.error);
      return answer.body;
    },
    [Symbol.asyncDispose]: () => giveBack(thread),
  };
}

async function ask(thread: HclThread, file: HclFile): Promise<HclAnswer> {
  try {
    checkHclLimits(file.text);
    const answer = readHclMessage(await thread.ask(file));
    return answer.error === undefined || answer.error.includes(file.name)
      ? answer
      : { error: `${file.name}: ${answer.error}` };
  } catch (error) {
    if (error instanceof ThreadFailure)
      throw new Error(`${file.name}: parsing failed: ${error.message}`, { cause: error });
    throw new Error(`${file.name}: ${(error as Error).message}`, { cause: error });
  }
}
