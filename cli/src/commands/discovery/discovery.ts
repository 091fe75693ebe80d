/** Commands of environment discovery. */
import type { Command } from 'commander';
import { type FolderStatus, folderStatuses } from '#contract/discovery/choices.ts';
import type { DiscoveryState } from '#contract/discovery/shapes.ts';
import { gather, onCall } from '../../call/command-line.ts';
import { projectOf } from '../../find/find-environment.ts';
import { BadCall, type ExitCode } from '../../session/exit-codes.ts';
import type { CommandSession } from '../../session/session.ts';
import { canAsk, confirm } from '../../terminal/ask.ts';
import { plain } from '../../terminal/safe-text.ts';
import { optionOf } from '../../terminal/suggest.ts';
import {
  type DiscoveryFlags,
  discoveryBody,
  storedDiscovery,
  withDiscoveryFlags,
} from './discovery-flags.ts';
import { followScan } from './follow-scan.ts';
import { showDiscovery, showFolders, showPreview, showResult, showScans } from './show-discovery.ts';

const waitsForScan = 'wait for the scan that starts; the exit status reflects its result';

function stateOf({ client }: CommandSession, projectId: string): Promise<DiscoveryState> {
  return client.call('getDiscoveryState', { params: { projectId } });
}

function addReads(group: Command): void {
  const shown = group
    .command('show <project>')
    .description(
      'show the configuration of a project, its last scan, and each folder or entry with its environment',
    );
  onCall(shown, async ({ session, args: [name = ''] }) => {
    const { id: projectId } = await projectOf(session, name);
    const discovery = await session.client.call('getDiscovery', { params: { projectId } });
    if (session.isJson) return session.output.json(discovery);
    const state = await stateOf(session, projectId);
    await showDiscovery(session, discovery, state);
    await session.output.line();
    return showFolders(session, state);
  });

  const folders = group
    .command('folders <project>')
    .description(
      'list folders, or entries of discovery files, each with its environment or the reason why it has none',
    )
    .addOption(
      optionOf(
        '--status <status>',
        'only folders with this status; may be repeated',
        folderStatuses.map((each) => each.toLowerCase()),
      ).argParser(gather),
    );
  onCall<{ status?: string[] }>(folders, async ({ session, args: [name = ''], options: { status } }) => {
    const { id: projectId } = await projectOf(session, name);
    const state = await stateOf(session, projectId);
    const wanted = status?.map((each) => each.toUpperCase().replaceAll(/[ -]/g, '_') as FolderStatus);
    return showFolders(
      session,
      state,
      wanted ? state.folders.filter((each) => wanted.includes(each.status)) : state.folders,
    );
  });

  onCall(
    group.command('scans <project>').description('list the last scans, the newest first'),
    async ({ session, args: [name = ''] }) => {
      const { id: projectId } = await projectOf(session, name);
      return showScans(session, await session.client.call('listDiscoveryScans', { params: { projectId } }));
    },
  );
}

const setExamples = `
Examples:
  envarium discovery set Shop --repository https://git.example.com/live.git --glob "prod/**/main.tf" --root-path prod
  envarium discovery set Shop --glob "!(modules)/**/main.tf" --placement existingSubProject --wait
  envarium discovery set Shop --discovery-files "acme/(shop|search)" --wait
  envarium discovery set Shop --on-removal archive --removal-limit 10

Quote the glob: shells expand it otherwise.`;

function addSet(group: Command): void {
  const set = withDiscoveryFlags(
    group
      .command('set <project>')
      .description(
        'configure a project, and scan its repository; omitted settings are unchanged, an empty text clears one',
      ),
  )
    .option('-w, --wait', waitsForScan)
    .addHelpText('after', setExamples);
  onCall<DiscoveryFlags & { wait?: boolean }>(set, async ({ session, args: [name = ''], options }) => {
    const { client } = session;
    const project = await projectOf(session, name);
    const params = { projectId: project.id };
    const body = await discoveryBody(session, project, options);
    const discovery = await client.call('setDiscovery', { params, body });
    if (!options.wait) return showDiscovery(session, discovery);
    const [scan] = await client.call('listDiscoveryScans', { params });
    if (!scan) throw new BadCall('Newer scans have replaced it: "envarium discovery scans" lists them.');
    return followScan(session, project.id, scan);
  });

  onCall(
    group
      .command('delete <project>')
      .description('delete the configuration of a project; environments that were found are kept'),
    async ({ session, args: [name = ''] }) => {
      const { id: projectId } = await projectOf(session, name);
      const deleted = await session.client.call('deleteDiscovery', { params: { projectId } });
      return session.answer(deleted, `Environment discovery of ${plain(name)} was deleted`);
    },
  );
}

