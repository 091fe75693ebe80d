/** The checks that read the files without running them: format, lint, types. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { root } from './tree/repository.ts';

interface Check {
  readonly name: string;
  /** Script below node_modules, run by this Node, and its arguments. */
  readonly script: string;
  readonly args: readonly string[];
  readonly remedy: string;
}

const checks: readonly Check[] = [
  {
    name: 'types',
    script: 'typescript/bin/tsc',
    // Skips checks of files that are unchanged since the last one.
    args: ['--noEmit', '--pretty', 'false', '--incremental', '--tsBuildInfoFile', '.cache/types.tsbuildinfo'],
    remedy: 'correct the types named above',
  },
  {
    name: 'types of the web interface',
    script: 'typescript/bin/tsc',
    args: [
      ...['--noEmit', '--pretty', 'false', '--project', 'web'],
      ...['--incremental', '--tsBuildInfoFile', '.cache/web-types.tsbuildinfo'],
    ],
    remedy: 'correct the types named above',
  },
  {
    name: 'lint',
    script: 'oxlint/bin/oxlint',
    args: ['--type-aware', '--deny-warnings'],
    remedy: 'correct the lines named above',
  },
  {
    name: 'format',
    script: '@biomejs/biome/bin/biome',
    // Form, and the order of imports.
    args: ['check', '--max-diagnostics=20'],
    remedy: 'run "npm run format"',
  },
];

/**
 * Runs format check, lint and type check at once and prints one line for each, with the tool's output where
 * it fails.
 * @returns whether all passed
 */
export async function runChecks(): Promise<boolean> {
  const results = await Promise.all(checks.map(runCheck));
  return results.every(Boolean);
}

async function runCheck(check: Check): Promise<boolean> {
  const started = performance.now();
  const { status, output } = await capture(join(root, 'node_modules', check.script), check.args);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (status === 0) console.log(`✔ ${check.name} (${seconds} s)`);
  else console.log(`${output.trimEnd()}\n✖ ${check.name} (${seconds} s): ${check.remedy}`);
  return status === 0;
}

async function capture(
  script: string,
  args: readonly string[],
): Promise<{ status: number | null; output: string }> {
  // oxlint takes CI for a wish for colours, whatever NO_COLOR says.
  const { CI: _, FORCE_COLOR: __, ...environment } = process.env;
  const env = { ...environment, NO_COLOR: '1' };
  const child = spawn(process.execPath, [script, ...args], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => resolve({ status, output: Buffer.concat(chunks).toString('utf8') }));
  });
}
