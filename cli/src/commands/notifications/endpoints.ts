/** `notifications endpoints` and `notifications test`: where events are sent. */
import type { Command } from 'commander';
import { type EndpointType, endpointTypes } from '#contract/notifications/events.ts';
import type { NotificationEndpoint, NotificationTest } from '#contract/notifications/shapes.ts';
import { onCall } from '../../call/command-line.ts';
import { textFromFile } from '../../call/read-input.ts';
import { findOrganization } from '../../find/find-environment.ts';
import { BadCall, exitCodes } from '../../session/exit-codes.ts';
import type { CommandSession } from '../../session/session.ts';
import { timeText } from '../../terminal/durations.ts';
import { plain } from '../../terminal/safe-text.ts';
import { optionOf } from '../../terminal/suggest.ts';
import type { TableColumn } from '../../terminal/table.ts';
import { endpointOf } from './find-endpoint.ts';

interface EndpointFlags {
  readonly name?: string;
  readonly type?: EndpointType;
  readonly value?: string;
  readonly valueFile?: string;
  readonly secretFile?: string;
  readonly secret?: false;
}

const endpointColumns: TableColumn<NotificationEndpoint>[] = [
  { head: 'NAME', value: ({ name }) => name },
  { head: 'TYPE', value: ({ type }) => type },
  { head: 'VALUE', value: ({ value }) => value, isExtra: true },
  { head: 'ID', value: ({ id }) => id, isId: true },
];

/** An address with which anyone can post is a secret: it can come from a file. */
function valueOf({ value, valueFile }: EndpointFlags): string | undefined {
  if (value !== undefined && valueFile !== undefined)
    throw new BadCall('--value and --value-file exclude each other: use one of them');
  return valueFile === undefined ? value : textFromFile('--value-file', valueFile).trim();
}

function secretOf({ secret, secretFile }: EndpointFlags): string | null | undefined {
  if (secret === false) return null;
  return secretFile === undefined ? undefined : textFromFile('--secret-file', secretFile).trim();
}

function addCreate(group: Command): void {
  const create = group
    .command('create <name>')
    .description('store an endpoint; nothing is sent to it until it is assigned')
    .addOption(optionOf('--type <type>', 'what receives', endpointTypes).makeOptionMandatory())
    .option('--value <value>', 'https address, or e-mail addresses separated by commas')
    .option('--value-file <file>', 'file that contains the value; - for standard input')
    .option('--secret-file <file>', 'file with the secret that signs what is sent to a webhook');
  onCall<EndpointFlags>(create, async ({ session, args: [name = ''], options }) => {
    const { id: organizationId } = await findOrganization(session);
    const value = valueOf(options);
    if (value === undefined) throw new BadCall('--value or --value-file is required');
    const { type = 'Webhook' } = options;
    const webhookSecret = secretOf(options);
    const body = { organizationId, name, type, value, webhookSecret };
    const made = await session.client.call('createNotificationEndpoint', { body });
    return session.answer(made, () => `Notification endpoint ${plain(name)} was stored: ${made.id}`);
  });
}

function addChanging(group: Command): void {
  const update = group
    .command('update <endpoint>')
    .description('change an endpoint; omitted options are unchanged')
    .option('--name <name>', 'its new name')
    .addOption(optionOf('--type <type>', 'what receives', endpointTypes))
    .option('--value <value>', 'https address, or e-mail addresses separated by commas')
    .option('--value-file <file>', 'file that contains the value; - for standard input')
    .option('--secret-file <file>', 'file with the secret that signs what is sent to a webhook')
    .option('--no-secret', 'messages to it are no longer signed');
  onCall<EndpointFlags>(update, async ({ session, args: [idOrName = ''], options }) => {
    const { id } = await endpointOf(session, idOrName);
    const { name, type } = options;
    const body = { name, type, value: valueOf(options), webhookSecret: secretOf(options) };
    const changed = await session.client.call('updateNotificationEndpoint', { params: { id }, body });
    return session.answer(changed, () => `Notification endpoint ${plain(changed.name)} was updated`);
  });
  const remove = group.command('delete <endpoint>').description('delete an endpoint, with its deliveries');
  onCall(remove, async ({ session, args: [idOrName = ''] }) => {
    const { id, name } = await endpointOf(session, idOrName);
    await session.client.call('deleteNotificationEndpoint', { params: { id } });
    return session.answer({ id }, `Notification endpoint ${plain(name)} was deleted`);
  });
}

const shownCharacters = 300;

function beginningOf(text: string): string {
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)} …` : text;
}

function showTest({ output }: CommandSession, name: string, result: NotificationTest): Promise<void> {
  const { error, response, durationMilliseconds } = result;
  const kind = error === null || error.type === 'unknown' ? '' : `${error.type}: `;
  return output.fields([
    ['Endpoint', plain(name)],
    ['Result', error === null ? 'taken' : `${kind}${plain(error.message)}`],
    ['Answer', response === null ? 'none' : `${response.status} ${beginningOf(plain(response.body))}`],
    ['Duration', `${durationMilliseconds} ms`],
  ]);
}

function addTest(group: Command): void {
  const test = group.command('test <endpoint>').description('send a test message now, and show the response');
  onCall(test, async ({ session, args: [idOrName = ''] }) => {
    const { id, name } = await endpointOf(session, idOrName);
    const result = await session.client.call('testNotificationEndpoint', { params: { id } });
    await (session.isJson ? session.output.json(result) : showTest(session, name, result));
    return result.error === null ? exitCodes.good : exitCodes.failed;
  });
}

function addShow(group: Command): void {
  const show = group.command('show <endpoint>').description('show an endpoint: its id or exact name');
  onCall(show, async ({ session, args: [idOrName = ''] }) => {
    const { output, isJson, client } = session;
    const { id } = await endpointOf(session, idOrName);
    const endpoint = await client.call('getNotificationEndpoint', { params: { id } });
    if (isJson) return output.json(endpoint);
    return output.fields([
      ['Name', endpoint.name],
      ['Id', endpoint.id],
      ['Type', endpoint.type],
      ['Value', endpoint.value],
      ['Secret', endpoint.hasWebhookSecret ? 'signs each message' : undefined],
      ['Changed', timeText(endpoint.updatedAt)],
    ]);
  });
}

export function addEndpointCommands(group: Command): void {
  const endpoints = group.command('endpoints').description('Slack, Teams, e-mail and webhooks');
  onCall(endpoints.command('list').description('list endpoints'), async ({ session }) => {
    const { id: organizationId } = await findOrganization(session);
    const all = await session.client.call('listNotificationEndpoints', { query: { organizationId } });
    return session.list(all, endpointColumns, 'No notification endpoints.');
  });
  addShow(endpoints);
  addCreate(endpoints);
  addChanging(endpoints);
  addTest(group);
}
