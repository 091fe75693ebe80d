/** `npm start`: the service for use, until SIGTERM or Ctrl-C. Running deployments continue. */
import { proxyEnvironment, readCertificates, trustedCertificates, useNetwork } from '#settings/network.ts';
import { readSettings } from './config.ts';
import { findOpa } from './flows/find-opa.ts';
import { gitProblem } from './repositories/git/run-git.ts';
import { handOverFirstKey } from './start/hand-over-first-key.ts';
import { openLog } from './start/open-log.ts';
import { startService } from './start/service.ts';

/**
 * Ctrl-C below npm arrives twice: the handlers stay, so that the second one does not end us in the middle.
 */
function untilTold(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => resolve());
  });
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
  const told = untilTold();
  await using service = await startService(settings, log);
  await handOverFirstKey(service, process.stdout);
  process.stdout.write(`Envarium listens on ${service.address}\n`);
  await told;
  process.stdout.write('Stopping; running deployments continue and are picked up at the next start\n');
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
