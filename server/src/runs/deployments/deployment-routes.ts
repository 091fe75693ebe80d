/** Operations on deployments, their steps and logs, each with its verb. */
import { Readable } from 'node:stream';
import type { Deployment } from '#contract/deployments/shapes.ts';
import { operations } from '#contract/operations.ts';
import { uploadSource } from '../../code/sources/upload-source.ts';
import type { ActorContext, Context } from '../../framework/context.ts';
import { JsonText, jsonList } from '../../framework/http/replies/json-text.ts';
import { excludeFields, pickFields } from '../../framework/http/replies/pick-fields.ts';
import { type Route, route, streamRoute } from '../../framework/http/route.ts';
import { notFound, orNotFound, Refusal } from '../../ground/errors.ts';
import {
  getDeploymentPlace,
  getDeploymentResources,
  getDeploymentRow,
} from '../../rows/deployments/deployment-store.ts';
import {
  type DeploymentFilter,
  getShownDeployments,
  listDeploymentPage,
  type ShownDeploymentRow,
} from '../../rows/deployments/shown-deployment-store.ts';
import { listStepRows } from '../../rows/logs/step-store.ts';
import { getUsers } from '../../rows/users/user-store.ts';
import { streamDeployment } from '../feeds/stream-deployment.ts';
import { readStepLog } from '../logs/step-log.ts';
import { stepView } from '../logs/step-view.ts';
import { abortDeployment } from './abort-deployment.ts';
import { approveDeployment } from './approval/approve-deployment.ts';
import { cancelDeployment, cancelQueuedDeployments } from './cancel-deployment.ts';
import { deployEnvironment } from './deploy-environment.ts';
import { listOutputs } from './inputs-from-outputs/list-outputs.ts';
import { planImpact } from './plans/plan-impact.ts';
import { shownInput } from './policy-check/policy-input.ts';
import { rerunDeployment } from './rerun-deployment.ts';
import { deploymentTimeline } from './timeline/deployment-timeline.ts';
import { deploymentTexts, deploymentView, peopleOf } from './views/deployment-view.ts';

/**
 * A plan as a document in the form of terraform, as text: its numbers keep every digit.
 * @throws Refusal 404 for a deployment of which no plan is stored
 */
async function planJson(
  context: ActorContext,
  id: string,
  { redirect = true }: { readonly redirect?: boolean },
): Promise<JsonText<Record<string, unknown>>> {
  const shown = await shownInput(context, id);
  if (shown === undefined)
    throw new Refusal('not_found', `No plan is stored of the deployment with id "${id}"`);
  const url = `${context.settings.baseUrl ?? ''}/api/environments/deployments/${id}/plan-json`;
  return new JsonText(JSON.stringify(redirect ? shown.plan : { url }));
}

const defaultPage = 100;

async function shown(context: Context, id: string): Promise<ShownDeploymentRow> {
  const [row] = await getShownDeployments(context.db, [id]);
  return orNotFound(row, 'deployment', id);
}

/** Texts of a list whose values the schema of the query has checked. */
const commaList = <Value extends string>(text: string | undefined) => text?.split(',') as Value[] | undefined;
const date = (text: string | undefined) => (text === undefined ? undefined : new Date(text));

export const deploymentRoutes: Route[] = [
  route(operations.getDeployment, async (context, { params, query }) => {
    const view = await deploymentView(context, await shown(context, params.id));
    return excludeFields(pickFields(view, query.fields), query.exclude_fields);
  }),
  route(operations.deployEnvironment, (context, { params, body }) =>
    deployEnvironment(context, params.id, body),
  ),
  route(operations.uploadSource, (context, { params, query }, { request }) =>
    uploadSource(context, params.id, query.path, (request.body as Readable | undefined) ?? Readable.from([])),
  ),
  route(operations.listDeployments, async (context, { params, query }, { reply }) => {
    const filter: DeploymentFilter = {
      environmentId: params.id,
      types: commaList(query.deploymentTypes),
      statuses: commaList(query.statuses),
      from: date(query.fromDate),
      to: date(query.toDate),
    };
    const page = { limit: query.limit ?? defaultPage, offset: query.offset ?? 0 };
    const { rows, total } = await listDeploymentPage(context.db, filter, page);
    reply.header('x-total-count', String(total));
    const users = await getUsers(context.db, peopleOf(rows));
    return jsonList<Deployment>((await deploymentTexts(context, rows, users)).map(({ text }) => text));
  }),
  route(operations.approveDeployment, (context, { params, body }) =>
    approveDeployment(context, params.id, body),
  ),
  route(operations.cancelDeployment, (context, { params, body }) =>
    cancelDeployment(context, params.id, body),
  ),
  route(operations.cancelQueuedDeployments, (context, { params }) =>
    cancelQueuedDeployments(context, params.id),
  ),
  route(operations.abortDeployment, (context, { params }) => abortDeployment(context, params.id)),
  route(operations.rerunDeployment, (context, { params }) => rerunDeployment(context, params.id)),
  route(operations.getPlanImpact, (context, { query }) => planImpact(context, query)),
  route(operations.getPlanJson, (context, { params, query }) => planJson(context, params.id, query)),
  route(operations.getDriftStatus, async (context, { params }) => {
    const row = await shown(context, params.id);
    if (row.type !== 'driftDetection') throw notFound('drift run', params.id);
    // Cloud events are what a connected cloud account brings; there are none yet.
    return {
      driftDeployment: await deploymentView(context, row),
      eventsScanStatus: 'NOT_CONFIGURED' as const,
    };
  }),
  route(
    operations.listDeploymentResources,
    async (context, { params: { id } }) =>
      orNotFound(await getDeploymentResources(context.db, id), 'deployment', id).resources ?? [],
  ),
  route(operations.listEnvironmentOutputs, async (context, { query }) => ({
    outputs: await listOutputs(context, query.projectId),
  })),
  route(operations.listSteps, async (context, { params }) => {
    const { deploymentLogId: id } = params;
    const row = orNotFound(await getDeploymentPlace(context.db, id), 'deployment', id);
    return (await listStepRows(context.db, row.id)).map((step) => stepView(step, row));
  }),
  route(operations.getStepLog, (context, { params, query }) =>
    readStepLog(context, params.deploymentLogId, params.name, query.startTime),
  ),
  route(operations.getDeploymentTimeline, async (context, { params }) =>
    deploymentTimeline(
      context,
      orNotFound(await getDeploymentRow(context.db, params.id), 'deployment', params.id),
    ),
  ),
  streamRoute(operations.streamDeployment, (context, { params, query }, wire) =>
    streamDeployment(context, params.id, query, wire),
  ),
];
