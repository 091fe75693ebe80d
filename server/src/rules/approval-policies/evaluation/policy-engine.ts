/** Compiled policies of one server: each is compiled once, and has a process while it is used. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import fastq from 'fastq';
import type { PolicyMessages } from '#contract/deployments/policy-verdict.ts';
import type { Context } from '../../../framework/context.ts';
import { perServer } from '../../../framework/events/per-server.ts';
import { compilePolicy, type PolicyFiles } from './compile-policy.ts';
import { joinPolicies } from './join-policies.ts';
import { PolicyError } from './policy-error.ts';
import { readMessages } from './read-verdict.ts';
import { OpaEnded, ResidentOpa } from './resident-opa.ts';

const idleMilliseconds = 5 * 60 * 1000;
const sweepMilliseconds = 30 * 1000;

type EngineContext = Pick<Context, 'settings' | 'stopping' | 'events'>;

/** A process with one policy, or several. */
interface Running {
  readonly opa: ResidentOpa;
  /** Of several, their hashes by the names of their answers. */
  readonly members: ReadonlyMap<string, string>;
}

/** Compiles policies in a folder that does not exist, and starts their process. */
type Start = (folder: string) => Promise<Running>;

interface PolicyProcess {
  readonly folder: string;
  readonly running: Promise<Running>;
  ready: ResidentOpa | null;
}

/** How many sets of policies are remembered that cannot be evaluated together, and for how long. */
const mostApart = 10_000;
const apartMilliseconds = 10 * 60 * 1000;

/** SHA-256 over the names and texts of a policy. */
export function hashOf(files: PolicyFiles): string {
  const hash = createHash('sha256');
  for (const name of [...files.keys()].toSorted()) {
    const text = files.get(name) ?? '';
    hash.update(`${Buffer.byteLength(name)}:${name}${Buffer.byteLength(text)}:${text}`);
  }
  return hash.digest('hex');
}

class PolicyEngine {
  readonly #kept = new Map<string, PolicyProcess>();
  /** Until when sets of policies that cannot be joined, or failed together, are asked alone: that tells which one fails. */
  readonly #apart = new Map<string, number>();
  #folder: string | null = null;
  #sweep: NodeJS.Timeout | null = null;
  /** As many at once as there may be processes: each evaluation needs one. */
  readonly #queue = fastq.promise((work: () => Promise<unknown>) => work(), 1);

