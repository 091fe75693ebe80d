/** Deployments: what an environment runs. */

import type { Family } from '../../framework/family.ts';
import { deploymentHome, lockDeployment } from '../../rows/deployments/deployment-store.ts';
import { expireApprovals } from './approval/expire-approvals.ts';
import { deploymentReactions } from './deployment-reactions.ts';
import { deploymentRoutes } from './deployment-routes.ts';
import { policyCheck } from './policy-check/policy-check.ts';
import { policyTestRoutes } from './policy-check/policy-test-routes.ts';

export const family: Family = {
  name: 'deployments',
  routes: [...deploymentRoutes, ...policyTestRoutes],
  loops: [{ name: 'expiry of approvals', everySeconds: 60, pass: expireApprovals }],
  effects: [policyCheck],
  reactions: deploymentReactions,
  entities: { deployment: deploymentHome },
  locks: { deployment: lockDeployment },
  tables: ['deployment', 'deployment_level', 'review'],
};
