/** Output of runs, kept from the spool folder of an agent that removes it once the service has it. */
import { linkSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const lookMilliseconds = 10;

/** One attempt's output: of each step, the bytes that its commands have printed. */
export interface SpooledLog {
  readonly steps: ReadonlyMap<string, Buffer>;
}

interface SpooledDeployment {
  readonly deploymentId: string;
  readonly folder: string;
  readonly steps: Set<string>;
}

/** The name of the file of a step's output. */
export function spooledName(step: string): string {
  return `${step.replaceAll(':', '_')}.raw`;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Links each file of output as soon as it is there: a link has all that is written into it later, too. */
export class SpooledLogs implements Disposable {
  readonly #attempts: string;
  readonly #folder: string;
  readonly #byAttempt = new Map<string, SpooledDeployment>();
  readonly #timer: NodeJS.Timeout;

  /**
   * @param spool of the agent
   * @param folder for the links, on the same file system
   */
  constructor(spool: string, folder: string) {
    this.#attempts = join(spool, 'attempts');
    this.#folder = folder;
    this.#timer = setInterval(() => this.look(), lookMilliseconds);
  }

  /** Links what is new. */
  look(): void {
    // One with an ending is not complete yet.
    for (const name of namesIn(this.#attempts).filter((each) => !each.includes('.'))) {
      const kept = this.#byAttempt.get(name) ?? this.#begin(name);
      if (kept === null) continue;
      for (const file of namesIn(join(this.#attempts, name, 'steps'))) {
        if (kept.steps.has(file)) continue;
        try {
          linkSync(join(this.#attempts, name, 'steps', file), join(kept.folder, file));
          kept.steps.add(file);
        } catch (error) {
          // Removed in between.
          if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        }
      }
    }
  }

  /** The attempts of a deployment, in their order. */
  of(deploymentId: string): SpooledLog[] {
    return [...this.#byAttempt.values()]
      .filter((attempt) => attempt.deploymentId === deploymentId)
      .map((attempt) => ({
        steps: new Map([...attempt.steps].map((file) => [file, readFileSync(join(attempt.folder, file))])),
      }));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #begin(name: string): SpooledDeployment | null {
    let job: string;
    try {
      job = readFileSync(join(this.#attempts, name, 'job.json'), 'utf8');
    } catch {
      return null;
    }
    const folder = join(this.#folder, name);
    mkdirSync(folder, { recursive: true });
    const { deploymentId } = JSON.parse(job) as { deploymentId: string };
    const kept = { deploymentId, folder, steps: new Set<string>() };
    this.#byAttempt.set(name, kept);
    return kept;
  }
}