const previewExamples = `
Examples:
  envarium discovery preview Shop
  envarium discovery preview Shop --glob "prod/*/main.tf" --json`;

/** Options of all commands, which configure nothing. */
const shared = ['json', 'apiUrl', 'apiKey', 'organizationId'];

function addPreview(group: Command): void {
  const preview = withDiscoveryFlags(
    group
      .command('preview <project>')
      .description(
        'show what a scan would create, keep and remove, without doing it; with options, as if they were set',
      ),
  ).addHelpText('after', previewExamples);
  onCall<DiscoveryFlags>(preview, async ({ session, args: [name = ''], options }) => {
    const project = await projectOf(session, name);
    const isChanged = Object.entries(options).some(
      ([key, value]) => value !== undefined && !shared.includes(key),
    );
    const body = isChanged ? await discoveryBody(session, project, options) : {};
    const params = { projectId: project.id };
    return showPreview(session, await session.client.call('previewDiscovery', { params, body }));
  });
}

function addScan(group: Command): void {
  const scan = group
    .command('scan <project>')
    .description('scan the repository now, and wait for the result')
    .option('--no-wait', 'return as soon as the scan has started')
    .addHelpText(
      'after',
      `
Exit status: 0 success; 1 the scan failed or was cancelled; 3 it waits for "discovery confirm-removal".`,
    );
  onCall<{ wait: boolean }>(scan, async ({ session, args: [name = ''], options }) => {
    const { id: projectId } = await projectOf(session, name);
    const started = await session.client.call('startDiscoveryScan', { params: { projectId } });
    if (!options.wait) return session.answer(started, `Scan ${started.id} has started`);
    return followScan(session, projectId, started);
  });
}

/** Lists what would be removed, and asks. @throws BadCall if the answer is no */
async function confirmRemoval(session: CommandSession, projectId: string, isSure = false): Promise<void> {
  if (isSure || !canAsk()) return;
  const [discovery, state] = await Promise.all([
    storedDiscovery(session, projectId),
    stateOf(session, projectId),
  ]);
  const removed = state.folders.filter(({ status }) => status === 'REMOVING');
  await showFolders({ ...session, isJson: false }, state, removed);
  const verb = discovery?.onRemoval === 'destroy' ? 'Destroy everything that' : 'Archive';
  if (
    !(await confirm(
      `${verb} these ${removed.length} environments${verb === 'Archive' ? '' : ' have created'}?`,
    ))
  )
    throw new BadCall('Nothing was removed.');
}

function addDecisions(group: Command): void {
  const removal = group
    .command('confirm-removal <project> [scan]')
    .description(
      'let a scan archive or destroy more environments than the limit allows (default: the last scan)',
    )
    .option('-y, --yes', 'do not ask for confirmation; without a terminal, there is no prompt')
    .option('--no-wait', 'return at once');
  onCall<{ yes?: boolean; wait: boolean }>(removal, async ({ session, args: [name = '', scan], options }) => {
    const { client } = session;
    const { id: projectId } = await projectOf(session, name);
    const scanId = scan ?? (await stateOf(session, projectId)).lastScan?.id;
    if (scanId === undefined) throw new BadCall('There is no scan yet: run "envarium discovery scan" first.');
    await confirmRemoval(session, projectId, options.yes);
    const confirmed = await client.call('confirmDiscoveryRemoval', { params: { projectId, scanId } });
    if (options.wait) return followScan(session, projectId, confirmed);
    return showResult(session, confirmed, () => stateOf(session, projectId));
  });

  const rename = group
    .command('rename <project> <folder>')
    .description('decide about a folder that has the content of one that is gone')
    .option('--same', 'the environment of the old folder follows, with its state')
    .option('--another', 'it becomes another environment; the old one stays without a folder')
    .addHelpText('after', '\nExample:\n  envarium discovery rename Shop prod/database --same');
  onCall<{ same?: boolean; another?: boolean }>(
    rename,
    async ({ session, args: [name = '', folder = ''], options }): Promise<ExitCode | void> => {
      if (options.same === options.another) throw new BadCall('Specify either --same or --another.');
      const { id: projectId } = await projectOf(session, name);
      const state = await session.client.call('resolveDiscoveryRename', {
        params: { projectId },
        body: { folder, isSame: options.same === true },
      });
      return showFolders(
        session,
        state,
        state.folders.filter((each) => each.folder === folder),
      );
    },
  );
}

/** Adds `discovery`. */
export function addDiscoveryCommands(program: Command): void {
  const group = program
    .command('discovery')
    .description('environments that are created from the folders of a repository, or from discovery files');
  addReads(group);
  addSet(group);
  addPreview(group);
  addScan(group);
  addDecisions(group);
}
