/**
 * Keeps the process that reads and writes the folders of a plan until the immediate apply of that plan, because
 * its start takes longer than most of what it does. It runs nothing of the run and lives in namespaces of its
 * own; between the phases, its user cannot enter the work folder.
 */
import type { HeldAttempt } from '#protocol/messages/attempt.ts';
import type { TreeProcess } from './tree-process.ts';

/** An apply that takes longer to arrive gets a new process. */
const keptMilliseconds = 3_000;

export class KeptTreeProcess {
  #kept: { readonly process: TreeProcess; readonly by: HeldAttempt } | null = null;
  #timer: NodeJS.Timeout | undefined;

  /** @param by the plan's attempt */
  keep(process: TreeProcess, { jobId, attempt, fence }: HeldAttempt): void {
    this.#kept = { process, by: { jobId, attempt, fence } };
    this.#timer = setTimeout(() => void this.take(null), keptMilliseconds);
  }

  /**
   * Ends what was kept for another attempt, and what does not answer.
   * @param by the plan's attempt; null: nothing can be used
   */
  async take(by: HeldAttempt | null): Promise<TreeProcess | null> {
    clearTimeout(this.#timer);
    const kept = this.#kept;
    this.#kept = null;
    if (kept === null) return null;
    const isSame = kept.by.jobId === by?.jobId && kept.by.attempt === by.attempt;
    if (isSame && (await kept.process.answers())) return kept.process;
    await kept.process[Symbol.asyncDispose]();
    return null;
  }
}
