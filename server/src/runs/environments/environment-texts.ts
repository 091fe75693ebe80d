/** Environments of a list as JSON: kept ones where nothing has changed, the others made from their rows. */
import { isTerminal } from '#contract/life-cycle/life-cycle.ts';
import type { Connection, Context } from '../../framework/context.ts';
import { perServer } from '../../framework/events/per-server.ts';
import { type KeptText, KeptTexts, withJsonFields } from '../../framework/http/replies/json-text.ts';
import {
  getListedDeployments,
  type LargeColumn,
  type ListedDeploymentRow,
} from '../../rows/deployments/shown-deployment-store.ts';
import {
  getListedEnvironments,
  type ListedEnvironmentRow,
  type PageRow,
} from '../../rows/environments/listed-environment-store.ts';
import { getUsers, type UserRow } from '../../rows/users/user-store.ts';
import { deploymentTexts, peopleOf } from '../deployments/views/deployment-view.ts';
import { peopleOfEnvironment, plainView, required } from './environment-view.ts';

/** The version changes with everything that the text shows, apart from users. */
interface KeptEnvironment extends KeptText {
  /** Ids of the users that it shows, and when they were changed last. */
  readonly people: readonly string[];
  readonly peopleVersion: string;
}

const keptTexts = perServer(() => new KeptTexts<KeptEnvironment>());

/** An environment with its latest deployment. */
interface Listed {
  readonly row: ListedEnvironmentRow;
  readonly latest: ListedDeploymentRow;
}

const peopleIn = ({ row, latest }: Listed) => [...peopleOfEnvironment(row), ...peopleOf([latest])];

async function readListed(
  db: Connection,
  ids: readonly string[],
  unread: readonly LargeColumn[],
): Promise<Listed[]> {
  const rows = await getListedEnvironments(db, ids);
  const latestIds = rows.flatMap((row) => row.latest_deployment_id ?? []);
  const byId = new Map((await getListedDeployments(db, latestIds, unread)).map((each) => [each.id, each]));
  return rows.map((row) => ({ row, latest: required(byId.get(row.latest_deployment_id ?? ''), row) }));
}

/** When each of these users was changed last. */
function peopleVersion(people: readonly string[], users: ReadonlyMap<string, UserRow>): string {
  return people.map((id) => users.get(id)?.updated_at.getTime()).join(' ');
}

async function makeTexts(
  context: Context,
  listed: readonly Listed[],
  users: ReadonlyMap<string, UserRow>,
): Promise<Map<string, KeptEnvironment>> {
  const deployments = await deploymentTexts(
    context,
    listed.map(({ latest }) => latest),
    users,
  );
  const made = listed.map((each, index): [string, KeptEnvironment] => {
    const { row } = each;
    const deployment = required(deployments[index], row);
    const text = withJsonFields(JSON.stringify(plainView(row, deployment, users)), {
      latestDeploymentLog: deployment.text,
      resources: deployment.resources,
    });
    const people = [...new Set(peopleIn(each))];
    return [row.id, { version: row.version, people, peopleVersion: peopleVersion(people, users), text }];
  });
  return new Map(made);
}

/**
 * @param unread large fields of their deployments that were not requested
 * @returns the texts in the order of the page; those that were deleted in the meantime are missing
 */
export async function environmentTexts(
  context: Context,
  page: readonly PageRow[],
  unread: readonly LargeColumn[],
): Promise<string[]> {
  const all = keptTexts(context);
  const keyOf = (id: string) => [id, ...unread].join(' ');
  const kept = new Map<string, KeptEnvironment>();
  for (const { id, version } of page) {
    const found = all.find(keyOf(id), version);
    if (found) kept.set(id, found);
  }
  const missing = page.flatMap(({ id }) => (kept.has(id) ? [] : [id]));
  const listed = await readListed(context.db, missing, unread);
  const people = [...listed.flatMap(peopleIn), ...[...kept.values()].flatMap((each) => each.people)];
  const users = await getUsers(context.db, people);
  const outdated = [...kept].filter(([, each]) => each.peopleVersion !== peopleVersion(each.people, users));
  if (outdated.length > 0) {
    for (const [id] of outdated) all.forget(keyOf(id));
    return environmentTexts(context, page, unread);
  }
  const made = await makeTexts(context, listed, users);
  // The reason why an open deployment waits changes without its row.
  for (const { row, latest } of listed)
    if (isTerminal(latest.status)) all.keep(keyOf(row.id), required(made.get(row.id), row));
  return page.flatMap(({ id }) => (kept.get(id) ?? made.get(id))?.text ?? []);
}
