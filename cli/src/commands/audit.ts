/** `audit`: who did what, and whether the trail is intact. */
import type { Command } from 'commander';
import type { AuditEvent, AuditVerification } from '#contract/audit/shapes.ts';
import { type AuditFinding, verifyExport } from '#contract/audit/verify.ts';
import { onCall, optionsOf, timeFlag, wholeNumber, withSharedFlags } from '../call/command-line.ts';
import { exportLines, openExportFile, writeExport } from '../files/audit-export.ts';
import { findOrganization } from '../find/find-environment.ts';
import { BadCall, type ExitCode, exitCodes } from '../session/exit-codes.ts';
import { type CommandSession, openSession, type SharedFlags, tell } from '../session/session.ts';
import { currentProcess } from '../terminal/current-process.ts';
import { timeText } from '../terminal/durations.ts';
import { createOutput, type Output } from '../terminal/output.ts';
import type { TableColumn } from '../terminal/table.ts';

interface TimeFlags {
  readonly installation?: boolean;
  readonly from?: string;
  readonly to?: string;
}

interface ListAuditFlags extends TimeFlags {
  readonly actor?: string;
  readonly action?: string;
  readonly entity?: string;
  readonly entityId?: string;
  readonly project?: string;
  readonly limit: number;
  readonly after?: string;
}

interface ExportFlags extends TimeFlags {
  readonly output?: string;
  readonly after?: string;
}

interface VerifyFlags extends SharedFlags {
  readonly installation?: boolean;
  readonly head?: string;
  readonly file?: string;
}

const mostOfPage = 1000;

const columns: TableColumn<AuditEvent>[] = [
  { head: 'TIME', value: ({ timestamp }) => timeText(timestamp), isWhole: true },
  { head: 'ACTOR', value: ({ actor }) => actor.name },
  { head: 'ACTION', value: ({ actionName }) => actionName },
  { head: 'ENTITY', value: ({ entity, entityId }) => `${entity} ${entityId}` },
  { head: 'ADDRESS', value: ({ ipAddress }) => ipAddress, isExtra: true },
  { head: 'KEY', value: ({ keyId }) => keyId, isExtra: true },
  { head: 'CHANGED', value: changedFields, isExtra: true },
];

function changedFields({ before, after }: AuditEvent): string {
  return Object.keys({ ...before, ...after }).join(', ');
}

function timesOf({ from, to }: TimeFlags) {
  return { from: timeFlag('--from', from), to: timeFlag('--to', to) };
}

/** Asks page by page until there are enough entries. */
async function list(
  session: CommandSession,
  options: ListAuditFlags,
): Promise<{ events: AuditEvent[]; next: string }> {
  const { client } = session;
  const { actor: actorId, action, entity, entityId, project: projectId } = options;
  const organizationId = options.installation ? null : (await findOrganization(session)).id;
  const filters = { ...timesOf(options), actorId, action, entity, entityId, projectId };
  const events: AuditEvent[] = [];
  let offset = options.after ?? '';
  do {
    const limit = Math.min(mostOfPage, options.limit - events.length);
    const query = { ...filters, limit, ...(offset ? { offset } : {}) };
    const page =
      organizationId === null
        ? await client.call('listInstallationAuditEvents', { query })
        : await client.call('listAuditEvents', { query: { ...query, organizationId } });
    events.push(...page.events);
    offset = page.nextPageKey;
  } while (offset !== '' && events.length < options.limit);
  return { events, next: offset };
}

async function exportTo(session: CommandSession, options: ExportFlags): Promise<void> {
  const { client, output } = session;
  const organizationId = options.installation ? null : (await findOrganization(session)).id;
  const times = timesOf(options);
  const openRest = (offset: string | undefined) => {
    const query = { ...times, ...(offset === undefined ? {} : { offset }) };
    return organizationId === null
      ? client.chunks('exportInstallationAuditEvents', { query })
      : client.chunks('exportAuditEvents', { query: { ...query, organizationId } });
  };
  if (options.output === undefined)
    return void (await writeExport(openRest, (text) => output.data(text), options.after));
  if (options.after !== undefined)
    throw new BadCall('--after and --output exclude each other: the file says where the export continues.');
  await using file = await openExportFile(options.output);
  const entries = await writeExport(openRest, file.write, file.lastId);
  tell(`${options.output}: ${entries} entries added.`);
}

