/** Projects, people and plans as tests of demanded approvals need them. */
import { plannedOutcome } from './agent.ts';
import { ok, type Reply } from './client.ts';
import { createBody, deploymentOf, forgetWork } from './environment.ts';
import type { startPolicyTests } from './guarded.ts';

type Tests = Awaited<ReturnType<typeof startPolicyTests>>;

let count = 0;

/** The variable, switched off, as requests for deployments have it. */
export const off = [{ name: 'ENVARIUM_REQUIRES_APPROVAL', type: 0 as const, value: 'false' }];

export function demandTests({ app, agent }: Pick<Tests, 'app' | 'agent'>) {
  const { organizationId } = app;

  const projectIn = async (parentProjectId?: string) =>
    (
      await ok(app, 'createProject', {
        body: {
          organizationId,
          name: `demands ${++count}`,
          ...(parentProjectId ? { parentProjectId } : {}),
        },
      })
    ).id;

  const keyIn = (projectId: string, role: string | readonly string[]) =>
    app.addKey({ [organizationId]: 'User' }, [{ organizationId, projectId, role: role as string }]);
  const deployerIn = (projectId: string) => keyIn(projectId, 'Deployer');
  const adminIn = (projectId: string) => keyIn(projectId, 'Admin');
  type Key = Awaited<ReturnType<typeof deployerIn>>;
  const by = (as?: Key) => (as ? { as } : {});

  const forbid = (projectId: string, selfApprovalForbidden: boolean | null, as?: Key) =>
    ok(app, 'updatePolicy', {
      body: { projectId, selfApprovalForbidden, requiresApprovalDefault: true },
      ...by(as),
    });

  /** A project whose people may not approve their own plans, with a Deployer. */
  async function fourEyes(parentProjectId?: string) {
    const projectId = await projectIn(parentProjectId);
    await forbid(projectId, true);
    return { projectId, deployer: await deployerIn(projectId) };
  }

  const idleIn = (projectId: string, more: object = {}, as?: Key) => {
    const body = createBody({ organizationId, projectId }, { preventAutoDeploy: true, ...more });
    return ok(app, 'createEnvironmentWithoutTemplate', { body, ...by(as) });
  };

  const templateFor = async (projectIds: readonly string[], more: object = {}) =>
    (
      await ok(app, 'createTemplate', {
        body: {
          organizationId,
          name: `template ${++count}`,
          type: 'terraform',
          repository: 'https://git.example.com/network.git',
          projectIds: [...projectIds],
          ...more,
        },
      })
    ).id ?? '';

  const variableOf = (
    scopeId: string,
    value: string,
    scope: 'ENVIRONMENT' | 'PROJECT' | 'BLUEPRINT' = 'ENVIRONMENT',
  ) => [{ name: 'ENVARIUM_REQUIRES_APPROVAL', type: 0 as const, organizationId, scope, scopeId, value }];

  /** Outcome for the plan of a deployment that was started: its status, and what decided. */
  async function outcome(id: string): Promise<[string, string | undefined]> {
    const job = await agent.claim();
    await agent.putBlob(job, 'plan', 'plan');
    const input = JSON.stringify({ plan: { resource_changes: [] } });
    if (job.isPolicyInputWanted) await agent.putBlob(job, 'policy-input', input);
    const next = await agent.finish(job, plannedOutcome());
    await app.carryOutEffects();
    const { waitingFor, status }: Reply<'getDeployment'> = await deploymentOf(app, id);
    if (status === 'WAITING_FOR_USER') await ok(app, 'cancelDeployment', { id });
    if (next) await agent.apply(next, ['a']);
    return [status, waitingFor?.approval?.decidedBy];
  }

  /** The same of a deploy. */
  async function outcomeOf(id: string, as: Key, body: object = {}) {
    await forgetWork(app);
    return outcome((await ok(app, 'deployEnvironment', { id, body, as })).id);
  }

  return {
    ...{ projectIn, keyIn, deployerIn, adminIn, forbid, fourEyes, idleIn, templateFor, variableOf },
    ...{ outcome, outcomeOf },
  };
}
