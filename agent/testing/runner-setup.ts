/**
 * For tests: a real runner on a prepared spool folder, with a temporary git repository; the setup acts as the
 * agent.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, uptime } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { parseExactly } from '#contract/schema/exact-json.ts';
import { approvedHash, sha256 } from '#protocol/approved.ts';
import type { Job } from '#protocol/messages/job.ts';
import type { Outcome } from '#protocol/messages/outcome.ts';
import type { RunEvent } from '#protocol/messages/report.ts';
import { agentProgram } from '../../tools/programs/built-programs.ts';
import type { ProgramRole } from '../src/own/own-program.ts';
import { findIsolation } from '../src/processes/isolation.ts';
import { findProgram } from '../src/processes/programs.ts';
import type { Isolation } from '../src/processes/sandbox.ts';
import {
  attemptFolderName,
  type Control,
  type RunnerOrder,
  type SpoolPaths,
  spoolPaths,
} from '../src/spool/layout.ts';
import { readMark, readStoredMark } from '../src/spool/read-attempt.ts';

const isRoot = process.getuid?.() === 0;
// Test files run in parallel, and a run ends every process of its uid: each file has 100 uids that no other file has.
let nextUid = 2_000_000 + process.pid * 100;

export const withTerraform = { skip: findProgram('terraform') === null ? 'needs terraform' : false };
export const withTerraformAsRoot = {
  skip: isRoot ? withTerraform.skip : 'needs root: only then runs have their own user',
};

/** A user without files, for runs whose agent is not started as root. */
const ordinaryUid = 65_534;

/** For runs in bubblewrap, under a user other than root. */
export const withBubblewrap = { skip: withTerraform.skip || reasonAgainstBubblewrap() };

function reasonAgainstBubblewrap(): string | false {
  if (findProgram('bwrap') === null) return 'needs bubblewrap';
  if (!isRoot) return false;
  try {
    execFileSync('setpriv', [
      '--reuid',
      String(ordinaryUid),
      '--regid',
      String(ordinaryUid),
      '--clear-groups',
      'test',
      '-r',
      agentProgram,
    ]);
    return false;
  } catch {
    return 'needs a checkout that other users can read';
  }
}

export interface Ran {
  readonly outcome: Outcome;
  readonly events: RunEvent[];
  readonly spool: SpoolPaths;
  readonly job: Job;
  /** Raw output of a step. */
  log(step: string): string;
  /** The last status of each step, in the order of their first events. */
  steps(): Record<string, string>;
}

export interface RunnerSetup {
  readonly folder: string;
  readonly workFolder: string;
  readonly repository: string;
  readonly slotUid: number | null;
  readonly isolation: Isolation;
  /** Whether the runner runs under another user than the test. */
  readonly isOrdinary: boolean;
  /** Commits files (null removes one). @returns the commit's id */
  commit(files: Record<string, string | null>): string;
  git(...args: string[]): string;
  job(changes?: Partial<Job>): Job;
  /** Writes the folder of an attempt, for a runner that receives the order. */
  prepare(job: Job): { readonly spool: SpoolPaths; readonly order: RunnerOrder };
  /** Starts a runner on a new attempt; without `mark: false` the mark is stored as soon as it is written. */
  start(job: Job, options?: StartOptions): Running;
  run(job: Job, options?: StartOptions): Promise<Ran>;
  /** The job that applies a plan in the kept tree, or as on another machine, in the transferred one. */
  applyJob(planned: Ran, options?: { onOtherMachine?: boolean; changes?: Partial<Job> }): Job;
  /** The newest state that an attempt left. */
  newestState(ran: Ran): Buffer | null;
}

export interface StartOptions {
  readonly mark?: boolean;
  /** False: the server is unreachable. */
  readonly contact?: boolean;
  readonly toolPaths?: Record<string, string>;
  readonly order?: Partial<
    Pick<RunnerOrder, 'runLimits' | 'providers' | 'network' | 'toolchain' | 'costs' | 'reuseFolder'>
  >;
  readonly prepare?: (spool: SpoolPaths) => void;
  readonly state?: Buffer | null;
}

