/** System calls as strace prints them, in their order. */

/** One call of any process. */
export interface SystemCall {
  readonly name: string;
  /** Text between the parentheses; paths of descriptors are in angle brackets. */
  readonly args: string;
  /** The lines at which it began and ended: it was over before another one began if its end is smaller. */
  readonly begin: number;
  readonly end: number;
}

const whole = /^(\d+) +(\w+)\((.*)\) += -?\d/s;
const unfinished = /^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$/s;
const resumed = /^(\d+) +<\.\.\. (\w+) resumed>/;

/** @param text of `strace -f -y` */
export function readTrace(text: string): SystemCall[] {
  const calls: SystemCall[] = [];
  const open = new Map<string, Omit<SystemCall, 'end'>>();
  for (const [line, content] of text.split('\n').entries()) {
    const [, pid = '', name = '', args = ''] = whole.exec(content) ?? [];
    if (pid) calls.push({ name, args, begin: line, end: line });
    const [, waiting = '', begun = '', first = ''] = unfinished.exec(content) ?? [];
    if (waiting) open.set(waiting, { name: begun, args: first, begin: line });
    const [, ended = ''] = resumed.exec(content) ?? [];
    const call = open.get(ended);
    if (call) calls.push({ ...call, end: line });
    if (call) open.delete(ended);
  }
  return calls.sort((left, right) => left.begin - right.begin);
}
