/** `npm start`: the service for use, until SIGTERM or Ctrl-C. Running deployments continue. */
import { version } from '#protocol/version.ts';
import { proxyEnvironment, readCertificates, trustedCertificates, useNetwork } from '#settings/network.ts';
import { gitProblem } from './code/repositories/git/run-git.ts';
import { readSettings } from './ground/config/config.ts';
import { findOpa } from './rules/approval-policies/evaluation/find-opa.ts';
import { handOverFirstKey } from './start/hand-over-first-key.ts';
import { openLog } from './start/open-log.ts';
import { startService } from './start/service.ts';

/**
 * Ctrl-C below npm arrives twice: the handlers stay, so that the second one does not end us in the middle.
 */
function untilStopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => resolve());
  });
}

const usage = `Usage: the service takes no arguments; it is configured by environment variables and the file .env.

  ENVARIUM_PORT        port to listen on
  ENVARIUM_DATA_DIR    folder for all data of the service
  DATABASE_URL         PostgreSQL to use instead of the service's own

docs/operate/settings.md lists all settings.

  --version    print the version
  --help       print this text
`;

/** An argument that has no effect would leave a person with a service other than the one they meant. */
function answerArgument(word: string): void {
  if (word === '--help') process.stdout.write(usage);
  else if (word === '--version') process.stdout.write(`${version}\n`);
  else {
    process.stderr.write(
      `The service does not know ${JSON.stringify(word)}: it takes no arguments and is configured by environment variables. See --help.\n`,
    );
    process.exitCode = 2;
  }
}

async function main(): Promise<void> {
  const settings = readSettings(process.env);
  useNetwork(
    settings.caFile === undefined
      ? []
      : trustedCertificates(readCertificates(settings.caFile, 'ENVARIUM_CA_FILE')),
    proxyEnvironment(process.env),
  );
  const log = openLog(settings.logLevel);
  const { problem } = findOpa(settings);
  if (problem !== undefined) log.warn({ reason: problem }, 'approval policies cannot be evaluated');
  const ofGit = await gitProblem();
  if (ofGit !== undefined) log.warn({ reason: ofGit }, 'the service cannot read repositories on the web');
  const stopSignal = untilStopSignal();
  await using service = await startService(settings, log);
  await handOverFirstKey(service, process.stdout);
  process.stdout.write(`Envarium listens on ${service.address}\n`);
  await stopSignal;
  process.stdout.write('Stopping; running deployments continue and are picked up at the next start\n');
}

const [, , word] = process.argv;
try {
  if (word === undefined) await main();
  else answerArgument(word);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
