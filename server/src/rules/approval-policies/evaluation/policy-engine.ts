/** Compiled policies of one server: each is compiled once, and has a process while it is used. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import fastq from 'fastq';
import { LruMap } from 'toad-cache';
import type { PolicyMessages } from '#contract/deployments/policy-verdict.ts';
import type { Context } from '../../../framework/context.ts';
import { perServer } from '../../../framework/events/per-server.ts';
import { type CompiledPolicy, compilePolicy, type PolicyFiles } from './compile-policy.ts';
import { PolicyError } from './policy-error.ts';
import { PolicyTurns } from './policy-turns.ts';
import { readMessages } from './read-verdict.ts';
import { OpaEnded, ResidentOpa } from './resident-opa.ts';
import type { PolicyTurn } from './shared-opa.ts';
import { SharedProcesses } from './shared-processes.ts';

const idleMilliseconds = 5 * 60 * 1000;
const sweepMilliseconds = 30 * 1000;
const aloneMilliseconds = 10 * 60_000;
const mostKnown = 1000;
/** Fewer are evaluated sooner by processes of their own, which have compiled them before. */
const fewestTurns = 4;

type EngineContext = Pick<Context, 'settings' | 'stopping' | 'events'>;

interface PolicyProcess {
  readonly folder: string;
  readonly running: Promise<ResidentOpa>;
  ready: ResidentOpa | null;
}

/** The input of one policy. */
export interface PolicyDocument {
  /** Part that all policies of a check have, as a JSON object. */
  readonly common: Buffer;
  /** Its configuration, as JSON, which is added as `policyConfiguration`. */
  readonly configuration: string;
  /** Both, as JSON. */
  readonly whole: () => Buffer;
}

