/**
 * The runner's side of the tree server: the runner reads and writes a run's work folder only through it.
 */
import { open } from 'node:fs/promises';
import { sep } from 'node:path';
import type { TreeReader } from '../../drivers/interface/capabilities.ts';
import { RunFailure } from '../../processes/failure.ts';
import type { TreeProcess } from './tree-process.ts';
import type { TreeAnswer, TreeRequest } from './tree-server.ts';

const textLimit = 10_000_000;
const pieceBytes = 4 << 20;

export interface CopyLimits {
  readonly bytes: number;
  /** Checked before each piece. */
  readonly stop: { throwIfStopped(): void };
}

/** Owner and destination of the process after the run. */
export interface TreeLoan {
  take(): Promise<TreeProcess>;
  /** Returns it to the run that detached it. */
  attach(process: TreeProcess): Promise<void>;
  giveBack(process: TreeProcess): Promise<void>;
}

/** Whether a request to a process was answered without an error. */
export async function succeeds(work: Promise<void>): Promise<boolean> {
  return await work.then(
    () => true,
    () => false,
  );
}

export class TreeClient implements AsyncDisposable {
  readonly #loan: TreeLoan;
  readonly #code: string | null;
  #process: Promise<TreeProcess>;

  /** @param code absolute path of the repository's folder, in which links may lead everywhere; null: there is none */
  constructor(loan: TreeLoan, code: string | null) {
    this.#loan = loan;
    this.#code = code;
    this.#process = this.#take();
  }

  /** Ends the process and takes another one. */
  async restart(): Promise<void> {
    await (await this.#taken())?.[Symbol.asyncDispose]();
    this.#process = this.#take();
  }

  /** Runs work while the process does not act as the run's user: all processes of this user may be ended. */
  async detachedDuring(work: () => Promise<void>): Promise<void> {
    const process = await this.#taken();
    const isDetached = process !== null && (await succeeds(process.detach()));
    try {
      await work();
    } finally {
      if (!isDetached || !(await succeeds(this.#loan.attach(process)))) await this.restart();
    }
  }

  /**
   * @returns a file's bytes; null if it does not exist
   * @throws an Error if it is not a file, is too large, or is outside the root
   */
  async read(root: string, name: string, maxBytes: number): Promise<Uint8Array | null> {
    const answer = await this.#request({
      operation: 'read',
      root,
      name,
      offset: 0,
      length: maxBytes,
      maxBytes,
    });
    return 'bytes' in answer ? answer.bytes : null;
  }

  /**
   * @returns at most `length` bytes of a file after an offset, empty at its end; null if it does not exist
   * @throws like `read`
   */
  async piece(root: string, name: string, offset: number, length: number): Promise<Uint8Array | null> {
    const answer = await this.#request({
      operation: 'read',
      root,
      name,
      offset,
      length,
      maxBytes: Number.MAX_SAFE_INTEGER,
    });
    return 'bytes' in answer ? answer.bytes : null;
  }

  /**
   * Copies a file out of the work folder in pieces, not durably.
   * @returns its size in bytes, or what was copied when that became more than the limit; null if it does not exist
   * @throws what `throwIfStopped` throws
   */
  async copyOut(root: string, name: string, to: string, limits: CopyLimits): Promise<number | null> {
    const target = await open(to, 'w', 0o600);
    try {
      for (let offset = 0; ; ) {
        const bytes = await this.piece(root, name, offset, pieceBytes);
        if (bytes === null) return null;
        if (bytes.length === 0) return offset;
        limits.stop.throwIfStopped();
        // Unlike write(), it repeats short writes.
        await target.writeFile(bytes);
        offset += bytes.length;
        if (offset > limits.bytes) return offset;
      }
    } finally {
      await target.close();
    }
  }

  /** Writes a file, creating its parent folders; a link in its place is replaced, not followed. */
  async write(root: string, name: string, content: Uint8Array | string, mode = 0o600): Promise<void> {
    await this.#request({
      operation: 'write',
      root,
      name,
      content: typeof content === 'string' ? Buffer.from(content) : content,
      mode,
    });
  }

  /** A text that changes whenever a file's content may have changed; null if the file does not exist. */
  async stamp(root: string, name: string): Promise<string | null> {
    const answer = await this.#request({ operation: 'stamp', root, name });
    return 'stamp' in answer ? answer.stamp : null;
  }

  async list(root: string, name: string): Promise<string[]> {
    const answer = await this.#request({ operation: 'list', root, name });
    return 'names' in answer ? answer.names : [];
  }

  /** The kind of a path; `outside` if a symbolic link leads out of the root, or of the repository. */
  async kind(root: string, name: string): Promise<'folder' | 'file' | 'other' | 'outside' | 'none'> {
    const answer = await this.#request({ operation: 'kind', root, name });
    return 'kind' in answer ? answer.kind : 'none';
  }

  async remove(root: string, name: string): Promise<void> {
    await this.#request({ operation: 'remove', root, name });
  }

  /** Makes a symbolic link, creating its parent folders. @throws if something is in its place */
  async link(root: string, name: string, target: string): Promise<void> {
    await this.#request({ operation: 'link', root, name, target });
  }

  /** Target of a symbolic link; null if there is none of that name. */
  async target(root: string, name: string): Promise<string | null> {
    const answer = await this.#request({ operation: 'target', root, name });
    return 'target' in answer ? answer.target : null;
  }

  /**
   * Makes a file's parent folders accessible to the slot's user again, whatever the run did to their modes.
   */
  async reopen(root: string, name: string): Promise<void> {
    await this.#request({ operation: 'reopen', root, name });
  }

  /** A driver's view of one folder. */
  reader(root: string): TreeReader {
    return {
      list: (folder) => this.list(root, folder),
      text: async (name) => {
        const bytes = await this.read(root, name, textLimit).catch((error: Error) => {
          throw new RunFailure(`a file of the code cannot be read: ${error.message}`);
        });
        return bytes === null ? null : new TextDecoder().decode(bytes);
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const process = await this.#taken();
    if (process !== null) await this.#loan.giveBack(process);
  }

  async #request(request: TreeRequest): Promise<Exclude<TreeAnswer, { error: string }>> {
    const code = this.#code;
    const isCode = code !== null && `${request.root}${sep}`.startsWith(code + sep);
    return await (await this.#process).request(isCode ? { ...request, border: code } : request);
  }

  #take(): Promise<TreeProcess> {
    const process = this.#loan.take();
    // The first request reports a failure to start.
    process.catch(() => undefined);
    return process;
  }

  async #taken(): Promise<TreeProcess | null> {
    return await this.#process.catch(() => null);
  }
}
