/** Credentials of clouds. */
import { type CredentialValue, kindOf } from '#contract/credentials/kinds.ts';
import { operations } from '#contract/operations.ts';
import { joinWarnings, warningHeader } from '#contract/schema/warning-header.ts';
import type { Family } from '../../framework/family.ts';
import { type Route, route, type Wire } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { orNotFound } from '../../ground/errors.ts';
import {
  assignedTo,
  credentialHome,
  getCredentialRow,
  listCredentialRows,
  lockCredentialRow,
} from '../../rows/credentials/credential-store.ts';
import type { Place } from '../../rows/places.ts';
import {
  assignCredential,
  createCredential,
  deleteCredential,
  unassignCredential,
  updateCredential,
} from './change-credential.ts';
import { formProblem } from './check-value.ts';
import { credentialView, credentialViews } from './credential-view.ts';
import { effectiveCredentials } from './run-credentials.ts';
import { testCredential } from './test-credential.ts';

/** A value that is stored, and that no run can use as it is. */
function warnAboutForm({ reply }: Wire, value: CredentialValue): void {
  const problem = formProblem(value);
  if (problem !== null)
    reply.header(warningHeader, joinWarnings([`${problem}: runs fail until the value is corrected.`]));
}

const credentialRoutes: Route[] = [
  route(operations.listCredentials, async ({ db }, { query }) =>
    credentialViews(db, await listCredentialRows(db, query.organizationId)),
  ),
  route(operations.createCredential, (context, { body, home }, wire) => {
    warnAboutForm(wire, body.value);
    return inTransaction(context, (context) => createCredential(context, body, home as Place));
  }),
  route(operations.getCredential, async ({ db }, { params: { id } }) =>
    credentialView(db, orNotFound(await getCredentialRow(db, id), 'credential', id)),
  ),
  route(operations.updateCredential, (context, { params, body }, wire) => {
    warnAboutForm(wire, body.value ?? {});
    return inTransaction(context, (context) => updateCredential(context, params.id, body));
  }),
  route(operations.deleteCredential, (context, { params }) =>
    inTransaction(context, (context) => deleteCredential(context, params.id)),
  ),
  route(operations.testCredential, (context, { params }) => testCredential(context, params.id)),
  route(operations.listProjectCredentials, async ({ db }, { params: { projectId }, home }) => ({
    credentialIds: await assignedTo(db, projectId),
    effective: (
      await effectiveCredentials(db, { organizationId: home?.organizationId ?? '', projectId })
    ).map((row) => ({
      credentialId: row.id,
      projectId: row.assigned_to,
      cloud: kindOf(row.type).cloud,
    })),
  })),
  route(operations.assignCredential, (context, { params }) =>
    inTransaction(context, (context) => assignCredential(context, params)),
  ),
  route(operations.unassignCredential, (context, { params }) =>
    inTransaction(context, (context) => unassignCredential(context, params)),
  ),
];

export const family: Family = {
  name: 'credentials',
  routes: credentialRoutes,
  entities: { credential: credentialHome },
  locks: { credential: lockCredentialRow },
  tables: ['credential', 'credential_assignment'],
};
