/** Runs programs of the machine for the toolchain: as the agent's user, outside of the run that waits for them. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { maskedOutputSince } from '../../attempt/run-command.ts';
import { execute } from '../../processes/exec.ts';
import { toolPath } from '../../processes/programs.ts';
import type { Sandbox } from '../../processes/sandbox.ts';
import type { AsideRequest, RunAside } from '../../toolchain/fetch-context.ts';

/**
 * They get the network settings of the agent, none of the run's variables, and where there are sandboxes only
 * their own folder to write to.
 */
export function asideOf(attempt: Pick<AttemptContext, 'spool' | 'order' | 'job' | 'stop'>): RunAside {
  return async (request) => {
    const temporary = attempt.spool.scratchFile(`aside-${randomUUID()}`);
    const log = `${temporary}.log`;
    mkdirSync(temporary, { recursive: true, mode: 0o700 });
    const environment = environmentOf(attempt, request, temporary);
    const sandbox = sandboxOf(attempt, request, temporary);
    try {
      const { exitCode } = await execute({
        program: request.program,
        args: request.args,
        cwd: request.folder,
        environment,
        uid: null,
        log,
        ...sandbox,
        isDisposable: true,
        stop: attempt.stop,
        abortSeconds: attempt.job.limits.abortSeconds,
      });
      return { exitCode, output: maskedOutputSince(log, 0, attempt.job.secrets) };
    } finally {
      rmSync(temporary, { recursive: true, force: true });
      rmSync(log, { force: true });
    }
  };
}

function environmentOf(
  { order }: Pick<AttemptContext, 'order'>,
  { environment }: AsideRequest,
  temporary: string,
): Record<string, string> {
  const { network } = order;
  return {
    PATH: toolPath,
    HOME: temporary,
    TMPDIR: temporary,
    LANG: 'C.UTF-8',
    ...network?.environment,
    ...(network?.caFile === undefined ? {} : { PIP_CERT: network.caFile }),
    ...environment,
  };
}

function sandboxOf(
  { order: { isolation, network } }: Pick<AttemptContext, 'order'>,
  { folder, readable }: AsideRequest,
  temporary: string,
) {
  if (isolation.bubblewrap === null) return {};
  const caFile = network?.caFile;
  const places: Sandbox = {
    writable: [folder, temporary],
    readable: [...readable, ...(caFile === undefined ? [] : [caFile])],
    temporary,
    hasNetwork: true,
  };
  return { sandbox: { isolation, places } };
}
