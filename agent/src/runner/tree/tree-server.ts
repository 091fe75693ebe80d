/**
 * The only reader and writer of a run's work folder once code of the run may have touched it: a process under
 * the slot's uid. A link that the run planted is refused where it leaves the folder, and would reach nothing
 * that the run cannot reach itself.
 *
 * Started by `tree-client.ts` with the uid as its argument; it loads everything first, then gives up its
 * rights for good, because the slot's uid may be unable to read this very file. One request at a time, over
 * the channel that Node gives a child; it ends when that closes.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { flushCompileCache } from 'node:module';
import { basename, dirname, join, sep } from 'node:path';

/** What may be asked. `root` is absolute, `name` relative to it. */
export type TreeRequest =
  | {
      readonly ask: 'read';
      readonly root: string;
      readonly name: string;
      readonly offset: number;
      readonly length: number;
      readonly maxBytes: number;
    }
  | {
      readonly ask: 'write';
      readonly root: string;
      readonly name: string;
      readonly content: Uint8Array;
      readonly mode: number;
    }
  | { readonly ask: 'stamp'; readonly root: string; readonly name: string }
  | { readonly ask: 'list'; readonly root: string; readonly name: string }
  | { readonly ask: 'kind'; readonly root: string; readonly name: string }
  | { readonly ask: 'remove'; readonly root: string; readonly name: string }
  | { readonly ask: 'reopen'; readonly root: string; readonly name: string };

export type TreeAnswer =
  | { readonly bytes: Uint8Array | null; readonly size?: number }
  | { readonly stamp: string | null }
  | { readonly names: string[] }
  | { readonly kind: 'folder' | 'file' | 'other' | 'outside' | 'none' }
  | { readonly done: true }
  | { readonly error: string; readonly code?: string };

/** Answers one request; errors are answers too. */
export function answer(request: TreeRequest): TreeAnswer {
  try {
    switch (request.ask) {
      case 'read':
        return read(request);
      case 'write':
        return write(request);
      case 'stamp':
        return { stamp: stamp(request.root, request.name) };
      case 'list':
        return { names: list(request.root, request.name) };
      case 'kind':
        return { kind: kind(request.root, request.name) };
      case 'remove':
        return remove(request.root, request.name);
      case 'reopen':
        return reopen(request.root, request.name);
    }
  } catch (error) {
    return { error: (error as Error).message, code: (error as NodeJS.ErrnoException).code };
  }
}

function read({ root, name, offset, length, maxBytes }: Extract<TreeRequest, { ask: 'read' }>): TreeAnswer {
  const path = resolveInside(root, name);
  if (path === null) return { bytes: null };
  // Without O_NONBLOCK, a named pipe in the file's place would block this process forever.
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile()) throw new Error(`${name} is not a file`);
    if (status.size > maxBytes)
      throw new Error(`${name} has ${status.size} bytes; at most ${maxBytes} are read`);
    return {
      bytes: readFully(descriptor, offset, Math.min(length, Math.max(0, status.size - offset))),
      size: status.size,
    };
  } finally {
    closeSync(descriptor);
  }
}

function readFully(descriptor: number, offset: number, length: number): Uint8Array {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(descriptor, bytes, filled, length - filled, offset + filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}

function write({ root, name, content, mode }: Extract<TreeRequest, { ask: 'write' }>): TreeAnswer {
  const folder = makeInside(root, dirname(name));
  const temporary = join(folder, `.${basename(name)}.new`);
  rmSync(temporary, { force: true });
  const descriptor = openSync(
    temporary,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    mode,
  );
  try {
    for (let done = 0; done < content.length; ) done += writeSync(descriptor, content, done);
  } finally {
    closeSync(descriptor);
  }
  renameSync(temporary, join(folder, basename(name)));
  return { done: true };
}

// Changes whenever the file's content may have.
function stamp(root: string, name: string): string | null {
  const path = resolveInside(root, name);
  const status = path === null ? undefined : statSync(path, { bigint: true, throwIfNoEntry: false });
  return status === undefined ? null : `${status.ino}-${status.size}-${status.mtimeNs}`;
}

function list(root: string, name: string): string[] {
  const path = resolveInside(root, name);
  return path === null ? [] : readdirSync(path).sort();
}

function kind(root: string, name: string): 'folder' | 'file' | 'other' | 'outside' | 'none' {
  try {
    const path = resolveInside(root, name);
    if (path === null) return 'none';
    const status = statSync(path);
    return status.isDirectory() ? 'folder' : status.isFile() ? 'file' : 'other';
  } catch (error) {
    if (error instanceof OutsideError) return 'outside';
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return 'none';
    throw error;
  }
}

function remove(root: string, name: string): TreeAnswer {
  const folder = resolveInside(root, dirname(name));
  if (folder !== null) rmSync(join(folder, basename(name)), { recursive: true, force: true });
  return { done: true };
}

/**
 * Gives the owner of a folder, and of those on the way to something in it, the rights back that the run may
 * have taken away.
 */
function reopen(root: string, name: string): TreeAnswer {
  const segments = name.split('/');
  for (const [index] of segments.entries()) {
    const folder = join(root, ...segments.slice(0, index));
    if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) break;
    chmodSync(folder, 0o700);
  }
  return { done: true };
}

class OutsideError extends Error {}

/** The real path of something inside a root, null if there is nothing; throws if links lead outside. */
function resolveInside(root: string, name: string): string | null {
  if (name.split('/').includes('..')) throw new OutsideError(`${name} leaves its folder`);
  const realRoot = realpathSync(root);
  let path: string;
  try {
    path = realpathSync(join(realRoot, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return danglingIsOutside(realRoot, name);
  }
  if (path !== realRoot && !path.startsWith(realRoot + sep))
    throw new OutsideError(`${name} leads outside of its folder through a symbolic link`);
  return path;
}

function danglingIsOutside(realRoot: string, name: string): null {
  const isLink = lstatSync(join(realRoot, name), { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  if (isLink) throw new OutsideError(`${name} is a symbolic link that leads nowhere`);
  return null;
}

function makeInside(root: string, name: string): string {
  const segments = name.split('/').filter((part) => part !== '' && part !== '.');
  for (const [index] of segments.entries()) {
    const folder = segments.slice(0, index + 1).join('/');
    if (resolveInside(root, folder) === null) mkdirSync(join(root, folder), { mode: 0o700 });
  }
  return resolveInside(root, segments.join('/')) ?? root;
}

function giveUpRights(uid: number): void {
  process.setgroups?.([]);
  process.setgid?.(uid);
  process.setuid?.(uid);
}

/**
 * Serves the parent over the channel that Node gives a child, until that closes.
 * @param uid to give up all rights for; 0: none are given up
 */
export function serveTree(uid: number): void {
  // By its end it may not write there any more, and is killed.
  flushCompileCache();
  process.umask(0o077);
  if (uid > 0) giveUpRights(uid);
  process.on('message', (request: TreeRequest) => process.send?.(answer(request)));
  process.on('disconnect', () => process.exit(0));
  process.send?.({ done: true } satisfies TreeAnswer);
}