/** Facts about a policy that was compiled. */
type PolicyKind = Pick<CompiledPolicy, 'isOld' | 'isShareable'>;

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
  #folder: string | null = null;
  #sweep: NodeJS.Timeout | null = null;
  /** As many at once as there may be processes: each evaluation needs one. */
  readonly #queue = fastq.promise((work: () => Promise<unknown>) => work(), 1);
  readonly #kinds = new LruMap<Promise<PolicyKind>>(mostKnown);
  /** Hashes of policies that take no turns for a while. */
  readonly #alone = new LruMap<true>(mostKnown, aloneMilliseconds);
  /** Processes in which the policies of a check take turns. */
  readonly shared = new SharedProcesses((context) => this.#folderOf(context));

  /** The folder of this server, empty at first. */
  #folderOf({ settings, stopping }: Pick<EngineContext, 'settings' | 'stopping'>): string {
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
    this.shared.close();
    if (this.#folder !== null) rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = null;
  }

  /** Ends processes that are not used: those that are idle, and the longest unused above the limit. */
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
      await (await kept.running).end();
      await rm(kept.folder, { recursive: true, force: true });
    };
    end().catch(() => undefined);
  }

  async #start(context: EngineContext, files: PolicyFiles, folder: string): Promise<ResidentOpa> {
    const compiled = await compilePolicy(context.settings, files, folder);
    context.stopping.throwIfAborted();
    return ResidentOpa.start(context.settings, compiled);
  }

  /** The process of a policy, started unless it runs. */
  #runningOf(context: EngineContext, hash: string, files: PolicyFiles): Promise<ResidentOpa> {
    const kept = this.#kept.get(hash);
    // It is about to be used: a process that starts in the meantime does not replace it.
    if (kept?.ready) kept.ready.usedAt = performance.now();
    if (kept && kept.ready?.hasEnded !== true) return kept.running;
    if (kept) this.#forget(hash);
    const folder = join(this.#folderOf(context), randomUUID().slice(0, 8));
    const running = this.#start(context, files, folder);
    const entry: PolicyProcess = { folder, running, ready: null };
    this.#kept.set(hash, entry);
    running.then(
      (opa) => {
        entry.ready = opa;
        if (context.stopping.aborted) opa.kill();
      },
      () => {
        if (this.#kept.get(hash) === entry) this.#kept.delete(hash);
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
    this.#queue.concurrency = context.settings.policyProcesses;
    return this.#queue.push(() => this.#evaluate(context, files, input)) as Promise<PolicyMessages>;
  }

  async #evaluate(context: EngineContext, files: PolicyFiles, input: Buffer): Promise<PolicyMessages> {
    const hash = hashOf(files);
    for (let isAgain = false; ; isAgain = true) {
      const opa = await this.#runningOf(context, hash, files);
      try {
        return readMessages(await opa.evaluate(input));
      } catch (error) {
        if (!(error instanceof OpaEnded)) throw error;
        if (this.#kept.get(hash)?.ready === opa) this.#forget(hash);
        // It may have been ended for another evaluation, or by hand: what ends it twice is the policy.
        if (isAgain || context.stopping.aborted)
          throw new PolicyError(
            `opa ended while it evaluated the policy, which may need more than ${context.settings.policyMemoryMegabytes} MB (setting ENVARIUM_POLICY_MEMORY_MB)`,
            { cause: error },
          );
      }
    }
  }

  async #readKind(context: EngineContext, files: PolicyFiles): Promise<PolicyKind> {
    const folder = join(this.#folderOf(context), randomUUID().slice(0, 8));
    const { isOld, isShareable } = await compilePolicy(context.settings, files, folder);
    await rm(folder, { recursive: true, force: true });
    return { isOld, isShareable };
  }

  /** Facts about a policy, which is compiled unless it was before. @throws PolicyError where it does not compile */
  kindOf(context: EngineContext, hash: string, files: PolicyFiles): Promise<PolicyKind> {
    const known = this.#kinds.get(hash);
    if (known) return known;
    this.#queue.concurrency = context.settings.policyProcesses;
    const kind = this.#queue.push(() => this.#readKind(context, files)) as Promise<PolicyKind>;
    kind.catch(() => this.#kinds.delete(hash));
    this.#kinds.set(hash, kind);
    return kind;
  }

  /** Evaluates a policy in a process of its own for a while: not for good, as the reason may have been another policy. */
  stopSharing(hash: string): void {
    this.#alone.set(hash, true);
  }

  mayShare(hash: string): boolean {
    return this.#alone.get(hash) === undefined;
  }

  /** Number of processes, for tests. */
  get processes(): number {
    return this.#kept.size;
  }
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
 * Evaluates policies that decide about the same input, each compiled before it is used first: in a process of its own
 * that stays ready, or, where there are several, in turn in few processes.
 */
export class PolicyCheck implements AsyncDisposable {
  readonly #context: EngineContext;
  readonly #turns: readonly [today: PolicyTurns, old: PolicyTurns] | null;
  #isDisposed = false;

  /**
   * @param input part of it that all of them have, as a JSON object
   * @param count of policies
   */
  constructor(context: EngineContext, input: Buffer, count: number) {
    this.#context = context;
    const most = Math.min(availableParallelism(), Math.ceil(count / fewestTurns));
    const turnsOf = (isOld: boolean) =>
      new PolicyTurns({ context, input, most }, engineOf(context).shared, isOld);
    this.#turns = count < fewestTurns ? null : [turnsOf(false), turnsOf(true)];
  }

  /** @throws PolicyError where a policy does not compile, fails, hangs, or answers anything but messages */
  async evaluate(files: PolicyFiles, document: PolicyDocument): Promise<PolicyMessages> {
    const [text, ...others] = files.values();
    if (this.#turns && text !== undefined && others.length === 0) {
      const answer = await this.#takeTurn(this.#turns, files, { ...document, text });
      if (answer) return readMessages(answer.result);
    }
    return engineOf(this.#context).evaluate(this.#context, files, document.whole());
  }

  async #takeTurn(
    [today, old]: readonly [PolicyTurns, PolicyTurns],
    files: PolicyFiles,
    turn: PolicyTurn,
  ): Promise<{ readonly result: unknown } | null> {
    const engine = engineOf(this.#context);
    const hash = hashOf(files);
    const kind = await engine.kindOf(this.#context, hash, files);
    if (!kind.isShareable || !engine.mayShare(hash)) return null;
    const answer = await (kind.isOld ? old : today).take(turn);
    if ('result' in answer) return answer;
    if (this.#isDisposed) throw new Error('the check has ended');
    if (answer.needsOwnProcess) engine.stopSharing(hash);
    return null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    await Promise.all((this.#turns ?? []).map((turns) => turns[Symbol.asyncDispose]()));
  }
}

/** Number of compiled policies that this server keeps ready. */
export function readyPolicies(context: Pick<Context, 'events'>): number {
  return engineOf(context).processes;
}
