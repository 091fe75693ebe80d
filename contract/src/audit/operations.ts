/** Reading, exporting and verifying the audit trail. */
import { Type } from 'typebox';
import { inOrganization } from '../schema/by-id.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { Bytes, Text } from '../schema/schema.ts';
import { AuditEvents, AuditVerification } from './shapes.ts';

const time = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }));
const only = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));
const filters = {
  from: time('Only entries from this time on'),
  to: time('Only entries before this time'),
  offset: Type.Optional(
    Type.String({ maxLength: 100, description: '`nextPageKey` of the page before, or the id of an entry' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Default 50' })),
  actorId: only('Only entries of this user, agent or service'),
  action: only('Only entries of this action'),
  entity: only('Only entries about entities of this kind'),
  entityId: only('Only entries about this entity'),
  projectId: only('Only entries about this project'),
};
const exported = {
  from: time('From the first entry of this time on'),
  to: time('Up to the last entry before this time'),
  offset: Type.Optional(
    Type.String({ maxLength: 100, description: 'The export continues after the entry with this id' }),
  ),
};
const head = {
  head: Type.Optional(
    Type.String({
      pattern: '^[0-9a-fA-F]{64}$',
      description: 'Hash of an entry that must be there: of a head that was kept elsewhere',
    }),
  ),
};
const Lines = Bytes('JSON lines, one for each entry, in the order of the chain');

const listing =
  'Newest first. An entry appears here at most a few seconds after its change. `from` is included, `to` is not.';
const exporting =
  'All entries in the order of their chain, which is the order of their commits, as JSON lines with number and ' +
  'hashes. An export that was cut continues with the id of its last whole line as `offset`. With `from` or `to`, ' +
  'it has everything from the first to the last entry of that time, without gaps.';
const verifying =
  'Recomputes the hashes of all entries and compares them with the chain and with its head. Entries that were ' +
  'changed, removed or inserted outside of the service are listed in `findings`.';
const operatorOnly = ' Only for the operator, who has the first key of the installation.';

export const operations = defineOperations('audit', {
  listAuditEvents: operation('GET', '/audit/events', {
    summary: 'List audit entries',
    description: listing,
    needs: 'VIEW_AUDIT_LOGS',
    subject: inOrganization.subject,
    query: Type.Object({ organizationId: Text, ...filters }),
    reply: AuditEvents,
  }),
  exportAuditEvents: operation('GET', '/audit/export', {
    summary: 'Export audit entries',
    description: exporting,
    needs: 'VIEW_AUDIT_LOGS',
    subject: inOrganization.subject,
    query: Type.Object({ organizationId: Text, ...exported }),
    reply: Lines,
    replyKind: 'binary',
    replyType: 'application/x-ndjson',
  }),
  verifyAudit: operation('GET', '/audit/verify', {
    summary: 'Verify the audit trail',
    description: verifying,
    needs: 'VIEW_AUDIT_LOGS',
    subject: inOrganization.subject,
    query: Type.Object({ organizationId: Text, ...head }),
    reply: AuditVerification,
  }),
  listInstallationAuditEvents: operation('GET', '/audit/installation/events', {
    summary: 'List audit entries of no organization',
    description: `Such as refused credentials. ${listing}${operatorOnly}`,
    needs: 'signed-in',
    query: Type.Object(filters),
    reply: AuditEvents,
  }),
  exportInstallationAuditEvents: operation('GET', '/audit/installation/export', {
    summary: 'Export audit entries of no organization',
    description: `${exporting}${operatorOnly}`,
    needs: 'signed-in',
    query: Type.Object(exported),
    reply: Lines,
    replyKind: 'binary',
    replyType: 'application/x-ndjson',
  }),
  verifyInstallationAudit: operation('GET', '/audit/installation/verify', {
    summary: 'Verify the audit trail of the installation',
    description:
      `${verifying} Checks the chains of all organizations, and that none of them is missing.` + operatorOnly,
    needs: 'signed-in',
    query: Type.Object(head),
    reply: AuditVerification,
  }),
});