export interface Running {
  readonly child: ChildProcess;
  readonly spool: SpoolPaths;
  readonly ended: Promise<Ran>;
  abort(how: 'gently' | 'now'): void;
  /** Waits for a condition, at most a minute. */
  until(condition: () => boolean, what: string): Promise<void>;
}

/** A new folder with a repository that contains the specified files; removed after the test. */
export function createSetup(
  t: TestContext,
  files: Record<string, string>,
  options: { asOrdinaryUser?: boolean; isolation?: 'off'; spoolMegabytes?: number } = {},
): RunnerSetup {
  const folder = mkdtempSync(join(tmpdir(), 'runner-'));
  chmodSync(folder, 0o711);
  const workFolder = join(folder, 'work');
  const repository = join(folder, 'repositories', 'code');
  mkdirSync(workFolder, { mode: 0o711 });
  chmodSync(workFolder, 0o711);
  mkdirSync(join(folder, 'spool'), { mode: 0o700 });
  if (options.spoolMegabytes !== undefined) mountSmall(t, join(folder, 'spool'), options.spoolMegabytes);
  mkdirSync(repository, { recursive: true });
  chmodSync(join(folder, 'repositories'), 0o700);
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const isOrdinary = isRoot && options.asOrdinaryUser === true;
  const slotUid = isRoot && !isOrdinary ? nextUid++ : null;
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-C', repository, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  git('init', '-q', '-b', 'main');
  let number = 0;
  const setup: RunnerSetup = {
    folder,
    workFolder,
    repository,
    slotUid,
    isolation: isolationIn(join(folder, 'spool'), isOrdinary || slotUid !== null, options.isolation),
    isOrdinary,
    git,
    commit(changed) {
      for (const [name, content] of Object.entries(changed)) {
        mkdirSync(dirname(join(repository, name)), { recursive: true });
        if (content === null) rmSync(join(repository, name));
        else writeFileSync(join(repository, name), content);
      }
      git('add', '-A');
      git('commit', '-q', '-m', `commit ${++number}`);
      return git('rev-parse', 'HEAD');
    },
    job: (changes = {}) => ({ ...baseJob(`job-${++number}`, repository), ...changes }),
    prepare: (job) => prepare(setup, job, {}),
    start: (job, options) => start(setup, job, options),
    run: (job, options) => start(setup, job, options).ended,
    applyJob: (planned, options = {}) => applyJob(planned, `job-${++number}`, options),
    newestState: (ran) => {
      const [newest] = readdirSync(ran.spool.states)
        .filter((name) => name.endsWith('.tfstate'))
        .sort((a, b) => Number.parseInt(b) - Number.parseInt(a));
      return newest === undefined ? null : readFileSync(join(ran.spool.states, newest));
    },
  };
  setup.commit(files);
  return setup;
}

