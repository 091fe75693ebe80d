/**
 * Lends each run of a runner the process that reads and writes its folders. What a run returns waits for the
 * next one, because starting a process takes longer than most of what it does. It runs nothing of a run, keeps
 * nothing of one, and answers only while a run has it.
 */
import type { WorkFolderPaths } from '../../slots/work-folder.ts';
import type { RunnerOrder, RunnerPreparation } from '../../spool/layout.ts';
import { succeeds, TreeClient } from './tree-client.ts';
import { TreeProcess, type TreeProcessRequest } from './tree-process.ts';

/** The part of an order that determines which process serves it. */
export type TreeOrder = Pick<RunnerOrder, 'isolation' | 'slotUid' | 'workFolder'>;

export class TreeLender implements AsyncDisposable {
  #waiting: TreeProcess | null = null;
  /** Without a sandbox, a machine may lack what changing users needs. */
  #changesUsers = true;

  /** Starts a process that serves all runs to come, where that is possible. */
  prepare({ isolation, workFolder }: RunnerPreparation['runs']): void {
    try {
      this.#waiting ??= new TreeProcess(forAllRuns(isolation, workFolder));
    } catch {
      this.#changesUsers = false;
    }
  }

  /**
   * Starts a process where none is waiting that may serve the run.
   * @param folders of the run, which exist
   * @returns what reads and writes them until it is disposed of
   */
  lend(
    order: TreeOrder,
    folders: Pick<WorkFolderPaths, 'root'> & Partial<Pick<WorkFolderPaths, 'tree'>>,
  ): TreeClient {
    const request = requestFor(order, folders);
    const loan = {
      take: () => this.#take(request, order.slotUid),
      attach: (process: TreeProcess) => process.attach(order.slotUid),
      giveBack: (process: TreeProcess) => this.#takeBack(process),
    };
    return new TreeClient(loan, folders.tree ?? null);
  }

  /** Ends the process that waits. */
  async [Symbol.asyncDispose](): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = null;
    await waiting?.[Symbol.asyncDispose]();
  }

  async #take(request: TreeProcessRequest, slotUid: number | null): Promise<TreeProcess> {
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting !== null) {
      if (waiting.mayServe(request) && (await succeeds(waiting.attach(slotUid)))) return waiting;
      await waiting[Symbol.asyncDispose]();
    }
    if (request.user !== 'each' || request.sandbox !== null) return startFor(request, slotUid);
    try {
      if (this.#changesUsers) return await startFor(request, slotUid);
    } catch {
      this.#changesUsers = false;
    }
    // It ends with the processes of the run's user, whose rights it has for good.
    return startFor({ user: slotUid, sandbox: null }, slotUid);
  }

  async #takeBack(process: TreeProcess): Promise<void> {
    const mayWait = this.#waiting === null && process.mayWait && (await succeeds(process.detach()));
    if (mayWait) this.#waiting = process;
    else await process[Symbol.asyncDispose]();
  }
}

async function startFor(request: TreeProcessRequest, slotUid: number | null): Promise<TreeProcess> {
  const fresh = new TreeProcess(request);
  try {
    await fresh.attach(slotUid);
    return fresh;
  } catch (error) {
    await fresh[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * If runs have no users of their own, only the sandbox keeps its process from the folders of
 * others; without a sandbox either, each run has a process of its own.
 */
function requestFor(
  { isolation, slotUid, workFolder }: TreeOrder,
  { root }: Pick<WorkFolderPaths, 'root'>,
): TreeProcessRequest {
  if (slotUid !== null) return forAllRuns(isolation, workFolder);
  return { user: null, sandbox: isolation.bubblewrap === null ? null : { isolation, folder: root } };
}

/** Without a sandbox, only the rights of each run's user keep it from other files. */
function forAllRuns(isolation: RunnerOrder['isolation'], workFolder: string): TreeProcessRequest {
  const sandbox = isolation.bubblewrap === null ? null : { isolation, folder: workFolder };
  return { user: 'each', sandbox };
}
