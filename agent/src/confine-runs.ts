/** The slots of an agent with their users, and the namespaces that confine what runs in them. */
import { dirname, resolve } from 'node:path';
import type { Logger } from 'pino';
import type { AgentIsolation } from '#contract/agents/shapes.ts';
import { type AgentSettings, SettingsError } from '#settings/settings.ts';
import { runsAtOnce } from './capacity.ts';
import {
  findIsolation,
  type IsolationProbe,
  type IsolationRequest,
  thisMachine,
} from './processes/isolation.ts';
import { openRunGroups, type RunGroups } from './processes/run-groups.ts';
import type { RunLimits } from './processes/run-limits.ts';
import type { Isolation } from './processes/sandbox.ts';
import type { KeptTreesOptions } from './slots/kept-trees.ts';
import { SlotTable } from './slots/slot-table.ts';
import { allocateSlotUids, defaultRegistryFolder } from './slots/slot-uids.ts';
import type { Spool } from './spool/open-spool.ts';

const maxProblemLength = 1_000;

/** @returns null where the agent cannot change users */
function slotUids(settings: AgentSettings, spool: Spool, slots: number): number[] | null {
  if (process.getuid?.() !== 0) return null;
  return allocateSlotUids({
    range: { base: settings.slotUidBase, count: settings.slotUidCount },
    slots,
    keptTrees: settings.keptTrees,
    spoolFolder: spool.folder,
    registryFolder: defaultRegistryFolder,
  });
}

interface ConfinedRuns {
  readonly slots: SlotTable;
  readonly isolation: Isolation;
  readonly groups: RunGroups | undefined;
  /** The limits of kept trees: none is kept where a run could reach those of others. */
  readonly keptTrees: Pick<KeptTreesOptions, 'limit' | 'reserveBytes'>;
  /** For the service. */
  readonly report: AgentIsolation;
}

/**
 * Prepares the slots, finds out what confines runs on this machine, and logs it.
 * @throws SettingsError where namespaces are required and the machine does not offer them, and where the
 * folder for control groups cannot be used
 */
export async function confineRuns(
  settings: AgentSettings,
  spool: Spool,
  log: Logger,
  machine = thisMachine,
): Promise<ConfinedRuns> {
  const groups = await prepareRunGroups(settings, spool, log);
  const count = runsAtOnce(settings);
  const uids = slotUids(settings, spool, count);
  const slots = new SlotTable(count, uids);
  const request: IsolationRequest = {
    mode: settings.isolation,
    slotUid: uids?.[0] ?? null,
    folder: spool.folder,
    readable: settings.isolationPaths,
    hidden: hiddenFromRuns(spool),
    isOffline: settings.isolationNetwork === 'none',
  };
  const { isolation, problem } = await findIsolation(request, machine);
  const keptTrees = {
    limit: isolation.bubblewrap === null && uids === null ? 0 : settings.keptTrees,
    reserveBytes: runLimitsOf(settings).reserveBytes,
  };
  const report = reportOf(settings, { isolation, problem, hasOwnUsers: uids !== null, groups });
  if (machine.find('prlimit') === null)
    log.warn(
      {},
      'prlimit is not installed (package "util-linux"): the kernel does not limit the open files and the ' +
        'size of files of runs, nor their processes',
    );
  if (problem === null) {
    log.info({}, 'each command of a run has namespaces of its own');
    return { slots, isolation, groups, keptTrees, report };
  }
  if (settings.isolation === 'required')
    throw new SettingsError([
      `ENVARIUM_ISOLATION is "required", and runs cannot be given namespaces of their own: ${problem}.`,
    ]);
  const rights =
    uids === null
      ? "runs have the agent's own rights and can read whatever its user can"
      : 'runs are confined by their users only: they see the processes and temporary files of other runs';
  log.warn(
    { problem },
    `${rights}; install bubblewrap, or see "What a run can access" in docs/operate/security.md`,
  );
  return { slots, isolation, groups, keptTrees, report };
}

function reportOf(
  settings: AgentSettings,
  found: IsolationProbe & { readonly hasOwnUsers: boolean; readonly groups: RunGroups | undefined },
): AgentIsolation {
  const { isolation, problem, hasOwnUsers, groups } = found;
  const hasNamespaces = isolation.bubblewrap !== null;
  return {
    hasNamespaces,
    ...(problem === null ? {} : { problem: problem.slice(0, maxProblemLength) }),
    hasSystemCallFilter: hasNamespaces && isolation.seccompFile !== null,
    hasOwnUsers,
    network: hasNamespaces && isolation.isOffline ? 'none' : 'host',
    hasControlGroups: groups !== undefined,
    controllers: [...(groups?.controllers ?? [])],
    limits: {
      processes: settings.runProcessLimit,
      openFiles: settings.runOpenFileLimit,
      memoryMegabytes: settings.runMemoryLimitMegabytes,
      diskMegabytes: settings.runDiskLimitMegabytes,
      fileMegabytes: settings.runFileLimitMegabytes,
    },
  };
}

/** Files of the agent, or of the service that started it, wherever an operator has put them. */
function hiddenFromRuns(spool: Spool): string[] {
  const secretFile = process.env.ENVARIUM_AGENT_SECRET_FILE;
  const isBuiltIn = process.env.ENVARIUM_AGENT_ENDS_WITH_STDIN === 'true';
  return [
    isBuiltIn ? dirname(spool.folder) : spool.folder,
    ...(secretFile === undefined ? [] : [resolve(secretFile)]),
    resolve('.env'),
  ];
}

/**
 * @returns undefined where no folder is set
 * @throws SettingsError where the folder cannot be used
 */
async function prepareRunGroups(
  settings: AgentSettings,
  spool: Spool,
  log: Logger,
): Promise<RunGroups | undefined> {
  const { runCgroup: folder } = settings;
  if (folder === undefined) return undefined;
  const groups = await openRunGroups({ folder, spoolId: spool.id, limits: runLimitsOf(settings) }).catch(
    (error: Error) => {
      throw new SettingsError([
        `ENVARIUM_RUN_CGROUP: runs cannot have control groups below ${folder}: ${error.message}. Specify a ` +
          'cgroup v2 folder that is delegated to the agent (see "Control groups" in docs/operate/running.md), or none.',
      ]);
    },
  );
  if (groups.controllers.length > 0)
    log.info({ folder, controllers: groups.controllers }, 'each run has a control group of its own');
  else
    log.warn(
      { folder },
      'each run has a control group of its own, but without limits: the folder has no controllers for its groups',
    );
  return groups;
}

/** The limits of each run, as the settings say. */
export function runLimitsOf(settings: AgentSettings): RunLimits {
  const megabyte = 1024 * 1024;
  return {
    processes: settings.runProcessLimit,
    openFiles: settings.runOpenFileLimit,
    fileBytes: settings.runFileLimitMegabytes * megabyte,
    memoryBytes: settings.runMemoryLimitMegabytes * megabyte,
    diskBytes: settings.runDiskLimitMegabytes * megabyte,
    reserveBytes: settings.runDiskReserveMegabytes * megabyte,
  };
}
