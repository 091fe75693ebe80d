/** Programs that an agent needs on its machine. */
import { findOnPath } from '#guards/find-on-path.ts';
import { allPrograms } from '#protocol/tools/index.ts';
import { type Finding, ok, problem, warning } from './finding.ts';
import { runProgram } from './run-program.ts';

interface RequiredProgram {
  readonly program: string;
  readonly args: readonly string[];
  readonly least?: readonly [major: number, minor: number];
  /** Below it, the service does less than the agent. */
  readonly ofService?: { readonly least: readonly [major: number, minor: number]; readonly advice: string };
  readonly isMust: boolean;
  /** Consequence of its absence, and how to install it. */
  readonly advice: string;
}

const needed: readonly RequiredProgram[] = [
  {
    program: 'git',
    args: ['--version'],
    least: [2, 30],
    ofService: {
      least: [2, 37],
      advice:
        'The service does not read repositories on the web with it: install git 2.37 or later if it runs here.',
    },
    isMust: true,
    advice: 'Runs clone repositories with it: install git 2.30 or later.',
  },
  {
    program: 'tar',
    args: ['--version'],
    isMust: true,
    advice: 'Working trees are handed from plan to apply with it: install tar.',
  },
  {
    program: 'setpriv',
    args: ['--version'],
    isMust: true,
    advice: 'It stops tools together with their runner: install the package util-linux.',
  },
  {
    program: 'ssh',
    args: ['-V'],
    isMust: false,
    advice: 'It reads repositories over ssh: install an OpenSSH client.',
  },
  {
    program: 'git-lfs',
    args: ['version'],
    isMust: false,
    advice: 'Repositories with large files need it: install git-lfs.',
  },
  {
    program: 'python3',
    args: ['-c', 'import ensurepip, platform; print(platform.python_version())'],
    isMust: false,
    advice:
      'Ansible is installed with it: install python3 with its modules venv and ensurepip (on Debian the package python3-venv), or Ansible itself.',
  },
];

const agentNode = 24;

function versionIn(text: string): string | undefined {
  return /\d+\.\d+(\.\d+)?(p\d+)?/.exec(text)?.[0];
}

function isBelow(version: string, [major, minor]: readonly [number, number]): boolean {
  const [ownMajor = 0, ownMinor = 0] = version.split('.').map(Number);
  return ownMajor < major || (ownMajor === major && ownMinor < minor);
}

async function checkOne({
  program,
  args,
  least,
  ofService,
  isMust,
  advice,
}: RequiredProgram): Promise<Finding> {
  const { status, output } = await runProgram(program, args);
  const version = versionIn(output);
  const wrong = isMust ? problem : warning;
  if (status === null) return wrong(program, 'is not on the PATH', advice);
  if (status !== 0)
    return wrong(program, `does not work: ${output.trim().split('\n')[0] ?? `status ${status}`}`, advice);
  if (version !== undefined && least && isBelow(version, least))
    return wrong(program, `${version} is too old`, advice);
  if (version !== undefined && ofService && isBelow(version, ofService.least))
    return warning(program, `${version} is new enough for agents only`, ofService.advice);
  return ok(program, version ?? 'is installed');
}

/** The Node of this process, which an agent started in the same way would use. */
function checkNode(): Finding {
  const { node } = process.versions;
  const text = `${node} (${process.execPath})`;
  if (Number(node.split('.')[0]) >= agentNode) return ok('node', text);
  return problem(
    'node',
    `${text} is too old for the agent`,
    `Install Node ${agentNode} or later, and start the agent with it.`,
  );
}

/** The embedded PostgreSQL is built for the GNU C library. */
function checkLibrary(): Finding {
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  const version = report.header?.glibcVersionRuntime;
  if (version !== undefined) return ok('C library', `glibc ${version}`);
  return warning(
    'C library',
    'is not glibc',
    'The embedded PostgreSQL needs it: set DATABASE_URL if the service runs on this machine.',
  );
}

/** Those that are not a part of the agent. */
const installedPrograms = allPrograms.filter(({ ownVersion }) => ownVersion === undefined);

async function checkTools(): Promise<Finding[]> {
  const found = await Promise.all(
    installedPrograms.map(async ({ name, versionArguments }): Promise<Finding | null> => {
      if (versionArguments.length === 0) return findOnPath(name) === null ? null : ok(name, 'is installed');
      const { status, output } = await runProgram(name, versionArguments);
      if (status === null) return null;
      const version = versionIn(output);
      if (status === 0 && version !== undefined) return ok(name, version);
      return warning(
        name,
        `is on the PATH but does not work: ${output.trim().split('\n')[0] ?? ''}`,
        'Reinstall it, or remove it from the PATH.',
      );
    }),
  );
  const there = found.filter((finding) => finding !== null);
  if (there.length > 0) return there;
  const names = installedPrograms.map(({ name }) => name);
  return [
    ok('tools', `none of ${names.join(', ')} is on the PATH: each run downloads the version that it needs`),
  ];
}

export async function checkPrograms(): Promise<Finding[]> {
  return [checkNode(), checkLibrary(), ...(await Promise.all(needed.map(checkOne))), ...(await checkTools())];
}
