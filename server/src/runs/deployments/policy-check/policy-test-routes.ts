/** The operation that tests a policy. */
import fastq from 'fastq';
import { operations } from '#contract/operations.ts';
import { requireRight } from '../../../framework/access/check-right.ts';
import type { ActorContext } from '../../../framework/context.ts';
import { type Route, route } from '../../../framework/http/route.ts';
import { badField, orNotFound, Refusal, unknownEntity } from '../../../ground/errors.ts';
import { getDeploymentPlace } from '../../../rows/deployments/deployment-store.ts';
import { inOrganization } from '../../../rows/places.ts';
import { getTemplateRow } from '../../../rows/templates/template-store.ts';
import { type PolicyTestResult, type TestedPolicy, testPolicy } from './test-policy.ts';

interface TestBody {
  readonly deploymentId: string;
  readonly policyId?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly policyConfiguration?: object;
}

/** @throws Refusal 400 that names the field, 403 for files of a user who may not write policies */
async function testedOf(
  { db, actor }: ActorContext,
  organizationId: string,
  { policyId, files, policyConfiguration }: TestBody,
): Promise<TestedPolicy> {
  if ((policyId === undefined) === (files === undefined))
    throw badField('body.policyId', 'or files is required, and only one of them');
  if (files !== undefined) {
    requireRight(actor, inOrganization(organizationId), 'CREATE_AND_EDIT_TEMPLATES', '/body/files');
    return { files: new Map(Object.entries(files)), configuration: policyConfiguration ?? {} };
  }
  const policy = await getTemplateRow(db, policyId ?? '');
  if (policy?.type !== 'approval-policy' || policy.is_deleted || policy.organization_id !== organizationId)
    throw unknownEntity('body.policyId', 'approval policy');
  if (policyConfiguration === undefined) return { policy };
  return {
    policy: { ...policy, settings: { ...policy.settings, policyConfiguration: { ...policyConfiguration } } },
  };
}

/** Each has the plan and a copy for the policy in memory. */
const mostAtOnce = 2;
const mostWaiting = 20;

const queue = fastq.promise((work: () => Promise<PolicyTestResult>) => work(), mostAtOnce);

/** @throws Refusal 503 if too many others wait */
function inTurn(work: () => Promise<PolicyTestResult>): Promise<PolicyTestResult> {
  if (queue.length() >= mostWaiting)
    throw new Refusal('unavailable', 'Too many policies are being tested: repeat the request later');
  return queue.push(work);
}

export const policyTestRoutes: Route[] = [
  route(operations.testApprovalPolicy, async (context, { body }) => {
    const { deploymentId: id } = body;
    const place = orNotFound(await getDeploymentPlace(context.db, id), 'deployment', id);
    const tested = await testedOf(context, place.organization_id, body);
    return inTurn(() => testPolicy(context, place.id, tested));
  }),
];