/** Gives a folder a small disk of its own, until the end of the test; only root can. */
function mountSmall(t: TestContext, folder: string, megabytes: number): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0700`, 'tmpfs', folder]);
  t.after(() => execFileSync('umount', ['--lazy', folder]));
}

/** Of runs that have only the rights of their user. */
export const notIsolated: Isolation = {
  bubblewrap: null,
  seccompFile: null,
  readable: [],
  hidden: [],
  isOffline: false,
};
const isolationFolder = mkdtempSync(join(tmpdir(), 'isolation-'));
process.once('exit', () => rmSync(isolationFolder, { recursive: true, force: true }));
const offered = await findIsolation({
  mode: 'auto',
  slotUid: isRoot ? ordinaryUid : null,
  folder: isolationFolder,
  readable: [],
  hidden: [],
  isOffline: false,
});

/** Capabilities of this machine, as an agent whose spool is in a folder would find them. */
function isolationIn(folder: string, isPossible: boolean, wanted?: 'off'): Isolation {
  const { bubblewrap, seccompFile } = offered.isolation;
  if (!isPossible || wanted === 'off' || bubblewrap === null) return notIsolated;
  const ownFilter = join(folder, 'seccomp.bpf');
  if (seccompFile !== null) copyFileSync(seccompFile, ownFilter);
  return {
    ...offered.isolation,
    seccompFile: seccompFile === null ? null : ownFilter,
    readable: [process.execPath, dirname(agentProgram), '/var/cache'],
  };
}

function baseJob(jobId: string, repository: string): Job {
  return {
    jobId,
    attempt: 1,
    fence: 1,
    phase: 'plan',
    deploymentId: '00000000-0000-7000-8000-0000000000d1',
    environmentId: '00000000-0000-7000-8000-0000000000e1',
    organizationId: '00000000-0000-7000-8000-0000000000a1',
    projectId: '00000000-0000-7000-8000-0000000000b1',
    type: 'deploy',
    tool: 'terraform',
    workspaceName: 'test-one',
    source: { repository, httpHosts: ['127.0.0.1'], localPaths: [dirname(repository)] },
    variables: { environment: [], terraform: [] },
    systemVariables: { ENVARIUM_ENVIRONMENT_NAME: 'one' },
    targets: [],
    skipStateRefresh: false,
    state: { isForced: false },
    secrets: [],
    limits: {
      runSeconds: 120,
      abortSeconds: 5,
      offlineGraceSeconds: 60,
      stepLogBytes: 1_000_000_000,
      travelBytes: 100_000_000,
    },
  };
}

function applyJob(
  planned: Ran,
  jobId: string,
  options: { onOtherMachine?: boolean; changes?: Partial<Job> },
): Job {
  const parts = planned.outcome.approvedParts;
  if (parts === undefined) throw new Error(`nothing was planned: ${JSON.stringify(planned.outcome)}`);
  const continues = options.onOtherMachine
    ? {}
    : { continues: { jobId: planned.job.jobId, attempt: planned.job.attempt, fence: planned.job.fence } };
  return {
    ...planned.job,
    jobId,
    phase: 'apply',
    workFolder: planned.outcome.workFolder,
    approved: { hash: approvedHash(parts), parts, ...continues },
    ...options.changes,
  };
}

function writeAttempt(setup: RunnerSetup, job: Job, options: StartOptions): SpoolPaths {
  const spool = spoolPaths(join(setup.folder, 'spool', attemptFolderName(job.jobId, job.attempt)));
  for (const folder of [spool.folder, spool.inputs, spool.steps, spool.states, spool.outputs])
    mkdirSync(folder, { mode: 0o700 });
  writeFileSync(spool.job, JSON.stringify(job), { mode: 0o600 });
  writeFileSync(spool.contact, String(uptime()));
  if (options.state) writeFileSync(spool.inputState, options.state, { mode: 0o600 });
  if (job.phase === 'apply') copyApplyInputs(setup, job, spool);
  options.prepare?.(spool);
  return spool;
}

// The files that the agent would fetch. The planning attempt is the one with the approved plan, or the newest
// if the tool saves none.
function copyApplyInputs(setup: RunnerSetup, job: Job, spool: SpoolPaths): void {
  const approved = job.approved?.parts.planFile;
  const planned = readdirSync(join(setup.folder, 'spool'))
    .sort((left, right) => left.localeCompare(right, undefined, { numeric: true }))
    .map((name) => spoolPaths(join(setup.folder, 'spool', name)))
    .findLast((one) => existsSync(one.outputTree) && planHash(one) === approved);
  if (planned === undefined) return;
  if (approved !== undefined) linkSync(planned.outputPlan, spool.inputPlan);
  if (!existsSync(spool.inputState) && existsSync(planned.inputState) && job.state.current !== undefined)
    cpSync(planned.inputState, spool.inputState);
  if (job.approved?.continues === undefined) linkSync(planned.outputTree, spool.inputTree);
}

function planHash({ outputPlan }: SpoolPaths): string | undefined {
  return existsSync(outputPlan) ? sha256(readFileSync(outputPlan)) : undefined;
}

/** Writes the folder of an attempt. @returns the order of its runner */
function prepare(
  setup: RunnerSetup,
  job: Job,
  options: StartOptions,
): { readonly spool: SpoolPaths; readonly job: Job; readonly order: RunnerOrder } {
  const withState = options.state
    ? { ...job, state: { ...job.state, current: currentOf(options.state) } }
    : job;
  const spool = writeAttempt(setup, withState, options);
  if (setup.isOrdinary) execFileSync('chown', ['-R', `${ordinaryUid}:${ordinaryUid}`, setup.folder]);
  const order = {
    attemptFolder: spool.folder,
    workFolder: setup.workFolder,
    slotUid: setup.slotUid,
    isolation: setup.isolation,
    toolPaths: options.toolPaths ?? {
      terraform: findProgram('terraform') ?? '',
      git: findProgram('git') ?? '',
    },
    ...options.order,
  };
  return { spool, job: withState, order };
}

function start(setup: RunnerSetup, job: Job, options: StartOptions = {}): Running {
  const { spool, order, job: withState } = prepare(setup, job, options);
  const child = spawn(process.execPath, [agentProgram, 'runner' satisfies ProgramRole], {
    ...(setup.isOrdinary ? { uid: ordinaryUid, gid: ordinaryUid } : {}),
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
    env: { NODE_COMPILE_CACHE: join(tmpdir(), 'runner-setup-cache') },
  });
  child.stdin.end(`${JSON.stringify(order)}\n`);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const heartbeat = setInterval(
    () => options.contact !== false && writeFileSync(spool.contact, String(uptime())),
    5_000,
  );
  const timer = setInterval(() => {
    const mark = readMark(spool)?.mark;
    if (options.mark !== false && mark !== undefined && readStoredMark(spool) !== mark)
      writeFileSync(spool.markStored, mark);
  }, 5);
  const running: Running = {
    child,
    spool,
    ended: exited.then(() => {
      clearInterval(timer);
      clearInterval(heartbeat);
      return read(spool, withState);
    }),
    abort(how) {
      writeFileSync(`${spool.control}.new`, JSON.stringify({ abort: how } satisfies Control));
      cpSync(`${spool.control}.new`, spool.control);
      child.kill('SIGUSR1');
    },
    async until(condition, what) {
      for (const deadline = Date.now() + 60_000; !condition(); await delay(10)) {
        if (Date.now() > deadline || child.exitCode !== null)
          throw new Error(
            `did not happen: ${what}; ${existsSync(spool.outcome) ? readFileSync(spool.outcome, 'utf8') : 'no outcome'}`,
          );
      }
    },
  };
  return running;
}

function currentOf(state: Buffer): NonNullable<Job['state']['current']> {
  const { serial, lineage } = JSON.parse(state.toString()) as { serial: number; lineage: string };
  return { stateVersionId: 'state-1', serial, lineage, sha256: sha256(state) };
}

function read(spool: SpoolPaths, job: Job): Ran {
  const events = existsSync(spool.events)
    ? readFileSync(spool.events, 'utf8')
        .trim()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as RunEvent)
    : [];
  const outcome = parseExactly(readFileSync(spool.outcome, 'utf8')) as Outcome;
  const log = (step: string) =>
    existsSync(spool.stepLog(step)) ? readFileSync(spool.stepLog(step), 'utf8') : '';
  const steps = () =>
    Object.fromEntries(
      events.filter((event) => event.kind === 'step').map((event) => [event.step, event.status]),
    );
  return { outcome, events, spool, job, log, steps };
}
