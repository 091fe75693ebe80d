/** `doctor`: checks this machine and an installation, and suggests fixes. */
import { type Command, Option } from 'commander';
import { createClient } from '#contract/client/client.ts';
import { optionsOf, withSharedFlags } from '../call/command-line.ts';
import { type Finding, guarded, problem, warning } from '../doctor/finding.ts';
import { exitCodes } from '../session/exit-codes.ts';
import type { SharedFlags } from '../session/session.ts';
import {
  configFileOf,
  isReadableByOthers,
  readConfigFile,
  requireLogin,
  resolveSettings,
} from '../session/settings.ts';
import { trustAuthorities } from '../session/trust.ts';
import { version } from '../session/version.ts';
import { currentProcess } from '../terminal/current-process.ts';
import { createOutput, type Output } from '../terminal/output.ts';
import { plain } from '../terminal/safe-text.ts';

interface DoctorFlags extends SharedFlags {
  readonly machine?: boolean;
  readonly service?: boolean;
}

const marks = {
  ok: ['green', '✔ ok     '],
  warning: ['yellow', '! warning'],
  problem: ['red', '✖ problem'],
} as const;

async function checkMachine(): Promise<Finding[]> {
  const [{ checkPrograms }, { checkIsolation }, { checkFolders }, { checkNetwork }] = await Promise.all([
    import('../doctor/programs.ts'),
    import('../doctor/isolation.ts'),
    import('../doctor/places.ts'),
    import('../doctor/network.ts'),
  ]);
  const { env } = currentProcess();
  const all = await Promise.all([
    guarded('programs', checkPrograms),
    guarded('isolation', () => checkIsolation(env)),
    guarded('folders', () => checkFolders(env)),
    guarded('network', () => checkNetwork(env)),
  ]);
  return all.flat();
}

/** Checks the login, and with it the installation. */
async function checkService(flags: DoctorFlags): Promise<Finding[]> {
  const file = configFileOf(currentProcess().env);
  let login;
  const found: Finding[] = [];
  try {
    const stored = await readConfigFile(file);
    if (stored && (await isReadableByOthers(file)))
      found.push(
        problem(
          'login',
          `others can read ${file}, which contains a secret`,
          `Run chmod 600 on it, and consider the key compromised.`,
        ),
      );
    login = requireLogin(resolveSettings(flags, currentProcess().env, stored), stored);
  } catch (error) {
    const text = plain((error as Error).message.split('\n')[0] ?? '');
    if (flags.service) return [...found, problem('login', text, 'Run "envarium login".')];
    return [
      ...found,
      warning('login', text, 'The installation was not checked: run "envarium login" first.'),
    ];
  }
  const { checkInstallation } = await import('../doctor/installation.ts');
  const { apiUrl: url, apiKey: key, apiSecret: secret, organizationId } = login;
  const client = createClient({ url, key, secret, userAgent: `envarium/${version}` });
  return [...found, ...(await checkInstallation({ client, url, organizationId, version }))];
}

async function show(output: Output, title: string, findings: readonly Finding[]): Promise<void> {
  if (findings.length === 0) return;
  await output.line(output.style('bold', title));
  const width = Math.max(...findings.map(({ check }) => check.length));
  for (const { check, standing, text, advice } of findings) {
    const [colour, mark] = marks[standing];
    const line = [plain(text), advice && plain(advice)].filter(Boolean).join('. ').replaceAll('..', '.');
    await output.line(`  ${output.style(colour, output.signs(mark))}  ${check.padEnd(width)}  ${line}`);
  }
}

const counted = (count: number, word: string) => `${count} ${word}${count === 1 ? '' : 's'}`;

async function examine(flags: DoctorFlags): Promise<void> {
  const output = createOutput(currentProcess().stdout, currentProcess().env);
  // A file that cannot be used is a finding itself.
  await trustAuthorities(currentProcess().env).catch(() => undefined);
  const isBoth = flags.machine === flags.service;
  const [machine, service] = await Promise.all([
    isBoth || flags.machine ? checkMachine() : [],
    isBoth || flags.service ? checkService(flags) : [],
  ]);
  const all = [...machine, ...service];
  const count = (standing: Finding['standing']) => all.filter((each) => each.standing === standing).length;
  const [problems, warnings] = [count('problem'), count('warning')];
  if (flags.json) await output.json({ problems, warnings, machine, service });
  else {
    await show(output, 'This machine', machine);
    await show(output, 'Installation', service);
    await output.line(
      problems + warnings === 0
        ? 'No problems found.'
        : `${counted(problems, 'problem')}, ${counted(warnings, 'warning')}.`,
    );
  }
  currentProcess().exitCode = problems > 0 ? exitCodes.failed : exitCodes.good;
}

export function addDoctorCommand(program: Command): void {
  const doctor = program
    .command('doctor')
    .description('check this machine and the installation, and suggest fixes')
    .addOption(new Option('--machine', 'check only this machine').conflicts('service'))
    .option('--service', 'check only the installation');
  withSharedFlags(doctor).action(() => examine(optionsOf<DoctorFlags>(doctor)));
}