  /** The folder of this server, empty at first. */
  #folderOf({ settings, stopping }: EngineContext): string {
    if (this.#folder !== null) return this.#folder;
    stopping.throwIfAborted();
    const parent = join(settings.dataFolder, 'policies');
    mkdirSync(parent, { recursive: true, mode: 0o700 });
    // Of servers that were killed: their processes ended with them. In a container, they had the number of this one.
    for (const name of readdirSync(parent))
      if (name.startsWith(`${process.pid}-`) || !isRunning(Number(name.split('-')[0])))
        rmSync(join(parent, name), { recursive: true, force: true });
    this.#folder = join(parent, `${process.pid}-${randomUUID().slice(0, 8)}`);
    mkdirSync(this.#folder, { mode: 0o700 });
    stopping.addEventListener('abort', () => this.#close(), { once: true });
    if (stopping.aborted) this.#close();
    return this.#folder;
  }

  #close(): void {
    if (this.#sweep) clearInterval(this.#sweep);
    for (const { ready } of this.#kept.values()) ready?.kill();
    this.#kept.clear();
    if (this.#folder !== null) rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = null;
  }

  /** Ends processes that nobody uses: those that are idle, and the longest unused above the limit. */
  #tidy(most: number): void {
    const idle = [...this.#kept].filter(([, { ready }]) => ready !== null && !ready.isBusy);
    const oldestFirst = idle.toSorted(([, a], [, b]) => (a.ready?.usedAt ?? 0) - (b.ready?.usedAt ?? 0));
    const excess = Math.max(0, this.#kept.size - most);
    for (const [index, [hash, { ready }]] of oldestFirst.entries())
      if (index < excess || performance.now() - (ready?.usedAt ?? 0) > idleMilliseconds) this.#forget(hash);
    if (this.#kept.size === 0 && this.#sweep) {
      clearInterval(this.#sweep);
      this.#sweep = null;
    }
  }

  #forget(hash: string): void {
    const kept = this.#kept.get(hash);
    this.#kept.delete(hash);
    if (!kept) return;
    const end = async () => {
      await (await kept.running).opa.end();
      await rm(kept.folder, { recursive: true, force: true });
    };
    end().catch(() => undefined);
  }

  #runningOf(context: EngineContext, key: string, start: Start): Promise<Running> {
    const kept = this.#kept.get(key);
    // It is about to be used: nothing that is started meanwhile takes its place.
    if (kept?.ready) kept.ready.usedAt = performance.now();
    if (kept && kept.ready?.hasEnded !== true) return kept.running;
    if (kept) this.#forget(key);
    const folder = join(this.#folderOf(context), randomUUID().slice(0, 8));
    const running = start(folder);
    const entry: PolicyProcess = { folder, running, ready: null };
    this.#kept.set(key, entry);
    running.then(
      ({ opa }) => {
        entry.ready = opa;
        if (context.stopping.aborted) opa.kill();
      },
      () => {
        if (this.#kept.get(key) === entry) this.#kept.delete(key);
        rmSync(folder, { recursive: true, force: true });
      },
    );
    this.#tidy(context.settings.policyProcesses);
    this.#sweep ??= setInterval(
      () => this.#tidy(context.settings.policyProcesses),
      sweepMilliseconds,
    ).unref();
    return running;
  }

  /** @throws PolicyError */
  evaluate(context: EngineContext, files: PolicyFiles, input: Buffer): Promise<PolicyMessages> {
    return this.#inTurn(context, () => this.#evaluate(context, files, input));
  }

  #inTurn<Result>({ settings }: EngineContext, work: () => Promise<Result>): Promise<Result> {
    this.#queue.concurrency = settings.policyProcesses;
    return this.#queue.push(work) as Promise<Result>;
  }

  /** @returns the messages of those that could be evaluated together, by their hashes */
  async evaluateTogether(
    context: EngineContext,
    policies: readonly PolicyFiles[],
    input: Buffer,
  ): Promise<ReadonlyMap<string, PolicyMessages>> {
    const byHash = new Map(policies.map((files) => [hashOf(files), files]));
    const hashes = [...byHash.keys()].toSorted().join(' ');
    const key = `together ${createHash('sha256').update(hashes).digest('hex')}`;
    if (byHash.size < 2 || (this.#apart.get(key) ?? 0) > performance.now()) return new Map();
    try {
      return await this.#inTurn(context, () => this.#evaluateJoined(context, byHash, key, input));
    } catch (error) {
      if (!(error instanceof PolicyError) || context.stopping.aborted) throw error;
      if (this.#apart.size >= mostApart) this.#apart.clear();
      this.#apart.set(key, performance.now() + apartMilliseconds);
      this.#forget(key);
      return new Map();
    }
  }

  async #evaluateJoined(
    context: EngineContext,
    byHash: ReadonlyMap<string, PolicyFiles>,
    key: string,
    input: Buffer,
  ): Promise<ReadonlyMap<string, PolicyMessages>> {
    const start: Start = async (folder) => {
      const joined = await joinPolicies(context.settings, byHash, folder, context.stopping);
      context.stopping.throwIfAborted();
      if (!joined) throw new PolicyError('These policies cannot be joined');
      return { opa: await ResidentOpa.start(context.settings, joined.compiled), members: joined.members };
    };
    return this.#ask(context, key, start, async ({ opa, members }) => {
      const answers = ((await opa.evaluate(input)) ?? {}) as Readonly<Record<string, unknown>>;
      return new Map([...members].map(([name, hash]) => [hash, readMessages(answerIn(answers, name))]));
    });
  }

  async #evaluate(context: EngineContext, files: PolicyFiles, input: Buffer): Promise<PolicyMessages> {
    const start: Start = async (folder) => {
      const compiled = await compilePolicy(context.settings, files, folder);
      return { opa: await ResidentOpa.start(context.settings, compiled), members: new Map() };
    };
    return this.#ask(context, hashOf(files), start, async ({ opa }) =>
      readMessages(await opa.evaluate(input)),
    );
  }

  /** @throws PolicyError */
  async #ask<Result>(
    context: EngineContext,
    key: string,
    start: Start,
    use: (running: Running) => Promise<Result>,
  ): Promise<Result> {
    for (let isAgain = false; ; isAgain = true) {
      const running = await this.#runningOf(context, key, start);
      try {
        return await use(running);
      } catch (error) {
        if (!(error instanceof OpaEnded)) throw error;
        if (this.#kept.get(key)?.ready === running.opa) this.#forget(key);
        // It may have been ended for another evaluation, or by hand: what ends it twice is the policy.
        if (isAgain || context.stopping.aborted)
          throw new PolicyError(
            `opa ended while it evaluated the policy, which may need more than ${context.settings.policyMemoryMegabytes} MB (setting ENVARIUM_POLICY_MEMORY_MB)`,
            { cause: error },
          );
      }
    }
  }

  /** How many processes there are, for tests. */
  get processes(): number {
    return this.#kept.size;
  }
}

/** Every member answers, if only that it has no rules: silence would count as no objection. */
function answerIn(answers: Readonly<Record<string, unknown>>, name: string): unknown {
  if (typeof answers[name] !== 'object') throw new PolicyError('One of the policies has not answered');
  return answers[name];
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const engineOf = perServer(() => new PolicyEngine());

/**
 * Evaluates a policy, compiled before it is used first, in a process of its own that stays ready.
 * @param files of the policy
 * @param input as JSON
 * @throws PolicyError where it does not compile, fails, hangs, or answers anything but messages
 */
export function evaluateFiles(
  context: EngineContext,
  files: PolicyFiles,
  input: Buffer,
): Promise<PolicyMessages> {
  return engineOf(context).evaluate(context, files, input);
}

/**
 * Evaluates several policies about the same plan in one process, which reads the plan once: reading it takes several
 * times as long as the rules of one policy.
 * @returns the messages of some or all of them, by `hashOf` their files; the others are to be evaluated alone, where
 *   what fails says so
 */
export function evaluateTogether(
  context: EngineContext,
  policies: readonly PolicyFiles[],
  input: Buffer,
): Promise<ReadonlyMap<string, PolicyMessages>> {
  return engineOf(context).evaluateTogether(context, policies, input);
}

/** How many compiled policies this server keeps ready. */
export function readyPolicies(context: Pick<Context, 'events'>): number {
  return engineOf(context).processes;
}
