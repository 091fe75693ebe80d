/** Runs commands in the process of the tests: starting the program takes a hundred times longer than most commands. */
import { EventEmitter } from 'node:events';
import { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { run } from '../src/run.ts';
import type { CommandProcess } from '../src/terminal/current-process.ts';

export interface CommandResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Text on standard error at which the command gets a SIGINT. */
  readonly interruptAt?: string;
}

/** A stream that keeps its text. */
class Kept extends Writable {
  text = '';
  readonly #decoder = new StringDecoder('utf8');
  readonly #onText: (text: string) => void;

  constructor(onText: (text: string) => void = () => undefined) {
    super({ decodeStrings: true });
    this.#onText = onText;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += this.#decoder.write(chunk);
    this.#onText(this.text);
    done();
  }
}

/**
 * Runs a command to its end.
 * @throws Error where it gets a SIGINT that it does not handle, which would end the program
 */
export async function runCommand(
  args: readonly string[],
  { env = {}, stdin = '', interruptAt }: CommandOptions = {},
): Promise<CommandResult> {
  const events = new EventEmitter();
  const failure = Promise.withResolvers<never>();
  let isInterrupted = false;
  const interrupt = (text: string) => {
    if (isInterrupted || interruptAt === undefined || !text.includes(interruptAt)) return;
    isInterrupted = true;
    if (!events.emit('SIGINT')) failure.reject(new Error('Nothing handles SIGINT'));
  };
  const [stdout, stderr] = [new Kept(), new Kept(interrupt)];
  const current = Object.assign(events, {
    argv: ['node', 'envarium', ...args],
    env,
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout,
    stderr,
    exitCode: undefined as number | undefined,
  });
  await Promise.race([run(current as unknown as CommandProcess), failure.promise]);
  return { status: current.exitCode ?? 0, stdout: stdout.text, stderr: stderr.text };
}
