/** Processes of opa that read the input of a check once: each serves one check, and a spare one is ready for the next. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Context } from '../../../framework/context.ts';
import { SharedOpa } from './shared-opa.ts';

const idleMilliseconds = 5 * 60 * 1000;
/** One of this many processes of policies may be shared. */
const processesForOneShared = 4;

type SharingContext = Pick<Context, 'settings' | 'stopping'>;

interface SpareProcess {
  readonly isOld: boolean;
  readonly starting: Promise<SharedOpa | null>;
  /** Ends it if it is not used for long. */
  readonly idle: NodeJS.Timeout;
}

export class SharedProcesses {
  readonly #folderOf: (context: SharingContext) => string;
  readonly #running = new Set<SharedOpa>();
  readonly #spares = new Set<SpareProcess>();
  #starting = 0;

  /** @param folderOf the folder of this server */
  constructor(folderOf: (context: SharingContext) => string) {
    this.#folderOf = folderOf;
  }

  /** @returns null where too many are in use. @throws PolicyError where it does not start */
  async take(context: SharingContext, isOld: boolean): Promise<SharedOpa | null> {
    for (const spare of this.#spares) {
      if (spare.isOld !== isOld) continue;
      const opa = await this.#claim(spare);
      if (opa && !opa.hasEnded) return opa;
      if (opa) await this.end(opa);
    }
    // Spare processes of the other language make room.
    while (this.#isFull(context)) {
      const [spare] = this.#spares;
      if (spare === undefined) return null;
      await this.#endSpare(spare);
    }
    return this.#start(context, isOld);
  }

  #isFull({ settings }: SharingContext): boolean {
    const most = Math.ceil(settings.policyProcesses / processesForOneShared);
    return this.#running.size + this.#starting >= most;
  }

  #claim(spare: SpareProcess): Promise<SharedOpa | null> {
    this.#spares.delete(spare);
    clearTimeout(spare.idle);
    return spare.starting;
  }

  async #endSpare(spare: SpareProcess): Promise<void> {
    const opa = await this.#claim(spare);
    if (opa) await this.end(opa);
  }

  async #start(context: SharingContext, isOld: boolean): Promise<SharedOpa | null> {
    if (this.#isFull(context)) return null;
    this.#starting++;
    try {
      const folder = join(this.#folderOf(context), randomUUID().slice(0, 8));
      const opa = await SharedOpa.start(context.settings, folder, isOld);
      this.#running.add(opa);
      if (context.stopping.aborted) await this.end(opa);
      return opa;
    } finally {
      this.#starting--;
    }
  }

  /** Ends one that was used: nothing of a check is left for another. */
  async end(opa: SharedOpa): Promise<void> {
    // A folder that cannot be removed is removed by the next start of the service.
    await opa.end().catch(() => undefined);
    this.#running.delete(opa);
  }

  /** Starts a spare one, which ends when it is not used for long. */
  prepare(context: SharingContext, isOld: boolean): void {
    if (context.stopping.aborted || this.#isFull(context)) return;
    const spare: SpareProcess = {
      isOld,
      starting: this.#start(context, isOld).catch(() => null),
      idle: setTimeout(() => void this.#endSpare(spare), idleMilliseconds).unref(),
    };
    this.#spares.add(spare);
  }

  /** Ends all of them at once. */
  close(): void {
    for (const opa of this.#running) opa.kill();
    for (const { idle } of this.#spares) clearTimeout(idle);
    this.#running.clear();
    this.#spares.clear();
  }
}
