/** The slot's side of the gate: a program that is called as `ssh`, and the frames of its answers. */
import { chmodSync, constants, copyFileSync, existsSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Transform } from 'node:stream';

export const frame = { output: 1, complaint: 2, end: 3 } as const;

/**
 * The program of the slot's side: it sends its arguments, then its input, and prints the answers that come
 * back in frames.
 */
const client = `'use strict';
process.chdir(__dirname);
const socket = require('node:net').connect({ path: './socket', allowHalfOpen: true });
let rest = Buffer.alloc(0);
let code = 255;
const fail = (text) => { process.stderr.write('ssh: ' + text + '\\n'); process.exit(255); };
socket.on('error', (error) => fail('the agent cannot be reached: ' + error.message));
socket.on('data', (bytes) => {
  rest = Buffer.concat([rest, bytes]);
  while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
    const kind = rest[0];
    const content = rest.subarray(5, 5 + rest.readUInt32BE(1));
    rest = rest.subarray(5 + content.length);
    if (kind === ${frame.end}) code = content[0];
    else if (!(kind === ${frame.output} ? process.stdout : process.stderr).write(content)) {
      socket.pause();
      process.stdout.once('drain', () => socket.resume());
    }
  }
});
// Send pending data first.
socket.on('end', () => process.stdout.write('', () => process.exit(code)));
process.stdout.on('error', () => process.exit(255));
socket.write(JSON.stringify(process.argv.slice(2)) + '\\n');
process.stdin.pipe(socket);
`;

/**
 * Writes the program into the gate's folder.
 * @returns its path, and the Node that it needs
 * @throws an Error in plain words if no path can be the first line of a program
 */
export function placeGateProgram(
  folder: string,
  sharedFolder: string,
  slotUid: number | null,
): { program: string; node: string } {
  const node = reachableNode(sharedFolder, slotUid);
  if (/\s/.test(node) || node.length > 200)
    throw new Error(
      `ssh for modules and LFS: ${node} has blanks or is too long; choose another ENVARIUM_WORK_DIR`,
    );
  const program = join(folder, 'ssh');
  writeFileSync(program, `#!${node}\n${client}`);
  chmodSync(program, 0o755);
  return { program, node };
}

/** The agent's Node if the slot can start it, else a copy of it. */
function reachableNode(sharedFolder: string, slotUid: number | null): string {
  const own = process.execPath;
  if (slotUid === null || isReachable(own)) return own;
  const copy = join(sharedFolder, `.node-${process.version}`);
  if (!existsSync(copy)) {
    const fresh = `${copy}.${process.pid}`;
    copyFileSync(own, fresh, constants.COPYFILE_FICLONE);
    chmodSync(fresh, 0o755);
    renameSync(fresh, copy);
  }
  return copy;
}

function isReachable(path: string): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) break;
  }
  return (statSync(path).mode & 0o005) === 0o005;
}

/** One frame: kind, length, content. */
export function framed(kind: number, content: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head[0] = kind;
  head.writeUInt32BE(content.length, 1);
  return Buffer.concat([head, content]);
}

/** Puts each chunk into a frame. */
export function framing(kind: number): Transform {
  return new Transform({ transform: (chunk: Buffer, _, done) => done(null, framed(kind, chunk)) });
}
