/**
 * The only reader and writer of a run's work folder once code of the run may have touched it: a process with
 * the rights of the slot's uid. A link that the run planted is refused if it leads out of the folder, or, in the code,
 * out of the repository; it could reach nothing that the run itself cannot.
 *
 * Started by `tree-process.ts` with its user as an argument. It first loads all code, because the slot's uid
 * may be unable to read this file. Then it drops its rights permanently, or, if it serves one run after the
 * other, takes those of each run while it is attached to it. Its real uid remains root's then: code of a run can
 * neither signal it nor read its memory. It refuses what is requested while it is not attached.
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

/** A place of a request: `root` is absolute, `name` is relative to it. */
interface TreePlace {
  readonly root: string;
  readonly name: string;
  /** Links in `name`, and `..`, may lead anywhere below this folder, which is absolute; absent: below the root. */
  readonly border?: string;
}

export type TreeRequest = TreePlace & TreeOperation;

type TreeOperation =
  | {
      readonly operation: 'read';
      readonly offset: number;
      readonly length: number;
      readonly maxBytes: number;
    }
  | { readonly operation: 'write'; readonly content: Uint8Array; readonly mode: number }
  | { readonly operation: 'stamp' | 'list' | 'kind' | 'remove' | 'reopen' | 'target' }
  | { readonly operation: 'link'; readonly target: string };

type RequestOf<Operation extends TreeOperation['operation']> = TreePlace &
  Extract<TreeOperation, { readonly operation: Operation }>;

/** Messages of the parent. */
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
        return { stamp: stamp(request) };
      case 'list':
        return { names: list(request) };
      case 'kind':
        return { kind: kind(request) };
      case 'remove':
        return remove(request);
      case 'reopen':
        return reopen(request.root, request.name);
      case 'link':
        return link(request);
      case 'target':
        return { target: target(request) };
    }
  } catch (error) {
    return { error: (error as Error).message, code: (error as NodeJS.ErrnoException).code };
  }
}

function read(request: RequestOf<'read'>): TreeAnswer {
  const { name, offset, length, maxBytes } = request;
  const path = resolveInside(request);
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

function write(request: RequestOf<'write'>): TreeAnswer {
  const { name, content, mode } = request;
  const folder = makeInside(above(request));
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

/** The folder that an entry is in. */
function above(place: TreePlace): TreePlace {
  return { ...place, name: dirname(place.name) };
}

function stamp(place: TreePlace): string | null {
  const path = resolveInside(place);
  const status = path === null ? undefined : statSync(path, { bigint: true, throwIfNoEntry: false });
  return status === undefined ? null : `${status.ino}-${status.size}-${status.mtimeNs}`;
}

function list(place: TreePlace): string[] {
  const path = resolveInside(place);
  return path === null ? [] : readdirSync(path).sort();
}

function kind(place: TreePlace): 'folder' | 'file' | 'other' | 'outside' | 'none' {
  try {
    const path = resolveInside(place);
    if (path === null) return 'none';
    const status = statSync(path);
    return status.isDirectory() ? 'folder' : status.isFile() ? 'file' : 'other';
  } catch (error) {
    if (error instanceof OutsideError) return 'outside';
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return 'none';
    throw error;
  }
}

function remove(place: TreePlace): TreeAnswer {
  const folder = resolveInside(above(place));
  if (folder !== null) rmSync(join(folder, basename(place.name)), { recursive: true, force: true });
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

function link(request: RequestOf<'link'>): TreeAnswer {
  symlinkSync(request.target, join(makeInside(above(request)), basename(request.name)));
  return { done: true };
}

function target(place: TreePlace): string | null {
  const folder = resolveInside(above(place));
  const path = folder === null ? null : join(folder, basename(place.name));
  const isLink = path !== null && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? readlinkSync(path) : null;
}

class OutsideError extends Error {}

/** The real path of an entry; null if it does not exist. @throws OutsideError if it is beyond the border */
function resolveInside({ root, name, border = root }: TreePlace): string | null {
  const [realRoot, realBorder] = [realpathSync(root), realpathSync(border)];
  const wanted = join(realRoot, name);
  if (!isWithin(realBorder, wanted)) throw new OutsideError(`${name} leaves its folder`);
  let path: string;
  try {
    path = realpathSync(wanted);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return danglingIsOutside(wanted, name);
  }
  if (!isWithin(realBorder, path))
    throw new OutsideError(
      `${name} leads outside ${border === root ? 'its folder' : 'the repository'} through a symbolic link`,
    );
  return path;
}

function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder + sep);
}

function danglingIsOutside(path: string, name: string): null {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  if (isLink) throw new OutsideError(`${name} is a symbolic link that leads nowhere`);
  return null;
}

/** Makes the folders on the path to an entry, and the entry as a folder. @returns its real path */
function makeInside({ name, ...place }: TreePlace): string {
  const segments = name.split('/').filter((part) => part !== '' && part !== '.');
  for (const [index] of segments.entries()) {
    const folder = segments.slice(0, index + 1).join('/');
    if (resolveInside({ ...place, name: folder }) === null)
      mkdirSync(join(place.root, folder), { mode: 0o700 });
  }
  return resolveInside({ ...place, name: segments.join('/') }) ?? place.root;
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
