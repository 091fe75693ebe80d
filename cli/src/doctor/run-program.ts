/** Runs programs to find out their version, or whether they work. */
import { spawn } from 'node:child_process';
import { currentProcess } from '../terminal/current-process.ts';

export interface Answered {
  /** null if it could not be started or took too long. */
  readonly status: number | null;
  readonly output: string;
}

const limitMilliseconds = 10_000;

/**
 * Runs a program with an almost empty environment.
 * @returns the text of both outputs; a status of null if the program is missing
 */
export function runProgram(program: string, args: readonly string[]): Promise<Answered> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: limitMilliseconds,
      env: {
        PATH: currentProcess().env.PATH,
        HOME: currentProcess().env.HOME,
        LC_ALL: 'C',
        CHECKPOINT_DISABLE: '1',
      },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.once('error', () => resolve({ status: null, output }));
    child.once('close', (status) => resolve({ status, output }));
  });
}
