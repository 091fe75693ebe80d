/** For tests: the program for stacks, started as a run starts it, against a server that answers as AWS does. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import { agentProgram } from '../../../tools/programs/built-programs.ts';
import { requestOf } from '../../src/drivers/cloudformation/request.ts';
import { type ResourceVerb, requestFile } from '../../src/drivers/cloudformation/stacks/api/reports.ts';
import type { ProgramRole } from '../../src/own/own-program.ts';
import { jobOf } from '../driver-job.ts';
import { type StackServer, startStackServer } from './server.ts';

export interface Ended<Report> {
  readonly status: number | null;
  readonly report: Report;
  /** Texts for people. */
  readonly log: string;
}

export interface Running<Report> {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended<Report>>;
  /** Waits until a text is in the log. */
  until(text: string): Promise<void>;
}

export interface Invocation {
  /** Of type 1. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Of the run and the process; undefined removes one. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly job?: Partial<Job>;
  /** A report of an earlier verb. */
  readonly approved?: unknown;
}

export interface StackProgram {
  readonly aws: StackServer;
  /** Writes files of the configuration's folder. */
  write(files: Readonly<Record<string, string>>): void;
  start<Report = unknown>(verb: ResourceVerb, invocation?: Invocation): Promise<Running<Report>>;
  run<Report = unknown>(verb: ResourceVerb, invocation?: Invocation): Promise<Ended<Report>>;
}

/** @param files of the configuration's folder */
export async function stackProgram(
  t: TestContext,
  files: Readonly<Record<string, string>>,
): Promise<StackProgram> {
  const aws = await startStackServer();
  const folder = mkdtempSync(join(tmpdir(), 'stacks-'));
  t.after(async () => {
    await aws[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  const write = (contents: Readonly<Record<string, string>>) => {
    for (const [name, content] of Object.entries(contents)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), content);
    }
  };
  write(files);
  const program: StackProgram = {
    aws,
    write,
    async start(verb, { parameters = {}, environment = {}, job = {}, approved } = {}) {
      const all = Object.entries({ ...aws.environment, ...environment });
      const set = all.flatMap(([name, value]) =>
        value === undefined ? [] : [{ name, value, isSensitive: false }],
      );
      const type1 = Object.entries(parameters).map(([name, value]) => ({ name, value, isSensitive: false }));
      const request = await requestOf(
        jobOf({
          tool: 'cloudformation',
          workspaceName: 'orders',
          variables: { environment: set, terraform: type1 },
          ...job,
        }),
      );
      write({ [requestFile]: JSON.stringify(request) });
      const args = [
        '--disable-sigusr1',
        agentProgram,
        'cloudformation' satisfies ProgramRole,
        verb,
        requestFile,
      ];
      const child = spawn(process.execPath, args, {
        cwd: folder,
        env: {
          ...Object.fromEntries(set.map(({ name, value }) => [name, value])),
          HOME: folder,
          PATH: '/usr/bin:/bin',
          NODE_COMPILE_CACHE: join(tmpdir(), 'runner-setup-cache'),
        },
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      child.stdin.end(approved === undefined ? '' : JSON.stringify(approved));
      return follow(child);
    },
    run: async (verb, invocation) => (await program.start<never>(verb, invocation)).ended,
  };
  return program;
}

function follow<Report>(child: ChildProcess): Running<Report> {
  let [out, log] = ['', ''];
  const waiting: (() => void)[] = [];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log += text;
    for (const each of waiting) each();
  });
  const ended = new Promise<Ended<Report>>((resolve) => {
    child.once('close', (status) =>
      resolve({ status, log, report: (out === '' ? undefined : JSON.parse(out)) as Report }),
    );
  });
  return {
    child,
    ended,
    until: (text) =>
      new Promise((resolve, reject) => {
        const check = () => log.includes(text) && resolve();
        waiting.push(check);
        void ended.then(() => reject(new Error(`${text} is not in:\n${log}`)));
        check();
      }),
  };
}