async function showFindings(
  output: Output,
  findings: readonly AuditFinding[],
  { entries, count }: { readonly entries: number; readonly count: number },
): Promise<void> {
  await output.table(
    findings,
    [
      { head: 'FOUND', value: ({ kind }) => kind, isWhole: true },
      { head: 'NUMBER', value: ({ number }) => number, isWhole: true },
      { head: 'WHAT', value: ({ text }) => text },
      { head: 'ENTRY', value: ({ entryId }) => entryId, isExtra: true },
    ],
    `The audit trail is intact: ${entries} entries.`,
  );
  if (count > findings.length) await output.line(`${count} findings in total.`);
}

async function showHeads(output: Output, heads: AuditVerification['heads']): Promise<void> {
  await output.table(
    heads,
    [
      { head: 'CHAIN', value: ({ chain }) => chain, isWhole: true },
      { head: 'LAST', value: ({ number }) => number, isWhole: true },
      { head: 'HASH', value: ({ hash }) => hash, isWhole: true },
    ],
    'There are no entries.',
  );
}

/** Without the service: no login is needed. */
async function verifyFile(options: VerifyFlags, file: string): Promise<ExitCode> {
  const output = createOutput(currentProcess().stdout, currentProcess().env);
  const { findings, entries, heads } = await verifyExport(exportLines(file), options.head?.toLowerCase());
  const list = [...heads].map(([chain, head]) => ({ chain, ...head }));
  const isIntact = findings.length === 0;
  if (options.json) await output.json({ isIntact, entries, findings, heads: list });
  else {
    await showFindings(output, findings, { entries, count: findings.length });
    await showHeads(output, list);
  }
  return isIntact ? exitCodes.good : exitCodes.failed;
}

async function verifyService(options: VerifyFlags): Promise<ExitCode> {
  const session = await openSession(options);
  const { client, output, isJson } = session;
  const head = options.head === undefined ? {} : { head: options.head };
  const result = options.installation
    ? await client.call('verifyInstallationAudit', { query: head })
    : await client.call('verifyAudit', {
        query: { ...head, organizationId: (await findOrganization(session)).id },
      });
  if (isJson) await output.json(result);
  else {
    const { findings, entries, findingCount: count } = result;
    await showFindings(output, findings, { entries, count });
    await showHeads(output, result.heads);
  }
  return result.isIntact ? exitCodes.good : exitCodes.failed;
}

function withTimes(command: Command): Command {
  return command
    .option('--from <time>', 'from this time on')
    .option('--to <time>', 'before this time')
    .option('--installation', 'entries of no organization; only for the operator');
}

export function addAuditCommands(program: Command): void {
  const group = program.command('audit').description('read, export and verify the audit trail');
  const listing = withTimes(group.command('list').description('list entries, newest first'))
    .option('--actor <id>', 'only of this user, agent or service')
    .option('--action <name>', 'only of this action, such as project.updated')
    .option('--entity <kind>', 'only about entities of this kind')
    .option('--entity-id <id>', 'only about this entity')
    .option('--project <id>', 'only about this project')
    .option('--limit <count>', 'at most this many entries', wholeNumber('--limit', 1), 50)
    .option('--after <id>', 'only entries older than the one with this id');
  onCall<ListAuditFlags>(listing, async ({ session, options }) => {
    const { events, next } = await list(session, options);
    if (session.isJson) return session.output.json({ events, nextPageKey: next });
    await session.output.table(events, columns, 'No entries.');
    if (next !== '') tell(`There are more: --after ${next}`);
  });
  const exporting = withTimes(
    group.command('export').description('write all entries as JSON lines, in the order of their chain'),
  )
    .option('--output <file>', 'file to write; if it exists, the export continues in it')
    .option('--after <id>', 'continue after the entry with this id');
  onCall<ExportFlags>(exporting, ({ session, options }) => exportTo(session, options));
  const verifying = group
    .command('verify')
    .description('check whether entries were changed, removed or inserted; the exit status is 1 if so')
    .option('--head <hash>', 'require an entry with this hash, which was stored elsewhere')
    .option('--file <file>', 'check an export, without the service; - is standard input')
    .option('--installation', 'check the trails of all organizations; only for the operator');
  withSharedFlags(verifying).action(async () => {
    const options = optionsOf<VerifyFlags>(verifying);
    if (options.file !== undefined && options.installation)
      throw new BadCall('--file and --installation exclude each other.');
    if (options.head !== undefined && !/^[0-9a-f]{64}$/i.test(options.head))
      throw new BadCall('--head must be 64 hexadecimal digits.');
    currentProcess().exitCode =
      options.file === undefined ? await verifyService(options) : await verifyFile(options, options.file);
  });
}
