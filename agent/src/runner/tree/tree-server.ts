/**
 * The only reader and writer of a run's work folder once code of the run may have touched it: a process with
 * the rights of the slot's uid. A link that the run planted is refused if it leads out of the folder; it could
 * reach nothing that the run itself cannot.
 *
 * Started by `tree-process.ts` with its user as an argument. It first loads all code, because the slot's uid
 * may be unable to read this file. Then it drops its rights permanently, or, if it serves one run after the
 * other, takes those of each run while it is attached to it. Its real uid remains root's then: code of a run can
 * neither signal it nor read its memory. It refuses what is requested while it is attached to nobody.
 *
 * It handles one request at a time over Node's channel between parent and child, and ends when that closes.
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
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';

/** A request: `root` is absolute, `name` is relative to it. */
export type TreeRequest =
  | {
      readonly operation: 'read';
      readonly root: string;
      readonly name: string;
      readonly offset: number;
      readonly length: number;
      readonly maxBytes: number;
    }
  | {
      readonly operation: 'write';
      readonly root: string;
      readonly name: string;
      readonly content: Uint8Array;
      readonly mode: number;
    }
  | { readonly operation: 'stamp'; readonly root: string; readonly name: string }
  | { readonly operation: 'list'; readonly root: string; readonly name: string }
  | { readonly operation: 'kind'; readonly root: string; readonly name: string }
  | { readonly operation: 'remove'; readonly root: string; readonly name: string }
  | { readonly operation: 'reopen'; readonly root: string; readonly name: string }
  | { readonly operation: 'link'; readonly root: string; readonly name: string; readonly target: string }
  | { readonly operation: 'target'; readonly root: string; readonly name: string };

/** What the parent may send. */
export type TreeCall =
  | TreeRequest
  /** A uid: of the run that the following requests are for. */
  | { readonly operation: 'attach'; readonly uid: number | null }
  | { readonly operation: 'detach' };

/** A uid for good, or that of each run in turn; 0: the parent's. */
export type TreeUser = number | 'each';

export type TreeAnswer =
  | { readonly bytes: Uint8Array | null; readonly size?: number }
  | { readonly stamp: string | null }
  | { readonly names: string[] }
  | { readonly kind: 'folder' | 'file' | 'other' | 'outside' | 'none' }
  | { readonly target: string | null }
  | { readonly done: true }
  | { readonly error: string; readonly code?: string };

/** Answers one request; errors are answers too. */
function answer(request: TreeRequest): TreeAnswer {
  try {
    switch (request.operation) {
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
      case 'link':
        return link(request);
      case 'target':
        return { target: target(request.root, request.name) };
    }
  } catch (error) {
    return { error: (error as Error).message, code: (error as NodeJS.ErrnoException).code };
  }
}

function read({
  root,
  name,
  offset,
  length,
  maxBytes,
}: Extract<TreeRequest, { operation: 'read' }>): TreeAnswer {
  const path = resolveInside(root, name);
  if (path === null) return { bytes: null };
  // Without O_NONBLOCK, a named pipe in place of the file would block this process forever.
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile()) throw new Error(`${name} is not a file`);
    if (status.size > maxBytes)
      throw Object.assign(new Error(`${name} has ${status.size} bytes; at most ${maxBytes} are read`), {
        code: 'EFBIG',
      });
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

function write({ root, name, content, mode }: Extract<TreeRequest, { operation: 'write' }>): TreeAnswer {
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

/** Restores the owner's rights to a folder and to the folders on the path to a file in it. */
function reopen(root: string, name: string): TreeAnswer {
  const segments = name.split('/');
  for (const [index] of segments.entries()) {
    const folder = join(root, ...segments.slice(0, index));
    if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) break;
    chmodSync(folder, 0o700);
  }
  return { done: true };
}

function link({ root, name, target: to }: Extract<TreeRequest, { operation: 'link' }>): TreeAnswer {
  symlinkSync(to, join(makeInside(root, dirname(name)), basename(name)));
  return { done: true };
}

function target(root: string, name: string): string | null {
  const folder = resolveInside(root, dirname(name));
  const path = folder === null ? null : join(folder, basename(name));
  const isLink = path !== null && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? readlinkSync(path) : null;
}

class OutsideError extends Error {}

/** The real path of an entry inside a root; null if it does not exist. @throws if links lead outside */
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
    throw new OutsideError(`${name} leads outside its folder through a symbolic link`);
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

function dropRights(uid: number): void {
  process.setgroups?.([]);
  process.setgid?.(uid);
  process.setuid?.(uid);
}

/** @throws an Error unless it has exactly the rights of that uid afterwards */
function actAs(uid: number): void {
  process.setegid?.(uid);
  process.seteuid?.(uid);
  const hasRights = !/^CapEff:\s+0+$/m.test(readFileSync('/proc/self/status', 'utf8'));
  if (process.geteuid?.() !== uid || process.getegid?.() !== uid || hasRights)
    throw new Error(`this process cannot act as the user ${uid}`);
}

function actAsRoot(): void {
  process.seteuid?.(0);
  process.setegid?.(0);
}

/**
 * Answers for one run at a time.
 * @param isForEach whether it acts as the user of the run that it is attached to
 */
function createServer(isForEach: boolean): (call: TreeCall) => TreeAnswer {
  let isAttached = false;
  const attach = (uid: number | null): void => {
    if (isAttached) throw new Error('this process is attached to another run');
    if (isForEach && (uid === null || uid <= 0)) throw new Error(`this process never acts as ${uid}`);
    if (isForEach && uid !== null) actAs(uid);
    isAttached = true;
  };
  const detach = (): void => {
    isAttached = false;
    if (isForEach) actAsRoot();
  };
  return (call) => {
    try {
      if (call.operation === 'attach') attach(call.uid);
      else if (call.operation === 'detach') detach();
      else return isAttached ? answer(call) : { error: 'this process is attached to no run' };
      return { done: true };
    } catch (error) {
      return { error: (error as Error).message };
    }
  };
}

/** Serves the parent over Node's channel between parent and child until that closes. */
export function serveTree(user: TreeUser): void {
  process.umask(0o077);
  if (user === 'each') process.setgroups?.([]);
  else if (user > 0) dropRights(user);
  const serve = createServer(user === 'each');
  process.on('message', (call: TreeCall) => process.send?.(serve(call)));
  process.on('disconnect', () => process.exit(0));
  process.send?.({ done: true } satisfies TreeAnswer);
}
